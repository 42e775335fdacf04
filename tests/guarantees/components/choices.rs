//! A component that finds tools at run time can reach what the owner's rules let a script call, and
//! `--plan` says so.

use std::path::Path;

use serde_json::{Value, json};

use super::{any_tool::chooser, support::encoded};
use crate::support::{Answer, Terminal};

const WORLD: &str = "import belljar:sandbox/tools@0.2.0; export run: func() -> result<string, string>;";
const SERVERS: &str = "[servers.demo]\nbuiltin = \"demo\"\n";

fn terminal(more: &str) -> (Terminal, String) {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", format!("{SERVERS}{more}")).to_str().unwrap().to_owned();
    (terminal, config)
}

/// A component that finds a tool and calls it.
fn component(terminal: &Terminal, path: &str, arguments: &str) -> String {
    let wit = terminal.belljar(&["wit", "--any-tool", "--world"]).stdout;
    let file = encoded(&wit, &[], WORLD, &chooser(path, arguments));
    terminal.file("chooser.wasm", file).to_str().unwrap().to_owned()
}

fn run(terminal: &Terminal, config: &str, file: &str, more: &[&str]) -> Answer {
    let mut arguments = vec!["run", file, "--config", config];
    arguments.extend(more);
    terminal.belljar(&arguments)
}

