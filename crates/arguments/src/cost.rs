//! Estimates what a check costs, before it begins.
//!
//! The estimate walks schema and value as the validator would, and adds up the cost of each part
//! for each value, in nanoseconds of a slow machine. It stops at the limit that it is given, so it
//! takes no longer than the check that it may allow, and it does not recurse. The figures are upper
//! bounds for ordinary and for hostile inputs: `calibration` in the tests measures both.

use serde_json::Value;

use crate::{
    parts::Parts,
    price::{NAME, Price, size_of},
};

/// The cost of one part that looks at one value.
pub const VISIT: u64 = 60;
/// The cost of a problem that is found: its place, and the words for it.
const PROBLEM: u64 = 700;
/// How deeply a check may recurse, on its caller's stack.
const MAX_FRAMES: u32 = 256;

/// The highest cost of a check of `value`, or `None` if that is more than `limit` or the check
/// would recurse too deeply.
pub(crate) fn within(limit: u64, parts: &Parts, value: &Value) -> Option<u64> {
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
    /// How often it is made.
    weight: u64,
    /// Bytes of the names on the path to here, which each problem repeats.
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

/// Elements are compared by their hashes, and a hostile author can choose elements with equal
/// hashes.
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
