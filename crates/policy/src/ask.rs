//! How a rule wants the owner to be asked: `ask = { who = ["cli"], expires = "2h" }`.

use std::time::Duration;

use belljar_model::AskWays;

/// The longest time for which a rule lets a decision be waited for.
pub(crate) const MAX_EXPIRES: Duration = Duration::from_secs(7 * 24 * 3600);

/// How a rule wants the owner to be asked, where it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskTerms {
    /// The ways by which they are, instead of all that there are.
    pub who: Option<AskWays>,
    /// How long a decision is waited for, instead of what the configuration says.
    pub expires: Option<Duration>,
}

impl AskTerms {
    /// The ways by which the owner is asked.
    pub fn ways(&self) -> AskWays {
        self.who.unwrap_or_default()
    }
}
