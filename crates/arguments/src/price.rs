//! What one part of a schema costs for one value, in nanoseconds of a slow machine.

use serde_json::Value;

use crate::pattern;

/// One keyword of a part.
const KEYWORD: u64 = 20;
/// A name that is looked up, or an option that is compared.
pub(crate) const NAME: u64 = 40;
/// A state of a pattern's automaton, for each byte of text.
const STATE: u64 = 8;
/// A node that is copied, compared or hashed.
const NODE: u64 = 60;
/// A byte that is decoded, or read as JSON.
const CONTENT_BYTE: u64 = 60;
/// `multipleOf` with whole numbers, and with others, which become fractions of large integers.
const WHOLE_MULTIPLE: u64 = 2_000;
const FRACTION_MULTIPLE: u64 = 40_000;

/// Keywords that report no problems of their own.
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
pub(crate) struct Price {
    /// For any value.
    pub(crate) visit: u64,
    /// For each byte of a text.
    pub(crate) text_byte: u64,
    /// For each byte of the names of an object's members.
    pub(crate) name_byte: u64,
    /// The number of options that are arrays or objects: the whole value may be compared with each
    /// one.
    pub(crate) compound_options: u64,
    /// Whether the elements of an array are compared with each other.
    pub(crate) is_unique: bool,
    /// How many problems can be found at once.
    pub(crate) problems: u64,
}

impl Price {
    /// Adds what a keyword costs.
    pub(crate) fn add(&mut self, keyword: &str, value: &Value) {
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
                    // The pattern is applied once more to find the additional members.
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

/// The cost of copying, comparing or hashing a value once, counted up to the limit.
pub(crate) fn size_of(value: &Value, limit: u64) -> u64 {
    let (mut size, mut open) = (0_u64, vec![value]);
    while let Some(value) = open.pop() {
        size = size.saturating_add(NODE);
        match value {
            Value::String(text) => size = size.saturating_add(text.len() as u64 / 4),
            Value::Array(elements) => {
                // Too long for the limit, so it is not put on the list.
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
