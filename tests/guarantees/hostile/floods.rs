//! Children that never stop sending: changed tools, lines on stderr. Their cost to belljar, its log
//! and its other children is bounded.

use serde_json::{Value, json};

use super::clients::Client;
use crate::{dead_children::child, real_servers::node, support::Terminal};

/// A server that announces changed tools this often, and counts how many times they are listed.
const CHANGING: &str = r#"
const lines = require("node:readline").createInterface({ input: process.stdin });
let listed = 0;
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const tool = (name) => ({ name, inputSchema: { type: "object" } });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: "changing", version: "1" } } });
  }
  if (method === "tools/list") {
    listed += 1;
    return send({ id, result: { tools: [tool("flood"), tool("listed")] } });
  }
  if (method !== "tools/call") return send({ id, error: { code: -32601, message: "unknown" } });
  if (params.name === "flood") {
    const news = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }) + "\n";
    process.stdout.write(news.repeat(100_000));
  }
  send({ id, result: { content: [{ type: "text", text: JSON.stringify({ listed }) }] } });
});
"#;

#[test]
pub(crate) fn a_child_whose_tools_change_without_end_is_asked_for_them_seldom_and_costs_no_memory() {
    let terminal = Terminal::new();
    let server = terminal.file("changing.cjs", CHANGING);
    // Reading a flood takes as long as the machine is slow.
    let config = format!(
        "[limits]\ntimeout = '5m'\nwait = '5m'\ncall = '5m'\n[servers.changing]\ncommand = {:?}\nargs = [{server:?}]\n",
        node()
    );
    let config = terminal.file("belljar.toml", config);
    let mut client = Client::connected(terminal.command(&["serve", "--config", config.to_str().unwrap()]));
    client.begins_to_be_measured();
    for _ in 0..5 {
        assert_eq!(client.value("return (await changing.flood({})).listed > 0"), true);
    }
    let listed = client.value("return (await changing.listed({})).listed");
    assert!(listed.as_u64().unwrap() < 50, "half a million pieces of news made it ask for its tools {listed} times");
    client.has_cost_little();
}

#[test]
pub(crate) fn a_child_that_floods_stderr_is_logged_in_part_and_what_was_left_out_is_said() {
    let terminal = Terminal::new();
    let servers = json!({ "mcpServers": { "loud": { "command": child(), "args": ["stderr-flood"] } } });
    let config = terminal.file("mcp.json", servers.to_string());
    let code = "for (let i = 0; i < 10; i++) await loud.echo({ i }); return 'heard'";
    let answer = terminal.belljar(&["run", "-v", "--json", "--config", config.to_str().unwrap(), "--code", code]);
    assert_eq!(answer.json()["value"], "heard", "{answer:#?}");
    let of_child = |line: &&str| line.contains(&"x".repeat(99));
    let logged = answer.stderr.lines().filter(of_child).count();
    // It wrote more than 30,000. How many are logged after the first two hundred depends on how
    // long it takes.
    assert!((100..3_000).contains(&logged), "{logged} lines of the child were logged");
    let left_out: u64 =
        answer.stderr.lines().filter_map(|line| line.split_once(" lines left out")).fold(0, |all, (line, _)| {
            all + line.rsplit(|character: char| !character.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap()
        });
    // The end of the last call's output may still be in the pipe when belljar ends.
    assert!(
        left_out + u64::try_from(logged).unwrap() >= 25_000,
        "{logged} were logged, and {left_out} said to be left out"
    );
}

/// The last lines are kept for the error message, whether they were logged or not.
#[test]
pub(crate) fn the_last_words_of_a_child_that_flooded_stderr_are_still_known() {
    let terminal = Terminal::new();
    let script =
        "i=0; while [ $i -lt 5000 ]; do echo \"noise $i\" >&2; i=$((i+1)); done; echo 'the disk is full' >&2; exit 3";
    let servers = json!({ "mcpServers": { "last": { "command": "sh", "args": ["-c", script] } } });
    let config = terminal.file("mcp.json", servers.to_string());
    let answer = terminal.belljar(&["servers", "--json", "--config", config.to_str().unwrap()]);
    let server: &Value = &answer.json()["servers"][0];
    assert!(server["last_error"].as_str().unwrap().contains("the disk is full"), "{server:#}");
}
