//! One run, as the gateway's side sees it.
//!
//! The gateway, not the engine's process, decides what the run may do: which tools it was granted,
//! how many calls it may make, what happens to them. The calls in its outcome are those that were
//! made from here.

mod answers;
mod resting;

use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, CallRecord, JsonText, Limits, Outcome, Recorded};
use belljar_sandbox::{
    AnswerStyle, Directory, GrantedTool, PlannedCalls, Tools,
    apart::{self, Answer, Keeper},
};
use futures::{
    FutureExt as _,
    future::{AbortHandle, Abortable},
};
use parking_lot::Mutex;
use tokio::{sync::oneshot, task::JoinSet};

use resting::Resting;

use super::{
    allowance::Allowance,
    lost::{Lost, Violation},
    watching::Watching,
};
use crate::protocol::{
    from_worker::{self, Question},
    outbox::Outbox,
    replayed::{self, Replayed},
    to_worker,
};

/// Calls with arguments up to this size begin where they are read. Larger ones get a task of their
/// own, so that the calls of other runs do not wait for them.
const AT_ONCE_BYTES: usize = 16 * 1024;

/// A run under way.
pub(crate) struct Run {
    number: u64,
    terms: Terms,
    outbox: Arc<Outbox>,
    resting: Resting,
    state: Mutex<RunState>,
}

/// What a run may do, and what its caller requested.
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    pub(crate) tools: Arc<dyn Tools>,
    /// The style in which the tools of each namespace answer.
    pub(crate) namespaces: Vec<AnswerStyle>,
    /// Counts the arguments of its calls, their answers and their records.
    pub(crate) keeper: Keeper,
    pub(crate) max_recording: Option<ByteSize>,
    /// Whether it repeats a recorded run. It then reports the result of that, and calls and asks
    /// nothing.
    pub(crate) is_replay: bool,
    /// Whether it has listeners from the start.
    pub(crate) is_watched: bool,
}

struct RunState {
    /// The directories that the run has received, by the namespace's number.
    directories: Vec<Option<Arc<Directory>>>,
    /// Whether a question waits for its answer.
    is_asking: bool,
    /// The lowest number that the next call may have.
    next: u64,
    begun: u64,
    /// Calls whose answer has not been sent yet.
    open: BTreeMap<u64, OpenCall>,
    /// Bytes of their arguments.
    held: u64,
    /// Answers of open calls that wait until the process has room for them.
    waiting: BTreeMap<u64, Answer>,
    /// How much may be sent to it unasked.
    allowance: Allowance,
    ended: BTreeMap<u64, CallRecord>,
    /// The steps that its listeners hear.
    watching: Watching,
    /// What the process recorded of the run.
    recorded: Option<Recorded>,
    /// The result of the replay, if it is one.
    replayed: Option<Replayed>,
    /// Tasks of calls and questions; aborted when the run ends.
    tasks: JoinSet<()>,
    /// It is taken when the run ends. From then on, no call is made and no question is asked.
    ending: Option<oneshot::Sender<Result<Outcome, Lost>>>,
}

struct OpenCall {
    tool: GrantedTool,
    begun: Instant,
    /// Whether the tool has answered.
    is_answered: bool,
    /// Bytes of its arguments.
    held: u64,
    /// Ends it before it is answered.
    abort: AbortHandle,
}

impl Run {
    /// A run, and its future result.
    pub(crate) fn new(
        number: u64,
        terms: Terms,
        outbox: Arc<Outbox>,
    ) -> (Arc<Self>, oneshot::Receiver<Result<Outcome, Lost>>) {
        let (ending, ended) = oneshot::channel();
        let state = RunState {
            directories: vec![None; terms.namespaces.len()],
            is_asking: false,
            next: 0,
            begun: 0,
            open: BTreeMap::new(),
            held: 0,
            waiting: BTreeMap::new(),
            allowance: Allowance::new(terms.limits.max_held.as_u64()),
            ended: BTreeMap::new(),
            watching: Watching::new(terms.is_watched),
            recorded: None,
            replayed: None,
            tasks: JoinSet::new(),
            ending: Some(ending),
        };
        let run = Self { number, terms, outbox, resting: Resting::new(), state: Mutex::new(state) };
        (Arc::new(run), ended)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.terms.limits
    }

    pub(crate) fn max_recording(&self) -> Option<ByteSize> {
        self.terms.max_recording
    }

    /// How long it takes at least until the run is overdue, if it may take `time` without waiting
    /// for people. `None` if it is overdue.
    pub(crate) fn left_of(&self, time: Duration) -> Option<Duration> {
        self.resting.left_of(time)
    }

