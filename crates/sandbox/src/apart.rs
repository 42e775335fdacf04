//! Makes a run's calls when its script runs in another process.
//!
//! The result of a call, and its record, are decided here in the same way as in a sandbox, so that
//! an outcome is the same in both. Answers wait here until the other process takes them, within the
//! same budget as in a sandbox (`max_held`): in memory, then in the file; when both are full,
//! belljar stops reading from the child.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use belljar_model::{ByteSize, CallRecord, ErrorKind, JsonBounds, JsonText, Limits, Outcome, RunError};
use cap_std::fs::Dir;
use futures::{FutureExt as _, future::BoxFuture};

use crate::{
    AnswerRoom, AnswerStyle, CallError, Divergence, GrantedTool, Recording, ReplayError, Tools, calls, divergence,
    holdings::{Held, Holdings, Place},
    overflow::{Overflow, Written},
    parking::Parking,
};

/// Bytes of a record besides its texts.
const RECORD_BYTES: u64 = 100;

/// Counts what is held on this side for a run on the other, against its `max_held`. Clones share
/// the count.
///
/// An answer is held back only while other answers of the run are here. Each of these can be taken,
/// and then the held one follows, so it never waits forever.
#[derive(Clone)]
pub struct Keeper {
    holdings: Holdings,
    overflow: Overflow,
}

/// How a call ended.
pub struct CallEnd {
    /// The script's result.
    pub answer: Answer,
    /// The record of the call; `None` for a call that was refused.
    pub record: Option<CallRecord>,
}

/// An answer that waits to be taken. It counts until it is dropped.
pub enum Answer {
    /// In memory.
    Here(AnswerInMemory),
    /// In the run's overflow file.
    There(AnswerInFile),
}

/// An answer that waits in memory.
pub struct AnswerInMemory {
    result: Result<JsonText, CallError>,
    held: Option<Held>,
}

/// An answer that waits in the run's overflow file.
pub struct AnswerInFile {
    written: Written,
    bytes: usize,
}

/// Keeps an answer counted while it is on its way.
pub struct Counted {
    _held: Option<Held>,
}

impl Keeper {
    /// A keeper that holds nothing yet. Answers that find no room in memory are written to a file
    /// in `folder`, if given.
    pub fn new(max_held: ByteSize, folder: Option<Arc<Dir>>) -> Self {
        let overflow = Overflow::new(folder);
        Self { holdings: Holdings::new(max_held.as_u64(), overflow.exists()), overflow }
    }

    /// Counts the arguments of a call. The caller has checked them against `max_held`.
    pub fn hold_arguments(&self, bytes: u64) {
        self.holdings.hold_arguments(bytes);
    }

    /// Stops counting the arguments of a call that has been answered.
    pub fn release_arguments(&self, bytes: u64) {
        self.holdings.end_call(bytes);
    }

    /// Counts a record, which is kept until the run ends.
    pub fn keep_record(&self, record: &CallRecord) {
        let texts = record.server.len() + record.tool.len() + record.error.as_ref().map_or(0, String::len);
        self.holdings.keep(RECORD_BYTES.saturating_add(texts as u64));
    }

    /// The most bytes that were in memory at once.
    pub fn peak(&self) -> u64 {
        self.holdings.peak()
    }
}

/// Makes a call for a run with these limits. The future ends when the answer is kept. `parked` is
/// called with `true` when the call begins to wait for a person, and with `false` when it stops.
///
/// # Cancellation
/// Dropping the future ends the call, and releases its count.
pub fn call(
    tools: Arc<dyn Tools>,
    number: u64,
    (tool, answers): (GrantedTool, AnswerStyle),
    arguments: String,
    limits: &Limits,
    keeper: &Keeper,
    parked: impl Fn(bool) + Send + Sync + 'static,
) -> BoxFuture<'static, CallEnd> {
    let begun = Instant::now();
    let (max_result, limit) = (limits.max_result.as_u64(), limits.call);
    let bounds = JsonBounds::with_bytes(usize::try_from(limits.max_arguments.as_u64()).unwrap_or(usize::MAX));
    let arguments = JsonText::parse(arguments, &bounds);
    let room = Room {
        room: AnswerRoom::new(keeper.holdings.clone(), Parking::telling(parked)),
        overflow: keeper.overflow.clone(),
    };
    // Here, not when the future is polled: tools may rely on the order in which calls are begun.
    let called = match arguments {
        // A panicking tool has failed, and nothing else has, even if it panics before it returns
        // its future.
        Ok(arguments) => {
            let begin = || tools.begin(number, &tool, arguments, limit, room.room.clone());
            std::panic::catch_unwind(AssertUnwindSafe(begin)).map_err(|_| calls::panicked())
        }
        Err(fault) => Err(calls::arguments_error(&fault)),
    };
    async move {
        let result = match called {
            Ok(called) => AssertUnwindSafe(called).catch_unwind().await.unwrap_or_else(|_| Err(calls::panicked())),
            Err(fault) => Err(fault),
        };
        let result = result.and_then(|result| calls::bounded(result, max_result));
        let record = calls::record(&tool, answers, &result, begun);
        // A refused call was never made. Until the refusal is delivered, the call counts as one
        // that may have taken effect, so the refusal does not wait for room. Its text is short, and
        // a sandbox does not count it either.
        if record.is_none() {
            return CallEnd { answer: Answer::Here(AnswerInMemory { result, held: None }), record };
        }
        match room.keep(result).await {
            Ok(answer) => CallEnd { answer, record },
            Err(fault) => {
                let result = Err(fault);
                let record = calls::record(&tool, answers, &result, begun);
                CallEnd { answer: Answer::Here(AnswerInMemory { result, held: None }), record }
            }
        }
    }
    .boxed()
}

