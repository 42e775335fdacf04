//! Each limit ends a run with its own error, which no script can catch; and the next run is clean.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, Effect, ErrorKind, Limits, RunError};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet};

use crate::support;

/// The error of a script that must reach a limit, and its earlier logs.
async fn hit(source: &str, limits: Limits) -> RunError {
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    let error = outcome.result.expect_err(source);
    // Whatever happened to that run, the next one works.
    assert_eq!(support::value("1 + 1").await, 2);
    error
}

#[track_caller]
fn assert_limit(error: &RunError, kind: ErrorKind, name: &str, max: u64) {
    assert_eq!(error.kind, kind, "{error:#?}");
    let limit = error.limit.as_ref().unwrap_or_else(|| panic!("no limit: {error:#?}"));
    assert_eq!((limit.name.as_str(), limit.max), (name, max), "{error:#?}");
    assert!(limit.used >= limit.max, "{error:#?}");
    assert!(error.hint.is_some() && error.recoverable, "{error:#?}");
}

/// Loops that a catch, a finally or a microtask would keep alive if they could.
const ENDLESS: [&str; 6] = [
    "while (true) {}",
    "for (;;) await 0",
    "for (;;) { try { while (true) {} } catch {} finally { continue } }",
    "const again = () => Promise.resolve().then(again); await again()",
    "/(a+)+$/.test('a'.repeat(40) + '!')",
    "[3, 1, 2].sort(() => { for (;;) {} })",
];

