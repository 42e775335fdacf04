//! Reads types from a schema.
//!
//! Each `$ref` target is read once, from a queue and not by recursion, and has a name from then on.
//! Recursion remains only for nested schemas, and is bounded.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    aliases::{Alias, Types},
    constraints::constraints,
    reference::{self, Target},
    types::{Element, Member, Shape, Type},
};
use crate::{
    bounds::{
        ALIASES, LITERAL_BYTES, MEMBER_COMMENT_CHARS, MEMBER_NAME_BYTES, PARTS, SCHEMA_DEPTH, SCHEMA_NODES,
        UNION_LITERALS,
    },
    text::one_line,
};

/// Reads the schemas of one tool.
pub(crate) struct Reader<'a> {
    documents: Vec<&'a Map<String, Value>>,
    /// What remains to be read for each alias: its document and its schema.
    queue: Vec<(usize, &'a Map<String, Value>)>,
    aliases: Vec<Alias>,
    /// By document and reference as written, and by document and target; `None` if a reference
    /// leads nowhere.
    by_reference: HashMap<(usize, &'a str), Option<usize>>,
    by_target: HashMap<(usize, String), usize>,
    names: HashSet<String>,
    nodes: usize,
    document: usize,
    integers: bool,
}

/// `true`, and anything that is not a schema.
static ANYTHING: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl<'a> Reader<'a> {
    /// A reader that has read nothing.
    pub(crate) fn new() -> Self {
        Self {
            documents: Vec::new(),
            queue: Vec::new(),
            aliases: Vec::new(),
            by_reference: HashMap::new(),
            by_target: HashMap::new(),
            names: HashSet::new(),
            nodes: 0,
            document: 0,
            integers: false,
        }
    }

    /// The same, but whole numbers are distinguished from others.
    pub(crate) fn with_integers() -> Self {
        Self { integers: true, ..Self::new() }
    }

    /// Adds a whole document. Its type gets this name if it refers to itself.
    pub(crate) fn document(&mut self, name: &str, schema: &'a Map<String, Value>) -> Type {
        self.documents.push(schema);
        let alias = self.alias(self.documents.len() - 1, name, schema);
        self.by_target.insert((self.documents.len() - 1, String::new()), alias);
        Type::Named(alias)
    }

    /// Reads everything in the documents and what it refers to. `roots` are the types that will be
    /// printed.
    pub(crate) fn finish(mut self, roots: &[&Type]) -> Types {
        let mut next = 0;
        while let Some(&(document, schema)) = self.queue.get(next) {
            self.document = document;
            let body = self.schema(schema, 0);
            if let Some(alias) = self.aliases.get_mut(next) {
                alias.body = body;
            }
            next += 1;
        }
        let mut types = Types { aliases: self.aliases };
        types.settle(roots);
        types
    }

    fn alias(&mut self, document: usize, name: &str, schema: &'a Map<String, Value>) -> usize {
        let base = type_name(name);
        let mut name = base.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}{number}");
            number += 1;
        }
        self.queue.push((document, schema));
        self.aliases.push(Alias { name, comment: comment(schema), body: Type::Unknown, inline: false, members: 1 });
        self.aliases.len() - 1
    }

    fn reference(&mut self, reference: &'a str) -> Type {
        let document = self.document;
        if let Some(known) = self.by_reference.get(&(document, reference)) {
            return known.map_or(Type::Unknown, Type::Named);
        }
        if self.by_reference.len() >= ALIASES {
            return Type::Unknown;
        }
        let target = self.documents.get(document).and_then(|root| reference::resolve(root, reference));
        let alias = target.and_then(|target| {
            let (key, schema, name) = match target {
                Target::Root => (String::new(), *self.documents.get(document)?, String::new()),
                Target::Schema { key, schema, name } => (key, as_schema(schema)?, name),
            };
            let known = self.by_target.get(&(document, key.clone())).copied();
            Some(known.unwrap_or_else(|| {
                let alias = self.alias(document, &name, schema);
                self.by_target.insert((document, key), alias);
                alias
            }))
        });
        self.by_reference.insert((document, reference), alias);
        alias.map_or(Type::Unknown, Type::Named)
    }

    fn value(&mut self, value: &'a Value, depth: usize) -> Type {
        match value {
            Value::Bool(false) => Type::Never,
            Value::Object(schema) => self.schema(schema, depth),
            _ => Type::Unknown,
        }
    }

    fn schema(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        self.nodes += 1;
        if depth > SCHEMA_DEPTH || self.nodes > SCHEMA_NODES {
            return Type::Unknown;
        }
        let mut parts = Vec::new();
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = schema.get(key).and_then(Value::as_str) {
                parts.push(self.reference(reference));
            }
        }
        parts.push(self.own(schema, depth));
        for part in list(schema, "allOf") {
            parts.push(self.value(part, depth + 1));
        }
        for key in ["anyOf", "oneOf"] {
            let choices: Vec<Type> = list(schema, key).map(|choice| self.value(choice, depth + 1)).collect();
            if !choices.is_empty() {
                parts.push(Type::union(choices));
            }
        }
        let kind = Type::intersection(parts);
        if schema.get("nullable") == Some(&Value::Bool(true)) { Type::union(vec![kind, Type::NULL]) } else { kind }
    }

    /// What the schema says apart from its references and combinations.
    fn own(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            let wide = values.len() > UNION_LITERALS;
            let kind = |value| if wide { kind_of(value) } else { literal(value) };
            return Type::union(values.iter().map(kind).collect());
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.named_type(name, schema, depth),
            Some(Value::Array(names)) => {
                // Each name once: a list that repeats `object` must not read the members again.
                let mut seen = HashSet::new();
                let names = names.iter().take(PARTS).filter_map(Value::as_str).filter(|name| seen.insert(*name));
                let kinds: Vec<Type> = names.map(|name| self.named_type(name, schema, depth)).collect();
                if kinds.is_empty() { Type::Unknown } else { Type::union(kinds) }
            }
            _ => self.implied_type(schema, depth),
        }
    }

    fn named_type(&mut self, name: &str, schema: &'a Map<String, Value>, depth: usize) -> Type {
        match name {
            "string" => Type::STRING,
            "integer" if self.integers => Type::INTEGER,
            "number" | "integer" => Type::NUMBER,
            "boolean" => Type::BOOLEAN,
            "null" => Type::NULL,
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            _ => Type::Unknown,
        }
    }

    /// The type that the keywords imply if none is named.
    fn implied_type(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
        if has(&["properties", "patternProperties", "additionalProperties", "required"]) {
            self.object(schema, depth)
        } else if has(&["items", "prefixItems"]) {
            self.array(schema, depth)
        } else if has(&["minLength", "maxLength", "pattern"]) {
            Type::STRING
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            Type::NUMBER
        } else {
            Type::Unknown
        }
    }

    fn object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let required: HashSet<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut shape = Shape::default();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&ANYTHING);
        for (name, property) in properties {
            if name.len() > MEMBER_NAME_BYTES || self.nodes > SCHEMA_NODES {
                shape.omitted += 1;
                continue;
            }
            let kind = self.value(property, depth + 1);
            shape.members.push(Member {
                name: name.clone(),
                optional: !required.contains(name.as_str()),
                comment: property.as_object().map(comment).unwrap_or_default(),
                kind,
                null_by_default: property.get("default") == Some(&Value::Null),
            });
        }
        // Required members without a description, in the schema's order.
        let undescribed =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in
            undescribed.filter(|name| !properties.contains_key(*name) && name.len() <= MEMBER_NAME_BYTES).take(PARTS)
        {
            if shape.members.iter().all(|member| member.name != name) {
                let (name, comment) = (name.to_owned(), String::new());
                let kind = Type::Unknown;
                shape.members.push(Member { name, optional: false, comment, kind, null_by_default: false });
            }
        }
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let mut others = Vec::new();
        if let Some(patterns) = schema.get("patternProperties").and_then(Value::as_object) {
            others.extend(patterns.values().take(PARTS).map(|pattern| self.value(pattern, depth + 1)));
        }
        others.extend(schema.get("additionalProperties").filter(|_| !closed).map(|other| self.value(other, depth + 1)));
        if !others.is_empty() {
            shape.others = Some(Box::new(Type::union(others)));
        }
        let nothing_named = shape.members.is_empty() && shape.omitted == 0;
        match &shape.others {
            None if nothing_named && closed => Type::EMPTY_OBJECT,
            None if nothing_named => Type::ANY_OBJECT,
            Some(others) if nothing_named && **others == Type::Unknown => Type::ANY_OBJECT,
            _ => Type::Object(shape),
        }
    }

    fn array(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        // Before 2020-12, a list of `items` meant today's `prefixItems`, and `additionalItems`
        // today's `items`.
        let (places, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(places)), rest) => (places, rest),
            (_, Some(Value::Array(places))) => (places, schema.get("additionalItems")),
            (_, Some(items)) => return Type::Array(Box::new(self.value(items, depth + 1))),
            _ => return Type::Array(Box::new(Type::Unknown)),
        };
        let least = schema.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let elements = places.iter().take(PARTS).enumerate().map(|(at, place)| Element {
            kind: self.value(place, depth + 1),
            optional: least.is_some_and(|least| at >= least),
        });
        let elements = elements.collect();
        let rest =
            if places.len() > PARTS { Some(Type::Unknown) } else { rest.map(|rest| self.value(rest, depth + 1)) };
        Type::Tuple(elements, rest.filter(|rest| *rest != Type::Never).map(Box::new))
    }
}

