//! Measurements of child servers.
//!
//! `histogram.rs` keeps times, `figures.rs` has the figures that are shown, and `targets.rs` what
//! the owner wants them to be. [`Measures`] is all that is kept of one server. Those of several
//! instances and processes can be added, and their size is bounded.

mod figures;
mod histogram;
mod targets;

use serde::{Deserialize, Serialize};

pub use figures::{MEASURED_DAYS, ServerFigures, Timing};
pub use histogram::Histogram;
pub use targets::{ErrorShare, TargetFigure, Targets};

/// What was measured of one server, over all of its instances.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// Starts that succeeded: from the demand to the list of tools.
    pub starts: Histogram,
    /// The first answered call of each life, from its turn to the answer, including the start if
    /// the call waited for it.
    pub first_calls: Histogram,
    /// Every other answered call, from when it was sent to the answer.
    pub warm_calls: Histogram,
    /// Starts that failed.
    pub failed_starts: u64,
    /// Calls without a result: the server was unavailable, died, was too slow, or answered
    /// nonsense.
    pub errors: u64,
    /// Calls whose result says that the tool failed.
    pub tool_errors: u64,
    /// Lives that ended by themselves.
    pub deaths: u64,
    /// Instances that came back after they had been ready.
    pub restarts: u64,
    /// How often it was left alone because it kept failing.
    pub breaker_trips: u64,
    /// Calls that went to an instance other than that of the call before.
    pub switches: u64,
    /// Instances that were given up to make room for another.
    pub displaced: u64,
}

impl Measures {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what was measured elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.starts.add(&other.starts);
        self.first_calls.add(&other.first_calls);
        self.warm_calls.add(&other.warm_calls);
        for (sum, more) in [
            (&mut self.failed_starts, other.failed_starts),
            (&mut self.errors, other.errors),
            (&mut self.tool_errors, other.tool_errors),
            (&mut self.deaths, other.deaths),
            (&mut self.restarts, other.restarts),
            (&mut self.breaker_trips, other.breaker_trips),
            (&mut self.switches, other.switches),
            (&mut self.displaced, other.displaced),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn measures_add_up_and_survive_being_written() {
        let mut one = Measures { errors: 2, breaker_trips: u64::MAX, ..Measures::default() };
        one.warm_calls.record(Duration::from_millis(3));
        let mut sum = Measures { errors: 1, breaker_trips: 1, ..Measures::default() };
        sum.add(&one);
        assert_eq!((sum.errors, sum.breaker_trips, sum.warm_calls.samples()), (3, u64::MAX, 1));
        let text = serde_json::to_string(&sum).expect("JSON");
        assert_eq!(serde_json::from_str::<Measures>(&text).expect("the same"), sum);
        // What a later version adds, or an earlier one did not have, is not an error.
        let other: Measures = serde_json::from_str(r#"{"errors": 3, "more": {}}"#).expect("measures");
        assert_eq!(other, Measures { errors: 3, ..Measures::default() });
        assert!(Measures::default().is_empty() && !other.is_empty());
    }
}
