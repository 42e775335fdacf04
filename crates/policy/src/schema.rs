//! What a tool's schema declares about an argument in a rule.
//!
//! Schemas come from servers, so the work for one is bounded. If a schema says too little, or in a
//! way that is not understood here, the answer is that nothing is certain.

use std::{cell::Cell, collections::BTreeSet, fmt};

use serde_json::{Map, Value};

use crate::argument::Segment;

/// The most schemas that are examined for one argument.
const MAX_SEEN: usize = 2_000;
/// The deepest nesting of schemas, including references.
const MAX_DEPTH: usize = 32;

/// Keywords by which a schema may admit names that it does not list, besides
/// `additionalProperties`.
const OPENING: [&str; 10] = [
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "not",
    "$dynamicRef",
];

/// Types of JSON, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const NUMBER: Self = Self(2);
    pub(crate) const BOOLEAN: Self = Self(4);
    pub(crate) const ARRAY: Self = Self(8);
    const OBJECT: Self = Self(16);
    const NULL: Self = Self(32);
    pub(crate) const NONE: Self = Self(0);
    const ALL: Self = Self(63);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }

    fn named(name: &str) -> Self {
        match name {
            "string" => Self::STRING,
            "number" | "integer" => Self::NUMBER,
            "boolean" => Self::BOOLEAN,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            "null" => Self::NULL,
            _ => Self::ALL,
        }
    }

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::BOOLEAN, "a boolean"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let named: Vec<&str> = names.iter().filter(|(one, _)| self.meets(*one)).map(|(_, name)| *name).collect();
        formatter.write_str(&named.join(" or "))
    }
}

/// What a schema declares about an argument.
#[derive(Debug, PartialEq)]
pub(crate) enum Declared<'s> {
    /// Nothing that is certain.
    Unsure,
    /// There is no such name; these names exist instead.
    Absent { name: String, known: BTreeSet<&'s str> },
    /// The path goes through a value of these types, which has no members or elements.
    NoWay { types: Types },
    /// It has one of these types and, if the schema lists its values, one of these values.
    Value { types: Types, values: Option<Vec<&'s Value>> },
}

/// What `schema` declares about the argument at the end of a path.
pub(crate) fn declared<'s>(schema: &'s Map<String, Value>, segments: &[Segment]) -> Declared<'s> {
    let walk = Walk { root: schema, left: Cell::new(MAX_SEEN) };
    let Some((first, rest)) = segments.split_first() else { return Declared::Unsure };
    let Segment::Member(name) = first else { return Declared::Unsure };
    let mut layers = Vec::new();
    walk.layers_of(schema, 0, &mut layers);
    if walk.is_spent() {
        return Declared::Unsure;
    }
    let mut at = match member(&layers, name) {
        Ok(schemas) => schemas,
        Err(declared) => return declared,
    };
    for segment in rest {
        let types = walk.types_of_any(&at);
        let mut layers = Vec::new();
        at.iter().for_each(|schema| walk.layers(schema, 0, &mut layers));
        if walk.is_spent() {
            return Declared::Unsure;
        }
        at = match segment {
            Segment::Member(_) if !types.meets(Types::OBJECT) => return Declared::NoWay { types },
            Segment::Each if !types.meets(Types::ARRAY) => return Declared::NoWay { types },
            Segment::Member(name) => match member(&layers, name) {
                Ok(schemas) => schemas,
                Err(declared) => return declared,
            },
            Segment::Each => match elements(&layers) {
                Some(schemas) => schemas,
                None => return Declared::Unsure,
            },
        };
    }
    let types = walk.types_of_any(&at);
    let values = at.iter().map(|schema| walk.values(schema, 0)).collect::<Option<Vec<_>>>().map(|all| all.concat());
    if walk.is_spent() { Declared::Unsure } else { Declared::Value { types, values } }
}

