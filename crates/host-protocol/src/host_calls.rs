//! What a run sends to the program at the other end: calls of its functions, which may be answered
//! in any order, and logs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use belljar_json_rpc::Id;
use belljar_model::{JsonBounds, JsonText, LogLevel};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    message::CallAnswer,
    outbox::{Outbox, Room},
};

/// A run's connection to the other end.
#[derive(Debug, Clone)]
pub struct HostRun(Arc<RunState>);

/// A function of the other end, as named in calls.
#[derive(Debug, Clone)]
pub struct Target(Arc<str>);

/// What a function answered.
#[derive(Debug)]
pub struct Answer {
    /// The value in extended JSON; undefined if there is none.
    pub value: Option<JsonText>,
    /// Until this is dropped, the answer's bytes count among those that are held for the
    /// connection.
    pub held: Held,
}

/// The bytes of an answer that has not been taken yet.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "it is there to be dropped")] AnswerRoom);

/// Room for an answer, in the budget of its run and in that of the connection.
#[derive(Debug)]
pub(crate) struct AnswerRoom {
    pub(crate) _of_run: OwnedSemaphorePermit,
    pub(crate) _of_connection: OwnedSemaphorePermit,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// The function failed.
    Failed {
        /// The message of its error.
        message: String,
        /// The name of its error.
        name: Option<String>,
    },
    /// The other end's answer is not valid.
    Malformed(String),
    /// The other end is gone, or the run has ended.
    Gone,
}

/// One run of a connection.
#[derive(Debug)]
pub(crate) struct RunState {
    /// Its number on this connection.
    number: u64,
    /// The id of its request, as JSON.
    id: String,
    outbox: Outbox,
    calls: Mutex<Calls>,
    /// Log notifications that were left out since the last one.
    lost: AtomicU64,
    /// Room for answers that it has not taken.
    untaken: Arc<Semaphore>,
    /// How many bytes of them there is room for.
    most_untaken: usize,
    /// Whether the run was ended because it takes too few of its answers.
    is_overfull: AtomicBool,
    cancel: CancellationToken,
}

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    open: BTreeMap<u64, OpenCall>,
    is_over: bool,
}

#[derive(Debug)]
struct OpenCall {
    answers: oneshot::Sender<Given>,
    is_sent: bool,
}

/// An answer as it came, and the room that it takes until its run takes it.
#[derive(Debug)]
pub(crate) struct Given {
    answer: Result<Option<String>, CallFailure>,
    room: AnswerRoom,
}

/// A call that was begun. Dropping it before its answer has come calls it off.
struct Begun {
    run: Arc<RunState>,
    number: u64,
}

impl Target {
    /// A function of a namespace.
    pub fn in_namespace(namespace: &str, tool: &str) -> Self {
        Self(format!(r#""namespace":{},"tool":{}"#, text(namespace), text(tool)).into())
    }

    /// A global function.
    pub fn global(function: &str) -> Self {
        Self(format!(r#""function":{}"#, text(function)).into())
    }
}

impl HostRun {
    pub(crate) fn new(state: Arc<RunState>) -> Self {
        Self(state)
    }

    /// Calls a function of the other end. Calls are sent in the order in which this is called, as
    /// soon as the other end reads. The answer must be within `bounds`.
    ///
    /// # Cancellation
    /// The other end is told that the call is cancelled.
    pub fn call(
        &self,
        target: &Target,
        arguments: &JsonText,
        bounds: JsonBounds,
    ) -> impl Future<Output = Result<Answer, CallFailure>> + Send + use<> {
        let run = self.0.clone();
        let begun = run.begin(target, arguments).ok_or(CallFailure::Gone);
        // Done here, not when the future is polled, so that calls keep their order.
        let begun = begun.and_then(|(begun, line, answer)| match run.outbox.limit_of(&line) {
            None => Ok((run.send_if_room(begun.number, line)?, begun, answer)),
            Some(limit) => {
                let message = format!(
                    "the call was not made: it has {} bytes as a message, and the limit is {limit}; pass less at once",
                    line.len()
                );
                Err(CallFailure::Failed { message, name: None })
            }
        });
        async move {
            let (left, begun, answer) = begun?;
            if let Some(line) = left {
                run.send(begun.number, line).await?;
            }
            let given = answer.await.map_err(|_| CallFailure::Gone)?;
            drop(begun);
            given.within(bounds)
        }
    }

    /// How many bytes of answers the run may leave untaken, if it was ended because it left more.
    pub fn overfull(&self) -> Option<usize> {
        self.0.is_overfull.load(Relaxed).then_some(self.0.most_untaken)
    }

    /// Tells the other end what the script has logged. If the other end does not read, the
    /// notification is left out, and the next one says how many were.
    pub fn log(&self, level: LogLevel, said: &str) {
        let run = &self.0;
        let lost = run.lost.swap(0, Relaxed);
        let lost_of = if lost == 0 { String::new() } else { format!(r#","lost":{lost}"#) };
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"log","params":{{"run":{},"level":"{}","text":{}{lost_of}}}}}"#,
            run.id,
            level.as_str(),
            text(said)
        );
        if !run.outbox.try_send(line) {
            run.lost.fetch_add(lost + 1, Relaxed);
        }
    }
}

impl RunState {
    /// A run that may leave this many bytes of answers untaken, and is ended by `cancel`.
    pub(crate) fn new(
        number: u64,
        id: &Id,
        outbox: Outbox,
        most_untaken: usize,
        cancel: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            id: text(id),
            outbox,
            calls: Mutex::default(),
            lost: AtomicU64::new(0),
            untaken: Arc::new(Semaphore::new(most_untaken)),
            most_untaken,
            is_overfull: AtomicBool::new(false),
            cancel,
        })
    }

    /// Room among the answers of this run, as soon as it has taken enough of them.
    pub(crate) async fn room_for(&self, bytes: usize) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.untaken.clone().acquire_many_owned(permits(bytes, self.most_untaken)).await
    }