    /// Handles a frame of the run that is not its end.
    pub(crate) fn take(self: &Arc<Self>, kind: u8, body: &[u8]) -> Result<(), Violation> {
        match kind {
            from_worker::REPLAYED if self.terms.is_replay => {
                let replayed = replayed::parse(body, self.terms.limits.max_calls)?;
                self.state.lock().replayed = Some(replayed);
                Ok(())
            }
            // A replay has nothing else to report, and a normal run does not report this.
            _ if self.terms.is_replay || kind == from_worker::REPLAYED => Err(Violation::Kind(kind)),
            from_worker::CALL => self.begin_call(body),
            from_worker::STEP => self.take_step(body),
            from_worker::TAKE => self.take_answer(from_worker::parse_take(body)?),
            from_worker::RECORDING => {
                let recorded = from_worker::parse_recording(body)?;
                self.state.lock().recorded = Some(recorded);
                Ok(())
            }
            from_worker::FORGET => self.forget_answer(from_worker::parse_number(body)?),
            from_worker::GIVE_UP => {
                self.give_up_call(from_worker::parse_number(body)?);
                Ok(())
            }
            _ => self.begin_question(from_worker::parse_question(kind, body)?),
        }
    }

    /// Handles the run's end.
    pub(crate) fn end(&self, body: &[u8]) -> Result<(), Violation> {
        let outcome = from_worker::parse_outcome(body, &self.terms.limits)?;
        if let Some(ending) = self.state.lock().ending.take() {
            // If nobody waits any more, the result is dropped.
            let _ = ending.send(Ok(outcome));
        }
        Ok(())
    }

    /// Ends the run because its process has ended.
    pub(crate) fn lose(&self, lost: Lost) {
        if let Some(ending) = self.state.lock().ending.take() {
            let _ = ending.send(Err(lost));
        }
    }

    /// The most bytes that were held here for it at once.
    pub(crate) fn peak_held(&self) -> u64 {
        self.terms.keeper.peak()
    }

    /// What the process recorded, and the directories that the run received.
    pub(crate) fn recorded(&self) -> (Option<Recorded>, Vec<Option<Arc<Directory>>>) {
        let mut state = self.state.lock();
        (state.recorded.take(), state.directories.clone())
    }

    /// The result of the replay, if it was one.
    pub(crate) fn replayed(&self) -> Option<Replayed> {
        self.state.lock().replayed.take()
    }

    /// Aborts everything under way, and returns the calls by number: first those whose answers the
    /// script got, in that order.
    pub(crate) fn close(&self, order: &[u64]) -> Vec<(u64, CallRecord)> {
        let mut state = self.state.lock();
        state.ending = None;
        state.tasks = JoinSet::new();
        state.waiting.clear();
        let mut ended = std::mem::take(&mut state.ended);
        let mut calls: Vec<_> =
            order.iter().filter_map(|number| ended.remove(number).map(|call| (*number, call))).collect();
        calls.extend(ended);
        let open = std::mem::take(&mut state.open);
        let unanswered = open.into_iter().filter(|(_, call)| !call.is_answered);
        calls.extend(unanswered.map(|(number, call)| (number, apart::unanswered(&call.tool, call.begun))));
        calls
    }

