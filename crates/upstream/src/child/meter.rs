//! The measurements of one server, as they happen. A call costs one short lock and no memory that
//! grows with the calls.

use std::{sync::Arc, time::Duration};

use belljar_model::{JsonText, Measures, says_error};
use parking_lot::Mutex;

use crate::error::CallError;

/// The figures that were not yet taken, for all instances of a server.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Measures>>);

/// Which call of a life it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// The first call.
    First,
    /// A later call.
    Warm,
}

impl Meter {
    /// Takes what was measured since the last time.
    pub(crate) fn take(&self) -> Measures {
        std::mem::take(&mut self.0.lock())
    }

    /// What was measured and not yet taken.
    pub(crate) fn look(&self) -> Measures {
        self.0.lock().clone()
    }

    /// Puts back what could not be saved.
    pub(crate) fn put_back(&self, measures: &Measures) {
        self.0.lock().add(measures);
    }

    pub(crate) fn started(&self, took: Duration, is_restart: bool) {
        let mut measures = self.0.lock();
        measures.starts.record(took);
        measures.restarts = measures.restarts.saturating_add(u64::from(is_restart));
    }

    pub(crate) fn start_failed(&self, has_tripped: bool) {
        self.count(|measures| &mut measures.failed_starts, has_tripped);
    }

    pub(crate) fn died(&self, has_tripped: bool) {
        self.count(|measures| &mut measures.deaths, has_tripped);
    }

    /// Notes how a call ended. A call that was given up says nothing about the server.
    pub(crate) fn called(&self, kind: CallKind, took: Duration, answer: &Result<JsonText, CallError>) {
        match answer {
            Ok(result) => {
                let has_failed = says_error(result);
                let mut measures = self.0.lock();
                measures.tool_errors = measures.tool_errors.saturating_add(u64::from(has_failed));
                match kind {
                    CallKind::First => measures.first_calls.record(took),
                    CallKind::Warm => measures.warm_calls.record(took),
                }
            }
            Err(CallError::Cancelled { .. }) => {}
            Err(_) => self.count(|measures| &mut measures.errors, false),
        }
    }

    /// Notes that a call could not be made because the server is unavailable.
    pub(crate) fn unavailable(&self) {
        self.count(|measures| &mut measures.errors, false);
    }

    pub(crate) fn switched(&self) {
        self.count(|measures| &mut measures.switches, false);
    }

    pub(crate) fn displaced(&self) {
        self.count(|measures| &mut measures.displaced, false);
    }

    fn count(&self, what: impl FnOnce(&mut Measures) -> &mut u64, has_tripped: bool) {
        let mut measures = self.0.lock();
        let count = what(&mut measures);
        *count = count.saturating_add(1);
        measures.breaker_trips = measures.breaker_trips.saturating_add(u64::from(has_tripped));
    }
}