#[tokio::test(flavor = "multi_thread")]
async fn fuel_ends_every_endless_script() {
    for source in ENDLESS {
        let error = hit(source, Limits { fuel: 50_000_000, ..Limits::default() }).await;
        assert_limit(&error, ErrorKind::Fuel, "fuel", 50_000_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn compute_time_ends_every_endless_script() {
    for source in ENDLESS {
        let error = hit(source, Limits { compute: Duration::from_millis(60), ..Limits::default() }).await;
        assert_limit(&error, ErrorKind::Timeout, "compute", 60);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_timeout_ends_a_script_that_computes() {
    let error = hit("while (true) {}", Limits { timeout: Duration::from_millis(60), ..Limits::default() }).await;
    assert_limit(&error, ErrorKind::Timeout, "timeout", 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeout_ends_a_script_that_waits_and_compute_time_does_not() {
    let limits = Limits { timeout: Duration::from_secs(4), compute: Duration::from_secs(3), ..Limits::default() };
    for source in ["await box.wait({ ms: 60000 })", "await new Promise(done => setTimeout(done, 60000))"] {
        let error = hit(source, limits.clone()).await;
        assert_limit(&error, ErrorKind::Timeout, "timeout", 4000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_ends_whatever_hoards_it() {
    let limit = ByteSize::mib(32);
    for source in [
        "let s = 'x'; for (;;) s += s",
        "let a = [1]; for (;;) a = a.concat(a)",
        "const a = []; for (;;) a.push({ a: 1 })",
        "const m = new Map(); for (let i = 0;; i++) m.set(i, i)",
        "const b = []; for (;;) b.push(new Uint8Array(1000000))",
    ] {
        let error = hit(source, Limits { memory: limit, ..Limits::default() }).await;
        assert_limit(&error, ErrorKind::Memory, "memory", limit.as_u64());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_stays_below_its_limit_and_is_reported() {
    let limits = Limits { memory: ByteSize::mib(64), ..Limits::default() };
    let small = support::run_with("1", &limits, Arc::new(support::tools())).await.usage;
    let large =
        support::run_with("new Array(1000000).fill(0).map((_, i) => i).length", &limits, Arc::new(support::tools()))
            .await
            .usage;
    let (small, large) = (small.peak_memory_bytes.unwrap(), large.peak_memory_bytes.unwrap());
    assert!(small > 0 && large > small + 1_000_000 && large <= limits.memory.as_u64(), "{small} {large}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_counted_and_bounded() {
    let limits = Limits { max_calls: 5, ..Limits::default() };
    let source = "for (let i = 0; i < 5; i++) await box.echo({ i }); return 'five'";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert!(outcome.is_ok());
    assert_eq!((outcome.usage.tool_calls, outcome.calls.len()), (5, 5));

    let source = "for (let i = 0;; i++) try { await box.echo({ i }) } catch {}";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_limit(outcome.result.as_ref().unwrap_err(), ErrorKind::Calls, "max_calls", 5);
    assert_eq!(outcome.calls.iter().filter(|call| call.ok).count(), 5, "finished calls are kept");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn calls_at_once_are_bounded_by_themselves() {
    let limits = Limits { max_concurrent_calls: 4, ..Limits::default() };
    let source =
        "for (let i = 0; i < 5; i++) await Promise.all([1, 2, 3, 4].map(ms => box.wait({ ms }))); return 'done'";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap().as_str(), "\"done\"");
    assert_eq!((outcome.usage.tool_calls, outcome.usage.concurrent_calls), (20, 4));
    for source in [
        "await Promise.all([1, 2, 3, 4, 5].map(ms => box.wait({ ms })))",
        "for (;;) try { box.wait({ ms: 60000 }).catch(() => {}) } catch {}",
    ] {
        let error = hit(source, limits.clone()).await;
        assert_limit(&error, ErrorKind::Calls, "max_concurrent_calls", 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn time_spent_waiting_has_a_limit_of_its_own_which_computing_does_not_use_up() {
    let limits = Limits { wait: Duration::from_millis(150), ..Limits::default() };
    for source in [
        "await box.wait({ ms: 60000 })",
        "for (;;) await box.wait({ ms: 20 }).catch(() => {})",
        "await new Promise(done => setTimeout(done, 60000))",
    ] {
        let error = hit(source, limits.clone()).await;
        assert_limit(&error, ErrorKind::Timeout, "wait", 150);
    }
    let source = "const begun = Date.now(); while (Date.now() - begun < 400); return 'done'";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap().as_str(), "\"done\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_in_the_queue_is_no_time_of_the_run() {
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let sandbox = Sandbox::new(&Image::embedded(), options).unwrap();
    let (tools, limits) = (Arc::new(support::tools()), Limits::default());
    let first =
        sandbox.run(Program::new("await box.wait({ ms: 6000 })")).limits(&limits).tools(tools.clone()).into_future();
    // It queues for longer than its own timeout.
    let short = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let second = sandbox.run(Program::new("return 'there'")).limits(&short).tools(tools).into_future();
    let (first, second) = tokio::join!(first, second);
    assert!(first.is_ok());
    assert_eq!(second.result.unwrap().as_str(), "\"there\"");
    assert!(second.usage.wall_ms.is_some_and(|ms| ms < 5000.0), "{:?}", second.usage);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_used_of_each_limit_is_reported() {
    let source = "console.log('a\\nb'); console.log('c'); await Promise.all([box.echo({ text: 'x'.repeat(100) }), box.echo({})]); return [1]";
    let usage = support::run_with(source, &Limits::default(), Arc::new(support::tools())).await.usage;
    assert_eq!(usage.source_bytes, source.len() as u64);
    assert_eq!((usage.tool_calls, usage.concurrent_calls), (2, 2));
    assert_eq!(usage.largest_arguments_bytes, 111);
    assert_eq!(usage.largest_result_bytes, 111 + r#"{"content":[],"structuredContent":}"#.len() as u64);
    assert_eq!((usage.log_bytes, usage.log_lines, usage.output_bytes), (4, 3, 3));
    // Both arguments, and at least one of the answers.
    assert!(usage.peak_held_bytes.is_some_and(|bytes| bytes >= 111 + 2), "{usage:?}");
    let (wall, guest, wait) = (usage.wall_ms.unwrap(), usage.guest_ms.unwrap(), usage.wait_ms.unwrap());
    assert!(guest > 0.0 && wait >= 0.0 && wall >= guest, "{usage:?}");
    assert!(usage.fuel.is_some_and(|fuel| fuel > 0) && usage.peak_memory_bytes.is_some_and(|bytes| bytes > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_has_a_time_limit_of_its_own_that_can_be_caught() {
    let limits = Limits { call: Duration::from_millis(50), ..Limits::default() };
    let source = "try { await box.wait({ ms: 60000 }) } catch (e) { return [e instanceof ToolError, e.message] }";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    let value = outcome.result.unwrap().to_value().unwrap();
    assert_eq!(value[0], true);
    assert!(value[1].as_str().unwrap().contains("50ms"), "{value}");
    assert!(!outcome.calls[0].ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_over_the_limit_says_so() {
    let limits = Limits { max_output: ByteSize::b(100), ..Limits::default() };
    let error = hit("'x'.repeat(1000)", limits).await;
    assert_limit(&error, ErrorKind::Output, "max_output", 100);
    assert_eq!(error.limit.unwrap().used, 1002);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_over_the_limit_never_enters_the_jar() {
    let limits = Limits { max_source: ByteSize::b(10), ..Limits::default() };
    let error = hit("/* a comment */ 1", limits).await;
    assert_limit(&error, ErrorKind::Usage, "max_source", 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_and_results_over_their_limits_are_errors_that_can_be_caught() {
    let limits = Limits { max_arguments: ByteSize::b(1000), ..Limits::default() };
    let source = "try { await box.echo({ a: 'x'.repeat(2000) }) } catch (e) { return e.message }";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert!(outcome.result.unwrap().as_str().contains("limit is 1000"));
    assert_eq!(outcome.usage.tool_calls, 0, "nothing left the jar");

    let limits = Limits { max_result: ByteSize::b(1000), ..Limits::default() };
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert!(outcome.result.unwrap().as_str().contains("limit is 1000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_cut_and_the_cut_is_said() {
    let limits = Limits { max_logs: ByteSize::kib(1), ..Limits::default() };
    let source = "for (let i = 0; i < 100000; i++) console.log('line', i); return 'done'";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap().as_str(), "\"done\"");
    assert!(outcome.usage.log_bytes <= 1024);
    assert_eq!(outcome.logs[0].text, "line 0");
    assert!(outcome.logs.last().unwrap().text.contains("limit of 1024 bytes"), "{:?}", outcome.logs.last());
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn log_lines_are_bounded_too() {
    let limits = Limits { max_log_lines: 3, ..Limits::default() };
    for source in
        ["for (let i = 0; i < 9; i++) console.log(i)", "console.log('0\\n1\\n2\\n3\\n4')", "for (;;) console.log()"]
    {
        let outcome =
            support::run_with(source, &Limits { fuel: 50_000_000, ..limits.clone() }, Arc::new(support::tools())).await;
        assert_eq!(outcome.usage.log_lines, 3, "{source}");
        let last = outcome.logs.last().unwrap();
        assert!(last.text.contains("or 3 lines"), "{source}: {last:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_and_calls_are_kept_when_a_limit_ends_the_run() {
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    let source = "console.log('before'); await box.echo({}); await box.fail({}).catch(() => {}); for (;;) {}";
    let outcome = support::run_with(source, &limits, Arc::new(support::tools())).await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Fuel);
    assert_eq!(outcome.logs[0].text, "before");
    let calls: Vec<(&str, bool)> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("echo", true), ("fail", false)]);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn deep_nesting_ends_in_an_error_and_the_host_lives_on() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{a:", "}"), ("!", ""), ("`${", "}`"), ("x=>", "")] {
        for depth in [1_000, 10_000, 100_000] {
            let source = format!("return {}1{}", open.repeat(depth), close.repeat(depth));
            let outcome = support::run_with(&source, &Limits::default(), Arc::new(support::tools())).await;
            if let Err(error) = outcome.result {
                let expected =
                    [ErrorKind::Stack, ErrorKind::Syntax, ErrorKind::Exception, ErrorKind::Output, ErrorKind::Memory];
                assert!(expected.contains(&error.kind), "{open} {depth}: {error:#?}");
            }
        }
    }
    assert_eq!(support::value("1 + 1").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_may_nest_1000_literals_or_calls_and_chain_1000_terms_and_400_conditions() {
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(1_000), close.repeat(1_000));
    let terms = |term: &str| [term; 1_000].join(" + ");
    let tests: Vec<String> = (0..400).map(|index| format!("if (x === {index}) {{ y = {index}; }}")).collect();
    let choices: String = (0..400).map(|index| format!("x === {index} ? {index} : ")).collect();
    for (source, value) in [
        (format!("return {}.length", nested("[", "]")), 1),
        (format!("return Object.keys({}).length", nested("{ a: ", " }")), 1),
        (format!("return {}", nested("(", ")")), 1),
        (format!("return {}", nested("Number(", ")")), 1),
        (format!("return Number({})", nested("`${", "}`")), 1),
        // Parentheses that stay: oxc leaves out those above.
        (format!("return {}", nested("0 + (", ")")), 1),
        (format!("return {}1{}", "(function () { return ".repeat(400), " })()".repeat(400)), 1),
        (format!("return {}", terms("1")), 1_000),
        (format!("const s = {}; return s.length", terms("'a'")), 1_000),
        (format!("const x = 399; let y; {} return y", tests.join(" else ")), 399),
        (format!("const x = 399; return {choices} -1"), 399),
    ] {
        assert_eq!(support::value(&source).await, value, "{}…", &source[..60]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_does_not_hold_up_a_computing_one_nor_the_other_way_round() {
    let limits = Limits { compute: Duration::from_secs(2), ..Limits::default() };
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let limits = limits.clone();
            tokio::spawn(async move {
                let outcome = support::run_with("for (;;) {}", &limits, Arc::new(support::tools())).await;
                (outcome, Instant::now())
            })
        })
        .collect();
    // While every core loops for two seconds, an innocent run begins and ends.
    let innocent = tokio::spawn(async { (support::value("await box.add({ a: 1, b: 2 })").await, Instant::now()) });
    let mut last = Instant::now();
    for run in busy {
        let (outcome, ended) = run.await.unwrap();
        assert_limit(&outcome.result.unwrap_err(), ErrorKind::Timeout, "compute", 2000);
        last = last.max(ended);
    }
    let (innocent, ended) = innocent.await.unwrap();
    assert_eq!(innocent, 3.0);
    assert!(ended < last, "the busy runs were to outlast the innocent one");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_take_turns_where_more_compute_than_may_and_waiting_runs_take_none() {
    let options = SandboxOptions { max_computing: 1, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    let started = |source: &'static str, limits: Limits| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move {
            sandbox.run(Program::new(source)).limits(&limits).tools(Arc::new(support::tools())).await
        })
    };
    let waiting: Vec<_> = (0..20).map(|_| started("return await box.wait({ ms: 60000 })", Limits::default())).collect();
    let limits = Limits { compute: Duration::from_millis(500), ..Limits::default() };
    let busy: Vec<_> = (0..3).map(|_| started("for (;;) {}", limits.clone())).collect();
    let innocent = started("return await box.add({ a: 1, b: 2 })", Limits::default()).await.unwrap();
    assert_eq!(innocent.result.unwrap().as_str(), "3");
    assert!(busy.iter().any(|run| !run.is_finished()), "the busy runs were to outlast the innocent one");
    for run in busy {
        assert_limit(&run.await.unwrap().result.unwrap_err(), ErrorKind::Timeout, "compute", 500);
    }
    assert!(waiting.iter().all(|run| !run.is_finished()));
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_beyond_slots_and_queue_is_told_that_belljar_is_busy() {
    let options = SandboxOptions { max_live: 1, max_queued: 0, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    let (entered, mut is_in) = tokio::sync::mpsc::channel(1);
    let tools = ToolSet::new().with("box", "stay", Effect::ReadOnly, move |_| {
        let entered = entered.clone();
        async move {
            let _ = entered.send(()).await;
            std::future::pending().await
        }
    });
    let first = tokio::spawn({
        let sandbox = sandbox.clone();
        async move { sandbox.run(Program::new("await box.stay()")).tools(Arc::new(tools)).await }
    });
    is_in.recv().await.unwrap();
    let second = sandbox.run(Program::new("1")).await;
    let error = second.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert!(error.recoverable && error.limit.is_some(), "{error:#?}");
    assert!(error.retry_after_ms.is_some_and(|ms| ms > 0) && error.message.contains("retry after"), "{error:#?}");

    // Dropping a run frees its slot.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let third = sandbox.run(Program::new("1")).await;
    assert_eq!(third.result.unwrap().as_str(), "1");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_queued_run_gets_the_slot_that_is_freed() {
    let options = SandboxOptions { max_live: 2, max_queued: 50, ..SandboxOptions::default() };
    let sandbox = Sandbox::new(&Image::embedded(), options).unwrap();
    let limits = Limits::default();
    let runs = (0..40).map(|i| sandbox.run(format!("{i} + 1")).limits(&limits).into_future());
    let values: Vec<String> =
        futures::future::join_all(runs).await.into_iter().map(|run| run.result.unwrap().as_str().to_owned()).collect();
    assert_eq!(values, (1..=40).map(|i| i.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_loop_that_outlives_the_timeout_after_calls_is_not_told_to_call_in_parallel() {
    let limits = Limits { timeout: Duration::from_secs(2), ..Limits::default() };
    let looping = "await box.echo({});\nawait box.echo({});\nwhile (true) {}";
    let waiting = "await box.echo({});\nawait box.echo({});\nawait box.wait({ ms: 60000 })";
    for (source, says) in [(looping, "is there a loop that never ends"), (waiting, "Promise.all")] {
        let error = support::run_with(source, &limits, Arc::new(support::tools())).await.result.expect_err("it ends");
        assert_eq!(error.kind, ErrorKind::Timeout, "{error:#?}");
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(says)), "{error:#?}");
    }
}
