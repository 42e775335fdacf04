//! The second wall: scripts run in a confined process of belljar. Everything that is guaranteed
//! within one process is guaranteed here too, and when that process ends, only its runs end.

use std::{sync::Arc, time::Duration};

use belljar_engine::{Engine, EngineError, ProcessEngine};
use belljar_model::{ByteSize, Effect, ErrorKind, Limits, Outcome, Recorded};
use belljar_recording::{Entry, Writer};
use belljar_sandbox::{Program, Recording, SandboxOptions, ToolSet, Tools};
use belljar_testkit::{is_gone_within, is_running};
use belljar_worker::WorkerProgram;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::{
    dead_children::{child, without},
    support::{self, Terminal, belljar, tools},
};

const MOMENT: Duration = Duration::from_secs(10);

fn program() -> WorkerProgram {
    WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] }
}

async fn engine() -> Arc<ProcessEngine> {
    let engine = ProcessEngine::start(program(), SandboxOptions::default()).await;
    Arc::new(engine.unwrap_or_else(|fault| panic!("{fault}")))
}

async fn run(engine: &ProcessEngine, source: &str) -> Outcome {
    run_with(engine, Program::new(source), &Limits::default(), tools()).await
}

async fn run_with(engine: &ProcessEngine, program: Program, limits: &Limits, tools: ToolSet) -> Outcome {
    engine.run(program).limits(limits).tools(Arc::new(tools)).await
}

fn value(outcome: &Outcome) -> Value {
    outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
}

fn kind(outcome: &Outcome) -> ErrorKind {
    outcome.result.as_ref().expect_err("it fails").kind
}

/// What differs between runs.
fn timeless(mut outcome: Outcome) -> Outcome {
    (outcome.usage.wall_ms, outcome.usage.guest_ms, outcome.usage.wait_ms) = (None, None, None);
    // How many answers were there at once depends on their arrival.
    outcome.usage.peak_held_bytes = None;
    for call in &mut outcome.calls {
        call.ms = 0.0;
    }
    outcome
}

