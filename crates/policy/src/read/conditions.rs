//! Reads the conditions below `args` of a rule.

use std::sync::Arc;

use belljar_tree::{Entry, Node, Value};
use regex::RegexBuilder;

use super::{MAX_ENTRIES, Reader, values::number};
use crate::{
    argument::ArgumentPath,
    condition::{Condition, Operator, Pattern, Values},
    error::{ProblemKind, shown},
    number::Number,
};

const KEYS: &[&str] =
    &["is", "in", "not_in", "min", "max", "under", "not_under", "matches", "longer_than", "absent", "present"];

/// The most bytes of a compiled pattern and of its cache: enough for some fifty Unicode classes.
const PATTERN_BYTES: usize = 1024 * 1024;
/// The deepest nesting of a pattern.
const PATTERN_DEPTH: u32 = 50;

impl Reader<'_> {
    pub(super) fn conditions(&mut self, node: &Node) -> Vec<Condition> {
        let Value::Table(entries) = &node.value else {
            self.expected("args", "a table, such as args.path = { under = \"/data\" }", node);
            return Vec::new();
        };
        let mut conditions: Vec<Condition> = Vec::new();
        for entry in entries {
            let path = match ArgumentPath::parse(&entry.key) {
                Ok(path) => path,
                Err(fault) => {
                    self.fault(entry.offset, fault);
                    continue;
                }
            };
            if conditions.iter().any(|condition| condition.path.segments() == path.segments()) {
                let fault = ProblemKind::Contradiction {
                    argument: shown(&entry.key),
                    problem: "the argument is named twice: put both into one table".to_owned(),
                };
                self.fault(entry.offset, fault);
            }
            let operators = self.operators(&entry.key, &entry.node);
            conditions.push(Condition { offset: entry.offset, path, operators });
        }
        conditions.sort_by_key(Condition::asks_places);
        conditions
    }

    fn operators(&mut self, argument: &str, node: &Node) -> Vec<Operator> {
        let Value::Table(entries) = &node.value else {
            let field = format!("args.{}", shown(argument));
            self.expected(&field, "a table of conditions, such as { max = 100 } or { is = \"x\" }", node);
            return Vec::new();
        };
        let mut operators: Vec<Operator> = entries.iter().filter_map(|entry| self.operator(argument, entry)).collect();
        if entries.is_empty() {
            let field = format!("args.{}", shown(argument));
            self.expected(&field, "at least one condition, such as { present = true }", node);
        }
        if let Some(problem) = contradiction(&operators) {
            self.fault(node.offset, ProblemKind::Contradiction { argument: shown(argument), problem });
        }
        operators.sort_by_key(Operator::asks_places);
        operators
    }

    fn operator(&mut self, argument: &str, entry: &Entry) -> Option<Operator> {
        let node = &entry.node;
        let field = format!("args.{}.{}", shown(argument), shown(&entry.key));
        Some(match entry.key.as_str() {
            "is" => Operator::Is(self.values(&field, std::slice::from_ref(node))?),
            key @ ("in" | "not_in") => {
                let values = match &node.value {
                    Value::List(list) if !list.is_empty() => self.values(&field, list)?,
                    _ => {
                        self.expected(&field, "an array of strings, numbers or booleans, with at least one", node);
                        return None;
                    }
                };
                if key == "in" { Operator::In(values) } else { Operator::NotIn(values) }
            }
            "min" => Operator::Min(self.number(&field, node)?),
            "max" => Operator::Max(self.number(&field, node)?),
            key @ ("under" | "not_under") => {
                let folders = self.folders(&field, node)?;
                if key == "under" { Operator::Under(folders) } else { Operator::NotUnder(folders) }
            }
            "matches" => Operator::Matches(self.pattern(&field, node)?),
            "longer_than" => match node.whole().and_then(|most| u64::try_from(most).ok()) {
                Some(most) => Operator::LongerThan(most),
                None => {
                    self.expected(&field, "a whole number of characters or elements", node);
                    return None;
                }
            },
            key @ ("absent" | "present") => {
                if !matches!(node.value, Value::Boolean(true)) {
                    self.expected(&field, "true: 'absent' and 'present' are each other's opposite", node);
                    return None;
                }
                if key == "absent" { Operator::Absent } else { Operator::Present }
            }
            key => {
                let help = match (belljar_model::nearest(key, KEYS.iter().copied()), &node.value) {
                    (Some(nearest), _) => format!("did you mean '{nearest}'?"),
                    (None, Value::Table(_)) => {
                        let path = shown(&format!("{argument}.{key}"));
                        format!("an argument inside another is written in quotes, args.\"{path}\"")
                    }
                    _ => format!("the conditions are {}", KEYS.join(", ")),
                };
                let fault = ProblemKind::UnknownCondition { argument: shown(argument), key: shown(key), help };
                self.fault(entry.offset, fault);
                return None;
            }
        })
    }

    fn values(&mut self, field: &str, nodes: &[Node]) -> Option<Arc<Values>> {
        if nodes.len() > MAX_ENTRIES {
            let offset = nodes.first().map_or(0, |node| node.offset);
            self.fault(offset, ProblemKind::TooMany { what: "entries", limit: MAX_ENTRIES, used: nodes.len() });
            return None;
        }
        let mut values = Values::default();
        for node in nodes {
            match &node.value {
                Value::String(text) => values.texts.push(text.clone()),
                Value::Boolean(boolean) => values.booleans.push(*boolean),
                _ => match number(node) {
                    Some(number) => values.numbers.push(number),
                    None => {
                        self.expected(field, "a string, a finite number or a boolean", node);
                        return None;
                    }
                },
            }
        }
        values.texts.sort_unstable();
        Some(Arc::new(values))
    }

    fn number(&mut self, field: &str, node: &Node) -> Option<Number> {
        let number = number(node);
        if number.is_none() {
            self.expected(field, "a finite number", node);
        }
        number
    }

    fn folders(&mut self, field: &str, node: &Node) -> Option<Arc<[std::path::PathBuf]>> {
        let mut folders = Vec::new();
        let before = self.faults.len();
        for (offset, text) in self.texts(field, node) {
            match (self.folder)(text) {
                Ok(folder) => folders.push(folder),
                Err(problem) => self.fault(offset, ProblemKind::Folder { folder: shown(text), problem }),
            }
        }
        (self.faults.len() == before).then(|| folders.into())
    }

    /// The pattern is first compiled alone: an unbalanced closing parenthesis must not escape the
    /// group around it.
    fn pattern(&mut self, field: &str, node: &Node) -> Option<Arc<Pattern>> {
        let Some(written) = node.text() else {
            self.expected(field, "a regular expression in a string", node);
            return None;
        };
        let compile = |pattern: &str| {
            let mut builder = RegexBuilder::new(pattern);
            builder.size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).nest_limit(PATTERN_DEPTH).build()
        };
        match compile(written).and_then(|_| compile(&format!(r"\A(?:{written})\z"))) {
            Ok(whole) => Some(Arc::new(Pattern { written: written.to_owned(), whole })),
            Err(error) => {
                let problem = match error {
                    regex::Error::CompiledTooBig(limit) => format!("compiled it has more than {limit} bytes"),
                    error => error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
                };
                self.fault(node.offset, ProblemKind::Regex { field: field.to_owned(), problem });
                None
            }
        }
    }
}

/// Why no value can meet all of these, or why one of them is redundant.
fn contradiction(operators: &[Operator]) -> Option<String> {
    let has = |wanted: fn(&Operator) -> bool| operators.iter().any(wanted);
    if has(|operator| matches!(operator, Operator::Absent)) && operators.len() > 1 {
        return Some("what is absent meets no other condition".to_owned());
    }
    if has(|operator| matches!(operator, Operator::Is(_))) && operators.len() > 1 {
        return Some("'is' leaves nothing for another condition to say".to_owned());
    }
    let bound = |wanted: fn(&Operator) -> Option<Number>| operators.iter().find_map(wanted);
    let least = bound(|operator| if let Operator::Min(least) = operator { Some(*least) } else { None })?;
    let most = bound(|operator| if let Operator::Max(most) = operator { Some(*most) } else { None })?;
    least.compare(most).is_gt().then(|| format!("min {least} is more than max {most}"))
}
