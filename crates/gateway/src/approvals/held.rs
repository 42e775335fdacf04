//! The result of checking a call: what may be sent, or why nothing is. A call that a person must be
//! asked about is within a [`Held`], which only this folder can open.

use belljar_model::{Denial, JsonText, Verdict};
use belljar_policy::{AskTerms, Decision};
use belljar_upstream::CallError;

use crate::arguments::Refusal;

/// Why a call is not sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// Its arguments do not fit the tool's schema.
    Refused(Refusal),
    /// Its arguments have a path that the server's owner does not allow.
    NotAPath(CallError),
    /// The owner's rules deny it.
    Denied(Denial),
    /// The owner's rules ask a person first.
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
    /// Remarks on them for the author of the call.
    pub(crate) warning: Option<String>,
    /// What the owner's rules decided, if there are any.
    pub(crate) decision: Option<Decision>,
}

/// A call that was checked and judged, and must not be sent until a person agrees.
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

    /// Holds back a call about which a person was asked before its run was put aside, and which the
    /// rules allow now.
    pub(crate) fn asked_before(mut checked: Checked) -> Self {
        let (verdict, ask) = (Verdict::Allow, AskTerms::default());
        let allowed = Decision { verdict, rule: None, why: None, ask, measured: None };
        let decision = checked.decision.take().unwrap_or(allowed);
        Self { checked, decision }
    }
}
