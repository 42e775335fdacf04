//! A run sees nothing of another run, of the host, or of the machine; and whatever a script does to
//! its globals does not affect belljar's own code in it.

use std::sync::Arc;

use belljar_model::ErrorKind;
use belljar_sandbox::Program;
use serde_json::{Value, json};

use crate::support::{error, run, sandbox, tools, value};

#[tokio::test]
pub(crate) async fn nothing_of_a_run_is_left_for_the_next() {
    for (leave, look) in [
        (
            "globalThis.left = 1; var also = 2; globalThis.sloppy = 3",
            "return [typeof left, typeof also, typeof sloppy]",
        ),
        (
            "Array.prototype.left = 1; Object.prototype.left = 1; String.prototype.left = 1",
            "return [[].left, ({}).left, ''.left].map(x => typeof x)",
        ),
        (
            "Symbol.for('left').constructor.left = Symbol.for('left')",
            "return [typeof Symbol.left, 'undefined', 'undefined']",
        ),
        (
            "JSON.parse = () => 'left'; Math.random = () => 4; Date.now = () => 0",
            "return [JSON.parse('1') === 1, Math.random() < 1, Date.now() > 0].map(ok => ok ? 'undefined' : 'left')",
        ),
        (
            "console.log = null; delete globalThis.setTimeout; ToolError.left = 1; tools.left = 1",
            "return [typeof console.log === 'function' && typeof setTimeout === 'function' ? 'undefined' : 'left', typeof ToolError.left, typeof tools.left]",
        ),
        (
            "setInterval(() => {}, 1); Promise.reject(1); /l(e)ft/.exec('left')",
            "return [RegExp.$1 === 'e' ? 'left' : 'undefined', 'undefined', 'undefined']",
        ),
    ] {
        assert!(run(leave).await.is_ok(), "{leave}");
        assert_eq!(value(look).await, json!(["undefined", "undefined", "undefined"]), "{look}");
    }
}

#[tokio::test]
async fn random_numbers_differ_between_runs_and_repeat_with_a_seed() {
    const SOURCE: &str = "return Array.from({ length: 8 }, () => Math.random())";
    let first = value(SOURCE).await;
    assert_ne!(first, value(SOURCE).await);
    let numbers = first.as_array().unwrap();
    assert!(numbers.iter().all(|number| number.as_f64().is_some_and(|number| (0.0..1.0).contains(&number))), "{first}");
    let seeded = async |seed: u8| {
        let program = Program::new(SOURCE).with_seed([seed; 32]);
        sandbox().run(program).tools(Arc::new(tools())).await.result.unwrap().to_value().unwrap()
    };
    assert_eq!(seeded(1).await, seeded(1).await);
    assert_ne!(seeded(1).await, seeded(2).await);
}

#[tokio::test]
pub(crate) async fn polluted_prototypes_disturb_neither_values_nor_calls() {
    for pollution in [
        "Object.prototype.then = 5",
        "Object.prototype.get = () => 1; Object.prototype.set = () => 1",
        "Object.prototype.value = 1; Object.prototype.writable = true; Object.prototype.configurable = true",
        "Object.prototype.isError = true; Object.prototype.structuredContent = { evil: 1 }; Object.prototype.content = [{ text: 'evil' }]",
        "Object.prototype.text = 'evil'; Object.prototype.hint = 'evil'; Object.prototype.server = 'evil'",
        "Object.defineProperty(Object.prototype, 'server', { set() { throw new Error('evil') }, get() { return 'evil' } })",
        "Object.defineProperty(Object.prototype, '0', { set() { throw new Error('evil') }, get() { return 'evil' } })",
        "Object.defineProperty(Array.prototype, '0', { set() { throw new Error('evil') } })",
        "Object.prototype.limit = 0; Object.prototype.cause = 'evil'",
        "Array.prototype[Symbol.iterator] = null; Array.prototype.push = null; Array.prototype.join = () => 'evil'",
        "Object.prototype[Symbol.toPrimitive] = () => 'evil'",
        "Function.prototype.call = null; Function.prototype.apply = null",
        "Promise.prototype.then = () => 'evil'; Promise.resolve = null",
        "Error.prototype.name = 'evil'; Error.prototype.toString = null; Error.captureStackTrace = null",
        "Map.prototype.forEach = null; Set.prototype.forEach = null; Map.prototype[Symbol.iterator] = null",
        "String.prototype.toString = () => 'evil'; Number.prototype.toString = () => 'evil'",
        "Date.prototype.toJSON = Date.prototype.toJSON; Object.defineProperty(Date.prototype, Symbol.toPrimitive, { value: null })",
    ] {
        let source = format!(
            "{pollution};
             const echoed = await box.echo({{ a: [1, 'x'] }});
             let failed; try {{ await box.fail({{ message: 'no' }}) }} catch (e) {{ failed = e }}
             const keys = Object.keys(box);
             return {{ echoed, is: failed instanceof ToolError, who: failed.server + '.' + failed.tool, why: failed.message,
                       keys: keys.length, map: new Map([['k', 1]]), set: new Set([1]), date: new Date(0) }}"
        );
        let expected = json!({
            "echoed": { "a": [1, "x"] }, "is": true, "who": "box.fail", "why": "no", "keys": 4,
            "map": { "k": 1 }, "set": [1], "date": "1970-01-01T00:00:00.000Z",
        });
        let source = match pollution {
            // The spread and the Map constructor read these by the rules of the language.
            text if text.contains("Symbol.iterator") => source
                .replace("new Map([['k', 1]])", "new Map().set('k', 1)")
                .replace("new Set([1])", "new Set().add(1)"),
            _ => source,
        };
        assert_eq!(value(&source).await, expected, "{pollution}");
    }
}

