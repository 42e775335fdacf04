//! The states of a question, and every transition between them.

use belljar_model::AskWays;

use crate::part::Part;

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has decided.
    Open,
    /// The owner agreed, and the call has not been sent yet.
    Approved,
    /// The owner refused.
    Denied,
    /// The owner agreed, and the decision was used: the call may have been sent.
    Sent,
    /// It expired before a decision, or before the decision was used.
    Expired,
    /// Its run ended before there was a decision.
    Withdrawn,
    /// The desk that was asked is gone, and had not answered.
    Unanswered,
}

/// Why something cannot be done with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no question with this name.
    #[error("there is no such question")]
    Unknown,
    /// It was already decided.
    #[error("it was {} already", .0.as_str())]
    Decided(State),
    /// It has expired.
    #[error("it is too late: the question has expired")]
    TooLate,
    /// Its run has ended.
    #[error("it is too late: its run is over")]
    Over,
    /// Another person was asked.
    #[error("it was asked of somebody else")]
    OfAnother,
    /// The rule does not let a decision be made in this way.
    #[error("its rule does not let it be decided this way: it names {0}")]
    OtherWay(AskWays),
    /// Nobody has agreed.
    #[error("nobody has agreed to it")]
    NotApproved,
    /// Its principal has too many open questions.
    #[error(
        "{0} questions of the same principal wait for the owner, the limit: it can be asked when they have decided some, or some have expired"
    )]
    TooManyOpen(u32),
    /// The call to be sent differs from the one that was decided about.
    #[error("{0}")]
    Differs(Part),
}

impl State {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Approved, Self::Denied, Self::Sent, Self::Expired, Self::Withdrawn, Self::Unanswered];

    /// The name used in JSON and shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Sent => "approved and sent",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Unanswered => "left unanswered",
        }
    }

    /// The state after a decision.
    ///
    /// # Errors
    /// It can no longer be decided.
    pub fn decided(self, approve: bool) -> Result<Self, Refusal> {
        match self {
            Self::Open if approve => Ok(Self::Approved),
            Self::Open => Ok(Self::Denied),
            other => Err(other.closed()),
        }
    }

    /// The state after the decision was used, which can happen only once.
    ///
    /// # Errors
    /// Nobody agreed, or it was used before.
    pub fn used(self) -> Result<Self, Refusal> {
        match self {
            Self::Approved => Ok(Self::Sent),
            Self::Open => Err(Refusal::NotApproved),
            other => Err(other.closed()),
        }
    }

    /// The state after the question ended without the call being sent. An approved question can end
    /// like this too, if its approval was not used.
    ///
    /// # Errors
    /// It had ended before.
    pub fn ended(self, end: Self) -> Result<Self, Refusal> {
        match self {
            Self::Open => Ok(end),
            Self::Approved if end == Self::Withdrawn => Ok(end),
            other => Err(other.closed()),
        }
    }

    fn closed(self) -> Refusal {
        match self {
            Self::Expired => Refusal::TooLate,
            Self::Withdrawn => Refusal::Over,
            other => Refusal::Decided(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_or_used_once_is_so_for_good() {
        assert_eq!(State::Open.decided(true), Ok(State::Approved));
        assert_eq!(State::Open.decided(false), Ok(State::Denied));
        assert_eq!(State::Approved.used(), Ok(State::Sent));
        for state in State::ALL.into_iter().filter(|state| *state != State::Open) {
            assert!(state.decided(true).is_err() && state.decided(false).is_err(), "{state:?}");
        }
        for state in State::ALL.into_iter().filter(|state| *state != State::Approved) {
            assert!(state.used().is_err(), "{state:?}");
        }
        assert_eq!(State::Sent.used(), Err(Refusal::Decided(State::Sent)));
        assert_eq!(State::Expired.decided(true), Err(Refusal::TooLate));
        assert_eq!(State::Withdrawn.decided(true), Err(Refusal::Over));
        // The clock does not undo a decision that was made.
        assert!(State::Approved.ended(State::Expired).is_err() && State::Denied.ended(State::Withdrawn).is_err());
    }
}