/// Scripts of every kind, with their use of tools, errors and limits.
const SCRIPTS: &[&str] = &[
    "1 + 1",
    "const all = await Promise.all([1, 2, 3].map(i => box.add({ a: i, b: i }))); console.log('done', all); return all",
    "const x: number[] = [1, 2]; return x.map(each => each ** 2)",
    "await box.fail({ message: 'no' })",
    "try { await box.fail({ message: 'no' }) } catch (error) { return [error.name, error.message, error.server, error.tool] }",
    "await box.fail()",
    "return missing.thing",
    "return (",
    "await new Promise(() => {})",
    "for (let i = 0; i < 10; i++) await box.add({ a: i, b: 1 });\nthrow new Error('late')",
    "const raw = await tools.raw('box.echo', { a: 'ö' }); return raw.structuredContent",
    "return [await tools.list(), await tools.list('box'), await tools.search('add'), await tools.describe('box.echo')]",
    "return await tools.list('bocks').catch(error => error.message)",
    "return box.ecko({})",
    "return 'x'.repeat(300_000)",
    "console.log('x'.repeat(70_000)); console.warn('over'); return 1",
    "setTimeout(() => console.log('never'), 50); return Promise.race([box.wait({ ms: 1 }), box.wait({ ms: 10_000 })])",
    "return Math.random()",
];

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn an_outcome_is_the_same_within_the_process_and_apart_from_it() {
    let apart = engine().await;
    for source in SCRIPTS {
        let limits = Limits { timeout: Duration::from_secs(20), fuel: 5_000_000_000, ..Limits::default() };
        let program = Program::new(*source).with_seed([7; 32]);
        let there = run_with(&apart, program.clone(), &limits, tools()).await;
        // Which of several answers comes first depends on the threads of either process.
        let program = program.with_order(there.order.clone());
        let here = support::sandbox().run(program).limits(&limits).tools(Arc::new(tools())).await;
        assert_eq!(timeless(there), timeless(here), "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_recorded_order_is_followed_in_the_other_process_with_the_same_fuel() {
    let apart = engine().await;
    let source =
        "return Promise.all([...Array(20).keys()].map(i => box.wait({ ms: (i * 7) % 20 }).then(ms => [i, ms])))";
    let first = run_with(&apart, Program::new(source).with_seed([7; 32]), &Limits::default(), tools()).await;
    assert_eq!(first.order.len(), 20, "{first:#?}");
    let program = Program::new(source).with_seed([7; 32]).with_order(first.order.clone());
    let again = run_with(&apart, program.clone(), &Limits::default(), tools()).await;
    let here = support::sandbox().run(program).tools(Arc::new(tools())).await;
    for other in [again, here] {
        assert_eq!((other.order, other.usage.fuel), (first.order.clone(), first.usage.fuel));
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_recorded_in_the_other_process_is_replayed_in_this_one() {
    let engine = engine().await;
    for source in [
        "console.log(Math.random(), Date.now()); return await Promise.all([box.echo({ a: 1 }), box.add({ a: 1, b: 2 })])",
        "await box.fail({ message: 'no' })",
        "box.wait({ ms: 1 }); box.wait({ ms: 20000 }); await box.echo({}); throw new Error('early')",
        "try { await box.echo(1) } catch (e) { return e.name + tools.list().length }",
    ] {
        let program = Program::new(source).with_recording(ByteSize::mib(1));
        let mut run = run_with(&engine, program, &Limits::default(), tools()).await;
        let Some(Recorded::Whole(bytes)) = run.recording.take() else { panic!("{source}\n{run:#?}") };
        let recording = Recording::read(bytes).unwrap();
        let replay = support::sandbox().replay(&recording, &Limits::default()).await;
        let replay = replay.unwrap_or_else(|error| panic!("{source}\n{error}"));
        assert_eq!(replay.usage.fuel, run.usage.fuel, "{source}");
        assert_eq!((replay.result, replay.logs, replay.calls), (run.result, run.logs, run.calls), "{source}");
    }
}

/// A recording of a run in this process.
async fn recorded(source: &str) -> (Outcome, Recording) {
    let program = Program::new(source).with_recording(ByteSize::mib(1));
    let mut run = support::sandbox().run(program).tools(Arc::new(tools())).await;
    let Some(Recorded::Whole(bytes)) = run.recording.take() else { panic!("{source}\n{run:#?}") };
    (run, Recording::read(bytes).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_recorded_run_is_repeated_in_the_other_process_and_what_differs_is_named() {
    let apart = engine().await;
    let pid = apart.pid();
    for source in SCRIPTS {
        let (run, recording) = recorded(source).await;
        let replay = apart.replay(&recording, &Limits::default()).await;
        let replay = replay.unwrap_or_else(|error| panic!("{source}\n{error}"));
        assert_eq!((replay.usage.fuel, &replay.order), (run.usage.fuel, &run.order), "{source}");
        assert_eq!((replay.result, replay.logs, replay.calls), (run.result, run.logs, run.calls), "{source}");
    }

    // What applies to a recording made here applies to one made there.
    let (_, recording) = recorded("console.log('a'); return (await box.echo({ n: 1 })).n").await;
    let mut other = recording.start().clone();
    other.source = other.source.replace("n: 1", "n: 2");
    other.engine.component = [0; 32];
    let mut writer = Writer::new(&other, ByteSize::mib(1));
    for entry in recording.entries() {
        match entry {
            Entry::Directory { namespace, listing } => {
                writer
                    .directory(namespace, listing.map(|listing| listing.properties().collect::<Vec<_>>().into_iter()));
            }
            Entry::Call { number, server, tool, arguments, fuel } => {
                writer.call(number, server, tool, arguments, fuel);
            }
            Entry::Answer { number, answer, kept } => writer.answer(number, answer, kept),
            _ => {}
        }
    }
    let other = Recording::read(writer.end(recording.end().unwrap()).unwrap()).unwrap();
    let (_, endless) = recorded("let i = 0; while (i < 5e6) i++; return 1").await;
    let short = Limits { compute: Duration::from_millis(50), ..Limits::default() };
    let small = Limits { memory: ByteSize::mib(8), ..Limits::default() };
    for (recording, ceiling, why) in [
        (
            &other,
            &Limits::default(),
            r#"the recording has call 0, box.echo {"n":1}, the replay call 0, box.echo {"n":2}"#,
        ),
        (&endless, &short, "the replay met the limit 'compute'"),
        (&recording, &small, "limit 'memory'"),
    ] {
        let there = apart.replay(recording, ceiling).await.unwrap_err().to_string();
        assert!(there.contains(why), "{there}");
        let here = support::sandbox().replay(recording, ceiling).await.unwrap_err().to_string();
        // Only the error about time contains a duration.
        assert!(there == here || why.contains("compute"), "{there}\n{here}");
    }

    let source = "const { n } = await box.echo({ n: 1 }); await box.echo({ n: 2 }).catch(e => console.log(e.message)); return n + 1";
    let there = apart.rehearse(source, &recording, &Limits::default()).await.unwrap();
    let here = support::sandbox().rehearse(source, &recording, &Limits::default()).await.unwrap();
    assert_eq!(value(&there), 2);
    assert_eq!(timeless(there), timeless(here));
    assert_eq!(apart.pid(), pid, "no recording ends the process");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn every_limit_holds_in_the_other_process() {
    let apart = engine().await;
    let small = Limits { fuel: 1_000_000_000, memory: ByteSize::mib(32), max_calls: 5, ..Limits::default() };
    for (source, expected) in [
        ("for (;;) {}", ErrorKind::Fuel),
        ("const a = []; for (;;) a.push('x'.repeat(1000) + a.length)", ErrorKind::Memory),
        ("const f = () => f() + 1; return f()", ErrorKind::Stack),
        ("for (;;) await box.echo({})", ErrorKind::Calls),
    ] {
        let outcome = run_with(&apart, Program::new(source), &small, tools()).await;
        assert_eq!(kind(&outcome), expected, "{source}: {outcome:#?}");
    }
    // Only these end by time, so that no other limit depends on a busy machine.
    let hasty = Limits {
        fuel: u64::MAX / 2,
        timeout: Duration::from_millis(500),
        compute: Duration::from_millis(300),
        ..small
    };
    for source in ["for (;;) {}", "await box.wait({ ms: 60_000 })"] {
        let outcome = run_with(&apart, Program::new(source), &hasty, tools()).await;
        assert_eq!(kind(&outcome), ErrorKind::Timeout, "{source}: {outcome:#?}");
    }
    assert_eq!(value(&run(&apart, "return 1").await), 1, "the process is as good as new");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_thousand_runs_go_through_one_process() {
    let apart = engine().await;
    let pid = apart.pid().unwrap();
    for batch in 0..20 {
        let runs = (0..50).map(|i| {
            let (apart, n) = (apart.clone(), batch * 50 + i);
            tokio::spawn(async move { run(&apart, &format!("return (await box.add({{ a: {n}, b: 1 }}))")).await })
        });
        for (i, outcome) in futures::future::join_all(runs).await.into_iter().enumerate() {
            assert_eq!(value(&outcome.unwrap()), json!(batch * 50 + i + 1));
        }
    }
    assert_eq!(apart.pid(), Some(pid));
    assert_eq!(threads_and_files(pid).1, 0, "no descriptor is left to be opened");
}

/// The threads of a process, and its limit on descriptors.
fn threads_and_files(pid: u32) -> (usize, u64) {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    (threads, files.split_whitespace().nth(3).unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn every_thread_of_the_engines_process_is_behind_the_walls() {
    let apart = engine().await;
    let pid = apart.pid().unwrap();
    assert_eq!(value(&run(&apart, "return 1").await), 1);
    let mut seen = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t2"] {
            assert!(status.contains(line), "{line}: {status}");
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen} threads");
    // Its pipes, tokio's handles, and the one for resetting slots: no readable file, no socket.
    for file in std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let target = std::fs::read_link(file.unwrap().path()).unwrap();
        let target = target.to_str().unwrap();
        let is_known = ["pipe:", "anon_inode:[event", "/memfd:"].iter().any(|known| target.starts_with(known))
            || target == format!("/proc/{pid}/pagemap")
            // tokio uses these to receive signals, none of which is handled here.
            || target.starts_with("socket:");
        assert!(is_known, "{target}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn when_the_process_is_killed_its_runs_are_internal_and_the_next_one_gets_another() {
    let apart = engine().await;
    let first = apart.pid().unwrap();
    let begun = Arc::new(Notify::new());
    let told = begun.clone();
    let tools = tools().with("far", "hang", Effect::Mutating, move |_| {
        let told = told.clone();
        async move {
            told.notify_one();
            std::future::pending().await
        }
    });
    let running = apart.clone();
    let source = "await box.echo({ a: 1 }); console.log('x'); await far.hang({})";
    let run_of_it =
        tokio::spawn(async move { run_with(&running, Program::new(source), &Limits::default(), tools).await });
    let running = apart.clone();
    let other = tokio::spawn(async move { run(&running, "for (;;) await 0").await });
    begun.notified().await;
    kill(first);
    let outcome = run_of_it.await.unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.message.contains("the engine's process ended (signal: 9"), "{}", error.message);
    let calls: Vec<_> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("echo", true), ("hang", false)]);
    assert_eq!(kind(&other.await.unwrap()), ErrorKind::Internal);
    assert_eq!(value(&run(&apart, "return 2").await), 2);
    assert_ne!(apart.pid(), Some(first));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_process_that_ends_again_and_again_is_not_started_without_end() {
    let apart = engine().await;
    for _ in 0..5 {
        let pid = apart.pid().unwrap();
        kill(pid);
        assert!(is_gone_within(pid, MOMENT));
        // Until the end is noticed, a run may still be given to the dead process; it then ends as
        // internal.
        while apart.pid().is_some() {
            tokio::task::yield_now().await;
        }
        let outcome = run(&apart, "return 1").await;
        if let Err(error) = &outcome.result {
            assert!(error.message.contains("has ended 5 times"), "{error:#?}");
            assert!(error.retry_after_ms.is_some_and(|after| after > 0 && after <= 60_000), "{error:#?}");
            return;
        }
    }
    panic!("it was started a sixth time");
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_cancelled_run_ends_in_the_other_process_and_keeps_what_it_did() {
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let apart = ProcessEngine::start(program(), options).await.unwrap();
    let (cancel, cancelled) = oneshot::channel::<()>();
    let limits = Limits { compute: Duration::from_secs(60), ..Limits::default() };
    let cancel = parking_lot::Mutex::new(Some(cancel));
    let tools = tools().with("far", "done", Effect::ReadOnly, move |_| {
        drop(cancel.lock().take());
        std::future::ready(Ok(Value::Null))
    });
    let cancelled = async { drop(cancelled.await) };
    let source = "console.log('here'); await far.done({}); for (;;) {}";
    let outcome = apart.run(Program::new(source)).limits(&limits).tools(Arc::new(tools)).cancel_on(cancelled).await;
    assert_eq!(kind(&outcome), ErrorKind::Cancelled);
    assert_eq!(outcome.logs.len(), 1);
    assert_eq!(outcome.calls.len(), 1);
    // The only slot is free again.
    assert_eq!(value(&run(&apart, "return 1").await), 1);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_that_is_dropped_frees_its_slot_in_the_other_process() {
    let options = SandboxOptions { max_live: 1, max_queued: 1, ..SandboxOptions::default() };
    let apart = Arc::new(ProcessEngine::start(program(), options).await.unwrap());
    for _ in 0..20 {
        let (told, begun) = oneshot::channel::<()>();
        let told = parking_lot::Mutex::new(Some(told));
        let tools = tools().with("far", "begun", Effect::ReadOnly, move |_| {
            drop(told.lock().take());
            std::future::pending()
        });
        let running = apart.clone();
        let dropped = tokio::spawn(async move {
            run_with(&running, Program::new("await far.begun({})"), &Limits::default(), tools).await
        });
        drop(begun.await);
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        assert_eq!(value(&run(&apart, "return 1").await), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn large_arguments_results_and_values_cross_in_both_directions() {
    let apart = engine().await;
    let tools = ToolSet::new().with("far", "large", Effect::ReadOnly, |arguments| {
        let bytes = arguments.get("text").and_then(Value::as_str).map_or(0, str::len);
        std::future::ready(Ok(json!({ "bytes": bytes, "text": "ö".repeat(2_000_000) })))
    });
    let source = "
        const all = await Promise.all([...Array(6)].map(() => far.large({ text: 'x'.repeat(1_000_000) })));
        return [all.map(each => each.bytes), all.map(each => each.text.length), 'y'.repeat(250_000)]";
    let outcome = run_with(&apart, Program::new(source), &Limits::default(), tools).await;
    let value = value(&outcome);
    assert_eq!(value[0], json!([1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000]));
    assert_eq!(value[1], json!([2_000_000, 2_000_000, 2_000_000, 2_000_000, 2_000_000, 2_000_000]));
    assert_eq!(value[2].as_str().map(str::len), Some(250_000));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn clients_take_turns_in_the_other_process_too() {
    let options = SandboxOptions { max_live: 1, max_queued: 2, ..SandboxOptions::default() };
    let apart = ProcessEngine::start(program(), options).await.unwrap();
    let source = "await box.wait({ ms: 300 }); return 1";
    let begun = ["greedy", "greedy", "greedy", "modest"].map(|client| {
        let program = Program::new(source).with_client(client);
        async { run_with(&apart, program, &Limits::default(), tools()).await }
    });
    // One runs and two wait, so one is rejected: of the client with the most in the queue.
    let ends = futures::future::join_all(begun).await;
    assert!(ends.last().is_some_and(Outcome::is_ok));
    let busy: Vec<_> = ends.iter().filter(|end| !end.is_ok()).map(kind).collect();
    assert_eq!(busy, [ErrorKind::Busy]);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_process_ends_with_its_engine() {
    let apart = engine().await;
    let pid = apart.pid().unwrap();
    assert!(is_running(pid));
    drop(apart);
    assert!(is_gone_within(pid, MOMENT));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_is_no_engine_is_refused_at_the_start_with_the_reason() {
    let start = async |program: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(Into::into).collect();
        let program = WorkerProgram { program: program.into(), arguments };
        match ProcessEngine::start(program, SandboxOptions::default()).await {
            Ok(_) => panic!("it was taken for an engine"),
            Err(fault) => fault,
        }
    };
    assert!(matches!(start("/nonexistent/belljar", &[]).await, EngineError::Start(_)));
    for (program, arguments) in [("/bin/true", &[][..]), ("/bin/cat", &["/etc/passwd"]), ("/usr/bin/yes", &[])] {
        let fault = start(program, arguments).await;
        assert!(matches!(fault, EngineError::SetUp(_)), "{program}: {fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn where_the_kernel_lacks_a_wall_there_is_no_engine_and_the_reason_is_said() {
    for missing in ["landlock", "seccomp"] {
        let arguments = ["without", missing, belljar().to_str().unwrap(), "__engine"].map(Into::into);
        let program = WorkerProgram { program: child().to_owned(), arguments: arguments.into() };
        match ProcessEngine::start(program, SandboxOptions::default()).await {
            Err(EngineError::SetUp(reason)) => assert!(reason.contains(missing), "{reason}"),
            Err(other) => panic!("{missing}: {other}"),
            Ok(_) => panic!("there is an engine without {missing}"),
        }
    }
}

#[test]
pub(crate) fn where_the_kernel_lacks_a_wall_no_script_is_run_and_no_server_started_without_it() {
    let terminal = Terminal::new();
    let apart = terminal.file("apart.toml", "[runs]\nprocess = true\n[servers.demo]\nbuiltin = 'demo'\n");
    let server =
        format!("[servers.walled]\ncommand = {:?}\nargs = ['echo']\nsandbox = {{ network = false }}\n", child());
    let walled = terminal.file("walled.toml", server);
    for missing in ["landlock", "seccomp"] {
        let run = |config: &std::path::Path, code: &str| {
            let whole = terminal.command(&["run", "--json", "--config", config.to_str().unwrap(), "--code", code]);
            crate::support::Answer::of(without(missing, &whole).output().unwrap())
        };
        let answer = run(&apart, "return 1");
        assert_eq!(answer.code, 2, "{answer:#?}");
        assert!(answer.stdout.contains(&format!("{missing} cannot")), "{answer:#?}");
        let answer = run(&walled, "return await walled.echo({ text: 'x' })");
        assert_eq!(answer.code, 1, "{answer:#?}");
        assert!(answer.stdout.contains(&format!("{missing} cannot")), "{answer:#?}");
        let answer = run(&walled, "return 1");
        assert_eq!(answer.code, 0, "nothing else is in the way: {answer:#?}");
    }
}

#[test]
pub(crate) fn runs_of_every_command_are_in_the_confined_process_where_the_configuration_says_so() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[runs]\nprocess = true\n[servers.demo]\nbuiltin = 'demo'\n");
    let config = config.to_str().unwrap();
    let code = "return (await tools.list('demo')).length > 0";
    let answer = terminal.belljar(&["run", "--config", config, "--json", "--code", code]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(answer.json()["value"], true, "{answer:#?}");
    // And its repeats.
    let code = "console.log(Math.random()); return await demo.list_projects({})";
    let run = terminal.belljar(&["run", "--config", config, "--json", "--code", code, "--record", "run.belljar"]);
    let replay = terminal.belljar(&["replay", "run.belljar", "--config", config, "--json"]);
    for part in ["ok", "value", "logs", "calls"] {
        assert_eq!(replay.json()[part], run.json()[part], "{part}: {replay:?}");
    }
    let doctor = terminal.belljar(&["doctor", "--config", config]);
    assert!(doctor.stdout.contains("runs scripts in a confined process of their own"), "{doctor:#?}");
    assert!(doctor.stdout.contains("memory of scripts"), "{doctor:#?}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn one_engine_type_serves_both_ways() {
    for engine in [Engine::from(engine().await), Engine::from(support::sandbox().clone())] {
        let tools: Arc<dyn Tools> = Arc::new(tools());
        let outcome = engine.run(Program::new("return 3")).tools(tools).await;
        assert_eq!(value(&outcome), 3);
    }
}

#[test]
pub(crate) fn a_configured_server_is_walled_in_and_cannot_reach_the_daemon() {
    let terminal = Terminal::with_daemon();
    // It is stored where the walls allow reading it, and lists the folder of the daemon's socket.
    let script = terminal.file(
        "server.py",
        r#"
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    def seen(path):
        try:
            return os.listdir(path)
        except OSError as error:
            return error.strerror
    def changed(path):
        try:
            return os.chmod(path, 0o600)
        except OSError as error:
            return error.strerror
    result = {
        "initialize": lambda: {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "0"}},
        "tools/list": lambda: {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
        "tools/call": lambda: {"content": [], "structuredContent": {each: seen(each) for each in sys.argv[1:]} | {"chmod": changed(__file__)}},
    }.get(message["method"], lambda: {})()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#,
    );
    let folder = terminal.folder.path().to_str().unwrap();
    let (sockets, given) = (format!("{folder}/belljar"), format!("{folder}/given"));
    std::fs::create_dir(&given).unwrap();
    let config = terminal.file(
        "belljar.toml",
        format!(
            "[servers.free]\ncommand = '/usr/bin/python3'\nargs = [{script:?}, {sockets:?}, {given:?}, {folder:?}]\n\
             [servers.walled]\ncommand = '/usr/bin/python3'\nargs = [{script:?}, {sockets:?}, {given:?}, {folder:?}]\n\
             sandbox = {{ read = [{script:?}, 'given', 'belljar'] }}\n"
        ),
    );
    let look = |server: &str| {
        let code = format!("return {server}.look({{}})");
        let answer = terminal.belljar(&["run", "--config", config.to_str().unwrap(), "--json", "--code", &code]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        answer.json()["value"].clone()
    };
    let (free, walled) = (look("free"), look("walled"));
    let stopped = terminal.belljar(&["daemon", "stop", "--config", config.to_str().unwrap()]);
    assert_eq!(stopped.code, 0, "{stopped:#?}");
    assert!(free[&sockets].as_array().is_some_and(|files| !files.is_empty()), "{free:#}");
    assert_eq!(walled[&sockets], json!([]), "the folder of the daemon's socket is empty to it");
    assert_eq!(walled[&given], json!([]));
    assert_eq!(walled[folder], "Permission denied");
    assert_eq!((&free["chmod"], &walled["chmod"]), (&Value::Null, &json!("Read-only file system")));
}
