//! `belljar serve --http` with an authorization server: whose tokens it accepts, and what their
//! subjects own.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use belljar_testkit::{
    issuer::{Issuer, IssuerFlaw},
    web::{Reply, Web},
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    http::{Served, initialize, rest, result, status},
    support::Terminal,
};

const RESOURCE: &str = "https://mcp.example/mcp";

/// An authorization server, and a belljar that accepts its tokens.
struct House {
    issuer: Issuer,
    served: Served,
    runtime: Runtime,
}

impl House {
    fn new() -> Self {
        Self::with("[servers.demo]\nbuiltin = 'demo'\n", |_| {})
    }

    fn with(servers: &str, prepare: impl FnOnce(&Terminal)) -> Self {
        let runtime = Runtime::new().unwrap();
        let issuer = runtime.block_on(Issuer::serve()).unwrap();
        let terminal = Terminal::new();
        prepare(&terminal);
        let oauth = format!("[http.oauth]\nissuer = '{}'\nresource = '{RESOURCE}'\n", issuer.url());
        let config = terminal.file("belljar.toml", format!("{oauth}{servers}"));
        let served = Served::of(terminal, &["--config", config.to_str().unwrap()]);
        Self { issuer, served, runtime }
    }

    fn token(&self, subject: &str, scope: &str) -> String {
        self.issuer.token(&self.issuer.claims(subject, scope, RESOURCE)).unwrap()
    }

    /// The name of a subject's principal.
    fn principal(&self, subject: &str) -> String {
        let host = self.issuer.url().strip_prefix("http://").unwrap().replace(':', "-");
        format!("{subject}@{host}")
    }

    fn answer(&self, token: &str, code: &str) -> String {
        rest(self.served.run(token, code))
    }

    fn outcome(&self, token: &str, code: &str) -> Value {
        result(self.served.run(token, code))["structuredContent"].take()
    }

    fn value(&self, token: &str, code: &str) -> Value {
        self.outcome(token, code)["value"].take()
    }

    /// How often its keys were fetched.
    fn fetches(&self) -> usize {
        self.issuer.requests().iter().filter(|request| request.path == "/keys").count()
    }
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn get(served: &Served, path: &str) -> String {
    let mut stream = TcpStream::connect(served.address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: mcp.example\r\nConnection: close\r\n\r\n").unwrap();
    rest(stream)
}

#[test]
fn a_client_is_told_where_to_get_a_token_and_with_it_is_who_the_issuer_says() {
    let house = House::new();
    let mut stream = TcpStream::connect(house.served.address).unwrap();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        .unwrap();
    let refused = rest(stream);
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let path = "/.well-known/oauth-protected-resource/mcp";
    let challenge = format!("Bearer resource_metadata=\"https://mcp.example{path}\", scope=\"search run\"");
    assert_eq!(header(&refused, "www-authenticate"), Some(challenge.as_str()));
    let answer = get(&house.served, path);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let metadata: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&metadata["resource"], &metadata["authorization_servers"]),
        (&json!(RESOURCE), &json!([house.issuer.url()]))
    );
    // A page of an allowed origin finds it, too.
    let mut stream = TcpStream::connect(house.served.address).unwrap();
    let (page, asks) = (house.served.address, "Access-Control-Request-Method: GET\r\nConnection: close");
    write!(stream, "OPTIONS {path} HTTP/1.1\r\nHost: {page}\r\nOrigin: http://{page}\r\n{asks}\r\n\r\n").unwrap();
    let preflight = rest(stream);
    assert!(preflight.starts_with("HTTP/1.1 204"), "{preflight}");
    assert_eq!(header(&preflight, "access-control-allow-origin"), Some(format!("http://{page}").as_str()));
    for other in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"] {
        assert!(get(&house.served, other).starts_with("HTTP/1.1 404"), "{other}");
    }

    let alice = house.token("alice", "search run openid");
    assert_eq!(house.value(&alice, "1 + 1"), 2);
    assert_eq!(house.value(&house.served.token, "1 + 2"), 3, "a token of the owner's is good, too");
    let asked = Instant::now();
    let principals = loop {
        let runs = house.served.terminal.belljar(&["runs", "--json"]).json();
        let principals: Vec<Value> =
            runs["runs"].as_array().unwrap().iter().map(|run| run["principal"].clone()).collect();
        if principals.len() == 2 {
            break principals;
        }
        assert!(asked.elapsed() < Duration::from_secs(30), "the runs were never kept: {runs}");
    };
    assert!(
        principals.contains(&json!(house.principal("alice"))) && principals.contains(&json!("ann")),
        "{principals:?}"
    );
}

