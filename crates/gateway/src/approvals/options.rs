//! Who can be asked about calls, and who is notified of questions.

use std::{sync::Arc, time::Duration};

use belljar_approvals::{Desk, Question};
use belljar_model::ByteSize;

/// Who can be asked about calls of a run, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Approvals {
    /// The place that started the run, if it can ask a person. It finds its questions in the
    /// ledger.
    pub desk: Option<Desk>,
    /// Whether the owner can decide by a command.
    pub by_command: bool,
    /// Whether the owner can make that decision without typing.
    pub allow_yes: bool,
    /// How long to wait for a decision.
    pub wait: Duration,
    /// How long a waiting run keeps its slot. After that, or sooner if others want the slot, it is
    /// put aside, provided that the owner can decide by a command.
    pub hold: Duration,
    /// How many bytes all suspended runs may take.
    pub max_resting: ByteSize,
}

/// Called for each question. It must not wait, and decides nothing.
pub type Teller = Arc<dyn Fn(&Question) + Send + Sync>;
