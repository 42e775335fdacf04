//! Checks that a mapping is enough to convert in both directions: JSON becomes values of WIT's
//! types, and these become the same JSON.
//!
//! The values here stand for those of a component runtime, which knows names and no JSON keys.

use serde_json::{Map, Number, Value, json};

use super::{Form, Kind, Mapping, Payload};
use crate::{measures::catalog, wit::packages};

/// A value of a type of WIT.
#[derive(Debug, Clone, PartialEq)]
enum Typed {
    Bool(bool),
    S64(i64),
    F64(f64),
    String(String),
    Option(Option<Box<Typed>>),
    List(Vec<Typed>),
    Tuple(Vec<Typed>),
    Record(Vec<(String, Typed)>),
    Enum(String),
    Variant(String, Option<Box<Typed>>),
}

/// `None` if the JSON does not have the form.
fn typed(mapping: &Mapping, form: &Form, json: &Value) -> Option<Typed> {
    Some(match (form, json) {
        (Form::Json, json) => Typed::String(json.to_string()),
        (Form::Bool, Value::Bool(value)) => Typed::Bool(*value),
        (Form::Integer, Value::Number(value)) => Typed::S64(value.as_i64()?),
        (Form::Number, Value::Number(value)) => Typed::F64(value.as_f64()?),
        (Form::Text, Value::String(text)) => Typed::String(text.clone()),
        (Form::Option(_), Value::Null) => Typed::Option(None),
        (Form::Option(inner), json) => Typed::Option(Some(Box::new(typed(mapping, inner, json)?))),
        (Form::List(item), Value::Array(items)) => {
            Typed::List(items.iter().map(|json| typed(mapping, item, json)).collect::<Option<_>>()?)
        }
        (Form::Map(value), Value::Object(members)) => {
            let pair = |(key, json): (&String, &Value)| {
                Some(Typed::Tuple(vec![Typed::String(key.clone()), typed(mapping, value, json)?]))
            };
            Typed::List(members.iter().map(pair).collect::<Option<_>>()?)
        }
        (Form::Tuple(places), Value::Array(items)) if places.len() == items.len() => {
            let items = places.iter().zip(items).map(|(form, json)| typed(mapping, form, json));
            Typed::Tuple(items.collect::<Option<_>>()?)
        }
        (Form::Named(at), json) => named(mapping, &mapping.definitions().get(*at)?.kind, json)?,
        _ => return None,
    })
}

fn named(mapping: &Mapping, kind: &Kind, json: &Value) -> Option<Typed> {
    match kind {
        Kind::Record(record) => {
            let members = json.as_object()?;
            if !record.fixed.iter().all(|(key, value)| members.get(key) == Some(value)) {
                return None;
            }
            let field = |field: &super::Field| {
                let value = match (members.get(&field.key), field.optional) {
                    (None, false) => return None,
                    (None, true) => Typed::Option(None),
                    (Some(json), false) => typed(mapping, &field.form, json)?,
                    (Some(json), true) => Typed::Option(Some(Box::new(typed(mapping, &field.form, json)?))),
                };
                Some((field.name.clone(), value))
            };
            Some(Typed::Record(record.fields.iter().map(field).collect::<Option<_>>()?))
        }
        Kind::Enum(cases) => {
            let text = json.as_str()?;
            Some(Typed::Enum(cases.iter().find(|case| case.value == text)?.name.clone()))
        }
        Kind::Variant(cases) => cases.iter().find_map(|case| match &case.value {
            Payload::Fixed(value) => (value == json).then(|| Typed::Variant(case.name.clone(), None)),
            Payload::Form(form) => Some(Typed::Variant(case.name.clone(), Some(Box::new(typed(mapping, form, json)?)))),
        }),
    }
}

