//! Which names a host may use, and what exists without belljar's own names.

use std::sync::Arc;

use belljar_model::{Effect, ErrorKind};
use belljar_sandbox::{CallStyle, NameError, Program, ScriptValue, Tool, ToolSet, check_globals};
use serde_json::json;

use super::{engines, error, value};
use crate::support;

fn function(name: &str) -> ToolSet {
    ToolSet::new().with_function(CallStyle::Positional, Tool::new(name, Effect::ReadOnly), async |_| {
        Ok(ScriptValue::from("mine"))
    })
}

fn namespace(name: &str) -> ToolSet {
    let tool = Tool::new("search", Effect::ReadOnly);
    ToolSet::new().with_plain(name, CallStyle::Positional, tool, async |_| Ok(ScriptValue::from("mine")))
}

#[tokio::test(flavor = "multi_thread")]
async fn without_builtins_the_name_tools_is_the_hosts() {
    let program = |script: &str| Program::new(script).without_builtins();
    assert_eq!(value(program("typeof tools"), ToolSet::new()).await, json!("undefined"));
    assert_eq!(value(program("await tools.search('q')"), namespace("tools")).await, json!("mine"));
    assert_eq!(value(program("await tools()"), function("tools")).await, json!("mine"));
    // The classes of errors stay, and so does the rest of the language.
    let script = "[typeof ToolError, typeof PolicyError, typeof URL, typeof console.log]";
    assert_eq!(value(program(script), ToolSet::new()).await, json!(["function", "function", "function", "function"]));
    let script =
        "for (const name of ['list', 'call']) { try { await tools[name]('x') } catch (e) { return e.message } }";
    let message = value(program(script), namespace("tools")).await;
    assert!(message.as_str().is_some_and(|text| text.contains("tools.list is not a function")), "{message}");
    for script in ["await fetch('http://a')", "await nothing.here({})", "tools.list()", "box.nothing()", "box.echo.x.y"]
    {
        let error = error(program(script), support::tools()).await;
        let hint = error.hint.unwrap_or_default();
        assert!(!hint.contains("tools.search") && !hint.contains("tools.list"), "{script}: {hint}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_builtins_the_name_tools_is_refused() {
    for engine in engines().await {
        for tools in [namespace("tools"), function("tools"), function("Object"), function("a-b"), namespace("class")] {
            let error = engine.run("1").tools(Arc::new(tools)).await.result.expect_err("the name is taken");
            assert_eq!(error.kind, ErrorKind::Usage, "{error:#?}");
        }
        let twice = support::tools()
            .with_function(CallStyle::Object, Tool::new("box", Effect::ReadOnly), async |_| Ok(ScriptValue::Null));
        let error = engine.run("1").tools(Arc::new(twice)).await.result.expect_err("the name is given twice");
        assert!(error.message.contains("'box' is given twice"), "{}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_global_of_the_sandbox_is_a_name_that_no_host_takes() {
    let script = "Object.getOwnPropertyNames(globalThis)";
    let globals: Vec<String> = serde_json::from_value(support::value(script).await).unwrap();
    let without_box = globals.iter().filter(|name| *name != "box");
    for name in without_box {
        let refused = check_globals([name.as_str()], true);
        assert!(matches!(refused, Err(NameError::Global { .. } | NameError::Reserved { .. })), "{name}: {refused:?}");
        assert_eq!(check_globals([name.as_str()], false).is_ok(), name == "tools", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hints_of_a_run_with_builtins_are_what_they_were() {
    let error = support::error("tools.lst()").await;
    assert!(error.hint.is_some_and(|hint| hint.contains("tools has list, search")));
}
