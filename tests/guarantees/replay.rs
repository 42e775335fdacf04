//! A recorded run is repeated without its tools: with the same value, logs, calls and fuel. A
//! difference is named before it has any effect.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use belljar_model::{ByteSize, Effect, ErrorKind, Limits, LimitsPatch, Outcome, Recorded};
use belljar_recording::{
    Answer, Cause, End, Entry, Property, Start, Writer,
    fixture::{Fixture, Match},
};
use belljar_sandbox::{Image, Program, Recording, ReplayError, Sandbox, SandboxOptions, ToolSet};
use serde_json::{Value, json};

use crate::{determinism, scripts::assert_repeated, support};

const ROOM: ByteSize = ByteSize::mib(16);

/// Runs a script and records it.
async fn recorded(source: &str, limits: &Limits, tools: ToolSet) -> (Outcome, Recording) {
    let program = Program::new(source).with_recording(ROOM);
    finished(support::sandbox().run(program).limits(limits).tools(Arc::new(tools)).await)
}

fn finished(mut outcome: Outcome) -> (Outcome, Recording) {
    match outcome.recording.take() {
        Some(Recorded::Whole(bytes)) => (outcome, Recording::read(bytes).unwrap()),
        other => panic!("it was not recorded: {other:?}\n{outcome:#?}"),
    }
}

async fn replayed(recording: &Recording) -> Result<Outcome, ReplayError> {
    support::sandbox().replay(recording, &Limits::default()).await
}

/// Asserts that the replay equals the run, except for measurements of the host.
fn assert_same(replay: &Outcome, run: &Outcome, what: &str) {
    assert_eq!(replay.result, run.result, "{what}");
    assert_eq!(replay.logs, run.logs, "{what}");
    assert_eq!(replay.calls, run.calls, "{what}");
    assert_eq!(replay.order, run.order, "{what}");
    assert_eq!(replay.usage.fuel, run.usage.fuel, "{what}");
}

