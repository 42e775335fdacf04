//! The fuzzed function and its invariants: `fuzz/` feeds it, and the test below replays its corpus.
//!
//! There is no process. The input plays its side, over the code that listens to a real one.

use std::{
    collections::HashSet,
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use belljar_model::{
    ByteSize, CallRecord, Effect, ErrorKind, JsonText, LimitHit, LimitName, Limits, LimitsPatch, LogLevel, Outcome,
    RunStep,
};
use belljar_recording::{Cause, Digests, End, EngineId, Recording, Start, Surroundings, Writer as Recorder};
use belljar_sandbox::{
    CallError, Directory, GrantedTool, Namespace, Program, ReplayError, SandboxOptions, ToolSet, Tools, Unavailable,
    apart::Keeper,
};
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream},
    net::unix::pipe::{Receiver, Sender},
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::JoinHandle,
    time::{pause, resume, sleep, timeout},
};

use super::{
    connection::{Connection, Greeting},
    lost::Lost,
    serving::Serving,
};
use crate::protocol::{
    frame::{HEADER_BYTES, Header},
    from_worker, replayed,
    to_worker::{self, Replay},
};

/// The separator between parts of a target's input.
const PART: &[u8] = b"\n----\n";
/// Parts of an input that begin a run.
const MAX_RUNS: u64 = 4;
/// A guard against hanging, with a clock that moves when nothing else does.
const MOMENT: Duration = Duration::from_secs(3600);
/// The same for events of the operating system, which take real time.
const REAL_MOMENT: Duration = Duration::from_secs(60);

/// What an engine's process sends: it is ended if it breaks a rule, and each run ends within its
/// limits.
///
/// The first part is the limits of the runs as JSON, or `greeting`. Each of the others begins with
/// what is done: `>` the rest is said as it is; `=` a kind, the number of a run, and a body are
/// said as a frame; `+` a run is begun; `*` a recorded run is repeated, or the rest run over its
/// answers as a script; `-` and `!` are followed by the number of a run that is dropped or
/// cancelled, a repeated one being dropped by `~` and its own; all else is a frame in words, see
/// [`frame_of`].
pub fn engine_frames(data: &[u8]) {
    thread_local! {
        static RUNTIME: Runtime =
            Builder::new_current_thread().enable_all().start_paused(true).build().expect("the system has room for one");
    }
    let parts = parts(data);
    RUNTIME.with(|runtime| match parts.as_slice() {
        [b"greeting", said @ ..] => runtime.block_on(greeted(&said.concat())),
        [limits, steps @ ..] => runtime.block_on(talk(limits_of(limits), steps)),
        [] => {}
    });
}

/// Handles what a process sends before the first run.
async fn greeted(said: &[u8]) {
    /// This much fits into a pipe that nobody reads.
    const PIPE_BYTES: usize = 32 * 1024;
    let (from, mut says) = io::pipe().expect("a pipe");
    let (_hears, to) = io::pipe().expect("a pipe");
    let _ = says.write_all(said.get(..PIPE_BYTES).unwrap_or(said));
    drop(says);
    let connection = Connection::new(Sender::from_owned_fd(to.into()).expect("a sender"), &SandboxOptions::default());
    let mut from = Receiver::from_owned_fd(from.into()).expect("a receiver");
    match connection.greet(to_worker::hello(&SandboxOptions::default()), &mut from).await {
        Ok(Greeting::Ready) => assert_eq!(said.get(..5), Some([0, 0, 0, 0, from_worker::READY].as_slice())),
        Ok(Greeting::Imports(imports)) => {
            // What was read can be written again, and is within its limit.
            let text = serde_json::to_string(&imports).expect("JSON");
            assert!(text.len() as u64 <= 8 * from_worker::MAX_IMPORTS);
        }
        Ok(Greeting::Failed(reason)) => assert!(reason.len() as u64 <= from_worker::MAX_REASON),
        Err(lost) => assert!(!matches!(lost, Lost::Overdue(_)), "{lost}"),
    }
}

/// A run, as its caller has it.
struct Begun {
    outcome: JoinHandle<Option<Outcome>>,
    cancel: Option<oneshot::Sender<()>>,
    watch: Arc<Watch>,
}

