//! A hostile component in place of the interpreter: line 65, and what else the host must withstand
//! from a compromised guest.
//!
//! The components are written as WebAssembly text here. They must have the types of
//! `wit/sandbox.wit` to be loaded, but may do anything with them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome};
use belljar_sandbox::{Image, Program, Sandbox, SandboxError, SandboxOptions};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::arena::{note, small};
use crate::support::{repository, tools};

/// Imports that a guest could ask for beside the world of `wit/sandbox.wit`.
const FOREIGN: [&str; 4] = [
    "package wasi:filesystem@0.2.6; interface preopens { get-directories: func() -> list<u32>; }",
    "package wasi:sockets@0.2.6; interface network { open: func() -> u32; }",
    "package wasi:random@0.2.6; interface random { get-random-bytes: func(len: u64) -> list<u8>; }",
    "package wasi:io@0.2.6; interface error { resource error; } interface poll { resource pollable; } interface streams { use error.{error}; use poll.{pollable};
        variant stream-error { last-operation-failed(error), closed }
        resource output-stream {
            blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
            subscribe: func() -> pollable; } }",
];
const STDERR: &str = "package wasi:cli@0.2.6; interface stderr { use wasi:io/streams@0.2.6.{output-stream}; get-stderr: func() -> output-stream; }";

/// A component of the interpreter's world, and of additional `imports`, around a core module.
fn component(imports: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    for package in FOREIGN.iter().chain([&STDERR]) {
        resolve.push_str("foreign.wit", package).unwrap();
    }
    resolve.push_path(repository().join("wit")).unwrap();
    let world = format!("package evil:evil; world evil {{ include belljar:sandbox/interpreter@0.1.0; {imports} }}");
    let package = resolve.push_str("evil.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("evil")).unwrap();
    let mut module = wat::parse_str(core).unwrap_or_else(|error| panic!("{error}\n{core}"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// A core module: `parts` are its imports, data and helpers, `run` the body of its `run`, which
/// returns the address of its result.
///
/// At 1,024 there is room for a result, and at 2,048 for the result of an import; the heap begins
/// at 65,536 and is never freed.
fn module(parts: &str, run: &str) -> String {
    format!(
        r#"(module
            {parts}
            (memory (export "memory") 16)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get 3)))
                (block $fits
                    (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
                    (drop (memory.grow (i32.add (i32.div_u (local.get 3) (i32.const 65536)) (i32.const 1)))))
                (local.get $at))
            (func (export "init"))
            (func (export "run") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                {run}))"#
    )
}

/// Stores a `result` of the program: the tag, and two words behind it.
fn result(tag: u32, first: u32, second: u32) -> String {
    format!(
        "(i32.store8 (i32.const 1024) (i32.const {tag}))
         (i32.store (i32.const 1032) (i32.const {first}))
         (i32.store (i32.const 1036) (i32.const {second}))
         (i32.const 1024)"
    )
}

fn load(component: Vec<u8>) -> Result<Sandbox, SandboxError> {
    Sandbox::new(&Image::from_component(component), SandboxOptions { max_live: 1, ..SandboxOptions::default() })
}

async fn outcome_of(component: Vec<u8>, limits: &Limits) -> Outcome {
    let sandbox = load(component).unwrap();
    let begun = Instant::now();
    let run = sandbox.run(Program::new("the source")).limits(limits).tools(Arc::new(tools())).into_future();
    let outcome = tokio::time::timeout(Duration::from_secs(300), run).await.expect("it hangs");
    note(65, &outcome, begun.elapsed());
    // The slot works again, for the same guest.
    let again = sandbox.run(Program::new("the source")).limits(limits).tools(Arc::new(tools())).await;
    assert_eq!(again.result.as_ref().map_err(|error| error.kind), outcome.result.as_ref().map_err(|error| error.kind));
    outcome
}

/// The error of a guest with this body.
async fn error_of(parts: &str, run: &str) -> belljar_model::RunError {
    // The host does most of the work of these guests, which need little fuel for it.
    let limits = Limits { fuel: 3_000_000, memory: ByteSize::mib(64), ..small() };
    let outcome = outcome_of(component("", &module(parts, run)), &limits).await;
    outcome.result.expect_err(run)
}

