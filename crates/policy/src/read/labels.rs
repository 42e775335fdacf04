//! Reads `[labels]`, and the `carries` of rules and tests.

use std::{collections::BTreeSet, time::Duration};

use belljar_model::{nearest, parse_duration};
use belljar_tree::{Entry, Node, Value};

use super::Reader;
use crate::{
    error::{ProblemKind, shown},
    glob::ToolGlob,
    labels::{LabelRule, LabelRules, Labels, MAX_MEMORY},
    rule::Rule,
};

/// The key of `[labels]` that is not a label.
const MEMORY: &str = "memory";
/// The most characters of a label's name.
const NAME_CHARACTERS: usize = 64;

impl Reader<'_> {
    pub(super) fn labels(&mut self, node: &Node) -> LabelRules {
        let Value::Table(entries) = &node.value else {
            self.expected("labels", "a table, such as private = [\"crm.*\"]", node);
            return LabelRules::default();
        };
        let mut rules = LabelRules::default();
        for entry in entries {
            if entry.key == MEMORY {
                rules.memory = self.memory(&entry.node);
            } else if let Some(label) = self.label(entry) {
                rules.labels.push(label);
            }
        }
        if rules.labels.len() > Labels::MAX {
            let (limit, used) = (Labels::MAX, rules.labels.len());
            self.fault(node.offset, ProblemKind::TooMany { what: "labels", limit, used });
        }
        if entries.iter().all(|entry| entry.key == MEMORY) {
            let help = "declare one, with the tools whose answers carry it: private = [\"crm.*\"]";
            self.fault(node.offset, ProblemKind::MissingKey { place: "[labels]".to_owned(), key: "label", help });
        }
        rules
    }

    fn label(&mut self, entry: &Entry) -> Option<LabelRule> {
        let is_name = (1..=NAME_CHARACTERS).contains(&entry.key.len())
            && entry.key.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
        if !is_name {
            let fault = ProblemKind::Expected {
                field: "labels".to_owned(),
                expected: "a table whose keys have at most 64 letters, digits, '-' and '_'",
                found: format!("'{}'", shown(&entry.key)),
            };
            self.fault(entry.offset, fault);
            return None;
        }
        let tools = self.tool_globs(&format!("labels.{}", entry.key), &entry.node);
        Some(LabelRule { name: entry.key.clone(), offset: entry.offset, tools })
    }

    fn memory(&mut self, node: &Node) -> Option<Duration> {
        let read = node.text().and_then(|text| parse_duration(text).ok());
        let memory = read.filter(|memory| !memory.is_zero() && *memory <= MAX_MEMORY);
        if memory.is_none() {
            self.expected("labels.memory", "a duration of at most 7 days, as in \"1h\"", node);
        }
        memory
    }

    /// The labels that `carries` names.
    pub(super) fn carried(&mut self, node: &Node, known: &LabelRules) -> Labels {
        let mut labels = Labels::default();
        for (offset, name) in self.texts("carries", node) {
            match known.named(name) {
                Some(label) => labels = labels.and(label),
                None => {
                    let names = || known.labels.iter().map(|label| label.name.as_str());
                    let nearest = nearest(name, names()).map(str::to_owned);
                    let known = names().map(str::to_owned).collect();
                    self.fault(offset, ProblemKind::UnknownLabel { label: shown(name), nearest, known });
                }
            }
        }
        labels
    }

    /// Patterns for tools.
    pub(super) fn tool_globs(&mut self, field: &str, node: &Node) -> Vec<ToolGlob> {
        let texts = self.texts(field, node);
        let mut globs = Vec::with_capacity(texts.len());
        for (offset, text) in texts {
            match ToolGlob::parse(text, offset) {
                Ok(glob) => globs.push(glob),
                Err(fault) => self.fault(offset, fault),
            }
        }
        globs
    }

    /// Reports labels that no rule asks about, since they have no effect.
    pub(super) fn check_labels(&mut self, labels: &LabelRules, rules: &[Rule]) {
        let asked = rules.iter().fold(Labels::default(), |all, rule| all.and(rule.carries));
        let used: BTreeSet<&str> = labels.names(asked).collect();
        for label in &labels.labels {
            if !used.contains(label.name.as_str()) {
                self.fault(label.offset, ProblemKind::UnusedLabel { label: label.name.clone() });
            }
        }
    }
}
