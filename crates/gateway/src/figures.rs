//! Measurements of the servers: saved in the ledger from time to time, and reported.
//!
//! Nobody waits for a save: measurements are handed to the ledger's own thread, or later if that
//! has no room.

use belljar_ledger::Measured;
use belljar_model::{LedgerLevel, ServerFigures};

use crate::toolbox::Toolbox;

impl Toolbox {
    /// The figures of each server, in the order of the configuration. They cover all processes, and
    /// the days that are kept. If there is no ledger, or it cannot be read, they cover this
    /// process.
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

    /// Saves the measurements, unless that was done a moment ago.
    pub(crate) fn keep_measures_now_and_then(&self) {
        if self.last_kept().is_due() {
            self.keep_measures();
        }
    }

    /// Hands the measurements to the ledger.
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