#[test]
fn a_token_that_is_not_for_this_server_or_not_of_its_issuer_runs_nothing() {
    let house = House::new();
    let stranger = house.runtime.block_on(Issuer::serve()).unwrap();
    let claims = house.issuer.claims("alice", "search run", RESOURCE);
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        house.issuer.token(&claims).unwrap()
    };
    let now = claims["iat"].as_u64().unwrap();
    let sign = |header: Value| house.issuer.token_with(&header, &claims).unwrap();
    for (token, words) in [
        (stranger.token(&claims).unwrap(), "signature is wrong"),
        (sign(json!({ "alg": "none" })), "algorithm"),
        (sign(json!({ "alg": "HS256", "kid": "key-0" })), "algorithm"),
        (sign(json!({ "alg": "RS256", "kid": "key-0" })), "signature is wrong"),
        (with("iss", json!(stranger.url())), "another issuer"),
        (with("aud", json!("https://other.example/mcp")), "another audience"),
        (with("exp", json!(now - 60)), "has expired"),
        (with("nbf", json!(now + 600)), "not valid yet"),
        (with("sub", json!("")), "no subject"),
        (with("padding", json!("x".repeat(20_000))), "longer than"),
    ] {
        let answer = house.answer(&token, "1");
        assert!(answer.starts_with("HTTP/1.1 401"), "{words}: {answer}");
        let challenge = header(&answer, "www-authenticate").unwrap();
        assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains(words), "{words}: {challenge}");
        assert!(challenge.contains("resource_metadata="), "{challenge}");
    }
    // It is too long for the head of a request.
    let answer = house.answer(&with("padding", json!("x".repeat(100_000))), "1");
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(house.value(&house.issuer.token(&claims).unwrap(), "1"), 1);
    assert!(stranger.requests().is_empty(), "nobody else was asked for keys");
}

