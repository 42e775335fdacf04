//! A webhook of the owner is notified of waiting calls. The messages are signed and bounded, and
//! the webhook cannot decide or delay anything.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    approvals_by_command::{CLOSE, Client, waiting},
    support::{Answer, Terminal},
};

const SECRET: &str = "0123456789abcdef-of-the-owner";
const BOTH: &str = "const close = (id) => demo.update_issue({ id, state: 'closed' });\n\
    return (await Promise.all([close(3), close(4)])).length";

/// A request that the address received.
struct Request {
    head: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no header {name}")).1
    }

    /// Its body, if it has the right signature.
    fn verified(&self) -> Value {
        let signature = self.header("belljar-signature");
        let seconds = signature.split(['=', ',']).nth(1).unwrap().parse().unwrap();
        assert_eq!(signature, belljar_webhook::signature(SECRET, seconds, &self.body));
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        assert!(now.abs_diff(seconds) < 60, "{seconds} is not {now}");
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// An address that answers each request with the next of these texts, and then repeats the last
/// one; an empty text never answers.
struct Address {
    url: String,
    requests: mpsc::Receiver<Request>,
}

impl Address {
    fn new(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (told, requests) = mpsc::channel();
        thread::spawn(move || {
            let mut kept = Vec::new();
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                let answer = answers[number.min(answers.len() - 1)];
                if answer.is_empty() {
                    kept.push(stream);
                } else {
                    let head = format!("HTTP/1.1 {answer}\r\nconnection: close\r\ncontent-length: 7\r\n\r\napprove");
                    let _ = (&stream).write_all(head.as_bytes());
                }
                if told.send(request).is_err() {
                    return;
                }
            }
        });
        Self { url, requests }
    }

    fn next(&self) -> Request {
        self.requests.recv_timeout(Duration::from_secs(60)).expect("it is told")
    }

    /// A terminal whose owner is told here.
    fn terminal(&self, more: &str, ask: &str) -> (Terminal, String) {
        let terminal = Terminal::new();
        let text = format!(
            "[approvals]\nallow_yes = true\nwebhook = {{ url = '{}', secret = '{SECRET}'{more} }}\n\
             [servers.demo]\nbuiltin = 'demo'\n",
            self.url
        );
        let config = terminal.file("belljar.toml", text).to_str().unwrap().to_owned();
        let rules = format!(
            "default = 'allow'\n[[rule]]\nid = 'closing'\ntools = 'demo.update_issue'\nthen = 'ask'\nwhy = 'closed is closed'\n{ask}\n"
        );
        terminal.file("policy.toml", rules);
        (terminal, config)
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (Vec::new(), String::new());
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert!(line.starts_with("POST /hook "), "{line}");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(':') else { break };
        head.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { head, body: Vec::new() };
    let length = request.header("content-length").parse().unwrap();
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).unwrap();
    Some(request)
}

#[test]
fn an_address_of_the_owners_is_told_what_waits_once_and_what_it_answers_decides_nothing() {
    // It works again at the second attempt, and answers with a word that approves.
    let address = Address::new(&["503 Busy", "200 OK"]);
    let (terminal, config) = address.terminal("", "");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(BOTH);
    let (first, second) = (address.next(), address.next());
    assert_eq!(first.body, second.body);
    assert_eq!(first.header("belljar-delivery"), second.header("belljar-delivery"), "it is the same message");
    let told = second.verified();
    let listed = terminal.belljar(&["approvals", "--json"]).json();
    let waits = listed["approvals"].as_array().unwrap();
    assert_eq!(waits.len(), 2, "nothing is decided: {listed:#}");
    let mut ids: Vec<&Value> = waits.iter().map(|each| &each["id"]).collect();
    let mut told_ids: Vec<&Value> = told["questions"].as_array().unwrap().iter().map(|each| &each["id"]).collect();
    ids.sort_by_key(|id| id.to_string());
    told_ids.sort_by_key(|id| id.to_string());
    assert_eq!(ids, told_ids);
    for (key, value) in [
        ("event", json!("approval")),
        ("run", waits[0]["run"].clone()),
        ("server", json!("demo")),
        ("tool", json!("update_issue")),
        ("rule", json!("closing")),
        ("why", json!("closed is closed")),
        ("principal", json!("owner")),
        ("calls", json!(2)),
    ] {
        assert_eq!(told[key], value, "{told:#}");
    }
    assert!(told["until"].as_str().unwrap().ends_with('Z'), "{told:#}");
    assert!(!told.to_string().contains("closed\"}") && told["questions"][0].get("arguments").is_none(), "{told:#}");
    assert!(address.requests.try_recv().is_err(), "it is told once");
}

