//! A decision counts for the call that was shown, once, and until it expires. Any other use is
//! refused with the reason, even when a run is resumed hours later, and deciding again or too late
//! is reported.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision};
use belljar_gateway::{Approvals, Gateway, RunLedger};
use belljar_ledger::{Asker, Ledger, Options, QuestionFilter, SqliteLedger};
use belljar_model::{ByteSize, ErrorKind, LedgerKeep, LedgerLevel, Outcome};
use belljar_policy::{Policy, absolute_folder};
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    approvals_by_command::{CLOSE, Client, Person, asking, waiting},
    stub_server::{Stub, gateway_of_configuration},
};

const RULES: &str = "default = 'allow'\n[[rule]]\nid = 'writes'\ntools = 'fs.write_file'\nthen = 'ask'\n";
const WRITE: &str = "await fs.write_file({ path: '/x', content: '' })";

/// A suspended run, and the process that resumes it.
struct Rested {
    folder: tempfile::TempDir,
    stub: Stub,
    sent: Arc<Mutex<Vec<String>>>,
    owner: SqliteLedger,
    outcome: Outcome,
}

impl Rested {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (stub, sent) = Stub::that_redefines_after("list_directory");
        let owner = ledger(folder.path());
        let outcome = process(folder.path(), &stub).execute(WRITE.to_owned()).await;
        assert_eq!(outcome.result.as_ref().unwrap_err().kind, ErrorKind::Approval, "{outcome:#?}");
        let rested = Self { folder, stub, sent, owner, outcome };
        rested.approve().await;
        rested
    }

    async fn approve(&self) {
        let open = self.owner.questions(QuestionFilter { open: true, ..QuestionFilter::default() }).await.unwrap();
        let decision = Decision { approve: true, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
        self.owner.change_question(Change::Decide(open[0].question.id, decision)).await.unwrap().unwrap();
    }

    fn process(&self) -> Gateway {
        process(self.folder.path(), &self.stub)
    }

    /// Changes the question in the ledger, as a program of the owner could.
    fn edit(&self, change: &str) {
        let file = rusqlite::Connection::open(self.folder.path().join("ledger.db")).unwrap();
        assert_eq!(file.execute(&format!("UPDATE questions SET {change}"), []).unwrap(), 1, "{change}");
    }

    /// The run's result.
    async fn goes_on(&self, by: &Gateway) -> Result<String, String> {
        let outcome = by.resume(self.outcome.run.unwrap()).await;
        outcome.result.map(|value| value.as_str().to_owned()).map_err(|error| error.message)
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().clone()
    }
}

fn ledger(folder: &Path) -> SqliteLedger {
    SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep::default() })
}

fn process(folder: &Path, stub: &Stub) -> Gateway {
    process_of("belljar.toml", folder, stub)
}

