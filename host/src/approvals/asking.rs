//! What a configuration says of asking the clients of the MCP server about calls of their runs.

use std::sync::Arc;

use belljar_ledger::Ledger;
use belljar_model::LedgerLevel;

use crate::setup::{self, Loaded};

/// Whether clients of the MCP server can be asked about calls of their runs, and where the
/// questions lie.
#[derive(Clone)]
pub(crate) struct Asking {
    /// Where questions lie; nothing where there are no rules that could ask.
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
    /// Whether a run that waits can be put aside: something is kept of it, and it is not in a
    /// process of its own.
    pub(crate) can_rest: bool,
}

impl Asking {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let ledger = || Arc::new(setup::ledger_of(&loaded.config.ledger)) as Arc<dyn Ledger>;
        Self {
            ledger: loaded.policy.is_some().then(ledger),
            can_rest: loaded.config.ledger.level != LedgerLevel::Off && loaded.config.runs.process != Some(true),
        }
    }
}
