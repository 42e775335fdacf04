//! The ways in which the owner can be asked about a call, as rules name them.

use std::fmt;

use serde::{Serialize, Serializer};

/// A way in which the owner learns of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskWay {
    /// A terminal: that of `belljar run`, or any other through `belljar approve`.
    Cli,
    /// A form that the client shows.
    Elicitation,
    /// belljar's page in the owner's browser.
    Page,
    /// A message to an address that the owner's configuration names. It only informs, and decides
    /// nothing.
    Webhook,
}

impl AskWay {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Cli, Self::Elicitation, Self::Page, Self::Webhook];

    /// The name used in rules, JSON and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Elicitation => "elicitation",
            Self::Page => "page",
            Self::Webhook => "webhook",
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::Cli => 1,
            Self::Elicitation => 2,
            Self::Webhook => 4,
            Self::Page => 8,
        }
    }
}

/// Some of these ways; all of them by default.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AskWays(u8);

impl AskWays {
    /// No way.
    pub const NONE: Self = Self(0);

    /// These ways, as a number to store.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The ways of such a number, or `None` if it has unknown bits.
    pub fn from_bits(bits: u8) -> Option<Self> {
        (bits & !Self::default().0 == 0).then_some(Self(bits))
    }

    /// These ways and this one.
    #[must_use]
    pub fn with(self, way: AskWay) -> Self {
        Self(self.0 | way.bit())
    }

    /// Whether this is one of these ways.
    pub fn has(self, way: AskWay) -> bool {
        self.0 & way.bit() != 0
    }

    /// Whether a decision can be made in one of these ways.
    pub fn can_decide(self) -> bool {
        self.has(AskWay::Cli) || self.has(AskWay::Elicitation) || self.has(AskWay::Page)
    }

    /// Each of these ways.
    pub fn iter(self) -> impl Iterator<Item = AskWay> {
        AskWay::ALL.into_iter().filter(move |way| self.has(*way))
    }
}

impl Default for AskWays {
    fn default() -> Self {
        AskWay::ALL.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Display for AskWays {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(AskWay::as_str).collect();
        formatter.write_str(&names.join(", "))
    }
}

impl fmt::Debug for AskWays {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{self}]")
    }
}

impl Serialize for AskWays {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(AskWay::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_kept_as_a_number_and_one_that_stands_for_others_is_none() {
        assert_eq!(AskWays::default().to_string(), "cli, elicitation, page, webhook");
        for bits in 0..=u8::MAX {
            let ways = AskWays::from_bits(bits);
            assert_eq!(ways.map(AskWays::bits), (bits < 16).then_some(bits));
        }
        let told = AskWays::NONE.with(AskWay::Webhook);
        assert!(!told.can_decide() && told.with(AskWay::Cli).can_decide() && !told.has(AskWay::Cli));
    }
}
