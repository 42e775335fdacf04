//! The gateway's side withstands an engine process that an attacker controls.

mod answers;
mod bounds;
mod given_up;
mod replays;
mod steps;

use std::{
    io,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
};

use belljar_model::{ByteSize, Effect, ErrorKind, JsonText, Usage};
use belljar_sandbox::{AnswerStyle, ToolSet, Tools};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWriteExt as _, ReadBuf},
    sync::oneshot,
    task::JoinHandle,
    time::{Duration, sleep},
};

use super::{
    connection::Connection,
    lost::{Lost, Violation},
    run::{Run, Terms},
    *,
};
use crate::protocol::{
    Malformed,
    bytes::Writer,
    frame::{HEADER_BYTES, Header, frame},
    from_worker::{self, Question, Take},
    outbox::Outbox,
    to_worker,
};

/// A guard against hanging.
const MOMENT: Duration = Duration::from_secs(30);

/// The other side, which sends whatever a test wants.
struct Fake {
    hears: Receiver,
    says: Sender,
}

impl Fake {
    async fn say(&mut self, bytes: &[u8]) {
        // A process that was ended has nobody to talk to.
        let _ = self.says.write_all(bytes).await;
    }

    /// The next frame of this kind; others are skipped.
    async fn hear(&mut self, kind: u8) -> Vec<u8> {
        loop {
            let header = Header::read(&mut self.hears).await.expect("a pipe").expect("a frame");
            let body = header.body(&mut self.hears).await.expect("its body");
            if header.kind == kind {
                return body;
            }
        }
    }
}

fn connected() -> (Arc<Connection>, JoinHandle<Lost>, Fake) {
    connected_with(&SandboxOptions::default())
}

fn connected_with(options: &SandboxOptions) -> (Arc<Connection>, JoinHandle<Lost>, Fake) {
    let (hears, to) = io::pipe().expect("a pipe");
    let (from, says) = io::pipe().expect("a pipe");
    let connection = Connection::new(Sender::from_owned_fd(to.into()).expect("a sender"), options);
    let from = Receiver::from_owned_fd(from.into()).expect("a receiver");
    let serving = serving(&connection, from);
    let hears = Receiver::from_owned_fd(hears.into()).expect("a receiver");
    let says = Sender::from_owned_fd(says.into()).expect("a sender");
    (connection, serving, Fake { hears, says })
}

fn serving(connection: &Arc<Connection>, from: impl AsyncRead + Unpin + Send + 'static) -> JoinHandle<Lost> {
    let (served, guard) = (connection.clone(), Serving::new(connection.clone(), None));
    tokio::spawn(async move {
        let guard = guard;
        let lost = served.serve(from).await;
        guard.end(lost.clone());
        lost
    })
}

/// A connection that nobody serves.
fn unserved(to: io::PipeWriter) -> Arc<Connection> {
    Connection::new(Sender::from_owned_fd(to.into()).expect("a sender"), &SandboxOptions::default())
}

fn tools() -> Arc<dyn Tools> {
    let quick = async |arguments: serde_json::Map<String, serde_json::Value>| Ok(json!({ "got": arguments }));
    let never = async |_| std::future::pending().await;
    Arc::new(
        ToolSet::new().with("a", "quick", Effect::ReadOnly, quick).with("a", "never", Effect::External, never).with(
            "b",
            "secret",
            Effect::External,
            quick,
        ),
    )
}

/// Begins a run of these limits, as number 1 of its connection.
fn begun(connection: &Arc<Connection>, limits: Limits) -> JoinHandle<Option<Outcome>> {
    begun_with(connection, "return 1".to_owned(), limits, tools(), std::future::pending())
}

