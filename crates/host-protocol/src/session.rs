//! One connection, from its first message to its last.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use belljar_json_rpc::{Error, Id, Line, MAX_LINE_BYTES, codes, response};
use belljar_model::JsonBounds;
use futures::FutureExt as _;
use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    HostRun, PROTOCOL, RunRequest, Runner,
    carrier::{Sink, Source},
    host_calls::{AnswerRoom, Given, RunState, call_of, permits},
    message::{CallAnswer, ClientName, Greet, Incoming, params, run_params},
    outbox::{Closed, Outbox, outbox},
};

/// How much time there is to answer runs when the connection ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long an answer waits for room, while nothing else is read. Runs that wait take their answers
/// at once; one that computes for longer is ended, so that it does not hold up others.
const ROOM_PATIENCE: Duration = Duration::from_secs(1);
/// The most characters of a foreign text in a message.
const SHOWN: usize = 60;

/// How much of one connection is held at once.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Runs. Most of them may be waiting in the sandbox's queue.
    pub runs: usize,
    /// Bytes of the requests of these runs.
    pub run_bytes: usize,
    /// Values in the JSON of one request.
    pub run_values: usize,
    /// Bytes of answers that no run has taken yet.
    pub answer_bytes: usize,
    /// The same, for one run. A run that leaves more untaken is ended.
    pub run_answer_bytes: usize,
    /// Bytes that wait to be written.
    pub waiting_bytes: usize,
    /// Bytes of one message that is written.
    pub message_bytes: usize,
}

/// The defaults suit a process that has only this connection.
impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            runs: 1_024,
            run_bytes: 64 << 20,
            run_values: JsonBounds::VALUES,
            answer_bytes: 64 << 20,
            run_answer_bytes: 32 << 20,
            waiting_bytes: MAX_LINE_BYTES,
            message_bytes: MAX_LINE_BYTES,
        }
    }
}

/// Tokens that end a connection from this side.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// When this is cancelled, no new run begins, and the connection ends with its last run.
    pub draining: CancellationToken,
    /// When this is cancelled, the connection's runs are cancelled, and it ends.
    pub now: CancellationToken,
}

/// Serves a connection until the other end hangs up, or until it is ended from this side. Its runs
/// are cancelled then, and answered if the other end still reads.
///
/// # Cancellation
/// Dropping the future drops all runs.
pub async fn serve<R: Source, W: Sink + 'static>(
    mut source: R,
    mut sink: W,
    runner: Arc<dyn Runner>,
    limits: SessionLimits,
    ends: &Ends,
) {
    let (outbox, queue) = outbox(limits.waiting_bytes, limits.message_bytes);
    let mut writing = AbortOnDropHandle::new(tokio::spawn(async move { queue.write_to(&mut sink).await }));
    let runs = Arc::new(Runs::default());
    let mut session = Session {
        outbox,
        runner,
        draining: ends.draining.clone(),
        runs: runs.clone(),
        answers: Arc::new(Semaphore::new(limits.answer_bytes)),
        limits,
        client: None,
        is_greeted: false,
        running: JoinSet::new(),
        last: 0,
    };
    tokio::select! {
        _ = session.read(&mut source) => {}
        // The other end no longer reads.
        _ = &mut writing => return,
        () = ends.now.cancelled() => {}
        () = runs.drained(&ends.draining) => {}
    }
    runs.cancel();
    let last_words = async move {
        let Session { outbox, mut running, .. } = session;
        while running.join_next().await.is_some() {}
        outbox.close();
        // The connection is broken, or everything is written.
        let _ = writing.await;
    };
    if timeout(LAST_WORDS, last_words).await.is_err() {
        tracing::debug!("a client of the host protocol did not read its last answers in time");
    }
}

struct Session {
    outbox: Outbox,
    runner: Arc<dyn Runner>,
    draining: CancellationToken,
    runs: Arc<Runs>,
    /// Room for answers that no run has taken.
    answers: Arc<Semaphore>,
    limits: SessionLimits,
    client: Option<Arc<str>>,
    is_greeted: bool,
    running: JoinSet<()>,
    /// The number of the last run.
    last: u64,
}

/// The runs of a connection.
#[derive(Default)]
struct Runs {
    open: Mutex<OpenRuns>,
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct OpenRuns {
    by_id: HashMap<Id, OpenRun>,
    by_number: HashMap<u64, Arc<RunState>>,
    bytes: usize,
}

struct OpenRun {
    number: u64,
    bytes: usize,
    cancel: CancellationToken,
}

impl Session {
    async fn read(&mut self, source: &mut impl Source) -> Result<(), Closed> {
        loop {
            let said = match source.next().await {
                Ok(Some(Line::Text(text))) => self.take(&text).await,
                Ok(Some(Line::TooLong)) => {
                    let message = format!("a message has more than {MAX_LINE_BYTES} bytes, the limit; it was not read");
                    let hint = "the call that it may have answered ends by its limit; answer with less";
                    Some(response(None, &Err(Error::new(codes::TOO_LONG, message).with_hint(hint))))
                }
                Ok(Some(Line::NoText)) => {
                    let message = "a message is not text: send UTF-8";
                    Some(response(None, &Err(Error::new(codes::PARSE, message))))
                }
                Ok(None) | Err(_) => return Ok(()),
            };
            if let Some(said) = said {
                self.outbox.send(said).await?;
            }
        }
    }

