//! A recorded run of a component is repeated without its tools, its clocks and its timers: equal in
//! value, logs, calls and fuel.

use std::{sync::Arc, time::Duration};

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, Recorded};
use belljar_sandbox::{Recording, ReplayError};
use serde_json::json;

use super::support::{
    compiled, components, encoded, in_world, kind, linked, module, returns, run, tools, typed, value,
};

pub(super) const MAX: ByteSize = ByteSize::mib(4);
const RUN: &str = "export run: func() -> result<string, string>;";
const NOTE: &str = r#"(import "belljar:mcp-kit/tools@0.1.0" "note" (func $note (param i32 i32 i32 i64 i32)))
    (data (i32.const 16) "hi")"#;

pub(super) async fn recorded_with(file: &[u8], limits: &Limits) -> Outcome {
    components().run(&linked(file)).limits(limits).tools(Arc::new(tools())).recording(MAX).await
}

pub(super) fn recording(outcome: &Outcome) -> Recording {
    match &outcome.recording {
        Some(Recorded::Whole(bytes)) => Recording::read(bytes.clone()).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(super) async fn replayed(file: &[u8], recording: &Recording) -> Result<Outcome, ReplayError> {
    components().replay(&compiled(file).unwrap(), recording, &Limits::default()).await
}

/// Records a run, repeats it, and returns the recorded outcome.
pub(super) async fn repeated(file: &[u8], limits: &Limits) -> Outcome {
    let outcome = recorded_with(file, limits).await;
    let again = replayed(file, &recording(&outcome)).await.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}"));
    assert_eq!(again.result.as_ref().map(|value| value.as_str()), outcome.result.as_ref().map(|value| value.as_str()));
    assert_eq!((again.usage.fuel, &again.logs, &again.order), (outcome.usage.fuel, &outcome.logs, &outcome.order));
    assert_eq!(json!(again.calls), json!(outcome.calls));
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_run_are_answered_from_its_recording() {
    let body = format!(
        "(call $note (i32.const 16) (i32.const 2) (i32.const 1) (i64.const 7) (i32.const 2048))
         (if (i32.load8_u (i32.const 2048)) (then unreachable)) {}",
        returns(0, "(i32.load (i32.const 2056))", "(i32.load (i32.const 2060))")
    );
    let file = typed("import belljar:mcp-kit/tools@0.1.0;", &module(NOTE, &body));
    let outcome = repeated(&file, &Limits::default()).await;
    assert_eq!((value(&outcome), outcome.calls.len()), (json!("hi"), 1));
    let again = recording(&outcome);
    assert_eq!(again.start().engine.component, compiled(&file).unwrap().digest());
    assert!(again.start().script().is_none(), "what ran is not a script");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_were_made_together_are_handed_over_in_the_recorded_order() {
    let file = in_world(
        "import belljar:mcp-kit/tools-async@0.1.0; export run: async func() -> result<string, string>;",
        &super::calls::meeting(),
    );
    let outcome = repeated(&file, &Limits::default()).await;
    assert_eq!((value(&outcome), outcome.usage.concurrent_calls), (json!("both met"), 2));
    assert_eq!(outcome.order.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_looks_for_answers_without_waiting_is_not_repeated() {
    let parts = r#"
        (import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]fail" (func $fail (param i32) (result i32)))
        (import "$root" "[waitable-set-new]" (func $set (result i32)))
        (import "$root" "[waitable-join]" (func $join (param i32 i32)))
        (import "$root" "[waitable-set-poll]" (func $poll (param i32 i32) (result i32)))
        (import "$root" "[thread-yield]" (func $yield (result i32)))
        (data (i32.const 16) "seen")"#;
    let body = format!(
        "(local $set i32) (local.set $set (call $set))
         (call $join (i32.shr_u (call $fail (i32.const 2048)) (i32.const 4)) (local.get $set))
         (loop $again
            (drop (call $yield))
            (br_if $again (i32.eqz (call $poll (local.get $set) (i32.const 512))))) {}",
        returns(0, "(i32.const 16)", "(i32.const 4)")
    );
    let file = in_world(
        "import belljar:mcp-kit/tools-async@0.1.0; export run: async func() -> result<string, string>;",
        &module(parts, &body),
    );
    let outcome = recorded_with(&file, &Limits::default()).await;
    assert_eq!(value(&outcome), json!("seen"));
    let Some(Recorded::NotReplayable { reason }) = outcome.recording else { panic!("it is marked") };
    assert!(reason.contains("without waiting"), "{reason}");
}

pub(super) const WORLD: [&str; 3] = [
    "package wasi:io@0.2.6; interface poll { resource pollable { ready: func() -> bool; block: func(); }
        poll: func(in: list<borrow<pollable>>) -> list<u32>; }",
    "package wasi:clocks@0.2.6;
     interface monotonic-clock { use wasi:io/poll@0.2.6.{pollable}; now: func() -> u64; subscribe-duration: func(when: u64) -> pollable; }
     interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }",
    "package wasi:random@0.2.6; interface random { get-random-u64: func() -> u64; }",
];

/// A component that sleeps this long, and returns what it has seen of clocks and random numbers as
/// 33 digits.
fn dreamer(nanoseconds: u64) -> Vec<u8> {
    let parts = r#"
        (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
        (import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $after (param i64) (result i32)))
        (import "wasi:clocks/wall-clock@0.2.6" "now" (func $wall (param i32)))
        (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
        (import "wasi:io/poll@0.2.6" "[method]pollable.ready" (func $ready (param i32) (result i32)))
        (import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))
        (func $digits (param $at i32) (param $value i64)
            (local $left i32) (local.set $left (i32.const 11))
            (loop $again
                (local.set $left (i32.sub (local.get $left) (i32.const 1)))
                (i32.store8 (i32.add (local.get $at) (local.get $left))
                    (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $value) (i64.const 10)))))
                (local.set $value (i64.div_u (local.get $value) (i64.const 10)))
                (br_if $again (local.get $left))))"#;
    let body = format!(
        "(local $timer i32) (local.set $timer (call $after (i64.const {nanoseconds})))
         ;; How often it looks depends on time.
         (loop $again
            (global.set $free (i32.add (global.get $free) (i32.const 0)))
            (br_if $again (i64.lt_u (call $now) (i64.const 5000000))))
         (drop (call $ready (local.get $timer)))
         (call $block (local.get $timer))
         (call $wall (i32.const 2048))
         (call $digits (i32.const 64) (i64.div_u (call $now) (i64.const 1000000)))
         (call $digits (i32.const 75) (i64.load (i32.const 2048)))
         (call $digits (i32.const 86) (call $random)) {}",
        returns(0, "(i32.const 64)", "(i32.const 33)")
    );
    let world = format!(
        "import wasi:clocks/monotonic-clock@0.2.6; import wasi:clocks/wall-clock@0.2.6; import wasi:random/random@0.2.6; {RUN}"
    );
    encoded("", &WORLD, &world, &module(parts, &body))
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_random_numbers_and_sleeps_are_those_of_the_recording() {
    let outcome = repeated(&dreamer(20_000_000), &Limits::default()).await;
    let seen = value(&outcome).as_str().unwrap().to_owned();
    assert!(seen.len() == 33 && seen[..11].parse::<u64>().unwrap() >= 20, "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_ended_in_its_sleep_is_repeated_without_sleeping() {
    let hour = 3_600_000_000_000;
    let limits = Limits { timeout: Duration::from_millis(100), ..Limits::default() };
    let outcome = repeated(&dreamer(hour), &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Timeout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_a_clock_ended_ends_again_at_the_same_fuel() {
    let endless = typed("", &module("", "(loop $again (br $again)) unreachable"));
    let limits = Limits { fuel: u64::MAX / 2, compute: Duration::from_millis(30), ..Limits::default() };
    let outcome = recorded_with(&endless, &limits).await;
    let ceiling = Limits { fuel: u64::MAX, ..Limits::default() };
    let again = components().replay(&compiled(&endless).unwrap(), &recording(&outcome), &ceiling).await;
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((kind(&again), again.usage.fuel), (ErrorKind::Timeout, outcome.usage.fuel));
    // Elsewhere such a recording asks for more than is allowed.
    let refused = replayed(&endless, &recording(&outcome)).await.expect_err("it has more fuel");
    assert!(matches!(refused, ReplayError::Limits(_)), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_of_one_component_and_of_no_other() {
    let data = |text: &str| {
        let data = format!(r#"(data (i32.const 16) "{text}")"#);
        typed("", &module(&data, &returns(0, "(i32.const 16)", "(i32.const 2)")))
    };
    let (one, other) = (data("hi"), data("ho"));
    let kept = recording(&recorded_with(&one, &Limits::default()).await);
    let refused = replayed(&other, &kept).await.expect_err("it is another");
    assert!(refused.to_string().contains("of another component"), "{refused}");
    // One that lies about its end.
    let mut start = kept.start().clone();
    start.limits.memory = ByteSize::mib(64);
    let mut writer = belljar_recording::Writer::new(&start, MAX);
    writer.call(0, "kit", "note", "{}", 3);
    let bytes = writer.end(kept.end().unwrap()).unwrap();
    let refused = replayed(&one, &Recording::read(bytes).unwrap()).await.expect_err("it makes no call");
    assert!(matches!(&refused, ReplayError::Diverged(_)), "{refused}");
    assert!(refused.to_string().contains("kit.note"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_recording_has_none() {
    let outcome = run(&typed("", &module("", &returns(0, "(i32.const 16)", "(i32.const 0)")))).await;
    assert!(outcome.recording.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_nothing_at_all_fails_again_in_the_same_way() {
    let parts = r#"(import "wasi:io/poll@0.2.6" "poll" (func $poll (param i32 i32 i32)))"#;
    let body = "(call $poll (i32.const 0) (i32.const 0) (i32.const 2048)) unreachable";
    let file = encoded("", &WORLD, &format!("import wasi:io/poll@0.2.6; {RUN}"), &module(parts, body));
    assert_eq!(kind(&repeated(&file, &Limits::default()).await), ErrorKind::Exception);
}
