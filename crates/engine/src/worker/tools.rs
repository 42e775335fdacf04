//! The tools of a run, which are on the other side of the pipe.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_model::{Effect, JsonBounds, JsonText, ToolPath};
use belljar_sandbox::{AnswerRoom, CallFault, Directory, GrantedTool, Namespace, Tools, Unavailable};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::sync::oneshot;

use crate::protocol::{
    from_worker::{self, Question},
    outbox::Outbox,
    to_worker::CallAnswer,
};

/// Hands what a run asks and calls on to the gateway.
pub(super) struct FarTools {
    run: u64,
    namespaces: Vec<Namespace>,
    outbox: Arc<Outbox>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    question: Option<oneshot::Sender<Result<String, String>>>,
    calls: HashMap<u64, oneshot::Sender<CallAnswer>>,
}

impl FarTools {
    pub(super) fn new(run: u64, namespaces: Vec<Namespace>, outbox: Arc<Outbox>) -> Self {
        Self { run, namespaces, outbox, waiting: Mutex::default() }
    }

    /// The answer to the last question.
    pub(super) fn answered(&self, answer: Result<String, String>) {
        if let Some(waiting) = self.lock().question.take() {
            let _ = waiting.send(answer);
        }
    }

    /// The answer to a call.
    pub(super) fn call_answered(&self, number: u64, answer: CallAnswer) {
        let waiting = self.lock().calls.remove(&number);
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    }

    async fn ask(&self, question: Question) -> Result<String, String> {
        let (sender, receiver) = oneshot::channel();
        self.lock().question = Some(sender);
        self.outbox.send(from_worker::question(self.run, &question));
        receiver.await.unwrap_or_else(|_| Err("the run has ended".to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for FarTools {
    fn namespaces(&self) -> Vec<Namespace> {
        self.namespaces.clone()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        async move {
            let number =
                u32::try_from(namespace).map_err(|_| Unavailable { reason: "no such namespace".to_owned() })?;
            let names = self.ask(Question::Directory(number)).await.map_err(|reason| Unavailable { reason })?;
            // Names are all that the script sees of a tool. What it is, and what it may change, the gateway knows: to it, a tool is
            // its place.
            let tools = names.split('\n').enumerate().map(|(entry, name)| {
                let path = ToolPath::new(namespace.to_string(), entry.to_string());
                (name.to_owned(), GrantedTool { path, effect: Effect::External })
            });
            Ok(Arc::new(Directory::new(tools)))
        }
        .boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        _arguments: JsonText,
        _limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let fault = CallFault::new(format!("the call of {} has no number", tool.path));
        std::future::ready(Err(fault)).boxed()
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        _limit: Duration,
        _room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let place = (tool.path.server().parse(), tool.path.tool().parse());
        let (Ok(namespace), Ok(entry)) = place else { return self.call(tool, arguments, _limit) };
        let (sender, receiver) = oneshot::channel();
        self.lock().calls.insert(number, sender);
        self.outbox.send(from_worker::call(self.run, number, namespace, entry, arguments.as_str()));
        async move {
            let answer = receiver.await.unwrap_or_else(|_| Err(CallFault::new("the run has ended")))?;
            // The gateway has held it against the run's limits.
            let bounds = JsonBounds { bytes: usize::MAX, values: usize::MAX, depth: JsonBounds::DEPTH };
            JsonText::parse(answer, &bounds).map_err(|fault| CallFault::new(format!("the result is {fault}")))
        }
        .boxed()
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        async move { json(self.ask(Question::List(server)).await?) }.boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        async move {
            let limit = u32::try_from(limit).unwrap_or(u32::MAX);
            let found = self.ask(Question::Search(query, limit)).await.and_then(json);
            // Only a run that has ended gets no answer.
            found.unwrap_or_else(|_| JsonText::null())
        }
        .boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        async move { json(self.ask(Question::Describe(path)).await?) }.boxed()
    }
}

fn json(text: String) -> Result<JsonText, String> {
    let bounds = JsonBounds { bytes: usize::MAX, values: usize::MAX, depth: JsonBounds::DEPTH };
    JsonText::parse(text, &bounds).map_err(|fault| fault.to_string())
}
