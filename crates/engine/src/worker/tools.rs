//! The tools of a run, which are on the other side of the pipe.
//!
//! A large answer waits there until the run has room for it. The run's own count decides when,
//! since it knows what the script waits for.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use belljar_model::{Effect, JsonBounds, JsonText, RunStep, ToolPath};
use belljar_sandbox::{
    AnswerRoom, CallError, Directory, Finding, Function, GrantedTool, Namespace, NotAnswered, Parked, PlannedCalls,
    Tools, Unavailable,
};
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::protocol::{
    from_worker::{self, Question, Take},
    outbox::Outbox,
    to_worker::{self, CallAnswer},
};

/// Forwards a run's questions and calls to the gateway.
pub(super) struct FarTools {
    namespaces: Vec<Namespace>,
    functions: Vec<Function>,
    link: Arc<Link>,
}

/// The state that a run's calls share.
struct Link {
    run: u64,
    outbox: Arc<Outbox>,
    waiting: Mutex<Waiting>,
    /// Whether the run has listeners.
    is_watched: AtomicBool,
    /// How many hand-overs were reported to them.
    handed_over: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    question: Option<oneshot::Sender<Result<String, String>>>,
    calls: HashMap<u64, oneshot::Sender<Told>>,
    /// Calls whose answer the gateway does not have yet, and whether they wait for a person.
    unanswered: HashMap<u64, (AnswerRoom, Option<Parked>)>,
    /// How many bytes of unasked answers have found room.
    admitted: u64,
    /// The gateway is sent nothing more about this run.
    has_ended: bool,
}

/// The gateway's message about a call.
enum Told {
    Answer(CallAnswer),
    /// Its answer of this many bytes is ready, and waits for room.
    Waits(usize),
}

impl FarTools {
    pub(super) fn new(
        run: u64,
        (namespaces, functions): (Vec<Namespace>, Vec<Function>),
        outbox: Arc<Outbox>,
        is_watched: bool,
    ) -> Self {
        let (waiting, is_watched) = (Mutex::default(), AtomicBool::new(is_watched));
        let link = Arc::new(Link { run, outbox, waiting, is_watched, handed_over: AtomicU64::new(0) });
        Self { namespaces, functions, link }
    }

    /// Notes whether the run has listeners.
    pub(super) fn watch(&self, is_watched: bool) {
        self.link.is_watched.store(is_watched, Relaxed);
    }

    /// Passes on the answer to the last question.
    pub(super) fn answered(&self, answer: Result<String, String>) {
        if let Some(waiting) = self.link.waiting.lock().question.take() {
            let _ = waiting.send(answer);
        }
    }

    /// Passes on the answer to a call.
    pub(super) fn call_answered(&self, number: u64, answer: CallAnswer) {
        let waiting = {
            let mut waiting = self.link.waiting.lock();
            waiting.unanswered.remove(&number);
            waiting.calls.remove(&number)
        };
        if let Some(waiting) = waiting {
            let _ = waiting.send(Told::Answer(answer));
        }
    }

    /// Notes that the answer to a call waits on the other side.
    pub(super) fn answer_waits(&self, number: u64, bytes: usize) {
        let mut waiting = self.link.waiting.lock();
        waiting.unanswered.remove(&number);
        let told = waiting.calls.remove(&number).map(|call| call.send(Told::Waits(bytes)));
        if !matches!(told, Some(Ok(()))) {
            self.link.forget(&waiting, number);
        }
    }

    /// Notes whether a call waits for a person.
    pub(super) fn parked(&self, number: u64, is_parked: bool) {
        if let Some((room, parked)) = self.link.waiting.lock().unanswered.get_mut(&number) {
            *parked = is_parked.then(|| room.park());
        }
    }

    /// Sends nothing more. This must be called before the run's end is reported to the gateway,
    /// which does not know the run's number after that.
    pub(super) fn end(&self) {
        self.link.waiting.lock().has_ended = true;
    }

    async fn ask(&self, question: Question) -> Result<String, String> {
        let (sender, receiver) = oneshot::channel();
        self.link.waiting.lock().question = Some(sender);
        self.link.outbox.send(from_worker::question(self.link.run, &question));
        receiver.await.unwrap_or_else(|_| Err("the run has ended".to_owned()))
    }
}

impl Link {
    /// Requests a waiting answer.
    fn take(&self, number: u64) -> oneshot::Receiver<Told> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        waiting.calls.insert(number, sender);
        if !waiting.has_ended {
            let take = Take { number, admitted: waiting.admitted };
            self.outbox.send(from_worker::take(self.run, take));
        }
        receiver
    }

    /// Releases a waiting answer.
    fn forget(&self, waiting: &Waiting, number: u64) {
        if !waiting.has_ended {
            self.outbox.send(from_worker::forget(self.run, number));
        }
    }
}

/// A call that the gateway makes.
struct FarCall {
    link: Arc<Link>,
    number: u64,
    told: oneshot::Receiver<Told>,
    /// The answer waits on the other side, and has not been requested.
    is_waiting: bool,
}

