//! The figures that are shown for what was measured.

use serde::{Deserialize, Serialize};

use super::{Histogram, Measures, TargetFigure, Targets, targets::milliseconds};

/// How many days measurements are kept, including today: long enough to see a pattern, and short
/// enough that a problem that is fixed today does not count against a server for months.
pub const MEASURED_DAYS: u32 = 7;

/// The figures of one server, over the days that are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerFigures {
    /// The configured name.
    pub name: String,
    /// Starts, from the demand to the list of tools.
    pub starts: Timing,
    /// The first call of each life, including the start if the call waited for it.
    pub first_calls: Timing,
    /// All other calls.
    pub warm_calls: Timing,
    /// Starts that failed.
    pub failed_starts: u64,
    /// Calls without a result.
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
    /// How it compares with the targets of its owner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetFigure>,
}

impl ServerFigures {
    /// The figures of a server, compared with the targets of its owner.
    pub fn of(name: impl Into<String>, measures: &Measures, targets: &Targets) -> Self {
        Self {
            name: name.into(),
            starts: Timing::of(&measures.starts),
            first_calls: Timing::of(&measures.first_calls),
            warm_calls: Timing::of(&measures.warm_calls),
            failed_starts: measures.failed_starts,
            errors: measures.errors,
            tool_errors: measures.tool_errors,
            deaths: measures.deaths,
            restarts: measures.restarts,
            breaker_trips: measures.breaker_trips,
            switches: measures.switches,
            displaced: measures.displaced,
            targets: targets.held_against(measures),
        }
    }
}

/// How long something took. If it never happened, there are no times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// How often it happened.
    pub count: u64,
    /// The median, in milliseconds: half of the times do not exceed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// The 95th percentile, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// The longest time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<f64>,
}

impl Timing {
    fn of(times: &Histogram) -> Self {
        Self {
            count: times.samples(),
            p50_ms: times.quantile(50).map(milliseconds),
            p95_ms: times.quantile(95).map(milliseconds),
            max_ms: times.max().map(milliseconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn figures_say_nothing_of_what_never_happened() {
        let mut measures = Measures::default();
        measures.warm_calls.record(Duration::from_micros(1_500));
        let figures = ServerFigures::of("fs", &measures, &Targets::default());
        let told = serde_json::to_value(&figures).expect("JSON");
        assert_eq!(told["starts"], serde_json::json!({ "count": 0 }));
        assert_eq!(told["warm_calls"], serde_json::json!({ "count": 1, "p50_ms": 1.5, "p95_ms": 1.5, "max_ms": 1.5 }));
        assert!(told.get("targets").is_none());
        assert_eq!(serde_json::from_value::<ServerFigures>(told).expect("the same"), figures);
    }
}
