//! Calls that a run gives up, before or while a person is asked about them.

use belljar_sandbox::{AnswerRoom, CallError, Directory, GrantedTool, Namespace, Unavailable};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};

use super::*;

/// Tools each of whose calls a person is asked about when there is a permit for it. Nobody ever
/// decides.
struct Asking {
    tools: ToolSet,
    asks: Arc<Semaphore>,
    gone: mpsc::UnboundedSender<u64>,
}

/// Reports that a call is gone when it is dropped.
struct Gone(u64, mpsc::UnboundedSender<u64>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.1.send(self.0);
    }
}

impl Tools for Asking {
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
        let (asks, gone) = (self.asks.clone(), Gone(number, self.gone.clone()));
        async move {
            let _gone = gone;
            asks.acquire().await.expect("it is open").forget();
            let _parked = room.park();
            std::future::pending().await
        }
        .boxed()
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_was_given_up() {
    let (asks, (sender, mut gone)) = (Arc::new(Semaphore::new(0)), mpsc::unbounded_channel());
    let tools = ToolSet::new().with("a", "asked", Effect::Mutating, |_| std::future::ready(Ok(json!(null))));
    let tools = Arc::new(Asking { tools, asks: asks.clone(), gone: sender });
    let (connection, _serving, mut fake) = connected();
    let run = begun_with(&connection, "return 1".to_owned(), Limits::default(), tools, std::future::pending());
    fake.hear(to_worker::RUN).await;
    fake.say(&ask(0)).await;
    fake.hear(to_worker::ANSWER).await;
    let large = from_worker::call(1, 3, (0, 0), 0, &json!({ "text": "x".repeat(100_000) }).to_string());
    // The last call has arguments so large that it gets a task of its own.
    for (number, call) in [(1, call(1, 0, 0)), (2, call(2, 0, 0)), (3, large)] {
        fake.say(&call).await;
        let is_asked = number == 1;
        if is_asked {
            asks.add_permits(1);
            fake.hear(to_worker::PARKED).await;
        }
        fake.say(&from_worker::give_up(1, number)).await;
        // Giving up a call that does not exist has no effect.
        fake.say(&from_worker::give_up(1, 99)).await;
        // Once this is answered, the message before it was read.
        fake.say(&ask(0)).await;
        fake.hear(to_worker::ANSWER).await;
        if !is_asked {
            assert!(gone.try_recv().is_err(), "call {number} goes on");
            asks.add_permits(1);
        }
        let ended = timeout(MOMENT, gone.recv()).await;
        assert_eq!(ended, Ok(Some(number)), "it has no question any more");
    }
    fake.say(&outcome(Ok(JsonText::null()), vec![])).await;
    let outcome = run.await.expect("no panic").expect("it had begun");
    assert!(outcome.calls.len() == 3 && outcome.calls.iter().all(|call| !call.ok), "{outcome:?}");
}
