//! Labels that the answers of some tools give to a run: `[labels] private = ["crm.*"]`.
//!
//! A label is a high-water mark. A run carries it from the moment when it receives such an answer
//! until it ends. The origin of each argument is not tracked.

use std::time::Duration;

use belljar_model::ToolPath;

use crate::glob::ToolGlob;

/// The longest time for which a principal may carry labels.
pub(crate) const MAX_MEMORY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A set of labels from a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Labels(u64);

impl Labels {
    /// The most labels of a file.
    pub(crate) const MAX: usize = u64::BITS as usize;

    /// The label at this position in the file.
    pub(crate) fn at(place: usize) -> Self {
        let bit = u32::try_from(place).ok().and_then(|place| 1_u64.checked_shl(place));
        Self(bit.unwrap_or_default())
    }

    /// The union of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether both sets have a label in common.
    pub fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The labels of a file.
#[derive(Debug, Default)]
pub(crate) struct LabelRules {
    pub(crate) labels: Vec<LabelRule>,
    /// How long a principal carries the labels of a run; `None` if it does not carry them.
    pub(crate) memory: Option<Duration>,
}

/// One label, and the tools whose answers have it.
#[derive(Debug)]
pub(crate) struct LabelRule {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) tools: Vec<ToolGlob>,
}

impl LabelRules {
    /// The labels of an answer of this tool.
    pub(crate) fn of(&self, tool: &ToolPath) -> Labels {
        let brings = |rule: &LabelRule| rule.tools.iter().any(|glob| glob.matches(tool));
        let brought = self.labels.iter().enumerate().filter(|(_, rule)| brings(rule));
        brought.fold(Labels::default(), |all, (place, _)| all.and(Labels::at(place)))
    }

    /// The label of this name.
    pub(crate) fn named(&self, name: &str) -> Option<Labels> {
        self.labels.iter().position(|label| label.name == name).map(Labels::at)
    }

    /// The names of these labels.
    pub(crate) fn names(&self, labels: Labels) -> impl Iterator<Item = &str> {
        let is_one = move |(place, _): &(usize, &LabelRule)| labels.meet(Labels::at(*place));
        self.labels.iter().enumerate().filter(is_one).map(|(_, label)| label.name.as_str())
    }
}
