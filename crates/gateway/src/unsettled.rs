//! Calls that a run sent after it was resumed, and whose answers are lost because that process was
//! killed.
//!
//! When the run is resumed again it makes these calls again, and this module decides which are sent
//! again: those that only read, and those that the owner calls idempotent. For all other calls
//! whose results the ledger does not know, the owner says once what became of them
//! (`belljar resume --assume`). A call is identified by its number, its tool and its arguments. A
//! call that is made in a different place than before is not sent.

use std::collections::{BTreeMap, BTreeSet};

use belljar_ledger::{Assumption, CallState, Digest, KeptCall};
use belljar_model::{Effect, JsonText, ToolPath};
use belljar_sandbox::CallError;
use parking_lot::Mutex;
use serde_json::Value;

/// The calls of a run that are to be settled.
#[derive(Default)]
pub(crate) struct Unsettled(Mutex<Known>);

#[derive(Default)]
struct Known {
    calls: BTreeMap<u64, Lost>,
    assumed: Option<Assumption>,
}

/// A call that was sent, and whose answer is lost.
struct Lost {
    tool: ToolPath,
    arguments: Option<Digest>,
    state: CallState,
}

/// What is known of a call that is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// Nothing: it was not sent before, or may be sent again.
    None,
    /// It was done, as the ledger knows (true) or the owner assumes.
    Done(bool),
    /// It failed, as the ledger knows (true) or the owner assumes.
    Failed(bool),
    /// It may have been done, and the owner has not said what to assume.
    Unknown,
    /// The run makes another call here than before, or this one was made in another place.
    Moved,
}

impl Unsettled {
    /// Sets the run's calls that may have changed something and whose answers are not in its
    /// recording.
    pub(crate) fn know(&self, calls: Vec<KeptCall>, answered: &BTreeSet<u64>, assumed: Option<Assumption>) {
        let is_lost = |call: &KeptCall| {
            call.state != CallState::Denied && call.trusted != Effect::ReadOnly && !answered.contains(&call.number)
        };
        let lost = calls.into_iter().filter(is_lost);
        let lost =
            lost.map(|KeptCall { number, tool, arguments, state, .. }| (number, Lost { tool, arguments, state }));
        *self.0.lock() = Known { calls: lost.collect(), assumed };
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().calls.is_empty()
    }

    /// Whether a call of this number was sent.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.0.lock().calls.contains_key(&number)
    }

    /// What became of this call before, if it may change something. Its arguments are compared if
    /// they are known. `may_repeat` means that it may be sent twice, and `has_key` that its
    /// arguments depend on its number.
    pub(crate) fn settle(
        &self,
        number: u64,
        tool: &ToolPath,
        arguments: Option<Digest>,
        (may_repeat, has_key): (bool, bool),
    ) -> Earlier {
        let mut known = self.0.lock();
        let Known { calls, assumed } = &mut *known;
        let Some(lost) = calls.get(&number) else {
            let is_same = |lost: &Lost| has_key || arguments.is_none() || lost.arguments == arguments;
            let is_this = |lost: &Lost| lost.tool == *tool && is_same(lost);
            let is_elsewhere = !may_repeat_anywhere(may_repeat, has_key) && calls.values().any(is_this);
            return if is_elsewhere { Earlier::Moved } else { Earlier::None };
        };
        if lost.tool != *tool || arguments.is_some_and(|arguments| lost.arguments != Some(arguments)) {
            return Earlier::Moved;
        }
        let state = lost.state;
        calls.remove(&number);
        match (state, *assumed) {
            _ if may_repeat => Earlier::None,
            (CallState::Ok, _) => Earlier::Done(true),
            (CallState::ToolError, _) => Earlier::Failed(true),
            (CallState::AssumedDone, _) | (_, Some(Assumption::Done)) => Earlier::Done(false),
            (CallState::AssumedFailed, _) | (_, Some(Assumption::Failed)) => Earlier::Failed(false),
            (_, None) => Earlier::Unknown,
        }
    }
}

/// Whether a call may be sent twice wherever its script makes it. A key that depends on the place
/// does not allow that.
fn may_repeat_anywhere(may_repeat: bool, has_key: bool) -> bool {
    may_repeat && !has_key
}

impl Earlier {
    /// How the ledger records it, if it was not known.
    pub(crate) fn assumed(self) -> Option<CallState> {
        match self {
            Self::Done(false) => Some(CallState::AssumedDone),
            Self::Failed(false) => Some(CallState::AssumedFailed),
            _ => None,
        }
    }