#[test]
fn it_is_run_and_repeated_as_any_other_component() {
    let (terminal, config) = terminal("");
    let file = component(&terminal, "demo.get_issue", r#"{"id":1}"#);
    let recording = terminal.folder.path().join("run.belljar").to_str().unwrap().to_owned();
    let first = run(&terminal, &config, &file, &["--json", "--record", &recording]);
    let outcome = first.json();
    let script = ["run", "--code", "return await demo.get_issue({ id: 1 })", "--json", "--config", &config];
    assert_eq!(outcome["value"], terminal.belljar(&script).json()["value"], "{first:#?}");
    assert_eq!(
        (&outcome["calls"][0]["tool"], &outcome["calls"][0]["effect"]),
        (&json!("get_issue"), &json!("read_only"))
    );
    let again = terminal.belljar(&["replay", &recording, "--component", &file, "--json", "--config", &config]);
    let repeated = again.json();
    for part in ["value", "calls", "logs"] {
        assert_eq!(outcome[part], repeated[part], "{part}: {again:#?}");
    }
    assert_eq!(outcome["usage"]["fuel"], repeated["usage"]["fuel"], "{again:#?}");
    // It is in the ledger with its call.
    let shown = terminal.belljar(&["runs", "show", outcome["run"].as_str().unwrap(), "--json"]);
    assert!(shown.stdout.contains("get_issue"), "{shown:#?}");
}

#[test]
fn its_plan_says_any_tool_and_lists_all_with_verdicts() {
    let (terminal, config) = terminal("[servers.gone]\ncommand = \"/nowhere/at/all\"\n");
    terminal.file(
        "policy.toml",
        "default = \"allow\"\n[[rule]]\nid = \"no-writes\"\neffect = [\"mutating\", \"external\"]\nthen = \"ask\"\nwhy = \"look\"\n",
    );
    let file = component(&terminal, "demo.get_issue", r#"{"id":1}"#);
    let plan = run(&terminal, &config, &file, &["--plan", "--json"]).json();
    assert_eq!((&plan["any_tool"], &plan["interfaces"]), (&json!(true), &json!([])), "{plan:#}");
    let tools: Vec<&Value> = plan["tools"].as_array().unwrap().iter().collect();
    let searched = terminal
        .belljar(&["search", "--server", "demo", "--detail", "names", "--limit", "100", "--json", "--config", &config]);
    assert_eq!(tools.len(), searched.json()["results"].as_array().unwrap().len(), "{plan:#}");
    let of = |name: &str| tools.iter().find(|tool| tool["tool"] == name).unwrap_or_else(|| panic!("{name}: {plan:#}"));
    assert_eq!(of("demo.get_issue")["verdict"], "allow");
    assert_eq!(
        (&of("demo.create_issue")["verdict"], &of("demo.create_issue")["rule"]),
        (&json!("ask"), &json!("no-writes"))
    );
    assert_eq!(plan["unavailable"][0]["server"], "gone", "{plan:#}");
    let shown = run(&terminal, &config, &file, &["--plan"]).stdout;
    assert!(shown.starts_with("the component can call any tool, which it chooses while it runs:"), "{shown}");
    assert!(shown.contains("demo.create_issue") && shown.contains("ask by 'no-writes'"), "{shown}");
    assert!(shown.contains("gone.*: its tools are not known"), "{shown}");
    // A component that chooses nothing says so, too.
    let (terminal, config) = self::terminal("");
    let bare =
        encoded("", &[], "export run: func() -> result<string, string>;", &super::support::module("", "unreachable"));
    let bare = terminal.file("bare.wasm", bare).to_str().unwrap().to_owned();
    let plan = run(&terminal, &config, &bare, &["--plan", "--json"]).json();
    assert_eq!((&plan["any_tool"], &plan["tools"]), (&json!(false), &json!([])), "{plan:#}");
}

#[test]
fn the_owners_rules_judge_what_it_finds_and_what_it_calls() {
    let (terminal, config) = terminal("");
    terminal.file(
        "policy.toml",
        "default = \"allow\"\n\
         [[rule]]\nid = \"low\"\ntools = [\"demo.get_issue\"]\nargs.id = { min = 100 }\nthen = \"deny\"\nwhy = \"no\"\n\
         [[rule]]\nid = \"never\"\ntools = [\"demo.create_issue\"]\nthen = \"deny\"\nwhy = \"no\"\n",
    );
    let judged = |path: &str, arguments: &str| {
        run(&terminal, &config, &component(&terminal, path, arguments), &["--json"]).json()
    };
    let outcome = judged("demo.get_issue", r#"{"id":100}"#);
    assert_eq!(
        (&outcome["calls"][0]["verdict"], &outcome["calls"][0]["rule"]),
        (&json!("deny"), &json!("low")),
        "{outcome:#}"
    );
    assert!(outcome["error"]["message"].as_str().unwrap().contains("low"), "{outcome:#}");
    assert_eq!(judged("demo.get_issue", r#"{"id":1}"#)["ok"], true);
    // Tools that nobody may call cannot even be found, as in a search.
    let outcome = judged("demo.create_issue", "{}");
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("the owner's rules let nobody call it") && outcome["calls"] == json!([]), "{outcome:#}");
    let plan = run(&terminal, &config, &component(&terminal, "x.y", "{}"), &["--plan", "--json"]).json();
    assert!(!plan["tools"].to_string().contains("create_issue"), "{plan:#}");
}

#[test]
fn a_server_is_started_when_it_is_looked_into_and_not_before() {
    let terminal = Terminal::new();
    let mark = terminal.folder.path().join("started");
    let shell = format!("touch '{}'; exit 1", mark.display());
    let other = format!("[servers.other]\ncommand = \"sh\"\nargs = [\"-c\", {shell:?}]\n");
    let config = terminal.file("belljar.toml", format!("{SERVERS}{other}")).to_str().unwrap().to_owned();
    let outcome = run(&terminal, &config, &component(&terminal, "demo.get_issue", r#"{"id":1}"#), &["--json"]).json();
    assert_eq!((&outcome["ok"], mark.exists()), (&json!(true), false), "{outcome:#}");
    let outcome = run(&terminal, &config, &component(&terminal, "other.echo", "{}"), &["--json"]).json();
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("server 'other' is not available") && mark.exists(), "{outcome:#}");
}

#[test]
fn no_script_with_a_name_is_found() {
    let terminal = Terminal::new();
    terminal.file("skills/hello.ts", "/** Says hello. */\nexport default async () => 'hello';\n");
    let config = terminal.file("belljar.toml", SERVERS).to_str().unwrap().to_owned();
    let listed = terminal.belljar(&["skills", "list", "--config", &config]);
    assert!(listed.stdout.contains("hello"), "{listed:#?}");
    let file = component(&terminal, "skills.hello", "{}");
    let outcome = run(&terminal, &config, &file, &["--json"]).json();
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("there is no server 'skills'"), "{outcome:#}");
    let plan = run(&terminal, &config, &file, &["--plan", "--json"]).json();
    assert!(!plan["tools"].to_string().contains("hello"), "{plan:#}");
}

#[test]
fn belljar_wit_prints_the_interface_alone_and_beside_servers() {
    let (terminal, config) = terminal("");
    let alone = terminal.belljar(&["wit", "--any-tool"]);
    assert!(alone.stdout.contains("package belljar:sandbox@0.2.0") && !alone.stdout.contains("mcp-demo"), "{alone:#?}");
    let out = terminal.folder.path().join("wit");
    let answer = terminal.belljar(&[
        "wit",
        "demo.get_issue",
        "--any-tool",
        "--world",
        "--out",
        out.to_str().unwrap(),
        "--config",
        &config,
    ]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let read = |file: &str| {
        std::fs::read_to_string(Path::new(&out).join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let world = read("package.wit");
    for import in [
        "import belljar:mcp-demo/tools@0.1.0;",
        "import belljar:sandbox/tools@0.2.0;",
        "import belljar:sandbox/tools-async@0.2.0;",
    ] {
        assert!(world.contains(import), "{world}");
    }
    assert!(read("deps/belljar-sandbox/package.wit").contains("find: func(path: string) -> result<tool, string>;"));
}
