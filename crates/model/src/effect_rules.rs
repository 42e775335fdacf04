//! Which statements about a tool decisions may be based on.
//!
//! Anybody can write `readOnlyHint: true` on a tool that drops tables. Models are shown what a
//! server says; whether a call is repeated, allowed or refused depends on the *trusted* effect
//! only, and only [`EffectRules::trusted`] creates one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Effect, ToolDefinition};

/// The owner's settings for the tools of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct EffectRules {
    /// The effects of tools, by exact name, whatever their annotations say.
    pub declared: BTreeMap<String, Effect>,
    /// The idempotent tools, by exact name.
    pub idempotent: BTreeSet<String>,
    /// By the exact name of a tool, the argument that gets an idempotency key from belljar: a
    /// server that sees the same key twice does the work once.
    pub idempotency_keys: BTreeMap<String, String>,
    /// Whether decisions may also depend on the server's own annotations. By default, only servers
    /// inside belljar are trusted.
    pub trust_hints: bool,
}

impl EffectRules {
    /// Rules for a server whose annotations are trusted.
    pub fn trusting() -> Self {
        Self { trust_hints: true, ..Self::default() }
    }

    /// The effect that models and people are shown: what the owner declares, or else what the
    /// server says. No decision may depend on it.
    pub fn shown(&self, tool: &ToolDefinition) -> Effect {
        self.declared.get(&tool.name).copied().unwrap_or_else(|| Effect::from_annotations(&tool.annotations))
    }

    /// The effect for decisions: what the owner declares, or else the hints of a server that the
    /// owner trusts, or else the worst.
    pub fn trusted(&self, tool: &ToolDefinition) -> TrustedEffect {
        let hinted = || {
            if self.trust_hints { Effect::from_annotations(&tool.annotations) } else { Effect::External }
        };
        let hinted_idempotent = self.trust_hints && tool.annotations.idempotent == Some(true);
        let effect = self.declared.get(&tool.name).copied().unwrap_or_else(hinted);
        let hinted_harmless = self.trust_hints && tool.annotations.destructive == Some(false);
        TrustedEffect {
            effect,
            is_idempotent: hinted_idempotent || self.idempotent.contains(&tool.name),
            is_destructive: effect != Effect::ReadOnly && !hinted_harmless,
        }
    }
}

/// A trusted statement about a tool. Only [`EffectRules::trusted`] creates one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TrustedEffect {
    effect: Effect,
    is_idempotent: bool,
    is_destructive: bool,
}

impl TrustedEffect {
    /// The most that a call may change.
    pub fn effect(self) -> Effect {
        self.effect
    }

    /// Whether a call is idempotent, beyond what follows from [`TrustedEffect::effect`].
    pub fn is_idempotent(self) -> bool {
        self.is_idempotent
    }

    /// Whether a call may destroy something: it may change something, and no trusted statement says
    /// that it only adds.
    pub fn is_destructive(self) -> bool {
        self.is_destructive
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> ToolDefinition {
        let hints = json!({"readOnlyHint": true, "idempotentHint": true});
        ToolDefinition::from_json(json!({"name": name, "annotations": hints})).expect("a tool")
    }

    #[test]
    fn hints_are_shown_and_decide_nothing_unless_the_owner_trusts_the_server() {
        let rules = EffectRules::default();
        assert_eq!(rules.shown(&tool("drop_table")), Effect::ReadOnly);
        let trusted = rules.trusted(&tool("drop_table"));
        assert_eq!((trusted.effect(), trusted.is_idempotent()), (Effect::External, false));

        let trusted = EffectRules::trusting().trusted(&tool("drop_table"));
        assert_eq!((trusted.effect(), trusted.is_idempotent()), (Effect::ReadOnly, true));
    }

    #[test]
    fn only_a_trusted_hint_says_that_nothing_is_destroyed() {
        let adds = json!({"name": "add", "annotations": {"destructiveHint": false}});
        let adds = ToolDefinition::from_json(adds).expect("a tool");
        assert!(EffectRules::default().trusted(&adds).is_destructive());
        assert!(!EffectRules::trusting().trusted(&adds).is_destructive());
        // A tool that only reads destroys nothing, whatever its other hints are.
        assert!(EffectRules::default().trusted(&tool("look")).is_destructive());
        assert!(!EffectRules::trusting().trusted(&tool("look")).is_destructive());
    }

    #[test]
    fn the_owners_word_counts_for_the_tool_that_it_names_and_over_every_hint() {
        let rules = EffectRules {
            declared: BTreeMap::from([("look".to_owned(), Effect::ReadOnly), ("put".to_owned(), Effect::Mutating)]),
            idempotent: BTreeSet::from(["put".to_owned()]),
            ..EffectRules::default()
        };
        let trusted = |name: &str| {
            let trusted = rules.trusted(&tool(name));
            (trusted.effect(), trusted.is_idempotent())
        };
        assert_eq!(trusted("look"), (Effect::ReadOnly, false));
        assert_eq!(trusted("put"), (Effect::Mutating, true));
        assert_eq!(trusted("other"), (Effect::External, false));
        assert_eq!(rules.shown(&tool("put")), Effect::Mutating);
        let over_hints = EffectRules { trust_hints: true, ..rules };
        assert_eq!(over_hints.trusted(&tool("put")).effect(), Effect::Mutating);
    }
}
