//! The rules one by one, for people.

use std::sync::Arc;

use belljar_model::{Effect, Position, Verdict};

use crate::{Policy, ToolPolicy, rule::Rule};

/// One rule, as its owner wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRule {
    /// Its name.
    pub id: Arc<str>,
    /// Its verdict for calls that it matches.
    pub verdict: Verdict,
    /// The owner's reason.
    pub why: Option<Arc<str>>,
    /// Its position in the file.
    pub position: Position,
    /// Its text in the file, up to whatever follows it.
    pub text: String,
}

impl Policy {
    /// All rules, in the order of the file.
    pub fn listed(&self) -> impl Iterator<Item = ListedRule> {
        self.rules.iter().map(|rule| self.as_listed(rule))
    }

    /// The verdict on a call that no rule decides, by its effect.
    pub fn defaults(&self) -> impl Iterator<Item = (Effect, Verdict)> {
        Effect::ALL.into_iter().zip(self.defaults)
    }

    fn as_listed(&self, rule: &Rule) -> ListedRule {
        let from = self.text.get(..rule.offset).and_then(|before| before.rfind('\n')).map_or(0, |line| line + 1);
        let others = self.rules.iter().map(|other| other.offset).chain(self.tests.iter().map(|test| test.offset));
        let next = others.chain(self.pins.as_ref().map(|pins| pins.offset)).filter(|other| *other > rule.offset).min();
        let text = self.text.get(from..next.unwrap_or(self.text.len())).unwrap_or_default();
        let text = text.split_once("\n[labels]").map_or(text, |(rule, _)| rule);
        ListedRule {
            id: rule.id.clone(),
            verdict: rule.verdict,
            why: rule.why.clone(),
            position: self.position(rule.offset),
            text: text.trim_end().to_owned(),
        }
    }
}

impl ToolPolicy {
    /// The rules that can apply to calls of the tool, in the order in which they are evaluated.
    pub fn listed(&self) -> impl Iterator<Item = ListedRule> {
        self.rules.iter().map(|compiled| self.policy().as_listed(&self.policy().rules[compiled.rule]))
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::{EffectRules, ToolDefinition, ToolPath};

    use super::*;
    use crate::absolute_folder;

    #[test]
    fn each_rule_is_told_as_it_was_written_and_where() {
        let one = "[[rule]]\nid = 'one'\ntools = [\n  'fs.*',\n]\nthen = 'deny' # at once";
        let two = "[[rule]]\nid = 'two'\ncarries = 'private'\nwhy = 'because'\nthen = 'ask'";
        let text = format!(
            "default = 'allow'\n\n{one}\n\n{two}\n\n[[test]]\ncall = 'x.y'\nexpect = 'ask by two'\n\n[labels]\nprivate = ['fs.*']\n"
        );
        let policy = Arc::new(Policy::parse(&text, &absolute_folder).expect("rules"));
        let told: Vec<_> =
            policy.listed().map(|rule| (rule.id.to_string(), rule.verdict, rule.position.line, rule.text)).collect();
        let expected = [("one", Verdict::Deny, 3, one), ("two", Verdict::Ask, 10, two)];
        assert_eq!(told, expected.map(|(id, verdict, line, text)| (id.to_owned(), verdict, line, text.to_owned())));
        assert_eq!(policy.defaults().collect::<Vec<_>>(), Effect::ALL.map(|effect| (effect, Verdict::Allow)));
        let trusted = EffectRules::default().trusted(&ToolDefinition::unknown("get"));
        let of_tool = policy.for_tool(&ToolPath::new("web", "get"), trusted);
        assert_eq!(of_tool.listed().map(|rule| rule.id.to_string()).collect::<Vec<_>>(), ["two"]);
        assert_eq!(of_tool.default_verdict(), Verdict::Allow);
    }
}
