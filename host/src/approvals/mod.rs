//! The owner's decisions about calls that a rule asks them about: where they are asked, and what they are shown.
//!
//! A question lies in the ledger, and each place that can ask a person looks for its own there:
//! `terminal.rs` is the one at which `belljar run` was started, `serve/elicitation.rs` a client
//! that shows forms, `commands/approvals.rs` any terminal. `shown.rs` is what a person sees of a
//! question.

mod shown;
mod terminal;

use std::time::Duration;

use belljar_config::ApprovalsSettings;
use belljar_gateway::Approvals;
use rand::{TryRngCore as _, rngs::OsRng};

pub(crate) use shown::shown;
pub(crate) use terminal::TerminalDesk;

use crate::failure::Failure;

/// How often a place looks for questions while a run of it goes on.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The number by which a place finds its questions.
pub(crate) fn new_desk() -> Result<u64, Failure> {
    OsRng.try_next_u64().map_err(|error| Failure::internal(format!("the system gave no random number: {error}")))
}

/// Who can be asked about a run that a command asks for: whoever sits at its terminal; where nobody
/// does, the owner, and the run is put aside at once.
pub(crate) fn asked_at_command(settings: &ApprovalsSettings, desk: Option<u64>) -> Approvals {
    match desk {
        Some(desk) => asked(settings, Some(desk), false),
        None => Approvals { hold: Duration::ZERO, ..asked(settings, None, true) },
    }
}

/// Who can be asked about a run: whoever sits at this desk, and the owner by `belljar approve`.
pub(crate) fn asked(settings: &ApprovalsSettings, desk: Option<u64>, by_command: bool) -> Approvals {
    let ApprovalsSettings { wait, allow_yes, hold, max_resting } = *settings;
    Approvals { desk, by_command, allow_yes, wait, hold, max_resting }
}