fn begun_with(
    connection: &Arc<Connection>,
    source: String,
    limits: Limits,
    tools: Arc<dyn Tools>,
    cancelled: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<Option<Outcome>> {
    let keeper = Keeper::new(limits.max_held, None);
    begun_with_keeper(connection, source, limits, (tools, keeper), cancelled)
}

fn begun_with_keeper(
    connection: &Arc<Connection>,
    source: String,
    limits: Limits,
    (tools, keeper): (Arc<dyn Tools>, Keeper),
    cancelled: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<Option<Outcome>> {
    let connection = connection.clone();
    tokio::spawn(async move {
        connection.run(&Program::new(source), &limits, tools, keeper, limits.timeout, cancelled).await
    })
}

/// A connection whose process reads nothing, with a run whose source leaves no room for that of
/// another.
async fn full(limits: Limits) -> (Arc<Connection>, JoinHandle<Lost>, Fake, JoinHandle<Option<Outcome>>) {
    let (connection, serving, fake) = connected();
    let first = begun_with(&connection, " ".repeat(16 << 20), limits, tools(), std::future::pending());
    while connection.waiting_frames() == 0 {
        tokio::task::yield_now().await;
    }
    (connection, serving, fake, first)
}

/// A pipe that panics when it is read.
struct Panics;

impl AsyncRead for Panics {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        panic!("as the test wants");
    }
}

fn ask(namespace: u32) -> Vec<u8> {
    from_worker::question(1, &Question::Directory(namespace))
}

fn call(number: u64, namespace: u32, entry: u32) -> Vec<u8> {
    from_worker::call(1, number, (namespace, entry), 0, "{}")
}

fn take(number: u64) -> Vec<u8> {
    from_worker::take(1, Take { number, admitted: 0 })
}

fn outcome(result: Result<JsonText, RunError>, order: Vec<u64>) -> Vec<u8> {
    let outcome = Outcome {
        result,
        media: Vec::new(),
        kept: Vec::new(),
        logs: Vec::new(),
        calls: Vec::new(),
        usage: Usage::default(),
        order,
        run: None,
        recording: None,
    };
    from_worker::outcome(1, &outcome)
}

/// The start of a frame whose body never comes.
fn claim(kind: u8, run: u64, length: u32) -> Vec<u8> {
    let mut claimed = frame(kind, run, &[]);
    claimed.splice(..4, length.to_le_bytes());
    claimed
}

/// Sends `frames` once the run has the directory of server `a` (quick, never), and returns the fate
/// of process and run.
async fn after(frames: Vec<Vec<u8>>, limits: Limits) -> (Lost, Outcome) {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, limits);
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    for frame in frames {
        fake.say(&frame).await;
    }
    drop(fake.says);
    let lost = serving.await.expect("no panic");
    (lost, run.await.expect("no panic").expect("it had begun"))
}

