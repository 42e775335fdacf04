//! Reads `[[rule]]`.

use std::{collections::BTreeMap, sync::Arc};

use belljar_model::{Effect, Verdict};
use belljar_tree::{Entry, Node, Value};

use super::Reader;
use crate::{
    ask::AskTerms,
    error::{ProblemKind, shown},
    glob::Glob,
    labels::{LabelRules, Labels},
    pin::PIN,
    rule::Rule,
};

const KEYS: &[&str] = &[
    "id",
    "tools",
    "effect",
    "destructive",
    "principal",
    "profile",
    "hours",
    "args",
    "carries",
    "after",
    "within",
    "same",
    "measure",
    "at_most",
    "then",
    "ask",
    "why",
];

/// The most characters of an id, which appears in errors and in records of calls.
const ID_CHARACTERS: usize = 64;
/// The most characters of a reason, which a model reads with each denial.
const WHY_CHARACTERS: usize = 400;

impl Reader<'_> {
    pub(super) fn rules(&mut self, node: &Node, labels: &LabelRules) -> Vec<Rule> {
        let mut rules = Vec::new();
        let mut ids = BTreeMap::new();
        for (offset, entries) in self.tables("rule", node) {
            let Some(rule) = self.rule(offset, entries, labels) else { continue };
            if ids.insert(rule.id.clone(), ()).is_some() {
                self.fault(rule.offset, ProblemKind::DuplicateId { id: rule.id.to_string() });
            }
            rules.push(rule);
        }
        rules
    }

    fn rule(&mut self, offset: usize, entries: &[Entry], labels: &LabelRules) -> Option<Rule> {
        let mut rule = Rule {
            id: Arc::default(),
            why: None,
            verdict: Verdict::Deny,
            ask: AskTerms::default(),
            offset,
            tools: None,
            effects: [true; 3],
            destructive: false,
            principals: None,
            profiles: None,
            hours: None,
            carries: Labels::default(),
            after: None,
            measure: None,
            at_most: None,
            conditions: Vec::new(),
        };
        let id = entries.iter().find(|entry| entry.key == "id").and_then(|entry| entry.node.text());
        let place = id.map_or_else(|| "a rule".to_owned(), |id| format!("rule '{}'", shown(id)));
        let (mut has_id, mut then, mut destructive, mut carries) = (false, None, None, None);
        for entry in entries {
            let node = &entry.node;
            match entry.key.as_str() {
                "id" => {
                    has_id = true;
                    rule.id = self.id(node).into();
                }
                "tools" => rule.tools = Some(self.tool_globs("tools", node)),
                "effect" => {
                    rule.effects = [false; 3];
                    for (offset, text) in self.texts("effect", node) {
                        match text.parse::<Effect>() {
                            Ok(effect) => rule.effects[effect as usize] = true,
                            Err(_) => self.fault(
                                offset,
                                ProblemKind::Expected {
                                    field: "effect".to_owned(),
                                    expected: "one of read_only, mutating, external, or some of them",
                                    found: "another string".to_owned(),
                                },
                            ),
                        }
                    }
                }
                "destructive" => match node.value {
                    Value::Boolean(true) => {
                        rule.destructive = true;
                        destructive = Some(entry.offset);
                    }
                    _ => self.expected("destructive", "true, or left out", node),
                },
                "principal" => rule.principals = Some(self.globs("principal", "principals", node)),
                "profile" => rule.profiles = Some(self.globs("profile", "profiles", node)),
                "hours" => {
                    let mut hours = Vec::new();
                    for (offset, text) in self.texts("hours", node) {
                        match text.parse() {
                            Ok(some) => hours.push(some),
                            Err(()) => {
                                let fault = ProblemKind::Expected {
                                    field: "hours".to_owned(),
                                    expected: "days and times, as in \"mon-fri 09:00-18:00\", or one of them",
                                    found: "another string".to_owned(),
                                };
                                self.fault(offset, fault);
                            }
                        }
                    }
                    rule.hours = Some(hours);
                }
                "args" => rule.conditions = self.conditions(node),
                "carries" => {
                    rule.carries = self.carried(node, labels);
                    carries = Some(entry.offset);
                }
                // Read after the id and the verdict.
                "after" | "within" | "same" | "ask" => {}
                "measure" => rule.measure = self.measure(node).map(Arc::new),
                "at_most" => match node.text().and_then(|text| text.parse().ok()) {
                    Some(at_most) => rule.at_most = Some(at_most),
                    None => self.expected(
                        "at_most",
                        "a number and a period, as in \"20/run\": run, minute, hour or day",
                        node,
                    ),
                },
                "then" => then = Some(self.verdict("then", node)),
                "why" => match node.text() {
                    Some(text) if !text.trim().is_empty() && text.chars().count() <= WHY_CHARACTERS => {
                        rule.why = Some(text.trim().into());
                    }
                    _ => self.expected("why", "a sentence of at most 400 characters", node),
                },
                _ => self.unknown_key(&place, entry, KEYS),
            }
        }
        rule.after = self.gate(&rule.id, entries);
        if !has_id {
            let help = "give it a name: errors, records and tests say it";
            self.fault(offset, ProblemKind::MissingKey { place: place.clone(), key: "id", help });
        }
        match then {
            Some(verdict) => rule.verdict = verdict,
            None => {
                let help = "say what it decides: then = \"allow\", \"ask\" or \"deny\"";
                self.fault(offset, ProblemKind::MissingKey { place, key: "then", help });
            }
        }
        if let Some(entry) = entries.iter().find(|entry| entry.key == "ask") {
            rule.ask = self.ask(entry, then);
        }
        if let (Verdict::Allow, Some(offset)) = (rule.verdict, destructive) {
            self.fault(offset, ProblemKind::AllowsDestructive);
        }
        if let (Verdict::Allow, Some(offset)) = (rule.verdict, carries) {
            self.fault(offset, ProblemKind::AllowsCarrying);
        }
        has_id.then_some(rule)
    }

    fn id(&mut self, node: &Node) -> String {
        let is_id = |text: &&str| {
            (1..=ID_CHARACTERS).contains(&text.len())
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
                && !["default", PIN].contains(text)
        };
        match node.text().filter(is_id) {
            Some(id) => id.to_owned(),
            None => {
                let expected = "a name of at most 64 letters, digits, '-', '_' and '.', and not 'default' or 'pin'";
                self.expected("id", expected, node);
                node.text().map(shown).unwrap_or_default()
            }
        }
    }

    fn globs(&mut self, field: &str, what: &'static str, node: &Node) -> Vec<Glob> {
        let mut globs = Vec::new();
        for (offset, text) in self.texts(field, node) {
            match Glob::parse(text, what) {
                Ok(glob) => globs.push(glob),
                Err(fault) => self.fault(offset, fault),
            }
        }
        globs
    }
}
