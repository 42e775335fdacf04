//! A person decides about a call with the program itself: at the terminal of the run, or with a
//! command elsewhere.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{Answer, Terminal, in_a_terminal};

pub(crate) const CLOSE: &str =
    "await demo.list_issues({}); const issue = await demo.update_issue({ id: 3, state: 'closed' }); return issue.state";

/// A terminal with the demo, whose changes are asked about.
pub(crate) fn asking(more: &str) -> (Terminal, String) {
    asking_on(Terminal::new(), more)
}

pub(crate) fn asking_on(terminal: Terminal, more: &str) -> (Terminal, String) {
    let config = terminal.file("belljar.toml", format!("{more}\n[servers.demo]\nbuiltin = 'demo'\n"));
    let rules = "default = { read_only = 'allow', mutating = 'ask', external = 'ask' }\n\
        [[rule]]\nid = 'closing'\ntools = 'demo.update_issue'\nthen = 'ask'\nwhy = 'closed is closed'\n";
    terminal.file("policy.toml", rules);
    (terminal, config.to_str().unwrap().to_owned())
}

/// A command on its own terminal, where a person reads before they type.
pub(crate) struct Person {
    script: Child,
    pub(crate) shown: String,
}

impl Person {
    pub(crate) fn at(command: &Command) -> Self {
        Self::at_one_of_kind("dumb", command)
    }

    /// At a terminal of this kind: a dumb one shows no progress.
    pub(crate) fn at_one_of_kind(kind: &str, command: &Command) -> Self {
        let mut script = in_a_terminal(command, kind);
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { script, shown: String::new() }
    }

