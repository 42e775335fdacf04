use belljar_arguments::{MAX_SCHEMA_BYTES, VISIT};
use belljar_catalog::namespaces;
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::json;

use super::*;

fn checks(schema: &Value) -> Checks {
    checks_with(schema, None)
}

fn checks_with(schema: &Value, workers: Option<CheckWorkers>) -> Checks {
    let definition = ToolDefinition::from_json(json!({ "name": "t", "inputSchema": schema })).expect("a tool");
    let names = namespaces(&["s"]).remove(0);
    Checks::new(
        Arc::new(ServerCatalog::ready(names, vec![definition], &EffectRules::default())),
        workers.map(Arc::new),
        Arc::default(),
    )
}

/// The problem reported for some arguments, or `None` if they are accepted.
async fn said(schema: &Value, arguments: Value) -> Option<String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let admitted = checks(schema).admit("t", arguments.clone()).await;
    match admitted {
        Ok(admitted) => {
            assert_eq!(admitted.arguments, arguments);
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
            json!({ "name": "x".repeat(1_000) + "\n" }),
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
    // Deep, but within bounds, so it is checked.
    assert_eq!(
        said(&deep, json!({ "a": 1 })).await.as_deref(),
        Some("s.t: arguments.a: expected object, found number 1")
    );
}

#[tokio::test]
async fn a_schema_that_multiplies_is_not_begun() {
    // Each part applies the next one twice to the same value: two to the power of forty visits.
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/p{}", level + 1) });
        definitions.insert(format!("p{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("p40".into(), json!({ "type": "object" }));
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/p0" });
    assert_eq!(said(&schema, json!({ "a": 1 })).await, None);

    // The same, one level of the value for each part.
    let twice = json!([{ "properties": { "a": { "$ref": "#" } }, "required": ["b"] }, { "properties": { "a": { "$ref": "#" } }, "required": ["c"] }]);
    let schema = json!({ "anyOf": twice });
    let mut value = json!({});
    for _ in 0..100 {
        value = json!({ "a": value });
    }
    assert_eq!(said(&schema, value).await, None);
    // A value of a few levels, checked against the same schema.
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
async fn a_schema_is_looked_at_once_however_many_calls_wait_for_it() {
    let checks = checks(&person());
    let looks: Vec<_> = futures::future::join_all((0..20).map(|_| checks.check_of("t"))).await;
    let first = looks.first().cloned().flatten().expect("a check");
    assert!(looks.iter().flatten().all(|check| Arc::ptr_eq(check, &first)) && looks.iter().all(Option::is_some));
    assert!(checks.check_of("no such tool").await.is_none());
    assert_eq!(checks.known.lock().len(), 1);
}

/// Whether a check of these arguments is made in place, according to the estimate.
fn fits_in_place(schema: &Value, arguments: &Value) -> bool {
    let plan = Plan::of(schema).expect("a schema with a bound");
    plan.is_small && plan.fits_in_place(arguments)
}

#[test]
fn what_a_child_and_a_script_can_make_costly_is_not_checked_in_place() {
    let text = |length| json!({ "a": "a".repeat(length) });
    let on_a = |keyword: Value| json!({ "properties": { "a": keyword } });
    let mut chain = json!({ "type": "object" });
    for _ in 0..120 {
        chain = json!({ "allOf": [chain] });
    }
    let below_itself = json!({ "properties": { "a": { "$ref": "#" } }, "allOf": [chain] });
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    // Arrays of arrays are hashed by their contents, so all of these have the same hash.
    let mut nests = vec![json!([])];
    for _ in 0..100 {
        nests.push(json!([nests.last()]));
    }
    for (why, schema, arguments) in [
        (
            "many patterns over a long text",
            json!({ "properties": { "a": { "anyOf": (0..1000).map(|n| json!({ "pattern": format!("a.{{60}}[^ab#]{n}") })).collect::<Vec<_>>() } } }),
            text(1_000_000),
        ),
        ("one pattern over a long text", on_a(json!({ "pattern": "a.{60}[^ab#]" })), text(1_000)),
        (
            "a pattern over long names",
            json!({ "patternProperties": { "a.{60}b": {} } }),
            json!({ "a".repeat(1_000): 1 }),
        ),
        (
            "a pattern over the names",
            json!({ "propertyNames": { "pattern": "a.{60}b" } }),
            json!({ "a".repeat(1_000): 1 }),
        ),
        (
            "many options, each a tree",
            on_a(json!({ "enum": (0..500).map(|n| json!([n, [n]])).collect::<Vec<_>>() })),
            json!({ "a": vec![json!([1]); 1_000] }),
        ),
        ("elements of equal hashes", on_a(json!({ "uniqueItems": true })), json!({ "a": nests })),
        (
            "large numbers of equal hashes",
            on_a(json!({ "uniqueItems": true })),
            json!({ "a": (0..1_000).map(|n| u64::MAX - n).collect::<Vec<_>>() }),
        ),
        ("fractions", on_a(json!({ "items": { "multipleOf": 1e-300 } })), json!({ "a": vec![1.7e300; 100] })),
        ("many elements", on_a(json!({ "items": { "type": "string" } })), json!({ "a": vec!["x"; 100_000] })),
        ("an encoded text", on_a(json!({ "contentMediaType": "application/json" })), text(1_000_000)),
        ("a length that is counted", on_a(json!({ "maxLength": 5 })), text(1_000_000)),
        (
            "a large value that each alternative keeps",
            on_a(json!({ "anyOf": vec![json!({ "type": "string" }); 100] })),
            json!({ "a": vec![0; 1_000] }),
        ),
        (
            "a long name that each problem repeats",
            json!({ "additionalProperties": { "required": (0..500).map(|n| n.to_string()).collect::<Vec<_>>() } }),
            json!({ "a".repeat(10_000): {} }),
        ),
        ("calls inside calls", below_itself, deep),
    ] {
        assert!(!fits_in_place(&schema, &arguments), "{why}");
    }
}

#[test]
fn what_tools_ask_of_everyday_arguments_is_checked_in_place() {
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    for (schema, arguments) in [
        (person(), json!({ "name": "ada", "age": 36, "tags": ["a", "b"], "body": { "kind": "text", "text": "x" } })),
        // The content of a file, which no keyword inspects.
        (
            json!({ "properties": { "path": { "type": "string" }, "content": { "type": "string" } }, "required": ["path"] }),
            json!({ "path": "a", "content": "x".repeat(1_000_000) }),
        ),
        (
            json!({ "properties": { "id": { "pattern": uuid }, "ids": { "items": { "pattern": uuid } } } }),
            json!({ "id": "0".repeat(36), "ids": vec!["0".repeat(36); 4] }),
        ),
        (
            json!({ "properties": { "rows": { "items": { "type": "object", "properties": { "n": { "type": "number" } } } } } }),
            json!({ "rows": vec![json!({ "n": 1 }); 300] }),
        ),
    ] {
        assert!(fits_in_place(&schema, &arguments), "{schema}");
    }
}

#[test]
fn what_is_large_to_compile_is_not_compiled_in_this_process() {
    let all_of = |parts: Vec<Value>| json!({ "allOf": parts });
    let mut folded = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/p{}", level + 1) });
        folded.insert(format!("p{level}"), json!({ "allOf": [next, next] }));
    }
    folded.insert("p40".into(), json!({ "type": "object" }));
    for (why, schema) in [
        ("a long schema", json!({ "description": "x".repeat(100_000) })),
        ("many patterns", all_of((0..100).map(|n| json!({ "pattern": format!("a{n}") })).collect())),
        ("a huge pattern", json!({ "pattern": "(((a{100}){100}){100}){100}" })),
        ("large patterns", all_of((0..20).map(|n| json!({ "pattern": format!("{n}.{{60}}") })).collect())),
        ("parts that multiply", json!({ "$defs": folded, "$ref": "#/$defs/p0", "unevaluatedProperties": false })),
    ] {
        assert!(!Plan::of(&schema).expect("a plan").is_small, "{why}");
    }
    // A long name is part of the paths to five thousand others, which are not written out.
    let long = json!({ "properties": { "x".repeat(200_000): { "properties": (0..4_000).map(|n| (n.to_string(), json!(true))).collect::<Map<_, _>>() } } });
    assert!(!Plan::of(&long).expect("a plan").is_small);
}

/// Counts the visits of a validator with a keyword of its own, and compares them with the estimate,
/// for random schemas and values.
#[test]
fn an_estimate_is_never_less_than_the_visits_that_a_check_makes() {
    use jsonschema::{Keyword, ValidationError, paths::Location};
    use std::sync::atomic::AtomicU64;
    struct Counting(Arc<AtomicU64>);
    impl<'i> Keyword<'i> for Counting {
        fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn is_valid(&self, _: &'i Value) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            true
        }
    }
    type Made<'a> = Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>>;
    fn factory(counted: Arc<AtomicU64>) -> impl for<'a> Fn(&'a Map<String, Value>, &'a Value, Location) -> Made<'a> {
        move |_, _, _| Ok(Box::new(Counting(counted.clone())))
    }
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut checked = 0;
    for _ in 0..3_000 {
        let schema = chance.schema(4);
        let value = json!({ "a": chance.value(4), "b": chance.value(3) });
        let schema = json!({ "properties": { "a": schema.clone() }, "additionalProperties": schema, "count": true });
        let plan = Plan::of(&schema).expect("a schema with a bound");
        let Some(estimate) = plan.cost_within(u64::MAX, &value) else { continue };
        let visits = Arc::new(AtomicU64::new(0));
        let factory = factory(visits.clone());
        let validator = jsonschema::options().with_keyword("count", factory).build(&schema).expect("a schema");
        if !validator.is_valid(&value) {
            validator.iter_errors(&value).count();
        }
        let visits = visits.load(Ordering::Relaxed);
        assert!(visits.saturating_mul(VISIT) <= estimate, "{visits} visits for {estimate}: {schema} {value}");
        checked += u64::from(visits > 3);
    }
    assert!(checked > 500, "{checked}");
}

/// Random numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn name(&mut self) -> &'static str {
        ["a", "b", "c", "d"][usize::try_from(self.below(4)).expect("less than four")]
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.below(5)),
            2 => json!(self.name()),
            3 => json!(true),
            4 | 5 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object((0..self.below(5)).map(|_| (self.name().to_owned(), self.value(depth - 1))).collect()),
        }
    }

    fn schema(&mut self, depth: u64) -> Value {
        let mut schema = json!({ "count": true });
        if depth == 0 {
            let index = usize::try_from(self.below(4)).expect("less than four");
            schema["type"] = json!(["object", "array", "string", "number"][index]);
            return schema;
        }
        for _ in 0..=self.below(2) {
            let one = self.schema(depth - 1);
            let (keyword, value) = match self.below(16) {
                0 => ("allOf", json!([one, self.schema(depth - 1)])),
                1 => ("anyOf", json!([one, self.schema(depth - 1), { "type": "object", "count": true }])),
                2 => ("oneOf", json!([one, self.schema(depth - 1)])),
                3 => ("not", one),
                4 => ("items", one),
                5 => ("contains", one),
                6 => ("additionalProperties", one),
                7 => ("propertyNames", one),
                8 => ("patternProperties", json!({ "^[ab]": one, "c": self.schema(depth - 1) })),
                9 => ("prefixItems", json!([one, self.schema(depth - 1)])),
                10 => ("dependentSchemas", json!({ "a": one })),
                11 => ("if", one),
                12 => ("then", one),
                13 => ("unevaluatedProperties", json!(false)),
                14 => ("unevaluatedItems", one),
                _ => ("properties", json!({ self.name(): one, "b": self.schema(depth - 1) })),
            };
            schema[keyword] = value;
        }
        schema
    }
}

