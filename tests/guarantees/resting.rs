//! A run that waits for its owner gives up its slot, and is resumed in any later process as if it
//! had never stopped.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision, Question, QuestionId, State};
use belljar_gateway::{Approvals, Gateway, RunLedger};
use belljar_ledger::{Asker, Filter, Ledger, Options, QuestionFilter, RunState, SqliteLedger};
use belljar_model::{ByteSize, ErrorKind, LedgerKeep, LedgerLevel, Limits, LimitsPatch, Outcome, Recorded, RunId};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::{Image, Recording, Sandbox, SandboxOptions};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    approvals_by_command::{CLOSE, Client, Person, asking, waiting},
    stub_server::{Stub, gateway_with_rules_and_ledger},
    support::Answer,
};

const RULES: &str = "default = 'allow'\n\
    [[rule]]\nid = 'writes'\ntools = 'fs.write_file'\nthen = 'ask'\nwhy = 'files are mine'\n\
    [[rule]]\nid = 'three'\ntools = 'fs.create_directory'\nat_most = '3/run'\nthen = 'deny'\n";

/// Logs, random numbers, clocks, the catalogue, calls that are allowed and calls that are asked
/// about, sequential and concurrent.
const WORK: &str = "console.log('before', (await tools.list('fs')).length);\n\
    const numbers = []; for (let i = 0; i < 5; i++) numbers.push(Math.random() < 2);\n\
    await fs.create_directory({ path: '/d1' }); await fs.create_directory({ path: '/d2' });\n\
    const started = performance.now();\n\
    const all = await Promise.allSettled([1, 2, 3].map(i => fs.write_file({ path: '/w' + i, content: 'x'.repeat(i) })));\n\
    console.log('between', all.map(each => each.status));\n\
    const { got } = await fs.write_file({ path: '/last', content: numbers.join() });\n\
    await fs.create_directory({ path: '/d3' });\n\
    let said; try { await fs.create_directory({ path: '/d4' }) } catch (error) { said = error.name }\n\
    return [got, said, all.map(each => each.reason?.message), performance.now() - started >= 0]";

/// A folder with a ledger, a server, and what it was sent.
struct House {
    stub: Stub,
    sent: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
    owner: SqliteLedger,
}

impl House {
    fn new() -> Self {
        let sent = Arc::<Mutex<Vec<String>>>::default();
        let noted = sent.clone();
        let stub = Stub::new(Stub::real_tools("filesystem"), move |_, arguments| {
            noted.lock().push(arguments["path"].as_str().unwrap_or_default().to_owned());
            json!({ "content": [], "structuredContent": { "got": arguments } })
        });
        let folder = tempfile::tempdir().unwrap();
        let owner = open(&folder);
        Self { stub, sent, folder, owner }
    }

    /// A separate process, as far as the ledger and its runs know, which puts a run aside after
    /// this time.
    fn process(&self, hold: Duration) -> Gateway {
        self.process_with(hold, RULES, LedgerLevel::Calls, ByteSize::mib(1))
    }

    fn process_with(&self, hold: Duration, rules: &str, level: LedgerLevel, max_resting: ByteSize) -> Gateway {
        let kept = RunLedger {
            ledger: Arc::new(open(&self.folder)),
            required: false,
            level,
            max_recording: ByteSize::mib(1),
            redact: Arc::default(),
        };
        let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
        let gateway = gateway_with_rules_and_ledger(&[("fs", self.stub.clone())], Arc::new(policy), kept);
        let wait = Duration::from_secs(600);
        gateway.with_approvals(Approvals { desk: None, by_command: true, allow_yes: false, wait, hold, max_resting })
    }

    async fn open(&self) -> Vec<Question> {
        let filter = QuestionFilter { open: true, ..QuestionFilter::default() };
        self.owner.questions(filter).await.unwrap().into_iter().map(|kept| kept.question).collect()
    }

