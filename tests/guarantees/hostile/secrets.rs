//! Configured secrets that servers repeat: line 116 of the catalogue.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    thread,
};

use serde_json::{Value, json};

use crate::{
    cancellation::{ended_after, started},
    daemon::Shell,
    support::Terminal,
};

/// A secret that every encoding changes.
const SECRET: &str = "sesame/öffne dich+42";

/// The encodings that programs and protocols use for it, each written out here.
const FORMS: [&str; 6] = [
    "sesame/öffne dich+42",
    "sesame%2F%C3%B6ffne%20dich%2B42",
    "sesame%2f%c3%b6ffne%20dich%2b42",
    "sesame%2F%C3%B6ffne+dich%2B42",
    // "SECRET", and its part of "u:SECRET", in base64.
    "c2VzYW1lL8O2ZmZuZSBkaWNoKzQy",
    "zZXNhbWUvw7ZmZm5lIGRpY2grND",
];

/// A server that prints its environment: when it starts, in answers, in errors, and when it is told
/// to die.
const CHILD: &str = r#"
const secret = process.env.API_TOKEN;
const forms = [secret, encodeURIComponent(secret), encodeURIComponent(secret).toLowerCase(), encodeURIComponent(secret).replaceAll("%20", "+"),
  Buffer.from(secret).toString("base64"), Buffer.from("u:" + secret).toString("base64"), "\u001b[31m" + secret + "\u001b[0m"];
const how = process.argv[2];
const say = () => forms.forEach((form) => process.stderr.write("bad key " + form + "\n"));
say();
if (how === "dies") process.exitCode = 1;
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const handle = ({ id, method, params }) => {
  if (id === undefined) return;
  if (method === "initialize" && how === "refuses") return send({ id, error: { code: -1, message: ".".repeat(1990) + forms.join(" ") } });
  if (method === "initialize")
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } } });
  if (method === "tools/list" && params?.cursor) return send({ id, error: { code: -1, message: forms.join(" ") } });
  if (method === "tools/list") return send({ id, result: { tools: [{ name: "say" }, { name: "fail" }, { name: "die" }], ...(how === "lists" && { nextCursor: "2" }) } });
  if (method !== "tools/call") return send({ id, result: {} });
  if (params.name === "die") return say(), process.exit(1);
  send({ id, result: { content: [{ type: "text", text: forms.join("\n") }], isError: params.name === "fail" } });
};
let input = "";
if (how !== "dies") process.stdin.on("data", (data) => {
  const lines = (input += data).split("\n");
  input = lines.pop();
  lines.filter(Boolean).forEach((line) => handle(JSON.parse(line)));
});
"#;

fn servers(terminal: &Terminal, remote: &str) -> Value {
    let child = terminal.file("child.js", CHILD);
    let server = |how: &str| json!({ "command": "node", "args": [child, how], "env": { "API_TOKEN": SECRET } });
    json!({
        "talks": server("talks"),
        "dies": server("dies"),
        "refuses": server("refuses"),
        "remote": { "url": remote, "headers": { "Authorization": format!("Bearer {SECRET_HEADER}"), "X-Key": "another-secret" } },
    })
}

const SECRET_HEADER: &str = "abcdefgh.ijklmnop_42";

/// A remote server that answers every request with its headers and its query.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() <= 2 {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                // A long text without information would displace the rest.
                if ["post", "get", "authorization", "x-key"].iter().any(|part| line.to_lowercase().starts_with(part)) {
                    head += &line;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let answer = format!(
                "HTTP/1.1 418 No\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{head}",
                head.len()
            );
            // The client may have hung up.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/mcp?key=query-of-secrets")
}

fn assert_silent(text: &str, context: &str) {
    for form in FORMS.iter().chain(&[SECRET_HEADER, "another-secret", "query-of-secrets"]) {
        assert!(!text.contains(form), "{context} says {form}: {text}");
    }
}

