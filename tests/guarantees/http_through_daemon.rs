//! `belljar serve --http --daemon`: many principals at one endpoint, with the daemon's servers
//! behind it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    http::{Served, result, token},
    support::Terminal,
};

const DEMO: &str = "[servers.demo]\nbuiltin = 'demo'\n";

/// Ends the daemon of a test, even if the test fails.
struct Ends<'t>(&'t Served, &'t str);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.terminal.belljar(&["daemon", "stop", "--config", self.1]);
    }
}

fn served() -> (Served, String) {
    let terminal = Terminal::with_daemon();
    let config = terminal.file("belljar.toml", DEMO).to_str().unwrap().to_owned();
    (Served::of(terminal, &["--daemon", "--config", &config]), config)
}

fn pid(served: &Served, config: &str) -> Value {
    let status = served.terminal.belljar(&["daemon", "status", "--json", "--config", config]).json();
    assert!(status["pid"].is_number(), "{status:#}");
    status["pid"].clone()
}

#[test]
fn principals_share_the_daemon_and_not_what_its_servers_keep_for_them() {
    let (served, config) = served();
    let _ends = Ends(&served, &config);
    let bob = token(&served.terminal, &["add", "bob"]);
    let value = |token: &str, code: &str| loop {
        // A token is known when it is no longer rejected.
        let stream = served.run(token, code);
        let answer = crate::http::rest(stream);
        if let Some(last) = crate::http::messages(&answer).pop().filter(|last| last["result"].is_object()) {
            let outcome = &last["result"]["structuredContent"];
            assert_eq!(outcome["ok"], true, "{outcome:#}");
            return outcome["value"].clone();
        }
    };
    value(&served.token, "await demo.create_issue({ project: 'comet', title: 'secret of ann' })");
    let seen = "return (await demo.search_issues({ query: 'secret of ann' })).total";
    assert_eq!(value(&served.token, seen), 1);
    assert_eq!(value(&bob, seen), 0);
    // The owner's commands use the same daemon, and the owner's own instance.
    let owner = served.terminal.belljar(&["run", "--json", "--config", &config, "--code", seen]).json();
    assert_eq!(owner["value"], 0, "{owner:#}");
    assert_eq!(value(&served.token, seen), 1);
    // A run that only reads is answered first, and kept afterwards.
    let asked = Instant::now();
    loop {
        let runs = served.terminal.belljar(&["runs", "--json"]).json();
        let principals: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| &run["principal"]).collect();
        if ["ann", "bob"].iter().all(|name| principals.contains(&&json!(name))) {
            break;
        }
        assert!(asked.elapsed() < Duration::from_secs(30), "{runs:#}");
    }
}

#[test]
fn in_the_daemon_too_a_principal_raises_no_limit_and_goes_no_further_than_the_token() {
    let (served, config) = served();
    let _ends = Ends(&served, &config);
    let reader = token(&served.terminal, &["add", "reader", "--scope", "run:read-only"]);
    let arguments = json!({ "code": "return 1", "limits": { "timeout": "9h" } });
    let params = json!({ "name": "execute_code", "arguments": arguments });
    let raised = result(served.send(&served.token, "tools/call", "execute_code", params));
    assert_eq!(raised["isError"], true, "{raised:#}");
    assert!(raised["content"][0]["text"].as_str().unwrap().contains("timeout"), "{raised:#}");
    let refused = loop {
        let code = "return await demo.create_issue({ project: 'comet', title: 'no' })";
        let answer = crate::http::rest(served.run(&reader, code));
        if let Some(last) = crate::http::messages(&answer).pop().filter(|last| last["result"].is_object()) {
            break last["result"]["structuredContent"].clone();
        }
    };
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("may only call tools that are read_only"),
        "{refused:#}"
    );
    assert_eq!(
        served
            .value("return (await demo.search_issues({ query: 'no' })).issues.filter((i) => i.title === 'no').length"),
        0
    );
}

#[test]
fn a_reload_reaches_the_daemon_which_stays_the_same() {
    let (served, config) = served();
    let _ends = Ends(&served, &config);
    assert_eq!(served.value("return 1"), 1);
    let before = pid(&served, &config);
    std::fs::write(Path::new(&config), format!("{DEMO}[servers.other]\nbuiltin = 'demo'\n")).unwrap();
    served.signal("-HUP");
    let line = served.said.iter().find(|line| line.contains("the configuration was")).unwrap();
    assert!(line.contains("was read again: 2 servers"), "{line}");
    assert_eq!(served.value("return (await other.list_projects()).projects.length"), 3);
    assert_eq!(pid(&served, &config), before);
}
