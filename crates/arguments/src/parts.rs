//! The parts of a schema, their references to each other, and the cost of each.
//!
//! A schema of a few lines can keep a validator busy forever: parts that refer to each other
//! multiply at every level. So the parts and their references are collected first. A schema that
//! applies itself to the same value would never end, and is not used.

use std::{collections::HashMap, io};

use serde_json::{Map, Value};

use crate::{pattern, price::Price};

/// The most parts of a schema.
const MAX_PARTS: usize = 5_000;

/// Why a schema's cost has no useful bound.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unbounded {
    /// It is too large.
    #[error("the schema has more than {limit} parts")]
    TooManyParts {
        /// The most parts that it may have.
        limit: usize,
    },
    /// A part applies itself to the same value.
    #[error("the schema refers to itself without end")]
    Endless,
    /// It refers to another document, and nothing is fetched.
    #[error("the schema refers to '{reference}', which is not a place within it")]
    Elsewhere {
        /// What it refers to.
        reference: String,
    },
    /// It has references whose target depends on the value.
    #[error("the schema uses {keyword}, whose references are not followed")]
    Dynamic {
        /// The keyword.
        keyword: &'static str,
    },
}

/// All parts that can be reached from the root, which comes first.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) list: Vec<Part>,
    /// The size that decides the cost of compiling them.
    pub(crate) size: Size,
}

/// What makes a schema large to compile.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) patterns: u64,
    /// The states of all patterns.
    pub(crate) states: u64,
    /// The parts, each counted as often as others apply it to the same value.
    pub(crate) unfolded: u64,
}

/// A part of a schema.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) price: Price,
    /// What it applies to the same value.
    pub(crate) here: Vec<Inner>,
    /// Whether it applies all of these a second time, to find out what was not evaluated.
    pub(crate) asks_twice: bool,
    /// What it applies to members, by their names.
    pub(crate) properties: HashMap<String, usize>,
    /// What it may apply to every member.
    pub(crate) members: Vec<usize>,
    /// What it applies to the name of every member.
    pub(crate) names: Vec<usize>,
    /// What it applies to the first elements, one each.
    pub(crate) prefix: Vec<usize>,
    /// What it may apply to every element.
    pub(crate) elements: Vec<usize>,
}

/// A part that is applied to the same value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inner {
    pub(crate) part: usize,
    /// Whether it may fail although the value is valid. It is then applied again to collect its
    /// problems, which keep copies of values.
    pub(crate) is_alternative: bool,
}

impl Parts {
    pub(crate) fn of(root: &Value) -> Result<Self, Unbounded> {
        let mut collected = Collected { root, list: Vec::new(), places: HashMap::new(), open: Vec::new() };
        let mut size = Size::default();
        collected.at(root)?;
        while let Some((at, schema)) = collected.open.pop() {
            if let Value::Object(keywords) = schema {
                let part = collected.part(at == 0, keywords, &mut size)?;
                if let Some(place) = collected.list.get_mut(at) {
                    *place = part;
                }
            }
        }
        let mut parts = Self { list: collected.list, size };
        parts.size.unfolded = parts.unfolded()?;
        Ok(parts)
    }

