//! A run can be put aside wherever it waits: each program of `tests/scripts`, put aside before each
//! answer that it gets, ends as it does without a pause.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision, Question};
use belljar_gateway::{Approvals, Gateway, RunLedger};
use belljar_ledger::{Ledger, Options, QuestionFilter, SqliteLedger};
use belljar_model::{ByteSize, CallRecord, ErrorKind, LedgerKeep, LedgerLevel, Limits, Outcome, Recorded};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::{Image, Recording, Sandbox, SandboxOptions};
use serde_json::{Value, json};

use crate::{
    real_servers::{filesystem, memory},
    scripts::{LANGUAGES, World, corpus, essence, files, name},
    stub_server::gateway_over_all,
    support::{Answer, Terminal, copy_folder},
};

/// The least number of hand-overs of answers: a test without any proves nothing.
const HAND_OVERS: usize = 120;
/// How long a call stays open in a run that does not rest because of a timer.
const PATIENCE: Duration = Duration::from_secs(4);
const ROOM: ByteSize = ByteSize::mib(16);

/// The servers of the scripts, and an owner who is asked about each call.
struct Asked {
    world: World,
    /// The same, whose owner allows each call.
    plain: World,
    owner: Arc<SqliteLedger>,
    _folder: tempfile::TempDir,
}