/// The imports as the core module sees them.
const WRITE: &str = r#"(import "belljar:sandbox/console@0.1.0" "write" (func $write (param i32 i32 i32)))"#;
const OPEN: &str = r#"(import "belljar:sandbox/tools@0.1.0" "open" (func $open (param i32 i32 i32)))"#;
const DIRECTORY: &str = r#"(import "belljar:sandbox/tools@0.1.0" "directory" (func $directory (param i32 i32)))"#;
const CALL: &str =
    r#"(import "belljar:sandbox/tools@0.1.0" "[method]tool.begin" (func $call (param i32 i32 i32) (result i32)))"#;
const DROP: &str = r#"(import "belljar:sandbox/tools@0.1.0" "[resource-drop]tool" (func $drop (param i32)))"#;
const SLEEP: &str = r#"(import "belljar:sandbox/timers@0.1.0" "begin" (func $sleep (param i32) (result i32)))"#;
const CANCEL: &str = r#"(import "belljar:sandbox/timers@0.1.0" "cancel" (func $cancel (param i32)))"#;
const NEXT: &str = r#"(import "belljar:sandbox/completions@0.1.0" "next" (func $next (param i32)))"#;
const SEARCH: &str = r#"(import "belljar:sandbox/catalog@0.1.0" "search" (func $search (param i32 i32 i32 i32)))"#;
const PLAN: &str = r#"(import "belljar:sandbox/catalog@0.1.0" "plan" (func $plan (param i32 i32 i32)))"#;

const ARTIFACTS: &str =
    r#"(import "belljar:sandbox/workspace@0.1.0" "artifacts" (func $artifacts (param i32 i32 i32)))"#;

