//! No digit of a tool's result is lost silently, and everything else in JSON arrives by the rules
//! of `JSON.parse`.

use std::{sync::Arc, time::Duration};

use belljar_model::{JsonBounds, JsonText, Limits, LogLevel, Outcome};
use belljar_sandbox::{CallError, Directory, Effect, GrantedTool, Namespace, ToolPath, Tools, Unavailable};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};

use crate::support::run_with;

/// Answers each call of `child.answer` with a text that a `serde_json::Value` may not be able to
/// hold.
struct Answering(String);

impl Tools for Answering {
    fn namespaces(&self) -> Vec<Namespace> {
        vec![Namespace::new("child", vec!["child".to_owned()])]
    }

    fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let tool = GrantedTool { path: ToolPath::new("child", "answer"), effect: Effect::External };
        std::future::ready(Ok(Arc::new(Directory::new([("answer".to_owned(), tool)])))).boxed()
    }

    fn call(&self, _: &GrantedTool, _: JsonText, _: Duration) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let text = JsonText::parse(self.0.clone(), &JsonBounds::with_bytes(1 << 20)).unwrap();
        std::future::ready(Ok(text)).boxed()
    }

    fn list(&self, _: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        std::future::ready(Ok(JsonText::from_value(&json!([])))).boxed()
    }

    fn search(&self, _: String, _: usize) -> BoxFuture<'_, JsonText> {
        std::future::ready(JsonText::from_value(&json!([]))).boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        std::future::ready(Err(format!("there is no tool '{path}'"))).boxed()
    }
}

/// Runs a script over a tool whose result has this structured content, as JSON.
async fn run_on(structured: &str, source: &str) -> Outcome {
    let result = format!(r#"{{"content":[],"structuredContent":{structured}}}"#);
    run_with(source, &Limits::default(), Arc::new(Answering(result))).await
}

async fn value_on(structured: &str, source: &str) -> Value {
    let outcome = run_on(structured, source).await;
    outcome.result.unwrap_or_else(|error| panic!("{structured}\n{source}\n{error:#?}")).to_value().unwrap()
}

fn warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.logs.iter().filter(|entry| entry.level == LogLevel::Warn).map(|entry| entry.text.as_str()).collect()
}

#[tokio::test]
pub(crate) async fn an_integer_beyond_what_numbers_hold_exactly_arrives_as_its_digits() {
    for (digits, expected) in [
        ("9007199254740991", json!("number 9007199254740991")),
        ("-9007199254740991", json!("number -9007199254740991")),
        // Beyond that, some would be rounded and some not: all are texts, so that a field always
        // has one type.
        ("9007199254740992", json!("string 9007199254740992")),
        ("1152921504606846976", json!("string 1152921504606846976")),
        ("9007199254740993", json!("string 9007199254740993")),
        ("-9007199254740993", json!("string -9007199254740993")),
        ("1234567890123456789", json!("string 1234567890123456789")),
        ("18446744073709551615", json!("string 18446744073709551615")),
        ("123456789012345678901234567890", json!("string 123456789012345678901234567890")),
        // A fraction or an exponent shows that it is neither a count nor a name.
        ("1234567890123456789.0", json!("number 1234567890123456800")),
        ("1.5e300", json!("number 1.5e+300")),
        ("0.1", json!("number 0.1")),
    ] {
        let source = "const { v } = await child.answer({}); return `${typeof v} ${v}`";
        let outcome = run_on(&format!(r#"{{"v":{digits}}}"#), source).await;
        assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), expected, "{digits}");
        let is_text = expected.as_str().unwrap().starts_with("string");
        assert_eq!(warnings(&outcome).len(), usize::from(is_text), "{digits}\n{outcome:#?}");
    }
}

#[tokio::test]
async fn what_became_text_is_said_once_with_its_place_and_its_count() {
    let structured = r#"{"items":[{"id":1},{"id":1234567890123456789},{"id":1234567890123456788}]}"#;
    let source = "const a = await child.answer({}); await child.answer({}); return a.items.map(item => item.id)";
    let outcome = run_on(structured, source).await;
    let value = outcome.result.as_ref().unwrap().to_value().unwrap();
    assert_eq!(value, json!([1, "1234567890123456789", "1234567890123456788"]));
    let warnings = warnings(&outcome);
    assert_eq!(warnings.len(), 1, "{outcome:#?}");
    assert!(warnings[0].contains("$.items[1].id"), "{warnings:?}");
    // The remark on the first answer covers the others.
    assert!(warnings[0].starts_with("child.answer answered with 2 integers"), "{warnings:?}");
}

