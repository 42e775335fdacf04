//! Reads the rules from text. It finds all errors at once, each with its position.
//!
//! `rules` reads `[[rule]]`, `conditions` the keys below `args`, `asks` how the owner is asked,
//! `labels` reads `[labels]`, `gates` the conditions on earlier calls, and `tests` reads
//! `[[test]]`; `values` reads single values.

mod asks;
mod conditions;
mod gates;
mod labels;
mod rules;
mod tests;
mod values;

use std::path::PathBuf;

use belljar_model::{Effect, Verdict};
use belljar_tree::{
    Entry, Node, Value,
    toml::{self, TomlError},
};

use crate::{
    Policy,
    error::{Located, ProblemKind, Problems},
    pin::Pins,
    shadow,
};

/// The most brackets and dots that may be open at one place. Rules need six. There is a limit
/// because a tree is dropped recursively.
const DEPTH: usize = 32;

const KEYS: &[&str] = &["default", "labels", "pin", "rule", "test"];
const DEFAULT_KEYS: &[&str] = &["read_only", "mutating", "external"];

/// The most rules, and the most tests. A decision among a thousand rules takes microseconds; larger
/// files are generated, and nobody reads them.
const MAX_RULES: usize = 4096;
/// The most entries of one list.
const MAX_ENTRIES: usize = 1024;

/// The state while reading, and the errors found.
struct Reader<'r> {
    folder: &'r dyn Fn(&str) -> Result<PathBuf, String>,
    faults: Vec<Located>,
    text: &'r str,
}

/// Reads the rules.
pub(crate) fn read(text: &str, folder: &dyn Fn(&str) -> Result<PathBuf, String>) -> Result<Policy, Problems> {
    let entries = toml::parse(text, DEPTH)
        .map_err(|fault| Problems { problems: vec![located(fault, text).into_problem(text)] })?;
    let mut reader = Reader { folder, faults: Vec::new(), text };
    let (mut defaults, mut rules, mut tests, mut pins) = (None, Vec::new(), Vec::new(), None);
    let labels = entries.iter().find(|entry| entry.key == "labels");
    let labels = labels.map(|entry| reader.labels(&entry.node)).unwrap_or_default();
    for entry in &entries {
        match entry.key.as_str() {
            "default" => defaults = Some(reader.defaults(&entry.node)),
            "labels" => {}
            "pin" => pins = Some(reader.pins(entry)),
            "rule" => rules = reader.rules(&entry.node, &labels),
            "test" => tests = reader.tests(&entry.node, &labels),
            _ => reader.unknown_key("", entry, KEYS),
        }
    }
    if defaults.is_none() {
        let help = "say what happens to a call that no rule decides, for example default = \"allow\", or \
                    default = { read_only = \"allow\", mutating = \"ask\", external = \"ask\" }";
        reader.fault(0, ProblemKind::MissingKey { place: "the file".to_owned(), key: "default", help });
    }
    if reader.faults.is_empty() {
        reader.faults = shadow::find(&rules, text);
    }
    if reader.faults.is_empty() {
        reader.check_labels(&labels, &rules);
        for test in &tests {
            reader.check_test(test, &rules);
        }
    }
    let mut faults = reader.faults;
    if !faults.is_empty() {
        faults.sort_by_key(|located| located.offset);
        return Err(Problems { problems: faults.into_iter().map(|located| located.into_problem(text)).collect() });
    }
    let gates = rules.iter().enumerate().filter(|(_, rule)| rule.after.is_some()).map(|(at, _)| at).collect();
    let tests = tests.into_iter().map(|(_, row)| row).collect();
    Ok(Policy {
        defaults: defaults.unwrap_or([Verdict::Deny; 3]),
        rules,
        gates,
        labels,
        pins,
        tests,
        text: text.to_owned(),
    })
}

fn located(fault: TomlError, text: &str) -> Located {
    match fault {
        TomlError::TooDeep(deep) => ProblemKind::TooDeep { limit: deep.limit }.at(deep.offset),
        TomlError::Syntax { message, span } => {
            ProblemKind::Syntax { message }.at(span.map_or(text.len(), |span| span.start))
        }
    }
}