    /// Handles a message: returns an immediate answer, or begins a run.
    async fn take(&mut self, text: &str) -> Option<String> {
        match Incoming::parse(text) {
            Ok(Incoming::Answer { id, answer }) => {
                self.hand_over(&id, answer).await;
                None
            }
            Ok(Incoming::Notification { method, params }) => {
                self.note(&method, params);
                None
            }
            Ok(Incoming::Request { id, method, params }) => match self.begin(&id, &method, params, text.len()) {
                Ok(None) => None,
                Ok(Some(answer)) => Some(response(Some(&id), &Ok(answer))),
                Err(error) => Some(response(Some(&id), &Err(error))),
            },
            Err(error) => Some(response(None, &Err(error))),
        }
    }

    /// Passes an answer to the run that waits for it. An answer that nobody waits for is ignored:
    /// its call may have been called off. So is an answer for a run that was already cancelled: the
    /// run must not go on, and perhaps succeed, in the moment before its end.
    async fn hand_over(&self, id: &Id, answer: CallAnswer<'_>) {
        let Some((run, call)) = call_of(id) else { return };
        let Some(state) = self.runs.state(run).filter(|state| state.awaits(call) && !state.is_cancelled()) else {
            return;
        };
        let Some(room) = self.room_for(&state, answer.bytes()).await else { return };
        // Its call may have ended meanwhile.
        if let Some(waiting) = state.take(call) {
            let _ = waiting.send(Given::new(answer, room));
        }
    }

    /// Room for an answer. If there is none for a while, a run is ended: this one if it leaves too
    /// much untaken, or else the one that leaves the most. Returns `None` if this run is the one
    /// that is ended.
    async fn room_for(&self, state: &RunState, bytes: usize) -> Option<AnswerRoom> {
        let Ok(of_run) = timeout(ROOM_PATIENCE, state.room_for(bytes)).await else {
            state.overflow();
            return None;
        };
        let of_run = of_run.ok()?;
        let bytes = permits(bytes, self.limits.answer_bytes);
        loop {
            if let Ok(room) = timeout(ROOM_PATIENCE, self.answers.clone().acquire_many_owned(bytes)).await {
                return Some(AnswerRoom { _of_run: of_run, _of_connection: room.ok()? });
            }
            match self.runs.fullest(state, of_run.num_permits()) {
                Some(fullest) => fullest.overflow(),
                // All runs that hold something are ending already.
                None => state.overflow(),
            }
            if state.is_overfull() {
                return None;
            }
        }
    }

    /// Handles a notification. An unknown or invalid one is ignored, as JSON-RPC requires.
    fn note(&self, method: &str, given: Option<&RawValue>) {
        #[derive(serde::Deserialize)]
        struct Cancel {
            id: Id,
        }
        if method == "cancel"
            && let Ok(Cancel { id }) = params(method, given)
        {
            self.runs.cancel_one(&id);
        }
    }

    fn begin(
        &mut self,
        id: &Id,
        method: &str,
        given: Option<&RawValue>,
        bytes: usize,
    ) -> Result<Option<Box<RawValue>>, Error> {
        match method {
            "hello" => return self.hello(params(method, given)?).map(Some),
            _ if !self.is_greeted => {
                let message = format!("the first request must be 'hello', and not '{}'", shortened(method));
                return Err(Error::new(codes::INVALID_REQUEST, message).with_hint(format!(
                    "send {{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"hello\", \"params\": {{\"protocol\": {PROTOCOL}}}}} first"
                )));
            }
            "run" => {}
            _ => {
                let message = format!("there is no method '{}'", shortened(method));
                return Err(Error::new(codes::METHOD_NOT_FOUND, message)
                    .with_hint("the methods are hello and run; a newer client may need a newer belljar"));
            }
        }
        if self.draining.is_cancelled() {
            return Err(Error::new(codes::STOPPING, "belljar is ending, and begins no new runs"));
        }
        self.runs.has_room(id, bytes, &self.limits)?;
        let request = run_params(given, self.limits.run_values)?;
        self.start(id, request, bytes);
        Ok(None)
    }

    fn hello(&mut self, Greet { protocol, client }: Greet) -> Result<Box<RawValue>, Error> {
        if protocol != PROTOCOL {
            let message = format!("the client speaks version {protocol} of the protocol, and belljar {PROTOCOL}");
            return Err(Error::new(codes::PROTOCOL, message).with_hint("use a client and a belljar that fit together"));
        }
        self.is_greeted = true;
        self.client = client.map(|ClientName { name }| shortened(&name).into());
        json(&self.runner.hello())
    }

