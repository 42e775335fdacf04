//! Finds names that a schema neither lists nor allows for.
//!
//! JSON Schema accepts every name that it does not forbid, and most servers ignore an argument that
//! they do not know: they answer as if it had not been given, and nobody notices. So a name that is
//! close to a listed one is reported as a mistake, and any other is mentioned to the author. A
//! schema that describes further names, or that is composed of others, allows for other names.

use serde_json::{Map, Value};

use crate::{
    gaps::{self, Gaps},
    names::{comparisons, meant},
    problems::{MAX_COMPARED, push_member},
};

/// Keywords by which a schema may accept names besides its `properties`.
const OPENING: [&str; 13] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "$ref",
    "$dynamicRef",
];
/// How many names and elements of the arguments are looked at: some hundred microseconds.
const MAX_SEEN: usize = 5_000;
/// How deeply objects and arrays are searched. Real schemas have fewer than ten levels.
const MAX_DEPTH: usize = 16;
/// How many references are followed in a row.
const MAX_REFERENCES: usize = 8;
/// How many names of each kind are listed; the rest are counted.
const MAX_TOLD: usize = 3;

/// The names in some arguments that the schema does not list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Undeclared {
    /// Names that are close to a listed one, each as a problem.
    mistaken: Vec<String>,
    /// The same for names that may be absent.
    likely: Vec<String>,
    /// The places of the other names.
    ignored: Vec<String>,
}

impl Undeclared {
    /// Finds such names in arguments that the schema has accepted.
    pub fn of(schema: &Map<String, Value>, arguments: &Map<String, Value>, gaps: &Gaps) -> Self {
        let mut walk = Walk { root: schema, gaps, left: MAX_SEEN, compared: MAX_COMPARED, found: Self::default() };
        walk.object(schema, arguments, &Place { shown: "arguments".to_owned(), pointer: String::new() }, 0);
        walk.found
    }

    /// Names that are most likely mistakes for another, in words.
    pub fn problem(&self) -> Option<String> {
        listed(&self.mistaken, "; ")
    }

    /// The same for names that may be absent.
    pub fn likely_problem(&self) -> Option<String> {
        listed(&self.likely, "; ")
    }

    /// The names that the server most likely ignores.
    pub fn ignored(&self) -> Option<String> {
        listed(&self.ignored, ", ")
    }
}

fn listed(all: &[String], separator: &str) -> Option<String> {
    let told = all.get(..MAX_TOLD.min(all.len()))?.join(separator);
    match all.len().saturating_sub(MAX_TOLD) {
        _ if all.is_empty() => None,
        0 => Some(told),
        more => Some(format!("{told}{separator}and {more} more")),
    }
}

/// A place in the arguments, for display and as a JSON pointer.
struct Place {
    shown: String,
    pointer: String,
}

impl Place {
    fn member(&self, name: &str) -> Self {
        let mut shown = self.shown.clone();
        push_member(&mut shown, name);
        Self { shown, pointer: gaps::member(&self.pointer, name) }
    }

    fn element(&self, at: usize) -> Self {
        Self { shown: format!("{}[{at}]", self.shown), pointer: format!("{}/{at}", self.pointer) }
    }
}

struct Walk<'v> {
    root: &'v Map<String, Value>,
    gaps: &'v Gaps,
    left: usize,
    compared: usize,
    found: Undeclared,
}

impl<'v> Walk<'v> {
    fn object(&mut self, schema: &'v Map<String, Value>, given: &Map<String, Value>, place: &Place, depth: usize) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        // If an object may have more members, it is not known which names are unused.
        let is_open = OPENING.iter().any(|keyword| schema.contains_key(*keyword)) || self.gaps.is_open(&place.pointer);
        for (name, value) in given {
            if !self.may_look() {
                return;
            }
            match properties.get(name) {
                Some(property) if value.is_object() || value.is_array() => {
                    let member = place.member(name);
                    // Its value is not known.
                    if !self.gaps.is_unknown(&member.pointer) {
                        self.value(property, value, &member, depth + 1);
                    }
                }
                None if !is_open => self.unknown(name, properties, given, place),
                _ => {}
            }
        }
    }

