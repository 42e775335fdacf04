//! `belljar run guest.wasm`: the command, its plan, and the process in which a component runs.

use serde_json::{Value, json};

use super::support::{encoded, module, returns};
use crate::support::{Answer, Terminal};

const RUN: &str = "export run: func() -> result<string, string>;";

/// A configuration with the built-in server, and rules.
fn terminal(rules: &str) -> (Terminal, String) {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", format!("[servers.demo]\nbuiltin = \"demo\"\n{rules}"));
    let config = config.to_str().unwrap().to_owned();
    (terminal, config)
}

/// The packages of the built-in server.
fn wit(terminal: &Terminal, config: &str) -> String {
    terminal.belljar(&["wit", "demo", "--world", "--config", config]).stdout
}

/// A component that lists the projects of the built-in server, and returns the answer.
fn lister(terminal: &Terminal, config: &str) -> String {
    let import = r#"(import "belljar:mcp-demo/tools@0.1.0" "list-projects" (func $list (param i32)))
        (data (i32.const 16) "listed")"#;
    let body = format!(
        "(call $list (i32.const 2048)) (if (i32.load8_u (i32.const 2048)) (then {})) {}",
        "(i32.store (i32.const 1024) (i32.const 1)) (i32.store (i32.const 1028) (i32.load (i32.const 2056)))
         (i32.store (i32.const 1032) (i32.load (i32.const 2060))) (return (i32.const 1024))",
        returns(0, "(i32.const 16)", "(i32.const 6)")
    );
    let file = encoded(
        &wit(terminal, config),
        &[],
        &format!("import belljar:mcp-demo/tools@0.1.0; {RUN}"),
        &module(import, &body),
    );
    terminal.file("lister.wasm", file).to_str().unwrap().to_owned()
}

fn run(terminal: &Terminal, config: &str, file: &str, more: &[&str]) -> Answer {
    let mut arguments = vec!["run", file, "--config", config];
    arguments.extend(more);
    terminal.belljar(&arguments)
}

#[test]
fn a_component_is_run_as_a_script_is_with_the_same_outcome() {
    let (terminal, config) = terminal("");
    let file = lister(&terminal, &config);
    let answer = run(&terminal, &config, &file, &["--json"]);
    let outcome = answer.json();
    assert_eq!((answer.code, &outcome["value"]), (0, &json!("listed")), "{answer:#?}");
    assert_eq!(outcome["calls"][0]["tool"], "list_projects");
    assert_eq!(outcome["calls"][0]["effect"], "read_only");
    assert!(outcome["usage"]["fuel"].as_u64().is_some_and(|fuel| fuel > 0) && outcome["run"].is_string());
    // The ledger has it.
    let name = outcome["run"].as_str().unwrap();
    let shown = terminal.belljar(&["runs", "show", name, "--json"]);
    assert!(shown.stdout.contains("list_projects"), "{shown:#?}");
}

#[test]
fn its_plan_names_tools_effects_and_verdicts_and_runs_nothing() {
    let (terminal, config) = terminal("");
    let file = lister(&terminal, &config);
    let answer = run(&terminal, &config, &file, &["--plan", "--json"]);
    let plan = answer.json();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(plan["tools"][0]["tool"], "demo.list_projects", "{plan:#}");
    assert_eq!((&plan["tools"][0]["effect"], &plan["tools"][0]["verdict"]), (&json!("read_only"), &json!("allow")));
    assert_eq!(plan["interfaces"][0]["import"], "belljar:mcp-demo/tools@0.1.0");
    let shown = run(&terminal, &config, &file, &["--plan"]);
    assert!(shown.stdout.contains("demo.list_projects  read_only  allow"), "{shown:#?}");
    // Only what is run is in the ledger.
    let runs = || terminal.belljar(&["runs", "--json"]).json().to_string();
    assert!(!runs().contains("r_"), "{}", runs());
    run(&terminal, &config, &file, &[]);
    assert!(runs().contains("r_"), "{}", runs());
}

