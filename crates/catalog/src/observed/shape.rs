//! A shape: the kinds of values that were seen at a place, and their contents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::Words;
use crate::{
    bounds::{
        OBSERVED_DEPTH, OBSERVED_ELEMENTS, OBSERVED_MEMBERS, OBSERVED_NAME_BYTES, OBSERVED_NODES, OBSERVED_OPTIONAL,
    },
    schema::{Member, Shape, Type},
};

/// This many objects of one shape, next to each other in an object, make it a map.
const MAP_OF_OBJECTS: usize = 3;

/// This many plain values of one type, next to each other in an object, make it a map.
const MAP_OF_VALUES: usize = 8;

/// What was seen at one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Seen {
    #[serde(skip_serializing_if = "is_false")]
    null: bool,
    #[serde(skip_serializing_if = "is_false")]
    boolean: bool,
    #[serde(skip_serializing_if = "is_false")]
    number: bool,
    #[serde(skip_serializing_if = "is_false")]
    string: bool,
    /// Something that was too deep, or too large.
    #[serde(skip_serializing_if = "is_false")]
    unknown: bool,
    /// The elements of arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Box<Seen>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Object>,
}

/// The objects that were seen at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Object {
    /// An object with names that a programmer chose.
    Members { times: u64, members: BTreeMap<String, Part> },
    /// An object with names that are data.
    Record(Box<Seen>),
}

/// A member that was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    times: u64,
    seen: Seen,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Seen {
    /// The shape of a value.
    pub(super) fn of(value: &Value, words: &Words) -> Self {
        Self::within(value, words, 0)
    }

    fn within(value: &Value, words: &Words, depth: usize) -> Self {
        let mut seen = Self::default();
        match value {
            Value::Null => seen.null = true,
            Value::Bool(_) => seen.boolean = true,
            Value::Number(_) => seen.number = true,
            Value::String(_) => seen.string = true,
            Value::Array(_) | Value::Object(_) if depth >= OBSERVED_DEPTH => seen.unknown = true,
            Value::Array(elements) => {
                let mut inside = Self::default();
                for element in elements.iter().take(OBSERVED_ELEMENTS) {
                    inside.merge(Self::within(element, words, depth + 1));
                }
                seen.array = Some(Box::new(inside));
            }
            Value::Object(members) => seen.object = Some(Object::of(members, words, depth)),
        }
        seen
    }

    /// The kinds of values that were seen, in words for an author.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let kinds = [
            (self.string, "a text"),
            (self.array.is_some(), "an array"),
            (self.object.is_some(), "an object"),
            (self.number, "a number"),
            (self.boolean, "a boolean"),
            (self.null, "null"),
        ];
        kinds.into_iter().filter(|(seen, _)| *seen).map(|(_, kind)| kind).collect()
    }

    /// Merges another observation into this one.
    pub(super) fn merge(&mut self, other: Self) {
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.number |= other.number;
        self.string |= other.string;
        self.unknown |= other.unknown;
        self.array = match (self.array.take(), other.array) {
            (Some(mut one), Some(other)) => {
                one.merge(*other);
                Some(one)
            }
            (one, other) => one.or(other),
        };
        self.object = match (self.object.take(), other.object) {
            (Some(one), Some(other)) => Some(one.merged(other)),
            (one, other) => one.or(other),
        };
    }

    /// Applies the bounds to the shape, and forgets the names that may be data.
    pub(super) fn settle(&mut self) {
        self.collapse(0);
        let mut deepest = OBSERVED_DEPTH;
        while self.nodes() > OBSERVED_NODES && deepest > 0 {
            deepest -= 1;
            self.cut(deepest);
        }
    }

    fn collapse(&mut self, depth: usize) {
        if depth > OBSERVED_DEPTH {
            *self = Self { unknown: true, ..Self::default() };
            return;
        }
        if let Some(array) = &mut self.array {
            array.collapse(depth + 1);
        }
        match self.object.take() {
            Some(Object::Members { times, mut members }) => {
                for part in members.values_mut() {
                    part.seen.collapse(depth + 1);
                }
                let object = Object::Members { times, members };
                self.object = Some(if object.is_map() { object.into_record() } else { object });
            }
            Some(Object::Record(mut inside)) => {
                inside.collapse(depth + 1);
                self.object = Some(Object::Record(inside));
            }
            None => {}
        }
    }

    /// Replaces everything below this many levels by unknown.
    fn cut(&mut self, levels: usize) {
        let Some(below) = levels.checked_sub(1) else {
            if self.array.take().is_some() | self.object.take().is_some() {
                self.unknown = true;
            }
            return;
        };
        if let Some(array) = &mut self.array {
            array.cut(below);
        }
        match &mut self.object {
            Some(Object::Members { members, .. }) => members.values_mut().for_each(|part| part.seen.cut(below)),
            Some(Object::Record(inside)) => inside.cut(below),
            None => {}
        }
    }

    fn nodes(&self) -> usize {
        let array = self.array.as_ref().map_or(0, |array| array.nodes());
        let object = match &self.object {
            Some(Object::Members { members, .. }) => members.values().map(|part| part.seen.nodes()).sum(),
            Some(Object::Record(inside)) => inside.nodes(),
            None => 0,
        };
        1 + array + object
    }

    /// Whether both are the same type to a script, ignoring how often they were seen.
    pub(super) fn is_same_type(&self, other: &Self) -> bool {
        self.kind() == other.kind()
    }

    /// The type of what was seen.
    pub(super) fn kind(&self) -> Type {
        if self.unknown || *self == Self::default() {
            return Type::Unknown;
        }
        let plain = [
            (self.string, Type::STRING),
            (self.number, Type::NUMBER),
            (self.boolean, Type::BOOLEAN),
            (self.null, Type::NULL),
        ];
        let array = self.array.as_ref().map(|array| Type::Array(Box::new(array.kind())));
        let object = self.object.as_ref().map(Object::kind);
        let plain = plain.into_iter().filter_map(|(seen, kind)| seen.then_some(kind));
        Type::union(object.into_iter().chain(array).chain(plain).collect())
    }
}