    fn value(&mut self, schema: &'v Value, value: &Value, place: &Place, depth: usize) {
        let Some(schema) = self.resolved(schema).filter(|_| depth <= MAX_DEPTH) else { return };
        match value {
            Value::Object(members) => self.object(schema, members, place, depth),
            Value::Array(elements) => {
                let Some(items) = schema.get("items") else { return };
                for (at, element) in elements.iter().enumerate() {
                    if !self.may_look() {
                        return;
                    }
                    if element.is_object() || element.is_array() {
                        let element_place = place.element(at);
                        if !self.gaps.is_unknown(&element_place.pointer) {
                            self.value(items, element, &element_place, depth + 1);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The schema that a reference within the document leads to, or the schema itself if it is not
    /// a reference.
    fn resolved(&self, schema: &'v Value) -> Option<&'v Map<String, Value>> {
        let mut schema = schema.as_object()?;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = schema.get("$ref") else { return Some(schema) };
            // Keywords next to the reference would have to be combined with its target.
            if schema.contains_key("properties") {
                return None;
            }
            let mut steps = reference.as_str()?.strip_prefix("#/")?.split('/');
            let first = self.root.get(steps.next()?)?;
            schema = steps.try_fold(first, |at, step| at.get(step))?.as_object()?;
        }
        None
    }

    fn unknown(&mut self, name: &str, properties: &'v Map<String, Value>, given: &Map<String, Value>, object: &Place) {
        let place = object.member(name);
        let free: Vec<&str> = properties.keys().map(String::as_str).filter(|name| !given.contains_key(*name)).collect();
        let near = self.compared.checked_sub(comparisons(name, &free)).and_then(|left| {
            self.compared = left;
            meant(name, &free)
        });
        match near {
            Some(near) => {
                let found = &mut self.found;
                // An unknown value may be absent, and then another name may have been meant.
                let may_be_free = |name: &&str| {
                    !given.contains_key(*name) || self.gaps.is_unknown(&gaps::member(&object.pointer, name))
                };
                let free: Vec<&str> = properties.keys().map(String::as_str).filter(may_be_free).collect();
                let is_same = self.gaps.is_empty() || meant(name, &free) == Some(near);
                let problems = if is_same && !self.gaps.is_unknown(&place.pointer) {
                    &mut found.mistaken
                } else {
                    &mut found.likely
                };
                problems.push(format!("{}: there is no argument of this name: did you mean `{near}`?", place.shown));
            }
            None => self.found.ignored.push(place.shown),
        }
    }

    fn may_look(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undeclared(schema: Value, arguments: Value) -> (Option<String>, Option<String>) {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else { panic!("two objects") };
        let found = Undeclared::of(&schema, &arguments, &Gaps::default());
        (found.problem(), found.ignored())
    }

    fn issues() -> Value {
        json!({ "type": "object", "properties": {
            "project": { "type": "string" },
            "labels": { "type": "array", "items": { "$ref": "#/$defs/label" } },
            "sort": { "properties": { "by": {}, "descending": {} } }
        }, "$defs": { "label": { "properties": { "name": {}, "color": {} } } } })
    }

    #[test]
    fn a_name_near_a_listed_one_is_a_mistake_and_any_other_is_told() {
        for (arguments, problem, ignored) in [
            (json!({ "project": "x", "labels": [{ "name": "a" }], "sort": { "by": 1 } }), None, None),
            (
                json!({ "projects": "x" }),
                Some("arguments.projects: there is no argument of this name: did you mean `project`?"),
                None,
            ),
            (json!({ "page": 2 }), None, Some("arguments.page")),
            // A name that is already given cannot have been meant again.
            (json!({ "project": "x", "projects": "x" }), None, Some("arguments.projects")),
            (
                json!({ "sort": { "bye": 1 } }),
                Some("arguments.sort.bye: there is no argument of this name: did you mean `by`?"),
                None,
            ),
            (
                json!({ "labels": [{ "name": "a" }, { "colour": "red", "zebra": 1 }] }),
                Some("arguments.labels[1].colour: there is no argument of this name: did you mean `color`?"),
                Some("arguments.labels[1].zebra"),
            ),
            (
                json!({ "q": 1, "w": 1, "x y": 1, "z": 1, "0": 1 }),
                None,
                Some("arguments.q, arguments.w, arguments[\"x y\"], and 2 more"),
            ),
        ] {
            let found = undeclared(issues(), arguments.clone());
            assert_eq!(found, (problem.map(str::to_owned), ignored.map(str::to_owned)), "{arguments}");
        }
    }

    #[test]
    fn a_schema_that_leaves_room_for_names_is_believed() {
        for schema in [
            json!({}),
            json!({ "type": "object" }),
            json!({ "properties": { "project": {} }, "additionalProperties": true }),
            json!({ "properties": { "project": {} }, "additionalProperties": { "type": "string" } }),
            json!({ "properties": { "project": {} }, "patternProperties": { "^p": {} } }),
            json!({ "properties": { "project": {} }, "anyOf": [{ "required": ["project"] }] }),
            json!({ "properties": { "project": {} }, "allOf": [{ "properties": { "projects": {} } }] }),
            json!({ "properties": { "project": {} }, "$ref": "#/$defs/more" }),
        ] {
            assert_eq!(undeclared(schema.clone(), json!({ "projects": "x" })), (None, None), "{schema}");
        }
        assert!(undeclared(json!({ "properties": {} }), json!({ "a": 1 })).1.is_some(), "an empty list is a list");
    }

    #[test]
    fn schemas_and_arguments_of_any_size_and_depth_are_looked_at_within_bounds() {
        let endless = json!({ "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#/properties/b" } } });
        let mut deep = json!({ "zebra": 1 });
        for _ in 0..100 {
            deep = json!({ "a": deep });
        }
        assert_eq!(undeclared(endless, json!({ "a": deep, "b": { "c": 1 } })), (None, None));
        let many: Map<String, Value> = (0..20_000).map(|n| (format!("zebra {n}"), json!(1))).collect();
        let (problem, ignored) = undeclared(issues(), Value::Object(many));
        assert_eq!(problem, None);
        assert!(ignored.is_some_and(|ignored| ignored.ends_with(&format!("and {} more", MAX_SEEN - MAX_TOLD))));
    }
}
