//! How a rule asks the owner: `ask = { who = ["cli"], expires = "2h" }`.

use std::time::Duration;

use belljar_model::AskWays;

/// The longest time that a rule may wait for a decision.
pub(crate) const MAX_EXPIRES: Duration = Duration::from_secs(7 * 24 * 3600);

/// How a rule asks the owner, if it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskTerms {
    /// The ways to ask, instead of all.
    pub who: Option<AskWays>,
    /// How long to wait for a decision, instead of the configured time.
    pub expires: Option<Duration>,
}

impl AskTerms {
    /// The ways to ask the owner.
    pub fn ways(&self) -> AskWays {
        self.who.unwrap_or_default()
    }
}