#[tokio::test]
pub(crate) async fn a_polluted_to_json_is_the_script_s_own_wish() {
    assert_eq!(value("Object.prototype.toJSON = () => 'mine'; return { a: 1 }").await, json!("mine"));
    assert_eq!(value("Object.prototype.toJSON = 5; return { a: 1 }").await, json!({ "a": 1 }));
}

#[tokio::test]
pub(crate) async fn a_polluted_then_cannot_take_the_results_of_tools() {
    let source = "let seen = 0; Object.prototype.then = function (resolve) { seen++; resolve('evil') };
        const echoed = await box.echo({ a: 1 });
        const listed = await box.echo({ list: [1] });
        delete Object.prototype.then;
        return [seen, echoed, listed]";
    assert_eq!(value(source).await, json!([0, { "a": 1 }, { "list": [1] }]));
    // What the script itself resolves with is its own, including the value of the run.
    let error = error("Object.prototype.then = () => {}; return { a: 1 }").await;
    assert_eq!(error.kind, ErrorKind::Deadlock);
}

#[tokio::test]
pub(crate) async fn replaced_built_ins_do_not_change_what_belljar_makes_of_values() {
    for (source, expected) in [
        (
            "JSON.stringify = () => 'evil'; JSON.parse = () => 'evil'; return await box.echo({ a: 1 })",
            json!({ "a": 1 }),
        ),
        (
            "globalThis.JSON = null; globalThis.Object = null; globalThis.Promise = null; globalThis.Error = null; return await box.echo({ a: 1 })",
            json!({ "a": 1 }),
        ),
        (
            "Object.keys = () => ['evil']; Object.getOwnPropertyDescriptor = () => ({ value: 'evil' }); Reflect.ownKeys = null; return { a: 1 }",
            json!({ "a": 1 }),
        ),
        ("Array.isArray = () => false; Array.from = null; return [1, { a: [2] }]", json!([1, { "a": [2] }])),
        (
            "globalThis.ToolError = null; try { await box.fail({}) } catch (e) { return [e.name, e.server] }",
            json!(["ToolError", "box"]),
        ),
        (
            "Object.setPrototypeOf(ToolError, null); Object.defineProperty = null; try { await box.fail({}) } catch (e) { return [e.name, e.server] }",
            json!(["ToolError", "box"]),
        ),
        ("globalThis.console = null; globalThis.tools = null; return await box.echo({ a: 1 })", json!({ "a": 1 })),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
    let outcome = run(
        "Object.keys = () => ['evil']; String.prototype.concat = null; console.log({ a: [1] }, new Error('e').message)",
    )
    .await;
    assert_eq!(outcome.logs[0].text, "{ a: [ 1 ] } e");
}

#[tokio::test]
async fn an_uncaught_tool_error_is_known_as_one_whatever_the_script_did() {
    for source in [
        "globalThis.ToolError = null; await box.fail({})",
        "Error.prototype.name = 'Fake'; await box.fail({})",
        "Object.defineProperty(ToolError, Symbol.hasInstance, { value: () => false }); await box.fail({})",
    ] {
        assert_eq!(error(source).await.kind, ErrorKind::Tool, "{source}");
    }
}

#[tokio::test]
pub(crate) async fn the_global_object_is_the_jar_s_own_and_holds_the_language_alone() {
    for (source, expected) in [
        ("return (function () {}).constructor('return this')() === globalThis", json!(true)),
        ("return (async () => {}).constructor('return this')().then(g => g === globalThis)", json!(true)),
        ("return box.echo.constructor('return this')() === globalThis", json!(true)),
        ("return tools.call.constructor === Function && console.log.constructor === Function", json!(true)),
        ("return (0, eval)('this') === globalThis", json!(true)),
        ("return eval('1 + 1') + new Function('a', 'return a * 2')(3)", json!(8)),
        ("return new Function('return typeof box.echo')()", json!("function")),
        (
            "return [typeof new Function('return typeof process')(), eval('typeof require')]",
            json!(["string", "undefined"]),
        ),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
    let absent = [
        "fetch",
        "process",
        "require",
        "Deno",
        "Bun",
        "Buffer",
        "module",
        "exports",
        "__dirname",
        "XMLHttpRequest",
        "WebSocket",
        "Worker",
        "WebAssembly",
        "importScripts",
        "navigator",
        "print",
        "load",
        "gc",
        "$262",
    ];
    for name in absent {
        let source = format!(
            "return [typeof {name}, '{name}' in globalThis, eval('typeof {name}'), new Function('return typeof {name}')()]"
        );
        assert_eq!(value(&source).await, json!(["undefined", false, "undefined", "undefined"]), "{name}");
    }
}

#[tokio::test]
pub(crate) async fn the_names_of_the_global_object_are_a_closed_list() {
    let names = value("return Reflect.ownKeys(globalThis).filter(k => typeof k === 'string').sort()").await;
    let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let language = "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date \
        DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array \
        Int8Array Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer \
        String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap \
        WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat \
        parseInt undefined unescape";
    let belljar = "AbortController AbortSignal CustomEvent DOMException Event EventTarget Intl PolicyError TextDecoder TextEncoder ToolError URL URLSearchParams atob box btoa clearImmediate \
        clearInterval clearTimeout console crypto performance queueMicrotask setImmediate setInterval setTimeout structuredClone tools";
    let belljar: Vec<&str> = belljar.split_whitespace().collect();
    for name in &names {
        assert!(
            language.split_whitespace().any(|known| known == *name) || belljar.contains(name),
            "{name} is not expected"
        );
    }
    assert!(belljar.iter().all(|name| names.contains(name)), "{names:?}");
}

#[tokio::test]
pub(crate) async fn neither_stacks_nor_errors_show_anything_of_the_host() {
    let show = "const shown = []; const see = f => { try { shown.push(String(f())) } catch (e) { shown.push(e.stack, e.message, String(e), JSON.stringify(e, Object.getOwnPropertyNames(e))) } };";
    let source = format!(
        "{show}
        see(() => null.x); see(() => box.ecko()); see(() => JSON.parse('{{')); see(() => new RegExp('(')); see(() => [].reduce((a, b) => a));
        see(() => eval('1 +')); see(() => Function('}}')()); see(() => decodeURIComponent('%')); see(() => new Array(-1)); see(() => 'x'.repeat(-1));
        see(() => box.echo.toString()); see(() => setTimeout.toString()); see(() => setTimeout(1)); see(() => Symbol() + ''); see(() => 1n + 1);
        see(() => [3, 2, 1].sort((a, b) => {{ throw new Error('s') }})); see(() => new Proxy({{}}, null)); see(() => tools.describe('x'));
        see(() => tools.call('box.ecko', {{}})); see(() => structuredClone({{}}));
        for (const call of [box.echo('x'), box.fail({{}}), box.echo({{ a: 1n }}), import('fs')]) await call.catch(e => see(() => {{ throw e }}));
        return shown"
    );
    let shown = value(&source).await.to_string();
    let mut texts = vec![shown];
    for source in [
        "null.x",
        "box.ecko()",
        "await box.fail({})",
        "const a = ;",
        "import 'x'",
        "(function f() { f() })()",
        "await import('x')",
        "throw new Proxy({}, null)",
    ] {
        texts.push(format!("{:?}", error(source).await));
    }
    for text in texts {
        for trace in ["/work", ".rs", "guest", "belljar", "boa", "native at", "/root", "/home", "cargo", "wasm"] {
            assert!(!text.contains(trace), "{trace} in {text}");
        }
    }
}