#[tokio::test]
async fn a_process_that_breaks_a_rule_is_ended_and_its_run_is_internal() {
    let limits = Limits { max_calls: 3, max_concurrent_calls: 2, max_arguments: ByteSize(100), ..Limits::default() };
    let limits = Limits { max_held: ByteSize(150), ..limits };
    let padded = |number| from_worker::call(1, number, (0, 1), 0, &format!("{{\"a\":\"{}\"}}", "x".repeat(80)));
    let null = || outcome(Ok(JsonText::null()), vec![]);
    let with_kind = |kind, body: &[u8]| vec![frame(kind, 1, body)];
    let malformed = |malformed| Violation::Malformed(malformed);
    let table: Vec<(&str, Vec<Vec<u8>>, Violation)> = vec![
        ("garbage", vec![b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n".to_vec()], Violation::Run),
        ("a frame for no run", vec![frame(from_worker::READY, 0, &[])], Violation::Run),
        ("a frame for another's run", vec![from_worker::call(2, 1, (0, 0), 0, "{}")], Violation::Run),
        ("an unknown kind", with_kind(200, b"x"), Violation::Kind(200)),
        ("ready once more", with_kind(from_worker::READY, b""), Violation::Kind(from_worker::READY)),
        ("gone though it was not dropped", vec![from_worker::gone(1)], Violation::Kind(from_worker::GONE)),
        ("a call of 4 GiB", vec![claim(from_worker::CALL, 1, u32::MAX)], Violation::Length { length: u32::MAX }),
        ("arguments over the limit", vec![claim(from_worker::CALL, 1, 2_000)], Violation::Length { length: 2_000 }),
        (
            "arguments a little over the limit",
            vec![from_worker::call(1, 1, (0, 0), 0, &"x".repeat(101))],
            malformed(Malformed::Limit),
        ),
        ("an outcome of 1 GiB", vec![claim(from_worker::OUTCOME, 1, 1 << 30)], Violation::Length { length: 1 << 30 }),
        ("a question of 1 MiB", vec![claim(from_worker::LIST, 1, 1 << 20)], Violation::Length { length: 1 << 20 }),
        ("a namespace that is not there", vec![call(1, 7, 0)], Violation::Tool),
        ("a namespace that it has not asked for", vec![call(1, 1, 0)], Violation::Tool),
        ("an entry that is not there", vec![call(1, 0, 2)], Violation::Tool),
        ("the largest numbers", vec![call(1, u32::MAX, u32::MAX)], Violation::Tool),
        ("a number that has no next", vec![call(u64::MAX, 0, 0)], Violation::Number),
        ("a number twice", vec![call(5, 0, 1), call(5, 0, 1)], Violation::Number),
        ("a number that goes back", vec![call(5, 0, 1), call(4, 0, 1)], Violation::Number),
        ("too many calls at once", vec![call(1, 0, 1), call(2, 0, 1), call(3, 0, 1)], Violation::Calls),
        ("more arguments than are held for a run", vec![padded(1), padded(2)], Violation::Held),
        ("too many calls", (1..=4).map(|number| call(number, 0, 0)).collect(), Violation::Calls),
        ("an answer that was never there", vec![take(1)], Violation::Answer),
        ("an answer that came unasked", vec![call(1, 0, 0), take(1)], Violation::Answer),
        ("the answer of a call that has none", vec![call(1, 0, 1), take(1)], Violation::Answer),
        ("an answer let go of that is not there", vec![from_worker::forget(1, 1)], Violation::Answer),
        ("more admitted than was sent", vec![from_worker::call(1, 1, (0, 0), 1, "{}")], Violation::Admitted),
        ("two questions at once", vec![[ask(0), ask(0)].concat()], Violation::Questions),
        ("a call that ends early", with_kind(from_worker::CALL, &[1, 0, 0]), malformed(Malformed::Short)),
        (
            "a call with more behind it",
            with_kind(from_worker::CALL, &[&call(1, 0, 0)[13..], b"x"].concat()),
            malformed(Malformed::Long),
        ),
        ("an outcome that is none", with_kind(from_worker::OUTCOME, &[7; 40]), malformed(Malformed::Tag)),
        (
            "a value that is no JSON",
            with_kind(from_worker::OUTCOME, &Writer::default().flag(true).text("{oops").finish()),
            malformed(Malformed::Json),
        ),
        ("an outcome twice", vec![[null(), null()].concat()], Violation::Run),
    ];
    for (attack, frames, expected) in table {
        let is_second = attack == "an outcome twice";
        let (lost, outcome) = after(frames, limits.clone()).await;
        assert_eq!(lost, Lost::Violated(expected), "{attack}");
        if is_second {
            continue;
        }
        let error = outcome.result.expect_err(attack);
        assert_eq!(error.kind, ErrorKind::Internal, "{attack}");
        assert!(error.message.contains("broke its protocol"), "{attack}: {}", error.message);
    }
}

#[tokio::test]
async fn a_run_whose_process_ends_keeps_the_calls_that_were_made() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    fake.say(&call(1, 0, 0)).await;
    fake.hear(to_worker::CALL_ANSWER).await;
    fake.say(&call(3, 0, 1)).await;
    // The answer to this one shows that the previous one has begun.
    fake.say(&call(4, 0, 0)).await;
    fake.hear(to_worker::CALL_ANSWER).await;
    drop(fake);
    assert!(matches!(serving.await.expect("no panic"), Lost::Ended(_)));
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert_eq!(outcome.result.expect_err("it was lost").kind, ErrorKind::Internal);
    let calls: Vec<_> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("quick", true), ("quick", true), ("never", false)]);
    assert!(!connection.is_alive());
    assert!(begun(&connection, Limits::default()).await.expect("no panic").is_none(), "nothing is begun any more");
}