    /// The bytes of its answers that it has not taken.
    pub(crate) fn untaken(&self) -> usize {
        self.most_untaken.saturating_sub(self.untaken.available_permits())
    }

    /// Ends the run: it takes too few of its answers.
    pub(crate) fn overflow(&self) {
        self.is_overfull.store(true, Relaxed);
        self.cancel.cancel();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    pub(crate) fn is_overfull(&self) -> bool {
        self.is_overfull.load(Relaxed)
    }

    fn begin(
        self: &Arc<Self>,
        target: &Target,
        arguments: &JsonText,
    ) -> Option<(Begun, String, oneshot::Receiver<Given>)> {
        let (answers, answer) = oneshot::channel();
        let number = {
            let mut calls = self.calls.lock();
            if calls.is_over {
                return None;
            }
            let number = calls.next;
            calls.next += 1;
            calls.open.insert(number, OpenCall { answers, is_sent: false });
            number
        };
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"c{}.{number}","method":"call","params":{{"run":{},{},"arguments":{}}}}}"#,
            self.number,
            self.id,
            target.0,
            arguments.as_str()
        );
        Some((Begun { run: self.clone(), number }, line, answer))
    }

    /// Sends a call if there is room for it now, or gives it back.
    fn send_if_room(&self, number: u64, line: String) -> Result<Option<String>, CallFailure> {
        match self.outbox.room_now(&line) {
            Some(room) => self.send_in(room, number, line).map(|()| None),
            None => Ok(Some(line)),
        }
    }

    /// Sends a call when there is room for it.
    async fn send(&self, number: u64, line: String) -> Result<(), CallFailure> {
        let room = self.outbox.room_for(&line).await.map_err(|_| CallFailure::Gone)?;
        self.send_in(room, number, line)
    }

    /// Sends a call, unless the run has ended meanwhile.
    fn send_in(&self, room: Room, number: u64, line: String) -> Result<(), CallFailure> {
        let mut calls = self.calls.lock();
        let call = calls.open.get_mut(&number).ok_or(CallFailure::Gone)?;
        call.is_sent = true;
        // Within the lock: it cannot be called off before it is sent.
        self.outbox.send_in(room, line).map_err(|_| CallFailure::Gone)
    }

    /// Whether the run waits for the answer to this call.
    pub(crate) fn awaits(&self, call: u64) -> bool {
        // A call that was not sent cannot have been answered.
        self.calls.lock().open.get(&call).is_some_and(|open| open.is_sent)
    }

    /// Takes the sender for the answer to a call.
    pub(crate) fn take(&self, call: u64) -> Option<oneshot::Sender<Given>> {
        let mut calls = self.calls.lock();
        // A call that was not sent cannot have been answered.
        if !calls.open.get(&call)?.is_sent {
            return None;
        }
        calls.open.remove(&call).map(|open| open.answers)
    }

    /// Calls off the open calls of a run that has ended.
    pub(crate) fn end(&self) {
        let open = {
            let mut calls = self.calls.lock();
            calls.is_over = true;
            std::mem::take(&mut calls.open)
        };
        for (number, _) in open.into_iter().filter(|(_, call)| call.is_sent) {
            self.call_off(number);
        }
    }

    fn call_off(&self, call: u64) {
        let number = self.number;
        self.outbox.call_off(format!(r#"{{"jsonrpc":"2.0","method":"cancel","params":{{"id":"c{number}.{call}"}}}}"#));
    }
}

/// The number of the run and of the call that a client's answer is for.
pub(crate) fn call_of(id: &Id) -> Option<(u64, u64)> {
    let Id::Text(id) = id else { return None };
    let (run, call) = id.strip_prefix('c')?.split_once('.')?;
    Some((run.parse().ok()?, call.parse().ok()?))
}

impl Given {
    pub(crate) fn new(answer: CallAnswer<'_>, room: AnswerRoom) -> Self {
        let answer = match answer {
            CallAnswer::Value(value) => Ok(value.map(|value| value.get().to_owned())),
            CallAnswer::Failed { message, name } => Err(CallFailure::Failed { message, name }),
            CallAnswer::Malformed(reason) => Err(CallFailure::Malformed(reason)),
        };
        Self { answer, room }
    }

    fn within(self, bounds: JsonBounds) -> Result<Answer, CallFailure> {
        let value = self.answer?.map(|text| JsonText::parse(text, &bounds)).transpose();
        let value = value.map_err(|error| CallFailure::Malformed(error.to_string()))?;
        Ok(Answer { value, held: Held(self.room) })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let open = self.run.calls.lock().open.remove(&self.number);
        if open.is_some_and(|call| call.is_sent) {
            self.run.call_off(self.number);
        }
    }
}

/// The permits of an answer. An answer that is larger than the whole budget waits until it is the
/// only one.
pub(crate) fn permits(bytes: usize, most: usize) -> u32 {
    u32::try_from(bytes.min(most)).unwrap_or(u32::MAX)
}

/// A text or an id as JSON.
fn text(value: &(impl Serialize + ?Sized)) -> String {
    // A text and a number can always be written.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
