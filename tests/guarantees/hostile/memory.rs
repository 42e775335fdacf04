//! Scripts that fill the memory: lines 21 to 37 of the catalogue.

use belljar_model::{ByteSize, ErrorKind, Limits};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{self, Limit, Throws, Value},
    Row, row, small,
};

const MEMORY: Expected = Limit(ErrorKind::Memory, "memory");

/// Enough fuel to fill the memory byte by byte. A value may additionally have the size of a result,
/// for images: here that is less than the memory.
fn limits() -> Limits {
    Limits { fuel: 50_000_000_000, max_result: ByteSize::kib(256), ..small() }
}

fn hoarders() -> Vec<Row> {
    vec![
        row(21, "let s = 'x'; for (;;) s += s", MEMORY),
        row(22, "let a = [1]; for (;;) a = a.concat(a)", MEMORY),
        row(23, "Array(2 ** 32 - 1).fill(0)", MEMORY),
        row(25, "new ArrayBuffer(200e6)", MEMORY),
        row(25, "const all = []; for (;;) all.push(new ArrayBuffer(1e6))", MEMORY),
        row(25, "const b = new ArrayBuffer(1, { maxByteLength: 500e6 }); b.resize(400e6)", MEMORY),
        row(26, "const m = new Map(); for (let i = 0;; i++) m.set(i, i)", MEMORY),
        row(26, "const s = new Set(); for (let i = 0;; i++) s.add('k' + i)", MEMORY),
        row(27, "const all = []; for (let i = 0; i < 1e7; i++) all.push(new Promise(() => {}))", MEMORY),
        row(28, "for (let i = 0;; i++) Symbol.for('k' + i)", MEMORY),
        row(29, "const o = {}; for (let i = 0;; i++) Object.assign(o, JSON.parse('{\"k' + i + '\":1}'))", MEMORY),
        row(29, "const all = []; for (let i = 0;; i++) all.push(new Function('return ' + i))", MEMORY),
    ]
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_memory_limit_ends_whatever_hoards_and_cannot_be_caught() {
    Arena::new().all(&hoarders(), &limits()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn garbage_is_no_hoard() {
    let limits = Limits { memory: ByteSize::mib(48), ..limits() };
    Arena::new()
        .all(
            &[
                row(
                    30,
                    "let n = 0; for (let i = 0; i < 1000; i++) n += new Uint8Array(1e6).length; return n",
                    Value(json!(1_000_000_000)),
                ),
                row(
                    30,
                    "let n = 0; for (let i = 0; i < 1000; i++) n += 'x'.repeat(1e6 + i).length; return n",
                    Value(json!(1_000_499_500)),
                ),
                row(
                    30,
                    "const big = Array.from({ length: 1000 }, (_, i) => i); let n = 0; for (let i = 0; i < 20_000; i++) n += big.slice().length; return n",
                    Value(json!(20_000_000)),
                ),
                row(
                    30,
                    "const keys = Array.from({ length: 3000 }, (_, i) => `k${i}`); return Object.keys(keys.reduce((acc, k) => ({ ...acc, [k]: 1 }), {})).length",
                    Value(json!(3000)),
                ),
                row(
                    30,
                    "let a = []; for (let i = 0; i < 5000; i++) a = a.concat([i]); let b = []; for (let i = 0; i < 3000; i++) b = [...b, i]; return a.length + b.length",
                    Value(json!(8000)),
                ),
                row(
                    31,
                    "const registry = new FinalizationRegistry(() => {});
                     for (let i = 0; i < 1e5; i++) { const o = {}; new WeakRef(o); registry.register(o, i) }
                     return 'done'",
                    Value(json!("done")),
                ),
            ],
            &limits,
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_asks_for_too_much_at_once_is_refused_before_it_is_made() {
    Arena::new()
        .all(
            &[
                row(
                    24,
                    "const a = []; a[2 ** 32 - 2] = 1; return [a.length, Object.keys(a).length]",
                    Value(json!([4294967295_u64, 1])),
                ),
                row(25, "new ArrayBuffer(2 ** 53 - 1)", Throws("RangeError")),
                row(25, "new ArrayBuffer(1, { maxByteLength: 2 ** 53 - 1 })", Throws("RangeError")),
                row(32, "'x'.padEnd(2 ** 30)", MEMORY),
                row(32, "'x'.repeat(2 ** 30)", MEMORY),
                row(33, "Array(2 ** 31).join()", MEMORY),
                row(34, "JSON.stringify(Array(2 ** 32 - 1)).length", MEMORY),
                row(35, "(function () {}).apply(null, { length: 2 ** 31 })", MEMORY),
                row(37, "return Array(2 ** 32 - 1)", Limit(ErrorKind::Output, "max_output")),
                row(37, "return { a: [Array(2 ** 32 - 1)] }", Limit(ErrorKind::Output, "max_output")),
            ],
            &limits(),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn sorting_what_is_not_there_is_work_like_any_other() {
    let row = row(36, "[].sort.call({ length: 2 ** 31 })", Limit(ErrorKind::Fuel, "fuel"));
    Arena::new().attack(&row, &small()).await;
}