/// A script can make a worker fail, but the calls of others are checked again soon.
#[cfg(unix)]
#[tokio::test]
async fn a_tool_at_which_a_worker_failed_is_checked_again_after_a_pause() {
    let folder = tempfile::tempdir().expect("a folder");
    let tries = folder.path().join("tries");
    let script = format!("echo x >> '{}'", tries.display());
    let arguments = vec!["-c".into(), script.into()];
    let program = belljar_worker::WorkerProgram { program: "/bin/sh".into(), arguments };
    let schema = json!({ "properties": { "a": { "items": { "type": "string", "pattern": "^[a-z]+$" } } } });
    let checks = checks_with(&schema, Some(CheckWorkers::new(program)));
    let tried = async || {
        let Value::Object(arguments) = json!({ "a": vec!["a"; 20_000] }) else { panic!("an object") };
        assert!(checks.admit("t", arguments).await.is_ok(), "the child judges it itself");
        std::fs::read_to_string(&tries).expect("it was tried").lines().count()
    };
    assert_eq!((tried().await, tried().await), (1, 1), "one worker is lost, and no more");
    tokio::time::pause();
    tokio::time::advance(PAUSE).await;
    tokio::time::resume();
    assert_eq!((tried().await, tried().await), (2, 2));
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
#[tokio::test]
async fn checks_that_are_passed_over_since_others_are_under_way_are_said_once() {
    let log = Log::default();
    let sink = log.clone();
    let warnings = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::WARN)
        .with_writer(move || sink.clone());
    let _logging = tracing::subscriber::set_default(warnings.finish());
    // A worker that never answers, so its place stays occupied.
    let arguments = vec!["-c".into(), "exec sleep 1000".into()];
    let program = belljar_worker::WorkerProgram { program: "/bin/sh".into(), arguments };
    let schema = json!({ "properties": { "a": { "items": { "type": "string", "pattern": "^[a-z]+$" } } } });
    let checks = Arc::new(checks_with(&schema, Some(CheckWorkers::new(program))));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let checks = checks.clone();
        let Value::Object(arguments) = json!({ "a": vec!["a"; 5_000] }) else { panic!("an object") };
        calls.spawn(async move { checks.admit("t", arguments).await.is_ok() });
    }
    // 32 of the forty have a place.
    for _ in 0..8 {
        assert!(calls.join_next().await.expect("a call").expect("no panic"));
    }
    let said = String::from_utf8(log.0.lock().clone()).expect("a text");
    assert_eq!(said.matches("too many other checks are under way").count(), 1, "{said}");
    assert!(said.contains("WARN") && said.contains("tool=\"s.t\""), "{said}");
}