#[test]
fn the_owners_rules_judge_its_calls_as_those_of_a_script() {
    let (terminal, config) = terminal("");
    terminal.file(
        "policy.toml",
        "default = \"allow\"\n[[rule]]\nid = \"low\"\ntools = [\"demo.get_issue\"]\nargs.id = { min = 100 }\nthen = \"deny\"\nwhy = \"no\"\n",
    );
    let import = r#"(import "belljar:mcp-demo/tools@0.1.0" "get-issue" (func $get (param i64 i32)))"#;
    // The error's kind, which is 2 for what is denied, and its message as the error of the run.
    let body = format!(
        "(call $get (i64.const 100) (i32.const 2048))
         (if (i32.ne (i32.load8_u (i32.const 2056)) (i32.const 2)) (then unreachable)) {}",
        returns(1, "(i32.load (i32.const 2060))", "(i32.load (i32.const 2064))")
    );
    let world = format!("import belljar:mcp-demo/tools@0.1.0; {RUN}");
    let file = encoded(&wit(&terminal, &config), &[], &world, &module(import, &body));
    let file = terminal.file("get.wasm", file).to_str().unwrap().to_owned();
    let outcome = run(&terminal, &config, &file, &["--json"]).json();
    assert_eq!(
        (&outcome["calls"][0]["verdict"], &outcome["calls"][0]["rule"]),
        (&json!("deny"), &json!("low")),
        "{outcome:#}"
    );
    assert!(outcome["error"]["message"].as_str().is_some_and(|text| text.contains("low")), "{outcome:#}");
    let plan = run(&terminal, &config, &file, &["--plan"]);
    assert!(plan.stdout.contains("demo.get_issue  read_only  decided at the call"), "{plan:#?}");
}

#[test]
fn what_is_missing_is_named_and_is_a_matter_of_the_configuration() {
    let (with, config) = terminal("");
    let file = lister(&with, &config);
    let other = with.file("other.toml", "[servers.other]\nbuiltin = \"demo\"\n");
    let answer = run(&with, other.to_str().unwrap(), &file, &["--json"]);
    let error = answer.json()["error"].clone();
    assert_eq!((answer.code, &error["kind"]), (2, &json!("config")), "{answer:#?}");
    assert!(error["message"].as_str().unwrap().contains("belljar:mcp-demo/tools@0.1.0"), "{error:#}");
}

