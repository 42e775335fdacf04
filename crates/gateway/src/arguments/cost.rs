//! What a check can cost at most, known before it begins.
//!
//! A schema of a few lines can keep a validator busy for ever: parts that refer to each other multiply at every level. So the parts
//! and their references are counted first. A schema that applies itself to the same value has no end, and is not used; of every other,
//! the visits that a value of a given depth can take are known, and a check that could take too many is not begun.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Parts of a schema.
const MAX_PARTS: usize = 5_000;
/// Levels of a value for which visits are known; schemas that describe deeper ones are recursive.
const LEVELS: usize = 32;

/// Why a schema's cost has no bound that is of use.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unbounded {
    #[error("the schema has more than {limit} parts")]
    TooManyParts { limit: usize },
    #[error("the schema refers to itself without end, at {at}")]
    Endless { at: String },
    #[error("the schema refers to '{reference}', which is no place within it")]
    Elsewhere { reference: String },
    #[error("the schema uses {keyword}, whose references are not followed")]
    Dynamic { keyword: &'static str },
}

/// The visits that a value can take, by its depth.
#[derive(Debug)]
pub(super) struct Cost {
    visits: Vec<u64>,
}

/// A part of a schema: which other parts it applies to the same value, and which to the values inside.
#[derive(Default)]
struct Part {
    here: Vec<usize>,
    below: Vec<usize>,
}

impl Cost {
    /// Counts a schema.
    pub(super) fn of_schema(schema: &Value) -> Result<Self, Unbounded> {
        let parts = Parts::of(schema)?;
        let order = parts.inner_first()?;
        let mut visits = Vec::with_capacity(LEVELS + 1);
        let mut below = vec![0_u64; parts.list.len()];
        for _ in 0..=LEVELS {
            let mut level = vec![0_u64; parts.list.len()];
            for at in &order {
                let Some(part) = parts.list.get(*at) else { continue };
                let count = |table: &[u64], parts: &[usize]| {
                    parts.iter().fold(0_u64, |sum, at| sum.saturating_add(table.get(*at).copied().unwrap_or(0)))
                };
                let total = 1_u64.saturating_add(count(&level, &part.here)).saturating_add(count(&below, &part.below));
                if let Some(place) = level.get_mut(*at) {
                    *place = total;
                }
            }
            visits.push(level.first().copied().unwrap_or(1));
            below = level;
        }
        Ok(Self { visits })
    }

    /// The most visits that a check of `value` can take.
    pub(super) fn of(&self, value: &Value) -> u64 {
        let (mut values, mut deepest) = (0_u64, 0_usize);
        let mut open = vec![(value, 0_usize)];
        while let Some((value, depth)) = open.pop() {
            values += 1;
            deepest = deepest.max(depth);
            match value {
                Value::Array(elements) => open.extend(elements.iter().map(|element| (element, depth + 1))),
                Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
                _ => {}
            }
        }
        let known = self.visits.get(deepest).copied();
        // Of a schema that is not recursive, the visits grow no more.
        let settled = || match self.visits.as_slice() {
            [.., before, last] if before == last => *last,
            _ => u64::MAX,
        };
        values.saturating_mul(known.unwrap_or_else(settled))
    }
}

/// All parts that can be reached from the root, which is the first.
struct Parts<'schema> {
    root: &'schema Value,
    list: Vec<Part>,
    places: HashMap<String, usize>,
    open: Vec<(usize, String, &'schema Value)>,
}

impl<'schema> Parts<'schema> {
    fn of(root: &'schema Value) -> Result<Self, Unbounded> {
        let mut parts = Self { root, list: Vec::new(), places: HashMap::new(), open: Vec::new() };
        parts.at(String::new(), root)?;
        while let Some((at, pointer, schema)) = parts.open.pop() {
            if let Value::Object(keywords) = schema {
                let part = parts.part(&pointer, keywords)?;
                if let Some(place) = parts.list.get_mut(at) {
                    *place = part;
                }
            }
        }
        Ok(parts)
    }