/// The schemas of a member, collected from all schemas of the object; or the reason why there are
/// none.
fn member<'s>(layers: &[&'s Map<String, Value>], name: &str) -> Result<Vec<&'s Value>, Declared<'s>> {
    let properties = || layers.iter().filter_map(|layer| layer.get("properties")?.as_object());
    let found: Vec<&Value> = properties().filter_map(|properties| properties.get(name)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let is_open = |layer: &&Map<String, Value>| {
        OPENING.iter().any(|keyword| layer.contains_key(*keyword))
            || layer.get("additionalProperties").is_some_and(|further| *further != Value::Bool(false))
    };
    let lists_names = properties().next().is_some();
    if !lists_names || layers.iter().any(is_open) {
        return Err(Declared::Unsure);
    }
    let known = properties().flat_map(Map::keys).map(String::as_str).collect();
    Err(Declared::Absent { name: name.to_owned(), known })
}

/// The schemas of a list's elements; `None` if that is not certain.
fn elements<'s>(layers: &[&'s Map<String, Value>]) -> Option<Vec<&'s Value>> {
    if layers.iter().any(|layer| layer.contains_key("prefixItems") || layer.contains_key("additionalItems")) {
        return None;
    }
    let items: Vec<&Value> = layers.iter().filter_map(|layer| layer.get("items")).collect();
    (!items.is_empty() && items.iter().all(|items| items.is_object())).then_some(items)
}

struct Walk<'s> {
    root: &'s Map<String, Value>,
    left: Cell<usize>,
}

impl<'s> Walk<'s> {
    fn spend(&self, depth: usize) -> bool {
        let left = self.left.get();
        if depth > MAX_DEPTH {
            self.left.set(0);
        }
        self.left.set(self.left.get().saturating_sub(1));
        left > 1 && depth <= MAX_DEPTH
    }

    /// Whether something was skipped, so that nothing is certain.
    fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Collects the schema and all its parts.
    fn layers(&self, schema: &'s Value, depth: usize, layers: &mut Vec<&'s Map<String, Value>>) {
        if let Value::Object(schema) = schema {
            self.layers_of(schema, depth, layers);
        }
    }

    fn layers_of(&self, schema: &'s Map<String, Value>, depth: usize, layers: &mut Vec<&'s Map<String, Value>>) {
        if !self.spend(depth) {
            return;
        }
        layers.push(schema);
        if let Some(target) = self.target(schema) {
            self.layers(target, depth + 1, layers);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in parts(schema, keyword) {
                self.layers(part, depth + 1, layers);
            }
        }
    }

