//! Reads `[[test]]`.

use belljar_model::{Position, ToolPath, Verdict};
use belljar_tree::{Entry, Node};
use serde_json::{Map, Value as Json};

use super::{Reader, values::json};
use crate::{
    Assumed, DecidedBy, Expectation, TestRow,
    error::{ProblemKind, shown},
    labels::LabelRules,
    rule::Rule,
};

const KEYS: &[&str] =
    &["call", "args", "effect", "principal", "profile", "carries", "after", "measured", "at", "expect"];

impl Reader<'_> {
    /// The tests, each with the position of its expectation.
    pub(super) fn tests(&mut self, node: &Node, labels: &LabelRules) -> Vec<(usize, TestRow)> {
        let tables = self.tables("test", node);
        tables.into_iter().filter_map(|(offset, entries)| self.test(offset, entries, labels)).collect()
    }

    fn test(&mut self, offset: usize, entries: &[Entry], labels: &LabelRules) -> Option<(usize, TestRow)> {
        let before = self.faults.len();
        let (mut call, mut arguments, mut effect, mut expect) = (None, Map::new(), None, None);
        let (mut principal, mut profile, mut at, mut assumed) = (None, None, None, Assumed::default());
        for entry in entries {
            let node = &entry.node;
            match entry.key.as_str() {
                "call" => match node.text().and_then(|text| text.parse::<ToolPath>().ok()) {
                    Some(path) => call = Some(path),
                    None => self.expected("call", "SERVER.TOOL, by its exact name", node),
                },
                "args" => match json(node) {
                    Some(Json::Object(members)) => arguments = members,
                    _ => self.expected("args", "a table of strings, numbers, booleans, arrays and tables", node),
                },
                "effect" => match node.text().and_then(|text| text.parse().ok()) {
                    Some(given) => effect = Some(given),
                    None => self.expected("effect", "one of read_only, mutating, external", node),
                },
                "principal" => principal = self.name("principal", node),
                "at" => match node.text().and_then(|text| text.parse().ok()) {
                    Some(given) => at = Some(given),
                    None => self.expected("at", "a day and a time, as in \"mon 10:30\"", node),
                },
                "carries" => assumed.labels = self.carried(node, labels),
                "after" => {
                    assumed.passed = self.texts("after", node).into_iter().map(|(_, id)| id.to_owned()).collect()
                }
                "measured" => match node.whole().and_then(|number| u64::try_from(number).ok()) {
                    Some(number) => assumed.measured = Some(number),
                    None => self.expected("measured", "a whole number from 0 on", node),
                },
                "profile" => profile = self.name("profile", node),
                "expect" => match node.text().and_then(expectation) {
                    Some(expectation) => expect = Some((node.offset, expectation)),
                    None => self.expected("expect", "one of allow, ask, deny, alone or with 'by RULE'", node),
                },
                _ => self.unknown_key("a test", entry, KEYS),
            }
        }
        let mut missing =
            |key, help| self.fault(offset, ProblemKind::MissingKey { place: "a test".to_owned(), key, help });
        if call.is_none() && entries.iter().all(|entry| entry.key != "call") {
            missing("call", "name the tool, for example call = \"fs.read_file\"");
        }
        if expect.is_none() && entries.iter().all(|entry| entry.key != "expect") {
            missing("expect", "say what must become of the call, for example expect = \"deny by prod\"");
        }
        let (call, (place, expect)) = (call?, expect?);
        let position = Position::of(self.text, offset);
        let row = TestRow { position, offset, call, arguments, effect, principal, profile, assumed, at, expect };
        (self.faults.len() == before).then_some((place, row))
    }

    fn name(&mut self, field: &str, node: &Node) -> Option<String> {
        let name = node.text().filter(|text| !text.is_empty()).map(str::to_owned);
        if name.is_none() {
            self.expected(field, "a name", node);
        }
        name
    }

    /// Reports a test that can never pass, because it expects a rule that does not exist or has
    /// another verdict.
    pub(super) fn check_test(&mut self, (offset, test): &(usize, TestRow), rules: &[Rule]) {
        for id in &test.assumed.passed {
            if !rules.iter().any(|rule| *rule.id == **id && rule.after.is_some()) {
                let (expected, found) = ("the id of a rule with 'after', or some of them", format!("'{}'", shown(id)));
                self.fault(test.offset, ProblemKind::Expected { field: "after".to_owned(), expected, found });
            }
        }
        let Some(DecidedBy::Rule(wanted)) = &test.expect.by else { return };
        let expected = match rules.iter().find(|rule| *rule.id == **wanted) {
            None => "decided by a rule that there is",
            Some(rule) if rule.verdict != test.expect.verdict => "what its rule decides",
            Some(_) => return,
        };
        let found = format!("'{}'", shown(&test.expect.to_string()));
        self.fault(*offset, ProblemKind::Expected { field: "expect".to_owned(), expected, found });
    }
}

fn expectation(text: &str) -> Option<Expectation> {
    let mut words = text.split_whitespace();
    let verdict: Verdict = words.next()?.parse().ok()?;
    let by = match (words.next(), words.next(), words.next()) {
        (None, _, _) => None,
        (Some("by"), Some("default"), None) => Some(DecidedBy::Default),
        (Some("by"), Some(rule), None) => Some(DecidedBy::Rule(rule.to_owned())),
        _ => return None,
    };
    Some(Expectation { verdict, by })
}
