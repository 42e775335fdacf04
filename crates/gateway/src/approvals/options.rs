//! Who can be asked about calls, and who is told of questions.

use std::{sync::Arc, time::Duration};

use belljar_approvals::{Desk, Question};
use belljar_model::ByteSize;

/// Who can be asked about calls of a run, and how long.
#[derive(Debug, Clone, Copy)]
pub struct Approvals {
    /// The place that asks for the run, where it can ask a person: it looks for its questions in
    /// the ledger.
    pub desk: Option<Desk>,
    /// Whether the owner can decide by a command.
    pub by_command: bool,
    /// Whether that may be without a person typing.
    pub allow_yes: bool,
    /// How long a decision is waited for.
    pub wait: Duration,
    /// How long a run that waits keeps its slot. Then it is put aside, where the owner can decide
    /// by a command. Sooner, where others want the slot.
    pub hold: Duration,
    /// How many bytes all runs may have that were put aside.
    pub max_resting: ByteSize,
}

/// Who is told of each question that is asked, and never waits: it tells somebody else, and decides
/// nothing.
pub type Teller = Arc<dyn Fn(&Question) + Send + Sync>;