    fn types_of_any(&self, schemas: &[&'s Value]) -> Types {
        schemas.iter().fold(Types::NONE, |types, schema| types.or(self.types(schema, 0)))
    }

    fn types(&self, schema: &'s Value, depth: usize) -> Types {
        let Value::Object(schema) = schema else { return Types::ALL };
        if !self.spend(depth) {
            return Types::ALL;
        }
        let of_names = |names: &[Value]| {
            names.iter().fold(Types::NONE, |types, name| types.or(name.as_str().map_or(Types::ALL, Types::named)))
        };
        let of_values = |values: &[Value]| values.iter().fold(Types::NONE, |types, value| types.or(Types::of(value)));
        let mut types = match schema.get("type") {
            Some(Value::String(name)) => Types::named(name),
            Some(Value::Array(names)) => of_names(names),
            _ => Types::ALL,
        };
        if let Some(Value::Array(values)) = schema.get("enum") {
            types = types.and(of_values(values));
        }
        if let Some(value) = schema.get("const") {
            types = types.and(Types::of(value));
        }
        if let Some(target) = self.target(schema) {
            types = types.and(self.types(target, depth + 1));
        }
        for part in parts(schema, "allOf") {
            types = types.and(self.types(part, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if schema.contains_key(keyword) {
                let any = parts(schema, keyword)
                    .iter()
                    .fold(Types::NONE, |types, part| types.or(self.types(part, depth + 1)));
                types = types.and(any);
            }
        }
        types
    }

    /// The possible values, if the schema lists all of them.
    fn values(&self, schema: &'s Value, depth: usize) -> Option<Vec<&'s Value>> {
        let schema = schema.as_object()?;
        if !self.spend(depth) {
            return None;
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return Some(values.iter().collect());
        }
        if let Some(value) = schema.get("const") {
            return Some(vec![value]);
        }
        if schema.get("type").and_then(Value::as_str) == Some("null") {
            return Some(Vec::new());
        }
        if let Some(target) = self.target(schema) {
            return self.values(target, depth + 1);
        }
        let parts =
            ["anyOf", "oneOf"].into_iter().map(|keyword| parts(schema, keyword)).find(|parts| !parts.is_empty())?;
        Some(parts.iter().map(|part| self.values(part, depth + 1)).collect::<Option<Vec<_>>>()?.concat())
    }

    /// The target of a reference within the schema.
    fn target(&self, schema: &'s Map<String, Value>) -> Option<&'s Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix("#/")?;
        let (first, rest) = pointer.split_once('/').map_or((pointer, ""), |(first, rest)| (first, rest));
        let start = self.root.get(first)?;
        if rest.is_empty() { Some(start) } else { start.pointer(&format!("/{rest}")) }
    }
}

fn parts<'s>(schema: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::argument::ArgumentPath;

    fn said(schema: &Value, path: &str) -> String {
        let path = ArgumentPath::parse(path).expect(path);
        match declared(schema.as_object().expect("a schema"), path.segments()) {
            Declared::Unsure => "unsure".to_owned(),
            Declared::Absent { name, known } => {
                format!("no {name} beside {}", known.into_iter().collect::<Vec<_>>().join(" "))
            }
            Declared::NoWay { types } => format!("no way through {types}"),
            Declared::Value { types, values: None } => types.to_string(),
            Declared::Value { types, values: Some(values) } => {
                format!("{types} of {}", Value::from_iter(values.into_iter().cloned()))
            }
        }
    }

    #[test]
    fn a_schema_says_what_an_argument_is_or_that_there_is_none() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "count": { "type": ["integer", "null"] },
                "mode": { "anyOf": [{ "enum": ["a", "b"] }, { "type": "null" }] },
                "owner": { "$ref": "#/$defs/owner" },
                "files": { "type": "array", "items": { "type": "object", "properties": { "path": { "type": "string" } } } },
                "any": {},
                "pair": { "type": "array", "prefixItems": [{}] },
            },
            "$defs": { "owner": { "type": "object", "properties": { "id": { "type": "number" } }, "additionalProperties": true } },
        });
        for (path, expected) in [
            ("path", "a string"),
            ("count", "a number or null"),
            ("mode", "a string or null of [\"a\",\"b\"]"),
            ("owner.id", "a number"),
            ("owner.name", "unsure"),
            ("files[].path", "a string"),
            ("files[].pth", "no pth beside path"),
            ("path.x", "no way through a string"),
            ("count[]", "no way through a number or null"),
            ("pair[]", "unsure"),
            ("any.x", "unsure"),
            ("any[].x", "unsure"),
            ("pth", "no pth beside any count files mode owner pair path"),
        ] {
            assert_eq!(said(&schema, path), expected, "{path}");
        }
        assert_eq!(said(&json!({ "type": "object" }), "x"), "unsure");
        assert_eq!(said(&json!({ "properties": {} }), "x"), "no x beside ");
        assert_eq!(said(&json!({ "properties": {}, "additionalProperties": {} }), "x"), "unsure");
        assert_eq!(said(&json!({ "properties": {}, "anyOf": [{ "properties": { "x": {} } }] }), "x.y"), "unsure");
    }

    #[test]
    fn a_schema_that_leads_to_itself_ends_the_look() {
        let circle = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a", "properties": {} } } });
        assert_eq!(said(&circle, "x"), "unsure");
        let circle = json!({ "properties": { "x": { "$ref": "#/properties/x" } } });
        assert_eq!(said(&circle, "x"), "unsure");
        let mut many = json!({ "type": "string" });
        for _ in 0..12 {
            many = json!({ "anyOf": [many.clone(), many.clone(), many] });
        }
        assert_eq!(said(&json!({ "properties": { "x": many } }), "x"), "unsure");
    }
}