#[test]
pub(crate) fn no_text_of_belljars_says_a_secret_that_a_server_says() {
    let terminal = Terminal::new();
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers(&terminal, &echo()) }).to_string());
    for (arguments, says) in [
        (["servers"].as_slice(), "[redacted]"),
        (&["doctor"], "[redacted]"),
        (&["search", "say"], "[redacted]"),
        (&["call", "dies.say"], "bad key [redacted]"),
        (&["call", "refuses.say"], "[redacted]"),
        (&["call", "talks.die"], "bad key [redacted]"),
        (&["call", "remote.say"], "authorization: [redacted]"),
        (&["run", "--code", "await dies.say({})"], "bad key [redacted]"),
        (&["run", "--code", "await talks.die({})"], "bad key [redacted]"),
        (&["run", "--code", "await remote.say({})"], "[redacted]"),
    ] {
        for more in [["-vv"].as_slice(), &["--json"]] {
            let more = [more, &["--config", config.to_str().unwrap()]].concat();
            let answer = terminal.belljar(&[arguments, &more].concat());
            let all = answer.stdout + &answer.stderr;
            assert_silent(&all, &format!("{arguments:?} {more:?}"));
            assert!(all.contains(says), "{arguments:?} {more:?} does not say {says}: {all}");
        }
    }
}

#[test]
pub(crate) fn what_is_wrong_with_a_list_is_told_without_a_secret_in_it() {
    let terminal = Terminal::new();
    let child = terminal.file("child.js", CHILD);
    let server = json!({ "command": "node", "args": [child, "lists"], "env": { "API_TOKEN": SECRET } });
    let config = terminal.file("mcp.json", json!({ "mcpServers": { "lists": server } }).to_string());
    for more in ["-vv", "--json"] {
        let answer = terminal.belljar(&["servers", more, "--config", config.to_str().unwrap()]);
        let all = answer.stdout + &answer.stderr;
        assert_silent(&all, more);
        assert!(all.contains("in its tool list") && all.contains("[redacted]"), "{all}");
    }
}

#[test]
pub(crate) fn what_a_model_reads_and_a_daemon_logs_of_a_failed_server_has_no_secret() {
    let shell = Shell::new(&json!({}));
    let config = json!({ "mcpServers": servers(&shell.terminal, &echo()) }).to_string();
    let config = shell.terminal.file("mcp.json", config);
    for arguments in [["call", "dies.say"], ["call", "talks.die"], ["call", "remote.say"]] {
        shell.belljar(&arguments);
    }
    let folder = shell.terminal.folder.path().join(".local/state/belljar");
    let mut logs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let log = logs.find(|path| path.extension().is_some_and(|extension| extension == "log")).expect("a log");
    let log = std::fs::read_to_string(log).unwrap();
    assert_silent(&log, "the daemon's log");
    assert!(log.contains("bad key [redacted]"), "{log}");

    let terminal = Terminal::new();
    let mut server = started(&terminal, &["serve", "--config", config.to_str().unwrap()]);
    let mut stdin = server.stdin.take().unwrap();
    let mut send = |message: Value| writeln!(stdin, "{message}").unwrap();
    send(
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
    );
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for (id, (tool, arguments)) in (1..).zip([
        ("execute_code", json!({ "code": "await dies.say({})" })),
        ("execute_code", json!({ "code": "await talks.die({})" })),
        ("execute_code", json!({ "code": "return await remote.say({}).catch(error => error.message)" })),
        ("search_docs", json!({ "query": "say" })),
    ]) {
        send(
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
        );
    }
    let answer = ended_after(1 + 4, server, stdin);
    assert_silent(&answer.stdout, "serve");
    assert_silent(&answer.stderr, "serve's log");
    assert!(answer.stdout.matches("[redacted]").count() >= 4, "{answer:#?}");
}

#[test]
pub(crate) fn results_values_and_logs_of_scripts_are_not_masked() {
    let terminal = Terminal::new();
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers(&terminal, &echo()) }).to_string());
    let run = |script: &str| {
        terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", script]).json()
    };
    let outcome = run("const text = await talks.say({}); console.log(text); return text");
    for shown in [&outcome["value"], &outcome["logs"][0]["text"]] {
        assert!(shown.as_str().is_some_and(|text| text.contains(SECRET)), "{outcome:#}");
    }
    // A tool that fails has still answered. A script that guesses must not learn whether a guess
    // was masked.
    let outcome = run("return await talks.fail({}).catch(error => error.message)");
    assert!(outcome["value"].as_str().is_some_and(|text| text.contains(SECRET)), "{outcome:#}");
}
