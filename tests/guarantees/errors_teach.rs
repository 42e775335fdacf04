//! An error says what happened, where, and what to try: it is read by the model that has to fix its
//! script.

use std::{sync::Arc, time::Duration};

use belljar_model::{ErrorKind, JsonText, Limits, RunError};
use belljar_sandbox::{
    CallError, CallStyle, Directory, Effect, GrantedTool, Namespace, Thrown, Tool, ToolSet, Tools, Unavailable,
};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};

use crate::stub_server::{self, Stub};
use crate::support::{Terminal, error, error_of, run, run_with, tools, value};

fn hint(error: &RunError) -> &str {
    error.hint.as_deref().unwrap_or_default()
}

/// A server that cannot be started.
struct Broken;

const REASON: &str = "the server 'broken' cannot be started: no such program 'npxx' (see belljar servers)";

impl Tools for Broken {
    fn namespaces(&self) -> Vec<Namespace> {
        vec![Namespace::new("broken", vec!["broken".to_owned()])]
    }

    fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        std::future::ready(Err(Unavailable { reason: REASON.to_owned() })).boxed()
    }

    fn call(&self, _: &GrantedTool, _: JsonText, _: Duration) -> BoxFuture<'static, Result<JsonText, CallError>> {
        std::future::ready(Err(CallError::new("never called"))).boxed()
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

/// The message for a script that was stopped before it ran.
const NOT_RUN: &str = "\nThe script was not run: nothing was called.";

#[tokio::test]
async fn javascript_that_typescript_refuses_runs_and_is_refused_for_its_own_faults() {
    assert_eq!(value("class A { m = 1; m() {} } return new A().m").await, 1);
    for (source, message) in [
        // Without types, errors say what is wrong in JavaScript.
        ("class A { m = 1; m() {} }\nlet y = 1; let y = 2", "SyntaxError: Identifier `y` has already been declared"),
        ("({ set a(x = 1) {} });\nlet y = 1; let y = 2", "SyntaxError: Identifier `y` has already been declared"),
        // With types, including syntax that JavaScript would read as comparisons.
        ("class A { m = 1; m() {} } const x: number = 1", "SyntaxError: Identifier `m` has already been declared"),
        ("class A { m = 1; m() {} } return f<T>(3)", "SyntaxError: Identifier `m` has already been declared"),
    ] {
        let error = error(source).await;
        assert_eq!(error.kind, ErrorKind::Syntax, "{source}");
        assert!(error.message.starts_with(message), "{source}: {}", error.message);
    }
    let error = error("({ set a(x = 1) {} });\nimport fs from 'fs'").await;
    assert!(!error.message.contains("initializer"), "{}", error.message);
}