/// A recorded run that is repeated, or a script that is run over its answers.
struct Repeated {
    is_script: bool,
    replayed: JoinHandle<Option<Result<Outcome, ReplayError>>>,
}

/// What is going on.
#[derive(Default)]
struct Going {
    runs: Vec<Begun>,
    replays: Vec<Repeated>,
}

async fn talk(limits: Limits, steps: &[&[u8]]) {
    let (hears, to) = io::pipe().expect("a pipe");
    let connection = Connection::new(Sender::from_owned_fd(to.into()).expect("a sender"), &SandboxOptions::default());
    let hears = Receiver::from_owned_fd(hears.into()).expect("a receiver");
    let hearing = tokio::spawn(hear(hears));
    let (mut says, from) = tokio::io::duplex(64 * 1024);
    let (served, guard) = (connection.clone(), Serving::new(connection.clone(), None));
    let serving = tokio::spawn(async move {
        let lost = served.serve(from).await;
        guard.end(lost.clone());
        lost
    });

    let mut going = Going { runs: vec![begin(&connection, &limits)], ..Going::default() };
    settled().await;
    for step in steps {
        take_step(step, &connection, &limits, &mut going, &mut says).await;
        settled().await;
    }
    drop(says);
    let lost = timeout(MOMENT, serving).await.expect("it ends").expect("no panic");
    assert!(matches!(lost, Lost::Ended(_) | Lost::Violated(_)), "{lost}");
    assert!(!connection.is_alive());
    for Repeated { is_script, replayed } in going.replays {
        match timeout(MOMENT, replayed).await.expect("it ends") {
            Ok(replayed) => believed(replayed, is_script),
            Err(dropped) => assert!(dropped.is_cancelled(), "{dropped}"),
        }
    }
    for Begun { outcome, watch, .. } in going.runs {
        match timeout(MOMENT, outcome).await.expect("it ends") {
            Ok(Some(outcome)) => within(&outcome, &limits, &watch),
            Ok(None) => assert_eq!(watch.seen.lock().calls, 0, "it was not begun"),
            Err(dropped) => assert!(dropped.is_cancelled(), "{dropped}"),
        }
        settled().await;
        assert_eq!(watch.seen.lock().broken, None);
        assert_eq!(watch.seen.lock().open, 0, "a call is under way, and its run has ended");
    }
    drop(connection);
    // A paused clock is advanced whenever no task is ready, even while the end of the pipe is still
    // on its way.
    resume();
    let heard = timeout(REAL_MOMENT, hearing).await;
    pause();
    heard.expect("the pipe is closed when nobody speaks any more").expect("no panic");
}

async fn take_step(
    step: &[u8],
    connection: &Arc<Connection>,
    limits: &Limits,
    Going { runs, replays }: &mut Going,
    says: &mut DuplexStream,
) {
    let of_number = |text: &[u8]| std::str::from_utf8(text).ok()?.trim().parse::<usize>().ok()?.checked_sub(1);
    let bytes = match step {
        [b'>', said @ ..] => said.to_vec(),
        [b'=', kind, run, body @ ..] => frame(*kind, u64::from(*run), body),
        [b'+', ..] => {
            if ((runs.len() + replays.len()) as u64) < MAX_RUNS {
                runs.push(begin(connection, limits));
            }
            return;
        }
        [b'*', script @ ..] => {
            if ((runs.len() + replays.len()) as u64) < MAX_RUNS {
                let script = String::from_utf8_lossy(script).into_owned();
                replays.push(repeat(connection, Some(script).filter(|script| !script.is_empty())));
            }
            return;
        }
        [b'~', number @ ..] => {
            if let Some(replay) = of_number(number).and_then(|number| replays.get(number)) {
                replay.replayed.abort();
            }
            return;
        }
        [b'-', number @ ..] => {
            if let Some(run) = of_number(number).and_then(|number| runs.get(number)) {
                run.outcome.abort();
            }
            return;
        }
        [b'!', number @ ..] => {
            let run = of_number(number).and_then(|number| runs.get_mut(number));
            if let Some(cancel) = run.and_then(|run| run.cancel.take()) {
                // A run that has ended does not listen.
                let _ = cancel.send(());
            }
            return;
        }
        words => match std::str::from_utf8(words).ok().and_then(frame_of) {
            Some(frame) => frame,
            None => return,
        },
    };
    // A process that was ended has nobody to talk to.
    let _ = says.write_all(&bytes).await;
}

