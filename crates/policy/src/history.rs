//! What was before a call, as far as rules ask for it.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value};

use crate::{AtMost, Gate, Labels, Measure};

/// Who knows what was before. `None` is the answer where nobody knows (yet).
pub trait History: Send + Sync {
    /// Whether one more call is within what this rule lets pass. It is asked for a rule that
    /// matches the call otherwise, and the call counts from then on, unless it is denied.
    fn has_room(&self, rule: &Arc<str>, at_most: AtMost) -> Option<bool>;

    /// Whether one of these labels is carried by the run that makes the call, or by its principal.
    fn carries(&self, labels: Labels) -> Option<bool>;

    /// Whether a call for which this gate asks succeeded before, with these [values](Gate::values).
    fn has_passed(&self, gate: &Gate, values: &str) -> Option<bool>;

    /// The count of the call that this rule wants to be made first, with these arguments.
    fn measured(&self, rule: &Arc<str>, measure: &Arc<Measure>, arguments: Map<String, Value>) -> Option<u64>;
}

/// There was nothing before.
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
    /// The rules whose earlier call there was.
    pub passed: BTreeSet<String>,
    /// What each call counts that is made first; nothing where none does.
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
