//! Answers on their way to a process, and answers that wait for it.

use std::sync::atomic::AtomicU64;

use belljar_sandbox::{AnswerRoom, CallError, Directory, GrantedTool, Namespace, Unavailable};
use cap_std::{ambient_authority, fs::Dir};
use futures::{FutureExt as _, future::BoxFuture};

use super::*;

const ANSWER_BYTES: usize = 400_000;

/// A tool that asks for room before it makes its answer, like a child before its answer is read.
struct Gated {
    tools: ToolSet,
    made: Arc<AtomicU64>,
}

impl Gated {
    fn counted() -> (Arc<dyn Tools>, Arc<AtomicU64>) {
        let made = Arc::new(AtomicU64::new(0));
        let tools = ToolSet::new().with("a", "large", Effect::ReadOnly, |_| std::future::ready(Ok(json!(null))));
        (Arc::new(Self { tools, made: made.clone() }), made)
    }
}

impl Tools for Gated {
    fn namespaces(&self) -> Vec<Namespace> {
        self.tools.namespaces()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        self.tools.directory(namespace)
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        self.tools.call(tool, arguments, limit)
    }

    fn begin(
        &self,
        number: u64,
        _tool: &GrantedTool,
        _arguments: JsonText,
        _limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let made = self.made.clone();
        async move {
            room.admit(ANSWER_BYTES).await;
            made.fetch_add(1, Ordering::SeqCst);
            Ok(JsonText::from_value(&json!(answer_of(number).trim_matches('"'))))
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

/// An answer that can be recognised by its number.
fn answer_of(number: u64) -> String {
    let digits = number.to_string();
    format!("\"{}{digits}\"", "0".repeat(ANSWER_BYTES - 2 - digits.len()))
}

/// A run that has the directory, and its process.
async fn asked(
    limits: Limits,
    tools: Arc<dyn Tools>,
    folder: Option<Arc<Dir>>,
) -> (JoinHandle<Lost>, Fake, JoinHandle<Option<Outcome>>) {
    let (connection, serving, mut fake) = connected();
    let keeper = Keeper::new(limits.max_held, folder);
    let run = begun_with_keeper(&connection, "return 1".to_owned(), limits, (tools, keeper), std::future::pending());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    (serving, fake, run)
}

/// A server whose tool answers with this many bytes.
fn sized(bytes: usize) -> Arc<dyn Tools> {
    let text = "x".repeat(bytes);
    Arc::new(ToolSet::new().with("a", "large", Effect::ReadOnly, move |_| std::future::ready(Ok(json!(text)))))
}

impl Fake {
    /// The gateway's next message about a call: that its answer, of this many bytes, waits, or the
    /// answer.
    async fn hear_of_a_call(&mut self) -> (u64, Result<String, usize>) {
        let header = Header::read(&mut self.hears).await.expect("a pipe").expect("a frame");
        let body = header.body(&mut self.hears).await.expect("its body");
        if header.kind == to_worker::ANSWER_WAITS {
            let (number, bytes) = to_worker::parse_answer_waits(&body).expect("it is one");
            return (number, Err(bytes));
        }
        assert_eq!(header.kind, to_worker::CALL_ANSWER);
        let (number, answer) = to_worker::parse_call_answer(&body).expect("an answer");
        (number, Ok(answer.expect("the tool does not fail")))
    }

    async fn take(&mut self, number: u64) -> String {
        self.say(&take(number)).await;
        loop {
            let header = Header::read(&mut self.hears).await.expect("a pipe").expect("a frame");
            let body = header.body(&mut self.hears).await.expect("its body");
            if header.kind == to_worker::CALL_ANSWER {
                let (answered, answer) = to_worker::parse_call_answer(&body).expect("an answer");
                assert_eq!(answered, number);
                return answer.expect("the tool does not fail");
            }
        }
    }
}

#[tokio::test]
async fn small_answers_come_unasked_and_larger_ones_when_they_are_asked_for() {
    let (_serving, mut fake, run) = asked(Limits::default(), sized(100_000), None).await;
    for number in 1..=3 {
        fake.say(&call(number, 0, 0)).await;
    }
    // Two of them fit into what may be sent unasked.
    let mut weight = 0;
    for number in 1..=2 {
        let (of, answer) = fake.hear_of_a_call().await;
        let answer = answer.expect("it comes at once");
        assert_eq!(of, number);
        weight += to_worker::answer_weight(answer.len());
    }
    let (of, waits) = fake.hear_of_a_call().await;
    let bytes = waits.expect_err("it waits");
    assert_eq!(of, 3);
    // When answers have found room, more may follow.
    fake.say(&from_worker::call(1, 4, (0, 0), weight, "{}")).await;
    let (of, answer) = fake.hear_of_a_call().await;
    assert!(of == 4 && answer.is_ok());
    assert_eq!(fake.take(3).await.len(), bytes);
    fake.say(&outcome(Ok(JsonText::null()), vec![1, 2, 4, 3])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert!(outcome.is_ok() && outcome.calls.iter().all(|call| call.ok), "{outcome:?}");
    assert_eq!(outcome.calls.len(), 4);
}

#[tokio::test]
async fn tools_are_asked_to_wait_when_a_runs_budget_is_full_until_answers_are_taken() {
    let limits = Limits { max_held: ByteSize::mib(1), ..Limits::default() };
    let (tools, made) = Gated::counted();
    let (_serving, mut fake, run) = asked(limits, tools, None).await;
    for number in 1..=10 {
        fake.say(&call(number, 0, 0)).await;
    }
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let (number, waits) = fake.hear_of_a_call().await;
        assert!(waits.is_err_and(|bytes| bytes == ANSWER_BYTES));
        waiting.push(number);
    }
    // A later call is reported, so all of these have begun.
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    assert_eq!(made.load(Ordering::SeqCst), 2, "no more than two are within the budget");
    // Each one that is taken lets another come, whichever of them the script waits for.
    let mut taken = Vec::new();
    while let Some(number) = waiting.pop() {
        fake.say(&take(number)).await;
        loop {
            match fake.hear_of_a_call().await {
                (of, Err(_)) => waiting.push(of),
                (of, Ok(answer)) => {
                    assert_eq!((of, answer), (number, answer_of(number)));
                    taken.push(number);
                    break;
                }
            }
        }
        if taken.len() + waiting.len() < 10 && waiting.len() < 2 {
            let (of, waits) = fake.hear_of_a_call().await;
            assert!(waits.is_err());
            waiting.push(of);
        }
    }
    taken.sort_unstable();
    assert_eq!(taken, (1..=10).collect::<Vec<_>>());
    fake.say(&outcome(Ok(JsonText::null()), taken)).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    let most = outcome.usage.peak_held_bytes.expect("it is counted");
    assert!((2 * ANSWER_BYTES as u64..(1 << 20) + 10_000).contains(&most), "{most}");
}

#[tokio::test]
async fn answers_beyond_a_runs_budget_wait_in_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = Arc::new(Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder"));
    let limits = Limits { max_held: ByteSize::mib(1), ..Limits::default() };
    let (tools, made) = Gated::counted();
    let (_serving, mut fake, run) = asked(limits, tools, Some(dir)).await;
    for number in 1..=50 {
        fake.say(&call(number, 0, 0)).await;
    }
    let mut waiting = Vec::new();
    for _ in 1..=50 {
        let (number, waits) = fake.hear_of_a_call().await;
        assert!(waits.is_err());
        waiting.push(number);
    }
    assert_eq!(made.load(Ordering::SeqCst), 50, "none of them has been taken");
    assert_eq!(folder.path().read_dir().expect("the folder").count(), 0, "the file has no name");
    for number in waiting.into_iter().rev() {
        assert_eq!(fake.take(number).await, answer_of(number));
    }
    fake.say(&outcome(Ok(JsonText::null()), vec![])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    // The budget, what is on its way to the file, and records.
    let most = outcome.usage.peak_held_bytes.expect("it is counted");
    assert!(most <= (1 << 20) + (8 << 20) + 50_000, "{most}");
}

#[tokio::test]
async fn answers_that_wait_count_as_calls_at_once() {
    let limits = Limits { max_concurrent_calls: 6, ..Limits::default() };
    let (serving, mut fake, run) = asked(limits, sized(1 << 20), None).await;
    for number in 1..=6 {
        fake.say(&call(number, 0, 0)).await;
        let (_, waits) = fake.hear_of_a_call().await;
        assert!(waits.is_err());
    }
    // An answer that was taken or released makes room for another.
    fake.take(2).await;
    fake.say(&call(7, 0, 0)).await;
    fake.hear(to_worker::ANSWER_WAITS).await;
    fake.say(&from_worker::forget(1, 3)).await;
    fake.say(&call(8, 0, 0)).await;
    fake.hear(to_worker::ANSWER_WAITS).await;
    fake.say(&call(9, 0, 0)).await;
    assert_eq!(serving.await.expect("no panic"), Lost::Violated(Violation::Calls));
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert!(outcome.calls.len() == 8 && outcome.calls.iter().all(|call| call.ok), "{outcome:?}");
}

#[tokio::test]
async fn an_answer_is_sent_once() {
    let (serving, mut fake, _run) = asked(Limits::default(), sized(1 << 20), None).await;
    fake.say(&call(1, 0, 0)).await;
    fake.hear(to_worker::ANSWER_WAITS).await;
    fake.take(1).await;
    fake.say(&take(1)).await;
    assert_eq!(serving.await.expect("no panic"), Lost::Violated(Violation::Answer));
}

#[tokio::test]
async fn a_process_that_takes_and_does_not_read_holds_up_its_own_answers_alone() {
    let limits = Limits { max_result: ByteSize::mib(16), ..Limits::default() };
    let (_serving, mut fake, run) = asked(limits, sized(4 << 20), None).await;
    for number in 1..=12 {
        fake.say(&call(number, 0, 0)).await;
        fake.hear(to_worker::ANSWER_WAITS).await;
    }
    for number in 1..=12 {
        fake.say(&take(number)).await;
    }
    // All are requested and none is read, but the run's end is still noticed.
    fake.say(&outcome(Ok(JsonText::null()), vec![])).await;
    let outcome = timeout(MOMENT, run).await.expect("it ends").expect("no panic").expect("it had begun");
    assert_eq!(outcome.calls.len(), 12);
}

#[tokio::test]
async fn what_is_held_for_a_run_is_its_own_and_that_of_its_process() {
    let (_serving, mut fake, run) = asked(Limits::default(), sized(1 << 20), None).await;
    fake.say(&call(1, 0, 0)).await;
    fake.hear(to_worker::ANSWER_WAITS).await;
    fake.take(1).await;
    let usage = Usage { peak_held_bytes: Some(5_000_000), ..Usage::default() };
    let said = Outcome { usage, ..Outcome::refused(RunError::new(ErrorKind::Exception, "")) };
    fake.say(&from_worker::outcome(1, &said)).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    let most = outcome.usage.peak_held_bytes.expect("it is counted");
    assert!((5_000_000 + (1 << 20)..5_000_000 + (1 << 20) + 10_000).contains(&most), "{most}");
}
