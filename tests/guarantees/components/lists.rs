//! A component can import and find exactly what a server has now and what a run can call: not less
//! because an earlier process kept a list, and not more.

use serde_json::json;

use super::{
    any_tool::{ANY, chooser},
    marks::{calling, tools, wit},
    support::typed,
};
use crate::{
    dead_children::child,
    support::{Answer, Terminal},
};

/// A server whose tools are in a file, from which it reads them when it starts.
struct Kid {
    terminal: Terminal,
    config: String,
}

/// A tool, and a way to ask for one.
type Ask<'a> = (&'static str, &'a dyn Fn(&str));

impl Kid {
    fn new(tools: &[&str]) -> Self {
        let terminal = Terminal::new();
        let list = terminal.folder.path().join("tools.json");
        let server =
            format!("[servers.kid]\ncommand = '{}'\nargs = ['listed', '{}']\n", child().display(), list.display());
        let config = terminal.file("belljar.toml", server).to_str().unwrap().to_owned();
        let kid = Self { terminal, config };
        kid.has(tools);
        kid
    }

    /// From its next start on, it has these tools.
    fn has(&self, tools: &[&str]) {
        let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
        self.terminal.file("tools.json", json!(tools.iter().map(tool).collect::<Vec<_>>()).to_string());
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        let mut all = arguments.to_vec();
        all.extend(["--config", &self.config]);
        self.terminal.belljar(&all)
    }

    fn run(&self, component: Vec<u8>, more: &[&str]) -> Answer {
        let file = self.terminal.file("component.wasm", component).to_str().unwrap().to_owned();
        let mut arguments = vec!["run", &file, "--json"];
        arguments.extend(more);
        self.belljar(&arguments)
    }

    /// The tools that a component could import, according to the known list.
    fn importable(&self) -> Vec<String> {
        let printed = self.belljar(&["wit", "kid", "--json"]).json();
        let tools = printed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["tool"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_tool_that_a_run_would_not_find_can_neither_be_imported_nor_is_it_planned() {
    let kid = Kid::new(&["$exclusive", "read", "$release", "two\nlines"]);
    assert_eq!(kid.importable(), ["kid.read"]);
    for name in ["kid.$exclusive", "kid.two\nlines"] {
        let answer = kid.belljar(&["wit", name, "kid.read"]);
        assert!(answer.code == 2 && answer.stderr.contains("components cannot import \"kid."), "{answer:#?}");
    }
    let plan = kid.run(typed(ANY, &chooser("kid.read", "{}")), &["--plan"]).json();
    let tools: Vec<&str> =
        plan["tools"].as_array().unwrap().iter().map(|tool| tool["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["kid.read"], "{plan:#}");
    for (path, code) in [("kid.read", 0), ("kid.$exclusive", 1), ("kid.two\nlines", 1)] {
        let answer = kid.run(typed(ANY, &chooser(path, "{}")), &[]);
        assert_eq!(answer.code, code, "{path}: {answer:#?}");
    }
}

#[test]
fn a_tool_that_a_server_has_now_is_there_though_a_list_on_disk_lacks_it() {
    let kid = Kid::new(&["read"]);
    assert_eq!(kid.importable(), ["kid.read"]);
    let typed_call = |tool: &str| calling(&wit(&tools(&[("kid", tool)])), "mcp-kid", tool);
    let found_call = |tool: &str| typed(ANY, &chooser(&format!("kid.{tool}"), "{}"));
    let gives_done = |answer: Answer| assert!(answer.code == 0 && answer.json()["value"] == "\"done\"", "{answer:#?}");
    let is_shown = |command: &str, tool: &str| {
        let answer = kid.belljar(&[command, &format!("kid.{tool}"), "--json"]);
        let tools = answer.json()["tools"].to_string();
        assert!(answer.code == 0 && tools.contains(&format!("\"kid.{tool}\"")), "{answer:#?}");
    };
    let planned = |tool: &str| {
        let plan = kid.run(typed_call(tool), &["--plan"]).json();
        assert_eq!(plan["tools"][0]["tool"], format!("kid.{tool}"), "{plan:#}");
    };
    let asks: [Ask<'_>; 5] = [
        ("fetch", &|tool| gives_done(kid.run(typed_call(tool), &[]))),
        ("find", &|tool| gives_done(kid.run(found_call(tool), &[]))),
        ("list", &planned),
        ("move", &|tool| is_shown("wit", tool)),
        ("send", &|tool| is_shown("typescript", tool)),
    ];
    for (tool, ask) in asks {
        kid.has(&["read", tool]);
        let known = kid.importable();
        assert!(!known.contains(&format!("kid.{tool}")), "the list was not from disk: {known:?}");
        ask(tool);
        assert_eq!(kid.importable(), ["kid.read".to_owned(), format!("kid.{tool}")], "the new list is kept");
    }
    // A tool that the server does not have either is missing.
    for answer in [kid.run(typed_call("gone"), &[]), kid.belljar(&["wit", "kid.gone"])] {
        assert_eq!(answer.code, 2, "{answer:#?}");
    }
    let answer = kid.run(found_call("gone"), &[]);
    assert!(answer.code == 1 && answer.stdout.contains("kid has no tool 'gone'"), "{answer:#?}");
}

#[test]
fn a_list_on_disk_serves_while_its_server_cannot_be_started() {
    let kid = Kid::new(&["read"]);
    assert_eq!(kid.importable(), ["kid.read"]);
    kid.terminal.file("tools.json", "not a list");
    let answer = kid.run(typed(ANY, &chooser("kid.gone", "{}")), &[]);
    assert!(answer.code == 1 && answer.stdout.contains("kid has no tool 'gone'"), "{answer:#?}");
    let plan = kid.run(calling(&wit(&tools(&[("kid", "read")])), "mcp-kid", "read"), &["--plan"]).json();
    assert_eq!(plan["tools"][0]["tool"], "kid.read", "{plan:#}");
}
