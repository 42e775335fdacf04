//! When a run is resumed after its process was killed, nothing that may have taken effect is sent
//! twice: the ledger knows what happened to it, or else the owner says so.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    approvals_by_command::{Client, Person, waiting},
    dead_children::child,
    support::{Answer, Terminal},
};

/// One call that is asked about, and one that is not.
const SEND: &str = "const first = await kid.send({ n: 1 }).catch((error) => error.message);\n\
    return [first, await kid.note({ n: 2 })]";

/// A terminal with a server that never answers its first call, and records all of them.
struct House {
    terminal: Terminal,
    config: String,
    notes: PathBuf,
}

impl House {
    fn new(server: &str) -> Self {
        let terminal = Terminal::new();
        let notes = terminal.folder.path().join("notes");
        let config = format!(
            "[approvals]\nallow_yes = true\n[servers.kid]\ncommand = '{}'\nargs = ['silent-once', '{}']\n{server}\n",
            child().display(),
            notes.display()
        );
        let config = terminal.file("belljar.toml", config).to_str().unwrap().to_owned();
        terminal.file("policy.toml", "default = 'allow'\n[[rule]]\nid = 'sends'\ntools = 'kid.send'\nthen = 'ask'\n");
        Self { terminal, config, notes }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.terminal.command(&[arguments, &["--no-daemon", "--config", &self.config]].concat())
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }

    /// The calls that the server received.
    fn notes(&self) -> Vec<String> {
        let notes = std::fs::read_to_string(&self.notes).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// A run that waited, was approved and resumed, and whose process was killed when the server
    /// had received this many calls.
    fn interrupted(&self, script: &str, calls: usize) -> String {
        let answer = self.belljar(&["run", "--code", script, "--json"]);
        let run = answer.json()["run"].as_str().unwrap().to_owned();
        let id = waiting(&self.terminal)["id"].take();
        assert_eq!(self.terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
        let mut going_on = self.command(&["resume", &run]);
        let mut going_on = going_on.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.wait_for(&mut going_on, calls);
        going_on.kill().unwrap();
        going_on.wait().unwrap();
        run
    }

    /// The server gives no other sign of what it received.
    fn wait_for(&self, process: &mut Child, calls: usize) {
        while self.notes().len() < calls {
            assert!(process.try_wait().unwrap().is_none(), "it has ended");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn state_of(&self, run: &str) -> Value {
        self.terminal.belljar(&["runs", "show", run, "--json"]).json()
    }
}

#[test]
fn what_may_have_been_done_is_not_sent_again_and_its_owner_says_what_became_of_it() {
    for (assumed, said) in [("done", None), ("failed", Some("its owner assumes that it failed"))] {
        let house = House::new("");
        let run = house.interrupted(SEND, 1);
        assert_eq!(house.state_of(&run)["state"], "interrupted");
        let answer = house.belljar(&["resume", &run]);
        assert_eq!(answer.code, 2, "{answer:?}");
        let hint = format!("belljar resume {run} --assume failed, or done");
        assert!(answer.stderr.contains("the run was interrupted") && answer.stderr.contains(&hint), "{answer:?}");
        // A model is told the situation, but not what would change it.
        let mut client = Client::of(&house.terminal, &house.config, json!({}));
        client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "execute_code", "arguments": { "run": run } } }));
        let text = client.receive().to_string();
        assert!(text.contains("the owner must say what happened to them") && !text.contains("--assume"), "{text}");
        drop(client);
        let answer = house.belljar(&["resume", &run, "--assume", assumed]);
        assert!(answer.code == 2 && answer.stderr.contains("there is no terminal here to ask at"), "{answer:?}");
        assert!(answer.stderr.contains("kid.send  no answer: it may have taken effect"), "{answer:?}");
        assert_eq!(house.notes(), ["send {\"n\":1}"]);

        let answer = house.belljar(&["resume", &run, "--assume", assumed, "--yes", "--json"]);
        let outcome = answer.json();
        assert_eq!((answer.code, &outcome["value"][1]), (0, &json!({ "n": 2 })), "{answer:?}");
        match said {
            None => {
                assert_eq!(outcome["value"][0], Value::Null, "{outcome:#}");
                let logs = outcome["logs"].to_string();
                assert!(
                    logs.contains("kid.send is assumed to have been done before the run was interrupted"),
                    "{logs}"
                );
            }
            Some(said) => assert!(outcome["value"][0].as_str().unwrap().contains(said), "{outcome:#}"),
        }
        assert_eq!(house.notes(), ["send {\"n\":1}", "note {\"n\":2}"], "nothing is sent twice");
        let kept = house.state_of(&run);
        let call = &kept["calls"][0];
        assert_eq!((&kept["state"], &kept["unanswered"]), (&json!("ok"), &json!(0)), "{kept:#}");
        assert_eq!((&call["state"], &call["decided_by"]), (&json!(format!("assumed_{assumed}")), &json!("unattended")));
        let again = house.belljar(&["resume", &run, "--assume", assumed, "--yes"]);
        assert!(again.code == 2 && again.stderr.contains("it is over"), "{again:?}");
    }
}

