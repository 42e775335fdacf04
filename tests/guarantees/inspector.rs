//! belljar under the Inspector's command line, the usual tool for inspecting MCP servers. With
//! `--strict` it also checks whether the tools' schemas work with all kinds of clients.

use std::process::Command;

use serde_json::Value;

use crate::{
    conformance::suites_node,
    http::Served,
    real_servers::installed,
    support::{Terminal, belljar},
};

/// The output of the Inspector, which must pass.
fn inspector(terminal: &Terminal, target: &[&str], request: &[&str]) -> Value {
    let launcher = installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let output = Command::new(suites_node())
        .arg(launcher)
        .arg("--cli")
        .args(target)
        .args(request)
        .args(["--format", "json"])
        .current_dir(terminal.folder.path())
        .env("HOME", terminal.folder.path())
        .env("XDG_CONFIG_HOME", terminal.folder.path())
        .env("BELLJAR_NO_DAEMON", "1")
        .env_remove("BELLJAR_CONFIG")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{target:?} {request:?}: {} {said}", output.status);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{said}", String::from_utf8_lossy(&output.stdout)))
}

/// Lists the tools, whose schemas are checked, and runs a script.
fn check(terminal: &Terminal, target: &[&str]) {
    let listed = inspector(terminal, target, &["--method", "tools/list", "--strict"]);
    let tools: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(tools, ["search_docs", "execute_code"], "{listed:#}");
    let code = "code=return (await demo.list_projects()).projects.length";
    let call = ["--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", code];
    let ran = inspector(terminal, target, &call);
    assert_eq!(ran["result"]["structuredContent"]["value"], 3, "{ran:#}");
}

#[test]
fn the_inspector_lists_and_runs_over_http_however_it_agrees_on_a_revision() {
    let served = Served::of(Terminal::new(), &[]);
    let (url, token) = (format!("http://{}/mcp", served.address), format!("Authorization: Bearer {}", served.token));
    for era in ["legacy", "auto", "modern"] {
        check(&served.terminal, &[&url, "--transport", "http", "--protocol-era", era, "--header", &token]);
    }
}

#[test]
fn the_inspector_lists_and_runs_on_stdio() {
    let terminal = Terminal::new();
    check(&terminal, &[belljar().to_str().unwrap(), "serve"]);
}
