//! Scripts that try to reach what they were not given, or break what others rely on: lines 52 to 64
//! of the catalogue, except those in module `isolation`.

use belljar_model::Limits;
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Throws, Value},
    row, small,
};

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn code_made_at_run_time_reaches_nothing_that_the_script_could_not() {
    let names = "const names = g => Reflect.ownKeys(g).map(String).sort().join();";
    let mut rows = vec![
        row(52, "return (function () {}).constructor.constructor('return this')() === globalThis", Value(json!(true))),
        row(52, "return [].constructor.constructor('return typeof process.exit')()", Throws("ReferenceError")),
        row(52, "return box.echo.constructor.constructor('return this')() === globalThis", Value(json!(true))),
    ];
    for maker in [
        "eval('globalThis')",
        "(0, eval)('this')",
        "new Function('return this')()",
        "await new (async () => {}).constructor('return this')()",
        "new (function* () {}).constructor('yield this')().next().value ?? globalThis",
        "(await new (async function* () {}).constructor('yield globalThis')().next()).value",
    ] {
        rows.push(row(53, format!("{names} return names({maker}) === names(globalThis)"), Value(json!(true))));
    }
    for absent in ["require", "process", "fetch", "Deno", "WebAssembly", "importScripts", "XMLHttpRequest"] {
        rows.push(row(
            54,
            format!("return [typeof {absent}, '{absent}' in globalThis]"),
            Value(json!(["undefined", false])),
        ));
    }
    rows.push(row(54, "return await import('fs').then(() => 'there', e => e instanceof Error)", Value(json!(true))));
    rows.push(row(
        54,
        "return await Function('return import(\"fs\")')().then(() => 'there', e => e instanceof Error)",
        Value(json!(true)),
    ));
    Arena::new().all(&rows, &small()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_a_script_overwrites_is_its_own_loss() {
    let rows = [
        "globalThis.tools = null; globalThis.console = null; globalThis.JSON = null; globalThis.Promise = null",
        "try { box.echo = null } catch {} try { delete box.echo } catch {} try { Object.setPrototypeOf(box, null) } catch {}",
        "try { Object.defineProperty(box, 'echo', { value: null }) } catch {}",
        "Object.defineProperty(Array, Symbol.species, { get() { throw 1 } })",
        "Object.defineProperty(Promise, Symbol.species, { get() { return class { constructor() { throw 1 } } } })",
        "Object.prototype[Symbol.toPrimitive] = () => { throw 1 }; Array.prototype[Symbol.iterator] = () => { throw 1 }",
        "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }",
        "Reflect.apply = Reflect.get = Reflect.ownKeys = () => { throw 1 }",
    ];
    let arena = Arena::new();
    for (line, overwritten) in [55, 55, 55, 58, 58, 58, 59, 59].into_iter().zip(rows) {
        let source = format!("{overwritten};\nreturn await box.echo({{ a: [1] }})");
        arena.attack(&row(line, source, Value(json!({ "a": [1] }))), &small()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn an_argument_is_read_as_json_stringify_reads_it_and_no_more() {
    let source = "
        const watched = reads => new Proxy({ a: 1, b: { c: 2 } }, {
            get(t, k, r) { reads.push('get ' + String(k)); return Reflect.get(t, k, r) },
            has(t, k) { reads.push('has ' + String(k)); return Reflect.has(t, k) },
            ownKeys(t) { reads.push('ownKeys'); return Reflect.ownKeys(t) },
            getOwnPropertyDescriptor(t, k) { reads.push('descriptor ' + String(k)); return Reflect.getOwnPropertyDescriptor(t, k) },
            getPrototypeOf(t) { reads.push('prototype'); return Reflect.getPrototypeOf(t) },
        });
        const [ours, theirs] = [[], []];
        const inner = await box.echo({ p: watched(ours) });
        JSON.stringify({ p: watched(theirs) });
        return { inner, extra: ours.filter(read => !theirs.includes(read)) };";
    let expected = json!({ "inner": { "p": { "a": 1, "b": { "c": 2 } } }, "extra": [] });
    Arena::new().attack(&row(60, source, Value(expected)), &small()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_tool_is_not_called_once_the_script_has_returned() {
    let arena = Arena::new();
    for source in [
        "setTimeout(() => box.echo({}), 0); return 1",
        "globalThis.saved = box.echo; setInterval(() => saved({}), 1); return 1",
    ] {
        let outcome = arena.attack(&row(62, source, Value(json!(1))), &small()).await;
        assert_eq!((outcome.usage.tool_calls, outcome.calls.len()), (0, 0), "{source}");
    }
    // A run finds nothing that another run has stored.
    let source = "globalThis.saved = box.echo; Symbol.for('x').constructor.saved = box.echo; return 1";
    assert!(arena.run(source, &Limits::default()).await.is_ok());
    let source = "return [typeof saved, typeof Symbol.saved]";
    arena.attack(&row(62, source, Value(json!(["undefined", "undefined"]))), &small()).await;
}
