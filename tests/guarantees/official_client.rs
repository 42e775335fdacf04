//! `belljar serve` under a client that belljar's authors did not write: the one of the official TypeScript SDK.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    real_servers::{installed, node},
    support::{belljar, repository},
};

#[test]
fn the_official_client_lists_searches_executes_and_cancels() {
    installed("@modelcontextprotocol/sdk/package.json");
    installed("ajv/package.json");
    let mut client = Command::new(node());
    checked(client.arg(repository().join("tests/servers/client.mjs")).arg(belljar()));
}

/// Runs the client, and looks at what it found.
pub(crate) fn checked(client: &mut Command) -> Value {
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(found["server"]["name"], "belljar");
    let mut tools: Vec<_> = found["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["execute_code", "search_docs"]);
    assert!(found["searchText"].as_str().unwrap().contains("demo.search_issues"), "{found:#}");

    // That each of these fits the declared outputSchema has been checked by the client.
    assert_eq!(found["ok"]["value"], json!(["atlas", "beacon", "comet"]));
    assert_eq!(found["ok"]["logs"], json!([{ "level": "log", "text": "projects: 3" }]));
    assert_eq!(found["ok"]["calls"][0]["tool"], "list_projects");
    assert_eq!(found["failure"]["error"]["kind"], "exception");
    assert_eq!(found["failure"]["calls"].as_array().unwrap().len(), 1);
    assert_eq!(found["refused"]["error"]["kind"], "usage");
    assert_eq!(found["afterCancel"]["value"], 42);
    found
}