impl FarCall {
    /// Waits for the answer, which is requested when there is room.
    async fn answer(mut self, room: AnswerRoom) -> CallAnswer {
        let ended = || Err(CallError::new("the run has ended"));
        match (&mut self.told).await {
            Ok(Told::Answer(answer)) => {
                let bytes = answer_bytes(&answer);
                // The answer came unasked. Another may come once it has found room.
                room.admit(bytes).await;
                self.link.waiting.lock().admitted += to_worker::answer_weight(bytes);
                return answer;
            }
            Ok(Told::Waits(bytes)) => {
                self.is_waiting = true;
                room.admit(bytes).await;
            }
            Err(_) => return ended(),
        }
        self.is_waiting = false;
        self.told = self.link.take(self.number);
        match (&mut self.told).await {
            Ok(Told::Answer(answer)) => answer,
            Ok(Told::Waits(_)) | Err(_) => ended(),
        }
    }
}

impl Drop for FarCall {
    fn drop(&mut self) {
        let waiting = self.link.waiting.lock();
        // The message that the answer waits may have come since the last poll.
        if self.is_waiting || matches!(self.told.try_recv(), Ok(Told::Waits(_))) {
            self.link.forget(&waiting, self.number);
        }
    }
}

impl Tools for FarTools {
    fn observe(&self, step: RunStep) {
        let Link { run, outbox, is_watched, handed_over, .. } = &*self.link;
        let is_told = is_watched.load(Relaxed)
            && match step {
                // A run's order has no more entries than this, either.
                RunStep::HandedOver { .. } => handed_over.fetch_add(1, Relaxed) < from_worker::MAX_ORDER,
                _ => true,
            };
        if let Some(frame) = is_told.then(|| from_worker::step(*run, &step)).flatten() {
            outbox.send(frame);
        }
    }

    fn given_up(&self, number: u64) {
        let mut waiting = self.link.waiting.lock();
        // If the gateway has already answered, it is not told.
        let unanswered = waiting.unanswered.remove(&number);
        if unanswered.is_some() && !waiting.has_ended {
            self.link.outbox.send(from_worker::give_up(self.link.run, number));
        }
        drop(waiting);
        drop(unanswered);
    }

    fn is_watched(&self) -> bool {
        self.link.is_watched.load(Relaxed)
    }

    fn namespaces(&self) -> Vec<Namespace> {
        self.namespaces.clone()
    }

    fn functions(&self) -> Vec<Function> {
        self.functions.clone()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        async move {
            let number =
                u32::try_from(namespace).map_err(|_| Unavailable { reason: "no such namespace".to_owned() })?;
            let names = self.ask(Question::Directory(number)).await.map_err(|reason| Unavailable { reason })?;
            // The script sees only the names of tools. The gateway knows the tool and its effect:
            // to it, a tool is an index.
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
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let fault = CallError::new(format!("the call of {} has no number", tool.path));
        std::future::ready(Err(fault)).boxed()
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let place = (tool.path.server().parse(), tool.path.tool().parse());
        let (Ok(namespace), Ok(entry)) = place else { return self.call(tool, arguments, limit) };
        let (sender, told) = oneshot::channel();
        let admitted = {
            let mut waiting = self.link.waiting.lock();
            waiting.calls.insert(number, sender);
            waiting.unanswered.insert(number, (room.clone(), None));
            waiting.admitted
        };
        let link = self.link.clone();
        let frame = from_worker::call(link.run, number, (namespace, entry), admitted, arguments.as_str());
        link.outbox.send(frame);
        drop(arguments);
        let call = FarCall { link, number, told, is_waiting: false };
        async move {
            let answer = call.answer(room).await?;
            // The gateway has checked it against the run's limits.
            let bounds = JsonBounds { bytes: usize::MAX, values: usize::MAX, depth: JsonBounds::DEPTH };
            JsonText::parse(answer, &bounds).map_err(|fault| CallError::new(format!("the result is {fault}")))
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

    fn route(&self, server: String, words: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        async move { json(self.ask(Question::Route(server, words)).await?) }.boxed()
    }

    fn artifacts(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        async move {
            let answer = self.ask(Question::Artifacts(question)).await;
            // The gateway writes a reason in the form that the guest gets.
            answer.and_then(json).map_err(|reason| NotAnswered::from_text(&reason))
        }
        .boxed()
    }

    fn keep(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        async move {
            let answer = self.ask(Question::Keep(question)).await;
            answer.and_then(json).map_err(|reason| NotAnswered::from_text(&reason))
        }
        .boxed()
    }

    fn plan(&self, calls: PlannedCalls) -> BoxFuture<'_, Vec<Finding>> {
        async move {
            let findings = self.ask(Question::Plan(calls.to_text())).await;
            findings.map(|text| Finding::from_text(&text)).unwrap_or_default()
        }
        .boxed()
    }
}

/// The length of an answer, as the gateway counts it.
fn answer_bytes(answer: &CallAnswer) -> usize {
    match answer {
        Ok(text) => text.len(),
        Err(fault) => fault.message.len() + fault.hint.as_ref().map_or(0, String::len),
    }
}

fn json(text: String) -> Result<JsonText, String> {
    let bounds = JsonBounds { bytes: usize::MAX, values: usize::MAX, depth: JsonBounds::DEPTH };
    JsonText::parse(text, &bounds).map_err(|fault| fault.to_string())
}