#[tokio::test]
async fn calls_stand_in_the_order_of_their_answers_and_none_can_be_hidden() {
    let (connection, _serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.say(&[]).await;
    fake.hear(to_worker::ANSWER).await;
    for (number, entry) in [(1, 0), (2, 1), (5, 0), (9, 0)] {
        fake.say(&from_worker::call(1, number, (0, entry), 0, "{}")).await;
        if entry == 0 {
            fake.hear(to_worker::CALL_ANSWER).await;
        }
    }
    // It omits number 9, and mentions one that never existed.
    fake.say(&outcome(Ok(JsonText::null()), vec![5, 77, 1])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert_eq!(outcome.order, [5, 77, 1]);
    let tools: Vec<_> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(tools, [("quick", true), ("quick", true), ("quick", true), ("never", false)]);
    assert_eq!(outcome.usage.tool_calls, 4);
}

#[tokio::test]
async fn what_a_dropped_run_still_says_is_passed_over_until_it_is_gone() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    fake.say(&call(1, 0, 1)).await;
    run.abort();
    assert!(run.await.expect_err("it was aborted").is_cancelled());
    fake.hear(to_worker::DROP).await;
    for late in [call(2, 0, 0), ask(0), from_worker::gone(1)] {
        fake.say(&late).await;
    }
    // The talk goes on with the next run.
    let next = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    let value = Outcome { result: Ok(JsonText::null()), ..Outcome::refused(RunError::new(ErrorKind::Internal, "")) };
    fake.say(&from_worker::outcome(2, &value)).await;
    assert!(next.await.expect("no panic").expect("it had begun").is_ok());
    // From now on, number 1 belongs to nobody.
    fake.say(&call(3, 0, 0)).await;
    assert_eq!(serving.await.expect("no panic"), Lost::Violated(Violation::Run));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_never_ends_a_run_is_ended_itself() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits { timeout: Duration::from_secs(1), ..Limits::default() });
    fake.hear(to_worker::RUN).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert!(matches!(serving.await.expect("no panic"), Lost::Overdue(_)));
    let error = outcome.result.expect_err("it was lost");
    assert!(error.message.contains("had not ended a run"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ignores_a_cancellation_is_ended() {
    let (connection, serving, mut fake) = connected();
    let (cancel, cancelled) = oneshot::channel::<()>();
    let running = connection.clone();
    let run = tokio::spawn(async move {
        let cancelled = async { drop(cancelled.await) };
        let (program, limits) = (Program::new("return 1"), Limits::default());
        let keeper = Keeper::new(limits.max_held, None);
        running.run(&program, &limits, tools(), keeper, limits.timeout, cancelled).await
    });
    fake.hear(to_worker::RUN).await;
    cancel.send(()).expect("it waits");
    fake.hear(to_worker::CANCEL).await;
    assert!(!run.await.expect("no panic").expect("it had begun").is_ok());
    assert!(matches!(serving.await.expect("no panic"), Lost::Overdue(_)));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_keeps_a_dropped_run_is_ended_though_no_other_is_begun() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    run.abort();
    assert!(run.await.expect_err("it was aborted").is_cancelled());
    fake.hear(to_worker::DROP).await;
    assert!(matches!(serving.await.expect("no panic"), Lost::Overdue(_)));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stops_reading_is_given_nothing_more_and_ended() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits { timeout: Duration::from_secs(3600), ..Limits::default() });
    fake.hear(to_worker::RUN).await;
    let begun_at = tokio::time::Instant::now();
    drop(fake.hears);
    // There is nothing to be written to it.
    while connection.is_alive() {
        tokio::task::yield_now().await;
    }
    assert!(begun(&connection, Limits::default()).await.expect("no panic").is_none());
    assert_eq!(serving.await.expect("no panic"), Lost::Deaf);
    let error = run.await.expect("no panic").expect("it had begun").result.expect_err("it was lost");
    assert!(error.message.contains("read nothing more"), "{}", error.message);
    assert!(begun_at.elapsed() < Duration::from_secs(5), "its time has nothing to do with it");
}

#[tokio::test]
async fn what_a_process_said_before_it_ended_is_heard() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    drop(fake.hears);
    while connection.is_alive() {
        tokio::task::yield_now().await;
    }
    let _ = fake.says.write_all(&outcome(Ok(JsonText::null()), vec![])).await;
    drop(fake.says);
    assert!(run.await.expect("no panic").expect("it had begun").is_ok());
    assert!(matches!(serving.await.expect("no panic"), Lost::Ended(_)));
}

#[tokio::test]
async fn a_run_that_waits_for_room_can_be_cancelled_and_goes_elsewhere_when_its_process_ends() {
    let (connection, serving, fake, first) = full(Limits::default()).await;
    let (cancel, cancelled) = oneshot::channel::<()>();
    let cancelled = async { drop(cancelled.await) };
    let second = begun_with(&connection, "return 1".to_owned(), Limits::default(), tools(), cancelled);
    let third = begun(&connection, Limits::default());
    tokio::task::yield_now().await;
    cancel.send(()).expect("it waits");
    let second = timeout(MOMENT, second).await.expect("it ends").expect("no panic").expect("it is not begun elsewhere");
    assert_eq!(second.result.expect_err("it was cancelled").kind, ErrorKind::Cancelled);
    drop(fake);
    assert!(matches!(serving.await.expect("no panic"), Lost::Ended(_)));
    assert!(first.await.expect("no panic").is_some_and(|outcome| !outcome.is_ok()));
    let third = timeout(MOMENT, third).await.expect("it ends").expect("no panic");
    assert!(third.is_none(), "it was never sent, so another process can have it");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_reads_nothing_is_ended_when_a_run_has_waited_its_time_for_room() {
    let patient = Limits { timeout: Duration::from_secs(3600), ..Limits::default() };
    let (connection, serving, _fake, first) = full(patient).await;
    let second = begun(&connection, Limits { timeout: Duration::from_secs(1), ..Limits::default() });
    // As long as the first has time, the second has none, so only the first can have ended the
    // process.
    let second = timeout(Duration::from_secs(60), second).await.expect("it ends").expect("no panic");
    let error = second.expect("its time is over").result.expect_err("it was lost");
    assert!(error.message.contains("had not ended a run"), "{}", error.message);
    assert!(matches!(serving.await.expect("no panic"), Lost::Overdue(_)));
    assert!(first.await.expect("no panic").is_some_and(|outcome| !outcome.is_ok()));
}

#[tokio::test]
async fn runs_end_when_the_task_that_serves_their_process_panics_or_is_aborted() {
    let (_from, to) = io::pipe().expect("a pipe");
    let connection = unserved(to);
    let run = begun(&connection, Limits::default());
    tokio::task::yield_now().await;
    assert!(serving(&connection, Panics).await.expect_err("it panics").is_panic());
    assert!(!connection.is_alive());
    let outcome = timeout(MOMENT, run).await.expect("it ends").expect("no panic").expect("it had begun");
    assert!(outcome.result.expect_err("it was lost").message.contains("panicked"));

    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    serving.abort();
    let outcome = timeout(MOMENT, run).await.expect("it ends").expect("no panic").expect("it had begun");
    assert!(!outcome.is_ok() && !connection.is_alive());
}

#[tokio::test]
async fn a_tool_that_panics_before_it_gives_its_future_fails_alone() {
    let (connection, _serving, mut fake) = connected();
    let panics = |_| -> std::future::Ready<Result<serde_json::Value, String>> { panic!("at once") };
    let tools = Arc::new(ToolSet::new().with("a", "panics", Effect::External, panics));
    let run = begun_with(&connection, "return 1".to_owned(), Limits::default(), tools, std::future::pending());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    fake.say(&call(1, 0, 0)).await;
    fake.hear(to_worker::CALL_ANSWER).await;
    fake.say(&outcome(Ok(JsonText::null()), vec![1])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    let errors: Vec<_> = outcome.calls.iter().filter_map(|call| call.error.as_deref()).collect();
    assert!(matches!(errors[..], [error] if error.contains("panicked")), "{errors:?}");
    assert!(connection.is_alive());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_begun_in_a_process_that_is_about_to_be_ended() {
    // Nobody serves it, so nobody ends it.
    let (_from, to) = io::pipe().expect("a pipe");
    let connection = unserved(to);
    let _overdue = begun(&connection, Limits { timeout: Duration::from_secs(1), ..Limits::default() });
    sleep(Duration::from_secs(3600)).await;
    assert!(!connection.is_alive(), "whoever asks again would get it again, without end");
    assert!(begun(&connection, Limits::default()).await.expect("no panic").is_none());
}

#[tokio::test]
async fn a_call_that_comes_while_its_run_is_dropped_is_not_made() {
    let (from, to) = io::pipe().expect("a pipe");
    let outbox = Arc::new(Outbox::new(Sender::from_owned_fd(to.into()).expect("a sender")));
    let flushed = outbox.clone();
    let _flushing = tokio::spawn(async move { flushed.flush().await });
    let mut from = Receiver::from_owned_fd(from.into()).expect("a receiver");
    let called = Arc::new(AtomicUsize::new(0));
    let counted = called.clone();
    let count = move |_| std::future::ready(Ok(json!(counted.fetch_add(1, Ordering::SeqCst))));
    let tools = Arc::new(ToolSet::new().with("a", "count", Effect::External, count));
    let keeper = Keeper::new(Limits::default().max_held, None);
    let limits = Limits::default();
    let terms = Terms {
        limits,
        tools,
        namespaces: vec![AnswerStyle::default()],
        keeper,
        max_recording: None,
        is_replay: false,
        is_watched: false,
    };
    let (run, _ended) = Run::new(1, terms, outbox);
    let body = |frame: &[u8]| frame[HEADER_BYTES..].to_vec();
    run.take(from_worker::DIRECTORY, &body(&ask(0))).expect("it may ask");
    Header::read(&mut from).await.expect("a pipe").expect("the directory");
    run.take(from_worker::CALL, &body(&call(1, 0, 0))).expect("it may call");
    assert_eq!(called.load(Ordering::SeqCst), 1);
    assert_eq!(run.close(&[]).len(), 1);
    run.take(from_worker::CALL, &body(&call(2, 0, 0))).expect("it cannot know that its run was dropped");
    for _ in 0..2 {
        run.take(from_worker::DIRECTORY, &body(&ask(0))).expect("the same");
    }
    assert_eq!(called.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn arguments_are_held_until_their_call_is_answered() {
    let limits = Limits { max_held: ByteSize(150), ..Limits::default() };
    let (connection, _serving, mut fake) = connected();
    let run = begun(&connection, limits);
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    for number in 1..=5 {
        fake.say(&from_worker::call(1, number, (0, 0), 0, &format!("{{\"a\":\"{}\"}}", "x".repeat(80)))).await;
        fake.hear(to_worker::ANSWER_WAITS).await;
        fake.say(&take(number)).await;
        fake.hear(to_worker::CALL_ANSWER).await;
    }
    fake.say(&outcome(Ok(JsonText::null()), vec![1, 2, 3, 4, 5])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert!(outcome.is_ok() && outcome.calls.iter().all(|call| call.ok), "{outcome:?}");
}
