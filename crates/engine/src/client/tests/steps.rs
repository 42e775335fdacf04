//! What the listeners of runs hear.

use std::sync::atomic::AtomicBool;

use belljar_model::{LogLevel, RunStep};
use belljar_sandbox::{CallError, Directory, GrantedTool, Namespace, Unavailable};
use futures::future::BoxFuture;

use super::*;

/// Tools of a run with listeners, or without.
struct Heard {
    tools: Arc<dyn Tools>,
    is_watched: AtomicBool,
    steps: Mutex<Vec<RunStep>>,
}

impl Heard {
    fn new(is_watched: bool) -> Arc<Self> {
        Arc::new(Self { tools: tools(), is_watched: AtomicBool::new(is_watched), steps: Mutex::default() })
    }

    fn begun(self: &Arc<Self>, connection: &Arc<Connection>, limits: Limits) -> JoinHandle<Option<Outcome>> {
        let keeper = Keeper::new(limits.max_held, None);
        let never = std::future::pending();
        begun_with_keeper(connection, "return 1".to_owned(), limits, (self.clone(), keeper), never)
    }
}

impl Tools for Heard {
    fn observe(&self, step: RunStep) {
        self.steps.lock().push(step);
    }

    fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::SeqCst)
    }

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

/// What listeners hear of a run whose process reports these steps, and why the process was ended,
/// if it was.
async fn told(is_watched: bool, steps: &[RunStep]) -> (Vec<RunStep>, Option<Lost>) {
    let (connection, mut serving, mut fake) = connected();
    let heard = Heard::new(is_watched);
    let run = heard.begun(&connection, Limits { max_log_lines: 1, ..Limits::default() });
    fake.hear(to_worker::RUN).await;
    for step in steps {
        fake.say(&from_worker::step(1, step).expect("a step of the engine's")).await;
    }
    fake.say(&outcome(Ok(JsonText::null()), Vec::new())).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    let lost = match outcome.is_ok() {
        true => tokio::time::timeout(Duration::from_millis(50), &mut serving).await.ok(),
        false => Some(serving.await),
    };
    let steps = heard.steps.lock().clone();
    (steps, lost.map(|lost| lost.expect("no panic")))
}

fn log() -> RunStep {
    RunStep::log(LogLevel::Log, "said")
}

#[tokio::test]
async fn a_process_tells_those_who_watch_the_steps_of_a_run_in_their_order_and_no_more_than_it_can_have() {
    use RunStep::{Admitted, HandedOver, Queued, Started};

    let (first, later) = (HandedOver { call: 0 }, HandedOver { call: 1 });
    for steps in [
        vec![Queued, Admitted, Started, log(), first, later, log()],
        vec![Admitted, Started],
        // A later listener has missed some.
        vec![log()],
    ] {
        assert_eq!(told(true, &steps).await, (steps, None));
    }
    for steps in [
        vec![Admitted, Queued],
        vec![Queued, Admitted, Admitted],
        vec![Started, Started],
        vec![log(), Started],
        // One line, and the one that says that others are cut.
        vec![log(), log(), log()],
    ] {
        let (heard, lost) = told(true, &steps).await;
        assert_eq!((heard.as_slice(), lost), (&steps[..steps.len() - 1], Some(Lost::Violated(Violation::Steps))));
    }
    assert_eq!(told(false, &[Started]).await, (Vec::new(), Some(Lost::Violated(Violation::Unwatched))));
}

#[tokio::test]
async fn a_process_hears_with_the_next_answer_that_somebody_watches_or_nobody_does_any_more() {
    let (connection, _serving, mut fake) = connected();
    let heard = Heard::new(false);
    let _run = heard.begun(&connection, Limits::default());
    let begin = fake.hear(to_worker::RUN).await;
    assert!(!to_worker::parse_run(&begin).expect("a run").is_watched);
    for is_watched in [true, false, true] {
        heard.is_watched.store(is_watched, Ordering::SeqCst);
        fake.say(&ask(0)).await;
        let watch = fake.hear(to_worker::WATCH).await;
        assert_eq!(to_worker::parse_watch(&watch), Ok(is_watched));
        fake.hear(to_worker::ANSWER).await;
    }
}
