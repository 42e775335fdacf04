//! What happens in a run, for views of it that may lose some.
//!
//! What must survive goes to the ledger, on the path of the call itself. These are sent to whoever listens, and never waited for.

use serde::Serialize;

use crate::{Effect, ErrorKind, RunId, ToolPath};

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
    /// A call passed the checks and is about to be sent.
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
    /// The answer of a call came.
    Answered {
        /// Its number in the run.
        call: u64,
        /// Whether the tool succeeded.
        ok: bool,
    },
    /// The run is over.
    Ended {
        /// The kind of its error; nothing where it succeeded.
        error: Option<ErrorKind>,
    },
}