#[test]
fn a_refusal_is_short_and_quickly_written_whatever_the_schema_repeats() {
    let large: Vec<String> = (0..2_000).map(|n| format!("{n}-{}", "x".repeat(100))).collect();
    let alternatives = json!({ "properties": { "a": { "anyOf": vec![json!({ "$ref": "#/$defs/large" }); 3_000] } }, "$defs": { "large": { "enum": large } } });
    let nested = (0..7).fold(json!({ "required": (0..50).map(|n| n.to_string()).collect::<Vec<_>>() }), |inner, _| {
        json!({ "anyOf": [{ "minProperties": 1_000, "properties": {} }, { "allOf": [inner.clone(), inner] }] })
    });
    let names: Map<String, Value> = (0..2_000).map(|n| (format!("name-of-an-argument-{n}"), json!({}))).collect();
    let unknown: Map<String, Value> = (0..2_000).map(|n| (format!("argument-of-a-name-{n}"), json!(1))).collect();
    for (schema, arguments) in [
        (alternatives, json!({ "a": "y".repeat(100) })),
        (json!({ "properties": { "a": nested } }), json!({ "a": {} })),
        (json!({ "properties": names.clone(), "additionalProperties": false }), Value::Object(unknown.clone())),
        (json!({ "properties": names.clone(), "required": names.keys().collect::<Vec<_>>() }), Value::Object(unknown)),
        (json!({ "properties": { "a": { "not": { "enum": ["a", "b".repeat(100_000)] } } } }), json!({ "a": "a" })),
        (json!({ "properties": { "a": { "const": vec![0; 50_000] } } }), json!({ "a": 1 })),
    ] {
        let problems = Compiled::new(schema).expect("a schema").problems(&arguments).expect("problems");
        assert!(problems.len() < 4_000, "{} bytes: {}", problems.len(), problems.chars().take(300).collect::<String>());
    }
}