#[test]
fn arguments_are_told_where_the_owner_says_so_and_nothing_where_the_rule_does_not() {
    let address = Address::new(&["200 OK"]);
    let (terminal, config) = address.terminal(", arguments = true", "ask = { who = ['cli', 'webhook'] }");
    let run = ["run", "--code", CLOSE, "--no-daemon", "--config", &config];
    assert_eq!(Answer::of(terminal.command(&run).output().unwrap()).code, 4);
    let told = address.next().verified();
    assert_eq!(told["questions"][0]["arguments"], json!({ "id": 3, "state": "closed" }), "{told:#}");
    let (terminal, config) = address.terminal("", "ask = { who = ['cli'] }");
    let run = ["run", "--code", CLOSE, "--no-daemon", "--config", &config];
    // The end of the process waits for unsent messages.
    assert_eq!(Answer::of(terminal.command(&run).output().unwrap()).code, 4);
    assert!(address.requests.try_recv().is_err());
}

#[test]
fn an_address_that_does_not_answer_or_leads_elsewhere_holds_up_nothing() {
    let silent = Address::new(&[""]);
    let (terminal, config) = silent.terminal("", "");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    silent.next();
    // It keeps its connection open, and the call is decided and sent meanwhile.
    let id = waiting(&terminal)["id"].take();
    assert_eq!(terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
    assert_eq!(client.receive()["result"]["structuredContent"]["value"], "closed");
    drop(client);
    let begun = Instant::now();
    let run = ["run", "--code", CLOSE, "--no-daemon", "--config", &config];
    let answer = Answer::of(terminal.command(&run).output().unwrap());
    assert_eq!(answer.code, 4, "{answer:?}");
    assert!(begun.elapsed() < Duration::from_secs(60), "a command waits for it a few seconds at most");

    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let leads: &'static str =
        Box::leak(format!("307 Elsewhere\r\nlocation: http://{}/", elsewhere.local_addr().unwrap()).into_boxed_str());
    let address = Address::new(Box::leak(Box::new([leads])));
    let (terminal, config) = address.terminal("", "");
    let run = ["run", "--code", CLOSE, "--no-daemon", "--config", &config];
    let answer = Answer::of(terminal.command(&run).output().unwrap());
    address.next().verified();
    assert!(answer.stderr.contains("no redirect is followed"), "{answer:?}");
    assert!(!answer.stderr.contains(&address.url), "its address is not in the log: {answer:?}");
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "nobody has come");
}

#[test]
fn a_rule_that_names_a_webhook_needs_one() {
    let (terminal, config) = crate::approvals_by_command::asking("");
    terminal.file(
        "policy.toml",
        "default = 'allow'\n[[rule]]\nid = 'told'\nthen = 'ask'\nask = { who = ['cli', 'webhook'] }\n",
    );
    let message = "2:1: rule 'told' names webhook, and '[approvals] webhook' in belljar.toml names no address";
    let check = terminal.belljar(&["policy", "check", "--config", &config]);
    assert!(check.code == 2 && check.stdout.contains("rule 'told' names webhook"), "{check:?}");
    let run = ["run", "--code", "1", "--no-daemon", "--config", &config];
    let answer = Answer::of(terminal.command(&run).output().unwrap());
    assert!(answer.code == 2 && answer.stderr.contains(message), "{answer:?}");
}
