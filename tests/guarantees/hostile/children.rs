//! Children with answers that no server should give: lines 43, 77, 87 and 99 of the catalogue,
//! except those in modules `dead_children` and `command_line`.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::{
    cancellation::{ended, started},
    support::{Answer, Terminal},
};

/// A server with a different raw answer for each tool, so that it can answer what no library would.
const CHILD: &str = r#"
const send = (text) => process.stdout.write(text + "\n");
const answer = (id, result) => send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
const fine = '{"content":[],"structuredContent":{"fine":true}}';
const nasty = "\u001b[2J\u009b1m\u202e\r\nERROR forged\u0007";
const names = ["fine", "deep", "large", "invalid", "twice", "nobody", "late", "refuse", "nasty" + nasty];
let late = [];
process.stderr.write("started " + nasty + "\n");
const handle = ({ id, method, params }) => {
  if (method === "initialize")
    return answer(id, JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd" + nasty, version: nasty }, instructions: nasty }));
  if (method === "tools/list")
    return answer(id, JSON.stringify({ tools: names.map((name) => ({ name, description: "a tool " + nasty, inputSchema: { type: "object" } })) }));
  if (method !== "tools/call") return id === undefined || answer(id, "{}");
  late.splice(0).forEach((call) => answer(call, fine));
  switch (params.name) {
    case "deep": return answer(id, `{"content":[],"structuredContent":{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`);
    case "large": return answer(id, `{"content":[],"structuredContent":{"a":"${"x".repeat(3e7)}"}}`);
    case "invalid": return process.stdout.write(Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":"`), Buffer.from([0xff, 0xfe]), Buffer.from('"}}}\n')]));
    case "twice": answer(id, fine); return answer(id, '{"content":[],"structuredContent":{"fine":"again"}}');
    case "nobody": answer(987654321, fine); answer('"x"', fine); send('{"jsonrpc":"2.0","result":{}}'); send("[]"); return answer(id, fine);
    case "late": return late.push(id);
    case "refuse": return send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -1, message: "refused " + nasty, data: nasty } }));
    default: return answer(id, fine);
  }
};
let input = "";
process.stdin.on("data", (data) => {
  const lines = (input += data).split("\n");
  input = lines.pop();
  lines.filter(Boolean).forEach((line) => handle(JSON.parse(line)));
});
"#;

/// A configuration with the child above, as server `odd`. A call may take long enough for an answer
/// of megabytes, and one is never answered.
fn config(terminal: &Terminal) -> String {
    let child = terminal.file("child.js", CHILD);
    let text = format!("[limits]\ncall = '10s'\n[servers.odd]\ncommand = 'node'\nargs = ['{}']\n", child.display());
    terminal.file("belljar.toml", text).to_str().unwrap().to_owned()
}

fn run(terminal: &Terminal, script: &str) -> Answer {
    terminal.belljar(&["run", "--json", "--config", &config(terminal), "--code", script])
}

fn value(script: &str) -> Value {
    let answer = run(&Terminal::new(), script);
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()["value"].take()
}

#[test]
pub(crate) fn a_result_that_is_too_deep_too_large_or_no_utf8_fails_its_call_alone() {
    let value = value(
        "const end = call => call.then(() => 'answered', e => e instanceof ToolError ? 'ToolError' : String(e));
         const ends = await Promise.all([end(odd.deep()), end(odd.large()), odd.fine().then(r => r.fine)]);
         return [...ends, await end(odd.invalid()), (await odd.fine()).fine]",
    );
    assert_eq!(value, json!(["ToolError", "ToolError", true, "ToolError", true]));
}

#[test]
pub(crate) fn an_answer_that_comes_twice_to_nobody_or_late_is_nobodys() {
    let value = value(
        "const out = [(await odd.twice()).fine, (await odd.fine()).fine, (await odd.nobody()).fine];
         const late = await odd.late().catch(e => e instanceof ToolError);
         return [...out, late, (await odd.fine()).fine, (await odd.fine()).fine]",
    );
    assert_eq!(value, json!([true, true, true, true, true, true]));
}

/// Text that a terminal or a reader of logs would take for something else.
fn assert_tame(text: &str, context: &str) {
    let is_raw = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t')) || matches!(character, '\u{202a}'..='\u{202e}')
    };
    assert!(!text.contains(is_raw), "{context}: {text:?}");
    let forged = |line: &str| line.starts_with("ERROR forged");
    assert!(!text.lines().any(forged), "{context}: a line was forged: {text}");
}

#[test]
pub(crate) fn nothing_of_a_child_or_a_client_reaches_a_log_line_raw() {
    let terminal = Terminal::new();
    let config = config(&terminal);
    for arguments in [
        ["servers"].as_slice(),
        &["search", "tool", "--detail", "full"],
        &["call", "odd.refuse"],
        &["call", "odd.nothing"],
        &["run", "--code", "await odd.refuse()"],
        &["run", "--code", "console.log(tools.list()); return tools.list()"],
        &[
            "run",
            "--code",
            "for (const key of Object.keys(odd)) await odd[key]({}).catch(e => console.error(e)); return Object.keys(odd)",
        ],
    ] {
        let answer = terminal.belljar(&[arguments, &["-vv", "--no-daemon", "--config", &config]].concat());
        assert_tame(&answer.stdout, "stdout");
        assert_tame(&answer.stderr, "stderr");
        // A tool list that is cached starts no child.
        let is_started = arguments[0] == "servers";
        assert!(!is_started || answer.stderr.contains("started"), "the child's words are not there: {answer:#?}");
    }

    // A client's texts: its name, its methods, its arguments, and invalid lines.
    let mut server = started(&terminal, &["serve", "-vv", "--config", &config]);
    let nasty = "\u{1b}[2J\u{9b}1m\u{202e}\r\nERROR forged\u{7}";
    let mut stdin = server.stdin.take().unwrap();
    for line in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": nasty, "version": nasty } } }).to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 2, "method": nasty }).to_string(),
        json!({ "jsonrpc": "2.0", "method": format!("notifications/{nasty}") }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": nasty, "arguments": { nasty: nasty } } }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": { "name": "execute_code", "arguments": { nasty: nasty } } }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "execute_code", "arguments": { "code": format!("console.log({}); throw new Error({})", Value::from(nasty), Value::from(nasty)) } } }).to_string(),
        "\u{1b}[2J no json at all".to_owned(),
        "{\"jsonrpc\": \"2.0\", \"id\": \"\u{1b}[2J\"".to_owned(),
    ] {
        // If it has hung up, what it received counts.
        if writeln!(stdin, "{line}").is_err() {
            break;
        }
    }
    drop(stdin);
    let answer = ended(server);
    assert_tame(&answer.stderr, "the server's log");
    for line in answer.stdout.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line:?} is on stdout, and no JSON");
        assert!(!line.contains(|character: char| character.is_ascii_control()), "{line:?}");
    }
}
