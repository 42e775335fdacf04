//! Why a run was lost with its process.

use std::time::Duration;

use belljar_model::{ErrorKind, RunError};

use crate::protocol::Malformed;

/// How the engine's process broke the rules of the protocol. A script cannot make it do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("a frame is malformed: {0}")]
    Malformed(#[from] Malformed),
    #[error("a frame has {length} bytes, more than its run may send")]
    Length { length: u32 },
    #[error("a frame of an unknown kind: {0}")]
    Kind(u8),
    #[error("a frame for a run that it was not given")]
    Run,
    #[error("a call of a tool that its run was not granted")]
    Tool,
    #[error("a call whose number is not higher than the last")]
    Number,
    #[error("more calls than its run may make")]
    Calls,
    #[error("calls with more bytes of arguments than may be held for its run")]
    Held,
    #[error("a question before the last one was answered")]
    Questions,
    #[error("an answer was asked for that does not wait")]
    Answer,
    #[error("more of its answers are said to be admitted than were sent")]
    Admitted,
    #[error("a step of a run that nobody watches")]
    Unwatched,
    #[error("a step of a run out of its order, or more of them than a run may have")]
    Steps,
    #[error("more runs are under way than may be live")]
    Live,
}

/// Why a process is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    #[error("the engine's process ended ({0})")]
    Ended(String),
    #[error("the engine's process broke its protocol and was ended: {0}")]
    Violated(#[from] Violation),
    #[error("the engine's process read nothing more from belljar and was ended")]
    Deaf,
    #[error("the engine's process had not ended a run {0:?} after its time and was ended itself")]
    Overdue(Duration),
}

impl Lost {
    /// The error of a run that was lost with the process.
    pub(crate) fn error(&self) -> RunError {
        RunError::new(ErrorKind::Internal, format!("{self}; the run ended with it"))
            .with_hint("this is a fault in belljar, not in the script; run it again if the calls made so far allow it")
    }
}
