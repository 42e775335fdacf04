//! Tool calls in large numbers, without end, and at the worst moment: lines 80 to 91 of the
//! catalogue, except those in modules `tool_calls`, `dead_children` and `cancellation`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use belljar_model::{ByteSize, Effect, ErrorKind, Limits};
use belljar_sandbox::ToolSet;
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Fails, Limit, Throws, Value},
    row, small,
};

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn calls_without_number_meet_their_limit() {
    let calls = || Limit(ErrorKind::Calls, "max_calls");
    let limits = Limits { fuel: 20_000_000_000, ..small() };
    let arena = Arena::new();
    for (line, source) in [
        (80, "for (let i = 0; i < 1e6; i++) await box.echo({ i })"),
        (80, "for (let i = 0; i < 1e6; i++) try { await box.fail({}) } catch {}"),
        (81, "await Promise.all(Array.from({ length: 1e5 }, (_, i) => box.echo({ i })))"),
        (81, "for (;;) box.echo({}).catch(() => {})"),
    ] {
        let outcome = arena.attack(&row(line, source, calls()), &limits).await;
        assert!(outcome.usage.tool_calls <= limits.max_calls, "{source}");
        assert!(outcome.calls.len() as u64 <= limits.max_calls, "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn work_between_calls_counts_all_together() {
    let source = "for (;;) { await box.echo({}).catch(() => {}); for (let i = 0; i < 1e5; i++); }";
    let arena = Arena::new();
    arena.attack(&row(16, source, Limit(ErrorKind::Calls, "max_calls")), &Limits { fuel: u64::MAX, ..small() }).await;
    let many = Limits { max_calls: 1_000_000, ..small() };
    arena.attack(&row(16, source, Limit(ErrorKind::Fuel, "fuel")), &many).await;
    let short = Limits { fuel: u64::MAX, compute: Duration::from_millis(100), ..many };
    arena.attack(&row(16, source, Limit(ErrorKind::Timeout, "compute")), &short).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn timers_without_number_meet_their_limit() {
    let limits = Limits { fuel: 20_000_000_000, memory: ByteSize::mib(128), ..small() };
    let source = "for (;;) setTimeout(() => {}, 1e6)";
    let outcome = Arena::new().attack(&row(80, source, Throws("RangeError: setTimeout: more than")), &limits).await;
    assert_eq!(outcome.usage.tool_calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_is_thrown_and_no_error_is_reported_all_the_same() {
    Arena::new()
        .all(
            &[
                row(84, "throw null", Fails(ErrorKind::Exception, "")),
                row(84, "throw undefined", Fails(ErrorKind::Exception, "")),
                row(84, "await Promise.reject(null)", Fails(ErrorKind::Exception, "")),
                row(84, "Promise.reject(null); return 1", Value(json!(1))),
                row(83, "await new Promise(() => {})", Fails(ErrorKind::Deadlock, "")),
                row(83, "await { then() {} }", Fails(ErrorKind::Deadlock, "")),
            ],
            &small(),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn an_answer_at_the_very_moment_of_the_deadline_is_a_value_or_a_timeout_and_nothing_else() {
    let timeout = Duration::from_millis(40);
    let begun = Arc::new(AtomicUsize::new(0));
    let counter = begun.clone();
    let tools = ToolSet::new().with("box", "late", Effect::ReadOnly, move |_| {
        counter.fetch_add(1, SeqCst);
        async move {
            tokio::time::sleep(timeout).await;
            Ok(json!("there"))
        }
    });
    let arena = Arena::with(Arc::new(tools));
    let limits = Limits { timeout, ..small() };
    let mut calls = 0;
    for _ in 0..40 {
        let outcome = arena.run("return await box.late()", &limits).await;
        match &outcome.result {
            Ok(value) => assert_eq!(value.as_str(), "\"there\""),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Timeout, "{error:#?}");
                assert_eq!(error.limit.as_ref().map(|limit| limit.name.as_str()), Some("timeout"));
            }
        }
        // Whichever it was, the call has one record. On a slow machine there may be none.
        assert_eq!(outcome.calls.len(), begun.swap(0, SeqCst), "{outcome:#?}");
        calls += outcome.calls.len();
    }
    assert!((1..=40).contains(&calls), "{calls}");
    arena.assert_clean("answers at the deadline").await;
}
