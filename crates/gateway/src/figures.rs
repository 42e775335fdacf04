//! What was measured of the servers: kept in the ledger from time to time, and told.
//!
//! Nobody waits while it is kept: what was measured is handed to the ledger's own thread, and where
//! that has no room it is handed over later.

use belljar_ledger::Measured;
use belljar_model::{LedgerLevel, ServerFigures};

use crate::toolbox::Toolbox;

impl Toolbox {
    /// The figures of each server, in the order of the configuration: of all processes, and of the
    /// days that are kept. Where there is no ledger, or it cannot be read, of this process.
    pub async fn figures(&self) -> Vec<ServerFigures> {
        self.keep_measures();
        let mut kept = match self.told().ledger.as_ref().filter(|ledger| ledger.level != LedgerLevel::Off) {
            None => Default::default(),
            Some(ledger) => ledger.ledger.measures(self.configuration().to_owned()).await.unwrap_or_else(|fault| {
                tracing::warn!("what was measured before cannot be read: {fault}");
                Default::default()
            }),
        };
        let figures = self.upstream().measures().map(|(name, mut measures, targets)| {
            if let Some(kept) = kept.remove(name) {
                measures.add(&kept);
            }
            ServerFigures::of(name, &measures, targets)
        });
        figures.collect()
    }

    /// Keeps what was measured, if that was not done a moment ago.
    pub(crate) fn keep_measures_now_and_then(&self) {
        if self.last_kept().is_due() {
            self.keep_measures();
        }
    }

    /// Hands what was measured to the ledger.
    pub(crate) fn keep_measures(&self) {
        let Some(ledger) = self.told().ledger.as_ref().filter(|ledger| ledger.level != LedgerLevel::Off) else {
            return;
        };
        let servers = self.upstream().take_measures();
        if servers.is_empty() {
            return;
        }
        let measured = Measured { configuration: self.configuration().to_owned(), servers };
        if !ledger.ledger.offer_measured(measured.clone()) {
            self.upstream().put_back_measures(&measured.servers);
        }
    }
}
