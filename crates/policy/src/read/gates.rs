//! Reads the `after`, `within`, `same` and `measure` of a rule.

use std::sync::Arc;

use belljar_model::{ToolPath, parse_duration};
use belljar_tree::{Entry, Node, Value};
use serde_json::{Map, Value as Json};

use super::{Reader, values::json};
use crate::{
    argument::ArgumentPath,
    error::{ProblemKind, shown},
    gate::{Gate, MAX_WITHIN, Measure, placeholder},
};

const MEASURE_KEYS: &[&str] = &["tool", "arguments", "count", "max"];

impl Reader<'_> {
    /// The earlier call that a rule requires.
    pub(super) fn gate(&mut self, rule: &Arc<str>, entries: &[Entry]) -> Option<Gate> {
        let of = |key: &str| entries.iter().find(|entry| entry.key == key);
        let (after, within, same) = (of("after"), of("within"), of("same"));
        let Some(after) = after else {
            for entry in [within, same].into_iter().flatten() {
                self.fault(entry.offset, ProblemKind::WithoutAfter { key: shown(&entry.key) });
            }
            return None;
        };
        let tools = self.tool_globs("after", &after.node);
        let within = within.and_then(|entry| {
            let read = entry.node.text().and_then(|text| parse_duration(text).ok());
            let within = read.filter(|within| !within.is_zero() && *within <= MAX_WITHIN);
            if within.is_none() {
                self.expected("within", "a duration of at most 7 days, as in \"30m\"", &entry.node);
            }
            within
        });
        let same = same.map(|entry| self.arguments("same", &entry.node)).unwrap_or_default();
        Some(Gate { rule: rule.clone(), tools, within, same })
    }

    /// Names of arguments, none of which leads to elements of lists.
    fn arguments(&mut self, field: &str, node: &Node) -> Vec<ArgumentPath> {
        let texts = self.texts(field, node);
        texts.into_iter().filter_map(|(offset, text)| self.argument(offset, text)).collect()
    }

    fn argument(&mut self, offset: usize, text: &str) -> Option<ArgumentPath> {
        match ArgumentPath::parse(text) {
            Ok(path) if path.has_each() => {
                let problem = "here it must be one value: leave out []";
                self.fault(offset, ProblemKind::ArgumentPath { path: shown(text), problem });
                None
            }
            Ok(path) => Some(path),
            Err(fault) => {
                self.fault(offset, fault);
                None
            }
        }
    }

    pub(super) fn measure(&mut self, node: &Node) -> Option<Measure> {
        let Value::Table(entries) = &node.value else {
            let expected = "a table, such as { tool = \"git.log\", arguments = {}, count = \"/commits\", max = 20 }";
            self.expected("measure", expected, node);
            return None;
        };
        let before = self.faults.len();
        let (mut tool, mut arguments, mut count, mut max) = (None, Map::new(), None, None);
        for entry in entries {
            let node = &entry.node;
            match entry.key.as_str() {
                "tool" => match node.text().and_then(|text| text.parse::<ToolPath>().ok()) {
                    Some(path) => tool = Some((node.offset, path)),
                    None => self.expected("measure.tool", "SERVER.TOOL, by its exact name", node),
                },
                "arguments" => match json(node) {
                    Some(Json::Object(members)) => {
                        self.placeholders(node);
                        arguments = members;
                    }
                    _ => {
                        let expected = "a table of strings, numbers, booleans, arrays and tables";
                        self.expected("measure.arguments", expected, node);
                    }
                },
                "count" => match node.text().filter(|text| text.is_empty() || text.starts_with('/')) {
                    Some(pointer) => count = Some(pointer.to_owned()),
                    None => self.expected(
                        "measure.count",
                        "where the count is in the result, as in \"/references\", or \"\" for all of it",
                        node,
                    ),
                },
                "max" => match node.whole().and_then(|number| u64::try_from(number).ok()) {
                    Some(number) => max = Some(number),
                    None => self.expected("measure.max", "a whole number from 0 on", node),
                },
                _ => self.unknown_key("measure", entry, MEASURE_KEYS),
            }
        }
        for (key, help) in [
            ("tool", "name the tool that counts, one that only reads"),
            ("count", "say where the count is in its result, for example count = \"/references\""),
            ("max", "say which count is the highest that passes"),
        ] {
            if entries.iter().all(|entry| entry.key != key) {
                self.fault(node.offset, ProblemKind::MissingKey { place: "'measure'".to_owned(), key, help });
            }
        }
        if self.faults.len() > before {
            return None;
        }
        let (offset, tool) = tool?;
        Some(Measure { tool, offset, arguments, count: count?, max: max? })
    }

    /// Checks the names in braces.
    fn placeholders(&mut self, node: &Node) {
        match &node.value {
            Value::String(text) => {
                if let Some(name) = placeholder(text) {
                    self.argument(node.offset, name);
                }
            }
            Value::List(list) => list.iter().for_each(|node| self.placeholders(node)),
            Value::Table(entries) => entries.iter().for_each(|entry| self.placeholders(&entry.node)),
            _ => {}
        }
    }
}
