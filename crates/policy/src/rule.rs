//! One rule, as it was read.

use std::sync::Arc;

use belljar_model::{ToolPath, TrustedEffect, Verdict};

use crate::{
    AskTerms, AtMost, Call, Caller, Gate, History, Labels, LocalTime, Measure,
    condition::{Condition, Quantifier, Truth},
    glob::{Glob, ToolGlob},
    hours::Hours,
};

/// A rule: which calls it matches, and its verdict.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: Arc<str>,
    pub(crate) why: Option<Arc<str>>,
    pub(crate) verdict: Verdict,
    pub(crate) ask: AskTerms,
    pub(crate) offset: usize,
    /// The tools; `None` means every tool.
    pub(crate) tools: Option<Vec<ToolGlob>>,
    /// Whether it applies to each effect, in the order of `Effect::ALL`.
    pub(crate) effects: [bool; 3],
    pub(crate) destructive: bool,
    pub(crate) principals: Option<Vec<Glob>>,
    pub(crate) profiles: Option<Vec<Glob>>,
    pub(crate) hours: Option<Vec<Hours>>,
    /// The run or its principal must carry one of these labels. If empty, labels do not matter.
    pub(crate) carries: Labels,
    /// The call that must have succeeded before.
    pub(crate) after: Option<Gate>,
    /// The call that is made first, and whose count decides.
    pub(crate) measure: Option<Arc<Measure>>,
    /// How many calls it lets through.
    pub(crate) at_most: Option<AtMost>,
    /// The conditions. Those that need the file system come last.
    pub(crate) conditions: Vec<Condition>,
}

impl Rule {
    /// Whether the rule can apply to calls of this tool at all.
    pub(crate) fn concerns(&self, tool: &ToolPath, trusted: TrustedEffect) -> bool {
        let is_named = |globs: &Vec<ToolGlob>| globs.iter().any(|glob| glob.matches(tool));
        self.tools.as_ref().is_none_or(is_named)
            && self.effects[trusted.effect() as usize]
            && (!self.destructive || trusted.is_destructive())
    }

    /// Whether the rule applies to this caller.
    pub(crate) fn concerns_caller(&self, caller: &Caller<'_>) -> Truth {
        let principal = match (&self.principals, caller.principal) {
            (None, _) => Truth::True,
            (Some(_), None) => Truth::Unknown,
            (Some(globs), Some(name)) => globs.iter().any(|glob| glob.matches(name)).into(),
        };
        let profile = match (&self.profiles, caller.profile) {
            (None, _) => Truth::True,
            // The owner assigns profiles: a caller without a profile certainly has none.
            (Some(_), None) => Truth::False,
            (Some(globs), Some(name)) => globs.iter().any(|glob| glob.matches(name)).into(),
        };
        principal.and(profile)
    }

    /// Whether the rule applies at this moment.
    pub(crate) fn concerns_time(&self, at: Option<LocalTime>) -> Truth {
        match (&self.hours, at) {
            (None, _) => Truth::True,
            (Some(_), None) => Truth::Unknown,
            (Some(hours), Some(at)) => hours.iter().any(|hours| hours.contain(at)).into(),
        }
    }

    /// Whether a condition with this result counts as met.
    pub(crate) fn takes(&self, truth: Truth) -> bool {
        match self.verdict {
            Verdict::Allow => truth == Truth::True,
            Verdict::Ask | Verdict::Deny => truth != Truth::False,
        }
    }

    /// Whether the rule applies with these labels.
    pub(crate) fn concerns_carried(&self, history: &dyn History) -> Truth {
        if self.carries.is_empty() {
            return Truth::True;
        }
        history.carries(self.carries).map_or(Truth::Unknown, Truth::from)
    }

    /// Whether the rule applies given the earlier call, if everything else matches: a rule that
    /// allows applies once the earlier call has succeeded, and one that denies or asks applies
    /// until then.
    pub(crate) fn concerns_gate(&self, call: &Call<'_>) -> Truth {
        let Some(gate) = &self.after else { return Truth::True };
        let passed = gate.values(call.arguments).and_then(|values| call.history.has_passed(gate, &values));
        let passed = passed.map_or(Truth::Unknown, Truth::from);
        if self.verdict == Verdict::Allow { passed } else { !passed }
    }

    /// The measured count; `None` if it is not known.
    pub(crate) fn measured(&self, call: &Call<'_>) -> Option<u64> {
        let measure = self.measure.as_ref()?;
        call.history.measured(&self.id, measure, measure.arguments(call.arguments)?)
    }

    /// Whether the rule applies with that count: a rule that allows does so up to the highest
    /// count, and one that denies or asks does so above it.
    pub(crate) fn concerns_measure(&self, call: &Call<'_>) -> Truth {
        let Some(measure) = &self.measure else { return Truth::True };
        let passes = self.measured(call).map_or(Truth::Unknown, |count| Truth::from(count <= measure.max));
        if self.verdict == Verdict::Allow { passes } else { !passes }
    }

    /// Whether the rule applies with this number of calls, if everything else matches: a rule that
    /// allows applies as long as there is room, and one that denies or asks applies when there is
    /// none.
    pub(crate) fn concerns_count(&self, history: &dyn History) -> Truth {
        let Some(at_most) = self.at_most else { return Truth::True };
        let room = history.has_room(&self.id, at_most).map_or(Truth::Unknown, Truth::from);
        if self.verdict == Verdict::Allow { room } else { !room }
    }

    pub(crate) fn quantifier(&self) -> Quantifier {
        match self.verdict {
            Verdict::Allow => Quantifier::All,
            Verdict::Ask | Verdict::Deny => Quantifier::Any,
        }
    }

    /// Whether the rule certainly decides every call that `other` matches. It may return false
    /// although the rule does.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let tools = match (&self.tools, &other.tools) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ours), Some(theirs)) => theirs.iter().all(|their| ours.iter().any(|our| our.covers(their))),
        };
        let named = |ours: &Option<Vec<Glob>>, theirs: &Option<Vec<Glob>>| match (ours, theirs) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ours), Some(theirs)) => theirs.iter().all(|their| ours.iter().any(|our| our.covers(their))),
        };
        self.conditions.is_empty()
            && self.at_most.is_none()
            && self.carries.is_empty()
            && self.after.is_none()
            && self.measure.is_none()
            && self.hours.is_none()
            && tools
            && self.effects.iter().zip(other.effects).all(|(ours, theirs)| *ours || !theirs)
            && (!self.destructive || other.destructive)
            && named(&self.principals, &other.principals)
            && named(&self.profiles, &other.profiles)
    }
}
