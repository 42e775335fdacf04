//! Whoever embeds the sandbox needs its crate alone: tools with schemas are checked, found and
//! described as those of a child server are.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use belljar_sandbox::{Effect, Outcome, SchemaError, Tool, ToolSet, json};

use crate::support::sandbox;

fn forecast() -> Tool {
    Tool::new("forecast", Effect::ReadOnly)
        .with_description("The weather of a city in the days to come.")
        .with_input(json!({
            "type": "object",
            "properties": { "city": { "type": "string" }, "days": { "type": "integer", "minimum": 1 } },
            "required": ["city"]
        }))
        .unwrap()
        .with_output(json!({ "type": "object", "properties": { "celsius": { "type": "number" } } }))
        .unwrap()
}

/// The outcome of a script, and how often the tool was called.
async fn run(source: &str) -> (Outcome, u64) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let tools = ToolSet::new().with_tool("weather", forecast(), move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(json!({ "celsius": 21 })) }
    });
    let outcome = sandbox().run(source).tools(Arc::new(tools)).await;
    (outcome, calls.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_against_the_schema_before_a_closure_is_called() {
    let (outcome, calls) = run("return (await weather.forecast({ city: 'Bern', days: 2 })).celsius").await;
    assert_eq!((outcome.result.unwrap().as_str(), calls), ("21", 1));
    for (arguments, problem) in [
        ("{ city: 3 }", "arguments.city: expected string, found number 3"),
        ("{ city: 'Bern', days: 0 }", "arguments.days: expected"),
        ("{ cty: 'Bern' }", "arguments.city: expected string, found nothing"),
        ("{ city: 'Bern', day: 2 }", "did you mean `days`?"),
    ] {
        let (outcome, calls) =
            run(&format!("const make = () => ({arguments}); return await weather.forecast(make())")).await;
        let error = outcome.result.unwrap_err();
        assert!(error.message.starts_with("TypeError: weather.forecast: "), "{}", error.message);
        assert!(error.message.contains(problem), "{arguments}: {}", error.message);
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("the tool is weather.forecast(")), "{error:?}");
        // It never left, so it is not among the calls.
        assert_eq!((calls, outcome.calls.len()), (0, 0), "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_an_embedder_are_found_and_described_in_scripts() {
    let (outcome, _) = run("const [found] = tools.search('weather of a city');
         const described = tools.describe('weather.forecast');
         return [found.path, found.declaration.includes('city: string'), described.description,
             described.inputSchema.required, tools.list('weather')[0].summary]")
    .await;
    assert_eq!(
        outcome.result.unwrap().to_value().unwrap(),
        json!([
            "weather.forecast",
            true,
            "The weather of a city in the days to come.",
            ["city"],
            "The weather of a city in the days to come."
        ])
    );
}

#[test]
fn a_schema_with_which_calls_cannot_be_checked_is_refused_when_it_is_given() {
    let tool = || Tool::new("t", Effect::External);
    assert!(matches!(tool().with_input(json!("string")), Err(SchemaError::NotAnObject)));
    assert!(matches!(tool().with_input(json!({ "type": "no such type" })), Err(SchemaError::Unfit(_))));
    assert!(matches!(tool().with_input(json!({ "$ref": "https://example.com/s" })), Err(SchemaError::Unfit(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_would_take_long_to_check_are_refused() {
    let tool = Tool::new("put", Effect::External)
        .with_input(json!({ "properties": { "all": { "type": "array", "uniqueItems": true } } }))
        .unwrap();
    let tools = ToolSet::new().with_tool("store", tool, async |_| Ok(json!(null)));
    let source = "await store.put({ all: Array.from({ length: 50000 }, (_, i) => ({ i })) })";
    let outcome = sandbox().run(source).tools(Arc::new(tools)).await;
    let error = outcome.result.unwrap_err();
    assert!(error.message.contains("too large to be checked: pass less at once"), "{}", error.message);
}

/// The error of a script carries what was meant as a field, beside the hint that says it.
#[tokio::test(flavor = "multi_thread")]
async fn the_tool_that_was_meant_is_a_field_of_the_error() {
    for source in [
        "return await weather.forecst({ city: 'Bern' })",
        "const name = 'forecst'; return await weather[name]({ city: 'Bern' })",
    ] {
        let (outcome, _) = run(source).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean weather.forecast?"), "{source}");
        let missing = error.missing.unwrap();
        assert_eq!(
            (&*missing.server, &*missing.tool, missing.near.as_deref()),
            ("weather", "forecst", Some("forecast"))
        );
    }
}