    fn begin_call(self: &Arc<Self>, body: &[u8]) -> Result<(), Violation> {
        let call = from_worker::parse_call(body, &self.terms.limits)?;
        let number = call.number;
        let (abort, registration) = AbortHandle::new_pair();
        let tool = {
            let mut state = self.state.lock();
            if state.ending.is_none() {
                return Ok(());
            }
            state.allowance.note_admitted(call.admitted)?;
            if number < state.next {
                return Err(Violation::Number);
            }
            state.next = number.checked_add(1).ok_or(Violation::Number)?;
            state.begun += 1;
            if state.begun > self.terms.limits.max_calls
                || state.open.len() as u64 >= self.terms.limits.max_concurrent_calls
            {
                return Err(Violation::Calls);
            }
            // The process refuses such a call itself: it counts these bytes until the script has
            // the answer.
            let held = call.arguments.len() as u64;
            if state.held.saturating_add(held) > self.terms.limits.max_held.as_u64() {
                return Err(Violation::Held);
            }
            let directory = state.directories.get(call.namespace as usize).and_then(Option::as_ref);
            let tool = directory.and_then(|directory| directory.tool(call.entry as usize));
            let tool = tool.cloned().ok_or(Violation::Tool)?;
            state.held += held;
            let (begun, abort) = (Instant::now(), abort.clone());
            state.open.insert(number, OpenCall { tool: tool.clone(), begun, is_answered: false, held, abort });
            self.resting.open(number);
            tool
        };
        let answers = self.terms.namespaces.get(call.namespace as usize).copied().unwrap_or_default();
        self.terms.keeper.hold_arguments(call.arguments.len() as u64);
        let (outbox, of_run, resting) = (self.outbox.clone(), self.number, self.resting.clone());
        let parked = move |is_parked| {
            if resting.park(number, is_parked).is_given_up() {
                abort.abort();
            }
            outbox.send(to_worker::parked(of_run, number, is_parked));
        };
        if call.arguments.len() > AT_ONCE_BYTES {
            let run = self.clone();
            let announced = self.terms.tools.announce(number, &tool);
            self.spawn(async move {
                let called = apart::call(
                    run.terms.tools.clone(),
                    number,
                    (tool, answers),
                    call.arguments,
                    &run.terms.limits,
                    &run.terms.keeper,
                    parked,
                );
                drop(announced);
                if let Ok(end) = Abortable::new(called, registration).await {
                    run.deliver(number, end);
                }
            });
            return Ok(());
        }
        // Many tools can answer at once, or only need to send a request.
        let Terms { tools, limits, keeper, .. } = &self.terms;
        let called = apart::call(tools.clone(), number, (tool, answers), call.arguments, limits, keeper, parked);
        let mut called = Abortable::new(called, registration);
        match called.poll_unpin(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(end)) => self.deliver(number, end),
            // It was given up.
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let run = self.clone();
                self.spawn(async move {
                    if let Ok(end) = called.await {
                        run.deliver(number, end);
                    }
                });
            }
        }
        Ok(())
    }

    /// The run goes on without the answer to a call. If the call waits for a person, it is dropped;
    /// if it was sent to a server, it goes on, and counts until it is answered.
    fn give_up_call(&self, number: u64) {
        if self.resting.give_up(number)
            && let Some(call) = self.state.lock().open.get(&number)
        {
            call.abort.abort();
        }
    }

    fn begin_question(self: &Arc<Self>, question: Question) -> Result<(), Violation> {
        {
            let mut state = self.state.lock();
            if state.ending.is_none() {
                return Ok(());
            }
            if std::mem::replace(&mut state.is_asking, true) {
                return Err(Violation::Questions);
            }
        }
        let run = self.clone();
        self.spawn(async move {
            let found = AssertUnwindSafe(run.find(question)).catch_unwind().await;
            let found = found.unwrap_or_else(|_| Err("the tool's code in the host panicked".to_owned()));
            let found = found.as_ref().map(Found::as_str).map_err(String::as_str);
            let bytes = found.map_or_else(str::len, str::len);
            if let Some(room) = run.outbox.room_for(bytes).await {
                // Done before the answer is sent, since the next question may come at once.
                run.state.lock().is_asking = false;
                run.tell_watched();
                run.outbox.send_in(room, to_worker::answer(run.number, found), None);
            }
        });
        Ok(())
    }

    fn take_step(&self, body: &[u8]) -> Result<(), Violation> {
        let step = from_worker::parse_step(body)?;
        {
            let mut state = self.state.lock();
            if state.ending.is_none() {
                return Ok(());
            }
            state.watching.take(&step, &self.terms.limits)?;
        }
        self.terms.tools.observe(step);
        Ok(())
    }

    /// Tells the process when listeners appear or are gone. This applies to whatever the process is
    /// sent afterwards.
    fn tell_watched(&self) {
        let is_watched = self.terms.tools.is_watched();
        let mut state = self.state.lock();
        if state.ending.is_some()
            && let Some(news) = state.watching.news(is_watched)
        {
            self.outbox.send(to_worker::watch(self.number, news));
        }
    }

    async fn find(&self, question: Question) -> Result<Found, String> {
        match question {
            Question::Directory(namespace) => {
                let namespace = namespace as usize;
                if namespace >= self.state.lock().directories.len() {
                    return Err(format!("there is no namespace {namespace}"));
                }
                let directory =
                    self.terms.tools.directory(namespace).await.map_err(|unavailable| unavailable.reason)?;
                if let Some(place) = self.state.lock().directories.get_mut(namespace) {
                    *place = Some(directory.clone());
                }
                Ok(Found::Directory(directory))
            }
            Question::List(server) => self.terms.tools.list(server).await.map(Found::Json),
            Question::Search(query, limit) => Ok(Found::Json(self.terms.tools.search(query, limit as usize).await)),
            Question::Describe(path) => self.terms.tools.describe(path).await.map(Found::Json),
            Question::Route(server, words) => self.terms.tools.route(server, words).await.map(Found::Json),
            Question::Artifacts(question) => {
                let answer = self.terms.tools.artifacts(question).await;
                answer.map(Found::Json).map_err(|reason| reason.to_text())
            }
            Question::Keep(question) => {
                let answer = self.terms.tools.keep(question).await;
                answer.map(Found::Json).map_err(|reason| reason.to_text())
            }
            Question::Plan(calls) => {
                let calls =
                    PlannedCalls::parse(&calls).ok_or_else(|| "the calls of the script cannot be read".to_owned())?;
                let findings = self.terms.tools.plan(calls).await;
                Ok(Found::Json(JsonText::from_value(&serde_json::json!(findings))))
            }
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state.lock();
        // If the run has ended, the task would never be aborted.
        if state.ending.is_some() {
            while state.tasks.try_join_next().is_some() {}
            state.tasks.spawn(task);
        }
    }
}

/// The answer to a question.
enum Found {
    Directory(Arc<Directory>),
    Json(JsonText),
}

impl Found {
    fn as_str(&self) -> &str {
        match self {
            Self::Directory(directory) => directory.names(),
            Self::Json(text) => text.as_str(),
        }
    }
}