impl Reader<'_> {
    fn fault(&mut self, offset: usize, fault: ProblemKind) {
        self.faults.push(fault.at(offset));
    }

    fn unknown_key(&mut self, place: &str, entry: &Entry, known: &'static [&'static str]) {
        self.fault(entry.offset, ProblemKind::unknown_key(place, &entry.key, known));
    }

    fn expected(&mut self, field: &str, expected: &'static str, node: &Node) {
        let found = match &node.value {
            Value::String(_) if expected.starts_with("one of") || expected.contains("as in") => {
                "another string".to_owned()
            }
            Value::Number(_) if values::number(node).is_none() => "a number that is too large".to_owned(),
            Value::Number(_) if expected.contains("number") => "another number".to_owned(),
            _ => node.kind().to_owned(),
        };
        self.fault(node.offset, ProblemKind::Expected { field: field.to_owned(), expected, found });
    }

    /// The verdicts if no rule decides, in the order of `Effect::ALL`.
    fn defaults(&mut self, node: &Node) -> [Verdict; 3] {
        const EXPECTED: &str = "one of allow, ask, deny, or a table with read_only, mutating and external";
        match &node.value {
            Value::String(text) => match text.parse() {
                Ok(verdict) => [verdict; 3],
                Err(_) => {
                    self.expected("default", EXPECTED, node);
                    [Verdict::Deny; 3]
                }
            },
            Value::Table(entries) => {
                let mut defaults = [None; 3];
                for entry in entries {
                    match entry.key.parse::<Effect>() {
                        Ok(effect) => {
                            let field = format!("default.{effect}");
                            defaults[effect as usize] = Some(self.verdict(&field, &entry.node));
                        }
                        Err(_) => self.unknown_key("default", entry, DEFAULT_KEYS),
                    }
                }
                for (key, verdict) in DEFAULT_KEYS.iter().zip(defaults) {
                    if verdict.is_none() {
                        let help = "say what happens to such calls: \"allow\", \"ask\" or \"deny\"";
                        self.fault(node.offset, ProblemKind::MissingKey { place: "'default'".to_owned(), key, help });
                    }
                }
                defaults.map(|verdict| verdict.unwrap_or(Verdict::Deny))
            }
            _ => {
                self.expected("default", EXPECTED, node);
                [Verdict::Deny; 3]
            }
        }
    }

    /// The tools whose definitions are pinned.
    fn pins(&mut self, entry: &Entry) -> Pins {
        let tools = match &entry.node.value {
            Value::Boolean(true) => None,
            Value::String(_) | Value::List(_) => Some(self.tool_globs("pin", &entry.node)),
            _ => {
                self.expected("pin", "true, or patterns for tools, as in [\"crm.*\"]", &entry.node);
                None
            }
        };
        Pins { offset: entry.offset, tools }
    }

    fn verdict(&mut self, field: &str, node: &Node) -> Verdict {
        match node.text().and_then(|text| text.parse().ok()) {
            Some(verdict) => verdict,
            None => {
                self.expected(field, "one of allow, ask, deny", node);
                Verdict::Deny
            }
        }
    }

    /// The tables of `[[what]]`.
    fn tables<'n>(&mut self, what: &'static str, node: &'n Node) -> Vec<(usize, &'n [Entry])> {
        let Value::List(list) = &node.value else {
            let expected = if what == "rule" { "written as [[rule]]" } else { "written as [[test]]" };
            self.expected(what, expected, node);
            return Vec::new();
        };
        if list.len() > MAX_RULES {
            let what = if what == "rule" { "rules" } else { "tests" };
            self.fault(node.offset, ProblemKind::TooMany { what, limit: MAX_RULES, used: list.len() });
            return Vec::new();
        }
        let mut tables = Vec::with_capacity(list.len());
        for node in list {
            match &node.value {
                Value::Table(entries) => tables.push((node.offset, entries.as_slice())),
                _ => self.expected(what, "a table", node),
            }
        }
        tables
    }

    /// One text, or a list of at least one text.
    fn texts<'n>(&mut self, field: &str, node: &'n Node) -> Vec<(usize, &'n str)> {
        const EXPECTED: &str = "a string or an array of strings, with at least one";
        let list = match &node.value {
            Value::List(list) if !list.is_empty() => list.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if list.len() > MAX_ENTRIES {
            self.fault(node.offset, ProblemKind::TooMany { what: "entries", limit: MAX_ENTRIES, used: list.len() });
            return Vec::new();
        }
        let mut texts = Vec::with_capacity(list.len());
        for node in list {
            match node.text() {
                Some(text) => texts.push((node.offset, text)),
                None => self.expected(field, EXPECTED, node),
            }
        }
        texts
    }
}

#[cfg(test)]
mod refusals;