/// The way back, using only the mapping.
fn untyped(mapping: &Mapping, form: &Form, value: &Typed) -> Value {
    match (form, value) {
        (Form::Json, Typed::String(text)) => serde_json::from_str(text).unwrap(),
        (Form::Bool, Typed::Bool(value)) => json!(value),
        (Form::Integer, Typed::S64(value)) => json!(value),
        (Form::Number, Typed::F64(value)) => Value::Number(Number::from_f64(*value).unwrap()),
        (Form::Text, Typed::String(text)) => json!(text),
        (Form::Option(_), Typed::Option(None)) => Value::Null,
        (Form::Option(inner), Typed::Option(Some(value))) => untyped(mapping, inner, value),
        (Form::List(item), Typed::List(items)) => items.iter().map(|value| untyped(mapping, item, value)).collect(),
        (Form::Map(form), Typed::List(pairs)) => {
            let member = |pair: &Typed| match pair {
                Typed::Tuple(pair) => match &pair[..] {
                    [Typed::String(key), value] => (key.clone(), untyped(mapping, form, value)),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            };
            Value::Object(pairs.iter().map(member).collect())
        }
        (Form::Tuple(places), Typed::Tuple(items)) => {
            places.iter().zip(items).map(|(form, value)| untyped(mapping, form, value)).collect()
        }
        (Form::Named(at), value) => match (&mapping.definitions()[*at].kind, value) {
            (Kind::Record(record), Typed::Record(values)) => {
                let mut members: Map<String, Value> = record.fixed.iter().cloned().collect();
                for (name, value) in values {
                    let field = record.fields.iter().find(|field| field.name == *name).unwrap();
                    let value = match (field.optional, value) {
                        (true, Typed::Option(None)) => continue,
                        (true, Typed::Option(Some(value))) => untyped(mapping, &field.form, value),
                        (_, value) => untyped(mapping, &field.form, value),
                    };
                    members.insert(field.key.clone(), value);
                }
                Value::Object(members)
            }
            (Kind::Enum(cases), Typed::Enum(name)) => {
                json!(cases.iter().find(|case| case.name == *name).unwrap().value)
            }
            (Kind::Variant(cases), Typed::Variant(name, value)) => {
                match (&cases.iter().find(|case| case.name == *name).unwrap().value, value) {
                    (Payload::Fixed(json), None) => json.clone(),
                    (Payload::Form(form), Some(value)) => untyped(mapping, form, value),
                    other => panic!("{other:?}"),
                }
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn mapping(input: Value) -> Mapping {
    let list = catalog(&[("s".to_owned(), vec![json!({ "name": "t", "inputSchema": input })])]);
    Mapping::new(&packages(&["s"])[0], &list.servers()[0])
}

#[test]
fn json_becomes_typed_values_and_these_the_same_json_again() {
    let mapping = mapping(json!({
        "type": "object",
        "required": ["id", "kind", "parent"],
        "properties": {
            "id": { "type": "integer" },
            "kind": { "const": "page" },
            "fooBar": { "type": "string" }, "foo_bar": { "type": "string" },
            "from": { "enum": ["created-at", "UPDATED"] },
            "react": { "enum": ["+1", "-1"] },
            "note": { "type": ["string", "null"] },
            "since": { "type": ["string", "null"], "default": null },
            "pair": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "boolean" }] },
            "labels": { "type": "object", "additionalProperties": { "type": "array", "items": { "type": "string" } } },
            "any": {},
            "to": { "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "array", "items": { "type": "string" } }] },
            "parent": { "oneOf": [
                { "$ref": "#/$defs/Page" },
                { "type": "object", "properties": { "type": { "const": "workspace" } }, "required": ["type"] },
            ] },
        },
        "$defs": { "Page": { "type": "object", "properties": { "type": { "const": "page_id" }, "page_id": { "type": "string" } },
                             "required": ["type", "page_id"] } },
    }));
    let function = mapping.function("t").unwrap();
    let Payload::Form(form) = &function.arguments else { panic!("{function:?}") };
    let workspace = json!({ "type": "workspace" });
    for more in [
        json!({}),
        json!({ "fooBar": "a", "foo_bar": "b" }),
        json!({ "from": "UPDATED", "react": "-1" }),
        json!({ "note": null }),
        json!({ "note": "n", "since": "s" }),
        json!({ "pair": [1.5, true], "labels": { "a b": ["x"], "": [] } }),
        json!({ "any": { "deep": [1, null, { "er": "\u{0}" }] } }),
        json!({ "any": null, "to": 3 }),
        json!({ "to": "text" }),
        json!({ "to": ["a", "b"] }),
        json!({ "parent": { "type": "page_id", "page_id": "p" } }),
    ] {
        let mut given = json!({ "id": 9_007_199_254_740_993_i64, "kind": "page", "parent": workspace });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let value = typed(&mapping, form, &given).unwrap_or_else(|| panic!("{given} is not of {mapping:#?}"));
        assert_eq!(untyped(&mapping, form, &value), given, "{value:?}");
    }
    for wrong in [
        json!({}),
        json!({ "id": 1.5, "kind": "page", "parent": workspace }),
        json!({ "id": 1, "kind": "other", "parent": workspace }),
        json!({ "id": 1, "kind": "page", "parent": { "type": "elsewhere" } }),
        json!({ "id": 1, "kind": "page", "parent": workspace, "from": "never" }),
        json!({ "id": 1, "kind": "page", "parent": workspace, "pair": [1] }),
    ] {
        assert_eq!(typed(&mapping, form, &wrong), None, "{wrong}");
    }
}