impl Asked {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let owner =
            Arc::new(SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() }));
        let kept = RunLedger {
            ledger: owner.clone(),
            required: false,
            level: LedgerLevel::Calls,
            max_recording: ROOM,
            redact: Arc::default(),
        };
        let rules = |rules: &str| {
            Arc::new(Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}")))
        };
        let (asks, allows) = (rules("default = 'ask'\n"), rules("default = 'allow'\n"));
        let world = World::of(|stubs, others| gateway_over_all(stubs, others, asks, kept.clone()));
        // The cost of texts depends on their contents, such as the name of a folder.
        let plain = world.beside(|stubs, others| gateway_over_all(stubs, others, allows, kept.clone()));
        Self { world, plain, owner, _folder: folder }
    }

    /// A gateway whose runs are put aside as soon as they rest. It has no memory of any run: its
    /// sandbox is new.
    fn gateway(&self) -> Gateway {
        let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
        let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
        let (wait, hold, max_resting) = (Duration::from_secs(600), Duration::ZERO, ByteSize::mib(64));
        let limits = Limits { max_calls: 200, ..Limits::default() };
        Gateway::new(self.world.gateway.toolbox().clone(), sandbox, limits)
            .with_approvals(Approvals { desk: None, by_command: true, allow_yes: false, wait, hold, max_resting })
            .with_recording(ROOM)
    }

    /// The question about the first open call.
    async fn first(&self) -> Option<Question> {
        let filter = QuestionFilter { open: true, ..QuestionFilter::default() };
        let open = self.owner.questions(filter).await.unwrap().into_iter().map(|kept| kept.question);
        open.min_by_key(|question| question.binding.number)
    }

    async fn approve(&self, question: &Question) {
        let decision = Decision { approve: true, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
        self.owner.change_question(Change::Decide(question.id, decision)).await.unwrap().unwrap();
    }

    /// Does the work of a run that does not rest, and approves its first call if that has waited
    /// for long.
    async fn approving(&self, work: impl Future<Output = Outcome>) -> Outcome {
        let approving = async {
            let mut since: Option<(Question, Instant)> = None;
            loop {
                let first = self.first().await;
                match (first, since.take()) {
                    (Some(first), Some((seen, at))) if first.id == seen.id => {
                        if at.elapsed() >= PATIENCE {
                            self.approve(&first).await;
                        } else {
                            since = Some((seen, at));
                        }
                    }
                    (first, _) => since = first.map(|first| (first, Instant::now())),
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = approving => unreachable!("it never ends"),
        }
    }

    /// The run of a script that is put aside wherever possible, and how often it was.
    async fn suspended(&self, source: &str) -> (Outcome, usize) {
        let mut outcome = self.world.run_by(&self.gateway(), source).await;
        let mut rests = 0;
        while outcome.result.as_ref().is_err_and(|error| error.kind == ErrorKind::Approval) {
            rests += 1;
            let question = self.first().await.expect("it waits for something");
            self.approve(&question).await;
            outcome = self.gateway().resume(outcome.run.unwrap()).await;
        }
        (outcome, rests)
    }
}

/// The calls of an outcome in this world, as far as they are the same each time.
fn calls(world: &World, outcome: &Outcome) -> Vec<(String, bool, Option<String>)> {
    let of = |call: &CallRecord| {
        let error = call.error.as_deref().map(|error| world.anonymous(error));
        (format!("{}.{}", call.server, call.tool), call.ok, error)
    };
    let mut calls: Vec<_> = outcome.calls.iter().map(of).collect();
    // Answers of concurrent calls come in any order.
    calls.sort();
    calls
}

#[tokio::test(flavor = "multi_thread")]
async fn every_script_that_is_put_aside_before_each_answer_ends_as_in_one_go() {
    let asked = Asked::new();
    let (mut hand_overs, mut in_one_order) = (0, 0);
    for script in files(&corpus(), &LANGUAGES) {
        let (source, name) = (fs::read_to_string(&script).unwrap(), name(&script).to_owned());
        let whole = asked.plain.run_by(&asked.plain.gateway, &source).await;
        // A run does not rest while a timer runs: this script's timer outlasts its call.
        let mut outcome = if name == "race_with_timeout" {
            asked.approving(asked.world.run_by(&asked.gateway(), &source)).await
        } else {
            let (outcome, rests) = asked.suspended(&source).await;
            assert_eq!(rests as u64, outcome.usage.tool_calls, "{name}");
            hand_overs += rests;
            outcome
        };
        let expected = fs::read_to_string(script.with_extension("expected.json")).unwrap();
        assert_eq!(asked.world.anonymous(&format!("{:#}\n", essence(&outcome))), expected, "{name}");
        assert_eq!(calls(&asked.world, &outcome), calls(&asked.plain, &whole), "{name}");
        if outcome.order == whole.order {
            assert_eq!(outcome.usage.fuel, whole.usage.fuel, "{name}");
            in_one_order += 1;
        }
        // All of it without a pause is the same run, with the same fuel.
        let Some(Recorded::Whole(recording)) = outcome.recording.take() else { panic!("{name}: {outcome:#?}") };
        let replay = asked.gateway().replay(&Recording::read(recording).unwrap()).await;
        let replay = replay.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((&replay.result, &replay.logs), (&outcome.result, &outcome.logs), "{name}");
        assert_eq!((replay.usage.fuel, &replay.order), (outcome.usage.fuel, &outcome.order), "{name}");
        assert_eq!(calls(&asked.world, &replay), calls(&asked.world, &outcome), "{name}");
    }
    assert!(hand_overs >= HAND_OVERS, "there were only {hand_overs}");
    assert!(in_one_order >= 60, "only {in_one_order} scripts had their answers in one order both times");
}

/// The same with the program itself: a process for each part of a run, and one for each decision.
#[test]
fn programs_go_on_in_a_process_of_their_own_after_each_answer() {
    let run = |script: &str| {
        let script = corpus().join(script);
        let outcome = |rules: &str| {
            let terminal = Terminal::new();
            let project = terminal.folder.path().join("project");
            copy_folder(&corpus().join("world/files"), &project);
            let mut servers =
                json!({ "fs": filesystem(&project), "memory": memory(&terminal.folder.path().join("memory")) });
            servers["fs"]["cwd"] = json!(project);
            let config = format!(
                "[approvals]\nhold = '1ms'\nallow_yes = true\n{}",
                ["fs", "memory"].map(|name| table(name, &servers[name])).join("\n")
            );
            let config = terminal.file("belljar.toml", config);
            terminal.file("policy.toml", rules);
            let config = config.to_str().unwrap();
            let belljar = |arguments: &[&str]| {
                let more = ["--no-daemon", "--json", "--config", config];
                Answer::of(terminal.command(&[arguments, &more].concat()).output().unwrap())
            };
            let mut answer = belljar(&["run", script.to_str().unwrap()]);
            let mut rests = 0;
            while answer.code == 4 {
                rests += 1;
                let open = terminal.belljar(&["approvals", "--json"]).json();
                let id = open["approvals"][0]["id"].as_str().unwrap_or_else(|| panic!("{open:#}"));
                assert_eq!(terminal.belljar(&["approve", id, "--yes"]).code, 0);
                answer = belljar(&["resume", answer.json()["run"].as_str().unwrap()]);
            }
            assert_eq!(answer.code, 0, "{answer:?}");
            (answer.json(), rests)
        };
        let (whole, none) = outcome("default = 'allow'\n");
        let (parts, rests) = outcome("default = 'ask'\n");
        assert_eq!((none, rests), (0_u64, parts["usage"]["tool_calls"].as_u64().unwrap()));
        for part in ["/value", "/logs", "/usage/fuel", "/usage/tool_calls"] {
            assert_eq!(parts.pointer(part), whole.pointer(part), "{part}: {parts:#}");
        }
    };
    std::thread::scope(|scope| {
        for script in ["write_and_read_back.js", "missing_file_is_survived.js", "memory_cleanup.js"] {
            scope.spawn(move || run(script));
        }
    });
}

/// A server in the syntax of belljar.toml.
fn table(name: &str, server: &Value) -> String {
    let lines = server.as_object().unwrap().iter().map(|(key, value)| match value {
        Value::Object(entries) => {
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{key} = {{ {} }}\n", entries.join(", "))
        }
        value => format!("{key} = {value}\n"),
    });
    format!("[servers.{name}]\n{}", lines.collect::<String>())
}
