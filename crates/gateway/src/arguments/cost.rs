//! What a check costs, estimated before it begins.
//!
//! The estimate goes through schema and value as the validator would, and adds up what each part takes for each value, in nanoseconds
//! of a slow machine. It stops at the limit that it is given, so it never takes longer than what it may allow; it does not recurse.
//! The figures are upper bounds for ordinary inputs and for hostile ones: `calibration` in the tests measures both.

use serde_json::Value;

use super::{parts::Parts, pattern};

/// One part that looks at one value.
pub(super) const VISIT: u64 = 60;
/// One keyword of a part.
const KEYWORD: u64 = 20;
/// A name that is looked up, or an option that is compared.
const NAME: u64 = 40;
/// A state of a pattern's automaton, for each byte of text.
const STATE: u64 = 8;
/// A problem that is found: its places, and the words for it.
const PROBLEM: u64 = 700;
/// A node that is copied, compared or hashed.
const NODE: u64 = 60;
/// A byte that is decoded, or read as JSON.
const CONTENT_BYTE: u64 = 60;
/// `multipleOf` by whole numbers, and by others: those are fractions of large integers.
const WHOLE_MULTIPLE: u64 = 2_000;
const FRACTION_MULTIPLE: u64 = 40_000;
/// Parts inside each other that a check may call itself for, on the stack of whoever checks.
const MAX_FRAMES: u32 = 256;

/// Keywords that find no problem of their own.
const NEVER_FAIL: [&str; 22] = [
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "allOf",
    "default",
    "definitions",
    "dependentSchemas",
    "description",
    "else",
    "examples",
    "format",
    "if",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
    "readOnly",
    "then",
    "title",
    "writeOnly",
];

/// What one part of a schema costs for one value.
#[derive(Debug, Default)]
pub(super) struct Price {
    /// Whatever the value is.
    visit: u64,
    /// For each byte of a text.
    text_byte: u64,
    /// For each byte of the names of an object's members.
    name_byte: u64,
    /// Options that are arrays or objects: the whole value may be compared with each.
    compound_options: u64,
    /// Whether the elements of an array are compared with each other.
    is_unique: bool,
    /// Problems that can be found at once.
    problems: u64,
}

impl Price {
    /// Adds what a keyword costs.
    pub(super) fn add(&mut self, keyword: &str, value: &Value) {
        let length = |value: &Value| match value {
            Value::Array(list) => list.len() as u64,
            Value::Object(map) => map.len() as u64,
            _ => 0,
        };
        let add = |sum: &mut u64, cost: u64| *sum = sum.saturating_add(cost);
        add(&mut self.visit, KEYWORD);
        if !NEVER_FAIL.contains(&keyword) {
            add(&mut self.problems, 1);
        }
        match keyword {
            "pattern" => add(&mut self.text_byte, STATE.saturating_mul(pattern::states(value.as_str().unwrap_or("")))),
            "minLength" | "maxLength" => add(&mut self.text_byte, 1),
            "contentEncoding" | "contentMediaType" => add(&mut self.text_byte, CONTENT_BYTE),
            "patternProperties" => {
                for name in value.as_object().into_iter().flat_map(|patterns| patterns.keys()) {
                    // Asked once more to know what is additional.
                    add(&mut self.name_byte, (2 * STATE).saturating_mul(pattern::states(name)));
                }
            }
            "enum" => {
                let options = value.as_array().map(Vec::as_slice).unwrap_or_default();
                options.iter().for_each(|option| self.option(option));
            }
            "const" => self.option(value),
            "multipleOf" => {
                let is_whole = value.as_u64().is_some() || value.as_f64().is_some_and(|by| by.fract() == 0.0);
                add(&mut self.visit, if is_whole { WHOLE_MULTIPLE } else { FRACTION_MULTIPLE });
            }
            "uniqueItems" => self.is_unique = value.as_bool() == Some(true),
            "required" => {
                add(&mut self.visit, NAME.saturating_mul(length(value)));
                add(&mut self.problems, length(value));
            }
            "dependentRequired" | "dependencies" => {
                for names in value.as_object().into_iter().flat_map(|lists| lists.values()) {
                    add(&mut self.visit, NAME.saturating_mul(length(names).saturating_add(1)));
                    add(&mut self.problems, length(names));
                }
            }
            "properties" => {
                let names = value.as_object().into_iter().flat_map(|properties| properties.keys());
                names.for_each(|name| add(&mut self.visit, NAME.saturating_add(name.len() as u64 / 4)));
            }
            _ => {}
        }
    }

    fn option(&mut self, option: &Value) {
        if option.is_array() || option.is_object() {
            self.compound_options = self.compound_options.saturating_add(1);
        }
        self.visit = self.visit.saturating_add(NAME).saturating_add(size_of(option, u64::MAX));
    }
}

/// What a check of `value` costs at most; `None` when that is more than `limit`, or when the check would call itself too deep.
pub(super) fn within(limit: u64, parts: &Parts, value: &Value) -> Option<u64> {
    let mut walk = Walk { spent: 0, limit, open: Vec::new() };
    // Once to know whether it fits, once for its problems.
    walk.push(Visit { part: 0, subject: Subject::Value(value), weight: 2, path: 0, frames: 0, in_alternative: false })?;
    while let Some(visit) = walk.open.pop() {
        walk.visit(parts, visit)?;
    }
    Some(walk.spent)
}

struct Walk<'v> {
    spent: u64,
    limit: u64,
    open: Vec<Visit<'v>>,
}

