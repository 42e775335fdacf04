//! Examples of decisions.

use std::{path::PathBuf, sync::Arc};

use belljar_model::{EffectRules, ToolDefinition, ToolPath, Verdict};
use serde_json::{Value, json};

use crate::{Assumed, AtMost, Broken, Call, Caller, Gate, History, Labels, Measure, Places, Policy, absolute_folder};

/// A path is in a folder if it begins with the folder's name; `..` makes everything unknown.
struct ByName;

impl Places for ByName {
    fn is_under(&self, _: &str, path: &str, folders: &[PathBuf]) -> Option<bool> {
        (!path.contains("..")).then(|| folders.iter().any(|folder| PathBuf::from(path).starts_with(folder)))
    }
}

fn policy(text: &str) -> Arc<Policy> {
    Arc::new(Policy::parse(text, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}")))
}

fn decided(text: &str, tool: &str, arguments: Value) -> String {
    let tool: ToolPath = tool.parse().expect("a path");
    let definition = ToolDefinition::from_json(json!({"name": tool.tool()})).expect("a tool");
    let trusted = EffectRules::default().trusted(&definition);
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let call = Call { caller: Caller::default(), arguments: &arguments, places: &ByName, history: &(), at: None };
    let decision = policy(text).for_tool(&tool, trusted).decide(&call);
    format!("{} by {}", decision.verdict, decision.rule.as_deref().unwrap_or("default"))
}

#[test]
fn the_example_in_the_documentation_holds_its_tests() {
    let example: String = include_str!("lib.rs")
        .lines()
        .skip_while(|line| *line != "//! ```toml")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .flat_map(|line| [line.trim_start_matches("//!"), "\n"])
        .collect();
    let policy = policy(&example);
    assert_eq!((policy.rules(), policy.tests().len()), (3, 1));
    for row in policy.tests() {
        assert_eq!(row.run(&policy, None, &Broken::default(), &ByName), None);
    }
}

#[test]
fn a_deny_binds_and_else_the_first_match_decides() {
    let text = "default = 'ask'\n\
        [[rule]]\nid = 'small'\ntools = 's.pay'\nargs.amount = { max = 100 }\nthen = 'allow'\n\
        [[rule]]\nid = 'other'\ntools = 's.pay'\nthen = 'ask'\n\
        [[rule]]\nid = 'usd'\ntools = 's.pay'\nargs.currency = { not_in = ['usd'] }\nthen = 'deny'\n";
    for (arguments, expected) in [
        (json!({"amount": 99, "currency": "usd"}), "allow by small"),
        (json!({"amount": 101, "currency": "usd"}), "ask by other"),
        (json!({"amount": 99, "currency": "eur"}), "deny by usd"),
        // A missing value, or one of another type, is unknown.
        (json!({"amount": 99}), "deny by usd"),
        (json!({"amount": "99", "currency": "usd"}), "ask by other"),
        (json!({"amount": [99], "currency": "usd"}), "ask by other"),
        (json!({"amount": null, "currency": "usd"}), "ask by other"),
        (json!({"amount": 99, "currency": null}), "deny by usd"),
        (json!({"currency": "usd"}), "ask by other"),
    ] {
        assert_eq!(decided(text, "s.pay", arguments.clone()), expected, "{arguments}");
    }
    assert_eq!(decided(text, "s.look", json!({})), "ask by default");
}

#[test]
fn what_cannot_be_said_of_elements_denies() {
    let text = "default = 'allow'\n[[rule]]\nid = 'out'\nthen = 'deny'\n\
        args.'files[].path' = { not_under = '/out' }\n";
    for (arguments, expected) in [
        (json!({"files": [{"path": "/out/a"}, {"path": "/out/b"}]}), "allow by default"),
        (json!({"files": [{"path": "/out/a"}, {"path": "/etc"}]}), "deny by out"),
        (json!({"files": [{"path": "/out/a"}, {"path": "/out/../etc"}]}), "deny by out"),
        (json!({"files": [{"path": "/out/a"}, {}]}), "deny by out"),
        (json!({"files": [{"path": "/out/a"}, "/out/a"]}), "deny by out"),
        (json!({"files": []}), "deny by out"),
        (json!({"files": {"path": "/out/a"}}), "deny by out"),
        (json!({}), "deny by out"),
    ] {
        assert_eq!(decided(text, "s.write", arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn patterns_are_held_against_the_whole_text() {
    let text = |pattern: &str| {
        format!("default = 'deny'\n[[rule]]\nid = 'm'\nthen = 'allow'\nargs.x = {{ matches = '{pattern}' }}\n")
    };
    for (pattern, value, expected) in [
        ("a|b", "a", "allow by m"),
        ("a|b", "ab", "deny by default"),
        ("a|b", "xb", "deny by default"),
        ("^a$", "a\n", "deny by default"),
        ("(?m)^a$", "a\nb", "deny by default"),
        ("(?i)straße", "STRASSE", "deny by default"),
        ("(?i)abc", "aBc", "allow by m"),
        (".*", "a\nb", "deny by default"),
    ] {
        assert_eq!(decided(&text(pattern), "s.t", json!({"x": value})), expected, "{pattern} {value:?}");
    }
}

#[test]
fn null_is_there_and_absent_is_not() {
    let text = "default = 'deny'\n[[rule]]\nid = 'm'\nthen = 'allow'\nargs.x = { absent = true }\n";
    assert_eq!(decided(text, "s.t", json!({})), "allow by m");
    assert_eq!(decided(text, "s.t", json!({"x": null})), "deny by default");
    let text = "default = 'allow'\n[[rule]]\nid = 'm'\nthen = 'deny'\nargs.'o.x' = { present = true }\n";
    assert_eq!(decided(text, "s.t", json!({})), "allow by default");
    assert_eq!(decided(text, "s.t", json!({"o": {"x": null}})), "deny by m");
    assert_eq!(decided(text, "s.t", json!({"o": "no object"})), "deny by m");
}

#[test]
fn what_is_denied_whatever_its_arguments_is_known_beforehand() {
    let whatever = |text: &str, tool: &str, caller: Caller<'_>| {
        let tool: ToolPath = tool.parse().expect("a path");
        let definition = ToolDefinition::from_json(json!({"name": tool.tool()})).expect("a tool");
        let tool = policy(text).for_tool(&tool, EffectRules::default().trusted(&definition));
        tool.decide_whatever(Some(&caller)).map(|decision| decision.verdict)
    };
    let nobody = Caller::default();
    let deny = "default = 'allow'\n[[rule]]\nid = 'd'\nthen = 'deny'\ntools = 's.*'\n";
    assert_eq!(whatever(deny, "s.t", nobody), Some(Verdict::Deny));
    assert_eq!(whatever(deny, "z.t", nobody), Some(Verdict::Allow));
    let some = "default = 'allow'\n[[rule]]\nid = 'd'\nthen = 'deny'\nargs.x = { max = 1 }\n";
    assert_eq!(whatever(some, "s.t", nobody), None);
    let none_but = "default = 'deny'\n[[rule]]\nid = 'd'\nthen = 'allow'\ntools = 's.t'\nargs.x = { max = 1 }\n";
    assert_eq!(whatever(none_but, "s.t", nobody), None);
    assert_eq!(whatever(none_but, "s.u", nobody), Some(Verdict::Deny));
    let denied_twice = "default = 'deny'\n[[rule]]\nid = 'd'\nthen = 'deny'\nargs.x = { max = 1 }\n";
    assert_eq!(whatever(denied_twice, "s.t", nobody), Some(Verdict::Deny));
    let for_ada = "default = 'allow'\n[[rule]]\nid = 'd'\nthen = 'deny'\nprincipal = 'ada'\n";
    let caller = |principal| Caller { principal, profile: None };
    assert_eq!(whatever(for_ada, "s.t", caller(Some("ada"))), Some(Verdict::Deny));
    assert_eq!(whatever(for_ada, "s.t", caller(Some("bob"))), Some(Verdict::Allow));
    assert_eq!(whatever(for_ada, "s.t", caller(None)), Some(Verdict::Deny));
}

#[test]
fn an_explanation_names_each_rule_and_what_it_saw() {
    let text = "default = 'ask'\n[[rule]]\nid = 'small'\ntools = 's.pay'\nargs.amount = { max = 100 }\nthen = 'allow'\n\
        [[rule]]\nid = 'usd'\ntools = 's.pay'\nargs.currency = { not_in = ['usd'] }\nthen = 'deny'\nwhy = 'dollars only'\n";
    let definition = ToolDefinition::from_json(json!({"name": "pay"})).expect("a tool");
    let tool = policy(text).for_tool(&ToolPath::new("s", "pay"), EffectRules::default().trusted(&definition));
    let explained = |arguments: Value| {
        let call = Call {
            caller: Caller::default(),
            arguments: arguments.as_object().expect("it"),
            places: &(),
            history: &(),
            at: None,
        };
        tool.explain(&call).to_string()
    };
    assert_eq!(
        explained(json!({"amount": 200, "currency": "usd"})),
        "deny 'usd' (line 7): does not match\n  not met: currency not_in [\"usd\"], seen \"usd\"\n\
         allow 'small' (line 2): does not match\n  not met: amount max 100, seen 200\nask by default"
    );
    assert_eq!(
        explained(json!({"amount": 1})),
        "deny 'usd' (line 7): matches\n  unknown: currency not_in [\"usd\"], seen nothing\ndeny by 'usd': dollars only"
    );
}

/// The number of calls that were made before.
struct Before(Option<u32>);

impl History for Before {
    fn has_room(&self, _: &Arc<str>, at_most: AtMost) -> Option<bool> {
        self.0.map(|calls| calls < at_most.calls)
    }

    fn carries(&self, _: Labels) -> Option<bool> {
        None
    }

    fn has_passed(&self, _: &Gate, _: &str) -> Option<bool> {
        None
    }

    fn measured(&self, _: &Arc<str>, _: &Arc<Measure>, _: serde_json::Map<String, Value>) -> Option<u64> {
        None
    }
}

#[test]
fn a_count_is_a_condition_that_is_asked_last_and_fails_closed() {
    let text = "default = 'ask'\n\
        [[rule]]\nid = 'many'\nargs.n = { max = 9 }\nat_most = '20/run'\nthen = 'deny'\n\
        [[rule]]\nid = 'few'\nargs.n = { max = 9 }\nat_most = '10/hour'\nthen = 'allow'\n";
    let definition = ToolDefinition::from_json(json!({"name": "t"})).expect("a tool");
    let tool = policy(text).for_tool(&ToolPath::new("s", "t"), EffectRules::default().trusted(&definition));
    assert!(tool.counts());
    assert_eq!(tool.decide_whatever(None), None);
    for (before, n, expected) in [
        (Some(0), 1, "allow by few"),
        (Some(9), 1, "allow by few"),
        (Some(10), 1, "ask by default"),
        (Some(20), 1, "deny by many"),
        (None, 1, "deny by many"),
        (None, 10, "ask by default"),
    ] {
        let arguments = json!({"n": n});
        let arguments = arguments.as_object().expect("it");
        let call = Call { caller: Caller::default(), arguments, places: &(), history: &Before(before), at: None };
        let decision = tool.decide(&call);
        let said = format!("{} by {}", decision.verdict, decision.rule.as_deref().unwrap_or("default"));
        assert_eq!(said, expected, "{before:?} {n}");
        assert_eq!(tool.explain(&call).decision, decision);
    }
    let shadowing =
        "default = 'ask'\n[[rule]]\nid = 'a'\nat_most = '1/run'\nthen = 'deny'\n[[rule]]\nid = 'b'\nthen = 'allow'\n";
    assert!(Policy::parse(shadowing, &absolute_folder).is_ok());
}

#[test]
fn a_rule_with_hours_is_for_these_hours_and_fails_closed() {
    let text = "default = 'ask'\n\
        [[rule]]\nid = 'night'\nhours = ['22:00-06:00', 'sun']\nthen = 'deny'\n\
        [[rule]]\nid = 'work'\nhours = 'mon-fri 09:00-18:00'\nthen = 'allow'\n";
    let definition = ToolDefinition::from_json(json!({"name": "t"})).expect("a tool");
    let tool = policy(text).for_tool(&ToolPath::new("s", "t"), EffectRules::default().trusted(&definition));
    assert!(tool.asks_time());
    assert_eq!(tool.decide_whatever(None), None);
    let arguments = serde_json::Map::new();
    for (at, expected) in [
        (Some("mon 10:00"), "allow by work"),
        (Some("sat 10:00"), "ask by default"),
        (Some("sun 10:00"), "deny by night"),
        (Some("tue 23:00"), "deny by night"),
        (None, "deny by night"),
    ] {
        let at = at.map(|at| at.parse().expect(at));
        let call = Call { caller: Caller::default(), arguments: &arguments, places: &(), history: &(), at };
        let decision = tool.decide(&call);
        let said = format!("{} by {}", decision.verdict, decision.rule.as_deref().unwrap_or("default"));
        assert_eq!(said, expected, "{at:?}");
        assert_eq!(tool.explain(&call).decision, decision);
    }
}

#[test]
fn a_rule_asks_what_is_carried_last_and_fails_closed() {
    let text = "default = 'allow'\n\
        [labels]\nprivate = ['crm.*', 'mail.get_*']\nsecret = 'vault.*'\nmemory = '1h'\n\
        [[rule]]\nid = 'stays'\ntools = 'web.*'\ncarries = ['private', 'secret']\nargs.n = { max = 9 }\nthen = 'deny'\n\
        [[rule]]\nid = 'careful'\ntools = 'web.post'\ncarries = 'secret'\nthen = 'ask'\n\
        [[test]]\ncall = 'web.post'\nargs = { n = 1 }\ncarries = 'private'\nexpect = 'deny by stays'\n\
        [[test]]\ncall = 'web.post'\nargs = { n = 10 }\ncarries = ['private', 'secret']\nexpect = 'ask by careful'\n\
        [[test]]\ncall = 'web.post'\nargs = { n = 1 }\nexpect = 'allow by default'\n";
    let policy = policy(text);
    for row in policy.tests() {
        assert_eq!(row.run(&policy, None, &Broken::default(), &()), None);
    }
    assert_eq!(policy.memory(), Some(std::time::Duration::from_secs(3600)));
    let of = |tool: &str| policy.label_names(policy.labels_of(&tool.parse().expect(tool))).collect::<Vec<_>>();
    assert_eq!((of("crm.get"), of("mail.get_one"), of("vault.x")), (vec!["private"], vec!["private"], vec!["secret"]));
    assert_eq!((of("mail.send"), of("web.post")), (Vec::<&str>::new(), Vec::new()));
    let definition = ToolDefinition::from_json(json!({"name": "post"})).expect("a tool");
    let tool = policy.for_tool(&ToolPath::new("web", "post"), EffectRules::default().trusted(&definition));
    assert!(tool.asks_labels());
    assert_eq!(tool.decide_whatever(None), None);
    let explained = |n: i32, history: &dyn History| {
        let arguments = json!({ "n": n });
        let arguments = arguments.as_object().expect("it");
        let call = Call { caller: Caller::default(), arguments, places: &(), history, at: None };
        let explanation = tool.explain(&call);
        assert_eq!(explanation.decision, tool.decide(&call));
        explanation.to_string()
    };
    let private = Assumed { labels: policy.label("private").expect("a label"), ..Assumed::default() };
    assert_eq!(
        explained(1, &private),
        "deny 'stays' (line 6): matches\n  met: n max 9, seen 1\n  \
         met: carries [private, secret], seen an answer of such a tool\ndeny by 'stays'"
    );
    assert!(explained(10, &private).ends_with("seen no answer of such a tool\nallow by default"));
    // If that is unknown, it counts as carried.
    assert!(explained(1, &Before(Some(0))).contains("unknown: carries [private, secret], seen unknown labels"));
    assert!(explained(10, &Before(Some(0))).ends_with("ask by 'careful'"));
}

/// The successful earlier calls, by rule and values, and the counts.
struct Earlier(Vec<(&'static str, &'static str)>, Option<u64>);

impl History for Earlier {
    fn has_room(&self, _: &Arc<str>, _: AtMost) -> Option<bool> {
        Some(true)
    }

    fn carries(&self, _: Labels) -> Option<bool> {
        Some(false)
    }

    fn has_passed(&self, gate: &Gate, values: &str) -> Option<bool> {
        Some(self.0.iter().any(|(rule, passed)| **rule == **gate.rule() && *passed == values))
    }

    fn measured(&self, _: &Arc<str>, measure: &Arc<Measure>, arguments: serde_json::Map<String, Value>) -> Option<u64> {
        assert_eq!((measure.tool().to_string(), measure.max()), ("code.references".to_owned(), 20));
        assert_eq!(Value::Object(arguments), json!({ "of": "f", "deep": { "list": ["f", 3] }, "n": 1 }));
        self.1
    }
}

#[test]
fn a_gate_is_open_after_an_earlier_call_with_the_same_values_and_fails_closed() {
    let text = "default = 'ask'\n\
        [[rule]]\nid = 'looked'\ntools = 'code.rename'\nafter = 'code.ref*'\nwithin = '30m'\nsame = ['of', 'in.file']\nthen = 'allow'\n\
        [[rule]]\nid = 'blind'\ntools = 'code.delete'\nafter = ['code.references', 'x.y']\nthen = 'deny'\n\
        [[test]]\ncall = 'code.rename'\nargs = { of = 'f', in = { file = 'a' } }\nafter = 'looked'\nexpect = 'allow by looked'\n\
        [[test]]\ncall = 'code.delete'\nexpect = 'deny by blind'\n\
        [[test]]\ncall = 'code.delete'\nafter = ['blind']\nexpect = 'ask by default'\n";
    let policy = policy(text);
    for row in policy.tests() {
        assert_eq!(row.run(&policy, None, &Broken::default(), &()), None);
    }
    let gates = |tool: &str| {
        let gates: Vec<_> = policy.gates_of(&tool.parse().expect(tool)).map(|gate| gate.rule().to_string()).collect();
        gates.join(" ")
    };
    assert_eq!(gates("code.references"), "looked blind");
    assert_eq!((gates("code.refs"), gates("code.rename")), ("looked".to_owned(), String::new()));
    let explained = |tool: &str, arguments: Value, history: &dyn History| {
        let definition = ToolDefinition::from_json(json!({ "name": tool })).expect("a tool");
        let tool = policy.for_tool(&ToolPath::new("code", tool), EffectRules::default().trusted(&definition));
        assert_eq!(tool.decide_whatever(None), None);
        let arguments = arguments.as_object().expect("it");
        let call = Call { caller: Caller::default(), arguments, places: &(), history, at: None };
        let explanation = tool.explain(&call);
        assert_eq!(explanation.decision, tool.decide(&call));
        explanation.to_string()
    };
    let of_f = json!({ "of": "f", "in": { "file": "a" } });
    let earlier = Earlier(vec![("looked", "[\"f\",\"a\"]"), ("blind", "[]")], None);
    assert_eq!(
        explained("rename", of_f.clone(), &earlier),
        "allow 'looked' (line 2): matches\n  met: after [code.ref*] with the same of, in.file, \
         seen one that succeeded\nallow by 'looked'"
    );
    for other in [json!({ "of": "g", "in": { "file": "a" } }), json!({ "of": "f" }), json!({ "of": "f", "in": "a" })] {
        assert!(explained("rename", other.clone(), &earlier).ends_with("ask by default"), "{other}");
    }
    assert!(explained("rename", of_f, &Before(Some(0))).ends_with("ask by default"), "nobody knows");
    assert!(explained("delete", json!({}), &earlier).ends_with("ask by default"));
    let blind = explained("delete", json!({}), &());
    assert!(blind.ends_with("met: after [code.references, x.y], seen none that succeeded\ndeny by 'blind'"), "{blind}");
    assert!(explained("delete", json!({}), &Before(Some(0))).ends_with("deny by 'blind'"), "nobody knows");
}

#[test]
fn a_measure_decides_by_its_count_and_is_told() {
    let measure = "measure = { tool = 'code.references', count = '/references', max = 20, \
        arguments = { of = '{symbol}', deep = { list = ['{symbol}', 3] }, n = '{n}' } }";
    let text = format!(
        "default = 'allow'\n[[rule]]\nid = 'wide'\ntools = 'code.rename'\n{measure}\nthen = 'ask'\n\
        [[rule]]\nid = 'narrow'\ntools = 'code.delete'\n{measure}\nthen = 'allow'\n\
        [[rule]]\nid = 'else'\ntools = 'code.delete'\nthen = 'ask'\n\
        [[test]]\ncall = 'code.rename'\nargs = {{ symbol = 'f', n = 1 }}\nmeasured = 21\nexpect = 'ask by wide'\n"
    );
    let policy = policy(&text);
    let earlier = policy.tests()[0].run(&policy, None, &Broken::default(), &());
    assert_eq!(earlier, None);
    let decided = |tool: &str, arguments: Value, count: Option<u64>| {
        let definition = ToolDefinition::from_json(json!({ "name": tool })).expect("a tool");
        let tool = policy.for_tool(&ToolPath::new("code", tool), EffectRules::default().trusted(&definition));
        let arguments = arguments.as_object().expect("it");
        let history = &Earlier(Vec::new(), count);
        let call = Call { caller: Caller::default(), arguments, places: &(), history, at: None };
        let decision = tool.decide(&call);
        assert_eq!(tool.explain(&call).decision, decision);
        let told = decision.measured.as_deref().unwrap_or("-").to_owned();
        format!("{} by {}: {told}", decision.verdict, decision.rule.as_deref().unwrap_or("default"))
    };
    let of_f = || json!({ "symbol": "f", "n": 1 });
    for (tool, arguments, count, expected) in [
        ("rename", of_f(), Some(20), "allow by default: -"),
        ("rename", of_f(), Some(21), "ask by wide: code.references counts 21, at most 20 pass"),
        ("rename", of_f(), None, "ask by wide: code.references gave no count, at most 20 pass"),
        ("rename", json!({ "n": 1 }), Some(1), "ask by wide: code.references gave no count, at most 20 pass"),
        ("delete", of_f(), Some(20), "allow by narrow: code.references counts 20, at most 20 pass"),
        ("delete", of_f(), Some(21), "ask by else: -"),
        ("delete", of_f(), None, "ask by else: -"),
    ] {
        assert_eq!(decided(tool, arguments, count), expected, "{tool} {count:?}");
    }
}
