//! The steps of a run that a process reports to its listeners.
//!
//! It may report steps only if it was asked to, in order, and no more of them than a run can have.
//! So listeners hear no more than they would of a run in this process.

use belljar_model::{Limits, RunStep};

use super::lost::Violation;
use crate::protocol::from_worker::{CUT, MAX_ORDER};

/// The steps that are reported of one run.
pub(super) struct Watching {
    /// What the process was told last: whether there are listeners.
    is_watched: bool,
    /// Whether it was ever asked to report. Steps that it sent before it learned that the listeners
    /// are gone may come later.
    was_asked: bool,
    /// How far the run has got, according to the reports: queued, admitted, started, or inside its
    /// script.
    reached: u8,
    logs: u64,
    handed_over: u64,
}

impl Watching {
    /// For a run that is about to begin.
    pub(super) fn new(is_watched: bool) -> Self {
        Self { is_watched, was_asked: is_watched, reached: 0, logs: 0, handed_over: 0 }
    }

    /// What to tell the process, if it does not know it yet.
    pub(super) fn news(&mut self, is_watched: bool) -> Option<bool> {
        self.was_asked |= is_watched;
        (std::mem::replace(&mut self.is_watched, is_watched) != is_watched).then_some(is_watched)
    }

    /// Handles a step that the process reports.
    pub(super) fn take(&mut self, step: &RunStep, limits: &Limits) -> Result<(), Violation> {
        if !self.was_asked {
            return Err(Violation::Unwatched);
        }
        let within = |count: &mut u64, max: u64| {
            *count += 1;
            if *count > max { Err(Violation::Steps) } else { Ok(()) }
        };
        let place = match step {
            RunStep::Queued => 1,
            RunStep::Admitted => 2,
            RunStep::Started => 3,
            RunStep::Log { .. } | RunStep::HandedOver { .. } => 4,
            // The process reports no other kind.
            _ => return Err(Violation::Steps),
        };
        // The first three happen once. Some may have happened before it was asked.
        if place < self.reached || (place == self.reached && place < 4) {
            return Err(Violation::Steps);
        }
        self.reached = place;
        match step {
            RunStep::Log { .. } => within(&mut self.logs, limits.max_log_lines.saturating_add(CUT.1)),
            RunStep::HandedOver { .. } => within(&mut self.handed_over, MAX_ORDER),
            _ => Ok(()),
        }
    }
}