    /// What the script gets in place of the answer, with a remark for its author, or `None` if the
    /// call is to be sent.
    pub(crate) fn answer(self, path: &ToolPath) -> Option<(Result<JsonText, CallError>, Option<String>)> {
        let null = || JsonText::from_value(&Value::Null);
        let fault = |why: &str| CallError::new(format!("{path} was not called again: {why}"));
        Some(match self {
            Self::None => return None,
            Self::Done(is_known) => {
                let how = if is_known { "was done" } else { "is assumed to have been done" };
                let text = format!(
                    "{path} {how} before the run was interrupted and is not called again: its answer is lost, and null here"
                );
                (Ok(null()), Some(text))
            }
            Self::Failed(true) => (Err(fault("it failed before the run was interrupted, and why is lost")), None),
            Self::Failed(false) => {
                let why = "the run was interrupted before it answered, and its owner assumes that it failed; whether it \
                    took effect is not known";
                (Err(fault(why)), None)
            }
            Self::Unknown => {
                let why = "the run was interrupted before it answered, and whether it took effect is not known";
                (Err(fault(why)), None)
            }
            Self::Moved => {
                let why = "before the run was interrupted it made its calls in another order, and this one may have been made";
                (Err(fault(why)), None)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sent(number: u64, tool: &str, state: CallState) -> KeptCall {
        KeptCall {
            number,
            tool: ToolPath::new("fs", tool),
            effect: Effect::External,
            trusted: Effect::External,
            begun: Duration::ZERO,
            state,
            took: None,
            arguments_bytes: 2,
            arguments: Some([1; 16]),
            answer_bytes: None,
            answer: None,
            verdict: None,
            rule: None,
            decided_by: None,
        }
    }

    fn unsettled(assumed: Option<Assumption>) -> Unsettled {
        let calls = vec![
            sent(1, "before", CallState::Ok),
            sent(2, "write", CallState::Sent),
            sent(3, "ok", CallState::Ok),
            sent(4, "failed", CallState::ToolError),
            sent(5, "denied", CallState::Denied),
            KeptCall { trusted: Effect::ReadOnly, ..sent(6, "read", CallState::Sent) },
            sent(7, "silent", CallState::Fault),
        ];
        let unsettled = Unsettled::default();
        unsettled.know(calls, &BTreeSet::from([1]), assumed);
        unsettled
    }

    fn settle(unsettled: &Unsettled, number: u64, tool: &str) -> Earlier {
        unsettled.settle(number, &ToolPath::new("fs", tool), Some([1; 16]), (false, false))
    }

    #[test]
    fn what_the_ledger_knows_of_a_call_counts_and_else_what_its_owner_assumes() {
        for (assumed, said) in [
            (None, Earlier::Unknown),
            (Some(Assumption::Done), Earlier::Done(false)),
            (Some(Assumption::Failed), Earlier::Failed(false)),
        ] {
            let unsettled = unsettled(assumed);
            assert!(unsettled.has(2) && !unsettled.has(1) && !unsettled.has(6));
            assert_eq!(settle(&unsettled, 2, "write"), said);
            assert_eq!(settle(&unsettled, 7, "silent"), said);
            assert_eq!(settle(&unsettled, 3, "ok"), Earlier::Done(true));
            assert_eq!(settle(&unsettled, 4, "failed"), Earlier::Failed(true));
            assert_eq!(settle(&unsettled, 6, "read"), Earlier::None);
            // Each counts once.
            assert_eq!(settle(&unsettled, 8, "write"), Earlier::None);
        }
    }

    #[test]
    fn what_is_made_in_another_place_than_before_is_not_sent() {
        let assumed = || unsettled(Some(Assumption::Failed));
        assert_eq!(settle(&assumed(), 9, "write"), Earlier::Moved);
        assert_eq!(settle(&assumed(), 2, "other"), Earlier::Moved);
        assert_eq!(settle(&assumed(), 9, "other"), Earlier::None);
        let write = ToolPath::new("fs", "write");
        let other = |number, may| assumed().settle(number, &write, Some([2; 16]), may);
        assert_eq!(other(2, (false, false)), Earlier::Moved, "other arguments");
        assert_eq!(other(9, (false, false)), Earlier::None, "another call");
        // With a key that depends on the number, nothing is known of another place.
        assert_eq!(other(9, (true, true)), Earlier::Moved);
        assert_eq!(other(9, (true, false)), Earlier::None);
    }

    #[test]
    fn what_may_be_made_twice_is_sent_again() {
        let write = ToolPath::new("fs", "write");
        assert_eq!(unsettled(None).settle(2, &write, Some([1; 16]), (true, true)), Earlier::None);
        assert!(Earlier::None.answer(&write).is_none());
        let (answer, text) = Earlier::Done(false).answer(&write).expect("it is not sent");
        assert_eq!(answer.expect("null").as_str(), "null");
        assert!(text.expect("the author is told").contains("is assumed to have been done"));
    }
}