    /// Begins a run.
    fn start(&mut self, id: &Id, request: RunRequest, bytes: usize) {
        // Removes the runs that have ended.
        while self.running.try_join_next().is_some() {}
        self.last += 1;
        let (number, cancel) = (self.last, CancellationToken::new());
        let most_untaken = self.limits.run_answer_bytes;
        let state = RunState::new(number, id, self.outbox.clone(), most_untaken, cancel.clone());
        self.runs.add(id, OpenRun { number, bytes, cancel: cancel.clone() }, state.clone());
        let run = self.runner.run(request, HostRun::new(state.clone()), self.client.clone(), cancel);
        let (runs, outbox, id) = (self.runs.clone(), self.outbox.clone(), id.clone());
        self.running.spawn(async move {
            let _counted = Counted(runs.clone());
            // A panic ends its run and nothing else.
            let answer = AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|_| {
                Err(Error::new(codes::INTERNAL, "the run failed inside belljar; its stderr says more"))
            });
            // Calls are called off before the answer.
            state.end();
            let mut text = response(Some(&id), &answer);
            drop(answer);
            if let Some(limit) = outbox.limit_of(&text) {
                let message = format!("the outcome has {} bytes as a message; the limit is {limit}", text.len());
                let error = Error::new(codes::TOO_LONG, message)
                    .with_hint("the script has run; return and log less, or pass data to a function in parts");
                text = response(Some(&id), &Err(error));
            }
            // The run counts until its answer waits to be written, so a client that does not read
            // cannot begin more runs. Its id is free before the client can know that the run has
            // ended.
            let room = outbox.room_for(&text).await;
            runs.remove(&id);
            if let Ok(room) = room {
                // A client that is gone cannot be told.
                let _ = outbox.send_in(room, text);
            }
        });
    }
}

impl Runs {
    fn has_room(&self, id: &Id, bytes: usize, limits: &SessionLimits) -> Result<(), Error> {
        let open = self.open.lock();
        if open.by_id.contains_key(id) {
            return Err(Error::new(codes::INVALID_REQUEST, "a run with this id is still running"));
        }
        let (runs, bytes) = (open.by_id.len(), open.bytes.saturating_add(bytes));
        if runs >= limits.runs || bytes > limits.run_bytes {
            let message = format!(
                "{runs} runs of this client are running; the limits are {} runs, and {} bytes of their requests",
                limits.runs, limits.run_bytes
            );
            return Err(Error::new(codes::BUSY, message).with_hint("wait for an answer, and send again"));
        }
        Ok(())
    }

    fn add(&self, id: &Id, run: OpenRun, state: Arc<RunState>) {
        let mut open = self.open.lock();
        open.bytes += run.bytes;
        open.by_number.insert(run.number, state);
        open.by_id.insert(id.clone(), run);
        self.count.send_modify(|count| *count += 1);
    }

    fn remove(&self, id: &Id) {
        let mut open = self.open.lock();
        if let Some(run) = open.by_id.remove(id) {
            open.bytes -= run.bytes;
            open.by_number.remove(&run.number);
        }
    }

    fn state(&self, number: u64) -> Option<Arc<RunState>> {
        self.open.lock().by_number.get(&number).cloned()
    }

    /// The run that leaves the most of its answers untaken, among those that are not yet being
    /// ended for that. `receiver` could not have taken the last `pending` bytes yet.
    fn fullest(&self, receiver: &RunState, pending: usize) -> Option<Arc<RunState>> {
        let open = self.open.lock();
        let left = |state: &Arc<RunState>| {
            let pending = if std::ptr::eq(&**state, receiver) { pending } else { 0 };
            state.untaken().saturating_sub(pending)
        };
        let states = open.by_number.values().map(|state| (left(state), state));
        let states = states.filter(|(left, state)| *left > 0 && !state.is_overfull());
        states.max_by_key(|(left, _)| *left).map(|(_, state)| state.clone())
    }

    fn cancel_one(&self, id: &Id) {
        if let Some(run) = self.open.lock().by_id.get(id) {
            run.cancel.cancel();
        }
    }

    fn cancel(&self) {
        self.open.lock().by_id.values().for_each(|run| run.cancel.cancel());
    }

    /// Completes when no new run can begin and all runs have ended.
    async fn drained(&self, draining: &CancellationToken) {
        draining.cancelled().await;
        // This cannot fail: the sender exists as long as `self`.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// A run that is counted until it is answered.
struct Counted(Arc<Runs>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

fn json(value: &impl serde::Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::new(codes::INTERNAL, format!("the answer is not JSON: {error}")))
}

/// A foreign text for a message.
fn shortened(text: &str) -> String {
    if text.chars().nth(SHOWN).is_none() {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}
