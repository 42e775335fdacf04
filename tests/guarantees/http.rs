//! `belljar serve --http`: both revisions of the protocol at one endpoint, for clients with a
//! token.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    approvals_by_command::Person,
    official_client,
    real_servers::{installed, memory, node},
    support::{Answer, Terminal, repository},
};

/// A server with the built-in demo, and a token with the scopes search and run.
pub(crate) struct Served {
    pub(crate) terminal: Terminal,
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// The lines of its stderr.
    pub(crate) said: Receiver<String>,
}

impl Served {
    fn new() -> Self {
        Self::of(Terminal::new(), &[])
    }

    pub(crate) fn of(terminal: Terminal, more: &[&str]) -> Self {
        let token = token(&terminal, &["add", "ann"]);
        let (child, address, said) = started(&terminal, more);
        Self { terminal, child, address, token, said }
    }

    /// Sends one message of the revision without sessions, and returns the connection for its
    /// answer.
    pub(crate) fn send(&self, token: &str, method: &str, name: &str, mut params: Value) -> TcpStream {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "0" });
        if meta["io.modelcontextprotocol/clientCapabilities"].is_null() {
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let named = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
        self.post(token, &format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{named}"), &body)
    }

    pub(crate) fn post(&self, token: &str, headers: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request(token, headers, body).as_bytes()).unwrap();
        stream
    }

    pub(crate) fn run(&self, token: &str, code: &str) -> TcpStream {
        self.send(token, "tools/call", "execute_code", json!({ "name": "execute_code", "arguments": { "code": code } }))
    }

    /// The value of a script.
    pub(crate) fn value(&self, code: &str) -> Value {
        result(self.run(&self.token, code))["structuredContent"]["value"].take()
    }

    /// Waits until a script sees this.
    pub(crate) fn until(&self, code: &str) {
        while self.value(code) != json!(true) {}
    }

    fn tell_to_end(&self) {
        self.signal("-TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn token(terminal: &Terminal, arguments: &[&str]) -> String {
    let answer = asked_for_token(terminal, arguments);
    assert_eq!(answer.code, 0, "{answer:?}");
    answer.stdout.trim().to_owned()
}

/// The answer to an owner whose configuration lets programs agree.
fn asked_for_token(terminal: &Terminal, arguments: &[&str]) -> Answer {
    let config = terminal.file("unattended.toml", "[approvals]\nallow_yes = true\n");
    let more = ["--yes", "--config", config.to_str().unwrap()];
    terminal.belljar(&[&["token"], arguments, &more].concat())
}

pub(crate) fn started(terminal: &Terminal, more: &[&str]) -> (Child, SocketAddr, Receiver<String>) {
    let mut child =
        terminal.command(&[&["serve", "--http", "127.0.0.1:0"], more].concat()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.find_map(|line| {
        line.strip_prefix("serving MCP at http://")?.strip_suffix("/mcp").map(|address| address.parse().unwrap())
    });
    // Its pipe must be neither closed nor full. Nobody has to read these lines.
    let (say, said) = channel();
    std::thread::spawn(move || lines.for_each(|line| drop(say.send(line))));
    (child, address.expect("it says where it serves"), said)
}

pub(crate) fn request(token: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// All data until the connection ends.
pub(crate) fn rest(mut stream: impl std::io::Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The messages of an answer.
pub(crate) fn messages(answer: &str) -> Vec<Value> {
    let data =
        answer.lines().filter_map(|line| line.strip_prefix("data: ").or_else(|| line.starts_with('{').then_some(line)));
    data.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn result(stream: TcpStream) -> Value {
    let answer = rest(stream);
    let last = messages(&answer).pop().unwrap_or_else(|| panic!("{answer}"));
    assert!(last.get("result").is_some(), "{answer}");
    last["result"].clone()
}

pub(crate) fn status(stream: TcpStream) -> u16 {
    let answer = rest(stream);
    answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_run_is_kept_under_the_name_of_its_token_and_what_its_client_calls_itself() {
    let served = Served::new();
    assert_eq!(served.value("1 + 1"), json!(2));
    // A run without calls that may change something is answered first, and kept afterwards.
    let asked = Instant::now();
    let run = loop {
        let runs = served.terminal.belljar(&["runs", "--json"]).json();
        match runs["runs"].get(0) {
            Some(run) => break run.clone(),
            None => assert!(asked.elapsed() < Duration::from_secs(30), "the run was never kept: {runs}"),
        }
    };
    assert_eq!(
        (&run["origin"], &run["principal"], &run["client"]),
        (&json!("serve"), &json!("ann"), &json!("test 0")),
        "{run:#}"
    );
    let table = served.terminal.belljar(&["runs"]).stdout;
    assert!(table.contains("serve for ann (test 0)"), "{table}");
}

pub(crate) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

#[test]
fn the_official_client_finds_over_http_what_it_finds_on_stdio() {
    installed("@modelcontextprotocol/sdk/package.json");
    let served = Served::new();
    let client = repository().join("tests/servers/client.mjs");
    let url = format!("http://{}/mcp", served.address);
    official_client::checked(Command::new(node()).arg(client).arg(url).env("TOKEN", &served.token));
}

/// The second version of the SDK begins like the first, or probes first, or knows only the revision
/// without sessions.
#[test]
fn the_second_official_client_finds_the_same_however_it_agrees_on_a_revision() {
    installed("@modelcontextprotocol/client/package.json");
    for (negotiation, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")] {
        let served = Served::new();
        let mut client = Command::new(node());
        client.arg(repository().join("tests/servers/client.mjs")).arg(format!("http://{}/mcp", served.address));
        let found = official_client::checked(client.env("TOKEN", &served.token).env("NEGOTIATION", negotiation));
        assert_eq!(found["revision"], revision, "{negotiation}");
    }
}

#[test]
fn a_client_without_sessions_lists_searches_and_runs() {
    let served = Served::new();
    let tools = result(served.send(&served.token, "tools/list", "", json!({})));
    assert_eq!(tools["tools"].as_array().unwrap().len(), 2);
    let search = json!({ "name": "search_docs", "arguments": { "query": "issue" } });
    let found = result(served.send(&served.token, "tools/call", "search_docs", search));
    assert!(found["content"][0]["text"].as_str().unwrap().contains("demo.search_issues"));
    assert_eq!(served.value("return (await demo.list_projects()).projects.length"), 3);
}

#[test]
fn prompts_and_completion_are_no_methods_at_all_and_not_empty_lists() {
    let served = Served::new();
    let info = result(served.send(&served.token, "server/discover", "", json!({})));
    let capabilities: Vec<_> = info["capabilities"].as_object().unwrap().keys().collect();
    assert_eq!(capabilities, ["extensions", "logging", "resources", "tools"]);
    let extensions: Vec<_> = info["capabilities"]["extensions"].as_object().unwrap().keys().collect();
    assert_eq!(extensions, ["io.modelcontextprotocol/tasks"]);
    let prompt = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    for (method, name, params) in [
        ("prompts/list", "", json!({})),
        ("prompts/get", "p", json!({ "name": "p" })),
        ("completion/complete", "", prompt),
    ] {
        let answer = rest(served.send(&served.token, method, name, params));
        let last = messages(&answer).pop().unwrap_or_else(|| panic!("{method}: {answer}"));
        assert_eq!(last["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[test]
fn a_token_is_shown_once_kept_as_a_hash_and_good_until_it_is_rotated_or_removed() {
    let served = Served::new();
    let state = served.terminal.folder.path().join(".local/state/belljar");
    let kept = state.join("http-tokens.json");
    let text = std::fs::read_to_string(&kept).unwrap();
    let secret = served.token.strip_prefix("belljar_").unwrap();
    assert!(text.contains("ann") && !text.contains(secret), "{text}");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = served.terminal.belljar(&["token", "list", "--json"]).stdout;
    assert!(listed.contains("\"ann\"") && !listed.contains(secret) && !listed.contains("sha256"), "{listed}");
    let again = asked_for_token(&served.terminal, &["add", "ann"]);
    assert!(again.code == 2 && again.stderr.contains("ann"), "{again:?}");

    assert_eq!(status(served.run(&served.token, "1")), 200);
    let rotated = token(&served.terminal, &["rotate", "ann"]);
    while status(served.run(&rotated, "1")) != 200 {}
    assert_ne!(status(served.run(&served.token, "1")), 200);
    token(&served.terminal, &["remove", "ann"]);
    while status(served.run(&rotated, "1")) == 200 {}
}

#[test]
fn a_token_is_made_changed_and_removed_by_a_person_who_types_what_the_terminal_shows() {
    let terminal = Terminal::new();
    for arguments in [&["add", "ann"][..], &["rotate", "ann"], &["remove", "ann"]] {
        let plain = [&["token"], arguments].concat();
        let answer = terminal.belljar(&plain);
        assert!(answer.code == 2 && answer.stderr.contains("there is no terminal here to ask at"), "{answer:?}");
        let answer = terminal.belljar(&[plain.as_slice(), &["--yes"]].concat());
        assert!(answer.code == 2 && answer.stderr.contains("--yes is not allowed here"), "{answer:?}");
        assert_eq!(answer.stdout, "");
        let mut person = Person::at(&terminal.command(&plain));
        person.sees("'ann'");
        while !person.shown.ends_with(": ") {
            let seen = person.shown.len();
            person.sees_more(seen);
        }
        let code = person.code();
        person.types(&code);
        let (code, shown) = person.ends();
        assert_eq!((code, shown.contains("belljar_")), (0, arguments[0] != "remove"), "{shown}");
    }
    assert_eq!(terminal.belljar(&["token", "list", "--json"]).json(), json!({ "tokens": [] }));
}

#[test]
fn a_token_is_good_for_its_scopes_alone() {
    let terminal = Terminal::new();
    let config = terminal.file(
        "belljar.toml",
        "[servers.demo]\nbuiltin = \"demo\"\n[servers.demo.effects]\nlist_projects = \"mutating\"\n",
    );
    let [searcher, reader] = [["add", "s", "--scope", "search"], ["add", "r", "--scope", "run:read-only"]]
        .map(|arguments| token(&terminal, &arguments));
    let served = Served::of(terminal, &["--config", config.to_str().unwrap()]);
    let refused = result(served.run(&searcher, "1"));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("scopes are search"), "{refused}");
    let value = |code: &str| result(served.run(&reader, code))["structuredContent"].clone();
    assert_eq!(value("return (await demo.search_issues({ query: 'no' })).total >= 0")["value"], true);
    // The owner's word about a tool decides, not its server's.
    let listing = "return (await demo.list_projects()).projects.length";
    for code in [listing, "return await demo.create_issue({ project: 'comet', title: 'no' })"] {
        let refused = value(code);
        assert!(
            refused["error"]["message"].as_str().unwrap().contains("may only call tools that are read_only"),
            "{refused}"
        );
    }
    assert_eq!(served.value(listing), 3);
}

#[test]
fn an_address_that_others_can_reach_is_refused_where_there_is_no_token() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("there is no token") && answer.stderr.contains("belljar token add"), "{answer:?}");
}

#[test]
fn pages_guesses_and_strangers_get_nothing() {
    let served = Served::new();
    let foreign = |line: &str| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        let body = initialize().to_string();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{line}\r\nAuthorization: Bearer {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            served.token,
            body.len()
        )
        .unwrap();
        status(stream)
    };
    assert_eq!(foreign("Host: rebound.example"), 403);
    assert_eq!(foreign("Host: localhost\r\nOrigin: http://rebound.example"), 403);
    let guesses: Vec<u16> =
        (0..12).map(|number| status(served.post(&format!("belljar_{number}"), "", &initialize()))).collect();
    assert_eq!((guesses[0], guesses[11]), (401, 429), "{guesses:?}");
    assert_eq!(served.value("1"), 1);
}

#[test]
fn many_initializes_find_a_bound_and_a_session_belongs_to_its_principal() {
    let served = Served::new();
    let mut sessions = Vec::new();
    loop {
        let answer = rest(served.post(&served.token, "", &initialize()));
        let Some((_, rest)) = answer.split_once("mcp-session-id: ") else {
            assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: "), "{answer}");
            break;
        };
        sessions.push(rest.split("\r\n").next().unwrap().to_owned());
    }
    assert_eq!(sessions.len(), 256);
    let bob = token(&served.terminal, &["add", "bob"]);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let in_session = format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", sessions[0]);
    // The token is known when it is no longer rejected.
    let refused = loop {
        match status(served.post(&bob, &in_session, &ping)) {
            401 | 429 => {}
            status => break status,
        }
    };
    assert_eq!(refused, 404);
    assert_eq!(status(served.post(&served.token, &in_session, &ping)), 200);
}

#[test]
fn half_requests_hold_up_nobody() {
    let served = Served::new();
    let halves: Vec<TcpStream> = (0..100)
        .map(|number| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            let whole = request(&served.token, "", &initialize());
            let end = if number % 2 == 0 { 60 } else { whole.len() - 10 };
            stream.write_all(&whole.as_bytes()[..end]).unwrap();
            stream
        })
        .collect();
    assert_eq!(served.value("1"), 1);
    // They end by themselves, with or without an answer.
    for mut half in halves {
        let mut answer = Vec::new();
        let read = half.read_to_end(&mut answer);
        assert!(read.is_err() || answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"), "{answer:?}");
    }
}

#[test]
fn a_run_whose_client_hangs_up_ends() {
    let served = Served::new();
    let endless = served.run(
        &served.token,
        "const { id } = await demo.create_issue({ project: 'comet', title: 'ticking' });
         for (let n = 0; ; n++) {
             await demo.update_issue({ id, body: 'tick ' + n });
             await new Promise((done) => setTimeout(done, 10));
         }",
    );
    served.until("return (await demo.search_issues({ query: 'ticking' })).total === 1");
    drop(endless);
    served.until(
        "const { issues } = await demo.search_issues({ query: 'ticking' });
         const body = async () => (await demo.get_issue({ id: issues[0].id })).body;
         const before = await body();
         await new Promise((done) => setTimeout(done, 200));
         return before === await body()",
    );
}

#[test]
fn a_server_that_is_told_to_end_answers_what_it_has_begun() {
    let mut served = Served::new();
    let running = served.run(
        &served.token,
        "await demo.create_issue({ project: 'comet', title: 'begun' });
         while ((await demo.search_issues({ query: 'goes on' })).total === 0) {
             await new Promise((done) => setTimeout(done, 100));
         }
         await new Promise((done) => setTimeout(done, 500));
         return 'answered'",
    );
    served.until("return (await demo.search_issues({ query: 'begun' })).total === 1");
    served.value("await demo.create_issue({ project: 'comet', title: 'goes on' })");
    served.tell_to_end();
    assert_eq!(result(running)["structuredContent"]["value"], "answered");
    assert!(served.child.wait().unwrap().success());
}

#[test]
fn a_reload_brings_new_servers_and_drops_no_run_and_a_wrong_configuration_changes_nothing() {
    let terminal = Terminal::new();
    let config = terminal.folder.path().join("belljar.toml");
    let notes = memory(&terminal.folder.path().join("notes.jsonl"));
    let servers = format!(
        "[servers.memory]\ncommand = {}\nargs = {}\nenv = {{ MEMORY_FILE_PATH = {} }}\n[servers.old]\nbuiltin = 'demo'\n",
        notes["command"], notes["args"], notes["env"]["MEMORY_FILE_PATH"]
    );
    std::fs::write(&config, &servers).unwrap();
    let served = Served::of(terminal, &["--config", config.to_str().unwrap()]);
    let reload = |more: &str| {
        std::fs::write(&config, format!("{servers}{more}")).unwrap();
        served.signal("-HUP");
    };
    let told = |words: &str| {
        let line = served.said.iter().find(|line| line.contains("the configuration was")).unwrap();
        assert!(line.contains(words), "{line}");
    };
    let note = |name: &str| {
        format!(
            "await memory.create_entities({{ entities: [{{ name: '{name}', entityType: 'note', observations: [] }}] }});"
        )
    };
    let noted =
        |name: &str| format!("(await memory.read_graph({{}})).entities.some((entity) => entity.name === '{name}')");
    let running = served.run(
        &served.token,
        &format!(
            "await old.create_issue({{ project: 'comet', title: 'begun before' }}); {} while (!({})) await new Promise((done) => setTimeout(done, 100));
             return (await old.search_issues({{ query: 'begun before' }})).total",
            note("begun"),
            noted("reloaded")
        ),
    );
    served.until(&format!("return {}", noted("begun")));
    reload("[servers.wrong]\n");
    told("was not read again");
    assert_eq!(served.value("return (await old.search_issues({ query: 'begun before' })).total"), 1, "nothing changed");
    reload("[servers.fresh]\nbuiltin = 'demo'\n");
    told("was read again: 3 servers");
    assert_eq!(served.value("return (await fresh.search_issues({ query: 'a' })).total >= 0"), json!(true));
    assert_eq!(served.value("return (await old.search_issues({ query: 'begun before' })).total"), 0, "other instances");
    served.value(&note("reloaded"));
    assert_eq!(result(running)["structuredContent"]["value"], 1, "the run kept the servers that it began with");
}

#[test]
fn a_server_that_was_killed_comes_back_for_the_same_tokens() {
    let mut served = Served::new();
    let answer = rest(served.post(&served.token, "", &initialize()));
    let session = answer.split_once("mcp-session-id: ").unwrap().1.split("\r\n").next().unwrap().to_owned();
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    (served.child, served.address, served.said) = started(&served.terminal, &[]);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let in_session = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    assert_eq!(status(served.post(&served.token, &in_session, &ping)), 404);
    assert_eq!(served.value("1"), 1);
}

#[test]
fn at_the_socket_the_owner_needs_no_token_also_where_a_killed_server_left_one() {
    let terminal = Terminal::new();
    let path = terminal.folder.path().join("socket");
    for ends_well in [false, true] {
        let mut child =
            terminal.command(&["serve", "--socket", path.to_str().unwrap()]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.starts_with("serving MCP over HTTP at")));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(request("none", "", &initialize()).as_bytes()).unwrap();
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        if ends_well {
            assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
            assert!(child.wait().unwrap().success());
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(path.exists(), !ends_well);
    }
}

#[test]
fn rules_know_the_owner_at_the_socket_and_no_token_has_that_name() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    terminal.file(
        "policy.toml",
        "default = 'allow'\n[[rule]]\nid = 'mine'\ntools = 'demo.*'\nprincipal = 'owner'\nargs.project = { absent = true }\nthen = 'deny'\n",
    );
    let path = terminal.folder.path().join("socket");
    let arguments = ["serve", "--socket", path.to_str().unwrap(), "--config", config.to_str().unwrap()];
    let mut child = terminal.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("serving MCP over HTTP at")));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params =
        json!({ "_meta": meta, "name": "execute_code", "arguments": { "code": "await demo.list_issues({})" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: execute_code\r\n";
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(request("none", headers, &body).as_bytes()).unwrap();
    let answer = rest(stream);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer.contains("rule 'mine' of the owner"), "{answer}");
    let refused = asked_for_token(&terminal, &["add", "owner"]);
    assert!(refused.code != 0 && refused.stderr.contains("choose another name"), "{refused:?}");
}

#[test]
fn what_a_server_keeps_for_one_token_another_does_not_see_unless_the_owner_shares_the_server() {
    let terminal = Terminal::new();
    let folder = terminal.folder.path();
    let table = |server: Value, share: &str| {
        // For a command, its arguments and its variables, JSON is valid TOML.
        let (command, args, file) = (&server["command"], &server["args"], &server["env"]["MEMORY_FILE_PATH"]);
        format!("command = {command}\nargs = {args}\nenv = {{ MEMORY_FILE_PATH = {file} }}\nshare = '{share}'\n")
    };
    let own = table(memory(&folder.join("memory of {principal}.jsonl")), "principal");
    let shared = table(memory(&folder.join("memory of all.jsonl")), "owner");
    let config = terminal.file(
        "belljar.toml",
        format!("[servers.demo]\nbuiltin = 'demo'\n[servers.own]\n{own}[servers.shared]\n{shared}"),
    );
    let bob = token(&terminal, &["add", "bob"]);
    let served = Served::of(terminal, &["--config", config.to_str().unwrap()]);
    let value = |token: &str, code: &str| {
        let mut outcome = result(served.run(token, code))["structuredContent"].take();
        assert_eq!(outcome["ok"], true, "{outcome:#}");
        outcome["value"].take()
    };
    let remember = "
        const entities = [{ name: who, entityType: 'person', observations: ['secret of ' + who] }];
        await own.create_entities({ entities });
        await shared.create_entities({ entities });
        await demo.create_issue({ project: 'comet', title: 'secret of ' + who });";
    let recall = "
        const names = async (server) => (await server.read_graph({})).entities.map((entity) => entity.name).sort();
        const issues = await demo.search_issues({ query: 'secret of' });
        return [await names(own), await names(shared), issues.issues.map((issue) => issue.title).sort()];";
    for (token, who) in [(&served.token, "ann"), (&bob, "bob")] {
        value(token, &format!("const who = '{who}';{remember}"));
    }
    let seen = |who: &str| json!([[who], ["ann", "bob"], [format!("secret of {who}")]]);
    assert_eq!(value(&served.token, recall), seen("ann"));
    assert_eq!(value(&bob, recall), seen("bob"));
    let folder = served.terminal.folder.path();
    for who in ["ann", "bob"] {
        let kept = std::fs::read_to_string(folder.join(format!("memory of {who}.jsonl"))).unwrap();
        assert!(kept.contains(who) && kept.lines().count() == 1, "{kept}");
    }
}

#[test]
fn rules_judge_what_comes_over_http_and_know_whose_it_is() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n").to_str().unwrap().to_owned();
    let rules = "default = 'allow'\n[[rule]]\nid = 'none'\ntools = 'demo.*'\nargs.project = { absent = true }\nthen = 'deny'\n\
        [[rule]]\nid = 'ann'\ntools = 'demo.list_projects'\nprincipal = 'ann'\nargs.x = { absent = true }\nthen = 'deny'\n";
    terminal.file("policy.toml", rules.replace("tools = 'demo.*'", "tools = 'demo.list_issues'"));
    let bea = token(&terminal, &["add", "bea"]);
    let served = Served::of(terminal, &["--config", &config]);
    let caught = |call: &str| served.value(&format!("return await {call}.then(() => 'passed', e => e.rule)"));
    assert_eq!(caught("demo.list_issues({})"), "none");
    assert_eq!(caught("demo.list_projects({})"), "ann");
    assert_eq!(caught("demo.get_issue({ id: 1 })"), "passed");
    let structured = result(served.run(&served.token, "await demo.list_issues({})"))["structuredContent"].take();
    assert_eq!(structured["error"]["kind"], "denied", "{structured:#}");
    let said = result(served.run(&bea, "await demo.list_projects({}); 'passed'"))["structuredContent"]["value"].take();
    assert_eq!(said, "passed");
}