#[test]
fn a_component_can_be_a_text_and_take_an_input() {
    let (terminal, config) = terminal("");
    let text = r#"(component
        (core module $m
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
            (func (export "run") (param i32 i32) (result i32)
                (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (local.get 0)) (i32.store (i32.const 8) (local.get 1))
                (i32.const 0)))
        (core instance $i (instantiate $m))
        (func (export "run") (param "input" string) (result (result string (error string)))
            (canon lift (core func $i "run") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))"#;
    let file = terminal.file("echo.wat", text).to_str().unwrap().to_owned();
    let given = run(&terminal, &config, &file, &["--json", "--input", r#"{"n": [1, 2]}"#]).json();
    assert_eq!(given["value"], json!({ "n": [1, 2] }), "{given:#}");
    assert_eq!(run(&terminal, &config, &file, &["--json"]).json()["value"], json!("null"));
    let wrong = run(&terminal, &config, &file, &["--input", "{"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("the input is not JSON"), "{wrong:#?}");
}

#[test]
fn options_of_components_are_refused_for_scripts() {
    let (terminal, config) = terminal("");
    let script = terminal.file("script.js", "return 1").to_str().unwrap().to_owned();
    for option in [&["--plan"][..], &["--input", "1"]] {
        let answer = run(&terminal, &config, &script, option);
        assert!(answer.code == 2 && answer.stderr.contains("is for components"), "{answer:#?}");
    }
}

#[test]
fn the_process_of_a_component_has_the_walls_of_the_second_wall() {
    let (terminal, config) = terminal("");
    // It asks for more memory than its run may have, computes without end, or traps, and is ended
    // each time.
    let bare = |body: &str| encoded("", &[], RUN, &module("", body));
    for (name, body, kind, more) in [
        (
            "grows.wasm",
            "(loop $again (drop (memory.grow (i32.const 64))) (br $again)) unreachable",
            "memory",
            &["--memory", "16MiB"][..],
        ),
        ("loops.wasm", "(loop $again (br $again)) unreachable", "fuel", &["--fuel", "1000000"]),
        (
            "slow.wasm",
            "(loop $again (br $again)) unreachable",
            "timeout",
            &["--fuel", "9000000000000", "--compute", "50ms"],
        ),
        ("trap.wasm", "unreachable", "exception", &[]),
    ] {
        let file = terminal.file(name, bare(body)).to_str().unwrap().to_owned();
        let mut arguments = vec!["--json"];
        arguments.extend(more);
        let answer = run(&terminal, &config, &file, &arguments);
        let outcome: Value = answer.json();
        assert_eq!((answer.code, &outcome["error"]["kind"]), (1, &json!(kind)), "{name}: {answer:#?}");
    }
}

#[test]
fn a_recorded_run_is_repeated_in_a_process_of_its_own_with_the_very_file() {
    let (terminal, config) = terminal("");
    let file = lister(&terminal, &config);
    let recording = terminal.folder.path().join("run.belljar").to_str().unwrap().to_owned();
    let answer = run(&terminal, &config, &file, &["--json", "--record", &recording, "--ledger", "recordings"]);
    let first = answer.json();
    let name = first["run"].as_str().unwrap();
    // The note about the recording says how to repeat it.
    let note = format!("belljar replay {recording} --component {file}");
    assert!(answer.stderr.contains(&note), "{answer:#?}");
    let kept = terminal.belljar(&["runs", "show", name]);
    assert!(kept.stdout.contains(&format!("belljar replay {name} --component FILE")), "{kept:#?}");
    let copy = terminal.folder.path().join("copy.belljar").to_str().unwrap().to_owned();
    let written = terminal.belljar(&["runs", "export", name, "-o", &copy]);
    assert!(written.stderr.contains(&format!("belljar replay {copy} --component FILE")), "{written:#?}");
    for what in [&recording, name] {
        let again = terminal.belljar(&["replay", what, "--component", &file, "--json", "--config", &config]);
        let again_json = again.json();
        assert_eq!(again.code, 0, "{again:#?}");
        assert_eq!((&again_json["value"], &again_json["calls"]), (&first["value"], &first["calls"]), "{again:#?}");
        assert_eq!(again_json["usage"]["fuel"], first["usage"]["fuel"], "{again:#?}");
        let bare = terminal.belljar(&["replay", what, "--config", &config]);
        assert!(bare.code == 2 && bare.stderr.contains("--component"), "{bare:#?}");
    }
    let other = terminal.file("other.wasm", encoded("", &[], RUN, &module("", "unreachable")));
    let other = other.to_str().unwrap();
    let refused = terminal.belljar(&["replay", &recording, "--component", other, "--config", &config]);
    assert!(refused.code == 2 && refused.stderr.contains("of another component"), "{refused:#?}");
    // Neither the test runner nor the commands for scripts take it for a script.
    let tested = terminal.belljar(&["test", &recording, "--config", &config]);
    assert!(tested.code == 2 && tested.stdout.contains("the recording is of a component"), "{tested:#?}");
    let exported = terminal.belljar(&["runs", "export", name, "--fixture", "--config", &config]);
    assert!(exported.code == 2 && exported.stderr.contains("--component"), "{exported:#?}");
    let shown = terminal.belljar(&["runs", "show", name, "--json"]);
    assert!(shown.json()["source"].is_null(), "{shown:#?}");
}

#[test]
fn options_that_mean_nothing_for_a_component_are_refused() {
    let (terminal, config) = terminal("");
    let file = lister(&terminal, &config);
    let refused = run(&terminal, &config, &file, &["--workspace", "x"]);
    assert!(refused.code == 2 && refused.stderr.contains("--workspace is for scripts"), "{refused:#?}");
    // The run of a component never uses a daemon.
    assert_eq!(run(&terminal, &config, &file, &["--no-daemon"]).code, 0);
}

#[test]
fn webassembly_without_its_ending_is_told_apart_from_a_script() {
    let (terminal, config) = terminal("");
    let bytes = encoded("", &[], RUN, &module("", "unreachable"));
    let recording = terminal.folder.path().join("run.belljar").to_str().unwrap().to_owned();
    run(&terminal, &config, terminal.file("script.js", "return 1").to_str().unwrap(), &["--record", &recording]);
    for name in ["guest", "guest.wasm"] {
        let file = terminal.file(name, &bytes).to_str().unwrap().to_owned();
        let mut commands = vec![vec!["check", &file], vec!["replay", &recording, "--source", &file]];
        if name == "guest" {
            commands.push(vec!["run", &file]);
        }
        for mut command in commands {
            command.extend(["--config", &config]);
            let answer = terminal.belljar(&command);
            assert!(answer.code == 2 && answer.stderr.contains("is WebAssembly, not a script"), "{answer:#?}");
            assert!(answer.stderr.contains("ends in .wasm"), "{answer:#?}");
        }
    }
    let stdin = std::fs::File::open(terminal.folder.path().join("guest")).unwrap();
    let answer = Answer::of(terminal.command(&["run", "--config", &config]).stdin(stdin).output().unwrap());
    assert!(answer.code == 2 && answer.stderr.contains("stdin is WebAssembly"), "{answer:#?}");
}
