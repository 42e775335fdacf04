//! Values that are awkward to carry: lines 72 to 79 of the catalogue, except those in modules
//! `values` and `numbers`.

use belljar_model::{ByteSize, ErrorKind, Limits};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Fails, Limit, Throws, Value},
    row, small,
};

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn texts_that_no_utf8_can_hold_are_replaced_wherever_they_leave() {
    let arena = Arena::new();
    let value = "return { 'k\\ud800': ['\\udc00x'], ok: '\\ud83d\\ude00' }";
    arena.attack(&row(72, value, Value(json!({ "k\u{fffd}": ["\u{fffd}x"], "ok": "😀" }))), &small()).await;
    let through = "return await box.echo({ 'k\\ud800': '\\udc00' })";
    arena.attack(&row(72, through, Value(json!({ "k\u{fffd}": "\u{fffd}" }))), &small()).await;
    let logged = arena.attack(&row(72, "console.log('a\\ud800b'); return 1", Value(json!(1))), &small()).await;
    assert_eq!(logged.logs[0].text, "a\u{fffd}b");
    let thrown = arena.attack(&row(72, "throw new Error('a\\ud800b')", Throws("Error: a\u{fffd}b")), &small()).await;
    assert!(!thrown.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn special_characters_and_large_keys_pass_whole() {
    let limits = Limits {
        max_output: ByteSize::mib(4),
        max_arguments: ByteSize::mib(4),
        memory: ByteSize::mib(128),
        fuel: 20_000_000_000,
        ..small()
    };
    let special = "\u{0}\u{2028}\u{2029}\u{feff}\u{7f}\u{85}";
    let source = "const s = '\\0\\u2028\\u2029\\ufeff\\u007f\\u0085'; return await box.echo({ [s]: s })";
    Arena::new()
        .all(
            &[
                row(73, source, Value(json!({ special: special }))),
                row(
                    73,
                    "return Object.keys(await box.echo({ ['k'.repeat(1e6)]: 1 }))[0].length",
                    Value(json!(1_000_000)),
                ),
                row(73, "return { ['k'.repeat(1e6)]: 1 }", Value(json!({ "k".repeat(1_000_000): 1 }))),
            ],
            &limits,
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_value_over_its_limit_is_refused_with_the_size_it_has_and_never_cut() {
    let output = || Limit(ErrorKind::Output, "max_output");
    let limits = Limits { memory: ByteSize::mib(256), fuel: 20_000_000_000, ..small() };
    let arena = Arena::new();
    for (line, source) in [
        (76, "return 'x'.repeat(100e6)"),
        (76, "const o = {}; for (let i = 0; i < 1e6; i++) o['k' + i] = i; return o"),
        (79, "return 'x'.repeat(262143)"),
        (79, "return Array(200000).fill(1)"),
    ] {
        // An overlarge value is reported, and no part of it is passed on that could be taken for
        // the whole.
        let outcome = arena.run(source, &limits).await;
        assert_eq!(outcome.usage.output_bytes, 0, "{source}");
        arena.attack(&row(line, source, output()), &limits).await;
    }
    arena.attack(&row(79, "return 'x'.repeat(262142)", Value(json!("x".repeat(262_142)))), &limits).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn sparse_and_lazy_values_are_what_json_makes_of_them() {
    Arena::new()
        .all(
            &[
                row(78, "const a = [1]; a[3] = 2; return a", Value(json!([1, null, null, 2]))),
                row(78, "return (async function* () { yield 1 })()", Value(json!({}))),
                row(78, "const all = []; for await (const x of (async function* () { yield 1; yield 2 })()) all.push(x); return all", Value(json!([1, 2]))),
                row(70, "return { get a() { throw new RangeError('mine') } }", Fails(ErrorKind::Exception, "RangeError: mine")),
                row(70, "let n = 0; return [{ get a() { return ++n } }, { get a() { return ++n } }]", Value(json!([{ "a": 1 }, { "a": 2 }]))),
                row(71, "return { toJSON() { const c = {}; c.c = c; return c } }", Fails(ErrorKind::Exception, "TypeError")),
                row(69, "const a = {}; a.a = a; return a", Fails(ErrorKind::Exception, "TypeError")),
                row(66, "return [undefined, NaN, -0, Infinity, null]", Value(json!([null, null, 0, null, null]))),
                row(67, "return 1n", Fails(ErrorKind::Exception, "TypeError")),
                row(67, "return [Symbol('s'), () => 1]", Value(json!([null, null]))),
            ],
            &small(),
        )
        .await;
}
