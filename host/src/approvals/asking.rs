//! How clients of the MCP server are asked about calls of their runs, according to the
//! configuration.

use std::sync::Arc;

use belljar_ledger::Ledger;
use belljar_model::LedgerLevel;

use crate::setup::{self, Loaded};

/// Whether clients of the MCP server can be asked about calls of their runs, and where the
/// questions are kept.
#[derive(Clone)]
pub(crate) struct Asking {
    /// The ledger with the questions, or `None` if there are no rules that could ask.
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
    /// Whether a waiting run can be put aside: its ledger keeps something, and it is not in a
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
