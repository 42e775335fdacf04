use belljar_catalog::namespaces;
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::json;

use super::*;

fn checks(schema: &Value) -> Checks {
    let definition = ToolDefinition::from_json(json!({ "name": "t", "inputSchema": schema })).expect("a tool");
    let names = namespaces(&["s"]).remove(0);
    Checks::new(Arc::new(ServerCatalog::ready(names, vec![definition], &EffectRules::default())))
}

/// What is said of arguments: nothing, if they are admitted.
async fn said(schema: &Value, arguments: Value) -> Option<String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let admitted = checks(schema).admit("t", arguments.clone()).await;
    match admitted {
        Ok(given_back) => {
            assert_eq!(given_back, arguments);
            None
        }
        Err(refusal) => Some(refusal.message),
    }
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 2, "pattern": "^[a-z]+$" },
            "age": { "type": "integer", "minimum": 0, "maximum": 150 },
            "role": { "enum": ["admin", "editor", "viewer"] },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 2, "uniqueItems": true },
            "address": {
                "type": "object",
                "properties": { "street": { "type": "string" }, "no": { "type": ["string", "number"] } },
                "required": ["street"],
                "additionalProperties": false
            },
            "when": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "body": { "anyOf": [
                { "type": "object", "properties": { "kind": { "const": "text" }, "text": { "type": "string" } }, "required": ["kind", "text"] },
                { "type": "object", "properties": { "kind": { "const": "image" }, "url": { "type": "string" } }, "required": ["kind", "url"] }
            ] }
        },
        "required": ["name"]
    })
}

#[tokio::test]
async fn every_problem_names_its_place_what_was_expected_and_what_was_found() {
    for (arguments, problem) in [
        (json!({ "name": 3 }), "arguments.name: expected string, found number 3"),
        (json!({}), "arguments.name: expected string, found nothing"),
        (json!({ "name": "a" }), "arguments.name: expected at least 2 characters, found string \"a\""),
        (json!({ "name": "A1" }), "arguments.name: expected a string that matches ^[a-z]+$, found string \"A1\""),
        (json!({ "name": "ada", "age": 1.5 }), "arguments.age: expected integer, found number 1.5"),
        (json!({ "name": "ada", "age": -1 }), "arguments.age: expected a number of at least 0, found number -1"),
        (json!({ "name": "ada", "age": "7" }), "arguments.age: expected integer, found string \"7\""),
        (
            json!({ "name": "ada", "role": "Editors" }),
            "arguments.role: expected one of \"admin\", \"editor\", \"viewer\", found string \"Editors\": did you mean \"editor\"?",
        ),
        (json!({ "name": "ada", "tags": "x" }), "arguments.tags: expected array, found string \"x\""),
        (json!({ "name": "ada", "tags": ["x", null] }), "arguments.tags[1]: expected string, found null"),
        (
            json!({ "name": "ada", "tags": ["x", "x"] }),
            "arguments.tags: expected elements that all differ, found an array of 2 elements",
        ),
        (json!({ "name": "ada", "address": {} }), "arguments.address.street: expected string, found nothing"),
        (
            json!({ "name": "ada", "address": { "street": "x", "no": true } }),
            "arguments.address.no: expected number or string, found boolean true",
        ),
        (
            json!({ "name": "ada", "address": { "street": "x", "nr": 5 } }),
            "arguments.address.nr: there is no argument of this name: did you mean `no`?",
        ),
        (
            json!({ "name": "ada", "address": { "street": "x", "zebra crossing": 5 } }),
            "arguments.address[\"zebra crossing\"]: there is no argument of this name",
        ),
        (json!({ "name": "ada", "when": 5 }), "arguments.when: expected string or null, found number 5"),
        (json!({ "name": "ada", "body": { "kind": "image" } }), "arguments.body.url: expected string, found nothing"),
        (json!({ "name": "ada", "body": "x" }), "arguments.body: expected object, found string \"x\""),
        (
            json!({ "fullName": "ada" }),
            "arguments.name: expected string, found nothing (there is `fullName`: did you mean `name`?)",
        ),
        (
            json!({ "person": "ada" }),
            "arguments.name: expected string, found nothing (there is `person`: did you mean `name`?)",
        ),
        (
            json!({ "name": 1, "age": "x", "tags": 5, "when": 5, "address": 1 }),
            "arguments.name: expected string, found number 1; arguments.age: expected integer, found string \"x\"; \
             arguments.tags: expected array, found number 5; and 2 more",
        ),
        (
            json!({ "name": 1, "tags": vec![0; 300] }),
            "arguments.name: expected string, found number 1; arguments.tags: expected at most 2 elements, found an array of 300 \
             elements; arguments.tags: expected elements that all differ, found an array of 300 elements; and many more",
        ),
        (
            json!({ "name": "x".repeat(100_000) + "\n" }),
            "arguments.name: expected a string that matches ^[a-z]+$, found string \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\"",
        ),
    ] {
        assert_eq!(said(&person(), arguments.clone()).await, Some(format!("s.t: {problem}")), "{arguments}");
    }
    let required =
        json!({ "properties": { "a": { "type": "string", "default": "x" }, "b": {} }, "required": ["a", "b"] });
    assert_eq!(said(&required, json!({ "b": 1 })).await, None);
    assert_eq!(said(&required, json!({})).await.as_deref(), Some("s.t: arguments.b: expected a value, found nothing"));
    for arguments in [json!({ "name": "ada" }), json!({ "name": "ada", "unknown": 1, "tags": ["a"], "when": null })] {
        assert_eq!(said(&person(), arguments).await, None);
    }
}

