//! `--select` shows the selected part of a value, and a failing filter affects only itself.

use serde_json::{Value, json};

use crate::{
    command_line::keys,
    daemon::{Shell, echo},
    support::{Answer, Terminal},
};

fn select(filter: &str, more: &[&str]) -> Answer {
    Terminal::new().belljar(&[&["call", "demo.list_projects", "--select", filter], more].concat())
}

#[test]
fn each_value_that_a_filter_gives_is_shown_and_what_it_spared_is_told() {
    let whole = Terminal::new().belljar(&["call", "demo.list_projects", "--json"]).json()["value"].clone();
    let names: Vec<&Value> = whole["projects"].as_array().unwrap().iter().map(|project| &project["name"]).collect();
    let answer = select(".projects[].name", &[]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let shown: Vec<Value> = answer.stdout.lines().map(Value::from).collect();
    assert!(shown.len() > 1 && shown.iter().eq(names), "{answer:#?}");
    let spared = answer.stderr.split("saved about ").nth(1).and_then(|rest| rest.split(' ').next());
    let spared: usize = spared.unwrap_or_else(|| panic!("{answer:#?}")).parse().unwrap();
    // As JSON, each name has its quotes.
    let bytes: usize = shown.iter().map(|name| name.to_string().len()).sum();
    assert_eq!(spared, (whole.to_string().len() - bytes) / 4);
    let quiet = select(".projects[].name", &["--quiet"]);
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (answer.stdout, ""));
}

#[test]
fn in_the_json_the_value_is_the_one_or_a_list_and_the_raw_result_is_left_out() {
    for (filter, value) in [
        (".projects | length > 1", json!(true)),
        (".projects[:1][] | {name} | keys[0], 7", json!(["name", 7])),
        ("empty", json!([])),
        ("[1, 2]", json!([1, 2])),
        ("12345678901234567890, 0.1", json!([12_345_678_901_234_567_890_u64, 0.1])),
    ] {
        let answer = select(filter, &["--json"]);
        assert_eq!(answer.code, 0, "{filter}: {answer:#?}");
        let answer = answer.json();
        assert_eq!(keys(&answer), ["ok", "run", "value", "error", "raw", "ms"]);
        assert_eq!((&answer["value"], &answer["raw"]), (&value, &Value::Null), "{filter}");
    }
}

#[test]
fn a_wrong_filter_is_refused_with_its_place_before_the_tool_is_called() {
    for (filter, message, hint) in [
        (".projects[", "the filter is wrong at column 11: expected closing bracket, found its end", "jq's language"),
        (".a | )", "the filter is wrong at column 6", "jq's language"),
        (".projects | lenght", "the filter is wrong at column 13: there is no filter 'lenght'", "did you mean length"),
        ("projects", "there is no filter 'projects'", ".projects"),
        ("$x", "there is no variable '$x'", ""),
        ("include \"a\"; .", "the filter wants the file 'a'", "a filter has no files"),
        ("", "the filter is wrong", ""),
    ] {
        // There is no such server, so with a valid filter the call would report that.
        let answer = Terminal::new().belljar(&["call", "nobody.home", "--select", filter, "--json"]);
        let error = answer.json()["error"].clone();
        assert_eq!((answer.code, &error["kind"]), (2, &json!("usage")), "{filter}: {answer:#?}");
        assert!(error["message"].as_str().unwrap().contains(message), "{filter}: {error:#}");
        assert!(error["hint"].as_str().unwrap_or_default().contains(hint), "{filter}: {error:#}");
    }
}

#[test]
fn a_filter_that_never_ends_recurses_too_deep_or_gives_too_much_is_ended() {
    for (filter, message) in [
        ("def f: f; f", "the filter had not ended after 10 s"),
        ("def f: 1 + f; f", "the filter "),
        ("[range(infinite)]", "the filter "),
        ("repeat(1)", "the filter gives more than 100000 values"),
        ("repeat(\"x\" * 1000000)", "the filter gives more than 16777216 bytes"),
        ("nan, infinite", "is not JSON"),
        (".projects.name", "the filter failed: "),
    ] {
        let answer = select(filter, &["--json"]);
        let error = answer.json()["error"].clone();
        assert_eq!((answer.code, &error["kind"]), (2, &json!("usage")), "{filter}: {answer:#?}");
        assert!(error["message"].as_str().unwrap().contains(message), "{filter}: {error:#}");
    }
}

#[test]
fn a_filter_sees_no_environment_and_what_the_daemon_answers_is_filtered_too() {
    assert_eq!(select("env | length", &[]).stdout, "0\n");
    let shell = Shell::new(&echo());
    let answer =
        shell.json(&["call", "kid.echo", "--input", "{\"text\": \"abc\"}", "--select", "tostring | contains(\"abc\")"]);
    assert_eq!((&answer["ok"], &answer["value"]), (&json!(true), &json!(true)), "{answer:#}");
}

#[test]
fn what_a_tool_fails_with_is_shown_as_without_a_filter() {
    let answer =
        Terminal::new().belljar(&["call", "demo.get_issue", "--input", "{\"id\": 99999}", "--select", ".title"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:#?}");
    assert!(answer.stderr.contains("99999"), "{answer:#?}");
}
