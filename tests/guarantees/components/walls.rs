//! Hostile components: each of them ends as an outcome, and the next run is not affected.

use std::time::Duration;

use belljar_model::{ByteSize, ErrorKind, Limits};
use serde_json::json;

use super::support::{encoded, kind, module, returns, run, run_with, typed, value};

/// A component without imports whose `run` has this body.
fn bare(parts: &str, body: &str) -> Vec<u8> {
    typed("", &module(parts, body))
}

const STREAMS: [&str; 2] = [
    "package wasi:io@0.2.6; interface error { resource error; } interface poll { resource pollable; } interface streams {
        use error.{error}; variant stream-error { last-operation-failed(error), closed }
        resource output-stream { blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>; } }",
    "package wasi:cli@0.2.6; interface stdout { use wasi:io/streams@0.2.6.{output-stream}; get-stdout: func() -> output-stream; }
     interface exit { exit: func(status: result); }",
];
const WRITE: &str = r#"
    (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
    (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))
    (data (i32.const 16) "a line of a log\n")"#;
const RUN: &str = "export run: func() -> result<string, string>;";

/// A component that writes to stdout.
fn writing(body: &str) -> Vec<u8> {
    let world = format!("import wasi:cli/stdout@0.2.6; import wasi:io/streams@0.2.6; {RUN}");
    encoded("", &STREAMS, &world, &module(WRITE, body))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_the_fuel_or_at_the_time_to_compute() {
    let endless = bare("", "(loop $again (br $again)) unreachable");
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    let outcome = run_with(&endless, &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Fuel);
    assert_eq!(outcome.usage.fuel, Some(1_000_000));
    let limits = Limits { fuel: u64::MAX / 2, compute: Duration::from_millis(30), ..Limits::default() };
    let outcome = run_with(&endless, &limits).await;
    let error = outcome.result.expect_err("it is ended");
    assert_eq!((error.kind, error.limit.unwrap().name.as_str()), (ErrorKind::Timeout, "compute"));
    assert!(error.message.contains("the component"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_grows_ends_the_run_at_its_limit() {
    let grows = bare("", "(loop $again (drop (memory.grow (i32.const 16))) (br $again)) unreachable");
    let limits = Limits { memory: ByteSize::mib(8), ..Limits::default() };
    let outcome = run_with(&grows, &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Memory);
    assert!(outcome.usage.peak_memory_bytes.is_some_and(|peak| peak <= 8 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn recursion_without_end_ends_as_a_stack() {
    let outcome = run(&bare(
        "(func $deep (param i64) (result i64) (i64.add (i64.const 1) (call $deep (local.get 0))))",
        "(drop (call $deep (i64.const 1))) unreachable",
    ))
    .await;
    assert_eq!(kind(&outcome), ErrorKind::Stack);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_grows_to_its_bound_and_no_further() {
    let outcome = run(&bare(
        "(table $t 1 funcref)",
        &format!(
            "(if (i32.ne (table.grow $t (ref.null func) (i32.const 1000000)) (i32.const -1)) (then unreachable)) {}",
            returns(0, "(i32.const 16)", "(i32.const 0)")
        ),
    ))
    .await;
    assert_eq!(value(&outcome), json!(""));
}

#[tokio::test(flavor = "multi_thread")]
async fn traps_wherever_they_come_are_the_errors_of_their_run() {
    let post = format!(r#"(func (export "cabi_post_run") (param i32) unreachable) {}"#, "");
    for (parts, body) in [
        ("", "unreachable".to_owned()),
        ("(func $start unreachable) (start $start)", returns(0, "(i32.const 16)", "(i32.const 0)")),
        (post.as_str(), returns(0, "(i32.const 16)", "(i32.const 0)")),
        ("", "(drop (i32.load (i32.const -4))) unreachable".to_owned()),
    ] {
        let outcome = run(&bare(parts, &body)).await;
        let error = outcome.result.expect_err("it traps");
        assert_eq!(error.kind, ErrorKind::Exception, "{parts} {body}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_values_and_lying_sizes_are_errors_and_nothing_else() {
    for (what, body) in [
        ("a case that there is not", returns(7, "(i32.const 16)", "(i32.const 1)")),
        ("a text beyond its memory", returns(0, "(i32.const 16)", "(i32.const -1)")),
        ("a text outside of its memory", returns(0, "(i32.const -16)", "(i32.const 32)")),
        ("a result outside of its memory", "(i32.const -1)".to_owned()),
        (
            "bytes that are not UTF-8",
            format!("(i32.store8 (i32.const 16) (i32.const 255)) {}", returns(0, "(i32.const 16)", "(i32.const 1)")),
        ),
    ] {
        let outcome = run(&bare("", &body)).await;
        assert_eq!(kind(&outcome), ErrorKind::Exception, "{what}: {outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_too_large_is_refused_before_it_is_copied() {
    let large = |bytes: u32| {
        bare(
            "",
            &format!(
                "(drop (memory.grow (i32.const 3000))) {}",
                returns(0, "(i32.const 65536)", &format!("(i32.const {bytes})"))
            ),
        )
    };
    assert_eq!(kind(&run(&large(300_000)).await), ErrorKind::Output);
    let outcome = run(&large(150 << 20)).await;
    assert_eq!(kind(&outcome), ErrorKind::Exception, "more than the host takes at once: {outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_to_stdout_is_the_log_and_a_flood_of_it_is_cut() {
    let once = "(call $write (call $stdout) (i32.const 16) (i32.const 16) (i32.const 2048))";
    let outcome = run(&writing(&format!("{once} {}", returns(0, "(i32.const 16)", "(i32.const 6)")))).await;
    assert_eq!(value(&outcome), json!("a line"));
    assert_eq!(outcome.logs.iter().map(|log| log.text.as_str()).collect::<Vec<_>>(), ["a line of a log"]);

    let flood = format!(
        "(local $out i32) (local $n i32) (local.set $out (call $stdout))
         (loop $again
            (call $write (local.get $out) (i32.const 16) (i32.const 16) (i32.const 2048))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 20000)))) {}",
        returns(0, "(i32.const 16)", "(i32.const 6)")
    );
    let limits = Limits { max_logs: ByteSize(1000), ..Limits::default() };
    let outcome = run_with(&writing(&flood), &limits).await;
    assert_eq!(value(&outcome), json!("a line"));
    assert!(outcome.usage.log_bytes <= 1000 && outcome.logs.len() < 100, "{}", outcome.logs.len());
    assert!(outcome.logs.last().is_some_and(|log| log.text.contains("limit of 1000 bytes")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_handles_ends_the_run() {
    let outcome = run(&writing("(loop $again (drop (call $stdout)) (br $again)) unreachable")).await;
    assert_eq!(kind(&outcome), ErrorKind::Exception, "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_exits_has_failed_with_that() {
    let parts = r#"(import "wasi:cli/exit@0.2.6" "exit" (func $exit (param i32)))"#;
    let world = format!("import wasi:cli/exit@0.2.6; {RUN}");
    let outcome = run(&encoded("", &STREAMS, &world, &module(parts, "(call $exit (i32.const 0)) unreachable"))).await;
    let error = outcome.result.expect_err("it has no value");
    assert!(error.kind == ErrorKind::Exception && error.message.contains("exit code 0"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_error_of_run_is_the_runs_message_and_its_text_the_value() {
    let data = r#"(data (i32.const 16) "{\"a\": [1]}")"#;
    let outcome = run(&bare(data, &returns(0, "(i32.const 16)", "(i32.const 10)"))).await;
    assert_eq!(value(&outcome), json!({ "a": [1] }));
    let outcome = run(&bare(data, &returns(1, "(i32.const 16)", "(i32.const 3)"))).await;
    let error = outcome.result.expect_err("its error arm");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Exception, "{\"a"));
}

/// A component without a module's layer around it: whatever its core module can ask for of `canon`.
fn of_canon(types: &str, canon: &str, core: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            {types}
            (core func $new (canon {canon}))
            (core module $m
                (import "" "new" (func $new {core}))
                (memory (export "memory") 1)
                (func (export "run") (result i32)
                    (loop $again (drop (call $new {})) (br $again)) unreachable))
            (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
            (func (export "run") (result (result string (error string)))
                (canon lift (core func $i "run") (memory (core memory $i "memory")))))"#,
        if core.contains("param") { "(i32.const 7)" } else { "" }
    );
    text.into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_streams_futures_sets_and_resources_end_the_run() {
    for (types, canon, core) in [
        ("(type $s (stream u8))", "stream.new $s", "(result i64)"),
        ("(type $f (future string))", "future.new $f", "(result i64)"),
        ("", "waitable-set.new", "(result i32)"),
        ("(type $r (resource (rep i32)))", "resource.new $r", "(param i32) (result i32)"),
    ] {
        let outcome = run(&of_canon(types, canon, core)).await;
        let error = outcome.result.expect_err(canon);
        assert!(matches!(error.kind, ErrorKind::Exception | ErrorKind::Memory), "{canon}: {error:?}");
        assert!(outcome.usage.fuel.is_some_and(|fuel| fuel < 50_000_000), "{canon}: {:?}", outcome.usage);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_in_what_the_host_calls_end_at_the_fuel() {
    let parts = r#"(import "belljar:mcp-kit/tools@0.1.0" "fail" (func $fail (param i32)))"#;
    let result = returns(0, "(i32.const 16)", "(i32.const 0)");
    // The host asks for room for the message of the error.
    let realloc = module(parts, &format!("(call $fail (i32.const 2048)) {result}"))
        .replace("(local $at i32)", "(local $at i32) (loop $again (br $again))");
    let post = r#"(func (export "cabi_post_run") (param i32) (loop $again (br $again)))"#;
    let start = "(func $start (loop $again (br $again))) (start $start)";
    for (what, file) in [
        ("realloc", typed("import belljar:mcp-kit/tools@0.1.0;", &realloc)),
        ("post-return", bare(post, &result)),
        ("start", bare(start, &result)),
    ] {
        let limits = Limits { fuel: 10_000_000, ..Limits::default() };
        assert_eq!(kind(&run_with(&file, &limits).await), ErrorKind::Fuel, "{what}");
    }
}