    /// Reads until this is shown.
    pub(crate) fn sees(&mut self, text: &str) {
        let stdout = self.script.stdout.as_mut().unwrap();
        while !self.shown.contains(text) {
            let mut bytes = [0; 1024];
            let read = stdout.read(&mut bytes).unwrap();
            assert!(read > 0, "it ended without {text:?}:\n{}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Reads until more is shown than this.
    pub(crate) fn sees_more(&mut self, seen: usize) {
        let stdout = self.script.stdout.as_mut().unwrap();
        while self.shown.len() <= seen {
            let mut bytes = [0; 1024];
            let read = stdout.read(&mut bytes).unwrap();
            assert!(read > 0, "it ended:\n{}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Types a line. One that comes when the command has ended is nobody's.
    pub(crate) fn types(&mut self, line: &str) {
        let _ = self.script.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
    }

    /// The code to type.
    pub(crate) fn code(&self) -> String {
        self.shown.split("type ").last().unwrap().chars().take(4).collect()
    }

    pub(crate) fn ends(mut self) -> (i32, String) {
        self.script.stdout.as_mut().unwrap().read_to_string(&mut self.shown).unwrap();
        let code = self.script.wait().unwrap().code().unwrap();
        (code, self.shown)
    }
}

#[test]
fn whoever_runs_a_script_at_a_terminal_is_asked_there() {
    let (terminal, config) = asking("");
    let command = terminal.command(&["run", "--code", CLOSE, "--no-daemon", "--config", &config]);
    let mut person = Person::at(&command);
    person.sees("send it? type yes or no: ");
    for shown in ["demo.update_issue  (mutating)", "'closing': closed is closed", "\"id\": 3", "demo.list_issues: ok"] {
        assert!(person.shown.contains(shown), "{shown}\n{}", person.shown);
    }
    // Anything else is asked again.
    person.types("sure");
    person.types("yes");
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("closed"), "{code}\n{shown}");

    let mut person = Person::at(&command);
    person.sees("send it? type yes or no: ");
    person.types("no");
    let (code, shown) = person.ends();
    assert!(code == 1 && shown.contains("the owner said no: closed is closed"), "{code}\n{shown}");
    // Without a terminal the run waits, and its message names no way around that.
    let answer =
        Answer::of(terminal.command(&["run", "--code", CLOSE, "--no-daemon", "--config", &config]).output().unwrap());
    assert!(answer.code == 4 && answer.stderr.contains("the run waits: the owner was asked"), "{answer:?}");
    assert!(!answer.stderr.contains("approve") && !answer.stderr.contains("a_"), "{answer:?}");
}

/// A client of `belljar serve`.
pub(crate) struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    /// A client that has sent nothing yet.
    pub(crate) fn connected(terminal: &Terminal, config: &str) -> Self {
        let mut command = terminal.command(&["serve", "--config", config]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        Self { server, to, from }
    }

    pub(crate) fn of(terminal: &Terminal, config: &str, capabilities: Value) -> Self {
        let mut client = Self::connected(terminal, config);
        let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" } });
        client.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting }));
        assert_eq!(client.receive()["id"], 0);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message that is not a notification.
    pub(crate) fn receive(&mut self) -> Value {
        loop {
            let message = self.next();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).unwrap() > 0, "the server went away");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn execute(&mut self, code: &str) {
        let call = json!({ "name": "execute_code", "arguments": { "code": code } });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What waits, once there is something.
pub(crate) fn waiting(terminal: &Terminal) -> Value {
    // Each check is a command, which takes time.
    for _ in 0..200 {
        let mut answer = terminal.belljar(&["approvals", "--json"]).json();
        if let Some(first) = answer["approvals"].get_mut(0) {
            return first.take();
        }
    }
    panic!("nothing waits for a decision");
}

#[test]
fn a_decision_by_command_wants_a_person_who_types_what_the_terminal_shows() {
    let (terminal, config) = asking("[approvals]\nhold = '10m'");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let question = waiting(&terminal);
    let id = question["id"].as_str().unwrap();
    assert_eq!(
        (&question["tool"], &question["arguments"]),
        (&json!("update_issue"), &json!({ "id": 3, "state": "closed" }))
    );
    // Neither a program nor a claim of its caller decides.
    let answer = terminal.belljar(&["approve", id]);
    assert!(answer.code == 2 && answer.stderr.contains("there is no terminal here to ask at"), "{answer:?}");
    let answer = terminal.belljar(&["approve", id, "--yes"]);
    assert!(answer.code == 2 && answer.stderr.contains("--yes is not allowed here"), "{answer:?}");
    let mut person = Person::at(&terminal.command(&["approve", id]));
    // Text that was typed before the question was shown is discarded, and anything but the code
    // decides nothing.
    person.types("yes");
    person.sees(" to approve: ");
    person.types("yes");
    let (code, shown) = person.ends();
    assert!(code == 1 && shown.contains("nothing is decided"), "{code}\n{shown}");
    assert_eq!(waiting(&terminal)["id"], id);

    let mut person = Person::at(&terminal.command(&["approve", &id[..6]]));
    person.sees(" to approve: ");
    let code: String = person.shown.split("type ").last().unwrap().chars().take(4).collect();
    assert!(person.shown.contains("demo.update_issue  (mutating)") && person.shown.contains("demo.list_issues: ok"));
    person.types(&code);
    let (exit, shown) = person.ends();
    assert_eq!(exit, 0, "{shown}");
    let answer = client.receive();
    assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
    let text = answer.to_string();
    assert!(!text.contains(id) && !text.contains("belljar approve"), "{text}");
    let again = terminal.belljar(&["deny", id]);
    assert!(again.code == 1 && again.stderr.contains("it was approved and sent already"), "{again:?}");
}

#[test]
fn an_owner_who_says_so_decides_by_programs() {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let id = waiting(&terminal)["id"].take();
    let answer = terminal.belljar(&["deny", id.as_str().unwrap(), "--yes"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let answer = client.receive();
    let error = &answer["result"]["structuredContent"]["error"];
    assert!(error["message"].as_str().unwrap().contains("the owner said no"), "{answer:#}");
}

#[test]
fn a_daemon_asks_at_the_terminal_where_its_run_was_started() {
    let (terminal, config) = asking_on(Terminal::with_daemon(), "");
    let command = terminal.command(&["run", "--code", CLOSE, "--config", &config]);
    let mut person = Person::at(&command);
    person.sees("send it? type yes or no: ");
    // It is asked there and nowhere else.
    let listed = terminal.belljar(&["approvals", "--json"]).json();
    assert_eq!(listed["approvals"][0]["here"], false, "{listed:#}");
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    let elsewhere = terminal.belljar(&["approve", id, "--yes"]);
    assert!(
        elsewhere.code == 2 && elsewhere.stderr.contains("at the terminal where its run was started"),
        "{elsewhere:?}"
    );
    person.types("yes");
    let (code, shown) = person.ends();
    let stopped = terminal.belljar(&["daemon", "stop", "--config", &config]);
    assert!(code == 0 && shown.contains("closed"), "{code}\n{shown}");
    assert_eq!(stopped.code, 0, "{stopped:?}");
}

#[test]
fn a_decision_comes_too_late_for_a_run_whose_process_was_killed() {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let id = waiting(&terminal)["id"].take();
    client.server.kill().unwrap();
    client.server.wait().unwrap();
    let answer = terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]);
    assert!(answer.code == 1 && answer.stderr.contains("it is too late: its run is over"), "{answer:?}");
    assert_eq!(terminal.belljar(&["approvals", "--json"]).json(), json!({ "approvals": [] }));
}

#[cfg(target_os = "linux")]
#[test]
fn in_a_process_for_scripts_the_time_of_a_person_counts_against_no_limit_either() {
    let more = "[approvals]\nallow_yes = true\n[runs]\nprocess = true\n[limits]\ntimeout = '8s'\nwait = '8s'";
    let (terminal, config) = asking(more);
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let id = waiting(&terminal)["id"].take();
    // Longer than either limit: if the clocks did not stop, the run would be over.
    std::thread::sleep(Duration::from_secs(10));
    let answer = terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let answer = client.receive();
    assert_eq!(answer["result"]["structuredContent"]["value"], "closed", "{answer:#}");
}