/// The record of a call that had no answer when its run ended.
pub fn unanswered(tool: &GrantedTool, begun: Instant) -> CallRecord {
    calls::unanswered(tool, begun)
}

/// Room for an answer, which is wanted as long as this exists.
struct Room {
    room: AnswerRoom,
    overflow: Overflow,
}

impl Room {
    /// Keeps an answer where there is room for it.
    async fn keep(&self, result: Result<JsonText, CallError>) -> Result<Answer, CallError> {
        self.room.admit(bytes(&result)).await;
        let held = self.room.take();
        let (text, held) = match (result, held) {
            (Ok(text), Some(held)) if held.place() == Place::File => (text, held),
            (result, held) => return Ok(Answer::Here(AnswerInMemory { result, held })),
        };
        let bytes = text.as_str().len();
        let written = self.overflow.write(text, held).await.map_err(|error| {
            CallError::new(format!(
                "the answer came, and could not be written to the file in which it was to wait: {error}"
            ))
            .with_hint("the call has taken effect; await calls in smaller groups, so that no answer has to wait")
        })?;
        Ok(Answer::There(AnswerInFile { written, bytes }))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.room.abandon();
    }
}

impl Answer {
    /// Its length.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Here(answer) => answer.bytes(),
            Self::There(answer) => answer.bytes,
        }
    }
}

impl AnswerInMemory {
    /// Its length.
    pub fn bytes(&self) -> usize {
        bytes(&self.result)
    }

    /// The answer, and the guard that keeps it counted.
    pub fn into_parts(self) -> (Result<JsonText, CallError>, Counted) {
        (self.result, Counted { _held: self.held })
    }
}

impl AnswerInFile {
    /// Reads the answer back.
    ///
    /// # Cancellation
    /// If the future is dropped, the thread finishes reading, and the answer is lost.
    pub async fn read(self) -> Result<JsonText, CallError> {
        self.written.read().await.map_err(|error| {
            CallError::new(format!(
                "the answer came, and could not be read back from the file in which it waited: {error}"
            ))
            .with_hint("the call has taken effect; await calls in smaller groups, so that no answer has to wait")
        })
    }
}

/// The limits for the outcome of a replay. Call this before passing the recording to another
/// process.
///
/// # Errors
/// [`ReplayError`], if the recording cannot be replayed within `ceiling`.
pub fn replay_limits(recording: &Recording, ceiling: &Limits) -> Result<Limits, ReplayError> {
    divergence::limits(recording, ceiling)
}

/// The outcome of a replay in another process, if it is the recorded one. The comparison is made
/// here, since that process is not trusted with it.
///
/// # Errors
/// [`ReplayError::Run`], if the outcome differs.
pub fn replayed(recording: &Recording, outcome: Outcome) -> Result<Outcome, ReplayError> {
    let recorded = recording.end().map(|end| end.digests);
    if recorded.is_none_or(|recorded| divergence::other_part(&outcome, &recorded).is_some()) {
        let text = "the process that ran the script says that it repeated the run, and gives another outcome";
        return Err(ReplayError::Run(RunError::new(ErrorKind::Internal, text)));
    }
    Ok(divergence::with_remarks(recording, outcome))
}

/// A difference that another process found.
pub fn diverged(recording: &Recording, text: String, outcome: Option<Outcome>) -> ReplayError {
    ReplayError::Diverged(Divergence::found(text, outcome).with_remarks(recording))
}

/// The length of an answer: of its text, or of a fault's texts.
fn bytes(result: &Result<JsonText, CallError>) -> usize {
    match result {
        Ok(text) => text.as_str().len(),
        Err(fault) => {
            let more = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            fault.message.len() + more(&fault.hint) + more(&fault.denial) + more(&fault.name)
        }
    }
}
