//! The owner's decisions about calls: where the owner is asked, and what is shown.
//!
//! A question is kept in the ledger, and each place that can ask a person looks for its own there:
//! `terminal.rs` is the terminal at which `belljar run` was started, `serve/elicitation.rs` a
//! client that shows forms (with `asking.rs`), `commands/approvals.rs` any terminal. `shown.rs` is
//! what a person sees of a question, and `webhook.rs` notifies an address of the owner.

mod asking;
mod shown;
mod terminal;
mod webhook;

use std::time::Duration;

use belljar_approvals::Desk;
use belljar_config::ApprovalsSettings;
use belljar_gateway::Approvals;
use belljar_model::AskWay;
use rand::{TryRngCore as _, rngs::OsRng};

pub(crate) use asking::Asking;
pub(crate) use shown::{in_json, laid_out, shown};
pub(crate) use terminal::TerminalDesk;
pub(crate) use webhook::Told;

use crate::failure::Failure;

/// How often a place checks for questions while one of its runs is live.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The number by which a place finds its questions.
pub(crate) fn new_desk() -> Result<u64, Failure> {
    OsRng.try_next_u64().map_err(|error| Failure::internal(format!("the system gave no random number: {error}")))
}

/// Who can be asked about a run of a command: the person at its terminal. If there is no terminal,
/// it is the owner, and the run is put aside at once.
pub(crate) fn asked_at_command(settings: &ApprovalsSettings, terminal: Option<u64>) -> Approvals {
    match at_terminal(terminal) {
        Some(desk) => asked(settings, Some(desk), false),
        None => Approvals { hold: Duration::ZERO, ..asked(settings, None, true) },
    }
}

/// The desk of this number at a terminal.
pub(crate) fn at_terminal(id: Option<u64>) -> Option<Desk> {
    id.map(|id| Desk { id, way: AskWay::Cli })
}

/// The desk of this number at a client that shows forms.
pub(crate) fn at_client(id: Option<u64>) -> Option<Desk> {
    id.map(|id| Desk { id, way: AskWay::Elicitation })
}

/// Who can be asked about a run of a client of the MCP server: its user at this desk, and the owner
/// with a command. If the user is asked in the answer, the run is put aside as soon as it waits.
pub(crate) fn asked_by_client(settings: &ApprovalsSettings, desk: Option<u64>, with_answer: bool) -> Approvals {
    let approvals = asked(settings, at_client(desk), true);
    if with_answer { Approvals { hold: Duration::ZERO, ..approvals } } else { approvals }
}

/// Who can be asked about a run: the person at this desk, and the owner with `belljar approve`.
pub(crate) fn asked(settings: &ApprovalsSettings, desk: Option<Desk>, by_command: bool) -> Approvals {
    let ApprovalsSettings { wait, allow_yes, hold, max_resting, webhook: _ } = *settings;
    Approvals { desk, by_command, allow_yes, wait, hold, max_resting }
}