async fn is_repeated(source: &str) -> Outcome {
    let (run, recording) = recorded(source, &Limits::default(), support::tools()).await;
    let replay = replayed(&recording).await.unwrap_or_else(|error| panic!("{source}\n{error}"));
    assert_same(&replay, &run, source);
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_parallel_calls_that_answer_when_they_please_are_repeated_exactly() {
    for round in 0..4 {
        let delays = |round: u64, i: u64| Duration::from_millis((i * (2 * round + 1) + round * 7) % 40);
        let (run, recording) =
            recorded(determinism::SCRIPT, &Limits::default(), determinism::tools(round, delays)).await;
        assert_eq!(run.calls.len(), 40);
        assert_same(&replayed(&recording).await.unwrap(), &run, "forty calls");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_script_is_repeated_exactly() {
    for (_, source) in determinism::KINDS {
        is_repeated(source).await;
    }
}

/// At random, up to 40 ms.
fn at_random(_: u64, _: u64) -> Duration {
    Duration::from_millis(RandomState::new().hash_one(0) % 40)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_program_of_the_determinism_tests_is_repeated_exactly_in_a_new_process() {
    let terminal = support::Terminal::new();
    let mut programs: Vec<(&str, ToolSet)> = Vec::new();
    programs.extend(determinism::KINDS.map(|(_, source)| (source, support::tools())));
    programs.extend([(determinism::WORDS, support::tools()), (determinism::ORDER, determinism::in_turn())]);
    for source in [determinism::SCRIPT, determinism::SCRIPT, determinism::WORKERS, determinism::WORKERS] {
        programs.push((source, determinism::tools(0, at_random)));
    }
    for (at, (source, tools)) in programs.into_iter().enumerate() {
        let (run, recording) = recorded(source, &Limits::default(), tools).await;
        let file = format!("{at}.belljar");
        std::fs::write(terminal.folder.path().join(&file), recording.bytes()).unwrap();
        assert_repeated(&terminal, &file, &run);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_randomness_timers_and_the_catalogue_are_repeated_too() {
    let run = is_repeated(
        "const seen = [Date.now(), performance.now(), Math.random(), crypto.randomUUID()];
         await new Promise(done => setTimeout(done, 20));
         const cancelled = setTimeout(() => seen.push('never'), 5);
         clearTimeout(cancelled);
         const slow = setInterval(() => seen.push(Date.now()), 3);
         await box.wait({ ms: 15 });
         clearInterval(slow);
         for (let i = 0; i < 2000; i++) seen.push(Date.now() % 1000);
         seen.push(tools.list().length, tools.search('echo').length, tools.describe('box.echo').path);
         try { tools.describe('box.nothing') } catch (e) { console.log(e.message) }
         console.log(new Date());
         return seen;",
    )
    .await;
    assert!(run.is_ok(), "{run:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_fail_are_repeated_with_their_errors() {
    for (source, kind) in [
        ("null.property", ErrorKind::Exception),
        ("await box.fail({ message: 'no' })", ErrorKind::Tool),
        (
            "console.log('before'); box.wait({ ms: 1 }); box.wait({ ms: 5000 }); throw new Error('early')",
            ErrorKind::Exception,
        ),
        ("await new Promise(() => {})", ErrorKind::Deadlock),
        ("return (", ErrorKind::Syntax),
        ("const all = []; while (true) all.push(new Array(100000).fill(1))", ErrorKind::Memory),
        ("for (let i = 0; i < 2000; i++) await box.echo({ i })", ErrorKind::Calls),
        ("'two words '.repeat(1e5)", ErrorKind::Output),
        ("for (let i = 0; i < 1100; i++) box.wait({ ms: 5000 })", ErrorKind::Calls),
        ("setTimeout(() => {}, 1); for (;;) setTimeout(() => {}, 60000)", ErrorKind::Exception),
        ("function f() { f() } f()", ErrorKind::Stack),
    ] {
        let run = is_repeated(source).await;
        assert_eq!(run.result.unwrap_err().kind, kind, "{source}");
    }

    // Calls that find no room for their arguments, one of which is not caught.
    let source = "await Promise.all([...Array(40).keys()].map(i => box.wait({ ms: i, text: 'x'.repeat(1e5) })))";
    let limits = Limits { max_held: ByteSize::mib(1), ..Limits::default() };
    let (run, recording) = recorded(source, &limits, support::tools()).await;
    assert_eq!(
        run.result.as_ref().unwrap_err().limit.as_ref().map(|hit| hit.name.as_str()),
        Some("max_held"),
        "{run:#?}"
    );
    let replay = replayed(&recording).await.unwrap_or_else(|error| panic!("{source}\n{error}"));
    assert_same(&replay, &run, source);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_a_clock_or_its_caller_ended_is_repeated_to_the_same_end() {
    let short = |patch: LimitsPatch| patch.over(&Limits::default());
    let millis = |millis| Some(Duration::from_millis(millis));
    for (source, limits) in [
        (
            "console.log('a'); await box.echo({ a: 1 }); console.log('b'); while (true) {}",
            short(LimitsPatch { compute: millis(300), ..LimitsPatch::default() }),
        ),
        (
            "for (let i = 0; ; i++) { if (i % 1000 === 0) console.log(i); await box.echo({ i }); }",
            short(LimitsPatch { timeout: millis(300), max_calls: Some(1_000_000), ..LimitsPatch::default() }),
        ),
        (
            "await box.echo({ a: 1 }); console.log('waits'); await box.wait({ ms: 60000 }); console.log('never')",
            short(LimitsPatch { timeout: millis(300), ..LimitsPatch::default() }),
        ),
        (
            "await new Promise(done => setTimeout(done, 60000))",
            short(LimitsPatch { wait: millis(200), ..LimitsPatch::default() }),
        ),
    ] {
        let (run, recording) = recorded(source, &limits, support::tools()).await;
        assert_eq!(run.result.as_ref().unwrap_err().kind, ErrorKind::Timeout, "{source}");
        let ceiling = Limits { max_calls: 1_000_000, max_concurrent_calls: 1_000_000, ..Limits::default() };
        let replay = support::sandbox().replay(&recording, &ceiling).await;
        assert_same(&replay.unwrap_or_else(|error| panic!("{source}\n{error}")), &run, source);
    }

    let source = "console.log('waits'); await box.wait({ ms: 60000 })";
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let begun = parking_lot::Mutex::new(Some(begun));
    let tools = ToolSet::new().with("box", "wait", Effect::ReadOnly, move |_| {
        begun.lock().take().map(|begun| begun.send(()));
        std::future::pending::<Result<Value, String>>()
    });
    let program = Program::new(source).with_recording(ROOM);
    let cancelled = async move { has_begun.await.unwrap() };
    let run = support::sandbox().run(program).tools(Arc::new(tools)).cancel_on(cancelled).await;
    let (run, recording) = finished(run);
    assert_eq!(run.result.as_ref().unwrap_err().kind, ErrorKind::Cancelled);
    assert_same(&replayed(&recording).await.unwrap(), &run, source);
}

/// A run of three calls, how often its tool was called, and its recording.
async fn three_calls() -> (Arc<AtomicU64>, Recording) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let tools = ToolSet::new().with("box", "answer", Effect::Mutating, move |arguments| {
        counted.fetch_add(1, Relaxed);
        async move { Ok(json!({ "n": arguments.get("n") })) }
    });
    let source = "
        let sum = 0;
        for (let n = 1; n <= 3; n++) { const answer = await box.answer({ n: n + sum }); sum += answer.n; }
        return sum;
    ";
    let (run, recording) = recorded(source, &Limits::default(), tools).await;
    assert_eq!(run.result.unwrap().as_str(), "11");
    assert_eq!(calls.swap(0, Relaxed), 3);
    (calls, recording)
}

/// The recording with another start, or with other entries, as forged by somebody who knows the
/// format.
fn edited<'a>(
    recording: &'a Recording,
    start: impl FnOnce(&mut Start),
    mut edit: impl FnMut(Entry<'a>) -> Option<Entry<'a>>,
) -> Recording {
    let mut edited = recording.start().clone();
    start(&mut edited);
    let mut writer = Writer::new(&edited, ROOM);
    let mut end = None;
    for entry in recording.entries() {
        let Some(entry) = edit(entry) else { continue };
        match entry {
            Entry::End(found) => end = Some(found),
            entry => put(&mut writer, entry),
        }
    }
    Recording::read(writer.end(end.unwrap()).unwrap()).unwrap()
}

fn put(writer: &mut Writer, entry: Entry<'_>) {
    match entry {
        Entry::Clock { clock, milliseconds, count } => writer.clock_read(clock, milliseconds, count),
        Entry::Directory { namespace, listing } => {
            let listing = listing.map(|listing| listing.properties().collect::<Vec<_>>().into_iter());
            writer.directory(namespace, listing);
        }
        Entry::Catalog { question, answer } => writer.catalog(question, answer),
        Entry::Call { number, server, tool, arguments, fuel } => writer.call(number, server, tool, arguments, fuel),
        Entry::Timer { number, milliseconds } => writer.timer(number, milliseconds),
        Entry::Answer { number, answer, kept } => writer.answer(number, answer, kept),
        Entry::Elapsed { number } => writer.elapsed(number),
        Entry::Unanswered { number, kept } => writer.unanswered(number, kept),
        Entry::End(_) => {}
    }
}

/// The recording with more entries before its end.
fn edited_with(recording: &Recording, more: &[Entry<'_>]) -> Recording {
    let mut writer = Writer::new(recording.start(), ROOM);
    for entry in recording.entries().chain(more.iter().cloned()) {
        put(&mut writer, entry);
    }
    Recording::read(writer.end(recording.end().unwrap()).unwrap()).unwrap()
}

async fn divergence(recording: &Recording) -> String {
    match replayed(recording).await {
        Err(ReplayError::Diverged(divergence)) => divergence.to_string(),
        other => panic!("it did not diverge: {other:#?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_differs_is_named_and_nothing_comes_of_it() {
    let (calls, recording) = three_calls().await;

    let answer = edited(
        &recording,
        |_| {},
        |entry| match entry {
            Entry::Answer { number: 0, answer: Answer::Result(_), kept } => {
                let answer = Answer::Result(r#"{"structuredContent":{"n":2},"content":[]}"#);
                Some(Entry::Answer { number: 0, answer, kept })
            }
            other => Some(other),
        },
    );
    let text = divergence(&answer).await;
    assert_eq!(text, r#"the recording has call 1, box.answer {"n":3}, the replay call 1, box.answer {"n":4}"#);

    let dropped =
        edited(&recording, |_| {}, |entry| (!matches!(entry, Entry::Answer { number: 1, .. })).then_some(entry));
    let text = divergence(&dropped).await;
    assert_eq!(text, "the recording hands over number 2, for which the replay does not wait");

    // Completions after the end of the script would otherwise go unnoticed.
    let timer = "setTimeout(() => {}, 60000); await box.echo({})";
    let (_, with_timer) = recorded(timer, &Limits::default(), support::tools()).await;
    let added = edited(
        &with_timer,
        |_| {},
        |entry| match entry {
            Entry::Unanswered { .. } => None,
            other => Some(other),
        },
    );
    let entries: Vec<Entry<'_>> = added.entries().collect();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Timer { number: 0, .. })), "{entries:?}");
    let late = edited_with(&added, &[Entry::Elapsed { number: 0 }]);
    let text = divergence(&late).await;
    assert_eq!(text, "the recording hands over number 0, and the replay ended before it");

    // Another source takes other fuel to read. An engine that does not promise equal fuel reaches
    // the calls.
    let with_source = |from: &str, to: &str| {
        let start = |start: &mut Start| {
            start.source = start.source.replace(from, to);
            start.engine.component = [0; 32];
        };
        edited(&recording, start, Some)
    };
    let text = divergence(&with_source("n <= 3", "n <= 2")).await;
    assert_eq!(text, r#"the recording has call 2, box.answer {"n":7}, and the replay ended before it"#);
    let text = divergence(&with_source("n <= 3", "n <= 4")).await;
    assert_eq!(text, r#"the replay has call 3, box.answer {"n":15}, which was not recorded"#);
    let text = divergence(&with_source("return sum", "return 1 + sum")).await;
    assert_eq!(text, "the result of the run is not what was recorded");

    // One unit more before the second call: another path through the script, or another engine.
    let fuel = edited(
        &recording,
        |_| {},
        |entry| match entry {
            Entry::Call { number: 1, server, tool, arguments, fuel } => {
                Some(Entry::Call { number: 1, server, tool, arguments, fuel: fuel + 1 })
            }
            other => Some(other),
        },
    );
    let text = divergence(&fuel).await;
    assert!(text.starts_with("call 1, box.answer: ") && text.contains("fuel was used before it"), "{text}");

    assert_eq!(calls.load(Relaxed), 0, "a replay called a tool");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_of_another_engine_is_compared_without_its_fuel() {
    let (_, recording) = three_calls().await;
    let other = edited(
        &recording,
        |start| start.engine.component = [0; 32],
        |entry| match entry {
            Entry::Call { number, server, tool, arguments, fuel } => {
                Some(Entry::Call { number, server, tool, arguments, fuel: fuel * 2 })
            }
            Entry::End(mut end) => {
                end.fuel *= 2;
                Some(Entry::End(end))
            }
            other => Some(other),
        },
    );
    let replay = replayed(&other).await.unwrap();
    assert_eq!(replay.result.unwrap().as_str(), "11");
}

/// Two calls: the arguments of the second depend on a built-in.
const OF_A_DATE: &str = "
    const { n } = await box.answer({ n: 1 });
    return (await box.answer({ n: new Date(n).toDateString() })).n";

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_with_one_changed_built_in_is_named_at_the_first_call_that_it_changes() {
    let calls = Arc::new(AtomicU64::new(0));
    let tools = || {
        let counted = calls.clone();
        ToolSet::new().with("box", "answer", Effect::Mutating, move |arguments| {
            counted.fetch_add(1, Relaxed);
            async move { Ok(json!({ "n": arguments.get("n") })) }
        })
    };
    let (_, of_date) = recorded(OF_A_DATE, &Limits::default(), tools()).await;
    let (same, of_time) = recorded(&OF_A_DATE.replace("toDateString", "getTime"), &Limits::default(), tools()).await;
    assert_eq!(calls.swap(0, Relaxed), 4);

    // The shipped interpreter, except that a weekday has another name.
    let mut component = Image::embedded().component().to_vec();
    let days = b"SunMonTueWedThuFriSat";
    let place = component.windows(days.len()).position(|window| window == days).expect("it has the names of the days");
    component[place..place + days.len()].copy_from_slice(b"SunMonTueWedDonFriSat");
    let other = Image::from_component(component);
    assert_ne!(other.digest(), Image::embedded().digest());
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let other = Sandbox::new(&other, options).unwrap();

    let divergence = match other.replay(&of_date, &Limits::default()).await {
        Err(ReplayError::Diverged(divergence)) => divergence,
        repeated => panic!("Thursday has another name there: {repeated:#?}"),
    };
    assert_eq!(
        divergence.to_string(),
        r#"the recording has call 1, box.answer {"n":"Thu Jan 01 1970"}, the replay call 1, box.answer {"n":"Don Jan 01 1970"}"#
    );
    // What means the same in both is still repeated.
    let replay = other.replay(&of_time, &Limits::default()).await.unwrap();
    assert_eq!((replay.result, replay.calls), (same.result, same.calls));
    assert_eq!(calls.load(Relaxed), 0, "a replay called a tool");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_with_limits_above_what_is_allowed_here_is_refused() {
    let (_, recording) = three_calls().await;
    let greedy = edited(&recording, |start| start.limits.memory = ByteSize::gib(3), Some);
    let refused = replayed(&greedy).await.unwrap_err().to_string();
    assert!(refused.contains("limit 'memory'") && refused.contains("raise limits.memory"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_recording_takes_no_more_fuel_source_calls_or_tools_than_a_run_may() {
    // It claims that its caller ended it, after more fuel than it had.
    let (_, recording) = three_calls().await;
    let small = |start: &mut Start| {
        start.source = "while (true) {}".to_owned();
        start.limits.fuel = 50_000_000;
    };
    let endless = edited(&recording, small, |entry| match entry {
        Entry::End(end) => Some(Entry::End(End { cause: Cause::Cancelled, fuel: u64::MAX, ..end })),
        _ => None,
    });
    let ceiling = Limits { fuel: 50_000_000, ..Limits::default() };
    let refused = support::sandbox().replay(&endless, &ceiling).await.unwrap_err();
    assert!(matches!(refused, ReplayError::Diverged(_)), "it ended by its fuel, and not by the clock: {refused}");

    let long = edited(&recording, |start| start.source = format!("1 //{}", " ".repeat(2 << 20)), Some);
    let calls = edited(&recording, |start| start.limits.max_calls = 2, Some);
    let answer = edited(&recording, |start| start.limits.max_result = ByteSize::b(3), Some);
    for (forged, why) in [(long, "bytes of source"), (calls, "3 calls"), (answer, "bytes in an answer")] {
        let refused = replayed(&forged).await.unwrap_err().to_string();
        assert!(refused.contains(why) && refused.contains("no run that it can be of"), "{refused}");
        let refused = support::sandbox().rehearse("1", &forged, &Limits::default()).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }

    let mut writer = Writer::new(recording.start(), ByteSize::mib(64));
    let none = Property { name: "", server: "", tool: "", effect: Effect::Mutating };
    writer.directory(0, Ok(vec![none; 100_001].into_iter()));
    let tools = Recording::read(writer.end(recording.end().unwrap()).unwrap()).unwrap();
    let refused = replayed(&tools).await.unwrap_err().to_string();
    assert!(refused.contains("100001 tools"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_replay_ends_by_the_clocks_of_whoever_asked_for_it() {
    let (_, recording) = three_calls().await;
    let endless = edited(&recording, |start| start.source = "while (true) {}".to_owned(), Some);
    let ceiling = Limits { compute: Duration::from_millis(200), ..Limits::default() };
    let refused = support::sandbox().replay(&endless, &ceiling).await.unwrap_err();
    assert!(matches!(&refused, ReplayError::Time(hit) if hit.name.as_str() == "compute"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_takes_in_more_than_its_recording_may_have_goes_on_without_one() {
    let source = "return (await box.echo({ text: 'x'.repeat(20000) })).text.length";
    let program = Program::new(source).with_recording(ByteSize::kib(8));
    let outcome = support::sandbox().run(program).tools(Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap().as_str(), "20000");
    let Some(Recorded::NotReplayable { reason }) = outcome.recording else { panic!("{:?}", outcome.recording) };
    assert_eq!(reason, "the recording would have more than 8192 bytes, which is its limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_uses_the_fuel_of_one_that_is_not_recorded() {
    for (kind, source) in determinism::KINDS {
        let program = Program::new(source).with_seed([3; 32]);
        let plain = support::sandbox().run(program.clone()).tools(Arc::new(support::tools())).await;
        let program = program.with_recording(ROOM);
        let recorded = support::sandbox().run(program).tools(Arc::new(support::tools())).await;
        assert_eq!(recorded.usage.fuel, plain.usage.fuel, "{kind}");
    }
}

#[test]
fn a_run_at_the_terminal_is_recorded_to_a_file_and_replayed_from_it() {
    let terminal = support::Terminal::new();
    let code = "console.log(Math.random()); return (await demo.list_projects({})).projects.length + Date.now()";
    let run = terminal.belljar(&["run", "--json", "--code", code, "--record", "run.belljar"]);
    assert!(run.stderr.contains("recorded") && run.stderr.contains("belljar replay run.belljar"), "{run:?}");
    let replay = terminal.belljar(&["replay", "run.belljar", "--json"]);
    for part in ["value", "logs", "calls", "error"] {
        assert_eq!(replay.json()[part], run.json()[part], "{part}");
    }
    assert_eq!(replay.json()["usage"]["fuel"], run.json()["usage"]["fuel"]);
    let file = terminal.folder.path().join("run.belljar");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "it holds what tools answered"
        );
    }

    // Existing files are never overwritten, and no script is run in vain.
    let again = terminal.belljar(&["run", "--code", "await demo.nothing()", "--record", "run.belljar"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("a file of this name exists"), "{again:?}");

    let mut bytes = std::fs::read(&file).unwrap();
    bytes.pop();
    std::fs::write(&file, bytes).unwrap();
    let damaged = terminal.belljar(&["replay", "run.belljar"]);
    assert_eq!(damaged.code, 2);
    assert!(damaged.stderr.contains("run.belljar: the recording is damaged"), "{damaged:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_differs_ends_the_command_as_diverged() {
    let (_, recording) = three_calls().await;
    let edit = |start: &mut Start| start.source = start.source.replace("sum += answer.n", "sum -= answer.n");
    let other = edited(&recording, |start| (edit(start), start.engine.component = [0; 32]).1, Some);
    let terminal = support::Terminal::new();
    std::fs::write(terminal.folder.path().join("other.belljar"), other.bytes()).unwrap();
    let replay = terminal.belljar(&["replay", "other.belljar", "--json"]);
    assert_eq!(replay.code, 1);
    assert_eq!(replay.json()["error"]["kind"], "diverged");
    let text = replay.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        text.contains(r#"the recording has call 1, box.answer {"n":3}, the replay call 1, box.answer {"n":1}"#),
        "{text}"
    );
}

/// The outcome of another script over what `recording` has.
async fn rehearsed(source: &str, recording: &Recording) -> Outcome {
    support::sandbox().rehearse(source, recording, &Limits::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_script_gets_the_recorded_answers_by_tool_and_arguments_in_any_order() {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let tools = ToolSet::new()
        .with("box", "read", Effect::ReadOnly, async |arguments| Ok(json!({ "read": arguments.get("path") })))
        .with("box", "write", Effect::Mutating, move |_| {
            counted.fetch_add(1, Relaxed);
            async { Ok(json!({ "written": true })) }
        });
    let source = "
        const a = await box.read({ path: 'a', deep: { x: 1, y: 2 } });
        const b = await box.read({ path: 'b' });
        await box.write({ path: 'c', text: a.read + b.red.length });
    ";
    let (run, recording) = recorded(source, &Limits::default(), tools).await;
    assert_eq!(run.result.unwrap_err().kind, ErrorKind::Exception);

    // The mistake is fixed, and the order of calls and keys is different.
    let better = "
        const [b, a] = await Promise.all([box.read({ path: 'b' }), box.read({ deep: { y: 2, x: 1 }, path: 'a' })]);
        const again = await box.read({ path: 'b' });
        const refused = await box.write({ path: 'c', text: a.read + b.read.length }).catch(e => e.message);
        return [a.read, b.read, again.read, refused];
    ";
    let outcome = rehearsed(better, &recording).await;
    let value = outcome.result.as_ref().unwrap().to_value().unwrap();
    assert_eq!(value[0], "a");
    assert_eq!(value[1], "b");
    assert_eq!(value[2], "b", "what changes nothing may be asked again");
    assert!(
        value[3].as_str().unwrap().contains(r#"the recording has no answer to call 3, box.write {"path":"c""#),
        "{value}"
    );
    let ok: Vec<bool> = outcome.calls.iter().map(|call| call.ok).collect();
    assert_eq!(ok, [true, true, true, false]);
    assert_eq!(calls.load(Relaxed), 0, "a rehearsal called a tool");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_an_effect_is_answered_as_often_as_it_was_called() {
    let (calls, recording) = three_calls().await;
    let source =
        "const call = () => box.answer({ n: 1 }); return [(await call()).n, await call().catch(e => 'refused')]";
    let outcome = rehearsed(source, &recording).await;
    assert_eq!(outcome.result.unwrap().as_str(), r#"[1,"refused"]"#);
    assert_eq!(calls.load(Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn time_is_simulated_in_a_rehearsal_and_the_same_each_time() {
    let (run, recording) = recorded("return await box.wait({ ms: 30 })", &Limits::default(), support::tools()).await;
    assert!(run.is_ok());
    let source = "
        const begun = performance.now(), seen = [];
        const hour = setTimeout(() => seen.push('hour'), 3600000), never = setTimeout(() => seen.push('never'), 7200000);
        setTimeout(() => seen.push('soon'), 1);
        await box.wait({ ms: 30 }).then(() => seen.push('call'));
        await new Promise(done => setTimeout(done, 3600000));
        clearTimeout(never);
        const end = Date.now() + 5;
        while (Date.now() < end);
        return [seen, Math.round((performance.now() - begun) / 1000), new Date().getFullYear() > 2020];
    ";
    let first = rehearsed(source, &recording).await;
    assert_eq!(first.result.as_ref().unwrap().as_str(), r#"[["soon","call","hour"],3600,true]"#);
    let second = rehearsed(source, &recording).await;
    assert_eq!(second.usage.fuel, first.usage.fuel);
}

#[test]
fn what_belljar_added_to_the_logs_and_the_hint_is_in_the_replay_too() {
    let terminal = support::Terminal::new();
    for (at, (code, what)) in [
        // A warning about an unlisted argument; and a hint with the tool's signature.
        ("return (await demo.list_projects({ colour: 'red' })).projects.length", "colour"),
        ("await demo.list_project({})", "It is "),
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{at}.belljar");
        let run = terminal.belljar(&["run", "--json", "--code", code, "--record", &file]);
        assert!(run.stdout.contains(what), "{run:?}");
        let replay = terminal.belljar(&["replay", &file, "--json"]);
        for part in ["value", "logs", "calls", "error"] {
            assert_eq!(replay.json()[part], run.json()[part], "{part}");
        }
    }
}

/// A fixture of a run in its own folder, and the command that made it.
fn with_fixture(terminal: &support::Terminal, more: &[&str]) -> String {
    std::fs::create_dir(terminal.folder.path().join("tests")).unwrap();
    let fixture = "tests/projects.belljar.jsonl";
    let made = terminal.belljar(&[&["replay", "run.belljar", "--fixture", fixture], more].concat());
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.stderr.contains("belljar test tests/projects.belljar.jsonl"), "{made:?}");
    std::fs::read_to_string(terminal.folder.path().join(fixture)).unwrap()
}

const PROJECTS: &str = "
    const { projects } = await demo.list_projects({});
    console.log(`${projects.length} projects`);
    return projects.map(project => project.name).sort();
";

#[test]
fn a_fixture_is_tested_call_by_call_and_what_differs_is_named() {
    let terminal = support::Terminal::new();
    let run = terminal.belljar(&["run", "--code", PROJECTS, "--record", "run.belljar"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = with_fixture(&terminal, &[]);
    assert!(text.contains("\n    \"    const { projects } = await demo.list_projects({});\",\n"), "{text}");
    assert_eq!(Fixture::read(&text, ROOM).unwrap().matching, Match::Exact);
    std::fs::copy(terminal.folder.path().join("run.belljar"), terminal.folder.path().join("tests/run.belljar"))
        .unwrap();
    let test = terminal.belljar(&["test", "tests", "--json"]);
    assert_eq!((test.code, &test.json()["passed"], &test.json()["ok"]), (0, &json!(2), &json!(true)), "{test:?}");

    // The expected result of the run, a log, the script itself, an answer.
    let fixture = terminal.folder.path().join("tests/projects.belljar.jsonl");
    for (from, to, expected) in [
        ("projects\"}]}", "PROJECTS\"}]}", "logs/0/text: expected"),
        (".sort()", ".sort().length", "fuel was used before it in the recording"),
        ("list_projects({})", "list_projects()", "fuel"),
        (
            "list_projects({})",
            "list_issues({})",
            "the calls in the source differ from the recorded ones, from line 2, column 37 on",
        ),
    ] {
        let other = text.replace(from, to);
        assert_ne!(other, text, "{from}");
        std::fs::write(&fixture, other).unwrap();
        let test = terminal.belljar(&["test", "tests"]);
        assert_eq!(test.code, 1, "{test:?}");
        assert!(test.stdout.contains("differs  tests/projects.belljar.jsonl: "), "{test:?}");
        assert!(test.stdout.contains("1 passed, 1 failed"), "{test:?}");
        assert_eq!(test.stderr, "", "what differs is said once");
        assert!(test.stdout.contains(expected), "{expected}: {test:?}");
    }

    std::fs::write(&fixture, &text[..text.len() / 2]).unwrap();
    let broken = terminal.belljar(&["test", "tests", "--json"]);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert!(broken.json()["tests"][0]["error"].as_str().unwrap().contains("not a fixture"), "{broken:?}");
    // belljar itself fails if there is no room for its engine.
    std::fs::write(&fixture, &text).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -v 4000000 && exec \"$0\" test tests"]).arg(support::belljar());
    let failed = shell.current_dir(&terminal.folder).env("XDG_CONFIG_HOME", terminal.folder.path()).output().unwrap();
    let failed = support::Answer::of(failed);
    assert_eq!((failed.code, failed.stderr.contains("engine cannot be set up")), (3, true), "{failed:?}");
    for nothing in ["missing", "."] {
        let folder = terminal.folder.path().join("empty");
        std::fs::create_dir_all(&folder).unwrap();
        let path = if nothing == "." { "empty" } else { nothing };
        assert_eq!(terminal.belljar(&["test", path]).code, 2);
    }
}

#[test]
fn a_loose_fixture_tests_a_script_that_is_edited() {
    let terminal = support::Terminal::new();
    let script = terminal.folder.path().join("projects.ts");
    std::fs::write(&script, PROJECTS).unwrap();
    let run = terminal.belljar(&["run", "projects.ts", "--record", "run.belljar"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = with_fixture(&terminal, &["--source", "projects.ts"]);
    assert!(text.contains(r#""match":"loose","script":"../projects.ts""#), "{text}");

    // Written differently, it ends the same.
    let other = PROJECTS.replace("projects.map(project => project.name)", "Array.from(projects, ({ name }) => name)");
    std::fs::write(&script, other).unwrap();
    let test = terminal.belljar(&["test", "tests"]);
    assert_eq!((test.code, test.stdout.contains("1 passed")), (0, true), "{test:?}");

    for (from, to, expected) in [
        (".sort()", ".sort().slice(1)", "value/0: expected"),
        ("list_projects({})", "list_issues({})", "calls/0/tool: expected \"list_projects\", found \"list_issues\""),
        ("projects`", "of them`", "logs/0/text: expected"),
    ] {
        std::fs::write(&script, PROJECTS.replace(from, to)).unwrap();
        let test = terminal.belljar(&["test", "tests"]);
        assert_eq!(test.code, 1, "{test:?}");
        assert!(test.stdout.contains(expected), "{expected}: {test:?}");
    }
}

#[test]
fn a_fixture_shows_no_file_that_is_not_a_script_by_its_name() {
    let terminal = support::Terminal::new();
    terminal.file("projects.ts", PROJECTS);
    assert_eq!(terminal.belljar(&["run", "projects.ts", "--record", "run.belljar"]).code, 0);
    let text = with_fixture(&terminal, &["--source", "projects.ts"]);
    terminal.file("id_secret", "a secret that is no script");
    std::os::unix::fs::symlink("id_secret", terminal.folder.path().join("link.ts")).unwrap();
    let secret = terminal.folder.path().join("id_secret");
    for named in ["../id_secret", "../link.ts", secret.to_str().unwrap(), "-", "..", "../none.ts"] {
        terminal.file("tests/projects.belljar.jsonl", text.replace("../projects.ts", named));
        let test = terminal.belljar(&["test", "tests"]);
        assert_eq!((test.code, test.stdout.contains("broken")), (2, true), "{named}: {test:?}");
        assert!(!test.stdout.contains("a secret") && !test.stderr.contains("a secret"), "{named}: {test:?}");
    }
}

#[test]
fn the_component_names_no_folder_of_the_machine_that_built_it() {
    let image = belljar_image::Image::embedded();
    let has = |text: &str| image.component().windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("/cargo/registry/"), "panics of crates say where they are");
    let repository = support::repository().canonicalize().unwrap();
    let home = std::env::home_dir().unwrap();
    for folder in [repository, home.join(".cargo"), home.join(".rustup")] {
        assert!(!has(folder.to_str().unwrap()), "the component has {}", folder.display());
    }
    // Nor a folder of another machine, in case the component was built elsewhere.
    for folder in ["/home/", "/root/", "/Users/", "C:\\", "/.cargo/", "target/guest"] {
        assert!(!has(folder), "the component has {folder}");
    }
}
