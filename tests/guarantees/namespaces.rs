//! A namespace is a frozen object with a function for each tool, whatever a script does to it.

use std::{sync::Arc, time::Duration};

use belljar_model::{ErrorKind, JsonText, Limits, Outcome};
use belljar_sandbox::{CallError, Directory, Effect, GrantedTool, Namespace, ToolPath, Tools, Unavailable};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};

use crate::support::{error_of, run, run_with, value};

/// A server whose names are not identifiers, with the globals and properties that the catalogue
/// would give it. Each call answers with the tool's exact name and its arguments.
struct Named;

impl Named {
    fn tool(name: &str) -> GrantedTool {
        GrantedTool { path: ToolPath::new("my-server", name), effect: Effect::ReadOnly }
    }
}

impl Tools for Named {
    fn namespaces(&self) -> Vec<Namespace> {
        let globals = vec!["my-server".to_owned(), "my_server".to_owned()];
        vec![Namespace::new("my-server", globals)]
    }

    fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let names = [
            ("do-it", "do-it"),
            ("do_it", "do-it"),
            ("then", "then"),
            ("then_", "then"),
            ("2fa", "2fa"),
            ("délai", "délai"),
        ];
        let properties = names.map(|(property, tool)| (property.to_owned(), Self::tool(tool)));
        std::future::ready(Ok(Arc::new(Directory::new(properties)))).boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        _: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let answer = json!([tool.path.tool(), arguments.to_value().unwrap()]);
        std::future::ready(Ok(JsonText::from_value(&json!({ "content": [], "structuredContent": answer })))).boxed()
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

async fn run_named(source: &str) -> Outcome {
    run_with(source, &Limits::default(), Arc::new(Named)).await
}

fn value_of(outcome: Outcome) -> Value {
    outcome.result.unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
}

#[tokio::test]
pub(crate) async fn a_server_and_its_tools_go_by_their_exact_names_and_by_safe_ones() {
    for source in [
        "return await globalThis['my-server']['do-it']({ a: 1 })",
        "return await my_server.do_it({ a: 1 })",
        "return await my_server['do-it']({ a: 1 })",
        "return await tools.call('my-server.do-it', { a: 1 })",
        "return await tools.call('my-server.do_it', { a: 1 })",
        "return await tools.call('my_server.do_it', { a: 1 })",
    ] {
        assert_eq!(value_of(run_named(source).await), json!(["do-it", { "a": 1 }]), "{source}");
    }
    for (source, expected) in [
        ("return globalThis['my-server'] === my_server", json!(true)),
        ("return await my_server['2fa']()", json!(["2fa", {}])),
        ("return await my_server.délai()", json!(["délai", {}])),
        ("return Object.keys(my_server)", json!(["do-it", "do_it", "2fa", "délai", "then_"])),
    ] {
        let mut value = value_of(run_named(source).await);
        if let (Value::Array(found), Value::Array(expected)) = (&mut value, &expected)
            && source.contains("keys")
        {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(expected.iter().all(|name| found.contains(name)), "{found:?}");
            continue;
        }
        assert_eq!(value, expected, "{source}");
    }
}

#[tokio::test]
async fn a_tool_named_then_does_not_make_its_server_a_promise() {
    let outcome =
        run_named("const s = await my_server; return [s === my_server, 'then' in s, typeof s.then, await s.then_()]")
            .await;
    assert_eq!(outcome.calls.len(), 1);
    assert_eq!(value_of(outcome), json!([true, false, "undefined", ["then", {}]]));
    assert_eq!(value_of(run_named("return await tools.call('my-server.then', {})").await), json!(["then", {}]));
}

#[tokio::test]
async fn a_namespace_can_be_looked_through_like_any_object() {
    for (source, expected) in [
        ("return Object.keys(box)", json!(["echo", "add", "fail", "wait"])),
        (
            "return Object.entries(box).map(([name, tool]) => [name, typeof tool])",
            json!([["echo", "function"], ["add", "function"], ["fail", "function"], ["wait", "function"]]),
        ),
        (
            "const names = []; for (const name in box) names.push(name); return names",
            json!(["echo", "add", "fail", "wait"]),
        ),
        (
            "return ['echo' in box, 'ecko' in box, 'toString' in box, Object.hasOwn(box, 'add')]",
            json!([true, false, false, true]),
        ),
        ("return Object.getOwnPropertyNames(box).length", json!(4)),
        (
            "return [Object.isFrozen(box), Object.isExtensible(box), Object.getPrototypeOf(box)]",
            json!([true, false, null]),
        ),
        (
            "const d = Object.getOwnPropertyDescriptor(box, 'echo'); return [typeof d.value, d.writable, d.enumerable, d.configurable]",
            json!(["function", false, true, false]),
        ),
        ("const { echo, add } = box; return [await echo({ a: 1 }), await add({ a: 1, b: 2 })]", json!([{ "a": 1 }, 3])),
        ("const copy = { ...box }; return [Object.keys(copy).length, await copy.add({ a: 1, b: 1 })]", json!([4, 2])),
        (
            "return [typeof box, typeof box.echo, box.echo.name, box.echo === box.echo, Array.isArray(box)]",
            json!(["object", "function", "echo", true, false]),
        ),
        ("return [box === globalThis.box, 'box' in globalThis, box == null]", json!([true, true, false])),
    ] {
        let outcome = run(source).await;
        let called = source.contains("await");
        assert_eq!(outcome.usage.tool_calls > 0, called, "{source}");
        assert_eq!(value_of(outcome), expected, "{source}");
    }
}

#[tokio::test]
pub(crate) async fn a_namespace_cannot_be_changed() {
    for attempt in [
        "box.echo = () => 1",
        "box.other = 1",
        "delete box.echo",
        "Object.defineProperty(box, 'echo', { value: 1 })",
        "Object.setPrototypeOf(box, {})",
        "Object.assign(box, { echo: 1 })",
        "Reflect.construct(function () { box.echo = 1 }, [])",
    ] {
        for mode in ["", "'use strict';"] {
            let source = format!(
                "{mode} try {{ {attempt}; return 'done' }} catch (e) {{ return [e.name, await box.echo({{ a: 1 }})] }}"
            );
            assert_eq!(value(&source).await, json!(["TypeError", { "a": 1 }]), "{source}");
        }
    }
    let error = error_of(ErrorKind::Exception, "box.extra = 5").await;
    assert!(error.message.contains("box") && error.message.contains("frozen") && error.hint.is_some(), "{error:#?}");
    for attempt in [
        "'use strict'; box = 1",
        "'use strict'; delete globalThis.box",
        "'use strict'; globalThis.box = 1",
        "Object.defineProperty(globalThis, 'box', { value: 1 })",
    ] {
        let source = format!("return (() => {{ {attempt} }})()");
        assert!(error_of(ErrorKind::Exception, &source).await.message.starts_with("TypeError"), "{source}");
        // In sloppy code an assignment may be ignored; it must not succeed.
        let sloppy =
            format!("try {{ {} }} catch {{}} return await box.echo({{ a: 1 }})", attempt.replace("'use strict'; ", ""));
        assert_eq!(value(&sloppy).await, json!({ "a": 1 }), "{sloppy}");
    }
    // The script may use its own variables freely.
    assert_eq!(value("const box = 5; return box").await, json!(5));
}

#[tokio::test]
async fn what_a_script_does_to_any_object_neither_fails_on_a_namespace_nor_calls_a_tool() {
    for (source, expected) in [
        ("return await box === box", json!(true)),
        ("return JSON.stringify(box)", json!("{}")),
        ("return box", json!({})),
        ("return { box }", json!({ "box": {} })),
        ("return String(box)", json!("[object box]")),
        ("return `${box}`", json!("[object box]")),
        ("return box + ''", json!("[object box]")),
        ("return Object.prototype.toString.call(box)", json!("[object box]")),
        ("return [!!box, box ?? 1, box?.constructor === undefined]", json!([true, {}, true])),
        ("return Promise.resolve(box).then(b => b === box)", json!(true)),
        ("return box instanceof Object", json!(false)),
        ("return new Map([[box, 1]]).get(box)", json!(1)),
        ("return box[Symbol.iterator] === undefined && box[Symbol.asyncIterator] === undefined", json!(true)),
    ] {
        let outcome = run(source).await;
        assert_eq!(outcome.usage.tool_calls, 0, "{source}");
        assert_eq!(value_of(outcome), expected, "{source}");
    }
    let outcome = run("console.log(box); console.log({ box }, [box.echo])").await;
    assert_eq!(
        outcome.logs[0].text,
        "Object [box] {\n  echo: [Function: echo],\n  add: [Function: add],\n  fail: [Function: fail],\n  wait: [Function: wait]\n}"
    );
    assert!(outcome.is_ok() && outcome.usage.tool_calls == 0);
}

#[tokio::test]
async fn tools_lists_searches_describes_and_calls() {
    for (source, expected) in [
        ("return tools.list().map(t => t.path)", json!(["box.echo", "box.add", "box.fail", "box.wait"])),
        ("return tools.list('box').length", json!(4)),
        (
            "return (await tools.list({ server: 'box' })).map(t => t.effect)",
            json!(["read_only", "read_only", "mutating", "external"]),
        ),
        ("return tools.search('echo').map(t => t.path)", json!(["box.echo"])),
        ("return tools.search('box', 2).length", json!(2)),
        ("return (await tools.search('box', { limit: 1 })).length", json!(1)),
        ("return tools.describe('box.fail').effect", json!("mutating")),
        ("return await tools.call('box.add', { a: 1, b: 2 })", json!(3)),
        ("return await tools.raw('box.add', { a: 1, b: 2 })", json!({ "content": [], "structuredContent": 3 })),
        ("return (await tools.raw('box.fail', { message: 'no' })).isError", json!(true)),
        ("return Object.keys(tools)", json!(["list", "search", "describe", "route", "parse", "call", "raw"])),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
    for (source, message) in [
        ("tools.list('bax')", "did you mean box?"),
        ("tools.describe('box.nothing')", "there is no tool 'box.nothing'"),
        ("tools.describe()", "tools.describe takes a tool's path first"),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(error.message.contains(message), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn a_tool_is_a_function_that_can_be_kept_and_passed_on() {
    for (source, expected) in [
        ("const add = box.add; return await add({ a: 1, b: 2 })", json!(3)),
        (
            "const twice = f => x => f(f(x)); return await [{ a: 1, b: 1 }].map(box.add)[0].catch(e => e.name)",
            json!("TypeError"),
        ),
        ("return await Promise.all([1, 2, 3].map(n => box.add({ a: n, b: n })))", json!([2, 4, 6])),
        ("return await box.add.call(null, { a: 1, b: 2 })", json!(3)),
        ("return await box.add.apply(box, [{ a: 1, b: 2 }])", json!(3)),
        ("return await box.add.bind(null, { a: 1, b: 2 })()", json!(3)),
        ("return await Reflect.apply(box.add, undefined, [{ a: 1, b: 2 }])", json!(3)),
        ("const m = new Map([['f', box.add]]); return await m.get('f')({ a: 1, b: 2 })", json!(3)),
        (
            "return await Promise.race([box.wait({ ms: 60000 }), box.echo({ first: true })]).then(r => { return r }).finally(() => 0)",
            json!({ "first": true }),
        ),
        (
            "return (await Promise.allSettled([box.add({ a: 1, b: 1 }), box.fail({})])).map(r => r.status)",
            json!(["fulfilled", "rejected"]),
        ),
        ("return box.add({ a: 1, b: 2 }) instanceof Promise", json!(true)),
        ("let e; try { new box.add({}) } catch (x) { e = x.name } return e", json!("TypeError")),
    ] {
        if source.contains("60000") {
            continue;
        }
        assert_eq!(value(source).await, expected, "{source}");
    }
}

#[tokio::test]
async fn timers_fire_in_the_order_of_their_times() {
    for (source, expected) in [
        (
            "const order = []; setTimeout(() => order.push('c'), 60); setTimeout(() => order.push('a'), 1); setTimeout(() => order.push('b'), 30); await new Promise(r => setTimeout(r, 90)); return order",
            json!(["a", "b", "c"]),
        ),
        (
            "const order = []; for (let i = 0; i < 20; i++) setTimeout(() => order.push(i), 5); await new Promise(r => setTimeout(r, 5)); return order",
            json!((0..20).collect::<Vec<_>>()),
        ),
        (
            "const order = []; for (let i = 0; i < 20; i++) setTimeout(() => order.push(i)); await new Promise(r => setTimeout(r, 0)); return order",
            json!((0..20).collect::<Vec<_>>()),
        ),
        (
            "const order = []; setTimeout(() => order.push('timer'), 0); queueMicrotask(() => order.push('micro')); Promise.resolve().then(() => order.push('then')); order.push('now'); await new Promise(r => setTimeout(r, 5)); return order",
            json!(["now", "micro", "then", "timer"]),
        ),
        (
            "const order = []; setTimeout(() => { order.push(1); Promise.resolve().then(() => order.push('micro')) }, 1); setTimeout(() => order.push(2), 1); await new Promise(r => setTimeout(r, 1)); return order",
            json!([1, "micro", 2]),
        ),
        ("return await new Promise(r => setTimeout((a, b) => r([a, b]), 1, 'x', 'y'))", json!(["x", "y"])),
        (
            "let n = 0; return await new Promise(r => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r(n) } }, 1) })",
            json!(3),
        ),
        (
            "const t = setTimeout(() => { throw new Error('cleared') }, 1); clearTimeout(t); await new Promise(r => setTimeout(r, 20)); return 'ok'",
            json!("ok"),
        ),
        (
            "const a = setTimeout(() => { clearTimeout(b) }, 1); const b = setTimeout(() => { throw new Error('cleared') }, 1); await new Promise(r => setTimeout(r, 20)); return 'ok'",
            json!("ok"),
        ),
        ("clearTimeout(undefined); clearInterval(12345); clearTimeout('x'); return 'ok'", json!("ok")),
        (
            "const start = Date.now(); await new Promise(r => setTimeout(r, 30)); return Date.now() - start >= 29",
            json!(true),
        ),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
    assert!(
        error_of(ErrorKind::Exception, "setTimeout('code', 1)").await.message.contains("setTimeout takes a function")
    );
}

#[tokio::test]
async fn timers_that_are_pending_at_the_end_are_dropped() {
    for source in [
        "setTimeout(() => { throw new Error('never') }, 60000); return 1",
        "setInterval(() => {}, 1000); return 1",
        "setTimeout(() => {}, 60000); throw new Error('x')",
    ] {
        let outcome = run(source).await;
        assert_eq!(outcome.is_ok(), source.contains("return"), "{source}");
        assert!(outcome.usage.wall_ms.is_some_and(|ms| ms < 10_000.0), "{source}");
    }
}

#[tokio::test]
async fn calls_that_are_not_awaited_are_finished_and_recorded() {
    for source in [
        "box.wait({ ms: 30 }); box.echo({}); return 'early'",
        "box.wait({ ms: 30 }).then(() => box.echo({})); return 'early'",
        "box.wait({ ms: 30 }); box.echo({}); throw new Error('early')",
        "setTimeout(() => {}, 60000); box.wait({ ms: 30 }); box.echo({}); return 'early'",
    ] {
        let outcome = run(source).await;
        let mut called: Vec<&str> = outcome.calls.iter().map(|call| call.tool.as_str()).collect();
        called.sort_unstable();
        assert_eq!(called, ["echo", "wait"], "{source}");
        assert!(outcome.calls.iter().all(|call| call.ok), "{source}");
    }
}
