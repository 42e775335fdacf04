//! Scripts that never end, or take as long as they can: lines 1 to 20 of the catalogue.

use std::time::Duration;

use belljar_model::{ErrorKind, Limits};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{self, Fails, Limit, Throws, Value},
    Row, row, small,
};

const FUEL: Expected = Limit(ErrorKind::Fuel, "fuel");

/// Work that fuel ends: it is charged by the instruction.
fn endless() -> Vec<Row> {
    vec![
        row(1, "while (true) {}", FUEL),
        row(2, "for (;;) await 0", FUEL),
        row(3, "const again = () => Promise.resolve().then(again); await again()", FUEL),
        row(3, "const t = { then(resolve) { resolve(t) } }; await t", FUEL),
        row(3, "queueMicrotask(function again() { queueMicrotask(again) }); await new Promise(() => {})", FUEL),
        row(4, "/(a+)+$/.test('a'.repeat(40) + '!')", FUEL),
        row(4, "'a'.repeat(40).replace(/(a|a)*b/, '')", FUEL),
        row(5, "/((((a{1,100}){1,100}){1,100}){1,100}){1,100}b/.test('a'.repeat(1000))", FUEL),
        row(6, "[3, 1, 2].sort(() => { for (;;) {} })", FUEL),
        row(6, "new Int8Array(3).sort(() => { for (;;) {} })", FUEL),
        row(13, "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)", FUEL),
        row(18, "return { get a() { for (;;) {} } }", FUEL),
        row(18, "return new Proxy({}, { ownKeys() { for (;;) {} } })", FUEL),
        row(18, "return new Proxy([1], { get() { for (;;) {} } })", FUEL),
        row(18, "await box.echo({ get a() { for (;;) {} } })", FUEL),
        row(19, "console.log('%s', { toString() { for (;;) {} } })", FUEL),
        row(19, "console.log('%d', { valueOf() { for (;;) {} } })", Value(json!(null))),
        row(19, "console.log({ toJSON() { for (;;) {} }, toString() { for (;;) {} } })", Value(json!(null))),
        row(
            19,
            "throw { toString() { for (;;) {} }, get message() { for (;;) {} } }",
            Fails(ErrorKind::Exception, "the script threw"),
        ),
        row(20, "while (true) { try { while (true) {} } catch {} finally { continue } }", FUEL),
        row(20, "for (;;) { try { throw 1 } catch {} }", FUEL),
        row(
            20,
            "const again = async () => { try { for (;;) await null } finally { await again() } }; await again()",
            FUEL,
        ),
        row(20, "function* g() { try { for (;;) yield 1 } finally { for (;;) {} } } for (const x of g()) break", FUEL),
    ]
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn fuel_ends_every_endless_script_whatever_it_catches() {
    Arena::new().all(&endless(), &small()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_clock_ends_what_takes_long_and_little_fuel() {
    let limits = Limits { fuel: u64::MAX, compute: Duration::from_millis(200), ..small() };
    let compute = || Limit(ErrorKind::Timeout, "compute");
    Arena::new()
        .all(
            &[
                row(1, "while (true) {}", compute()),
                row(
                    3,
                    "const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})",
                    compute(),
                ),
                row(9, "for (;;) (2n ** 100000n).toString()", compute()),
                row(11, "let s = ''; for (;;) s = s.length < 1e6 ? s + 'x' : ''", compute()),
                row(
                    10,
                    "'x'.repeat(1e5).replace(/x/g, () => { for (let i = 0; i < 1e3; i++); return 'y' })",
                    compute(),
                ),
                row(17, "const a = new Uint8Array(1e7); for (;;) a.copyWithin(1, 0)", compute()),
                row(17, "const a = new Uint8Array(1e7); for (;;) a.fill(7)", compute()),
            ],
            &limits,
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules() {
    let limits = Limits { fuel: 20_000_000_000, ..small() };
    let is_sorted_of = |compare: &str| {
        format!(
            "return [25, 100, 1000].map(n => {{
                const list = Array.from({{ length: n }}, (_, i) => i);
                list.sort({compare});
                return new Set(list).size;
            }})"
        )
    };
    Arena::new()
        .all(
            &[
                row(7, is_sorted_of("() => Math.random() - 0.5"), Value(json!([25, 100, 1000]))),
                row(7, is_sorted_of("() => 1"), Value(json!([25, 100, 1000]))),
                row(7, is_sorted_of("() => NaN"), Value(json!([25, 100, 1000]))),
                row(
                    8,
                    "[3, 2, 1].sort((a, b) => { if (a === 2 || b === 2) throw new Error('midway'); return a - b })",
                    Throws("Error: midway"),
                ),
                row(
                    8,
                    "const a = [4, 3, 2, 1]; a.sort((x, y) => { a.length = 0; return x - y }); return a",
                    Value(json!([1, 2, 3, 4])),
                ),
                row(
                    8,
                    "const a = [4, 3, 2, 1]; a.sort((x, y) => { a.push(9); return x - y }); return a.slice(0, 4)",
                    Value(json!([1, 2, 3, 4])),
                ),
                row(9, "2n ** (2n ** 64n)", Throws("RangeError")),
                row(9, "1n << (2n ** 40n)", Throws("RangeError")),
                row(12, "JSON.parse('[' + '1,'.repeat(5e6) + '1]').length", Limit(ErrorKind::Memory, "memory")),
                row(15, "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", Throws("TypeError")),
            ],
            &limits,
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_grows_without_end_meets_the_memory_limit() {
    let limits = Limits { fuel: 20_000_000_000, ..small() };
    Arena::new()
        .all(
            &[
                row(10, "'x'.repeat(1e7).replace(/x/g, () => 'y')", Limit(ErrorKind::Memory, "memory")),
                row(14, "[...(function* () { for (;;) yield 1 })()]", Limit(ErrorKind::Memory, "memory")),
            ],
            &limits,
        )
        .await;
}