    /// The number of the part at a place.
    fn at(&mut self, pointer: String, schema: &'schema Value) -> Result<usize, Unbounded> {
        if let Some(at) = self.places.get(&pointer) {
            return Ok(*at);
        }
        let at = self.list.len();
        if at >= MAX_PARTS {
            return Err(Unbounded::TooManyParts { limit: MAX_PARTS });
        }
        self.list.push(Part::default());
        self.places.insert(pointer.clone(), at);
        self.open.push((at, pointer, schema));
        Ok(at)
    }

    fn part(&mut self, pointer: &str, keywords: &'schema Map<String, Value>) -> Result<Part, Unbounded> {
        let mut part = Part::default();
        for (keyword, value) in keywords {
            let place = format!("{pointer}/{}", escaped(keyword));
            match keyword.as_str() {
                "$ref" => part.here.push(self.referred(value)?),
                "$dynamicRef" => return Err(Unbounded::Dynamic { keyword: "$dynamicRef" }),
                "$recursiveRef" => return Err(Unbounded::Dynamic { keyword: "$recursiveRef" }),
                // Another base for the references inside.
                "$id" | "id" if !pointer.is_empty() && value.is_string() => {
                    return Err(Unbounded::Dynamic { keyword: "$id" });
                }
                "not" | "if" | "then" | "else" => part.here.push(self.at(place, value)?),
                "allOf" | "anyOf" | "oneOf" => self.each(&place, value, &mut part.here)?,
                "dependentSchemas" | "dependencies" => self.each(&place, value, &mut part.here)?,
                "properties" | "patternProperties" | "prefixItems" => self.each(&place, value, &mut part.below)?,
                "items" if value.is_array() => self.each(&place, value, &mut part.below)?,
                "items"
                | "additionalItems"
                | "contains"
                | "additionalProperties"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties" => part.below.push(self.at(place, value)?),
                _ => {}
            }
        }
        if keywords.contains_key("unevaluatedItems") || keywords.contains_key("unevaluatedProperties") {
            // To know what was not evaluated, all that is in place is asked again.
            part.here.extend_from_within(..);
        }
        Ok(part)
    }

    /// The parts of a list or of an object of parts. (A list of names, as `dependencies` may hold, is none.)
    fn each(&mut self, place: &str, value: &'schema Value, into: &mut Vec<usize>) -> Result<(), Unbounded> {
        match value {
            Value::Array(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    into.push(self.at(format!("{place}/{index}"), part)?);
                }
            }
            Value::Object(parts) => {
                for (name, part) in parts.iter().filter(|(_, part)| !part.is_array()) {
                    into.push(self.at(format!("{place}/{}", escaped(name)), part)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The part that a reference names, which must be a place within this schema.
    fn referred(&mut self, reference: &Value) -> Result<usize, Unbounded> {
        let text = reference.as_str().unwrap_or_default();
        let elsewhere = || Unbounded::Elsewhere { reference: text.chars().take(100).collect() };
        let pointer = text.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let pointer = pointer.filter(|pointer| !pointer.contains('%')).ok_or_else(elsewhere)?;
        let target = self.root.pointer(pointer).ok_or_else(elsewhere)?;
        self.at(pointer.to_owned(), target)
    }

    /// The parts in an order in which each comes after those that it applies to the same value.
    fn inner_first(&self) -> Result<Vec<usize>, Unbounded> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.list.len()];
        let mut order = Vec::with_capacity(self.list.len());
        for start in 0..self.list.len() {
            let mut path = vec![(start, 0_usize)];
            while let Some((at, next)) = path.pop() {
                let (Some(part), Some(state)) = (self.list.get(at), states.get_mut(at)) else { continue };
                match (*state, next) {
                    (State::Done, _) => continue,
                    (State::Open, 0) => return Err(Unbounded::Endless { at: self.place_of(at) }),
                    _ => *state = State::Open,
                }
                match part.here.get(next) {
                    Some(inner) => path.extend([(at, next + 1), (*inner, 0)]),
                    None => {
                        *state = State::Done;
                        order.push(at);
                    }
                }
            }
        }
        Ok(order)
    }

    fn place_of(&self, at: usize) -> String {
        let place = self.places.iter().find(|(_, number)| **number == at);
        place.map_or_else(String::new, |(pointer, _)| format!("#{}", pointer.chars().take(100).collect::<String>()))
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