fn process_of(configuration: &str, folder: &Path, stub: &Stub) -> Gateway {
    let kept = RunLedger {
        ledger: Arc::new(ledger(folder)),
        required: false,
        level: LedgerLevel::Calls,
        max_recording: ByteSize::mib(1),
        redact: Arc::default(),
    };
    let policy = Policy::parse(RULES, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    gateway_of_configuration(configuration, &[("fs", stub.clone())], Arc::new(policy), kept).with_approvals(Approvals {
        desk: None,
        by_command: true,
        allow_yes: false,
        wait: Duration::from_secs(600),
        hold: Duration::ZERO,
        max_resting: ByteSize::mib(1),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_about_anything_else_is_of_no_use_to_a_run_that_goes_on() {
    for (change, reason) in [
        ("run = 1", "it is about a call of another run"),
        ("number = number + 1", "it is about another call of the run"),
        ("tool = 'edit_file'", "it is about another tool"),
        ("arguments = zeroblob(32)", "the arguments are not those that were shown"),
        ("definition = zeroblob(32)", "the tool's definition has changed since"),
        ("rule = 'other'", "another rule of the owner asks now"),
        ("principal = 'ci'", "somebody else calls"),
        ("expires_ms = asked_ms", "it is too late: the question has expired"),
        // A call that was already sent is a different matter: see `interrupted.rs`.
        ("state = 5", "the question was withdrawn"),
    ] {
        let rested = Rested::new().await;
        rested.edit(change);
        let said = rested.goes_on(&rested.process()).await.expect_err(change);
        assert!(said.contains(reason), "{change}: {said}");
        assert!(rested.sent().is_empty(), "{change}");
    }
    // An unchanged question counts.
    let rested = Rested::new().await;
    assert!(rested.goes_on(&rested.process()).await.is_ok());
    assert_eq!(rested.sent(), ["/x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_under_one_configuration_sends_nothing_under_another() {
    let rested = Rested::new().await;
    let other = process_of("other.toml", rested.folder.path(), &rested.stub);
    let said = rested.goes_on(&other).await.unwrap_err();
    assert!(said.contains("began with another configuration"), "{said}");
    // The same script is another run there, which is asked about separately.
    let outcome = other.execute(WRITE.to_owned()).await;
    assert_eq!(outcome.result.as_ref().unwrap_err().kind, ErrorKind::Approval, "{outcome:#?}");
    assert_ne!(outcome.run, rested.outcome.run);
    assert!(rested.sent().is_empty());
    // The first waits as before, and is resumed where it began.
    assert!(rested.goes_on(&rested.process()).await.is_ok());
    assert_eq!(rested.sent(), ["/x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_another_by_the_time_its_run_goes_on_is_not_called() {
    let rested = Rested::new().await;
    let other = rested.process();
    let looked = other.execute("await fs.list_directory({ path: '/' }); 1".to_owned()).await;
    assert!(looked.is_ok(), "{looked:#?}");
    let said = rested.goes_on(&rested.process()).await.unwrap_err();
    assert!(said.contains("the tool's definition has changed since"), "{said}");
    assert_eq!(rested.sent(), ["/"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_goes_on_with_the_run_of_another() {
    let rested = Rested::new().await;
    let other = rested.process().with_asker(Asker::new(Some("ci"), None));
    let said = rested.goes_on(&other).await.unwrap_err();
    assert!(said.contains("there is no such run") && rested.sent().is_empty(), "{said}");
    assert!(rested.goes_on(&rested.process()).await.is_ok());
    let said = rested.goes_on(&rested.process()).await.unwrap_err();
    assert!(said.contains("it is over"), "{said}");
    assert_eq!(rested.sent(), ["/x"]);
}

#[test]
fn whoever_decides_again_or_too_late_is_told() {
    let (terminal, config) = asking("[approvals]\nhold = '1ms'\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    assert_eq!(client.receive()["result"]["structuredContent"]["error"]["kind"], "approval");
    let id = waiting(&terminal)["id"].take();
    let id = id.as_str().unwrap();
    assert_eq!(terminal.belljar(&["approve", id, "--yes"]).code, 0);
    for decide in ["approve", "deny"] {
        let again = terminal.belljar(&[decide, id, "--yes"]);
        assert!(again.code == 1 && again.stderr.contains("it was approved already"), "{again:?}");
    }

    let (terminal, config) = asking("[approvals]\nhold = '1ms'\nwait = '5s'\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let answer = client.receive();
    let run = answer["result"]["structuredContent"]["run"].as_str().unwrap();
    let folder = terminal.folder.path().join(".local/state/belljar");
    let file = rusqlite::Connection::open(folder.join("ledger.db")).unwrap();
    let (bits, expires): (i64, i64) =
        file.query_row("SELECT id, expires_ms FROM questions", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let id = belljar_approvals::QuestionId::from_bits(bits.cast_unsigned()).to_string();
    let expires = SystemTime::UNIX_EPOCH + Duration::from_millis(expires.cast_unsigned() + 1);
    while let Ok(left) = expires.duration_since(SystemTime::now()) {
        std::thread::sleep(left + Duration::from_millis(1));
    }
    let late = terminal.belljar(&["approve", &id, "--yes"]);
    assert!(late.code == 1 && late.stderr.contains("it is too late: the question has expired"), "{late:?}");
    // It is denied, with the reason.
    let answer = terminal.belljar(&["resume", run, "--json", "--no-daemon", "--config", &config]);
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the owner was asked and did not decide within 5 s"), "{message}");
}

#[test]
fn a_person_denies_at_any_terminal_by_a_word_and_by_nothing_else() {
    let (terminal, config) = asking("");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let id = waiting(&terminal)["id"].take();
    let deny = terminal.command(&["deny", id.as_str().unwrap()]);
    let mut person = Person::at(&deny);
    person.sees("type no to deny: ");
    assert!(
        person.shown.contains("demo.update_issue  (mutating)") && person.shown.contains("\"id\": 3"),
        "{}",
        person.shown
    );
    person.types("yes");
    let (code, shown) = person.ends();
    assert!(code == 1 && shown.contains("nothing is decided"), "{code}\n{shown}");
    assert_eq!(waiting(&terminal)["id"], id);
    let mut person = Person::at(&deny);
    person.sees("type no to deny: ");
    person.types("no");
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("denied"), "{code}\n{shown}");
    let answer = client.receive();
    let message = answer["result"]["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("the owner said no: closed is closed"), "{answer:#}");
}
