//! Reads the `ask` of a rule.

use belljar_model::{AskWay, AskWays, Verdict, parse_duration};
use belljar_tree::{Entry, Node, Value};

use super::Reader;
use crate::{
    ask::{AskTerms, MAX_EXPIRES},
    error::{ProblemKind, shown},
};

const KEYS: &[&str] = &["who", "expires"];

impl Reader<'_> {
    /// How a rule with this verdict asks the owner.
    pub(super) fn ask(&mut self, entry: &Entry, verdict: Option<Verdict>) -> AskTerms {
        let mut terms = AskTerms::default();
        let Value::Table(entries) = &entry.node.value else {
            self.expected("ask", "a table, such as { who = [\"cli\"], expires = \"2h\" }", &entry.node);
            return terms;
        };
        if verdict.is_some_and(|verdict| verdict != Verdict::Ask) {
            self.fault(entry.offset, ProblemKind::AsksNobody);
        }
        if entries.is_empty() {
            self.expected("ask", "a table with 'who', 'expires' or both", &entry.node);
        }
        for entry in entries {
            match entry.key.as_str() {
                "who" => terms.who = self.who(&entry.node),
                "expires" => {
                    let read = entry.node.text().and_then(|text| parse_duration(text).ok());
                    terms.expires = read.filter(|expires| !expires.is_zero() && *expires <= MAX_EXPIRES);
                    if terms.expires.is_none() {
                        self.expected("ask.expires", "a duration of at most 7 days, as in \"2h\"", &entry.node);
                    }
                }
                _ => self.unknown_key("ask", entry, KEYS),
            }
        }
        terms
    }

    fn who(&mut self, node: &Node) -> Option<AskWays> {
        let before = self.faults.len();
        let mut ways = AskWays::NONE;
        for (offset, text) in self.texts("ask.who", node) {
            match AskWay::ALL.into_iter().find(|way| way.as_str() == text) {
                Some(way) => ways = ways.with(way),
                None => self.fault(offset, ProblemKind::UnknownWay { way: shown(text) }),
            }
        }
        if self.faults.len() > before {
            return None;
        }
        if !ways.can_decide() {
            self.fault(node.offset, ProblemKind::NobodyDecides);
        }
        Some(ways)
    }
}
