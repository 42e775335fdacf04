//! What happens in a run, for views of it that may lose some.
//!
//! What must survive goes to the ledger, on the path of the call itself. These are sent to whoever
//! listens, and never waited for. Of a run in the engine's process, whoever begins to listen while
//! it goes on hears what happens inside of it from the next answer on that it gets.

use serde::Serialize;

use crate::{Effect, ErrorKind, LogLevel, RunId, ToolPath, Verdict};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// What happened.
    #[serde(flatten)]
    pub step: RunStep,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStep {
    /// The gateway took the run on. It may have to queue yet.
    Begun {
        /// Who asked for it: a command, or a client that belljar serves.
        origin: &'static str,
    },
    /// There is no slot for it: it waits for one.
    Queued,
    /// It has a slot, and its memory.
    Admitted,
    /// Its script begins to run.
    Started,
    /// The script wrote to its log, and that was kept.
    Log {
        /// At which level.
        level: LogLevel,
        /// The beginning of what it wrote: [`RunStep::MAX_TEXT`] bytes at most. The outcome has all
        /// of it.
        text: String,
    },
    /// A call waits for a person, whom a rule of the owner's asks.
    Parked {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
    },
    /// It does not wait for them any more.
    Resumed {
        /// Its number in the run.
        call: u64,
    },
    /// The owner's rules, where there are some, came to a verdict about a call.
    Judged {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
        /// What they say of it: of a call that needed a person, that it did.
        verdict: Verdict,
        /// The rule that decided; nothing where it was the default.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// A call passed the checks and is about to be sent, or was denied.
    CallBegun {
        /// Its number in the run.
        call: u64,
        /// Its tool.
        tool: ToolPath,
        /// What the tool says that it changes.
        effect: Effect,
    },
    /// A call is being sent: its intent is kept, where it needs one.
    Sent {
        /// Its number in the run.
        call: u64,
    },
    /// A server told of a call's progress.
    Progress {
        /// Its number in the run.
        call: u64,
        /// What it said, on one line: a few words.
        text: String,
    },
    /// The answer of a call came.
    Answered {
        /// Its number in the run.
        call: u64,
        /// Whether the tool succeeded.
        ok: bool,
    },
    /// The script has the answer of a call, or the end of a timer.
    HandedOver {
        /// Its number in the run.
        call: u64,
    },
    /// The run is over.
    Ended {
        /// The kind of its error; nothing where it succeeded.
        error: Option<ErrorKind>,
    },
}

impl RunStep {
    /// Bytes of a text of a script. A thousand such events wait for each who listens.
    pub const MAX_TEXT: usize = 1000;

    /// A text that a script wrote to its log.
    pub fn log(level: LogLevel, text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(Self::MAX_TEXT)).unwrap_or_default();
        Self::Log { level, text: text.to_owned() }
    }
}