fn as_schema(value: &Value) -> Option<&Map<String, Value>> {
    match value {
        Value::Object(schema) => Some(schema),
        _ => None,
    }
}

fn list<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().take(PARTS)
}

fn literal(value: &Value) -> Type {
    match value {
        Value::Null => Type::NULL,
        Value::Bool(value) => Type::Literal(value.to_string()),
        Value::Number(number) if is_exact(number) => Type::Literal(number.to_string()),
        Value::String(text) if text.len() <= LITERAL_BYTES => Type::string_literal(text),
        wide => kind_of(wide),
    }
}

/// Whether JavaScript can represent the number exactly: a double cannot hold larger integers.
fn is_exact(number: &serde_json::Number) -> bool {
    const LARGEST: i64 = (1 << 53) - 1;
    match number.as_i64() {
        Some(integer) => (-LARGEST..=LARGEST).contains(&integer),
        None => !number.is_u64() && number.as_f64().is_some_and(f64::is_finite),
    }
}

fn kind_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::NULL,
        Value::Bool(_) => Type::BOOLEAN,
        Value::Number(_) => Type::NUMBER,
        Value::String(_) => Type::STRING,
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::ANY_OBJECT,
    }
}

/// The description and the constraints of a schema, or those of its items.
fn comment(schema: &Map<String, Value>) -> String {
    let items = schema.get("items").and_then(Value::as_object);
    let description =
        |schema: &Map<String, Value>| schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let own = description(schema).or_else(|| items.and_then(description)).unwrap_or_default();
    let mut said = one_line(&own, MEMBER_COMMENT_CHARS);
    let demanded = constraints(schema);
    if !demanded.is_empty() {
        said = if said.is_empty() { demanded } else { format!("{said} ({demanded})") };
    }
    said
}

/// A type's name in `PascalCase`, at most 40 characters, without `_`, so that `tool_Type` can be
/// split in one way only.
fn type_name(name: &str) -> String {
    let mut pascal = String::new();
    let mut upper = true;
    for character in name.chars().take(40) {
        if !character.is_ascii_alphanumeric() {
            upper = true;
        } else if std::mem::take(&mut upper) {
            pascal.push(character.to_ascii_uppercase());
        } else {
            pascal.push(character);
        }
    }
    if pascal.starts_with(|first: char| first.is_ascii_alphabetic()) { pascal } else { format!("Type{pascal}") }
}