impl Object {
    fn of(members: &Map<String, Value>, words: &Words, depth: usize) -> Self {
        let is_data = |name: &str| !is_a_programmers(name) || words.has(name);
        if words.has_program() || members.len() > OBSERVED_MEMBERS || members.keys().any(|name| is_data(name)) {
            let mut inside = Seen::default();
            for member in members.values().take(OBSERVED_ELEMENTS) {
                inside.merge(Seen::within(member, words, depth + 1));
            }
            return Self::Record(Box::new(inside));
        }
        let part = |(name, member): (&String, &Value)| {
            (name.clone(), Part { times: 1, seen: Seen::within(member, words, depth + 1) })
        };
        let object = Self::Members { times: 1, members: members.iter().map(part).collect() };
        if object.is_map() { object.into_record() } else { object }
    }

    fn merged(self, other: Self) -> Self {
        match (self, other) {
            (Self::Members { times, mut members }, Self::Members { times: more, members: others }) => {
                for (name, other) in others {
                    match members.get_mut(&name) {
                        Some(part) => {
                            part.times = part.times.saturating_add(other.times);
                            part.seen.merge(other.seen);
                        }
                        None => {
                            members.insert(name, other);
                        }
                    }
                }
                let object = Self::Members { times: times.saturating_add(more), members };
                if object.is_map() { object.into_record() } else { object }
            }
            (one, other) => {
                let mut inside = one.into_inside();
                inside.merge(other.into_inside());
                Self::Record(Box::new(inside))
            }
        }
    }

    /// Whether the names of the members may be data.
    fn is_map(&self) -> bool {
        let Self::Members { times, members } = self else { return false };
        let sometimes = members.values().filter(|part| part.times < *times).count();
        let mut kinds = members.values().map(|part| &part.seen);
        let first = kinds.next();
        let alike = first.is_some_and(|first| {
            let many = if first.object.is_some() { MAP_OF_OBJECTS } else { MAP_OF_VALUES };
            members.len() >= many && kinds.all(|kind| kind.is_same_type(first))
        });
        members.len() > OBSERVED_MEMBERS
            || sometimes > OBSERVED_OPTIONAL
            || (members.len() > 1 && sometimes == members.len())
            || alike
            || members.keys().any(|name| !is_a_programmers(name))
    }

    fn into_record(self) -> Self {
        Self::Record(Box::new(self.into_inside()))
    }

    /// The shape of all members together.
    fn into_inside(self) -> Seen {
        match self {
            Self::Record(inside) => *inside,
            Self::Members { members, .. } => {
                let mut inside = Seen::default();
                for part in members.into_values() {
                    inside.merge(part.seen);
                }
                inside
            }
        }
    }

    fn kind(&self) -> Type {
        match self {
            Self::Record(inside) => Type::Object(Shape { others: Some(Box::new(inside.kind())), ..Shape::default() }),
            Self::Members { members, .. } if members.is_empty() => Type::ANY_OBJECT,
            Self::Members { times, members } => {
                let member = |(name, part): (&String, &Part)| Member {
                    name: name.clone(),
                    optional: part.times < *times,
                    comment: String::new(),
                    kind: part.seen.kind(),
                    null_by_default: false,
                };
                Type::Object(Shape { members: members.iter().map(member).collect(), ..Shape::default() })
            }
        }
    }
}

/// Whether a name looks like one that a programmer chose: letters, with at most two digits, `_`,
/// `-` or `$`. Identifiers, dates, paths, addresses and numbers do not.
fn is_a_programmers(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'));
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit() && byte != b'-');
    letters && begins && digits <= 2 && name.len() <= OBSERVED_NAME_BYTES
}
