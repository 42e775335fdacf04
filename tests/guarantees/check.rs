//! `belljar check` shows which tools a script would call, and the rules' verdict on each, without
//! running it or starting a server.

use serde_json::{Value, json};

use crate::{dead_children::child, support::Terminal};

/// A terminal whose server's tools were listed once, and its configuration.
fn terminal() -> (Terminal, String) {
    let terminal = Terminal::new();
    let schema = json!({ "type": "object", "required": ["path"], "properties": {
        "path": { "type": "string" }, "mode": { "enum": ["text", "bytes"] } }, "additionalProperties": false });
    let tools = json!([
        { "name": "read", "inputSchema": schema, "annotations": { "readOnlyHint": true } },
        { "name": "write", "inputSchema": schema },
    ]);
    terminal.file("listed.json", tools.to_string());
    let list = terminal.file("tools.json", tools.to_string());
    let server = format!(
        "[servers.kid]\ncommand = '{}'\nargs = ['listed', '{}']\ntrust_hints = true\n",
        child().display(),
        list.display()
    );
    let config = terminal.file("belljar.toml", server).to_str().unwrap().to_owned();
    assert_eq!(terminal.belljar(&["servers", "--no-daemon", "--config", &config]).code, 0);
    // From now on the server does not start: a caller that needs it fails.
    terminal.file("tools.json", "this is not a list");
    (terminal, config)
}

fn checked(terminal: &Terminal, config: &str, code: &str) -> (i32, Value) {
    let answer = terminal.belljar(&["check", "--json", "--config", config, "--code", code]);
    (answer.code, answer.json())
}

#[test]
fn each_call_is_shown_with_its_place_effect_verdict_and_what_is_known_of_its_arguments() {
    let (terminal, config) = terminal();
    let rules = "default = 'allow'\n[[rule]]\nid = 'writes'\ntools = 'kid.write'\nthen = 'ask'\n\
        [[rule]]\nid = 'etc'\ntools = 'kid.read'\nargs.path = { matches = '/etc/.*' }\nthen = 'deny'\nwhy = 'not there'\n";
    terminal.file("policy.toml", rules);
    let code = "const { read } = kid;\nawait read({ path: '/etc/hosts' });\n\
        for (const path of paths()) await kid.write({ path, mode: `${path}` });\ntry { await kid[name]({}) } catch {}";
    let (exit, plan) = checked(&terminal, &config, code);
    let call = |line: u32, column: u32, reach: &str, is_loop: bool| json!({ "line": line, "column": column, "reach": reach, "loop": is_loop });
    let place = |call: &Value| json!({ "line": call["line"], "column": call["column"], "reach": call["reach"], "loop": call["loop"] });
    let calls = plan["calls"].as_array().unwrap();
    assert_eq!(
        calls.iter().map(place).collect::<Vec<_>>(),
        [call(2, 7, "certain", false), call(3, 39, "possible", true)],
        "{plan:#}"
    );
    assert_eq!((&calls[0]["tool"], &calls[0]["effect"]), (&json!("kid.read"), &json!("read_only")));
    assert_eq!((&calls[0]["verdict"], &calls[0]["rule"]), (&json!("deny"), &json!("etc")));
    assert!(calls[0]["problem"].as_str().unwrap().contains("not there"), "{plan:#}");
    assert_eq!(
        (&calls[1]["tool"], &calls[1]["verdict"], &calls[1]["rule"]),
        (&json!("kid.write"), &json!("ask"), &json!("writes"))
    );
    let known = json!({ "value": { "path": null, "mode": "" }, "unknown": ["/path"], "texts": ["/mode"] });
    assert_eq!(calls[1]["arguments"], known);
    // A denial that depends on the arguments may differ when the call is made.
    assert_eq!((&calls[0]["certain"], exit, &plan["ok"]), (&json!(false), 0, &json!(true)));
    assert_eq!((&plan["others"], &plan["error"]), (&json!(true), &Value::Null));
}

#[test]
fn what_a_person_reads_is_a_line_for_each_call_and_what_would_go_wrong_below_it() {
    let (terminal, config) = terminal();
    let code =
        "await kid.read({ path: 'a' });\nif (x) await kid.reed({ path: 'a' });\nawait kid.write({ mode: 'texts' })";
    let answer = terminal.belljar(&["check", "--config", &config, "--code", code]);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert_eq!(lines[0], r#"1:11  always  kid.read   read_only  allow  {"path": "a"}"#, "{}", answer.stdout);
    assert!(lines[1].starts_with("2:18  maybe   kid.reed   not known"), "{}", answer.stdout);
    assert_eq!(lines[2], "    would fail: kid has no tool 'reed'");
    assert!(lines[3].starts_with("    hint: did you mean kid.read?"), "{}", answer.stdout);
    assert!(lines[5].contains("arguments.path: expected string, found nothing"), "{}", answer.stdout);
    assert_eq!(answer.code, 1);
}

#[test]
fn a_tool_that_is_not_described_as_it_is_pinned_is_shown_as_asked_about() {
    let (terminal, config) = terminal();
    terminal.file("policy.toml", "default = 'allow'\npin = true\n");
    let verdict = || checked(&terminal, &config, "await kid.read({ path: 'a' })").1["calls"][0]["verdict"].clone();
    // A definition that nobody has accepted is unknown, and the first one that is seen is pinned.
    assert_eq!(verdict(), json!("allow"));
    let list = std::fs::read_to_string(terminal.folder.path().join("listed.json")).unwrap();
    terminal.file("tools.json", list.replace("readOnlyHint", "openWorldHint"));
    assert_eq!(terminal.belljar(&["servers", "--no-daemon", "--config", &config]).code, 0);
    assert_eq!(verdict(), json!("ask"));
}

#[test]
fn no_server_is_started_and_nothing_is_called_or_kept() {
    let (terminal, config) = terminal();
    let (exit, plan) = checked(&terminal, &config, "await kid.read({ path: 'a' })");
    assert_eq!((exit, &plan["ok"]), (0, &json!(true)), "{plan:#}");
    let runs = terminal.belljar(&["runs", "--json"]);
    assert_eq!(runs.json()["runs"], json!([]), "{runs:#?}");
    // An unknown server.
    let config = terminal.file("other.toml", "[servers.new]\ncommand = '/nowhere/at-all'\n");
    let (exit, plan) = checked(&terminal, config.to_str().unwrap(), "await new_.x(); await globalThis.y; 1");
    assert_eq!(exit, 0, "{plan:#}");
    assert_eq!(plan["calls"][0]["effect"], Value::Null, "{plan:#}");
}

#[test]
fn a_script_that_cannot_be_read_and_one_that_calls_nothing_say_so() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["check", "--code", "1 +"]);
    assert!(answer.code == 1 && answer.stdout.contains("syntax"), "{answer:#?}");
    let answer = terminal.belljar(&["check", "--code", "1 + 1"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "the script calls no tool\n"), "{answer:#?}");
    assert_eq!(terminal.belljar(&["check", "--code", " "]).code, 2);
    assert_eq!(terminal.belljar(&["check", "no/such/file.ts"]).code, 2);
    let endless = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let endless = terminal.file("endless.js", endless);
    assert_eq!(terminal.belljar(&["check", endless.to_str().unwrap()]).code, 1);
}