    async fn decide(&self, id: QuestionId, approve: bool) {
        let decision = Decision { approve, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
        self.owner.change_question(Change::Decide(id, decision)).await.unwrap().unwrap();
    }

    /// Decides all open questions: writing to `/w2` is denied.
    async fn decide_all(&self) -> usize {
        let open = self.open().await;
        for question in &open {
            self.decide(question.id, !question.arguments.contains("/w2")).await;
        }
        open.len()
    }

    async fn state_of(&self, run: RunId) -> RunState {
        self.owner.run(run).await.unwrap().unwrap().0.state
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().clone()
    }
}

fn open(folder: &TempDir) -> SqliteLedger {
    SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() })
}

async fn execute(gateway: &Gateway, source: &str) -> Outcome {
    gateway.execute(source.to_owned()).await
}

async fn resume(gateway: &Gateway, run: RunId) -> Outcome {
    gateway.resume(run).await
}

/// The run, which waits for this many calls.
fn rests(outcome: &Outcome, calls: usize) -> RunId {
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!((error.kind, error.waits.len()), (ErrorKind::Approval, calls), "{outcome:#?}");
    outcome.run.unwrap()
}

const LONG: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_put_aside_ends_as_it_would_have_in_value_logs_calls_and_fuel() {
    // A run that nobody puts aside.
    let house = House::new();
    let gateway = house.process(LONG);
    let run = tokio::spawn(async move { execute(&gateway, WORK).await });
    while !run.is_finished() {
        house.decide_all().await;
        tokio::task::yield_now().await;
    }
    let expected = run.await.unwrap();
    let value = expected.result.as_ref().unwrap().to_value().unwrap();
    assert_eq!((&value[0]["path"], &value[1]), (&json!("/last"), &json!("PolicyError")), "{value:#}");
    assert!(value[2][1].as_str().unwrap().contains("the owner said no"), "{value:#}");

    // The same, put aside twice, and resumed by others.
    let again = House::new();
    let outcome = execute(&again.process(Duration::ZERO), WORK).await;
    let run = rests(&outcome, 3);
    assert_eq!(again.sent(), ["/d1", "/d2"]);
    assert_eq!(again.state_of(run).await, RunState::Resting);
    let error = outcome.result.unwrap_err();
    let hint = error.hint.unwrap();
    assert!(
        error.message.contains("fs.write_file (rule 'writes'), 3 times") && hint.contains(&run.to_string()),
        "{hint}"
    );
    // Nobody has decided: nothing is started again.
    assert_eq!(rests(&resume(&again.process(Duration::ZERO), run).await, 3), run);
    assert_eq!(again.decide_all().await, 3);
    rests(&resume(&again.process(Duration::ZERO), run).await, 1);
    let mut sent = again.sent();
    sent.sort_unstable();
    assert_eq!(sent, ["/d1", "/d2", "/w1", "/w3"]);
    assert_eq!(again.decide_all().await, 1);
    let last = again.process(Duration::ZERO).with_recording(ByteSize::mib(1));
    let mut outcome = resume(&last, run).await;
    assert_eq!(outcome.result, expected.result, "{outcome:#?}");
    assert_eq!(outcome.logs, expected.logs);
    // All of it without a pause is the same run, with the same fuel.
    let Some(Recorded::Whole(recording)) = outcome.recording.take() else { panic!("it was recorded") };
    let replayed = last.replay(&Recording::read(recording).unwrap()).await.unwrap();
    assert_eq!((&replayed.result, replayed.usage.fuel), (&outcome.result, outcome.usage.fuel));
    assert_eq!((&replayed.logs, replayed.calls.len()), (&outcome.logs, outcome.calls.len()));
    assert_eq!(outcome.usage.tool_calls, expected.usage.tool_calls);
    let calls = |outcome: &Outcome| {
        let mut calls: Vec<_> = outcome
            .calls
            .iter()
            .map(|call| (call.tool.clone(), call.ok, call.error.clone(), call.verdict, call.rule.clone()))
            .collect();
        // Answers of concurrent calls come in any order.
        calls[2..5].sort_by_key(|call| call.1);
        calls
    };
    assert_eq!(calls(&outcome), calls(&expected));
    assert_eq!(again.sent()[4..], ["/last", "/d3"]);
    // It is over: its suspended state is gone, and its calls are in the ledger once.
    assert_eq!(again.state_of(run).await, RunState::Ok);
    assert_eq!(again.owner.resting_bytes().await.unwrap(), 0);
    assert_eq!(again.owner.run(run).await.unwrap().unwrap().1.len(), 8);
    let error = resume(&again.process(Duration::ZERO), run).await.result.unwrap_err();
    assert!(error.message.contains("it is over"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_for_the_same_again_while_it_waits_gets_the_same_run() {
    let house = House::new();
    let source = "return (await fs.write_file({ path: '/w1', content: '' })).got.path";
    let run = rests(&execute(&house.process(Duration::ZERO), source).await, 1);
    assert_eq!(rests(&execute(&house.process(Duration::ZERO), source).await, 1), run);
    assert_eq!(house.open().await.len(), 1, "it is asked once");
    // Another principal, another source, other limits: other runs.
    let other = house.process(Duration::ZERO).with_asker(Asker::new(Some("ci"), None));
    assert_ne!(rests(&execute(&other, source).await, 1), run);
    assert_ne!(rests(&execute(&house.process(Duration::ZERO), &format!("{source};")).await, 1), run);
    let limits = LimitsPatch { max_calls: Some(5), ..LimitsPatch::default() };
    assert_ne!(rests(&house.process(Duration::ZERO).execute(source.to_owned()).limits(&limits).await, 1), run);
    // To other principals it does not exist.
    let error = resume(&other, run).await.result.unwrap_err();
    assert!(error.message.contains("there is no such run"), "{error}");
    house.decide_all().await;
    let outcome = execute(&house.process(Duration::ZERO), source).await;
    assert_eq!((outcome.run, outcome.result.unwrap().as_str()), (Some(run), "\"/w1\""));
    assert_eq!(house.sent(), ["/w1"]);
    // It is over, and only its own principal learns that.
    let error = resume(&other, run).await.result.unwrap_err();
    assert!(error.message.contains("there is no such run"), "{error}");
    let error = resume(&house.process(Duration::ZERO), run).await.result.unwrap_err();
    assert!(error.message.contains("over"), "{error}");
    // Once it is over, the same request is another run.
    assert_ne!(rests(&execute(&house.process(Duration::ZERO), source).await, 1), run);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_be_put_aside_is_told_so_and_its_calls_are_not_sent() {
    let source = "try { await fs.write_file({ path: '/w1', content: '' }) } catch (error) { return error.message }";
    for (level, max, reason) in [
        (LedgerLevel::Off, ByteSize::mib(1), "nothing is kept of it, since the ledger is off"),
        (
            LedgerLevel::Calls,
            ByteSize::b(10),
            "the runs that wait have 27 bytes, with their questions to the owner; the limit is 10 B",
        ),
    ] {
        let house = House::new();
        let outcome = execute(&house.process_with(Duration::ZERO, RULES, level, max), source).await;
        let value = outcome.result.unwrap();
        assert!(value.as_str().contains("the run cannot be put aside until they do"), "{value:?}");
        assert!(value.as_str().contains(reason), "{value:?}");
        assert!(house.sent().is_empty());
        while !house.open().await.is_empty() {
            tokio::task::yield_now().await;
        }
    }
    let house = House::new();
    let large = format!("await fs.list_directory({{ path: 'x'.repeat(600000) }}); {source}");
    let value = execute(&house.process(Duration::ZERO), &large).await.result.unwrap();
    assert!(value.as_str().contains("what it took in is too large to be kept"), "{value:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_while_a_run_waited_is_judged_when_it_goes_on() {
    let source = "try { return (await fs.write_file({ path: '/w1', content: '' })).got.path } catch (error) { return error.message }";
    let deny = "default = 'allow'\n[[rule]]\nid = 'never'\ntools = 'fs.write_file'\nthen = 'deny'\n";
    let allow = "default = 'allow'\n[[rule]]\nid = 'other'\ntools = 'fs.list_directory'\nthen = 'ask'\n";
    let other = RULES.replace("'writes'", "'others'");
    for (rules, approve, says) in [
        (deny, true, "fs.write_file is denied by rule 'never' of the owner"),
        // A person's no stays valid, whatever the rules say now.
        (allow, false, "the owner said no"),
        (allow, true, "\"/w1\""),
        (other.as_str(), true, "another rule of the owner asks now"),
    ] {
        let house = House::new();
        let run = rests(&execute(&house.process(Duration::ZERO), source).await, 1);
        let id = house.open().await[0].id;
        house.decide(id, approve).await;
        let outcome =
            resume(&house.process_with(Duration::ZERO, rules, LedgerLevel::Calls, ByteSize::mib(1)), run).await;
        let value = outcome.result.unwrap();
        assert!(value.as_str().contains(says), "{says}: {value:?}");
        assert_eq!(house.sent().len(), usize::from(says.contains("/w1")), "{says}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_slot_others_want_is_put_aside_at_once() {
    let house = House::new();
    let gateway = house.process(LONG);
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    let gateway = Gateway::new(gateway.toolbox().clone(), sandbox, Limits::default()).with_approvals(Approvals {
        desk: None,
        by_command: true,
        allow_yes: false,
        wait: LONG,
        hold: LONG,
        max_resting: ByteSize::mib(1),
    });
    let waits = gateway.clone();
    let waits = tokio::spawn(async move { execute(&waits, "await fs.write_file({ path: '/w1', content: '' })").await });
    while house.open().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(execute(&gateway, "1").await.result.unwrap().as_str(), "1");
    rests(&waits.await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_who_go_on_with_a_run_at_once_one_does() {
    let house = House::new();
    let source = "return (await fs.write_file({ path: '/w1', content: '' })).got.path";
    let run = rests(&execute(&house.process(Duration::ZERO), source).await, 1);
    house.decide_all().await;
    let processes: Vec<Gateway> = (0..8).map(|_| house.process(Duration::ZERO)).collect();
    let all = futures::future::join_all(processes.iter().map(|gateway| resume(gateway, run))).await;
    let ok = all.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!((ok, house.sent()), (1, vec!["/w1".to_owned()]), "{all:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_goes_on_from_is_sealed_and_forgotten_with_it() {
    let house = House::new();
    let secret = "a-secret-that-nobody-reads";
    let source =
        format!("await fs.read_text_file({{ path: '/{secret}' }}); await fs.write_file({{ path: '/x', content: '' }})");
    let run = rests(&execute(&house.process(Duration::ZERO), &source).await, 1);
    let found = || {
        let files = std::fs::read_dir(house.folder.path()).unwrap().filter_map(Result::ok);
        let texts = files.filter_map(|file| std::fs::read(file.path()).ok());
        texts.filter(|text| text.windows(secret.len()).any(|bytes| bytes == secret.as_bytes())).count()
    };
    assert_eq!(found(), 0, "its source and its arguments are nowhere to be read");
    assert!(house.owner.resting_bytes().await.unwrap() > 0);
    // With another key it cannot be read.
    std::fs::write(house.folder.path().join("ledger.key"), [7; 32]).unwrap();
    house.decide_all().await;
    let error = resume(&house.process(Duration::ZERO), run).await.result.unwrap_err();
    assert!(error.message.contains("cannot be opened"), "{error}");
    assert_eq!(house.sent(), [format!("/{secret}")]);
    house.owner.purge(belljar_ledger::Purge::Runs(vec![run])).await.unwrap();
    assert_eq!(house.owner.resting_bytes().await.unwrap(), 0);
    assert!(house.owner.runs(Filter { limit: 9, ..Filter::default() }).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_time_is_over_goes_on_with_an_error() {
    let house = House::new();
    let gateway = house.process(Duration::ZERO);
    let approvals = Approvals {
        desk: None,
        by_command: true,
        allow_yes: false,
        wait: Duration::from_secs(6),
        hold: Duration::ZERO,
        max_resting: ByteSize::mib(1),
    };
    let source = "await fs.write_file({ path: '/w1', content: '' })";
    let run = rests(&execute(&gateway.with_approvals(approvals), source).await, 1);
    let id = house.open().await[0].id;
    // It waits itself until that is over.
    let approvals = Approvals { hold: LONG, ..approvals };
    let error = resume(&gateway.with_approvals(approvals), run).await.result.unwrap_err();
    assert!(error.message.contains("the owner was asked and did not decide within 6 s"), "{error}");
    assert_eq!(house.owner.question_states(vec![id]).await.unwrap()[0].1, State::Expired);
    assert!(house.sent().is_empty());
}

// From here on with the program itself.

#[test]
fn a_client_goes_on_with_a_run_by_its_name_after_a_restart() {
    let (terminal, config) = asking("[approvals]\nhold = '100ms'\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let answer = client.receive();
    let outcome = &answer["result"]["structuredContent"];
    assert_eq!(outcome["error"]["kind"], "approval", "{answer:#}");
    assert_eq!(outcome["error"]["waits"][0]["tool"], "demo.update_issue");
    let run = outcome["run"].as_str().unwrap().to_owned();
    let id = waiting(&terminal)["id"].take();
    let text = answer.to_string();
    assert!(!text.contains(id.as_str().unwrap()) && !text.contains("belljar approve"), "{text}");
    let listed = terminal.belljar(&["runs", "--json"]).json();
    assert_eq!(listed["runs"][0]["state"], "resting", "{listed:#}");
    // No process keeps anything of it.
    drop(client);
    let mut client = Client::of(&terminal, &config, json!({}));
    let mut go_on = |arguments: Value| {
        let call = json!({ "name": "execute_code", "arguments": arguments });
        client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
        client.receive()["result"]["structuredContent"].take()
    };
    assert_eq!(go_on(json!({ "run": run }))["error"]["kind"], "approval");
    assert_eq!(go_on(json!({ "run": run, "code": "1" }))["error"]["kind"], "usage");
    assert_eq!(go_on(json!({ "run": "r_0000000000001" }))["error"]["kind"], "usage");
    let answer = terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(go_on(json!({ "run": run }))["value"], "closed");
    assert_eq!(go_on(json!({ "run": run }))["error"]["kind"], "usage");
}

#[test]
fn a_command_without_a_terminal_waits_with_exit_code_4_and_goes_on_by_another() {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let run = |arguments: &[&str]| {
        Answer::of(terminal.command(&[arguments, &["--no-daemon", "--config", &config]].concat()).output().unwrap())
    };
    let answer = run(&["run", "--code", CLOSE]);
    assert_eq!(answer.code, 4, "{answer:?}");
    let name = answer.stderr.split("belljar resume ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(answer.stdout, "");
    let id = waiting(&terminal)["id"].take();
    assert_eq!(terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
    let answer = run(&["resume", &name, "--json"]);
    assert_eq!((answer.code, &answer.json()["value"]), (0, &json!("closed")));
    let answer = run(&["resume", &name]);
    assert!(answer.code == 2 && answer.stderr.contains("it is over"), "{answer:?}");
}

#[test]
fn whoever_resumes_a_run_at_a_terminal_is_asked_there() {
    let (terminal, config) = asking("");
    let arguments = ["run", "--code", CLOSE, "--json", "--no-daemon", "--config", &config];
    let answer = Answer::of(terminal.command(&arguments).output().unwrap());
    let run = answer.json()["run"].as_str().unwrap().to_owned();
    let mut person = Person::at(&terminal.command(&["resume", &run, "--no-daemon", "--config", &config]));
    person.sees("send it? type yes or no: ");
    person.types("yes");
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("closed"), "{code}\n{shown}");
}
