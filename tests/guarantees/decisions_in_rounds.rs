//! A client without sessions is asked in place of an answer, and decides by sending its request
//! again, with the state that it was given and an explicit word. Nothing else that it sends decides
//! anything.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    approvals_by_command::{CLOSE, Client, asking, asking_on, waiting},
    support::Terminal,
};

const FORMS: &str = "elicitation";

/// A client of the revision without sessions, with or without forms.
struct Stateless {
    client: Client,
    capabilities: Value,
}

impl Stateless {
    fn new(terminal: &Terminal, config: &str, capabilities: Value) -> Self {
        Self { client: Client::connected(terminal, config), capabilities }
    }

    fn with_forms(terminal: &Terminal, config: &str) -> Self {
        Self::new(terminal, config, json!({ FORMS: {} }))
    }

    /// The answer to a request, including errors.
    fn ask(&mut self, arguments: &Value, more: &Value) -> Value {
        self.client.send(&request(arguments, more, &self.capabilities));
        self.client.receive()
    }

    fn execute(&mut self, code: &str) -> Value {
        self.ask(&json!({ "code": code }), &json!({}))["result"].take()
    }

    /// Sends the request again, with this answer to each of its forms.
    fn again(&mut self, arguments: &Value, asked: &Value, answer: impl Fn(&str) -> Value) -> Value {
        let keys = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("it asks nothing: {asked:#}")).keys();
        let responses: serde_json::Map<String, Value> = keys.map(|key| (key.clone(), answer(key))).collect();
        self.ask(arguments, &json!({ "inputResponses": responses, "requestState": asked["requestState"] }))
    }
}

