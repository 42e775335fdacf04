//! The verdicts of the owner's rules.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What happens to a call. The order is that of increasing strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is sent.
    Allow,
    /// It is sent if a person agrees.
    Ask,
    /// It is not sent.
    Deny,
}

impl Verdict {
    /// Every verdict, from the mildest to the strictest.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The name used in the rules, JSON and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is none of the three verdicts.
#[derive(Debug, thiserror::Error)]
#[error("unknown verdict '{name}': it is one of allow, ask, deny")]
pub struct UnknownVerdict {
    /// What was given.
    pub name: String,
}

impl FromStr for Verdict {
    type Err = UnknownVerdict;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == name)
            .ok_or_else(|| UnknownVerdict { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_the_order_is_strictness() {
        for verdict in Verdict::ALL {
            assert_eq!(verdict.as_str().parse::<Verdict>().expect("its own name"), verdict);
        }
        assert!("Deny".parse::<Verdict>().is_err());
        assert!(Verdict::Allow < Verdict::Ask && Verdict::Ask < Verdict::Deny);
    }
}
