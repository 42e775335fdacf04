//! The whole path of an agent that a hook leads to belljar: its own call is denied, the reason
//! names a call, `execute_code` makes it, and the next one finds the server warm.

use std::fs;

use serde_json::{Value, json};

use crate::{context_cost::Client, hooks::Owner, real_servers::filesystem};

/// The call that a denial names.
fn named(answer: &Value) -> &str {
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{answer:#}");
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    let (_, call) = reason.split_once("run in belljar's execute_code: ").unwrap();
    call.split_once(" If that cannot do it").map_or(call, |(call, _)| call)
}

#[test]
fn what_a_denial_names_runs_as_it_stands_and_the_next_call_finds_the_server_warm() {
    let owner = Owner::new("", "");
    let folder = owner.terminal.folder.path().canonicalize().unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    for (name, text) in [("orders.csv", "id,total\n1,20\n"), ("odd \"name\" {path}.csv", "id\n7\n")] {
        fs::write(folder.join("data").join(name), text).unwrap();
    }
    let server = filesystem(&folder);
    let rules = "[[hook]]\ntools = 'Read'\nfiles = ['*.csv']\npaths = ['data/']\nmode = 'deny'\n\
                 say = 'await fs.read_text_file({path: {path}})'\n";
    let own = format!("{rules}[servers.fs]\ncommand = {}\nargs = {}\n", server["command"], server["args"]);
    let config = owner.terminal.file("own.toml", own);
    let session = |event: &str, tool_input: Option<Value>| {
        let mut input = json!({ "session_id": "s", "cwd": folder, "hook_event_name": event });
        if let Some(tool_input) = tool_input {
            input["tool_name"] = "Read".into();
            input["tool_input"] = tool_input;
        }
        owner.hook("claude-code", event, input.to_string().as_bytes())
    };
    owner.start_daemon();
    let start = session("SessionStart", None);
    assert!(start["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("over fs;"), "{start:#}");
    let mut client = Client::connect(&owner.terminal, &["--daemon", "--config", config.to_str().unwrap()]);
    let mut servers = Vec::new();
    for (name, expected) in [("orders.csv", "1,20"), ("odd \"name\" {path}.csv", "7")] {
        let read = json!({ "file_path": folder.join("data").join(name) });
        let denied = session("PreToolUse", Some(read.clone()));
        let outcome = client.call("execute_code", json!({ "code": format!("return {}", named(&denied)) }));
        let text = outcome["content"][0]["text"].as_str().unwrap();
        assert!(outcome["isError"] != true && text.contains(expected), "{outcome:#}");
        let state = owner.belljar(&["servers", "--json"]).json()["servers"][0].clone();
        servers.push((state["pid"].clone(), state["restarts"].clone()));
        // An agent that insists is let through.
        assert_eq!(session("PreToolUse", Some(read)), json!({}));
    }
    assert_eq!(servers[0], servers[1], "the second call found another server");
    assert_eq!(servers[0].1, 0);
}
