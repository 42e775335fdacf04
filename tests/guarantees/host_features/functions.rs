//! A host's functions are called like functions of the language.

use belljar_model::{Effect, ErrorKind};
use belljar_sandbox::{CallStyle, Program, ScriptValue, Thrown, Tool, ToolSet};
use serde_json::json;

use super::{error, host, outcome, value};

fn functions() -> ToolSet {
    ToolSet::new()
        .with_function(CallStyle::Positional, Tool::new("call_tool", Effect::External), async |given| {
            Ok(ScriptValue::List(given))
        })
        .with_function(CallStyle::Object, Tool::new("external_add", Effect::ReadOnly), async |given| {
            let number = |name: &str| match given.first().and_then(|given| given.get(name)) {
                Some(ScriptValue::Number(number)) => number.as_f64().ok_or("not a number"),
                _ => Err("not a number"),
            };
            Ok(json!(number("a")? + number("b")?).into())
        })
        .with_function(CallStyle::Positional, Tool::new("fail", Effect::ReadOnly), async |given| {
            let text = |at: usize| given.get(at).and_then(ScriptValue::as_str).unwrap_or_default().to_owned();
            Err::<ScriptValue, _>(Thrown::named(text(0), text(1)))
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_of_the_host_is_a_global() {
    let script = "[await call_tool('a', { b: [1] }, null), await external_add({ a: 1, b: 2 }), typeof call_tool]";
    assert_eq!(value(script, functions()).await, json!([["a", { "b": [1] }, null], 3, "function"]));
    // Called at the same time, and through other names.
    let script = "const f = call_tool; (await Promise.all([1, 2, 3].map((i) => f(i)))).flat()";
    assert_eq!(value(script, functions()).await, json!([1, 2, 3]));
    let outcome =
        outcome("await call_tool('x'); await fail('TypeError', 'no').catch(() => 1)".into(), functions()).await;
    let calls: Vec<(&str, bool)> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("call_tool", true), ("fail", false)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_by_position_are_never_refused_for_their_type() {
    let given = "host.take()|host.take('q')|host.take(1, 2)|host.take(null)|host.take([1])|host.take(true)";
    for call in given.split('|') {
        let arguments = call.trim_start_matches("host.take(").trim_end_matches(')').replace('\'', "\"");
        let expected: serde_json::Value = serde_json::from_str(&format!("[{arguments}]")).unwrap();
        // Whether or not it is certain that the script makes the call.
        assert_eq!(value(format!("await {call}"), host(Vec::new())).await, expected);
        assert_eq!(value(format!("if (Date) return await {call}"), host(Vec::new())).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_takes_an_object_says_so_by_its_own_name() {
    let error = error("await external_add('a')", functions()).await;
    assert_eq!(error.kind, ErrorKind::Exception);
    assert!(error.message.contains("external_add takes one object"), "{}", error.message);
    assert_eq!((error.line, error.column), (Some(1), Some(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_function_throws_has_the_name_and_the_message_of_the_host() {
    let script =
        "try { await fail('TypeError', 'no') } catch (e) { return [e.name, e.message, e instanceof TypeError] }";
    assert_eq!(value(script, functions()).await, json!(["TypeError", "no", true]));
    let script = "try { await fail('QuotaError', 'no') } catch (e) { return [e.name, e.message, String(e), e instanceof Error] }";
    assert_eq!(value(script, functions()).await, json!(["QuotaError", "no", "QuotaError: no", true]));
    let script =
        "try { await fail('ToolError', 'no') } catch (e) { return [e.name, e.message, e instanceof ToolError] }";
    assert_eq!(value(script, functions()).await, json!(["ToolError", "no", true]));
    for (script, kind, name) in [
        ("await fail('RangeError', 'too far')", ErrorKind::Exception, "RangeError"),
        ("await fail('ToolError', 'too far')", ErrorKind::Tool, "ToolError"),
        ("class Far extends Error { name = 'Far' } throw new Far('too far')", ErrorKind::Exception, "Far"),
        ("throw 'too far'", ErrorKind::Exception, "Error"),
    ] {
        let error = error(script, functions()).await;
        let thrown = error.thrown.as_deref().unwrap_or_else(|| panic!("{script}: {error:#?}"));
        assert_eq!((error.kind, thrown.name.as_str(), thrown.message.as_str()), (kind, name, "too far"), "{script}");
        assert_eq!(error.line, Some(1), "{script}");
    }
    let error = error("for (", functions()).await;
    assert_eq!((error.kind, error.thrown), (ErrorKind::Syntax, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_author_is_told_of_functions_what_is_told_of_tools() {
    let near = error("await call_tol('x')", functions()).await;
    assert_eq!(near.hint.as_deref(), Some("did you mean call_tool?"));
    let unawaited = error("const found = call_tool('x'); return found.length.toFixed()", functions()).await;
    assert!(unawaited.hint.as_deref().is_some_and(|hint| hint.contains("await")), "{unawaited:#?}");
    let running = outcome("call_tool('x'); 1".into(), functions()).await;
    assert!(running.logs.iter().any(|entry| entry.text.contains("call_tool (line 1)")), "{:#?}", running.logs);
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_listed_and_called_by_their_paths_where_there_are_builtins() {
    let script = "[(await tools.list()).map((tool) => tool.path), await tools.call('functions.call_tool', 7)]";
    let expected = json!([["functions.call_tool", "functions.fail", "named_functions.external_add"], [7]]);
    let mut found = value(script, functions()).await;
    if let Some(paths) = found[0].as_array_mut() {
        paths.sort_by_key(ToString::to_string);
    }
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_functions_begin_in_time() {
    let mut tools = ToolSet::new();
    for number in 0..10_000 {
        let tool = Tool::new(format!("f{number}"), Effect::ReadOnly);
        tools = tools.with_function(CallStyle::Positional, tool, move |_| async move { Ok(json!(number).into()) });
    }
    let script = Program::new("[await f0(), await f9999(), typeof f10000]");
    assert_eq!(value(script, tools).await, json!([0, 9999, "undefined"]));
}