#[tokio::test]
async fn the_hint_is_the_tool_s_declaration_on_one_line() {
    let refusal = checks(&person()).admit("t", Map::new()).await.expect_err("refused");
    assert!(refusal.hint.starts_with("the tool is s.t(") && !refusal.hint.contains('\n'), "{}", refusal.hint);
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_lets_the_call_through() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..100 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    for (why, schema) in [
        ("no schema at all", json!({ "type": 5, "properties": [] })),
        ("a pattern that is none", json!({ "properties": { "a": { "pattern": "(" } } })),
        ("a pattern that looks around", json!({ "properties": { "a": { "pattern": "(?=x)y" } } })),
        ("a pattern that is huge", json!({ "properties": { "a": { "pattern": "(((a{100}){100}){100}){100}" } } })),
        ("a reference to a file", json!({ "properties": { "a": { "$ref": "file:///etc/passwd" } } })),
        ("a reference to the network", json!({ "$ref": "https://example.com/schema.json" })),
        ("a reference to nothing", json!({ "$ref": "#/definitions/none" })),
        ("an endless reference", json!({ "$ref": "#" })),
        (
            "an endless circle",
            json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "anyOf": [{ "$ref": "#" }] } } }),
        ),
        ("too long", json!({ "description": "x".repeat(MAX_SCHEMA_BYTES) })),
        ("too many parts", json!({ "allOf": vec![json!({}); 6_000] })),
        ("dynamic references", json!({ "$dynamicRef": "#node" })),
    ] {
        assert_eq!(said(&schema, json!({ "a": 1 })).await, None, "{why}");
    }
    // Deep, but within bounds: it is checked.
    assert_eq!(
        said(&deep, json!({ "a": 1 })).await.as_deref(),
        Some("s.t: arguments.a: expected object, found number 1")
    );
}

#[tokio::test]
async fn a_schema_that_multiplies_is_not_begun() {
    // Each part asks the next one twice, of the same value: two to the power of forty visits.
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/p{}", level + 1) });
        definitions.insert(format!("p{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("p40".into(), json!({ "type": "object" }));
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/p0" });
    let begun = std::time::Instant::now();
    assert_eq!(said(&schema, json!({ "a": 1 })).await, None);

    // The same, a level of the value for each part.
    let twice = json!([{ "properties": { "a": { "$ref": "#" } }, "required": ["b"] }, { "properties": { "a": { "$ref": "#" } }, "required": ["c"] }]);
    let schema = json!({ "anyOf": twice });
    let mut value = json!({});
    for _ in 0..100 {
        value = json!({ "a": value });
    }
    assert_eq!(said(&schema, value).await, None);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    // A value of a few levels is checked against the very same schema.
    assert!(said(&schema, json!({ "a": {} })).await.is_some());
}

#[tokio::test]
async fn a_recursive_schema_is_checked_at_every_level() {
    let schema = json!({
        "type": "object",
        "properties": { "root": { "$ref": "#/$defs/node" } },
        "$defs": { "node": {
            "type": "object",
            "properties": { "value": { "type": "number" }, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } },
            "required": ["value"]
        } }
    });
    let bad = json!({ "root": { "value": 1, "children": [{ "value": 2, "children": [{ "value": "3" }] }] } });
    assert_eq!(
        said(&schema, bad).await.as_deref(),
        Some("s.t: arguments.root.children[0].children[0].value: expected number, found string \"3\"")
    );
    assert_eq!(said(&schema, json!({ "root": { "value": 1, "children": [{ "value": 2 }] } })).await, None);
}

#[tokio::test]
async fn a_schema_is_compiled_once() {
    let checks = checks(&person());
    let first = checks.check_of("t").await.expect("a check");
    let second = checks.check_of("t").await.expect("a check");
    assert!(Arc::ptr_eq(&first, &second));
    assert!(checks.check_of("no such tool").await.is_none());
    assert_eq!(checks.lock().len(), 1);
}
