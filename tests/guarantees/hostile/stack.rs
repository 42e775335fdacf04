//! Scripts that nest and recurse: lines 38 to 51 of the catalogue.

use std::sync::Arc;

use belljar_model::{ErrorKind, Limits};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Fails, Limit, Stack, Throws, Value},
    Row, row, small,
};

fn limits() -> Limits {
    Limits { fuel: 20_000_000_000, memory: belljar_model::ByteSize::mib(128), ..small() }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn endless_recursion_is_a_stack_error_wherever_it_goes_through() {
    Arena::new()
        .all(
            &[
                row(38, "function f() { return f() + 1 }\nf()", Stack),
                row(38, "const f = async () => { await f() }; await f()", Stack),
                row(39, "const f = (n) => [n].map(f); f(0)", Stack),
                row(39, "const f = () => [2, 1].sort(f); f()", Stack),
                row(39, "const g = function* () { yield* g() }; g().next()", Stack),
                row(39, "const g = async function* () { for await (const x of g()) yield x }; await g().next()", Stack),
                row(39, "const f = () => eval('f()'); f()", Stack),
                row(39, "const f = () => new Function('f', 'f()')(f); f()", Stack),
                row(39, "const it = { [Symbol.iterator]() { return new Set(this) } }; [...it]", Stack),
                row(39, "const f = () => 'a'.replace(/a/, f); f()", Stack),
                row(39, "const f = () => JSON.parse('[1]', f); f()", Stack),
                row(39, "class A { static [Symbol.hasInstance](x) { return x instanceof A } } 1 instanceof A", Stack),
                row(39, "class A { x = new A() } new A()", Stack),
                row(39, "const f = () => Reflect.apply(f, null, []); f()", Stack),
                row(39, "const f = () => f.call(); f()", Stack),
                row(39, "const o = { get x() { return `${Object.keys(this).map((k) => this[k])}` } }; o.x", Stack),
                row(39, "const f = () => structuredClone({ get a() { return f() } }); f()", Stack),
                row(39, "const o = { get x() { return this.x } }; o.x", Stack),
                row(39, "const make = () => ({ valueOf() { return +make() } }); +make()", Stack),
                row(39, "const make = () => ({ [Symbol.toPrimitive]() { return `${make()}` } }); `${make()}`", Stack),
                row(39, "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)", Stack),
                row(39, "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x", Stack),
                row(44, "return { get a() { return JSON.stringify(this) } }", Stack),
            ],
            &limits(),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_full_stack_that_is_caught_is_no_way_around_another_limit() {
    let limits = Limits { fuel: 1_000_000_000, memory: belljar_model::ByteSize::mib(64), ..small() };
    let fuel = || Limit(ErrorKind::Fuel, "fuel");
    Arena::new()
        .all(
            &[
                row(38, "while (true) { try { (function f() { f() })() } catch {} }", fuel()),
                row(38, "const f = () => { try { f() } catch { f() } }; f()", fuel()),
                row(38, "const f = () => { try { f() } finally { f() } }; f()", fuel()),
                row(39, "const f = () => { try { [1].map(f) } catch { [2].map(f) } }; f()", fuel()),
                row(38, "const f = (a = new Array(1000).fill(0)) => f(); f()", Limit(ErrorKind::Memory, "memory")),
            ],
            &limits,
        )
        .await;
}

/// Nested source texts: what is repeated before, and after, a `1`.
const NESTED: [(&str, &str); 8] =
    [("[", "]"), ("{a:", "}"), ("(", ")"), ("`${", "}`"), ("!", ""), ("new ", ""), ("x=>", ""), ("1?", ":1")];

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_source_that_nests_deep_never_ends_the_host() {
    let arena = Arena::new();
    for (open, close) in NESTED {
        for depth in [10_000, 100_000] {
            let source = format!("({}1{})", open.repeat(depth), close.repeat(depth));
            arena.attack(&row(40, source, Stack), &limits()).await;
        }
        // A thousand levels may be too many or not; either is reported.
        let source = format!("({}1{})", open.repeat(1_000), close.repeat(1_000));
        let outcome = arena.run(&source, &limits()).await;
        if let Err(error) = outcome.result {
            // `new 1` is not too many, and throws. Nor are literals, whose value is too deep to
            // return.
            let is_fine = ["new ", "[", "{a:"].contains(&open) && error.kind == ErrorKind::Exception;
            assert!(is_fine || [ErrorKind::Stack, ErrorKind::Syntax].contains(&error.kind), "{open}: {error:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along() {
    let deep = "let a = []; for (let i = 0; i < 1e5; i++) a = [a];";
    let rows: Vec<Row> = vec![
        row(41, "Function('('.repeat(5e3))", Stack),
        row(41, "eval('['.repeat(1e5))", Stack),
        row(42, "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))", Throws("SyntaxError")),
        row(42, "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))", Throws("SyntaxError")),
        row(42, "new RegExp('[' .repeat(1e5) + ']'.repeat(1e5), 'v')", Throws("SyntaxError")),
        row(43, "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5)).length", Value(json!(1))),
        row(43, "JSON.parse('['.repeat(1e5))", Throws("SyntaxError")),
        row(43, "JSON.parse('{\"a\":'.repeat(1e5) + '1' + '}'.repeat(1e5)); return 1", Value(json!(1))),
        row(44, format!("{deep} return JSON.stringify(a).length"), Throws("TypeError")),
        row(44, format!("{deep} return a"), Fails(ErrorKind::Exception, "TypeError")),
        row(44, format!("{deep} await box.echo({{ a }})"), Throws("TypeError")),
        row(44, format!("{deep} console.log(a); return structuredClone(a).length"), Value(json!(1))),
        row(45, "const a = []; a.push(a); a.flat(Infinity)", Stack),
        row(45, format!("{deep} return a.flat(Infinity).length"), Stack),
        row(45, format!("{deep} return String(a)"), Stack),
        row(46, "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); return o.missing ?? 'none'", Stack),
        row(
            46,
            "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); o.x = 1; return o instanceof Array",
            Value(json!(false)),
        ),
        row(47, "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x", Stack),
        row(47, "let p = []; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return Array.isArray(p)", Stack),
        row(47, "let p = []; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p", Stack),
        row(
            48,
            "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f()",
            Limit(ErrorKind::Memory, "memory"),
        ),
        row(49, format!("return {}1", "1+".repeat(100_000)), Stack),
        row(
            50,
            "let e = new Error('0'); for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); throw e",
            Throws("Error: e"),
        ),
        row(
            50,
            "let e = new Error('0'); for (let i = 0; i < 1e5; i++) e = new AggregateError([e], 'e'); throw e",
            Throws("AggregateError: e"),
        ),
        row(
            50,
            "let e = new Error('0'); for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); console.log(e); return 1",
            Value(json!(1)),
        ),
        row(
            51,
            "async function f(n) { return n === 0 ? box.echo({ a: 1 }) : f(n - 1) } return f(150)",
            Value(json!({ "a": 1 })),
        ),
        row(51, "const f = n => { box.echo({ n }); f(n + 1) }; f(0)", Limit(ErrorKind::Calls, "max_calls")),
    ];
    Arena::with(Arc::new(crate::support::tools())).all(&rows, &limits()).await;
}
