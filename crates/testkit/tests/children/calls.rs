//! How calls end.

use std::time::Instant;

use belljar_model::ByteSize;
use belljar_upstream::{CallLimit, Exit};
use serde_json::json;

use super::*;

/// Calls the child until it has been told to cancel this many calls.
async fn wait_for_cancellations(upstream: &Upstream, count: usize) {
    let told = async {
        loop {
            let seen = call(upstream, "cancelled", json!({})).await.expect("the child goes on");
            if seen["structuredContent"]["ids"].as_array().map(Vec::len) == Some(count) {
                return;
            }
        }
    };
    tokio::time::timeout(AMPLE, told).await.expect("the cancellations arrive");
}

#[tokio::test]
async fn a_result_is_passed_on_whole_and_a_failed_tool_is_a_result() {
    let upstream = child(&["echo"]);
    let result = call(&upstream, "echo", json!({"z": 1, "a": [null, "ä"]})).await.expect("a result");
    assert_eq!(result["structuredContent"].to_string(), r#"{"z":1,"a":[null,"ä"]}"#);
    let result = call(&upstream, "fail", json!({})).await.expect("a result");
    assert_eq!(result["isError"], true);
    upstream.shutdown().await;
}

#[tokio::test]
async fn calls_of_one_child_run_at_the_same_time() {
    let upstream = child(&["echo"]);
    upstream.tools("child").await.expect("it starts");
    let begun = Instant::now();
    let calls = (0..50).map(|_| {
        let upstream = upstream.clone();
        tokio::spawn(async move { call(&upstream, "slow", json!({"ms": 200})).await.map(drop) })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic").expect("a result");
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "one after the other they take ten seconds");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_that_dies_mid_call_fails_that_call_at_once_and_is_restarted_on_the_next() {
    let upstream = child(&["crash-on-call"]);
    let mut changes = upstream.subscribe();
    for restarts in 0..2 {
        let fault = call(&upstream, "echo", json!({})).await.expect_err("it dies");
        let CallError::Died { exit: Some(Exit::Process(exit)), stderr, .. } = &fault else { panic!("{fault:?}") };
        assert_eq!(exit.code(), Some(7));
        assert_eq!(*stderr, ["panicked in echo"]);
        assert!(fault.to_string().contains("panicked in echo"), "{fault}");
        let stopped = state_when(&mut changes, ServerState::Failing).await;
        assert_eq!((stopped.restarts, stopped.pid), (restarts, None));
        assert!(stopped.last_error.is_some_and(|error| error.contains("exit status: 7")));
    }
    upstream.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_right_after_a_death_has_a_life_of_its_own() {
    let mut spec = spec(&["crash-on-call"]);
    spec.life.breaker.failures = 100.try_into().expect("not zero");
    let upstream = upstream(spec);
    for _ in 0..20 {
        let fault = call(&upstream, "echo", json!({})).await.expect_err("it dies");
        assert!(matches!(fault, CallError::Died { .. }), "{fault:?}");
    }
    // A call that was sent to a dead child would have failed without starting it again.
    assert_eq!(status(&upstream).restarts, 19);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_killed_child_fails_every_call_in_flight_and_no_other_child() {
    let hanging = child_server("child", binary(), &["hang-call"]);
    let healthy = child_server("healthy", binary(), &["echo"]);
    let upstream = upstream_with(vec![hanging, healthy], options());
    upstream.tools("child").await.expect("it starts");
    let pid = status(&upstream).pid.and_then(|pid| i32::try_from(pid).ok()).expect("it runs");
    let path = ToolPath::new("healthy", "slow");
    let slow = upstream.call(&path, arguments(json!({"ms": 300})), AMPLE);
    let (first, second, slow, ()) =
        tokio::join!(call(&upstream, "echo", json!({})), call(&upstream, "echo", json!({})), slow, async {
            upstream.tools("healthy").await.expect("it starts");
            let leader = nix::unistd::Pid::from_raw(pid);
            nix::sys::signal::kill(leader, nix::sys::signal::Signal::SIGKILL).expect("it can be killed");
        });
    for fault in [first, second].map(|call| call.expect_err("it was killed")) {
        assert!(matches!(fault, CallError::Died { exit: Some(Exit::Process(_)), .. }), "{fault:?}");
    }
    assert!(slow.is_ok());
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_hanging_call_times_out_and_the_child_goes_on() {
    let upstream = child(&["probe"]);
    upstream.tools("child").await.expect("it starts");
    let begun = Instant::now();
    let fault = upstream.call(&ToolPath::new("child", "hang"), Map::new(), SHORT).await.expect_err("it hangs");
    assert!(matches!(&fault, CallError::Timeout { limit: SHORT, tool, .. } if tool == "hang"), "{fault:?}");
    assert!(begun.elapsed() >= SHORT);
    wait_for_cancellations(&upstream, 1).await;
    assert_eq!(status(&upstream).restarts, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_that_never_answers_calls_holds_none_for_longer_than_its_limit() {
    let upstream = child(&["hang-call"]);
    for _ in 0..3 {
        let fault = upstream.call(&ToolPath::new("child", "echo"), Map::new(), SHORT).await.expect_err("it hangs");
        assert!(matches!(fault, CallError::Timeout { .. }), "{fault:?}");
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_child() {
    let upstream = child(&["probe"]);
    upstream.tools("child").await.expect("it starts");
    let path = ToolPath::new("child", "hang");
    for _ in 0..3 {
        let hanging = upstream.call(&path, Map::new(), AMPLE);
        assert!(tokio::time::timeout(SHORT, hanging).await.is_err());
    }
    wait_for_cancellations(&upstream, 3).await;
    upstream.shutdown().await;
}

#[tokio::test]
async fn progress_extends_a_call_up_to_its_total() {
    let upstream = child(&["probe"]);
    upstream.tools("child").await.expect("it starts");
    let path = ToolPath::new("child", "progress");
    let quiet = Duration::from_secs(4);
    let limit = CallLimit { quiet, total: AMPLE };
    // Each report comes well within the quiet time, but all of them together do not.
    let patient = upstream.call(&path, arguments(json!({"times": 50, "ms": 100})), limit).await;
    assert!(patient.is_ok(), "{patient:?}");
    let limit = CallLimit { quiet, total: Duration::from_millis(900) };
    let fault = upstream.call(&path, arguments(json!({"times": 50, "ms": 100})), limit).await.expect_err("too long");
    assert!(matches!(fault, CallError::Timeout { limit, .. } if limit == Duration::from_millis(900)), "{fault:?}");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_its_call_and_no_other() {
    let mut options = options();
    options.max_result = ByteSize::kib(100);
    let upstream = upstream_with(vec![spec(&["probe"])], options);
    // The first text is too large for a result, the others for a line.
    for (bytes, id_last) in [(200_000, false), (17_000_000, false), (17_000_000, true)] {
        let large = call(&upstream, "large", json!({"bytes": bytes, "id_last": id_last}));
        let (large, other) = tokio::join!(large, call(&upstream, "cancelled", json!({})));
        assert!(matches!(large, Err(CallError::TooLarge { limit }) if limit == ByteSize::kib(100)), "{large:?}");
        assert!(other.is_ok());
    }
    assert!(call(&upstream, "large", json!({"bytes": 90_000})).await.is_ok());
    assert_eq!(status(&upstream).restarts, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_result_that_is_no_object_or_too_deep_is_a_fault() {
    let upstream = child(&["probe"]);
    for (tool, value) in [("scalar", json!({})), ("deep", json!({"levels": 200})), ("deep", json!({"levels": 500_000}))]
    {
        let fault = call(&upstream, tool, value).await.expect_err("it cannot be used");
        assert!(matches!(fault, CallError::Malformed(_)), "{fault:?}");
    }
    assert!(call(&upstream, "deep", json!({"levels": 100})).await.is_ok());
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_json_rpc_error_is_a_fault_whose_text_is_one_clean_line() {
    let upstream = child(&["probe"]);
    let fault = call(&upstream, "refuse", json!({})).await.expect_err("it refuses");
    assert!(
        matches!(&fault, CallError::Protocol { code: -32602, message } if message == "no: wrong arguments"),
        "{fault:?}"
    );
    upstream.shutdown().await;
}

#[tokio::test]
async fn what_a_child_asks_for_is_declined_and_its_pings_are_answered() {
    let upstream = child(&["probe"]);
    let ask = async |method: &str, params: Value| {
        let result = call(&upstream, "ask", json!({"method": method, "params": params})).await.expect("an answer");
        result["structuredContent"].clone()
    };
    assert_eq!(ask("ping", json!({})).await["result"], json!({}));
    assert_eq!(ask("roots/list", json!({})).await["error"]["code"], -32601);
    let sampling = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5});
    assert_eq!(ask("sampling/createMessage", sampling).await["error"]["code"], -32601);
    let elicitation = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    assert_eq!(ask("elicitation/create", elicitation).await["result"]["action"], "decline");
    assert_eq!(ask("unheard/of", json!({})).await["error"]["code"], -32601);
    upstream.shutdown().await;
}
