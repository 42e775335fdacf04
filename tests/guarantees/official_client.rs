//! `belljar serve` with an independent client: that of the official TypeScript SDK.

use std::{collections::BTreeMap, process::Command};

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    real_servers::{installed, node},
    support::{Terminal, belljar, repository},
};

#[test]
fn the_official_client_lists_searches_executes_and_cancels() {
    installed("@modelcontextprotocol/sdk/package.json");
    installed("ajv/package.json");
    let mut client = Command::new(node());
    checked(client.arg(repository().join("tests/servers/client.mjs")).arg(belljar()));
}

/// Runs the client, and checks what it found.
pub(crate) fn checked(client: &mut Command) -> Value {
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(found["server"]["name"], "belljar");
    let mut tools: Vec<_> = found["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["execute_code", "search_docs"]);
    assert!(found["searchText"].as_str().unwrap().contains("demo.search_issues"), "{found:#}");

    // The client has checked that each of these fits the declared outputSchema.
    assert_eq!(found["ok"]["value"], json!(["atlas", "beacon", "comet"]));
    assert_eq!(found["ok"]["logs"], json!([{ "level": "log", "text": "projects: 3" }]));
    assert_eq!(found["ok"]["calls"][0]["tool"], "list_projects");
    assert_eq!(found["failure"]["error"]["kind"], "exception");
    assert_eq!(found["failure"]["calls"].as_array().unwrap().len(), 1);
    assert_eq!(found["refused"]["error"]["kind"], "usage");
    assert_eq!(found["afterCancel"]["value"], 42);
    found
}

/// The clients of both versions, in both eras of the protocol, with every answer that clients give
/// to forms.
#[test]
fn of_all_that_official_clients_do_with_a_form_an_explicit_word_alone_sends_the_call() {
    installed("@modelcontextprotocol/sdk/package.json");
    installed("@modelcontextprotocol/client/package.json");
    for negotiation in [None, Some("legacy"), Some("auto"), Some("2026-07-28")] {
        let terminal = Terminal::new();
        let received = terminal.folder.path().join("received");
        std::fs::create_dir(&received).unwrap();
        let config = format!(
            "[approvals]\nhold = '8s'\n[servers.kid]\ncommand = '{}'\nargs = ['record', '{}']\n",
            child().display(),
            received.display()
        );
        let config = terminal.file("belljar.toml", config);
        terminal.file("policy.toml", "default = 'ask'\n");
        let mut client = Command::new(node());
        client.arg(repository().join("tests/servers/decisions.mjs")).arg(belljar());
        client.env("HOME", terminal.folder.path()).env("CONFIG", config).env_remove("NEGOTIATION");
        if let Some(negotiation) = negotiation {
            client.env("NEGOTIATION", negotiation);
        }
        let output = client.output().unwrap();
        assert!(output.status.success(), "{negotiation:?}: {}", String::from_utf8_lossy(&output.stderr));
        let found: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
        let name = negotiation.unwrap_or("first");
        if let Some(negotiation) = negotiation {
            let revision = if negotiation == "legacy" { "2025-11-25" } else { "2026-07-28" };
            assert!(found.values().all(|client| client["revision"] == revision), "{negotiation}: {found:#?}");
        }
        for (way, client) in &found {
            assert_eq!(client["forms"], u32::from(way != "none"), "{name} {way}: {client:#}");
            let message = client["message"].as_str().unwrap_or_default();
            match way.as_str() {
                "approve" => assert_eq!(client["value"], format!("{name} approve"), "{client:#}"),
                "first" => assert!(message.contains("the owner said no"), "{name}: {client:#}"),
                "silent" if client["kind"].is_null() => assert!(client["value"].is_null(), "{name}: {client:#}"),
                _ => assert_eq!(client["kind"], "approval", "{name} {way}: {client:#}"),
            }
        }
        let calls = std::fs::read_dir(&received).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
        let calls: Vec<Value> = calls.map(|call| serde_json::from_slice(&call).unwrap()).collect();
        let sent = json!({ "tool": "write", "arguments": { "way": format!("{name} approve") } });
        assert_eq!(calls, [sent], "what was approved is sent, once, and nothing else");
        // Not deciding does not count as a no either.
        let mut open: Vec<String> = terminal.belljar(&["approvals", "--json"]).json()["approvals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|open| open["arguments"]["way"].as_str().unwrap().to_owned())
            .collect();
        open.sort_unstable();
        let ways = ["cancel", "decline", "empty", "none", "silent"];
        assert_eq!(open, ways.map(|way| format!("{name} {way}")));
    }
}
