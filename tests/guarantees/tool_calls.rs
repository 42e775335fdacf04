//! Tool calls: truly concurrent, awaited to the end, within bounds.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_model::{Effect, Limits};
use belljar_sandbox::ToolSet;
use serde_json::json;
use tokio::sync::Barrier;

use crate::support;

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_promise_all_are_under_way_at_the_same_time() {
    // Nobody passes the barrier before all hundred are there: sequential calls would wait for ever.
    let barrier = Arc::new(Barrier::new(100));
    let tools = ToolSet::new().with("box", "meet", Effect::ReadOnly, move |_| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(json!(true))
        }
    });
    let source = "(await Promise.all(Array.from({ length: 100 }, () => box.meet()))).length";
    let limits = Limits { timeout: Duration::from_secs(20), ..Limits::default() };
    let outcome = support::run_with(source, &limits, Arc::new(tools)).await;
    assert_eq!(outcome.result.unwrap().as_str(), "100");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_call_that_is_not_awaited_ends_before_the_run_does() {
    let done = Arc::new(AtomicUsize::new(0));
    let counter = done.clone();
    let tools = ToolSet::new().with("box", "slow", Effect::Mutating, move |_| {
        let counter = counter.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(json!(null))
        }
    });
    for (end, at_the_end) in [("return 'early'", Ok("\"early\"")), ("throw new Error('early')", Err("Error: early"))] {
        let before = done.load(Ordering::SeqCst);
        let source = format!("box.slow(); box.slow(); {end}");
        let outcome = support::run_with(&source, &Limits::default(), Arc::new(tools.clone())).await;
        let result = outcome.result.as_ref().map(|value| value.as_str()).map_err(|error| error.message.as_str());
        assert_eq!(result, at_the_end);
        assert_eq!(done.load(Ordering::SeqCst), before + 2);
        assert_eq!(outcome.calls.iter().filter(|call| call.ok).count(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_under_way_when_a_limit_ended_the_run_is_named() {
    let limits = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let outcome = support::run_with("await box.wait({ ms: 60000 })", &limits, Arc::new(support::tools())).await;
    let call = &outcome.calls[0];
    assert!(!call.ok && call.error.as_ref().unwrap().contains("may have taken effect"), "{call:?}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_that_ends_early_aborts_its_calls() {
    struct OnDrop(Arc<AtomicUsize>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = dropped.clone();
    let tools = ToolSet::new().with("box", "hang", Effect::ReadOnly, move |_| {
        let guard = OnDrop(counter.clone());
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let limits = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let source = "await Promise.all([box.hang(), box.hang(), box.hang()])";
    support::run_with(source, &limits, Arc::new(tools)).await.result.unwrap_err();
    // The runtime drops aborted tasks at its next turn.
    for _ in 0..1_000 {
        if dropped.load(Ordering::SeqCst) == 3 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("{} of 3 calls were aborted", dropped.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn race_and_any_go_on_with_the_first_answer() {
    assert_eq!(support::value("await Promise.race([box.wait({ ms: 5 }), box.wait({ ms: 3000 })])").await, 5);
    let source = "await Promise.any([box.fail({}), box.wait({ ms: 5 })])";
    assert_eq!(support::value(source).await, 5);
    let source = "(await Promise.allSettled([box.fail({}), box.echo({ a: 1 })])).map(each => each.status)";
    assert_eq!(support::value(source).await, json!(["rejected", "fulfilled"]));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn thousands_of_sequential_calls_leave_nothing_behind() {
    let limits = Limits { max_calls: 20_000, ..Limits::default() };
    let source = "let sum = 0; for (let i = 0; i < 20000; i++) sum += (await box.echo({ i })).i; return sum";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap().as_str(), "199990000");
    assert_eq!(outcome.usage.tool_calls, 20_000);
}