#[test]
fn a_token_without_the_scope_is_refused_with_the_scope_that_is_needed() {
    let servers = "[servers.demo]\nbuiltin = 'demo'\n[servers.demo.effects]\nlist_projects = 'mutating'\n";
    let house = House::with(servers, |_| {});
    let search = |token: &str| {
        let search = json!({ "name": "search_docs", "arguments": { "query": "issue" } });
        rest(house.served.send(token, "tools/call", "search_docs", search))
    };
    let nobody = house.token("alice", "openid profile");
    for answer in
        [house.answer(&nobody, "1"), search(&nobody), rest(house.served.send(&nobody, "tools/list", "", json!({})))]
    {
        let challenge = header(&answer, "www-authenticate").unwrap_or_else(|| panic!("{answer}"));
        assert!(answer.starts_with("HTTP/1.1 403") && challenge.contains("error=\"insufficient_scope\""), "{answer}");
        assert!(challenge.contains("scope=\"search run\"") && challenge.contains("resource_metadata="), "{challenge}");
    }
    let searcher = house.token("alice", "search");
    assert!(search(&searcher).starts_with("HTTP/1.1 200"));
    let answer = house.answer(&searcher, "1");
    assert!(
        answer.starts_with("HTTP/1.1 403") && header(&answer, "www-authenticate").unwrap().contains("scope=\"run\"")
    );
    let runner = house.token("alice", "run");
    assert!(search(&runner).starts_with("HTTP/1.1 403"));

    let reader = house.token("alice", "run:read-only");
    assert_eq!(house.value(&reader, "return (await demo.search_issues({ query: 'no' })).total >= 0"), true);
    // The owner's word about a tool decides, not its server's.
    let listing = "return (await demo.list_projects()).projects.length";
    let refused = house.outcome(&reader, listing);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("may only call tools that are read_only"),
        "{refused}"
    );
    for scopes in ["run", "admin"] {
        assert_eq!(house.value(&house.token("alice", scopes), listing), 3, "{scopes}");
    }
    assert!(search(&house.token("alice", "admin")).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_flood_of_tokens_with_unknown_keys_asks_the_issuer_a_bounded_number_of_times() {
    let house = House::new();
    let alice = house.token("alice", "run");
    assert_eq!(house.value(&alice, "1"), 1);
    let began = Instant::now();
    for number in 0..60 {
        let header = json!({ "alg": "ES256", "kid": format!("none-{number}") });
        let unknown = house.issuer.token_with(&header, &house.issuer.claims("eve", "run", RESOURCE)).unwrap();
        let status = status(house.served.run(&unknown, "1"));
        assert!([401, 429].contains(&status), "{status}");
    }
    let more = usize::try_from(began.elapsed().as_secs() / 30).unwrap();
    assert!(house.fetches() <= 4 + more, "{} fetches", house.fetches());
    assert_eq!(house.value(&alice, "1"), 1, "and nobody else is shut out");
}

#[test]
fn keys_that_were_changed_are_found_and_old_ones_forgotten() {
    let house = House::new();
    let old = house.token("alice", "run");
    assert_eq!(house.value(&old, "1"), 1);
    house.issuer.rotate().unwrap();
    assert_eq!(house.value(&house.token("alice", "run"), "1"), 1);
    assert_eq!(status(house.served.run(&old, "1")), 401);
}

#[test]
fn where_no_keys_can_be_had_its_tokens_are_refused_for_now_and_those_of_the_owner_are_good() {
    for flaw in [IssuerFlaw::Down, IssuerFlaw::Redirects, IssuerFlaw::Floods, IssuerFlaw::LeadsInside] {
        let house = House::new();
        house.issuer.does(flaw);
        let alice = house.token("alice", "run");
        let answer = house.answer(&alice, "1");
        assert!(answer.starts_with("HTTP/1.1 503") && header(&answer, "retry-after").is_some(), "{flaw:?}: {answer}");
        assert_eq!(house.value(&house.served.token, "1"), 1);
        assert!(house.issuer.requests().iter().all(|request| request.path != "/elsewhere"), "{flaw:?}");
        house.issuer.does(IssuerFlaw::None);
        assert_eq!(house.value(&alice, "1"), 1, "{flaw:?}");
    }
}

#[test]
fn a_subject_owns_its_session_with_whatever_token_and_nobody_else_does() {
    let house = House::new();
    let alice = house.token("alice", "run");
    let answer = rest(house.served.post(&alice, "", &initialize()));
    let session = header(&answer, "mcp-session-id").unwrap_or_else(|| panic!("{answer}"));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let in_session = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    assert_eq!(status(house.served.post(&house.token("bob", "run"), &in_session, &ping)), 404);
    assert_eq!(status(house.served.post(&house.served.token, &in_session, &ping)), 404);
    let later = house.token("alice", "search run");
    assert_ne!(later, alice);
    assert_eq!(status(house.served.post(&later, &in_session, &ping)), 200);
}

#[test]
fn a_run_that_waits_is_unknown_to_everybody_but_its_principal() {
    let servers = "[approvals]\nhold = '1ms'\n[servers.demo]\nbuiltin = 'demo'\n";
    let house = House::with(servers, |terminal| {
        terminal.file(
            "policy.toml",
            "default = 'allow'\n[[rule]]\nid = 'mine'\ntools = 'demo.create_issue'\nthen = 'ask'\n",
        );
    });
    let alice = house.token("alice", "run");
    let waits = house.outcome(&alice, "return await demo.create_issue({ project: 'comet', title: 'hers' })");
    assert_eq!(waits["error"]["kind"], "approval", "{waits:#}");
    let run = waits["run"].as_str().unwrap_or_else(|| panic!("{waits:#}")).to_owned();
    let go_on = |token: &str| {
        let arguments = json!({ "name": "execute_code", "arguments": { "run": run } });
        result(house.served.send(token, "tools/call", "execute_code", arguments))["structuredContent"].take()
    };
    let hers = go_on(&alice);
    assert_eq!(hers["error"]["kind"], "approval", "{hers:#}");
    for token in [house.token("bob", "run admin"), house.served.token.clone()] {
        let refused = go_on(&token);
        assert_eq!(refused["ok"], false);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message != hers["error"]["message"] && message.contains(&run), "{refused:#}");
        assert_ne!(refused["error"]["kind"], "approval", "{refused:#}");
    }
}