#[test]
fn what_may_be_made_twice_is_sent_again_with_the_key_that_it_had() {
    for server in ["effects = { send = 'read_only' }", "idempotent = ['send']", "idempotency = { send = 'key' }"] {
        let house = House::new(server);
        let run = house.interrupted(SEND, 1);
        assert_eq!(house.state_of(&run)["state"], "resting", "{server}");
        let waits = house.belljar(&["resume", &run, "--assume", "done", "--yes"]);
        assert!(waits.code == 2 && waits.stderr.contains("resume it without an assumption"), "{waits:?}");
        let answer = house.belljar(&["resume", &run, "--json"]);
        assert_eq!((answer.code, &answer.json()["value"][0]["n"]), (0, &json!(1)), "{server}: {answer:?}");
        let notes = house.notes();
        assert_eq!((notes.len(), &notes[0]), (3, &notes[1]), "{server}: {notes:?}");
        assert_eq!(notes[0].contains("\"key\":"), server.contains("'key'"), "{notes:?}");
    }
}

#[test]
fn what_the_ledger_knows_to_be_done_stays_so_and_whoever_says_the_rest_types_a_code() {
    let house = House::new("");
    // Its first call is behind it.
    std::fs::write(&house.notes, "").unwrap();
    let script = "const first = await kid.send({ n: 1 });\n\
        return [first, await kid.hang({}).catch((error) => error.message), await kid.note({ n: 2 })]";
    let run = house.interrupted(script, 2);
    let mut person = Person::at(&house.command(&["resume", &run, "--assume", "failed", "--json"]));
    person.sees(" to say so: ");
    let seen = &person.shown;
    assert!(seen.contains("kid.send  it was done, and its answer is lost"), "{seen}");
    assert!(seen.contains("kid.hang  no answer: it may have taken effect"), "{seen}");
    assert!(seen.contains("you say that those without an answer failed; none of them is sent again"), "{seen}");
    person.types("yes");
    let (code, shown) = person.ends();
    assert!(code == 1 && shown.contains("nothing is decided"), "{code}\n{shown}");
    let mut person = Person::at(&house.command(&["resume", &run, "--assume", "failed", "--json"]));
    person.sees(" to say so: ");
    let typed = person.code();
    person.types(&typed);
    let (code, shown) = person.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("kid.send was done before the run was interrupted and is not called again"), "{shown}");
    assert!(
        shown.contains("kid.hang was not called again") && shown.contains("its owner assumes that it failed"),
        "{shown}"
    );
    assert_eq!(house.notes(), ["send {\"n\":1}", "hang {}", "note {\"n\":2}"]);
}

#[test]
fn what_a_process_that_was_killed_had_asked_is_asked_anew_and_counts_for_nothing() {
    let house = House::new("idempotent = ['send']");
    std::fs::write(&house.notes, "").unwrap();
    let script = "const first = await kid.send({ n: 1 });\nreturn [first, await kid.send({ n: 2 })]";
    let answer = house.belljar(&["run", "--code", script, "--json"]);
    let run = answer.json()["run"].as_str().unwrap().to_owned();
    let id = waiting(&house.terminal)["id"].take();
    assert_eq!(house.terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
    let going_on = || house.command(&["resume", &run]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let asked = |other_than: &Value| loop {
        let listed = house.terminal.belljar(&["approvals", "--json"]).json();
        let all = listed["approvals"].as_array().unwrap();
        if let [only] = all.as_slice()
            && only["id"] != *other_than
        {
            return only.clone();
        }
    };
    let mut process = going_on();
    let before = asked(&id);
    assert_eq!(before["arguments"]["n"], 2, "{before:#}");
    process.kill().unwrap();
    process.wait().unwrap();
    let mut process = going_on();
    let after = asked(&before["id"]);
    assert_eq!((&after["arguments"], &after["call"]), (&before["arguments"], &before["call"]));
    let old = house.terminal.belljar(&["approve", before["id"].as_str().unwrap(), "--yes"]);
    assert!(old.code == 1 && old.stderr.contains("it is too late: its run is over"), "{old:?}");
    assert_eq!(house.terminal.belljar(&["approve", after["id"].as_str().unwrap(), "--yes"]).code, 0);
    assert!(process.wait().unwrap().success());
    assert_eq!(house.notes(), ["send {\"n\":1}", "send {\"n\":1}", "send {\"n\":2}"]);
}

#[test]
fn a_run_that_had_not_been_put_aside_does_not_go_on() {
    let house = House::new("");
    let mut run = house.command(&["run", "--code", "await kid.note({ n: 1 })"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    house.wait_for(&mut run, 1);
    run.kill().unwrap();
    run.wait().unwrap();
    let listed = house.terminal.belljar(&["runs", "--json"]).json();
    let name = listed["runs"][0]["run"].as_str().unwrap();
    assert_eq!(listed["runs"][0]["state"], "interrupted", "{listed:#}");
    for arguments in [&["resume", name][..], &["resume", name, "--assume", "done", "--yes"]] {
        let answer = house.belljar(arguments);
        assert!(
            answer.code == 2 && answer.stderr.contains("nothing was kept from which it could continue"),
            "{answer:?}"
        );
    }
}
