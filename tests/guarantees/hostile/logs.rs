//! Logs without end: lines 96 to 99 of the catalogue.

use belljar_model::{ByteSize, ErrorKind, Limits};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Limit, Value},
    row, small,
};

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_log_of_any_size_is_cut_and_said_to_be() {
    let limits = Limits { max_logs: ByteSize::kib(4), fuel: 2_000_000_000, ..small() };
    let arena = Arena::new();
    for (line, source, expected) in [
        (96, "console.log('x'.repeat(2 ** 29)); return 1", Limit(ErrorKind::Memory, "memory")),
        (96, "console.log('x'.repeat(3e6)); return 1", Value(json!(1))),
        (96, "console.log('%s%s', 'x'.repeat(1e6), 'y'.repeat(1e6)); return 1", Value(json!(1))),
        (97, "for (;;) console.log('line')", Limit(ErrorKind::Fuel, "fuel")),
        (97, "for (let i = 0; i < 1e5; i++) console.log(); return 1", Value(json!(1))),
    ] {
        let outcome = arena.attack(&row(line, source, expected), &limits).await;
        let bytes: usize = outcome.logs.iter().map(|entry| entry.text.len()).sum();
        assert!(outcome.usage.log_bytes <= 4096 && bytes < 4096 + 200, "{source}: {bytes} bytes");
        assert!(outcome.logs.len() <= 10_001, "{source}: {} entries", outcome.logs.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn whatever_is_logged_is_shown() {
    let arena = Arena::new();
    for source in [
        "const t = () => { throw 1 }; console.log(new Proxy({ a: 1 }, { get: t, ownKeys: t, getOwnPropertyDescriptor: t, getPrototypeOf: t, has: t })); return 0",
        "let n = 0; console.log({ get a() { n++ }, toJSON() { n++ } }); return n",
        "const a = { n: [] }; a.n.push(a); console.log(a); return 0",
        "const p = new Proxy({}, {}); const q = Proxy.revocable({}, {}); q.revoke(); console.log(p, q.proxy); return 0",
    ] {
        let outcome = arena.attack(&row(98, source, Value(json!(0))), &small()).await;
        assert_eq!(outcome.logs.len(), 1, "{source}");
    }
}
