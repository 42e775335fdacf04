//! Rules with errors: each is refused, with its position.

use crate::{Policy, absolute_folder};

const RULE: &str = "default = 'allow'\n[[rule]]\nid = 'a'\nthen = 'deny'\n";

/// A rule that asks, preceded by another rule.
fn asks(how: &str) -> String {
    format!("[[rule]]\nid = 'b'\nthen = 'ask'\n{how}")
}

fn refused(text: &str) -> String {
    match Policy::parse(text, &absolute_folder) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn every_mistake_is_refused_with_line_and_column() {
    for (rest, expected) in [
        ("tool = 'fs.*'", "line 5, column 1: unknown key 'tool' in rule 'a': did you mean 'tools'?"),
        ("zebras = 'private'", "line 5, column 1: unknown key 'zebras' in rule 'a': the keys are id, tools"),
        ("during = 'Mon-Fri'", "unknown key 'during' in rule 'a'"),
        ("zebras = 'private'", "unknown key 'zebras' in rule 'a'"),
        ("before = ['a.b']", "unknown key 'before' in rule 'a'"),
        ("ask = { who = ['cli'] }", "line 5, column 1: 'ask' says how the owner is asked, and this rule does not ask"),
        ("tools = 'fs'", "line 5, column 9: 'fs' is not a pattern for tools: write SERVER.TOOL"),
        ("tools = ['fs.*', 'x']", "line 5, column 18: 'x' is not a pattern for tools"),
        ("tools = []", "line 5, column 9: 'tools' must be a string or an array of strings, with at least one"),
        ("tools = ['fs.{a,b}']", "only * and ? have a meaning"),
        ("effect = 'readonly'", "line 5, column 10: 'effect' must be one of read_only, mutating, external"),
        ("destructive = false", "line 5, column 15: 'destructive' must be true, or left out, not true or false"),
        ("principal = ''", "line 5, column 13: '' is not a pattern for principals: it is empty"),
        ("hours = 'monday'", "line 5, column 9: 'hours' must be days and times, as in \"mon-fri 09:00-18:00\""),
        ("hours = ['mon', '9-17']", "line 5, column 17: 'hours' must be days and times"),
        ("hours = []", "'hours' must be a string or an array"),
        ("at_most = '20'", "line 5, column 11: 'at_most' must be a number and a period, as in \"20/run\""),
        ("at_most = '0/run'", "'at_most' must be a number and a period"),
        ("at_most = '3/week'", "'at_most' must be a number and a period"),
        ("at_most = 20", "'at_most' must be a number and a period"),
        ("why = ''", "line 5, column 7: 'why' must be a sentence"),
        ("args = 3", "line 5, column 8: 'args' must be a table, such as"),
        ("args.x = 3", "line 5, column 10: 'args.x' must be a table of conditions"),
        ("args.x = {}", "line 5, column 10: 'args.x' must be at least one condition"),
        ("args.x = { maximum = 3 }", "line 5, column 12: unknown condition 'maximum' on 'x': the conditions are"),
        ("args.x = { mx = 3 }", "line 5, column 12: unknown condition 'mx' on 'x': did you mean 'max'?"),
        ("args.user.id = { is = 3 }", "unknown condition 'id' on 'user': did you mean"),
        ("args.user.name = { is = 3 }", "is written in quotes, args.\"user.name\""),
        ("args.x = { max = '3' }", "line 5, column 18: 'args.x.max' must be a finite number, not a string"),
        ("args.x = { max = nan }", "'args.x.max' must be a finite number"),
        ("args.x = { max = 99999999999999999999 }", "'args.x.max' must be a finite number"),
        ("args.x = { min = 3, max = 2 }", "line 5, column 10: the conditions on 'x' make no sense together: min 3"),
        ("args.x = { absent = true, max = 2 }", "what is absent meets no other condition"),
        ("args.x = { absent = false }", "'args.x.absent' must be true"),
        ("args.x = { in = [] }", "'args.x.in' must be an array of strings, numbers or booleans, with at least one"),
        ("args.x = { in = 'a' }", "'args.x.in' must be an array"),
        ("args.x = { is = [1] }", "'args.x.is' must be a string, a finite number or a boolean, not an array"),
        ("args.x = { is = 1979-05-27 }", "not a date or a time"),
        ("args.x = { is = 'a', in = ['a'] }", "'is' leaves nothing for another condition"),
        ("args.x = { under = 'here' }", "line 5, column 20: 'here' cannot be used as a folder: it is relative"),
        ("args.x = { under = [] }", "'args.x.under' must be a string or an array"),
        ("args.x = { matches = '(' }", "line 5, column 22: 'args.x.matches' is not a regular expression"),
        ("args.x = { matches = 'a)|(?:b' }", "is not a regular expression that can be used"),
        ("args.x = { matches = '(?x)a #' }", "is not a regular expression that can be used"),
        (r"args.x = { matches = '(\w{500}){500}' }", "compiled it has more than"),
        ("args.x = { longer_than = -1 }", "'args.x.longer_than' must be a whole number"),
        ("args.'x[0]' = { is = 1 }", "line 5, column 6: 'x[0]' does not name an argument: write []"),
        ("args.x = { is = 1 }\nargs.'x' = { is = 2 }", "duplicate key"),
        ("args.'a.b' = { is = 1 }\nargs.'a..b' = { is = 2 }", "a name is empty"),
        (
            "[limits]\nprivate = ['crm.*']",
            "line 5, column 2: unknown key 'limits': the keys are default, labels, pin, rule, test",
        ),
        ("[[rule]]\nid = 'a'\nthen = 'ask'\ntools = 'x.y'", "line 5, column 1: there are two rules with the id 'a'"),
        ("[[rule]]\nthen = 'ask'", "line 5, column 1: a rule has no 'id': give it a name"),
        ("[[rule]]\nid = 'b'", "line 5, column 1: rule 'b' has no 'then': say what it decides"),
        ("[[rule]]\nid = 'default'\nthen = 'ask'", "'id' must be a name"),
        ("[[rule]]\nid = 'b c'\nthen = 'ask'", "'id' must be a name"),
        ("[[rule]]\nid = 'b'\nthen = 'permit'", "line 7, column 8: 'then' must be one of allow, ask, deny"),
        (
            "[[rule]]\nid = 'b'\nthen = 'allow'\ndestructive = true",
            "line 8, column 1: 'destructive' cannot be in a rule",
        ),
        ("[[test]]\nexpect = 'deny'", "line 5, column 1: a test has no 'call'"),
        ("[[test]]\ncall = 'a.b'", "line 5, column 1: a test has no 'expect'"),
        ("[[test]]\ncall = 'a'\nexpect = 'deny'", "'call' must be SERVER.TOOL"),
        ("[[test]]\ncall = 'a.b'\nexpect = 'deny with a'", "'expect' must be one of"),
        ("[[test]]\ncall = 'a.b'\nexpect = 'deny by zz'", "line 7, column 10: 'expect' must be decided by a rule that"),
        ("[[test]]\ncall = 'a.b'\nexpect = 'allow by a'", "'expect' must be what its rule decides"),
        ("[[test]]\ncall = 'a.b'\nargs = { at = 1979-05-27 }\nexpect = 'deny'", "'args' must be a table of"),
        (
            "carries = 'x'",
            "line 5, column 11: no label is called 'x': declare it in [labels], with the tools whose answers",
        ),
        ("[labels]\nlow = 'a.b'", "line 6, column 1: no rule says carries = \"low\": the label does nothing"),
        (
            "[labels]\nlow = 'a.b'\n[[rule]]\nid = 'b'\nthen = 'ask'\ncarries = 'lwo'",
            "line 10, column 11: no label is called 'lwo': did you mean 'low'?",
        ),
        (
            "[labels]\nlow = 'a.b'\n[[rule]]\nid = 'b'\nthen = 'ask'\ncarries = ['low', 'zebra']",
            "no label is called 'zebra': [labels] has low",
        ),
        (
            "[labels]\nlow = 'a.b'\n[[rule]]\nid = 'b'\nthen = 'allow'\ncarries = 'low'",
            "line 10, column 1: 'carries' cannot be in a rule that allows",
        ),
        ("[labels]\nlow = 'ab'", "line 6, column 7: 'ab' is not a pattern for tools: write SERVER.TOOL"),
        ("[labels]\nlow = 3", "'labels.low' must be a string or an array of strings"),
        ("[labels]\n'l w' = 'a.b'", "line 6, column 1: 'labels' must be a table whose keys have at most 64 letters"),
        ("[labels]\nmemory = '8 days'", "'labels.memory' must be a duration of at most 7 days, as in \"1h\""),
        ("[labels]\nmemory = 3600", "'labels.memory' must be a duration"),
        ("[labels]\nmemory = '1h'", "line 5, column 1: [labels] has no 'label': declare one, with the tools"),
        ("labels = 3", "unknown key 'labels' in rule 'a'"),
        ("[[test]]\ncall = 'a.b'\nexpect = 'deny'\ncarries = 'low'", "no label is called 'low'"),
        ("within = '1h'", "line 5, column 1: 'within' belongs to 'after', which is missing: name the tools"),
        ("same = 'path'", "'same' belongs to 'after'"),
        ("after = 'ab'", "'ab' is not a pattern for tools"),
        ("after = 'a.b'\nwithin = '8 days'", "line 6, column 10: 'within' must be a duration of at most 7 days, as in"),
        ("after = 'a.b'\nsame = 'x[]'", "line 6, column 8: 'x[]' does not name an argument: here it must be one value"),
        ("measure = 3", "'measure' must be a table, such as { tool ="),
        ("measure = { tool = 'a.b' }", "line 5, column 11: 'measure' has no 'count': say where the count is"),
        ("measure = { tool = 'a', count = '', max = 1 }", "'measure.tool' must be SERVER.TOOL, by its exact name"),
        (
            "measure = { tool = 'a.b', count = 'x', max = 1 }",
            "'measure.count' must be where the count is in the result",
        ),
        ("measure = { tool = 'a.b', count = '', max = -1 }", "'measure.max' must be a whole number from 0 on"),
        (
            "measure = { tool = 'a.b', count = '', max = 1, arguments = { x = '{y[]}' } }",
            "'y[]' does not name an argument",
        ),
        ("measure = { tol = 'a.b' }", "unknown key 'tol' in measure: did you mean 'tool'?"),
        (
            "[[test]]\ncall = 'a.b'\nexpect = 'deny'\nafter = 'a'",
            "'after' must be the id of a rule with 'after', or some of them",
        ),
        (
            asks("ask = 'cli'").as_str(),
            "line 8, column 7: 'ask' must be a table, such as { who = [\"cli\"], expires = \"2h\" }",
        ),
        (asks("ask = {}").as_str(), "'ask' must be a table with 'who', 'expires' or both"),
        (asks("ask = { whom = 'cli' }").as_str(), "line 8, column 9: unknown key 'whom' in ask: did you mean 'who'?"),
        (asks("ask = { who = [] }").as_str(), "'ask.who' must be a string or an array of strings, with at least one"),
        (
            asks("ask = { who = ['cli', 'mail'] }").as_str(),
            "line 8, column 23: 'mail' is not a way to ask: the ways are cli",
        ),
        (
            asks("ask = { who = ['webhook'] }").as_str(),
            "line 8, column 15: a webhook only informs, and cannot decide: name \"cli\"",
        ),
        (
            asks("ask = { expires = '8 days' }").as_str(),
            "line 8, column 19: 'ask.expires' must be a duration of at most 7 days",
        ),
        (asks("ask = { expires = '0s' }").as_str(), "'ask.expires' must be a duration"),
        ("x = [", "not valid TOML"),
    ] {
        let error = refused(&format!("{RULE}{rest}\n"));
        assert!(error.contains(expected), "{rest}\n{error}\nexpected {expected}");
    }
    for (text, expected) in [
        ("", "line 1, column 1: the file has no 'default': say what happens to a call that no rule decides"),
        ("default = 'permit'", "line 1, column 11: 'default' must be one of allow, ask, deny, or a table"),
        ("default = { read_only = 'allow' }", "'default' has no 'mutating'"),
        ("default = { readonly = 'allow' }", "unknown key 'readonly' in default: did you mean 'read_only'?"),
        ("default = 'allow'\n[rule]\nid = 'a'", "'rule' must be written as [[rule]], not a table"),
        (
            "default = 'allow'\npin = false",
            "line 2, column 7: 'pin' must be true, or patterns for tools, as in [\"crm.*\"]",
        ),
        ("default = 'allow'\npin = ['crm']", "line 2, column 8: 'crm' is not a pattern for tools: write SERVER.TOOL"),
        ("default = 'allow'\n[[rule]]\nid = 'pin'\nthen = 'ask'", "'id' must be a name of at most 64 letters, digits"),
        (&format!("x = {}", "[".repeat(500_000)), "nested deeper than 32 levels"),
        (&format!("x{} = 1", ".x".repeat(500_000)), "nested deeper than 32 levels"),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{error}\nexpected {expected}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let error = refused("default = 'x'\n[[rule]]\nid = 'a'\ntehn = 'deny'\ntools = ['a']\n");
    let lines: Vec<&str> = error.lines().map(|line| line.split(',').next().expect("a place")).collect();
    assert_eq!(lines, ["line 1", "line 2", "line 4", "line 5"], "{error}");
}

#[test]
fn a_rule_that_can_decide_nothing_is_refused() {
    let rule = |id: &str, then: &str, rest: &str| format!("[[rule]]\nid = '{id}'\nthen = '{then}'\n{rest}\n");
    let all = |rules: &[String]| format!("default = 'ask'\n{}", rules.concat());
    let fs = "tools = 'fs.*'";
    let one = "tools = 'fs.read'";
    let conditional = "tools = 'fs.read'\nargs.x = { is = 1 }";
    for (first, second, dead) in [
        (rule("a", "allow", fs), rule("b", "ask", one), Some("rule 'b' can never decide anything: rule 'a' in line 2")),
        (rule("a", "allow", one), rule("b", "ask", fs), None),
        (rule("a", "allow", conditional), rule("b", "ask", one), None),
        // A deny always wins.
        (
            rule("a", "allow", one),
            rule("b", "deny", fs),
            Some("rule 'a' can never decide anything: rule 'b' in line 6"),
        ),
        (rule("a", "allow", fs), rule("b", "deny", one), None),
        (rule("a", "deny", ""), rule("b", "deny", conditional), Some("rule 'b' can never decide")),
        (rule("a", "allow", "effect = 'read_only'"), rule("b", "ask", fs), None),
        (rule("a", "ask", "destructive = true"), rule("b", "ask", fs), None),
        (rule("a", "ask", "principal = 'x'"), rule("b", "ask", fs), None),
        (rule("a", "ask", "principal = 'x*'"), rule("b", "allow", "principal = 'xy'"), Some("rule 'b' can never")),
    ] {
        match (dead, Policy::parse(&all(&[first, second]), &absolute_folder)) {
            (None, Ok(_)) => {}
            (Some(expected), Err(problems)) => assert!(problems.to_string().contains(expected), "{problems}"),
            (_, other) => panic!("{other:?}"),
        }
    }
}