/// Measures checks beside their estimates: run with `--ignored --nocapture` to set the figures in
/// `cost` again.
#[test]
#[ignore = "a measurement: it prints, and asserts nothing"]
fn calibration() {
    let on_a = |keyword: Value| json!({ "properties": { "a": keyword } });
    let mut cases = vec![
        ("an everyday call", person(), json!({ "name": "ada", "age": 36, "tags": ["a", "b"], "role": "admin" })),
        ("a call that is refused", person(), json!({ "name": 1, "age": "x", "body": {} })),
        ("elements", on_a(json!({ "items": { "type": "string" } })), json!({ "a": vec!["x"; 1_000] })),
        ("wrong elements", on_a(json!({ "items": { "type": "string" } })), json!({ "a": vec![1; 300] })),
        ("alternatives", on_a(json!({ "anyOf": vec![json!({ "type": "string" }); 50] })), json!({ "a": vec![0; 50] })),
        (
            "options",
            on_a(json!({ "enum": (0..1_000).map(|n| n.to_string()).collect::<Vec<_>>() })),
            json!({ "a": "x" }),
        ),
        (
            "trees as options",
            on_a(json!({ "enum": (0..50).map(|n| json!([[1, 2, 3], n])).collect::<Vec<_>>() })),
            json!({ "a": [[1, 2, 3], 99] }),
        ),
        (
            "plain elements that differ",
            on_a(json!({ "uniqueItems": true })),
            json!({ "a": (0..1_000).map(|n| n.to_string()).collect::<Vec<_>>() }),
        ),
        (
            "elements of equal hashes",
            on_a(json!({ "uniqueItems": true })),
            json!({ "a": (0..60).map(|n| u64::MAX - n).collect::<Vec<_>>() }),
        ),
        ("fractions", on_a(json!({ "items": { "multipleOf": 1e-300 } })), json!({ "a": vec![1.7e300; 4] })),
        ("small fractions", on_a(json!({ "items": { "multipleOf": 0.01 } })), json!({ "a": vec![12.34; 4] })),
        ("whole multiples", on_a(json!({ "items": { "multipleOf": 7 } })), json!({ "a": vec![1e300; 50] })),
        (
            "JSON in a text",
            on_a(json!({ "contentMediaType": "application/json" })),
            json!({ "a": format!("[{}0]", "0,".repeat(2_000)) }),
        ),
        ("a length", on_a(json!({ "maxLength": 5 })), json!({ "a": "é".repeat(50_000) })),
        (
            "names",
            json!({ "additionalProperties": { "type": "string" }, "required": ["x"] }),
            json!((0..500).map(|n| (n.to_string(), json!("x"))).collect::<Map<_, _>>()),
        ),
    ];
    for pattern in [
        "^[a-z]+$",
        "a.{60}[^ab#]",
        "(a|b)*a(a|b){12}c",
        "[^x]{30}y",
        "(?i)(?:a.*){8}y",
        r"\bé\w+y",
        "a.{200}[^ab#]y",
        r"(?:[ab]\pL?){60}y",
        "(?:a?){40}a{40}y",
    ] {
        // Random texts drive an automaton from state to state; it keeps only a few of them.
        let mut chance = Chance(7);
        let by_chance: String =
            (0..20_000).map(|_| ["a", "b", "é", "#"][usize::try_from(chance.below(4)).expect("four")]).collect();
        let by_chance_of_two: String =
            (0..20_000).map(|_| ["a", "b"][usize::try_from(chance.below(2)).expect("two")]).collect();
        for text in ["a".repeat(200), "abcé ".repeat(40), by_chance, by_chance_of_two] {
            cases.push(("a pattern", on_a(json!({ "pattern": pattern })), json!({ "a": text })));
        }
    }
    for (name, schema, arguments) in cases {
        let plan = Plan::of(&schema).expect("a plan");
        let estimate = plan.cost_within(u64::MAX, &arguments);
        let begun = std::time::Instant::now();
        let compiled = Compiled::new(schema.clone()).expect("a schema");
        let compiling = begun.elapsed();
        let longest = |work: &mut dyn FnMut()| {
            let begun = std::time::Instant::now();
            work();
            let first = begun.elapsed();
            let begun = std::time::Instant::now();
            (0..100).for_each(|_| work());
            (first, begun.elapsed() / 100)
        };
        let (first, usual) = longest(&mut || drop(compiled.problems(&arguments)));
        let (_, estimating) = longest(&mut || assert!(plan.cost_within(u64::MAX, &arguments).is_some()));
        let pattern = schema.pointer("/properties/a/pattern").and_then(Value::as_str).unwrap_or_default();
        println!(
            "{name} {pattern}: estimate {:?} µs, first check {first:?}, then {usual:?}, to estimate {estimating:?}, to compile {compiling:?}",
            estimate.map(|estimate| estimate / 1_000)
        );
    }
}