#[test]
fn rules_know_a_subject_by_its_name() {
    let house = House::with("[servers.demo]\nbuiltin = 'demo'\n", |terminal| {
        let rule = "default = 'allow'\n[[rule]]\nid = 'alice'\ntools = 'demo.list_projects'\nprincipal = 'alice@*'\nargs.x = { absent = true }\nthen = 'deny'\n";
        terminal.file("policy.toml", rule);
    });
    let caught = |subject: &str| {
        house.value(&house.token(subject, "run"), "return await demo.list_projects().then(() => 'passed', e => e.rule)")
    };
    assert_eq!((caught("alice"), caught("bob")), (json!("alice"), json!("passed")));
}

#[test]
fn what_a_client_shows_reaches_no_server_and_no_log() {
    let runtime = Runtime::new().unwrap();
    let child = runtime.block_on(Web::serve(remote)).unwrap();
    let house = House::with(&format!("[servers.remote]\nurl = '{}'\n", child.url("/mcp")), |_| {});
    let alice = house.token("alice", "run");
    let said = house.value(&alice, "return await remote.echo({})");
    assert_eq!(said, "here");
    let requests = child.requests();
    assert!(requests.iter().any(|request| request.json()["method"] == "tools/call"), "{requests:?}");
    let parts: Vec<&str> = alice.split('.').collect();
    for request in &requests {
        let all = format!("{request:?}");
        assert!(request.header("authorization").is_none() && parts.iter().all(|part| !all.contains(part)), "{all}");
    }
    house.served.signal("-TERM");
    for line in &house.served.said {
        assert!(parts.iter().all(|part| !line.contains(part)), "{line}");
    }
}

/// A server with one tool.
fn remote(request: &belljar_testkit::web::Request) -> Reply {
    let message = request.json();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "remote", "version": "0" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "here" }] }),
        Some("server/discover") | None => return Reply::status(405),
        Some(_) => return Reply::status(202),
    };
    Reply::json(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

#[test]
fn an_address_that_others_can_reach_is_served_where_an_authorization_server_is_named() {
    let terminal = Terminal::new();
    let oauth = format!("[http.oauth]\nissuer = 'https://login.example'\nresource = '{RESOURCE}'\n");
    let config = terminal.file("belljar.toml", oauth);
    let arguments = ["serve", "--http", "0.0.0.0:0", "--config", config.to_str().unwrap()];
    let mut child = terminal.command(&arguments).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let serves = said.any(|line| line.starts_with("serving MCP at http://0.0.0.0:"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(serves, "it ended without serving");
    let tokens = terminal.belljar(&["token", "list"]);
    assert_eq!(tokens.stdout.trim(), "there is no token; 'belljar token add NAME' makes one");
}

#[test]
fn another_authorization_server_needs_a_restart_which_a_reload_says() {
    let house = House::new();
    let config = house.served.terminal.folder.path().join("belljar.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace(&house.issuer.url(), "https://other.example")).unwrap();
    house.served.signal("-HUP");
    let said = house.served.said.iter().find(|line| line.contains("has changed")).unwrap();
    assert!(said.contains("[http]") && said.contains("restart"), "{said}");
    assert_eq!(house.value(&house.token("alice", "run"), "1"), 1);
}
