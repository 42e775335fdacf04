//! The events of a run, for listeners that may lose some.
//!
//! What must not be lost goes to the ledger, as part of the call itself. Events are sent to
//! listeners, and no run waits for that. For a run in the engine's process, a listener that joins
//! during the run hears what happens inside it only after the run's next answer.

use std::{sync::Arc, time::SystemTime};

use serde::Serialize;

use crate::{Effect, ErrorKind, LogLevel, RunId, RunTrace, ToolPath, Verdict};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// When it happened.
    #[serde(skip)]
    pub at: SystemTime,
    /// What happened.
    #[serde(flatten)]
    pub step: RunStep,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStep {
    /// The gateway accepted the run. It may still have to queue.
    Begun {
        /// Its origin: a command, or a client that belljar serves.
        origin: &'static str,
        /// Its principal, if others than the owner can ask.
        #[serde(skip_serializing_if = "Option::is_none")]
        principal: Option<Arc<str>>,
        /// The name that its client gives itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<Arc<str>>,
        /// Its place in a trace, if that is recorded.
        #[serde(skip)]
        trace: Option<Arc<RunTrace>>,
    },
    /// There is no free slot: it waits for one.
    Queued,
    /// It has a slot, and its memory.
    Admitted,
    /// Its script begins to run.
    Started,
    /// The script wrote to its log, and the text was kept.
    Log {
        /// At which level.
        level: LogLevel,
        /// The beginning of the text: at most [`RunStep::MAX_TEXT`] bytes. The outcome has all of
        /// it.
        text: String,
    },
    /// A call waits for a person, because of a rule.
    Parked {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
    },
    /// The call no longer waits for a person.
    Resumed {
        /// Its number in the run.
        call: u64,
    },
    /// The owner's rules, if there are any, judged a call.
    Judged {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
        /// The verdict; `ask` for a call that needed a person.
        verdict: Verdict,
        /// The rule that decided, or `None` for the default.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// A call passed the checks and is about to be sent, or was denied.
    CallBegun {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
        /// What the tool may change, as the owner declares, or else as its annotations say.
        effect: Effect,
    },
    /// A call is being sent. Its intent is in the ledger already, if it needs one.
    Sent {
        /// Its number in the run.
        call: u64,
        /// Its arguments as they are sent, if its trace is to contain them.
        #[serde(skip)]
        arguments: Option<Arc<CallContent>>,
    },
    /// A server reported a call's progress.
    Progress {
        /// Its number in the run.
        call: u64,
        /// The message, on one line.
        text: String,
    },
    /// The answer to a call came, or the call was not sent.
    Answered {
        /// Its number in the run.
        call: u64,
        /// Its tool. A listener that lost the call's beginning still knows what it was.
        tool: ToolPath,
        /// What the tool may change, as the owner declares, or else as its annotations say.
        effect: Effect,
        /// The verdict of the owner's rules, if there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// Whether it was sent: the rules or the owner may have refused it.
        sent: bool,
        /// Whether the tool succeeded.
        ok: bool,
        /// Whether no answer came from the tool at all: its server ended, say, or took too long.
        fault: bool,
        /// Milliseconds from the moment when it was sent.
        ms: f64,
        /// The length of its answer, if one came.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// Its answer, if one came and its trace is to contain it.
        #[serde(skip)]
        result: Option<Arc<CallContent>>,
    },
    /// The script has the answer of a call, or the end of a timer.
    HandedOver {
        /// Its number in the run.
        call: u64,
    },
    /// The run is over.
    Ended {
        /// The kind of its error, or `None` if it succeeded.
        error: Option<ErrorKind>,
        /// Milliseconds from its beginning.
        ms: f64,
        /// The time inside its script, in milliseconds, where that was measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        guest_ms: Option<f64>,
        /// wasmtime's fuel, where that was measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        fuel: Option<u64>,
        /// The length of its value and its log.
        #[serde(skip_serializing_if = "Option::is_none")]
        told_bytes: Option<u64>,
    },
}

/// The arguments or the result of a call, if the owner wants them in traces. They are cut, and lack
/// what recordings leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallContent {
    /// The beginning of the JSON text: at most [`CallContent::MAX_BYTES`].
    pub text: String,
    /// The length of the whole text, if it was cut.
    pub cut_from: Option<u64>,
}

impl CallContent {
    /// The most bytes of a text.
    pub const MAX_BYTES: usize = 32 * 1024;

    /// The beginning of this text.
    pub fn of(text: &str) -> Self {
        let end = text.floor_char_boundary(Self::MAX_BYTES);
        let cut_from = (end < text.len()).then_some(text.len() as u64);
        Self { text: text.get(..end).unwrap_or_default().to_owned(), cut_from }
    }
}

impl RunStep {
    /// The most bytes of a script's text. Up to a thousand such events wait for each listener.
    pub const MAX_TEXT: usize = 1000;

    /// A text that a script wrote to its log.
    pub fn log(level: LogLevel, text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(Self::MAX_TEXT)).unwrap_or_default();
        Self::Log { level, text: text.to_owned() }
    }
}