/// Does something for ever.
fn forever(what: &str) -> String {
    format!("(loop $again {what} (br $again)) (unreachable)")
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_of_the_right_types_is_let_in_and_answers() {
    let core = module(r#"(data (i32.const 512) "[1]")"#, &result(0, 512, 3));
    let outcome = outcome_of(component("", &core), &small()).await;
    assert_eq!(outcome.result.unwrap().as_str(), "[1]");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_that_imports_what_it_may_not_have_is_not_let_in() {
    for (import, core) in [
        (
            "import wasi:filesystem/preopens@0.2.6;",
            r#"(import "wasi:filesystem/preopens@0.2.6" "get-directories" (func (param i32)))"#,
        ),
        ("import wasi:sockets/network@0.2.6;", r#"(import "wasi:sockets/network@0.2.6" "open" (func (result i32)))"#),
        ("import open: func() -> u32;", r#"(import "$root" "open" (func (result i32)))"#),
    ] {
        match load(component(import, &module(core, "unreachable"))) {
            Err(SandboxError::World(reason)) => assert!(!reason.is_empty()),
            Err(other) => panic!("{import}: {other}"),
            Ok(_) => panic!("{import} was linked"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_that_asks_for_streams_futures_or_async_functions_is_not_let_in() {
    // The types of streams and futures belong to functions: this export is never called.
    const EXTRA: &str = "export extra: func(bytes: stream<u8>, one: future<u8>);";
    let extra = |import: &str| module(&format!(r#"{import} (func (export "extra") (param i32 i32))"#), "unreachable");
    let lowered = r#"(import "belljar:sandbox/completions@0.1.0" "[async-lower]next" (func (param i32) (result i32)))"#;
    for (what, world, core) in [
        ("a stream", EXTRA, extra(r#"(import "[export]$root" "[stream-new-0]extra" (func (result i64)))"#)),
        ("a future", EXTRA, extra(r#"(import "[export]$root" "[future-new-1]extra" (func (result i64)))"#)),
        ("a set of waits", "", module(r#"(import "$root" "[waitable-set-new]" (func (result i32)))"#, "unreachable")),
        ("an import that is called async", "", module(lowered, "unreachable")),
        (
            "an async function",
            "export later: async func();",
            module(
                r#"(import "[export]$root" "[task-return]later" (func))
               (func (export "[async-lift-stackful]later"))"#,
                "unreachable",
            ),
        ),
    ] {
        assert!(load(component(world, &core)).is_err(), "{what} was let in");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_that_waits_for_nothing_is_ended_at_once() {
    let one_timer = "(drop (call $sleep (i32.const 1))) (call $next (i32.const 2048))";
    for (what, run) in [
        ("at the start", "(call $next (i32.const 2048)) unreachable".to_owned()),
        ("after its one timer", format!("{one_timer} (call $next (i32.const 2048)) unreachable")),
        (
            "after its one timer was cancelled",
            "(call $cancel (call $sleep (i32.const 1000000))) (call $next (i32.const 2048)) unreachable".to_owned(),
        ),
    ] {
        let outcome = outcome_of(component("", &module(&[SLEEP, CANCEL, NEXT].join("\n"), &run)), &small()).await;
        let error = outcome.result.expect_err(what);
        assert_eq!(error.kind, ErrorKind::Internal, "{what}: {error:#?}");
        assert_eq!(outcome.order.len(), usize::from(what == "after its one timer"), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_result_that_is_none_is_an_internal_error_and_no_panic() {
    let malformed = [
        ("beyond the memory", result(0, 0xffff_fff0, 64)),
        ("longer than the memory", result(0, 0, u32::MAX)),
        ("no such tag", result(7, 0, 0)),
        ("no UTF-8", result(0, 512, 2)),
        ("no JSON", result(0, 514, 4)),
        ("no such kind of failure", format!("(i32.store8 (i32.const 1032) (i32.const 99)) {}", result(1, 99, 0))),
        ("an address out of nowhere", "(i32.const -8)".to_owned()),
        ("an address askew", "(i32.const 1027)".to_owned()),
        ("a trap", "unreachable".to_owned()),
        ("a division by zero", "(i32.div_u (i32.const 1) (i32.const 0))".to_owned()),
    ];
    for (what, run) in malformed {
        let error = error_of(r#"(data (i32.const 512) "\ff\fe{,}x")"#, &run).await;
        assert_eq!(error.kind, ErrorKind::Internal, "{what}: {error:#?}");
        assert!(!error.recoverable && !error.message.is_empty(), "{what}: {error:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_result_that_is_too_large_or_too_deep_is_refused_before_anything_is_built_of_it() {
    let fill = |count: u32| {
        format!(
            "(drop (memory.grow (i32.const 400)))
             (memory.fill (i32.const 65536) (i32.const 91) (i32.const {count})) {}",
            result(0, 65536, count)
        )
    };
    let error = error_of("", &fill(100_000)).await;
    assert_eq!(error.kind, ErrorKind::Output, "{error:#?}");
    let error = error_of("", &fill(1_000_000)).await;
    assert_eq!((error.kind, error.limit.unwrap().name.as_str()), (ErrorKind::Output, "max_output"));
    // More than the host accepts from a guest at all.
    let limits = Limits { memory: ByteSize::mib(64), ..small() };
    let error = outcome_of(component("", &module("", &fill(20_000_000))), &limits).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal, "{error:#?}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn whatever_a_component_does_without_end_a_limit_ends_it() {
    for (what, parts, run, kind, limit) in [
        ("computing", String::new(), forever(""), ErrorKind::Fuel, "fuel"),
        (
            "logging",
            WRITE.to_owned(),
            forever("(call $write (i32.const 1) (i32.const 0) (i32.const 1000))"),
            ErrorKind::Fuel,
            "fuel",
        ),
        (
            "searching",
            SEARCH.to_owned(),
            // Each answer takes room of the component, which it never frees.
            forever("(call $search (i32.const 0) (i32.const 1) (i32.const -1) (i32.const 2048))"),
            ErrorKind::Memory,
            "memory",
        ),
        (
            "asking about the calls of a script",
            PLAN.to_owned(),
            forever("(call $plan (i32.const 0) (i32.const 60000) (i32.const 2048))"),
            ErrorKind::Fuel,
            "fuel",
        ),
        (
            "asking for artifacts",
            ARTIFACTS.to_owned(),
            forever("(call $artifacts (i32.const 0) (i32.const 1000) (i32.const 2048))"),
            ErrorKind::Fuel,
            "fuel",
        ),
        ("growing", String::new(), forever("(drop (memory.grow (i32.const 16)))"), ErrorKind::Memory, "memory"),
        (
            "starting timers",
            SLEEP.to_owned(),
            forever("(drop (call $sleep (i32.const 1000000)))"),
            ErrorKind::Calls,
            "under_way",
        ),
        (
            "starting timers that have ended",
            SLEEP.to_owned(),
            forever("(drop (call $sleep (i32.const 0)))"),
            ErrorKind::Calls,
            "under_way",
        ),
        (
            "starting and cancelling timers",
            [SLEEP, CANCEL].join("\n"),
            forever("(call $cancel (call $sleep (i32.const 0)))"),
            ErrorKind::Fuel,
            "fuel",
        ),
        (
            "cancelling what never was",
            CANCEL.to_owned(),
            forever("(call $cancel (i32.const -1))"),
            ErrorKind::Fuel,
            "fuel",
        ),
        (
            "calling",
            [OPEN, DIRECTORY, CALL].join("\n"),
            format!(
                "(local $tool i32)
                 (call $directory (i32.const 0) (i32.const 2048))
                 (call $open (i32.const 0) (i32.const 0) (i32.const 2048))
                 (local.set $tool (i32.load (i32.const 2052)))
                 {}",
                forever("(drop (call $call (local.get $tool) (i32.const 512) (i32.const 2)))")
            ),
            ErrorKind::Calls,
            "max_calls",
        ),
    ] {
        let parts = format!("{parts}\n(data (i32.const 512) \"{{}}\")");
        let error = error_of(&parts, &run).await;
        assert_eq!(error.kind, kind, "{what}: {error:#?}");
        assert_eq!(error.limit.map(|limit| limit.name.as_str()), Some(limit), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_a_component_makes_without_end_on_the_host_is_bounded() {
    const STREAMS: &str = r#"(import "wasi:cli/stderr@0.2.6" "get-stderr" (func $new (result i32)))"#;
    const SUBSCRIBE: &str = r#"(import "wasi:io/streams@0.2.6" "[method]output-stream.subscribe" (func $subscribe (param i32) (result i32)))"#;
    const POLLABLES: &str = "import wasi:cli/stderr@0.2.6; import wasi:io/streams@0.2.6;";
    let both = |one: &str, other: &str| [one, other].join("\n");
    for (what, world, imports, run) in [
        (
            "tools",
            "",
            both(OPEN, DIRECTORY),
            format!(
                "(call $directory (i32.const 0) (i32.const 2048)) {}",
                forever("(call $open (i32.const 0) (i32.const 0) (i32.const 2048))")
            ),
        ),
        ("outputs", "import wasi:cli/stderr@0.2.6;", STREAMS.to_owned(), forever("(drop (call $new))")),
        (
            "subscriptions",
            POLLABLES,
            both(STREAMS, SUBSCRIBE),
            format!(
                "(local $output i32) (local.set $output (call $new)) {}",
                forever("(drop (call $subscribe (local.get $output)))")
            ),
        ),
    ] {
        // Enough for ten times the allowed number.
        let limits = Limits { fuel: 50_000_000, memory: ByteSize::mib(64), ..small() };
        let outcome = outcome_of(component(world, &module(&imports, &run)), &limits).await;
        let error = outcome.result.expect_err(what);
        assert_eq!(error.kind, ErrorKind::Internal, "{what}: {error:#?}");
        let fuel = outcome.usage.fuel.unwrap();
        assert!(fuel < limits.fuel / 5, "{what}: it went on for {fuel} of {} units of fuel", limits.fuel);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_that_starts_without_end_or_with_a_trap_ends_too() {
    for (start, kind) in [(forever(""), ErrorKind::Fuel), ("unreachable".to_owned(), ErrorKind::Internal)] {
        let parts = format!("(func $start {start}) (start $start)");
        // An import must come before the functions; the memory may be anywhere.
        let error = error_of(&parts, "unreachable").await;
        assert_eq!(error.kind, kind, "{error:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_that_needs_more_memory_than_its_limit_never_starts() {
    let core =
        module("", "unreachable").replace(r#"(memory (export "memory") 16)"#, r#"(memory (export "memory") 2000)"#);
    let outcome = outcome_of(component("", &core), &small()).await;
    let error = outcome.result.unwrap_err();
    assert_eq!((error.kind, error.limit.map(|limit| limit.name.as_str())), (ErrorKind::Memory, Some("memory")));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_component_finds_its_memory_as_it_was_made_whatever_it_left_in_it() {
    // Checks that eight megabytes of grown memory are zero, and fills them.
    let run = format!(
        r#"(local $at i32)
           (local.set $at (i32.mul (memory.grow (i32.const 128)) (i32.const 65536)))
           (loop $next
               (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then {} (return)))
               (i64.store (local.get $at) (i64.const 0x6b6b6b6b6b6b6b6b))
               (local.set $at (i32.add (local.get $at) (i32.const 8)))
               (br_if $next (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
           {}"#,
        result(0, 515, 3),
        result(0, 512, 3)
    );
    let sandbox = load(component("", &module(r#"(data (i32.const 512) "[1][2]")"#, &run))).unwrap();
    for _ in 0..5 {
        let outcome = sandbox.run(Program::new("")).limits(&small()).tools(Arc::new(tools())).await;
        assert_eq!(outcome.result.unwrap().as_str(), "[1]", "something was left");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_handle_that_was_not_given_calls_nothing() {
    let calls = |tool: i32| format!("(drop (call $call (i32.const {tool}) (i32.const 512) (i32.const 2))) unreachable");
    let data = r#"(data (i32.const 512) "{}")"#;
    for (what, parts, run) in [
        ("a guess", [CALL, data].join("\n"), calls(1)),
        ("another guess", [CALL, data].join("\n"), calls(0x7fff_ffff)),
        (
            "a tool of a directory that was not asked for",
            [OPEN, CALL, data].join("\n"),
            format!(
                "(call $open (i32.const 0) (i32.const 0) (i32.const 2048))
             (if (i32.eqz (i32.load8_u (i32.const 2048))) (then (loop $stay (br $stay)))) {}",
                calls(1)
            ),
        ),
        (
            "a tool beyond the directory",
            [OPEN, DIRECTORY, data].join("\n"),
            "(call $directory (i32.const 0) (i32.const 2048))
             (call $open (i32.const 0) (i32.const 99) (i32.const 2048))
             (if (i32.eqz (i32.load8_u (i32.const 2048))) (then (loop $stay (br $stay)))) unreachable"
                .to_owned(),
        ),
        (
            "a directory beyond the grant",
            [DIRECTORY, data].join("\n"),
            "(call $directory (i32.const -1) (i32.const 2048))
             (if (i32.eqz (i32.load8_u (i32.const 2048))) (then (loop $stay (br $stay)))) unreachable"
                .to_owned(),
        ),
        (
            "a handle that was dropped",
            [OPEN, DIRECTORY, CALL, DROP, data].join("\n"),
            "(call $directory (i32.const 0) (i32.const 2048))
             (call $open (i32.const 0) (i32.const 0) (i32.const 2048))
             (call $drop (i32.load (i32.const 2052)))
             (drop (call $call (i32.load (i32.const 2052)) (i32.const 512) (i32.const 2))) unreachable"
                .to_owned(),
        ),
        (
            "a handle dropped twice",
            [OPEN, DIRECTORY, DROP, data].join("\n"),
            "(call $directory (i32.const 0) (i32.const 2048))
             (call $open (i32.const 0) (i32.const 0) (i32.const 2048))
             (call $drop (i32.load (i32.const 2052))) (call $drop (i32.load (i32.const 2052))) unreachable"
                .to_owned(),
        ),
        (
            "a handle whose call is under way is dropped",
            [OPEN, DIRECTORY, CALL, DROP, data].join("\n"),
            "(call $directory (i32.const 0) (i32.const 2048))
             (call $open (i32.const 0) (i32.const 0) (i32.const 2048))
             (drop (call $call (i32.load (i32.const 2052)) (i32.const 512) (i32.const 2)))
             (call $drop (i32.load (i32.const 2052))) unreachable"
                .to_owned(),
        ),
    ] {
        let outcome = outcome_of(component("", &module(&parts, &run)), &small()).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Internal, "{what}");
        let is_open = what.contains("under way");
        assert_eq!(outcome.usage.tool_calls, u64::from(is_open), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_a_component_gives_to_an_import_is_checked_and_bounded() {
    for (what, parts, run) in [
        ("no such level", WRITE, "(call $write (i32.const 99) (i32.const 0) (i32.const 1)) unreachable"),
        ("a text beyond the memory", WRITE, "(call $write (i32.const 1) (i32.const -16) (i32.const 64)) unreachable"),
        (
            "a text that is not UTF-8",
            WRITE,
            "(i32.store8 (i32.const 512) (i32.const 255)) (call $write (i32.const 1) (i32.const 512) (i32.const 1)) unreachable",
        ),
        (
            "a text of 20 MB",
            WRITE,
            "(drop (memory.grow (i32.const 400))) (call $write (i32.const 1) (i32.const 0) (i32.const 20000000)) unreachable",
        ),
    ] {
        let limits = Limits { memory: ByteSize::mib(64), ..small() };
        let outcome = outcome_of(component("", &module(parts, run)), &limits).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Internal, "{what}");
        assert!(outcome.logs.is_empty(), "{what}");
    }
    let random = r#"(import "wasi:random/random@0.2.6" "get-random-bytes" (func $random (param i64 i32)))"#;
    let core = module(random, "(call $random (i64.const 0x7fffffffffffffff) (i32.const 2048)) unreachable");
    let outcome = outcome_of(component("import wasi:random/random@0.2.6;", &core), &small()).await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Internal);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn endless_recursion_in_machine_code_is_a_stack_error() {
    let parts = "(func $down (param i64) (result i64) (i64.add (call $down (i64.add (local.get 0) (i64.const 1))) (i64.const 1)))";
    let error = error_of(parts, "(drop (call $down (i64.const 0))) unreachable").await;
    assert_eq!(error.kind, ErrorKind::Stack, "{error:#?}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_panic_inside_the_guest_is_a_typed_outcome_that_names_no_place_of_the_build() {
    let imports = "import wasi:cli/stderr@0.2.6;";
    let said =
        "thread 'main' panicked at /build/guest/src/interpreter.rs:7:9:\\nindex out of bounds \\1b[2J\\c2\\9b1m\\n";
    let parts = format!(
        r#"(import "wasi:cli/stderr@0.2.6" "get-stderr" (func $stderr (result i32)))
           (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush" (func $say (param i32 i32 i32 i32)))
           (data (i32.const 512) "{said}")"#
    );
    let length =
        "thread 'main' panicked at /build/guest/src/interpreter.rs:7:9:\nindex out of bounds \u{1b}[2J\u{9b}1m\n".len();
    let core = module(
        &parts,
        &format!("(call $say (call $stderr) (i32.const 512) (i32.const {length}) (i32.const 2048)) unreachable"),
    );
    let error = outcome_of(component(imports, &core), &small()).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.message.contains("index out of bounds"), "{error:#?}");
    assert!(!error.message.contains("/build") && !error.message.contains(char::is_control), "{error:#?}");
    // As much as it likes: only the end is kept.
    let core =
        module(&parts, &forever("(call $say (call $stderr) (i32.const 512) (i32.const 65536) (i32.const 2048))"));
    let limits = Limits { fuel: 10_000, ..small() };
    let error = outcome_of(component(imports, &core), &limits).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Fuel);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_a_component_does_after_it_has_returned_is_ended_and_never_seen() {
    // An export may have another function that frees its result: here one that never ends, or wants
    // to log.
    for (after, kind) in [
        ("(loop $again (br $again))", ErrorKind::Fuel),
        ("(call $write (i32.const 1) (i32.const 512) (i32.const 3))", ErrorKind::Internal),
    ] {
        let parts =
            format!(r#"{WRITE} (data (i32.const 512) "[1]") (func (export "cabi_post_run") (param i32) {after})"#);
        let limits = Limits { fuel: 300_000, ..small() };
        let outcome = outcome_of(component("", &module(&parts, &result(0, 512, 3))), &limits).await;
        assert_eq!(outcome.result.unwrap_err().kind, kind, "what it does after is held to the limits of the run");
        assert!(outcome.logs.is_empty());
    }
}