/// Waits until nothing moves any more.
async fn settled() {
    sleep(Duration::from_millis(1)).await;
}

fn begin(connection: &Arc<Connection>, limits: &Limits) -> Begun {
    let watch = Arc::new(Watch { limits: limits.clone(), seen: Mutex::default() });
    let tools = Arc::new(Watched { tools: tools(), watch: watch.clone() });
    let (cancel, cancelled) = oneshot::channel::<()>();
    let (connection, limits) = (connection.clone(), limits.clone());
    let outcome = tokio::spawn(async move {
        // The sender is dropped if nobody cancels.
        let cancelled = async {
            if cancelled.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let keeper = Keeper::new(limits.max_held, None);
        connection.run(&Program::new("return 1"), &limits, tools, keeper, MOMENT, cancelled).await
    });
    Begun { outcome, cancel: Some(cancel), watch }
}

/// The outcome of the recorded run.
fn ended() -> Outcome {
    let (server, tool) = ("a".to_owned(), "quick".to_owned());
    let (verdict, rule) = (None, None);
    let call = CallRecord { server, tool, effect: Effect::ReadOnly, ok: true, ms: 1.0, error: None, verdict, rule };
    Outcome { calls: vec![call], ..outcome(Ok("1"), "-") }
}

fn recording() -> Recording {
    let Outcome { result, logs, calls, .. } = ended();
    let start = Start {
        engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
        source: "return 1".to_owned(),
        begun_ms: 1,
        seed: [2; 32],
        limits: Limits::default(),
        servers: Vec::new(),
        surroundings: Surroundings::default(),
    };
    let end = End { cause: Cause::Script, fuel: 0, digests: Digests::of(&result, &logs, &calls) };
    let bytes = Recorder::new(&start, ByteSize::mib(1)).end(end).expect("there is room");
    Recording::read(bytes).expect("a recording")
}

fn repeat(connection: &Arc<Connection>, script: Option<String>) -> Repeated {
    let (is_script, connection) = (script.is_some(), connection.clone());
    let replayed = tokio::spawn(async move {
        let (recording, ceiling) = (recording(), Limits::default());
        let replay = Replay { source: script.as_deref(), ceiling: ceiling.clone(), recording: recording.bytes() };
        connection.replay(&replay, &recording, &ceiling, MOMENT).await
    });
    Repeated { is_script, replayed }
}

/// Checks that a run counts as repeated only if its outcome is that of the recording, whatever the
/// process says.
fn believed(replayed: Option<Result<Outcome, ReplayError>>, is_script: bool) {
    let Some(Ok(replayed)) = replayed else { return };
    assert!(replayed.calls.len() as u64 <= Limits::default().max_calls);
    if !is_script {
        let ended = ended();
        assert_eq!((replayed.result, replayed.logs), (ended.result, ended.logs));
        let timeless = |calls: Vec<CallRecord>| -> Vec<CallRecord> {
            calls.into_iter().map(|call| CallRecord { ms: 0.0, ..call }).collect()
        };
        assert_eq!(timeless(replayed.calls), timeless(ended.calls));
    }
}

fn tools() -> ToolSet {
    ToolSet::new()
        .with("a", "quick", Effect::ReadOnly, async |arguments| Ok(json!({ "got": arguments })))
        .with("a", "never", Effect::External, async |_| std::future::pending().await)
        .with("a", "late", Effect::External, async |_| {
            settled().await;
            Err("it is too late".to_owned())
        })
        .with("b", "large", Effect::ReadOnly, async |arguments| {
            let bytes = arguments.get("bytes").and_then(serde_json::Value::as_u64).unwrap_or(1000).min(100_000);
            Ok("x".repeat(usize::try_from(bytes).unwrap_or_default()).into())
        })
}

/// Checks that an outcome is one that its run may have.
fn within(outcome: &Outcome, limits: &Limits, watch: &Watch) {
    /// As in `from_worker`.
    const MAX_ERROR_TEXT: usize = 64 * 1024;
    const CUT_BYTES: u64 = 1024;
    match &outcome.result {
        Ok(value) => assert!(value.as_str().len() as u64 <= limits.max_value_bytes()),
        Err(error) => {
            let texts = [Some(&error.message), error.frame.as_ref(), error.stack.as_ref(), error.hint.as_ref()];
            assert!(texts.into_iter().flatten().all(|text| text.len() <= MAX_ERROR_TEXT));
        }
    }
    let log_bytes: u64 = outcome.logs.iter().map(|entry| entry.text.len() as u64).sum();
    assert!(log_bytes <= limits.max_logs.as_u64() + CUT_BYTES, "{log_bytes} bytes of logs");
    assert!(outcome.logs.len() as u64 <= limits.max_log_lines + 1, "{} entries of logs", outcome.logs.len());
    let made = watch.seen.lock().calls;
    assert_eq!(outcome.calls.len() as u64, made, "each call is told of, and no other: {:?}", outcome.calls);
    assert_eq!(outcome.usage.tool_calls, made);
    let is_known = |call: &CallRecord| matches!(call.server.as_str(), "a" | "b");
    assert!(outcome.calls.iter().all(is_known));
}

/// Checks what a run's tools are asked for.
struct Watched {
    tools: ToolSet,
    watch: Arc<Watch>,
}

struct Watch {
    limits: Limits,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The namespaces that were asked for.
    asked: HashSet<usize>,
    calls: u64,
    open: u64,
    bytes_open: u64,
    logs: u64,
    /// What a tool was wrongly asked for. A panic there would count as a failure of the tool.
    broken: Option<String>,
}

/// A call under way.
struct OpenCall {
    watch: Arc<Watch>,
    bytes: u64,
}

impl Watch {}

impl OpenCall {
    fn begin(watch: &Arc<Watch>, server: &str, bytes: u64) -> Self {
        let (limits, mut seen) = (&watch.limits, watch.seen.lock());
        seen.calls += 1;
        seen.open += 1;
        seen.bytes_open += bytes;
        let broken = if !seen.asked.contains(&usize::from(server != "a")) {
            Some(format!("a tool of {server}, whose tools it was not told"))
        } else if seen.calls > limits.max_calls {
            Some(format!("{} calls", seen.calls))
        } else if seen.open > limits.max_concurrent_calls {
            Some(format!("{} calls at once", seen.open))
        } else if bytes > limits.max_arguments.as_u64() {
            Some(format!("{bytes} bytes of arguments"))
        } else if seen.bytes_open > limits.max_held.as_u64() {
            Some(format!("{} bytes of arguments at once", seen.bytes_open))
        } else {
            None
        };
        seen.broken = seen.broken.take().or(broken);
        drop(seen);
        Self { watch: watch.clone(), bytes }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut seen = self.watch.seen.lock();
        seen.open -= 1;
        seen.bytes_open -= self.bytes;
    }
}

impl Tools for Watched {
    fn observe(&self, step: RunStep) {
        let (mut seen, max) = (self.watch.seen.lock(), self.watch.limits.max_log_lines);
        let broken = match step {
            RunStep::Log { text, .. } => {
                seen.logs += 1;
                (text.len() > RunStep::MAX_TEXT || seen.logs > max.saturating_add(1))
                    .then(|| format!("{} logs", seen.logs))
            }
            RunStep::Queued | RunStep::Admitted | RunStep::Started | RunStep::HandedOver { .. } => None,
            other => Some(format!("{other:?}, which happens on this side")),
        };
        seen.broken = seen.broken.take().or(broken);
    }

    fn is_watched(&self) -> bool {
        // A run is watched until it makes a call.
        self.watch.seen.lock().calls == 0
    }

    fn namespaces(&self) -> Vec<Namespace> {
        self.tools.namespaces()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        self.watch.seen.lock().asked.insert(namespace);
        self.tools.directory(namespace)
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let open = OpenCall::begin(&self.watch, tool.path.server(), arguments.as_str().len() as u64);
        let called = self.tools.call(tool, arguments, limit);
        async move {
            let answer = called.await;
            drop(open);
            answer
        }
        .boxed()
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        self.tools.list(server)
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        self.tools.search(query, limit)
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        self.tools.describe(path)
    }
}

/// Reads what the process is sent until the other side is gone. It checks that the process
/// understands each frame, and that each call gets one answer.
async fn hear(mut hears: Receiver) {
    let (mut answered, mut waiting) = (HashSet::new(), HashSet::new());
    while let Ok(Some(header)) = Header::read(&mut hears).await {
        // What the pipe had no room for may be cut off at the end.
        let Ok(body) = header.body(&mut hears).await else { return };
        match header.kind {
            to_worker::RUN => drop(to_worker::parse_run(&body).expect("a run")),
            to_worker::REPLAY => drop(to_worker::parse_replay(&body).expect("a replay")),
            to_worker::WATCH => drop(to_worker::parse_watch(&body).expect("whether it is watched")),
            to_worker::CANCEL | to_worker::DROP => assert!(body.is_empty()),
            to_worker::ANSWER => drop(to_worker::parse_answer(&body).expect("an answer")),
            to_worker::CALL_ANSWER => {
                let (number, _) = to_worker::parse_call_answer(&body).expect("an answer");
                assert!(answered.insert((header.run, number)), "call {number} of run {} is answered twice", header.run);
            }
            to_worker::ANSWER_WAITS => {
                let (number, _) = to_worker::parse_answer_waits(&body).expect("an answer that waits");
                let is_first = waiting.insert((header.run, number));
                let is_new = !answered.contains(&(header.run, number));
                assert!(is_first && is_new, "call {number} of run {} is told of twice", header.run);
            }
            kind => panic!("the process is told {kind}"),
        }
    }
}

fn limits_of(text: &[u8]) -> Limits {
    let patch: LimitsPatch = serde_json::from_slice(text).unwrap_or_default();
    let (most, given) = (Limits::default(), patch.over(&Limits::default()));
    Limits {
        max_arguments: given.max_arguments.min(most.max_arguments),
        max_output: given.max_output.min(most.max_output),
        max_logs: given.max_logs.min(most.max_logs),
        max_log_lines: given.max_log_lines.min(most.max_log_lines),
        ..given
    }
}

/// `c RUN NUMBER NAMESPACE ENTRY ADMITTED ARGUMENTS`, a call; `t RUN NUMBER ADMITTED` and `f RUN
/// NUMBER`, that an answer is asked for or forgotten; `u RUN NUMBER`, that a call is given up; `d
/// RUN NAMESPACE`, `l RUN [SERVER]`, `s RUN LIMIT QUERY` and `p RUN PATH`, questions; `v RUN ORDER
/// VALUE` and `x RUN KIND MESSAGE`, an outcome; `g RUN`, that it is gone; `w RUN STEP [CALL |
/// TEXT]`, a step; `r RUN VERDICT [TEXT]`, what came of a replay with the recorded call (`ended`,
/// `refused`, `overdue`, or `diverged` with what differs); `b` the same with its outcome.
fn frame_of(words: &str) -> Option<Vec<u8>> {
    let (what, rest) = words.trim_end_matches('\n').split_once(' ')?;
    let (run, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let run = run.parse().ok()?;
    let mut body = Body::default();
    let kind = match what {
        "c" => {
            let mut fields = rest.splitn(5, ' ');
            let (number, namespace, entry) = (fields.next()?, fields.next()?, fields.next()?);
            body.u64(number.parse().ok()?).u32(namespace.parse().ok()?).u32(entry.parse().ok()?);
            body.u64(fields.next()?.parse().ok()?).text(fields.next()?);
            from_worker::CALL
        }
        "t" => {
            let (number, admitted) = rest.split_once(' ')?;
            body.u64(number.parse().ok()?).u64(admitted.parse().ok()?);
            from_worker::TAKE
        }
        "f" => {
            body.u64(rest.parse().ok()?);
            from_worker::FORGET
        }
        "u" => {
            body.u64(rest.parse().ok()?);
            from_worker::GIVE_UP
        }
        "d" => {
            body.u32(rest.parse().ok()?);
            from_worker::DIRECTORY
        }
        "l" => {
            body.byte(u8::from(!rest.is_empty()));
            if !rest.is_empty() {
                body.text(rest);
            }
            from_worker::LIST
        }
        "s" => {
            let (limit, query) = rest.split_once(' ')?;
            body.text(query).u32(limit.parse().ok()?);
            from_worker::SEARCH
        }
        "p" => {
            body.text(rest);
            from_worker::DESCRIBE
        }
        "v" => {
            let (order, value) = rest.split_once(' ')?;
            return Some(from_worker::outcome(run, &outcome(Ok(value), order)));
        }
        "x" => {
            let (kind, message) = rest.split_once(' ')?;
            return Some(from_worker::outcome(run, &outcome(Err((kind, message)), "-")));
        }
        "w" => return from_worker::step(run, &step_of(rest)?),
        "r" => return verdict(run, rest).into_iter().next(),
        "b" => return Some(verdict(run, rest).concat()),
        "g" => from_worker::GONE,
        _ => return None,
    };
    Some(frame(kind, run, &body.0))
}

fn step_of(words: &str) -> Option<RunStep> {
    let (step, rest) = words.split_once(' ').unwrap_or((words, ""));
    Some(match step {
        "queued" => RunStep::Queued,
        "admitted" => RunStep::Admitted,
        "started" => RunStep::Started,
        "log" => RunStep::Log { level: LogLevel::Warn, text: rest.to_owned() },
        "handed" => RunStep::HandedOver { call: rest.parse().ok()? },
        _ => return None,
    })
}

/// The two frames in which a replay ends, with the call of [`ended`].
fn verdict(run: u64, words: &str) -> [Vec<u8>; 2] {
    let (verdict, text) = words.split_once(' ').unwrap_or((words, ""));
    let hit = LimitHit { name: LimitName::Compute, max: 1, used: 2 };
    let replayed = match verdict {
        "diverged" => Err(belljar_sandbox::apart::diverged(&recording(), text.to_owned(), Some(ended()))),
        "overdue" => Err(ReplayError::Time(hit)),
        "refused" => Err(ReplayError::Run(belljar_model::RunError::new(ErrorKind::Busy, text))),
        _ => Ok(ended()),
    };
    replayed::frames(run, replayed)
}

/// An outcome with a log entry of each level. The order is numbers with commas between them.
fn outcome(result: Result<&str, (&str, &str)>, order: &str) -> Outcome {
    let (value, kind, message) = match result {
        Ok(value) => (value, "", ""),
        Err((kind, message)) => ("null", kind, message),
    };
    let kind = serde_json::from_value(kind.into()).unwrap_or(ErrorKind::Internal);
    let value = JsonText::parse(value.to_owned(), &belljar_model::JsonBounds::with_bytes(usize::MAX));
    let levels = [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
    let logs = levels.map(|level| belljar_model::LogEntry { level, text: message.to_owned() });
    Outcome {
        result: match result {
            Ok(_) => Ok(value.unwrap_or_else(|_| JsonText::null())),
            Err(_) => Err(belljar_model::RunError::new(kind, message).with_hint(message)),
        },
        media: Vec::new(),
        kept: Vec::new(),
        logs: logs.into(),
        calls: Vec::new(),
        usage: belljar_model::Usage::default(),
        order: order.split(',').filter_map(|number| number.parse().ok()).collect(),
        run: None,
        recording: None,
    }
}

/// A frame as it goes over the pipe.
fn frame(kind: u8, run: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER_BYTES + body.len());
    frame.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    frame.push(kind);
    frame.extend(run.to_le_bytes());
    frame.extend(body);
    frame
}

/// Fields one after the other.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn text(&mut self, value: &str) -> &mut Self {
        self.u64(value.len() as u64);
        self.0.extend(value.as_bytes());
        self
    }
}

fn parts(data: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), data);
    while let Some(at) = rest.windows(PART.len()).position(|window| window == PART) {
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after.get(PART.len()..).unwrap_or_default();
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_engine_frames_holds_still() {
        replay::replay("engine_frames", engine_frames);
    }
}
