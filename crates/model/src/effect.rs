//! What a tool may do to the world, in three levels.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Annotations;

/// What calling a tool may change.
///
/// The order is that of increasing reach: `ReadOnly < Mutating < External`, so that a declared
/// effect can serve as a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The tool changes nothing (annotated `readOnlyHint: true`).
    ReadOnly,
    /// The tool changes state in a closed world (annotated `openWorldHint: false`).
    Mutating,
    /// The tool may reach anything. Also the effect without any annotation.
    External,
}

impl Effect {
    /// Every effect, from the least to the most far-reaching.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::Mutating, Self::External];

    /// The effect that a tool's annotations state. The owner's configuration may override it.
    pub fn from_annotations(annotations: &Annotations) -> Self {
        match (annotations.read_only, annotations.open_world) {
            (Some(true), _) => Self::ReadOnly,
            (_, Some(false)) => Self::Mutating,
            _ => Self::External,
        }
    }

    /// The name used in configuration, JSON and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Mutating => "mutating",
            Self::External => "external",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is none of the three effects.
#[derive(Debug, thiserror::Error)]
#[error("unknown effect '{name}': it is one of read_only, mutating, external")]
pub struct UnknownEffect {
    /// What was given.
    pub name: String,
}

impl FromStr for Effect {
    type Err = UnknownEffect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|effect| effect.as_str() == name)
            .ok_or_else(|| UnknownEffect { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_give_the_effect() {
        let effect = |read_only, open_world| {
            Effect::from_annotations(&Annotations { read_only, open_world, ..Annotations::default() })
        };
        assert_eq!(effect(Some(true), None), Effect::ReadOnly);
        assert_eq!(effect(Some(true), Some(true)), Effect::ReadOnly);
        assert_eq!(effect(Some(false), Some(false)), Effect::Mutating);
        assert_eq!(effect(None, Some(false)), Effect::Mutating);
        assert_eq!(effect(Some(false), None), Effect::External);
        assert_eq!(effect(None, None), Effect::External);
    }

    #[test]
    fn names_round_trip() {
        for effect in Effect::ALL {
            assert_eq!(effect.as_str().parse::<Effect>().expect("its own name"), effect);
        }
        assert!("readonly".parse::<Effect>().is_err());
    }
}
