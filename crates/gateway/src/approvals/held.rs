//! What the check of a call gives: what may be sent, or why nothing is. A call that a person must
//! be asked about is within a [`Held`], whose contents this folder alone can take out.

use belljar_model::{Denial, JsonText, Verdict};
use belljar_policy::{AskTerms, Decision};
use belljar_upstream::CallError;

use crate::arguments::Refusal;

/// Why a call is not sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// Its arguments are not what the tool asks for.
    Refused(Refusal),
    /// A path among them is not one that the owner of its server allows.
    NotAPath(CallError),
    /// The owner's rules do not allow it.
    Denied(Denial),
    /// They want a person to be asked first.
    MustBeAsked(Box<Held>),
}

impl From<Refusal> for NotSent {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Arguments that were checked.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) arguments: JsonText,
    /// What the author of the call should know of them.
    pub(crate) warning: Option<String>,
    /// What the owner's rules said, where there are some.
    pub(crate) decision: Option<Decision>,
}

/// A call that was checked and judged, and must not be sent before a person agrees.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) checked: Checked,
    pub(super) decision: Decision,
}

impl Held {
    /// Holds a call back.
    pub(crate) fn new(checked: Checked, decision: Decision) -> Self {
        Self { checked, decision }
    }

    /// Holds back a call about which a person was asked before its run was put aside, and which
    /// rules allow by now.
    pub(crate) fn asked_before(mut checked: Checked) -> Self {
        let (verdict, ask) = (Verdict::Allow, AskTerms::default());
        let allowed = Decision { verdict, rule: None, why: None, ask, measured: None };
        let decision = checked.decision.take().unwrap_or(allowed);
        Self { checked, decision }
    }
}
