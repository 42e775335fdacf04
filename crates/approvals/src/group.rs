//! Calls that the owner is asked about for the same reason: calls of one tool, in one run, under
//! one rule.

use std::{fmt, sync::Arc};

use belljar_model::{AskWays, RunId, ToolPath, display::line};

use crate::{Binding, Digest};

/// Calls of one tool, with its current definition, in one run, about which one rule asks. The owner
/// can agree to all of them, including later ones, but to no others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The run.
    pub run: RunId,
    /// The tool.
    pub tool: ToolPath,
    /// The rule that asks, or `None` for the default.
    pub rule: Option<Arc<str>>,
    /// The digest of the tool's definition, as its server sent it.
    pub definition: Digest,
    /// Who calls.
    pub principal: Arc<str>,
    /// The ways in which the rule lets a decision be made, as the number that is stored.
    pub ways: u8,
}

impl Group {
    /// The group that this call belongs to.
    pub fn of(binding: &Binding) -> Self {
        let Binding { run, tool, rule, definition, principal, ways, .. } = binding;
        let (rule, principal) = (rule.clone(), principal.clone());
        Self { run: *run, tool: tool.clone(), rule, definition: *definition, principal, ways: AskWays::bits(*ways) }
    }

    /// The tool and the rule, as shown to a person.
    pub fn named(&self) -> String {
        let tool = self.tool.to_string();
        match &self.rule {
            Some(rule) => format!("{} under rule '{}'", line(&tool), line(rule)),
            None => format!("{} under the default of the rules", line(&tool)),
        }
    }
}

/// Writes the exact words in which the owner agrees to the whole group.
impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "any arguments of {}, as it is defined now, for the rest of this run", self.named())
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::digest;

    #[test]
    fn what_is_agreed_to_is_said_in_these_words_and_names_act_on_no_terminal() {
        let binding = Binding {
            run: RunId::from_bits(1),
            number: 2,
            tool: ToolPath::new("bank", "refund\u{1b}[2J"),
            arguments: digest(b"{}"),
            definition: digest(b"{}"),
            rule: Some("refunds".into()),
            ways: AskWays::default(),
            principal: "owner".into(),
            expires: SystemTime::UNIX_EPOCH,
        };
        let words = "any arguments of bank.refund\\u{1b}[2J under rule 'refunds', as it is defined now, for the rest of this run";
        assert_eq!(Group::of(&binding).to_string(), words);
        // Another call of the same group belongs to it.
        let other = Binding { number: 3, arguments: digest(b"{\"a\":1}"), ..binding.clone() };
        assert_eq!(Group::of(&other), Group::of(&binding));
        for other in [
            Binding { run: RunId::from_bits(2), ..binding.clone() },
            Binding { rule: None, ..binding.clone() },
            Binding { definition: digest(b""), ..binding.clone() },
            Binding { principal: "ci".into(), ..binding.clone() },
            Binding { tool: ToolPath::new("bank", "pay"), ..binding.clone() },
            Binding { ways: AskWays::NONE, ..binding.clone() },
        ] {
            assert_ne!(Group::of(&other), Group::of(&binding));
        }
    }
}