    /// For each part, counts the parts that are applied to one value because of it; returns the
    /// sum.
    fn unfolded(&self) -> Result<u64, Unbounded> {
        #[derive(Clone, Copy)]
        enum State {
            New,
            Open,
            Done(u64),
        }
        let mut states = vec![State::New; self.list.len()];
        let mut all = 0_u64;
        for start in 0..self.list.len() {
            let mut path = vec![(start, 0_usize, 1_u64)];
            while let Some((at, next, mut sum)) = path.pop() {
                let (Some(part), Some(state)) = (self.list.get(at), states.get_mut(at)) else { continue };
                match (*state, next) {
                    (State::Done(_), _) => continue,
                    (State::Open, 0) => return Err(Unbounded::Endless),
                    _ => *state = State::Open,
                }
                if let Some(before) = next.checked_sub(1).and_then(|before| part.here.get(before))
                    && let Some(State::Done(inner)) = states.get(before.part)
                {
                    sum = sum.saturating_add(*inner);
                }
                match part.here.get(next) {
                    Some(inner) => path.extend([(at, next + 1, sum), (inner.part, 0, 1)]),
                    None => {
                        if let Some(state) = states.get_mut(at) {
                            *state = State::Done(sum);
                        }
                        all = all.saturating_add(sum);
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The bytes of a value as JSON text, counted up to a limit. No text is built.
pub(crate) fn bytes_of(value: &Value, limit: usize) -> Option<usize> {
    struct Counted {
        used: usize,
        limit: usize,
    }
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.used = self.used.saturating_add(bytes.len());
            if self.used > self.limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted { used: 0, limit };
    serde_json::to_writer(&mut counted, value).ok().map(|()| counted.used)
}

struct Collected<'schema> {
    root: &'schema Value,
    list: Vec<Part>,
    /// Keyed by the address of the value, since the path to a place may be as long as the schema.
    places: HashMap<usize, usize>,
    open: Vec<(usize, &'schema Value)>,
}

impl<'schema> Collected<'schema> {
    /// The number of the part at a place.
    fn at(&mut self, schema: &'schema Value) -> Result<usize, Unbounded> {
        let place = std::ptr::from_ref(schema).addr();
        if let Some(at) = self.places.get(&place) {
            return Ok(*at);
        }
        let at = self.list.len();
        if at >= MAX_PARTS {
            return Err(Unbounded::TooManyParts { limit: MAX_PARTS });
        }
        self.list.push(Part::default());
        self.places.insert(place, at);
        self.open.push((at, schema));
        Ok(at)
    }

    fn part(
        &mut self,
        is_root: bool,
        keywords: &'schema Map<String, Value>,
        size: &mut Size,
    ) -> Result<Part, Unbounded> {
        let mut part = Part::default();
        for (keyword, value) in keywords {
            part.price.add(keyword, value);
            match keyword.as_str() {
                "$ref" => {
                    let target = self.referred(value)?;
                    part.here.push(Inner { part: target, is_alternative: false });
                }
                "$dynamicRef" => return Err(Unbounded::Dynamic { keyword: "$dynamicRef" }),
                "$recursiveRef" => return Err(Unbounded::Dynamic { keyword: "$recursiveRef" }),
                // It changes the base of the references below it.
                "$id" | "id" if !is_root && value.is_string() => return Err(Unbounded::Dynamic { keyword: "$id" }),
                "not" | "if" | "then" | "else" => {
                    let inner = self.at(value)?;
                    part.here.push(Inner { part: inner, is_alternative: true });
                }
                "allOf" => self.here(value, false, &mut part)?,
                "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => self.here(value, true, &mut part)?,
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        part.properties.insert(name.clone(), self.at(schema)?);
                    }
                }
                "patternProperties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        size.pattern(name);
                        part.members.push(self.at(schema)?);
                    }
                }
                "pattern" => size.pattern(value.as_str().unwrap_or_default()),
                "prefixItems" => self.each(value, &mut part.prefix)?,
                "items" if value.is_array() => self.each(value, &mut part.prefix)?,
                "items" | "additionalItems" | "contains" | "unevaluatedItems" => part.elements.push(self.at(value)?),
                "additionalProperties" | "unevaluatedProperties" => part.members.push(self.at(value)?),
                "propertyNames" => part.names.push(self.at(value)?),
                _ => {}
            }
        }
        part.asks_twice = keywords.contains_key("unevaluatedItems") || keywords.contains_key("unevaluatedProperties");
        Ok(part)
    }

    /// The parts in a list or an object of parts. (A list of names, as in `dependencies`, is not
    /// one.)
    fn here(&mut self, value: &'schema Value, is_alternative: bool, part: &mut Part) -> Result<(), Unbounded> {
        let mut inner = Vec::new();
        self.each(value, &mut inner)?;
        part.here.extend(inner.into_iter().map(|part| Inner { part, is_alternative }));
        Ok(())
    }

    fn each(&mut self, value: &'schema Value, into: &mut Vec<usize>) -> Result<(), Unbounded> {
        match value {
            Value::Array(parts) => {
                for part in parts {
                    into.push(self.at(part)?);
                }
            }
            Value::Object(parts) => {
                for part in parts.values().filter(|part| !part.is_array()) {
                    into.push(self.at(part)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The part that a reference names, which must be within this schema.
    fn referred(&mut self, reference: &Value) -> Result<usize, Unbounded> {
        let text = reference.as_str().unwrap_or_default();
        let elsewhere = || Unbounded::Elsewhere { reference: text.chars().take(100).collect() };
        let pointer = text.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let pointer = pointer.filter(|pointer| !pointer.contains('%')).ok_or_else(elsewhere)?;
        let target = self.root.pointer(pointer).ok_or_else(elsewhere)?;
        self.at(target)
    }
}

impl Size {
    fn pattern(&mut self, pattern: &str) {
        self.patterns = self.patterns.saturating_add(1);
        self.states = self.states.saturating_add(pattern::states(pattern));
    }
}
