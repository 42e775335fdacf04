//! The earlier calls that rules ask about.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value};

use crate::{AtMost, Gate, Labels, Measure};

/// Knows the earlier calls. `None` means that the answer is not known (yet).
pub trait History: Send + Sync {
    /// Whether this rule has room for another call. This is asked only if everything else in the
    /// rule matches the call; the call is counted from then on, unless it is denied.
    fn has_room(&self, rule: &Arc<str>, at_most: AtMost) -> Option<bool>;

    /// Whether the run that makes the call, or its principal, carries one of these labels.
    fn carries(&self, labels: Labels) -> Option<bool>;

    /// Whether a call that this gate requires succeeded before, with these [values](Gate::values).
    fn has_passed(&self, gate: &Gate, values: &str) -> Option<bool>;

    /// The count of this rule's measuring call with these arguments.
    fn measured(&self, rule: &Arc<str>, measure: &Arc<Measure>, arguments: Map<String, Value>) -> Option<u64>;
}

/// There were no earlier calls.
impl History for () {
    fn has_room(&self, _: &Arc<str>, _: AtMost) -> Option<bool> {
        Some(true)
    }

    fn carries(&self, _: Labels) -> Option<bool> {
        Some(false)
    }

    fn has_passed(&self, _: &Gate, _: &str) -> Option<bool> {
        Some(false)
    }

    fn measured(&self, _: &Arc<str>, _: &Arc<Measure>, _: Map<String, Value>) -> Option<u64> {
        None
    }
}

/// The earlier calls to assume when a call is explained or rules are tested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The labels that are carried.
    pub labels: Labels,
    /// The rules whose earlier call was made.
    pub passed: BTreeSet<String>,
    /// The counts of measuring calls; `None` if there is none.
    pub measured: Option<u64>,
}

impl History for Assumed {
    fn has_room(&self, _: &Arc<str>, _: AtMost) -> Option<bool> {
        Some(true)
    }

    fn carries(&self, labels: Labels) -> Option<bool> {
        Some(self.labels.meet(labels))
    }

    fn has_passed(&self, gate: &Gate, _: &str) -> Option<bool> {
        Some(self.passed.contains(&**gate.rule()))
    }

    fn measured(&self, _: &Arc<str>, _: &Arc<Measure>, _: Map<String, Value>) -> Option<u64> {
        self.measured
    }
}