#[tokio::test]
async fn a_misspelled_tool_is_a_type_error_that_names_the_nearest() {
    for (source, message, near) in [
        (
            "await box.ecko({})",
            "TypeError: box.ecko is not a function: there is no such tool",
            "did you mean box.echo?",
        ),
        (
            "await box.Echo({})",
            "TypeError: box.Echo is not a function: there is no such tool",
            "did you mean box.echo?",
        ),
        (
            "await box.quite_other({})",
            "TypeError: box.quite_other is not a function: there is no such tool",
            "box has echo, add, fail, wait",
        ),
        (
            "await tools.call('box.ecko', {})",
            "TypeError: box.ecko is not a function: there is no such tool",
            "did you mean box.echo?",
        ),
        ("await tools.raw('bax.echo', {})", "TypeError: there is no server 'bax'", "did you mean box?"),
        ("await tools.call('unheard.of', {})", "TypeError: there is no server 'unheard'", "the servers here are: box"),
    ] {
        // Certain errors are reported before the script runs.
        let error = error_of(ErrorKind::Plan, source).await;
        assert_eq!(error.message, format!("{message}{NOT_RUN}"), "{source}");
        assert!(hint(&error).contains(near), "{source}\n{error:#?}");
        assert_eq!(error.line, Some(1), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn a_misspelled_global_is_named_with_the_nearest() {
    for (kind, source, name, near) in [
        (ErrorKind::Plan, "consol.log(1)", "consol", "did you mean console?"),
        (ErrorKind::Plan, "await bx.echo({})", "bx", "did you mean box?"),
        (ErrorKind::Exception, "const x = Jason.parse('1')", "Jason", "did you mean JSON?"),
        (ErrorKind::Exception, "return parseint('5')", "parseint", "did you mean parseInt?"),
        (ErrorKind::Exception, "const items = [1]; return itms.length", "itms", "did you mean items?"),
        (ErrorKind::Exception, "return something_else", "something_else", "the servers here are: box"),
    ] {
        let error = error_of(kind, source).await;
        // A call that is certainly made is checked before the script runs.
        let then = if kind == ErrorKind::Plan { NOT_RUN } else { "" };
        assert_eq!(error.message, format!("ReferenceError: {name} is not defined{then}"), "{source}");
        assert!(hint(&error).contains(near), "{source}\n{error:#?}");
        assert_eq!(error.line, Some(1), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn what_other_runtimes_have_explains_its_absence() {
    for (kind, source, name, instead) in [
        (ErrorKind::Exception, "const r = await fetch('https://example.com')", "fetch", "no network"),
        (ErrorKind::Exception, "const fs = require('fs')", "require", "no modules"),
        (ErrorKind::Exception, "return process.env.HOME", "process", "no environment"),
        (ErrorKind::Plan, "return Deno.readTextFile('x')", "Deno", "no Deno"),
        (ErrorKind::Plan, "return Buffer.from('x')", "Buffer", "Uint8Array"),
        (ErrorKind::Exception, "window.alert(1)", "window", "globalThis"),
        (ErrorKind::Exception, "new XMLHttpRequest()", "XMLHttpRequest", "no network"),
        (ErrorKind::Exception, "module.exports = 1", "module", "return the value"),
        (ErrorKind::Exception, "exports.run = 1", "exports", "return the value"),
    ] {
        let error = error_of(kind, source).await;
        // A call that is certainly made is checked before the script runs.
        let then = if kind == ErrorKind::Plan { NOT_RUN } else { "" };
        assert_eq!(error.message, format!("ReferenceError: {name} is not defined{then}"), "{source}");
        assert!(hint(&error).contains(instead), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn an_error_has_the_position_and_the_stack_of_its_author_s_text() {
    let source = "interface Row { id: number; name?: string }
enum Kind { A, B }
function first(rows: Row[]): string {
  const row = rows[0];
  return shout(row.name as string);
}
const shout = (text: string) => {
  throw new RangeError(`too loud: ${text}`);
};
const rows: Row[] = [{ id: Kind.B, name: 'n' }];
return first(rows);";
    let error = error_of(ErrorKind::Exception, source).await;
    assert_eq!(error.message, "RangeError: too loud: n");
    assert_eq!((error.line, error.column), (Some(8), Some(9)), "{error:#?}");
    let stack = error.stack.as_deref().unwrap();
    let places: Vec<&str> = stack.lines().collect();
    assert_eq!(places, ["at shout (script:8:9)", "at first (script:5:10)", "at <main> (script:11:8)"], "{stack}");
    let frame = error.frame.as_deref().unwrap();
    assert!(frame.contains(">    8 |   throw new RangeError(`too loud: ${text}`);\n       |         ^"), "{frame}");
}

#[tokio::test]
async fn what_is_no_function_or_not_there_is_named_at_its_line() {
    for (source, line, message) in [
        (
            "const o = {};\nreturn o.items.map(x => x)",
            2,
            "TypeError: Cannot read properties of undefined (reading 'map')",
        ),
        ("const o = { a: null };\n\nconst n = o.a.b;", 3, "TypeError: Cannot read properties of null (reading 'b')"),
        ("const o = {};\no.run(1)", 2, "TypeError: o.run is not a function"),
        ("const f = 5;\nconst y = [f()];", 2, "TypeError: f is not a function"),
        (
            "const o = { a: { b: 1 } };\nif (true) {\n  const x = o.c.d;\n}",
            3,
            "TypeError: Cannot read properties of undefined (reading 'd')",
        ),
        (
            "function f(p) {\n  const q = 1;\n  return p.list.length + q;\n}\nreturn f({})",
            3,
            "TypeError: Cannot read properties of undefined (reading 'length')",
        ),
        ("let x = null;\nx.y = 1", 2, "TypeError: Cannot set properties of null (setting 'y')"),
        ("const r = await box.echo({});\nfor (const row of r.rows) { row.id }", 2, "TypeError: r.rows is not iterable"),
        ("function f(r) {\n  for (const row of r.rows) { row.id }\n}\nf({})", 2, "TypeError: r.rows is not iterable"),
        ("const a = {};\na.b.c = 1", 2, "TypeError: Cannot set properties of undefined (setting 'c')"),
        ("const a = 1;\nreturn Object.entries(undefined)", 2, "TypeError: Cannot convert undefined or null to object"),
        (
            "const r = await box.echo({});\nreturn r.content[0].text",
            2,
            "TypeError: Cannot read properties of undefined (reading '0')",
        ),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert_eq!(error.line, Some(line), "{source}\n{error:#?}");
        assert_eq!(error.message, message, "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn what_is_undefined_is_named_by_the_hint() {
    for (source, advice) in [
        ("const o = {};\nreturn o.items.map(x => x)", "o.items is undefined: o is {} without members"),
        ("const o = { a: null };\nconst n = o.a.b;", "o.a is null: o is { a: null }"),
        ("let x = null;\nx.y = 1", "x is null: where does its value come from?"),
        ("[].find(x => x).id", "[].find gave undefined: check what it gave"),
        (
            "const r = {};\nfor (const row of r.rows) { row.id }",
            "r.rows is undefined: r is {} without members: `r.rows ?? []` is empty",
        ),
        (
            "const o = { a: 1 };\nlet n = 0; for (const x of o) n++;",
            "o is { a: number }: no member of it is a list; Object.entries(o) lists all of them",
        ),
        ("[{ id: 1 }].map(({ meta: { by } }) => by)", "meta is undefined"),
        ("const x = 1;\nx = 2", "declare with `let` what changes"),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(hint(&error).contains(advice), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn a_caught_error_names_what_an_uncaught_one_names() {
    let source = "const o = {}; const said = [];
        for (const f of [() => o.foo(), () => o.a.b, () => { o.a.b = 1 }, () => [...o.a], () => { const { x } = o.a }, () => new o.A()]) {
            try { f() } catch (e) { said.push(e.message) }
        }
        const [settled] = await Promise.allSettled([(async () => o.foo())()]);
        return [...said, settled.reason.message]";
    let messages = json!([
        "o.foo is not a function",
        "Cannot read properties of undefined (reading 'b')",
        "Cannot set properties of undefined (setting 'b')",
        "o.a is not iterable",
        "Cannot destructure property 'x' of 'o.a' as it is undefined.",
        "o.A is not a constructor",
        "o.foo is not a function"
    ]);
    assert_eq!(value(source).await, messages);
}

#[tokio::test]
async fn errors_thrown_later_have_their_position_too() {
    for (source, line) in [
        ("setTimeout(() => {\n  throw new Error('late')\n}, 1);\nawait new Promise(r => setTimeout(r, 1000))", 2),
        ("const later = async () => {\n  await null;\n  throw new Error('late');\n};\nawait later()", 3),
        ("await Promise.resolve().then(() => {\n  throw new Error('late')\n})", 2),
        ("await Promise.all([1].map(async () => {\n  await box.echo({});\n  throw new Error('late');\n}))", 3),
        ("queueMicrotask(() => {\n  throw new Error('late')\n});\nawait new Promise(r => setTimeout(r, 1000))", 2),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert_eq!((error.message.as_str(), error.line), ("Error: late", Some(line)), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn an_uncaught_tool_error_has_a_kind_of_its_own_and_the_place_of_the_call() {
    let error = error_of(ErrorKind::Tool, "const a = 1;\nawait box.fail({ message: 'disk full' });").await;
    assert_eq!(error.message, "ToolError: disk full");
    assert_eq!(error.line, Some(2), "{error:#?}");
    let error = error_of(ErrorKind::Tool, "await Promise.all([box.echo({}), box.fail({})])").await;
    assert_eq!(error.message, "ToolError: it failed");
    let source = "try { await box.fail({}) } catch (e) { throw new Error('wrapped', { cause: e }) }";
    let message = "Error: wrapped; caused by: ToolError: it failed (line 1)";
    assert_eq!(error_of(ErrorKind::Exception, source).await.message, message);
}

#[tokio::test]
async fn an_error_names_its_causes_with_their_lines_and_has_the_hint_of_the_first_that_has_one() {
    let source =
        "try {\n  null.a;\n} catch (e) {\n  throw new Error('outer', { cause: new Error('inner', { cause: e }) });\n}";
    let error = error_of(ErrorKind::Exception, source).await;
    let causes = "Error: outer; caused by: Error: inner (line 4); caused by: \
                  TypeError: Cannot read properties of null (reading 'a') (line 2)";
    assert_eq!(error.message, causes);
    assert_eq!(error.line, Some(4), "{error:#?}");
    let error = error_of(ErrorKind::Exception, "throw new Error('outer', { cause: { code: 5 } })").await;
    assert_eq!(error.message, "Error: outer; caused by: { code: 5 }");
    let source = "try { box.ecko() } catch (e) { throw new Error('outer', { cause: e }) }";
    assert!(hint(&error_of(ErrorKind::Exception, source).await).contains("did you mean box.echo?"));
    let round = "const e = new Error('a'); e.cause = e; throw e";
    assert_eq!(error_of(ErrorKind::Exception, round).await.message.matches("caused by").count(), 4);
}

#[tokio::test]
async fn what_is_thrown_and_is_no_error_is_shown() {
    for (source, message) in [
        ("throw 'a text'", "the script threw 'a text', which is not an Error"),
        ("throw { code: 5, list: [1] }", "the script threw { code: 5, list: [ 1 ] }, which is not an Error"),
        ("throw null", "the script threw null, which is not an Error"),
        ("throw undefined", "the script threw undefined, which is not an Error"),
        ("await Promise.reject(7)", "the script threw 7, which is not an Error"),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert_eq!(error.message, message, "{source}");
        assert!(hint(&error).contains("throw an Error"), "{source}");
    }
}

#[tokio::test]
async fn errors_of_the_script_s_own_making_are_named_as_it_names_them() {
    for (source, message) in [
        ("class NotFound extends Error { name = 'NotFound' }\nthrow new NotFound('x')", "NotFound: x"),
        (
            "class NotFound extends Error { constructor(m) { super(m); this.name = 'Missing' } }\nthrow new NotFound('x')",
            "Missing: x",
        ),
        ("const e = new Error('x'); e.name = ''; throw e", "x"),
        ("throw new Error()", "Error"),
        ("throw Object.assign(new Error('x'), { message: 'y' })", "Error: y"),
        (
            "throw new AggregateError([new Error('a'), new TypeError('b')], 'both')",
            "AggregateError: both; the first: Error: a (line 1)",
        ),
        ("throw new Error('line one\\nline two')", "Error: line one\nline two"),
    ] {
        assert_eq!(error_of(ErrorKind::Exception, source).await.message, message, "{source}");
    }
}

#[tokio::test]
async fn an_error_that_is_itself_a_trap_is_reported_all_the_same() {
    for source in [
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { while (true) {} } }); throw e",
        "throw new Proxy(new Error('x'), { get() { throw 1 } })",
        "throw new Proxy({}, { ownKeys() { throw 1 }, getOwnPropertyDescriptor() { throw 1 } })",
        "throw { toString() { throw 1 }, toJSON() { throw 1 }, get a() { throw 1 } }",
        "const e = new Error('x'); Object.setPrototypeOf(e, null); throw e",
    ] {
        let outcome = run(source).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Exception, "{source}");
        assert!(outcome.usage.guest_ms.is_some_and(|ms| ms < 5_000.0), "{source}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_the_call() {
    for (call, message) in [
        ("box.echo('text')", "box.echo takes one object with named arguments, as in box.echo({ … }), and got a string"),
        ("box.echo(5)", "box.echo takes one object with named arguments, as in box.echo({ … }), and got a number"),
        ("box.echo([1])", "box.echo takes one object with named arguments, as in box.echo({ … }), and got an array"),
        ("box.echo(null)", "box.echo takes one object with named arguments, as in box.echo({ … }), and got null"),
        (
            "box.echo(() => 1)",
            "box.echo takes one object with named arguments, as in box.echo({ … }), and got a function",
        ),
        ("box.add(1, 2)", "box.add takes one object with named arguments, as in box.add({ … }), and got 2 arguments"),
        (
            "tools.call('box.echo', 'text')",
            "box.echo takes one object with named arguments, as in box.echo({ … }), and got a string",
        ),
        ("tools.call('box')", "tools.call: 'box' is not a tool path, such as \"fs.read_file\""),
        ("tools.call({ path: 'box.echo' })", "tools.call takes a tool's path first, such as \"fs.read_file\""),
        ("box.echo(new Date(0))", "the arguments of box.echo are not a JSON object"),
    ] {
        let outcome = run(&format!("await {call}")).await;
        let error = outcome.result.unwrap_err();
        assert_eq!((error.kind, error.message), (ErrorKind::Exception, format!("TypeError: {message}")), "{call}");
        assert_eq!(error.line, Some(1), "{call}");
        assert_eq!(outcome.usage.tool_calls, 0, "{call}");
        // It is a rejection like that of any other call, not a throw at the place of the call.
        if call.starts_with("box.") {
            assert_eq!(value(&format!("return await {call}.catch(e => e.name)")).await, json!("TypeError"), "{call}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_available_says_why_and_can_be_survived() {
    let with_broken = async |source: &str| run_with(source, &Limits::default(), Arc::new(Broken)).await;
    for source in [
        "try { await broken.any_tool({}) } catch (e) { return [e instanceof ToolError, e.server, e.tool, e.message] }",
        "return await broken.any_tool({}).catch(e => [e instanceof ToolError, e.server, e.tool, e.message])",
        "try { await tools.call('broken.any_tool', {}) } catch (e) { return [e instanceof ToolError, e.server, e.tool, e.message] }",
    ] {
        let value = with_broken(source).await.result.unwrap().to_value().unwrap();
        assert_eq!(value, json!([true, "broken", "any_tool", REASON]), "{source}");
    }
    let error = with_broken("const a = 1;\nawait broken.any_tool({})").await.result.unwrap_err();
    assert_eq!((error.kind, error.line), (ErrorKind::Tool, Some(2)), "{error:#?}");
    assert_eq!(error.message, format!("ToolError: {REASON}"));
    let value = with_broken("return [Object.keys(broken), 'any_tool' in broken, JSON.stringify(broken)]").await;
    assert_eq!(value.result.unwrap().to_value().unwrap(), json!([[], false, "{}"]));
}

#[tokio::test]
pub(crate) async fn a_rejection_that_nobody_looked_at_is_in_the_logs() {
    for source in [
        "Promise.reject(new Error('unseen')); return 1",
        "(async () => { throw new Error('unseen') })(); return 1",
        "box.fail({ message: 'unseen' }); return 1",
        "const p = new Promise((_, reject) => setTimeout(() => reject(new Error('unseen')), 1)); await box.wait({ ms: 20 }); return 1",
    ] {
        let outcome = run(source).await;
        assert_eq!(outcome.result.as_ref().unwrap().as_str(), "1", "{source}");
        // A call that is still running has its own message.
        let errors: Vec<_> = outcome.logs.iter().filter(|entry| entry.level.as_str() == "error").collect();
        assert_eq!(errors.len(), 1, "{source}\n{outcome:#?}");
        assert!(errors[0].text.starts_with("unhandled rejection: "), "{source}\n{outcome:#?}");
        assert!(errors[0].text.contains("unseen"), "{source}\n{outcome:#?}");
    }
    for source in [
        "const p = Promise.reject(new Error('seen')); await null; await p.catch(() => 0); return 1",
        "await Promise.allSettled([box.fail({})]); return 1",
        "await Promise.any([box.fail({}), box.echo({})]); return 1",
    ] {
        let outcome = run(source).await;
        assert!(outcome.is_ok() && outcome.logs.is_empty(), "{source}\n{outcome:#?}");
    }
    // Unhandled rejections are also shown for a run that fails for another reason: they may be its
    // cause.
    let outcome = run("Promise.reject(new Error('unseen')); await new Promise(() => {})").await;
    assert!(outcome.logs.iter().any(|entry| entry.text.contains("unseen")), "{outcome:#?}");
}

#[tokio::test]
pub(crate) async fn a_wait_for_nothing_is_a_deadlock_at_once() {
    for source in [
        "await new Promise(() => {})",
        "const p = new Promise(() => {}); await Promise.race([p, p])",
        "let resolve; const gate = new Promise(r => { resolve = r }); await gate; resolve()",
        "const t = setTimeout(() => {}, 60000); clearTimeout(t); await new Promise(() => {})",
        "await { then() {} }",
    ] {
        let outcome = run(source).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Deadlock, "{source}\n{error:#?}");
        assert!(error.hint.is_some());
        assert!(outcome.usage.wall_ms.is_some_and(|ms| ms < 5_000.0), "{source}");
        assert_eq!(error.line, Some(1), "{source}\n{error:#?}");
        assert!(error.frame.is_some(), "{source}\n{error:#?}");
    }
    // While an answer or a timer is pending, it is not a deadlock.
    assert_eq!(value("return await new Promise(r => setTimeout(() => r('there'), 20))").await, json!("there"));
}

#[tokio::test]
async fn a_deadlock_names_the_line_that_awaits_and_all_that_wait_for_it() {
    let source = "const gate = new Promise(() => {});
async function inner(name) {
  await box.echo({ name });
  await gate;
  return name;
}
const done = await box.echo({ a: 1 });
const all = [1, 2, 3].map((n) => box.echo({ n }));
await Promise.all(all);
return await inner('x');";
    let error = error_of(ErrorKind::Deadlock, source).await;
    assert_eq!(error.line, Some(4), "{error:#?}");
    assert!(error.frame.as_deref().is_some_and(|frame| frame.contains(">    4 |   await gate;")), "{error:#?}");
    let stack = error.stack.as_deref().unwrap();
    let places: Vec<&str> = stack.lines().map(|line| line.rsplit_once(':').unwrap().0).collect();
    assert_eq!(places, ["at inner (script:4", "at <main> (script:10"], "{stack}");
    for (source, line) in [
        ("const p = new Promise(() => {});\nfor await (const x of [1, p]) { x }", 2),
        ("const p = new Promise(() => {}).then((x) => x);\np.catch(() => 0);\nawait p", 3),
        ("for (let i = 0; i < 500; i++) await null;\nawait box.echo({});\nawait new Promise(() => {})", 3),
        ("async function* g() {\n  yield 1;\n  await new Promise(() => {});\n}\nfor await (const x of g()) { x }", 3),
    ] {
        assert_eq!(error_of(ErrorKind::Deadlock, source).await.line, Some(line), "{source}");
    }
}

#[tokio::test]
async fn endless_recursion_after_an_await_is_no_deadlock() {
    let source = "await box.echo({});\nconst down = (n) => 1 + down(n + 1);\nreturn down(0)";
    let error = error_of(ErrorKind::Stack, source).await;
    assert_eq!(error.line, Some(2), "{error:#?}");
    assert!(hint(&error).contains("loop"), "{error:#?}");
}

#[tokio::test]
async fn a_promise_that_is_used_as_a_value_is_recognised() {
    for (source, named) in [
        ("const { a } = box.echo({ a: 'x' });\nreturn a.trim()", "box.echo(…) returns a promise"),
        ("for (const x of box.echo({})) { x }", "box.echo(…) returns a promise: put `await` before it (line 1)"),
        (
            "const [first] = box.echo({});\nreturn first",
            "box.echo(…) returns a promise: put `await` before it (line 1)",
        ),
        ("return [...box.echo({})]", "box.echo(…) returns a promise"),
        ("let r;\nr = tools.call('box.echo', {});\nreturn r.a.b", "tools.call(…) returns a promise"),
        (
            "const all = [1, 2].map((n) => box.echo({ n }));\nreturn all.map((r) => r.n.toFixed())",
            "`await Promise.all([1, 2].map(…))`",
        ),
        ("const all = [1, 2].map(async (n) => n);\nreturn all", "`await Promise.all([1, 2].map(…))`"),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(hint(&error).contains(named), "{source}\n{error:#?}");
    }
    for source in [
        "const r = await box.echo({ a: 1 });\nreturn r.a.b.c",
        "const p = box.echo({ a: 1 });\nconst r = await p;\nreturn r.a.b.c",
        "const r = await box.echo({}).then((x) => x);\nreturn r.a.b",
        "const list = await Promise.all([1].map((n) => box.echo({ n })));\nreturn list[0].x.y",
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(!hint(&error).contains("returns a promise"), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn a_promise_on_which_a_script_certainly_decides_is_refused_before_the_run() {
    for (source, advice) in [
        ("const r = box.echo({ a: 1 });\nreturn r.a.b", "put `await` before box.echo(…) in line 1"),
        ("const r = box.echo({ a: 1 });\nreturn r.map((x) => x)", "put `await` before box.echo(…) in line 1"),
        ("return box.echo({ a: [1] }).a.length", "write (await box.echo(…)).a"),
        ("return await box.echo({ a: [1] }).a.map((x) => x)", "write (await box.echo(…)).a"),
        (
            "async function load() { return [1] }\nconst list = load();\nreturn list.filter(Boolean)",
            "put `await` before load(…) in line 2",
        ),
        ("const load = async () => [1];\nreturn load().filter(Boolean)", "write (await load(…)).filter"),
        ("if (box.echo({ a: 1 }).a === 1) { return 1 }", "write (await box.echo(…)).a"),
        ("while (box.echo({})) { break }", "write (await box.echo(…))"),
        ("return box.echo({}) && 1", "write (await box.echo(…))"),
        ("return [1].filter(async (x) => x > 1)", "[1].filter((x, i) => fits[i])"),
        ("return [1].filter((a) => box.echo({ a }))", "[1].filter((x, i) => fits[i])"),
        ("return [1].every(async (x) => x > 1)", "(await Promise.all([1].map(async (x) => …))).every(Boolean)"),
    ] {
        let outcome = run(source).await;
        assert!(outcome.calls.is_empty(), "{source}\n{outcome:#?}");
        let error = outcome.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Syntax, "{source}\n{error:#?}");
        assert!(hint(&error).contains(advice), "{source}\n{error:#?}");
    }
    for source in [
        "const p = box.echo({ a: 1 });\nreturn (await p).a",
        "return await box.echo({ a: 1 }).then((r) => r.a)",
        "let p = box.echo({ a: 1 });\np = await p;\nreturn p.a",
        "const p = box.echo({ a: 1 });\nconst read = (p) => p.a;\nreturn read(await p)",
        "const p = box.echo({ a: 1 });\np.a = 1;\nawait p;\nreturn p.a",
        "const p = Object.assign(box.echo({ a: 1 }), { a: 1 });\nawait p;\nreturn p.a",
        "class All { filter(f) { return 1 } }\nreturn new All().filter(async (x) => x)",
        "{ const box = { echo: (x) => x };\nif (box.echo({ a: 1 }).a) return 1 }",
        "const load = async () => 1;\nconst again = () => (cache ??= load());\nlet cache;\nif (again()) return 1",
    ] {
        assert_eq!(value(source).await, json!(1), "{source}");
    }
}

#[tokio::test]
pub(crate) async fn calls_that_are_still_running_at_the_end_are_named_with_their_lines() {
    let outcome = run("const a = 1;\nbox.wait({ ms: 5 });\nbox.echo({});\nreturn 'early'").await;
    assert_eq!(outcome.result.as_ref().unwrap().as_str(), "\"early\"");
    assert_eq!(outcome.logs.len(), 1, "{outcome:#?}");
    let said = &outcome.logs[0];
    assert_eq!(said.level.as_str(), "warn");
    assert!(said.text.contains("box.wait (line 2), box.echo (line 3)"), "{said:?}");
    assert_eq!(outcome.calls.len(), 2);

    let outcome = run("return `it is ${box.echo({})}`").await;
    assert!(outcome.logs.iter().any(|entry| entry.text.contains("[object Promise]")), "{outcome:#?}");
    // What is awaited, in whatever way, is not reported.
    for source in
        ["await box.wait({ ms: 1 })", "return box.echo({})", "await Promise.all([box.echo({}), box.wait({ ms: 2 })])"]
    {
        assert_eq!(run(source).await.logs, [], "{source}");
    }
}

#[tokio::test]
async fn what_is_parsed_already_is_told_so() {
    for source in [
        "const r = await box.echo({ a: 1 });\nconst v = JSON.parse(r);",
        "const a = 1;\nconst v = JSON.parse(await box.echo({ a: 1 }));",
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(error.message.starts_with("SyntaxError"), "{source}\n{error:#?}");
        assert!(hint(&error).contains("what box.echo(…) returns is a value already"), "{source}\n{error:#?}");
        assert_eq!(error.line, Some(2), "{source}\n{error:#?}");
    }
    let error = error_of(ErrorKind::Exception, "const o = { a: 1 };\nreturn JSON.parse(o)").await;
    assert!(hint(&error).contains("an object already needs no parsing"), "{error:#?}");
}

#[tokio::test]
async fn what_cannot_be_looped_over_or_taken_apart_is_named_at_its_place() {
    for (source, line, column, message) in [
        ("const o = { a: 1 };\nfor (const x of o) { x }", 2, 17, "TypeError: o is not iterable"),
        (
            "const o = {};\nif (true) {\n  for (const x of o.list) { x }\n}\nfor (const y of []) { y }",
            3,
            19,
            "TypeError: o.list is not iterable",
        ),
        ("const n = 5;\nconst [a] = n;", 2, 13, "TypeError: n is not iterable"),
        (
            "const o = { a: null };\nconst { b } = o.a;",
            2,
            15,
            "TypeError: Cannot destructure property 'b' of 'o.a' as it is null.",
        ),
        (
            "const f = () => undefined;\nconst { a, ...rest } = f();",
            2,
            24,
            "TypeError: Cannot destructure property 'a' of 'f(...)' as it is undefined.",
        ),
        (
            "async function f(o) {\n  const { b } = await o.p;\n  return b;\n}\nawait f({})",
            2,
            17,
            "TypeError: Cannot destructure property 'b' of '(intermediate value)' as it is undefined.",
        ),
        (
            "const item = { id: 1 };\nconst { meta: { by } } = item;",
            2,
            15,
            "TypeError: Cannot read properties of undefined (reading 'by')",
        ),
        (
            "[{ id: 1 }].map(({ meta: { by }, ...rest }) => [by, rest])",
            1,
            26,
            "TypeError: Cannot read properties of undefined (reading 'by')",
        ),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert_eq!((error.line, error.column), (Some(line), Some(column)), "{source}\n{error:#?}");
        assert_eq!(error.message, message, "{source}\n{error:#?}");
    }
    // Values that can be destructured are left alone.
    for source in [
        "const { a = 1 } = {}; const [b] = 'x'; let s = ''; for (const c of new Set([1]).values()) s += c; const { length } = 'abc'; [a, b, s, length]",
        "const { a } = false || { a: 1 }; const [b] = new Map([['x', 1]]).keys(); let s = ''; for (const c of '1') s += c; const { length } = [1, 2, 3]; [a, b, s, length]",
    ] {
        assert_eq!(value(source).await, json!([1, "x", "1", 3]), "{source}");
    }
}

#[tokio::test]
pub(crate) async fn endless_recursion_ends_the_script_and_nothing_else() {
    for source in [
        "function f() { return f() + 1 }\nf()",
        "const f = async () => { await f() }; await f()",
        "const o = { get x() { return this.x } }; o.x",
        "class A { constructor() { new A() } } new A()",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
        "[1].map(function f() { return [1].map(f) })",
        "const f = n => [...Array(1)].map(() => f(n + 1)); f(0)",
        "return { get a() { return JSON.stringify(this) } }",
        "return { toJSON() { return this.toJSON() } }",
    ] {
        let error = error(source).await;
        assert_eq!(error.kind, ErrorKind::Stack, "{source}\n{error:#?}");
        assert!(!error.message.contains('\n') && !error.message.contains("EnginePanic"), "{source}\n{error:#?}");
        assert!(hint(&error).contains("loop"), "{source}\n{error:#?}");
    }
    let error = error_of(ErrorKind::Stack, "const a = 1;\nfunction f() {\n  return f() + 1;\n}\nf()").await;
    assert_eq!(error.line, Some(3), "{error:#?}");
    assert_eq!(value("return 'alive'").await, json!("alive"));
}

#[tokio::test]
async fn deep_recursion_within_reason_works() {
    let source = "const sum = n => n === 0 ? 0 : n + sum(n - 1); return sum(8000)";
    assert_eq!(value(source).await, json!(32_004_000));
    let source = "const depth = (tree) => 1 + Math.max(0, ...tree.children.map(depth));
        let tree = { children: [] }; for (let i = 0; i < 99; i++) tree = { children: [tree] }; return depth(tree)";
    assert_eq!(value(source).await, json!(100));
}

#[tokio::test]
async fn a_full_stack_is_caught_as_in_node() {
    let source = "let depth = 0; const f = () => { depth++; f() };
        try { f() } catch (e) { return [e instanceof RangeError, e.message, depth > 8000] }";
    assert_eq!(value(source).await, json!([true, "Maximum call stack size exceeded", true]));
    let source = "const f = async () => { await f() }; return f().catch((e) => e.message)";
    assert_eq!(value(source).await, json!("Maximum call stack size exceeded"));
}

/// JavaScript hosts pass on what their own engine reports, in the same words as the script's
/// engine.
#[tokio::test]
async fn a_full_stack_of_the_hosts_is_not_the_scripts() {
    let walk = Tool::new("walk", Effect::External);
    let tools = ToolSet::new().with_function(CallStyle::Positional, walk, async |_| {
        Err(Thrown::named("RangeError", "Maximum call stack size exceeded"))
    });
    let tools = Arc::new(tools);
    for source in ["await walk({})", "await walk({}).catch((cause) => { throw new Error('no tree', { cause }) })"] {
        let error = run_with(source, &Limits::default(), tools.clone()).await.result.unwrap_err();
        assert_eq!((error.kind, hint(&error)), (ErrorKind::Exception, ""), "{source}: {error:?}");
    }
    let own = error("(function f() { return f() + 1 })()").await;
    assert_eq!(own.kind, ErrorKind::Stack);
    assert!(hint(&own).contains("call each other too often"), "{own:?}");
}

#[tokio::test]
async fn a_source_of_many_parts_is_no_deep_one() {
    let terms = format!("return {}1", "1+".repeat(1_000));
    assert_eq!(value(&terms).await, json!(1_001));
    let branches: String = (1..=400).map(|n| format!(" else if (x === {n}) y = {n};")).collect();
    assert_eq!(value(&format!("const x = 400; let y; if (x === 0) y = 0;{branches} return y")).await, json!(400));
    let nested = format!("return JSON.stringify({}{}).length", "[".repeat(100), "]".repeat(100));
    assert_eq!(value(&nested).await, json!(200));
}

#[tokio::test]
pub(crate) async fn a_script_that_catches_everything_cannot_swallow_a_limit() {
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    for source in [
        "while (true) { try { while (true) {} } catch {} finally { continue } }",
        "const again = () => { try { for (;;) {} } finally { again() } }; again()",
        "let process = async () => { try { for (;;) await null } catch {} finally { await process() } }; await process()",
        "for (;;) { try { throw 1 } catch {} }",
        "const p = new Proxy({}, { get() { for (;;) {} } }); try { p.x } catch { p.x }",
        "return { toJSON() { for (;;) {} } }",
        "const e = new Error('x'); throw { get a() { for (;;) {} }, [Symbol.toPrimitive]() { for (;;) {} } , get then() { for (;;) {} } }, e",
    ] {
        let error = run_with(source, &limits, Arc::new(tools())).await.result.unwrap_err();
        // The last of them shows that reporting an error calls none of the script's code.
        let expected = if source.starts_with("const e") { ErrorKind::Exception } else { ErrorKind::Fuel };
        assert_eq!(error.kind, expected, "{source}\n{error:#?}");
        if expected == ErrorKind::Fuel {
            assert_eq!(error.limit.map(|limit| limit.name.as_str()), Some("fuel"), "{source}");
        }
    }
}

#[tokio::test]
async fn the_value_of_what_the_engine_cannot_run_is_a_syntax_error_at_its_place() {
    for (source, line) in
        [("const a = 1;\nreturn import.meta.url", 2), ("const a = 1;\nconst r = /(?<n>a)(?<n>b)/;", 2)]
    {
        let error = error_of(ErrorKind::Syntax, source).await;
        assert_eq!(error.line, Some(line), "{source}\n{error:#?}");
        assert!(!error.message.contains("at line"), "{source}\n{error:#?}");
    }
    // Code that is parsed while the script runs throws an exception of the script.
    for source in ["new Function('return (')()", "eval('1 +')", "JSON.parse('{bad')", "new RegExp('(')"] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert!(error.message.starts_with("SyntaxError: "), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn a_script_reads_stacks_in_the_positions_of_its_own_text() {
    let source = "type A = number;\nenum E { X }\nfunction f() {\n  return new Error('here').stack;\n}\nreturn f()";
    let stack = value(source).await;
    let lines: Vec<&str> = stack.as_str().unwrap().lines().collect();
    assert_eq!(lines, ["Error: here", "    at f (script:4:10)", "    at <main> (script:6:8)"], "{stack}");
    let logged = run("console.error(new TypeError('logged'))").await;
    assert_eq!(logged.logs[0].text, "TypeError: logged\n    at <main> (script:1:15)");
    assert_eq!(value("const e = new Error('x'); e.stack = 'mine'; return e.stack").await, Value::from("mine"));
}

#[test]
fn a_misspelled_tool_is_answered_with_the_signature_of_the_nearest() {
    let terminal = Terminal::new();
    let script = |source: &str| terminal.belljar(&["run", "--json", "--code", source]).json()["error"].clone();
    let signature = "demo.get_issue(args: { id: number }): Promise<";
    let error = script("await demo.get_isue({ id: 1 })");
    assert!(
        error["hint"].as_str().unwrap().starts_with(&format!("did you mean demo.get_issue? It is {signature}")),
        "{error:#}"
    );
    let error = script("tools.describe('demo.get_isue')");
    assert!(
        error["message"].as_str().unwrap().contains(&format!("did you mean demo.get_issue? It is {signature}")),
        "{error:#}"
    );
    let call = terminal.belljar(&["call", "demo.get_isue"]);
    assert!(call.stderr.contains(signature), "{call:#?}");
}

#[tokio::test]
async fn an_error_that_a_server_gives_as_a_plain_text_is_told_of() {
    let stub = Stub::new(Stub::real_tools("sqlite"), |_, arguments| {
        let text = match arguments["query"].as_str() {
            Some("SELECT town") => "Database error: no such column: town",
            _ => "[{'n': 1}]",
        };
        json!({ "content": [{ "type": "text", "text": text }] })
    });
    let gateway = stub_server::gateway(&[("db", stub)], Vec::new());
    let source = "let thrown = false; try { await db.read_query({ query: 'SELECT town' }) } catch { thrown = true }
        return [thrown, await db.read_query({ query: 'SELECT n' })]";
    let outcome = stub_server::run(&gateway, source).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!([false, [{ "n": 1 }]]));
    let logs: Vec<&str> = outcome.logs.iter().map(|entry| entry.text.as_str()).collect();
    let remark = "db.read_query gave a text that reads like an error, and its server has not marked it as one, so nothing was thrown: \
                  \"Database error: no such column: town\"";
    assert_eq!(logs, [remark]);
}
