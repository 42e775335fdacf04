//! `belljar host`: a program has scripts run and serves the functions that they call, over each of
//! the carriers in docs/HOST_PROTOCOL.md.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    daemon::Shell,
    http::{Served, token},
    ledger::shown,
    real_servers::node,
    support::{Answer, Terminal, belljar, repository},
};

/// A `belljar host` and its pipes.
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Host {
    fn new(terminal: &Terminal, arguments: &[&str]) -> Self {
        let mut command = terminal.command(&[&["host"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// A host that has been greeted.
    pub(crate) fn greeted(terminal: &Terminal, arguments: &[&str]) -> (Self, Value) {
        let mut host = Self::new(terminal, arguments);
        host.send(json!({ "id": 0, "method": "hello", "params": { "protocol": 1, "client": { "name": "tests" } } }));
        let hello = host.next()["result"].take();
        (host, hello)
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a run, and returns its answer, which must be the next message.
    pub(crate) fn run(&mut self, params: Value) -> Value {
        self.send(json!({ "id": "run", "method": "run", "params": params }));
        let answer = self.next();
        assert_eq!(answer["id"], "run", "{answer}");
        answer
    }

    pub(crate) fn outcome(&mut self, params: Value) -> Value {
        let mut answer = self.run(params);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// Closes its input, and returns its exit code and the rest of its output.
    fn ended(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The demo as a server of the owner's, and further lines of configuration.
fn with_demo(more: &str) -> Terminal {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", format!("[servers.demo]\nbuiltin = 'demo'\n{more}"));
    terminal
}

/// The headers that ask for a WebSocket.
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

const CONFIG: [&str; 2] = ["--config", "belljar.toml"];

/// Runs `scripts/host-conformance`, which must make at least this many checks and pass them all.
fn conformance(arguments: &[&str], least: usize) {
    let script = repository().join("tests/host-protocol/conformance.mjs");
    let mut command = Command::new(node());
    let answer = Answer::of(command.arg(script).args(arguments).env("BELLJAR_BINARY", belljar()).output().unwrap());
    let failed: Vec<&str> = answer.stdout.lines().filter(|line| line.starts_with("not ok")).collect();
    assert!(answer.code == 0 && failed.is_empty(), "{failed:#?}\n{}", answer.stderr);
    let passed = answer.stdout.lines().filter(|line| line.starts_with("ok")).count();
    assert!(passed >= least, "{}", answer.stdout);
}

/// Runs `scripts/host-conformance --client`, which a client must pass.
pub(crate) fn client_conformance(command: &[&str]) {
    conformance(&[&["--client"], command].concat(), 50);
}

#[test]
fn belljar_does_what_the_document_says_on_stdin_and_stdout() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "");
    conformance(&[belljar().to_str().unwrap(), "host", "--config", config.to_str().unwrap()], 60);
}

#[test]
fn belljar_does_what_the_document_says_at_the_daemons_socket() {
    let shell = Shell::new(&json!({}));
    assert_eq!(shell.belljar(&["daemon", "start"]).code, 0);
    let status = shell.json(&["daemon", "status"]);
    conformance(&["--socket", status["socket"].as_str().unwrap()], 60);
}

#[test]
fn belljar_does_what_the_document_says_over_a_websocket() {
    let served = Served::of(Terminal::new(), &[]);
    conformance(&["--url", &format!("ws://{}/host", served.address), "--token", &served.token], 60);
}

#[test]
fn without_a_configuration_there_are_no_servers_and_everything_else_works() {
    let (mut host, hello) = Host::greeted(&Terminal::new(), &[]);
    assert_eq!(hello["servers"], json!([]));
    let refused = host.run(json!({ "code": "1", "belljar": ["demo"] }));
    assert!(refused["error"]["message"].as_str().is_some_and(|message| message.contains("no server 'demo'")));
    let outcome = host.outcome(json!({ "code": "typeof demo", "belljar": true }));
    assert_eq!(outcome["value"], "undefined");
    assert_eq!(host.ended(), (Some(0), String::new()));
}

#[test]
fn a_run_gets_of_belljars_own_tools_what_its_host_names() {
    let terminal = with_demo("");
    let (mut host, hello) = Host::greeted(&terminal, &CONFIG);
    assert_eq!(hello["servers"], json!(["demo"]));
    let code = "return [typeof demo, (await tools.list()).length > 0]";
    assert_eq!(host.outcome(json!({ "code": code }))["value"], json!(["undefined", false]));
    assert_eq!(host.outcome(json!({ "code": code, "belljar": true }))["value"], json!(["object", true]));
    let outcome = host.outcome(json!({
        "code": "const { projects } = await demo.list_projects({}); return [projects.length > 0, 'list_issues' in demo, (await tools.list()).map(({ path }) => path)]",
        "belljar": ["demo.list_projects"],
    }));
    assert_eq!(outcome["value"], json!([true, false, ["demo.list_projects"]]), "{outcome:#}");
    assert_eq!((&outcome["calls"][0]["server"], &outcome["calls"][0]["effect"]), (&json!("demo"), &json!("read_only")));
    // What belongs to the owner cannot be passed off as the host's, nor the other way round.
    let refused = host.run(json!({ "code": "1", "belljar": true, "functions": [{ "name": "demo" }] }));
    assert_eq!(refused["error"]["code"], -32602);
    host.send(json!({ "id": 7, "method": "run", "params": { "code": "await demo.list_projects({})", "namespaces": [{ "name": "demo", "tools": [{ "name": "list_projects" }] }] } }));
    let call = host.next();
    assert_eq!((&call["method"], &call["params"]["namespace"]), (&json!("call"), &json!("demo")));
    host.send(json!({ "id": call["id"], "result": { "value": "mine" } }));
    assert_eq!(host.next()["result"]["value"], "mine");
    assert_eq!(host.ended().0, Some(0));
    let runs = terminal.belljar(&["runs", "--json"]);
    assert!(runs.stdout.contains(r#""origin":"host""#) && runs.stdout.contains("tests"), "{runs:?}");
}

#[test]
fn a_tool_that_no_server_has_is_refused_with_the_nearest_name() {
    let (mut host, _) = Host::greeted(&with_demo(""), &CONFIG);
    for (named, told) in [
        (json!(["demo.list_project"]), "server 'demo' has no tool 'list_project': did you mean 'list_projects'?"),
        (json!(["demo", "demo.quantum_entangle"]), "server 'demo' has no tool 'quantum_entangle': it has "),
        (json!(["dem.list_projects"]), "no server 'dem': did you mean 'demo'?"),
    ] {
        let refused = host.run(json!({ "code": "1", "belljar": named }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|message| message.contains(told)), "{refused}");
    }
}

#[test]
fn the_owners_rules_hold_for_belljars_own_tools() {
    let terminal = with_demo("[policy]\nfile = 'policy.toml'\n");
    terminal.file(
        "policy.toml",
        "default = 'allow'\n[[rule]]\nid = 'closed'\ntools = 'demo.update_issue'\nthen = 'deny'\nwhy = 'not today'\n\
         [[rule]]\nid = 'some'\ntools = 'demo.list_issues'\nargs.project = { is = 'secret' }\nthen = 'deny'\n",
    );
    let (mut host, _) = Host::greeted(&terminal, &CONFIG);
    let code = "const call = async (f) => { try { await f(); return 'made' } catch (e) { return [e.name, e.rule ?? null] } };\n\
        return [await call(() => demo.list_projects({})), await call(() => demo.list_issues({ project: 'secret' }))]";
    let outcome = host.outcome(json!({ "code": code, "belljar": true }));
    assert_eq!(outcome["value"], json!(["made", ["PolicyError", "some"]]), "{outcome:#}");
    for belljar in [json!(true), json!(["demo.update_issue"])] {
        assert_eq!(host.outcome(json!({ "code": "'update_issue' in demo", "belljar": belljar }))["value"], false);
    }
}

#[test]
fn what_the_configuration_limits_is_the_most_and_the_rest_may_be_raised() {
    let terminal = with_demo("[limits]\ntimeout = '5s'\n");
    let (mut host, hello) = Host::greeted(&terminal, &CONFIG);
    assert_eq!((&hello["limits"]["timeout"], &hello["ceiling"]), (&json!("5s"), &json!({ "timeout": "5s" })));
    let outcome = host.outcome(json!({ "code": "1", "limits": { "timeout": "6s" } }));
    assert_eq!(outcome["error"]["kind"], "usage");
    assert!(outcome["error"]["message"].as_str().is_some_and(|message| message.contains("at most 5s")), "{outcome:#}");
    let long = "'x'.repeat(400_000).length + ('x'.repeat(400_000)).slice(0, 0)";
    assert_eq!(host.outcome(json!({ "code": long, "limits": { "max_output": "1MiB", "compute": "60s" } }))["ok"], true);
}

#[test]
fn a_run_has_so_many_functions_in_all_its_namespaces_together() {
    let (mut host, _) = Host::greeted(&Terminal::new(), &[]);
    let tools: Vec<Value> = (0..5_000).map(|at| json!({ "name": format!("f{at}") })).collect();
    let namespaces = json!([{ "name": "a", "tools": tools }, { "name": "b", "tools": tools }]);
    let refused = host.run(json!({ "code": "1", "namespaces": namespaces, "functions": [{ "name": "f" }] }));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().is_some_and(|message| message.contains("10001")), "{refused}");
    assert_eq!(host.outcome(json!({ "code": "1" }))["value"], 1);
}

#[test]
fn a_run_that_is_ended_for_the_answers_that_it_leaves_says_so_also_in_its_replay() {
    let terminal = with_demo("[ledger]\nlevel = 'recordings'\n");
    let (mut host, _) = Host::greeted(&terminal, &CONFIG);
    host.send(json!({ "id": 1, "method": "run", "params": {
        "code": "for (let at = 0; at < 12; at++) f(at); for (;;) {}",
        "functions": [{ "name": "f", "style": "positional" }],
        // Two answers find room in the run itself, and seven in what the connection holds for it.
        "limits": { "max_held": "64KiB", "compute": "100s" },
    } }));
    let calls: Vec<Value> = (0..12).map(|_| host.next()).collect();
    let value = "x".repeat(4_500_000);
    for call in calls {
        host.send(json!({ "id": call["id"], "result": { "value": value } }));
    }
    let outcome = loop {
        let mut message = host.next();
        if message["id"] == 1 {
            break message["result"].take();
        }
        assert_eq!(message["method"], "cancel", "{message}");
    };
    let error = &outcome["error"];
    let message = error["message"].as_str().unwrap();
    assert!(error["kind"] == "calls" && message.contains("a run may leave 33554432 bytes"), "{error:#}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("smaller groups")), "{error:#}");
    // Other runs of the connection go on.
    assert_eq!(host.outcome(json!({ "code": "2" }))["value"], 2);
    assert_eq!(host.ended().0, Some(0));
    let name = outcome["run"].as_str().unwrap();
    assert_eq!(shown(&terminal, &outcome["run"])["error"], "calls");
    let replayed = terminal.belljar(&["replay", name, "--json"]).json();
    for part in ["kind", "message", "hint"] {
        assert_eq!(replayed["error"][part], error[part], "{replayed:#}");
    }
}

#[test]
fn a_signal_ends_it_and_what_runs_is_answered() {
    for signal in ["-INT", "-TERM"] {
        let (mut host, _) = Host::greeted(&Terminal::new(), &[]);
        host.send(
            json!({ "id": 1, "method": "run", "params": { "code": "await f()", "functions": [{ "name": "f" }] } }),
        );
        let call = host.next();
        assert_eq!(call["method"], "call");
        let id = host.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let cancel = host.next();
        assert_eq!((&cancel["method"], &cancel["params"]["id"]), (&json!("cancel"), &call["id"]));
        assert_eq!(host.next()["result"]["error"]["kind"], "cancelled");
        assert_eq!(host.child.wait().unwrap().code(), Some(0));
    }
}

/// A WebSocket with this token. The first line of its response has been read.
fn opened(served: &Served, token: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let address = served.address;
    write!(stream, "GET /host HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}Authorization: Bearer {token}\r\n\r\n").unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 101 "), "{line}");
    stream
}

/// The code of the frame that closes a WebSocket which has said nothing else.
fn closed_with(stream: &mut BufReader<TcpStream>) -> u16 {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("it is ended");
    let head = rest.windows(4).position(|end| end == b"\r\n\r\n").expect("the end of the head");
    match rest[head + 4..] {
        [0x88, _, first, second, ..] => u16::from_be_bytes([first, second]),
        _ => panic!("{:?}", &rest[head + 4..]),
    }
}

#[test]
fn a_message_over_the_limit_closes_its_websocket_with_a_code() {
    let served = Served::of(Terminal::new(), &[]);
    let mut stream = opened(&served, &served.token);
    // The connection is closed while all of this is on its way. The mask is zero.
    let length = 9_u64 << 20;
    let output = stream.get_mut();
    output.write_all(&[&[0x81, 0xff][..], &length.to_be_bytes(), &[0; 4]].concat()).unwrap();
    output.write_all(&vec![b' '; usize::try_from(length).unwrap()]).expect("it is read to its end");
    assert_eq!(closed_with(&mut stream), 1009);
}

#[test]
fn a_websocket_ends_when_its_token_is_removed_or_rotated() {
    for command in ["remove", "rotate"] {
        let terminal = Terminal::new();
        let other = token(&terminal, &["add", "other", "--scope", "run"]);
        let served = Served::of(terminal, &[]);
        let (mut stays, mut ends) = (opened(&served, &served.token), opened(&served, &other));
        token(&served.terminal, &[command, "other"]);
        // The rest of the head, and the frame that closes it.
        assert_eq!(closed_with(&mut ends), 1008);
        let stays = stays.get_mut();
        stays.set_nonblocking(true).unwrap();
        let mut bytes = [0; 4096];
        let mut read = stays.read(&mut bytes);
        while matches!(read, Ok(1..)) {
            read = stays.read(&mut bytes);
        }
        assert_eq!(read.expect_err("it is open").kind(), ErrorKind::WouldBlock, "{command}");
    }
}

#[test]
fn a_websocket_needs_a_token_a_name_and_a_page_that_are_allowed() {
    let served = Served::of(Terminal::new(), &[]);
    let host = format!("Host: {}\r\n", served.address);
    let token = format!("Authorization: Bearer {}\r\n", served.token);
    let offered = format!("Sec-WebSocket-Protocol: belljar, bearer.{}\r\n", served.token);
    let wrong = "Sec-WebSocket-Protocol: belljar, bearer.wrong\r\n";
    let page = "Origin: https://elsewhere.example\r\n";
    for (headers, status) in [
        (format!("{host}{UPGRADE}{token}"), "101"),
        (format!("{host}{UPGRADE}{offered}"), "101"),
        (format!("{host}{UPGRADE}"), "401"),
        (format!("{host}{UPGRADE}{wrong}"), "401"),
        (format!("{host}{UPGRADE}{token}{page}"), "403"),
        (format!("Host: elsewhere.example\r\n{UPGRADE}{token}"), "403"),
        (format!("{host}{token}"), "426"),
    ] {
        let mut stream = TcpStream::connect(served.address).unwrap();
        write!(stream, "GET /host HTTP/1.1\r\n{headers}\r\n").unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("HTTP/1.1 {status} ")), "{headers}: {line}");
    }
}