/// One part that looks at one value.
#[derive(Clone, Copy)]
struct Visit<'v> {
    part: usize,
    subject: Subject<'v>,
    /// How often.
    weight: u64,
    /// Bytes of the names on the way here, which each problem repeats.
    path: u64,
    frames: u32,
    /// Whether problems keep a copy of the value.
    in_alternative: bool,
}

#[derive(Clone, Copy)]
enum Subject<'v> {
    Value(&'v Value),
    Name(&'v str),
}

impl<'v> Walk<'v> {
    fn spend(&mut self, cost: u64) -> Option<()> {
        self.spent = self.spent.saturating_add(cost);
        (self.spent <= self.limit).then_some(())
    }

    fn push(&mut self, visit: Visit<'v>) -> Option<()> {
        self.spend(VISIT.saturating_mul(visit.weight))?;
        self.open.push(visit);
        (visit.frames <= MAX_FRAMES).then_some(())
    }

    fn visit(&mut self, parts: &Parts, visit: Visit<'v>) -> Option<()> {
        let part = parts.list.get(visit.part)?;
        let price = &part.price;
        let inner = Visit { frames: visit.frames + 1, ..visit };
        let mut cost = price.visit;
        match visit.subject {
            Subject::Value(Value::String(text)) => cost = cost.saturating_add(of_text(price, text)),
            Subject::Name(name) => cost = cost.saturating_add(of_text(price, name)),
            Subject::Value(Value::Array(elements)) => {
                if price.is_unique {
                    cost = cost.saturating_add(of_unique(elements, self.limit));
                }
                for (element, part) in elements.iter().zip(&part.prefix) {
                    self.push(Visit { part: *part, subject: Subject::Value(element), path: visit.path + 8, ..inner })?;
                }
                for part in &part.elements {
                    for element in elements {
                        self.push(Visit {
                            part: *part,
                            subject: Subject::Value(element),
                            path: visit.path + 8,
                            ..inner
                        })?;
                    }
                }
            }
            Subject::Value(Value::Object(members)) => {
                let looks = !part.properties.is_empty() || !part.members.is_empty() || !part.names.is_empty();
                for (name, member) in members.iter().filter(|_| looks) {
                    let bytes = name.len() as u64;
                    let one = NAME.saturating_add(bytes.saturating_mul(price.name_byte.saturating_add(1)));
                    self.spend(visit.weight.saturating_mul(one))?;
                    let below =
                        Visit { subject: Subject::Value(member), path: visit.path.saturating_add(bytes), ..inner };
                    let named = part.properties.get(name);
                    for part in named.into_iter().chain(&part.members) {
                        self.push(Visit { part: *part, ..below })?;
                    }
                    for part in &part.names {
                        self.push(Visit { part: *part, subject: Subject::Name(name), ..below })?;
                    }
                }
            }
            Subject::Value(_) => {}
        }
        if let Subject::Value(value) = visit.subject
            && price.compound_options > 0
        {
            cost = cost.saturating_add(price.compound_options.saturating_mul(size_of(value, self.limit)));
        }
        let copy = match visit.subject {
            Subject::Value(value) if visit.in_alternative && price.problems > 0 => size_of(value, self.limit),
            _ => 0,
        };
        let problem = PROBLEM.saturating_add(visit.path).saturating_add(copy);
        self.spend(visit.weight.saturating_mul(cost))?;
        self.spend(price.problems.saturating_mul(problem))?;
        for next in &part.here {
            let weight = if next.is_alternative { visit.weight.saturating_add(2) } else { visit.weight };
            let weight = if part.asks_twice { weight.saturating_mul(2) } else { weight };
            let in_alternative = visit.in_alternative || next.is_alternative;
            self.push(Visit { part: next.part, weight, in_alternative, ..inner })?;
        }
        Some(())
    }
}

fn of_text(price: &Price, text: &str) -> u64 {
    price.text_byte.saturating_mul(text.len() as u64)
}

/// Elements that are compared with each other: by their hashes, which those who choose them can make equal.
fn of_unique(elements: &[Value], limit: u64) -> u64 {
    let is_plain = |element: &Value| match element {
        Value::Array(_) | Value::Object(_) => false,
        // Larger ones share the hash of the nearest floating-point number.
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < 9e15),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    };
    let mut size = 0_u64;
    for element in elements {
        size = size.saturating_add(size_of(element, limit));
        if size > limit {
            return size;
        }
    }
    let is_hashed = elements.len() > 15 && elements.iter().all(is_plain);
    if is_hashed { size.saturating_mul(2) } else { size.saturating_mul(elements.len() as u64) }
}

/// What it takes to copy, compare or hash a value once. It is not looked at further than to the limit.
fn size_of(value: &Value, limit: u64) -> u64 {
    let (mut size, mut open) = (0_u64, vec![value]);
    while let Some(value) = open.pop() {
        size = size.saturating_add(NODE);
        match value {
            Value::String(text) => size = size.saturating_add(text.len() as u64 / 4),
            Value::Array(elements) => {
                // Not to be put on the list, if it is longer than what may be looked at.
                if NODE.saturating_mul(elements.len() as u64) > limit {
                    return u64::MAX;
                }
                open.extend(elements);
            }
            Value::Object(members) => {
                if NODE.saturating_mul(members.len() as u64) > limit {
                    return u64::MAX;
                }
                for (name, member) in members {
                    size = size.saturating_add(name.len() as u64 / 4);
                    open.push(member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if size > limit {
            return size;
        }
    }
    size
}