#[tokio::test]
async fn the_rule_holds_for_texts_that_are_json_and_for_whole_results() {
    let text = Value::from(r#"{"id":1234567890123456789}"#);
    let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"_meta":{{"n":1234567890123456789}}}}"#);
    let source = "const { id } = await child.answer({}); const raw = await tools.raw('child.answer', {}); return [id, raw._meta.n]";
    let outcome = run_with(source, &Limits::default(), Arc::new(Answering(result))).await;
    let value = outcome.result.unwrap().to_value().unwrap();
    assert_eq!(value, json!(["1234567890123456789", "1234567890123456789"]));
}

#[tokio::test]
pub(crate) async fn what_is_over_every_number_is_infinite_as_in_json_parse() {
    let source = "const { v } = await child.answer({}); return v.map(String)";
    assert_eq!(
        value_on(r#"{"v":[1e400,-1e400,1e-400,-0.0]}"#, source).await,
        json!(["Infinity", "-Infinity", "0", "0"])
    );
}

#[tokio::test]
pub(crate) async fn a_lone_surrogate_of_a_result_is_kept_as_in_json_parse() {
    let source = "const { v } = await child.answer({}); return [v.length, v.charCodeAt(1), v.isWellFormed()]";
    assert_eq!(value_on(r#"{"v":"a\ud800b"}"#, source).await, json!([3, 0xd800, false]));
    assert_eq!(value_on(r#"{"v":"\ud83d\ude00!"}"#, source).await, json!([3, 0xde00, true]));
}

#[tokio::test]
pub(crate) async fn of_equal_keys_the_last_counts_as_in_json_parse() {
    let source = "return JSON.stringify(await child.answer({}))";
    assert_eq!(value_on(r#"{"a":1,"b":2,"a":3}"#, source).await, json!(r#"{"a":3,"b":2}"#));
}

#[tokio::test]
pub(crate) async fn a_key_that_is_called_proto_is_a_key() {
    let source = "const v = await child.answer({}); return [Object.keys(v), v.polluted ?? 'no', Object.getPrototypeOf(v) === Object.prototype]";
    assert_eq!(
        value_on(r#"{"__proto__":{"polluted":1},"a":2}"#, source).await,
        json!([["__proto__", "a"], "no", true])
    );
}

#[tokio::test]
async fn what_json_parse_rounds_is_said_once_with_its_place_and_number() {
    let text = r#"'{"rows":[{"id":9007199254740993},{"id":-9007199254740995,"safe":9007199254740992}]}'"#;
    let outcome = run_on("1", &format!("const text = {text};\nJSON.parse(text);\nJSON.parse(text).rows[0].id")).await;
    assert_eq!(outcome.result.as_ref().unwrap().as_str(), "9007199254740992");
    assert_eq!(
        warnings(&outcome),
        [
            "JSON.parse rounded 4 integers beyond 2^53, which a number cannot hold: first 9007199254740993 at $.rows[0].id (line 2); \
          tools.parse(text) gives such integers as strings of their digits"
        ]
    );
    let outcome = run_on("1", &format!("JSON.parse({text}).none.x")).await;
    assert!(
        outcome.result.is_err() && warnings(&outcome)[0].starts_with("JSON.parse rounded 2 integers"),
        "{outcome:#?}"
    );
    // Numbers that keep their digits, or that the author handles, are not reported.
    for source in [
        "JSON.parse('[9007199254740991, 9007199254740992, 100000000000000000000, 1.5, 1e400, -0]').map(String)",
        "JSON.parse('[9007199254740993]', (key, value, { source }) => (source ? BigInt(source) : value))[0] - 1n + ''",
        "tools.parse('[9007199254740993]')",
    ] {
        let outcome = run_on("1", source).await;
        assert!(outcome.is_ok() && warnings(&outcome).is_empty(), "{source}\n{outcome:#?}");
    }
}