fn request(arguments: &Value, more: &Value, capabilities: &Value) -> Value {
    let mut params = json!({ "name": "execute_code", "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    } });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

fn accepted(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn approve(_: &str) -> Value {
    accepted(&json!({ "decision": "approve this call" }))
}

fn deny(_: &str) -> Value {
    accepted(&json!({ "decision": "deny" }))
}

fn code() -> Value {
    json!({ "code": CLOSE })
}

/// The message about a waiting run.
fn rests(answer: &Value) -> &str {
    let outcome = &answer["structuredContent"];
    assert_eq!((&outcome["error"]["kind"], &answer["isError"]), (&json!("approval"), &json!(true)), "{answer:#}");
    outcome["run"].as_str().unwrap()
}

#[test]
fn a_client_without_sessions_is_asked_with_the_answer_and_its_word_sends_the_call_once() {
    for terminal in [Terminal::new(), Terminal::with_daemon()] {
        // Long after the answer: a waiting run is put aside at once.
        let (terminal, config) = asking_on(terminal, "[approvals]\nhold = '1h'");
        let mut client = Stateless::with_forms(&terminal, &config);
        let asked = client.execute(CLOSE);
        assert_eq!(asked["resultType"], "input_required", "{asked:#}");
        let forms = asked["inputRequests"].as_object().unwrap();
        assert_eq!(forms.len(), 1, "{asked:#}");
        let form = forms.values().next().unwrap();
        assert_eq!((&form["method"], &form["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
        let decision = &form["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["enum"], json!(["deny", "approve this call"]), "whoever fills in the first value denies");
        assert_eq!(form["params"]["requestedSchema"]["required"], json!(["decision"]));
        assert!(decision.get("default").is_none(), "{form:#}");
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("demo.update_issue") && message.contains("\"id\": 3"), "{message}");
        let id = waiting(&terminal)["id"].take();
        let text = asked.to_string();
        assert!(!text.contains(id.as_str().unwrap()) && !text.contains("belljar approve"), "{text}");

        let answer = client.again(&code(), &asked, approve);
        assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
        // The same again decides nothing, and sends nothing.
        let answer = client.again(&code(), &asked, approve);
        let message = answer["result"]["structuredContent"]["error"]["message"].as_str().unwrap();
        assert!(message.contains("it was approved and sent already"), "{answer:#}");
        let runs = terminal.belljar(&["runs", "--json"]).json();
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs:#}");
        drop(client);
        // Without a daemon there is nothing to stop.
        terminal.belljar(&["daemon", "stop", "--config", &config]);
    }
}

#[test]
fn what_a_client_has_not_decided_stays_open_and_is_asked_again_when_it_goes_on() {
    let (terminal, config) = asking("[approvals]\nhold = '100ms'");
    let mut client = Stateless::with_forms(&terminal, &config);
    for answer in [
        accepted(&json!({})),
        accepted(&json!({ "decision": "" })),
        accepted(&json!({ "decision": true })),
        accepted(&json!({ "decision": "yes" })),
        json!({ "action": "accept" }),
        json!({ "action": "decline" }),
        json!({ "action": "decline", "content": { "decision": "approve this call" } }),
        json!({ "action": "cancel" }),
        json!({}),
        json!(null),
    ] {
        let asked = client.execute(CLOSE);
        let rested = client.again(&code(), &asked, |_| answer.clone());
        rests(&rested["result"]);
        assert_eq!(waiting(&terminal)["tool"], "update_issue", "{answer}");
    }
    let asked = client.execute(CLOSE);
    let silent = client.ask(&code(), &json!({ "inputResponses": {}, "requestState": asked["requestState"] }));
    let run = json!({ "run": rests(&silent["result"]) });
    // When it is resumed the client is asked again, and its word counts.
    let asked = client.ask(&run, &json!({}))["result"].take();
    let answer = client.again(&run, &asked, deny);
    let message = answer["result"]["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("the owner said no: closed is closed"), "{answer:#}");
}

#[test]
fn each_call_has_a_form_of_its_own_and_the_run_goes_on_with_those_that_are_decided() {
    let (terminal, config) = asking("[approvals]\nhold = '100ms'\nallow_yes = true");
    let mut client = Stateless::with_forms(&terminal, &config);
    let source = "const all = await Promise.allSettled([2, 3, 4].map((id) => demo.update_issue({ id, state: 'closed' })));\n\
                  const last = await demo.update_issue({ id: 5, state: 'closed' });\n\
                  return [...all.map((each) => each.value?.state ?? each.reason.name), last.state]";
    let arguments = json!({ "code": source });
    let asked = client.execute(source);
    assert_eq!(asked["inputRequests"].as_object().unwrap().len(), 3, "{asked:#}");
    let says = |key: &str, id: u64| {
        let message = asked["inputRequests"][key]["params"]["message"].as_str().unwrap();
        message.contains(&format!("\"id\": {id}"))
    };
    let rested = client.again(&arguments, &asked, |key| match key {
        key if says(key, 2) => approve(key),
        key if says(key, 3) => deny(key),
        _ => json!({ "action": "cancel" }),
    });
    // The open one waits as before: its form is not shown again and again.
    let run = rests(&rested["result"]).to_owned();
    assert_eq!(rested["result"]["structuredContent"]["error"]["waits"].as_array().unwrap().len(), 1, "{rested:#}");
    let id = waiting(&terminal)["id"].take();
    assert_eq!(terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
    // The next question has a round of its own.
    let go_on = json!({ "run": run });
    let asked = client.ask(&go_on, &json!({}))["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let answer = client.again(&go_on, &asked, approve);
    let value = &answer["result"]["structuredContent"]["value"];
    assert_eq!(value, &json!(["closed", "PolicyError", "closed", "closed"]), "{answer:#}");
}

#[test]
fn a_decision_is_taken_by_another_process_than_the_one_that_asked() {
    let (terminal, config) = asking("");
    let mut client = Stateless::with_forms(&terminal, &config);
    let asked = client.execute(CLOSE);
    drop(client);
    let answer = Stateless::with_forms(&terminal, &config).again(&code(), &asked, approve);
    assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
}

#[test]
fn a_state_that_is_not_the_requests_own_decides_nothing_and_says_why() {
    let (terminal, config) = asking("");
    let mut client = Stateless::with_forms(&terminal, &config);
    let asked = client.execute(CLOSE);
    let other = client.execute(&format!("{CLOSE} + '!'"));
    let run = json!({ "run": "r_0000000000001" });
    let mut tampered = asked["requestState"].as_str().unwrap().to_owned();
    let last = if tampered.pop() == Some('0') { '1' } else { '0' };
    tampered.push(last);
    let responses: Value =
        asked["inputRequests"].as_object().unwrap().keys().map(|key| (key.clone(), approve(key))).collect();
    for (arguments, state, reason) in [
        (code(), json!(tampered), "it was changed"),
        (code(), json!("x"), "is not one that belljar gave"),
        (code(), json!(null), "without their requestState"),
        (code(), other["requestState"].clone(), "a request with other arguments"),
        (json!({ "code": "1" }), asked["requestState"].clone(), "a request with other arguments"),
        (run, asked["requestState"].clone(), "another run than the one that 'run' names"),
    ] {
        let mut more = json!({ "inputResponses": responses });
        if !state.is_null() {
            more["requestState"] = state;
        }
        let answer = client.ask(&arguments, &more);
        assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason) && message.contains("nothing was decided"), "{reason}: {message}");
        assert_eq!(waiting(&terminal)["tool"], "update_issue", "{reason}");
    }
    // A client without forms was asked nothing.
    client.capabilities = json!({});
    let answer = client.again(&code(), &asked, approve);
    assert!(answer["error"]["message"].as_str().unwrap().contains("has not asked this client anything"), "{answer:#}");
    // Nor has the owner been asked twice.
    client.capabilities = json!({ FORMS: { "form": {} } });
    let answer = client.again(&code(), &asked, approve);
    assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
}

#[test]
fn a_client_that_shows_no_forms_gets_a_run_that_waits() {
    let (terminal, config) = asking("[approvals]\nhold = '100ms'");
    for capabilities in [json!({}), json!({ FORMS: { "url": {} } })] {
        let mut client = Stateless::new(&terminal, &config, capabilities);
        rests(&client.execute(CLOSE));
    }
}

/// The owner answers at the socket of a server over HTTP, other clients at its port with a token.
#[test]
fn over_http_the_owner_is_asked_at_their_socket_and_whoever_has_a_token_is_not() {
    let (terminal, config) = asking("[approvals]\nhold = '100ms'");
    let token = crate::http::token(&terminal, &["add", "ann"]);
    let socket = terminal.folder.path().join("socket");
    let arguments = ["serve", "--config", &config, "--http", "127.0.0.1:0", "--socket", socket.to_str().unwrap()];
    let mut server = terminal.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let port =
        lines.find_map(|line| line.strip_prefix("serving MCP at http://")?.strip_suffix("/mcp").map(ToOwned::to_owned));
    lines.find(|line| line.starts_with("serving MCP over HTTP at")).unwrap();
    let port = port.unwrap();
    std::thread::spawn(move || lines.for_each(drop));

    let post = |token: Option<&str>, more: &Value| {
        let body = request(&code(), more, &json!({ FORMS: {} })).to_string();
        let token = token.map(|token| format!("Authorization: Bearer {}\r\n", token.trim())).unwrap_or_default();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: execute_code\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = String::new();
        if token.is_empty() {
            let mut stream = UnixStream::connect(&socket).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream.read_to_string(&mut answer).unwrap();
        } else {
            let mut stream = std::net::TcpStream::connect(&port).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream.read_to_string(&mut answer).unwrap();
        }
        let message = answer
            .lines()
            .filter_map(|line| line.strip_prefix("data: ").or_else(|| line.starts_with('{').then_some(line)));
        let message = message.filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back();
        message.unwrap_or_else(|| panic!("{answer}"))
    };
    let of_ann = post(Some(&token), &json!({}));
    rests(&of_ann["result"]);
    let asked = post(None, &json!({}))["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let responses: Value =
        asked["inputRequests"].as_object().unwrap().keys().map(|key| (key.clone(), approve(key))).collect();
    let more = json!({ "inputResponses": responses, "requestState": asked["requestState"] });
    // The owner's state is worthless to others.
    let stolen = post(Some(&token), &more);
    assert!(stolen["error"]["message"].as_str().unwrap().contains("has not asked this client anything"), "{stolen:#}");
    let answer = post(None, &more);
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
}
