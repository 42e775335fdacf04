//! What is left out of a run that is kept whole: what the owner's rules name, what a tool's schemas
//! call secret, and secrets of the configuration that belljar's own texts would repeat.

use serde_json::{Value, json};

use crate::{
    ledger::{bytes_below, holds, shown, state},
    real_servers::node,
    support::Terminal,
};

/// A server whose schemas name secrets, by reference as generators write them, and that prints its
/// environment when it ends.
const SERVER: &str = r##"
const secret = { $ref: "#/$defs/Secret" };
const $defs = { Secret: { type: "string", format: "password", writeOnly: true } };
const credentials = { type: "object", properties: { user: { type: "string" }, keys: { type: "array", items: secret } } };
const tools = [
  { name: "login", inputSchema: { type: "object", $defs, properties: { credentials } },
    outputSchema: { type: "object", $defs, properties: { session: secret, user: { type: "string" } } } },
  { name: "die", inputSchema: { type: "object" } },
];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const handle = ({ id, method, params }) => {
  if (id === undefined) return;
  if (method === "initialize")
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } } });
  if (method === "tools/list") return send({ id, result: { tools } });
  if (method !== "tools/call") return send({ id, result: {} });
  if (params.name === "die") {
    process.stderr.write("bad key " + process.env.API_TOKEN + "\n");
    return setTimeout(() => process.exit(1), 50);
  }
  const { user, keys } = params.arguments.credentials;
  const structuredContent = { session: "session of " + keys[0], user };
  send({ id, result: { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }], _meta: { "x/echo": keys } } });
};
let input = "";
process.stdin.on("data", (data) => {
  const lines = (input += data).split("\n");
  input = lines.pop();
  lines.filter(Boolean).forEach((line) => handle(JSON.parse(line)));
});
"##;

/// The configured secret, which the server prints.
const TOKEN: &str = "sesame-of-the-configuration";

/// A terminal whose runs are kept whole, with this server.
fn terminal() -> Terminal {
    let terminal = Terminal::new();
    terminal.file("server.cjs", SERVER);
    let server =
        format!("[servers.kid]\ncommand = '{}'\nargs = ['server.cjs']\nenv = {{ API_TOKEN = '{TOKEN}' }}\n", node());
    terminal.file("belljar.toml", format!("[ledger]\nlevel = 'recordings'\n{server}"));
    terminal
}

fn run(terminal: &Terminal, script: &str) -> Value {
    terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", script]).json()
}

#[test]
fn what_a_schema_calls_a_secret_is_not_kept_though_it_is_named_by_reference() {
    let terminal = terminal();
    // The script is kept unchanged.
    let script =
        "const key = ['open', 'up'].join('-'); return await kid.login({ credentials: { user: 'ada', keys: [key] } });";
    let (one, same) = (run(&terminal, script), run(&terminal, script));
    assert_eq!(one["value"], json!({ "session": "session of open-up", "user": "ada" }), "{one:#}");
    let kept = shown(&terminal, &one["run"]);
    assert_eq!(kept["recording"], "verifiable", "{kept:#}");
    assert!(kept["crossings"][0]["text"].as_str().unwrap().contains("ada"), "{kept:#}");
    assert_eq!(kept["crossings"], shown(&terminal, &same["run"])["crossings"], "the same value has the same digest");
    assert!(!holds(&bytes_below(&state(&terminal)), "open-up"), "it is on the disk: {kept:#}");
}

#[test]
fn a_secret_of_the_configuration_is_not_kept_though_a_server_says_it_when_it_dies() {
    let terminal = terminal();
    let outcome = run(&terminal, "await kid.die({})");
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("bad key") && !message.contains(TOKEN), "{outcome:#}");
    let kept = shown(&terminal, &outcome["run"]);
    assert_eq!(kept["recording"], "replayable", "{kept:#}");
    assert!(kept["crossings"][1]["text"].as_str().unwrap().contains("bad key"), "{kept:#}");
    assert!(!holds(&bytes_below(&state(&terminal)), TOKEN), "it is on the disk");
}

#[test]
fn a_redacted_recording_is_verifiable_and_not_replayable() {
    let terminal = Terminal::new();
    let servers = "[servers.demo]\nbuiltin = 'demo'\n";
    let script = "(await demo.get_issue({ id: 40 })).title";
    let run = |ledger: &str| {
        terminal.file("belljar.toml", format!("[ledger]\nlevel = 'recordings'\n{ledger}{servers}"));
        terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", script]).json()
    };
    let rules = "redact = [{ tools = 'demo.get_*', pointers = ['/title', '/body'] }]\n";
    let (one, same) = (run(rules), run(rules));
    let title = one["value"].as_str().unwrap();
    assert!(title.len() > 5, "{one:#}");
    assert!(!holds(&bytes_below(&state(&terminal)), title), "'{title}' is on the disk");
    let kept = shown(&terminal, &one["run"]);
    assert_eq!(kept["recording"], "verifiable");
    assert!(kept["crossings"][1]["text"].as_str().unwrap().contains("[redacted "), "{kept:#}");
    let others = shown(&terminal, &same["run"]);
    assert_eq!(kept["crossings"], others["crossings"], "the same value has the same digest");
    let name = one["run"].as_str().unwrap();
    for command in [&["replay", name][..], &["runs", "export", name, "-o", "file"]] {
        let refused = terminal.belljar(command);
        assert_eq!(refused.code, 2, "{refused:#?}");
        assert!(refused.stderr.contains("verifiable, not replayable"), "{refused:#?}");
    }
    run("");
    assert!(holds(&bytes_below(&state(&terminal)), title), "without the rule it is kept");
}
