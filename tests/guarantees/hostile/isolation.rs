//! Runs on one slot, one after the other: lines 100 to 109 of the catalogue.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use belljar_model::{ByteSize, ErrorKind, Limits};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions};
use serde_json::json;

use super::arena::{
    Arena,
    Expected::{Limit, Value},
    row, small,
};
use crate::support::tools;

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn thousands_of_runs_on_one_slot_leave_nothing_to_each_other() {
    const SOURCE: &str = "
        const found = [typeof left, Symbol.left, Object.prototype.left, Array.prototype.left, Symbol.keyFor(Symbol.for('left')).left, Math.left];
        globalThis.left = 1; Symbol.left = 1; Object.prototype.left = 1; Array.prototype.left = 1; String.prototype.left = 1; Math.left = 1;
        return found.every(each => each === undefined || each === 'undefined')";
    let arena = Arena::new();
    for run in 0..10_000 {
        let outcome = arena.run(SOURCE, &Limits::default()).await;
        assert_eq!(outcome.result.unwrap().as_str(), "true", "run {run}");
    }
    arena.attack(&row(100, SOURCE, Value(json!(true))), &Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn fresh_memory_is_zero_whatever_was_there_before() {
    let arena = Arena::new();
    let limits = Limits { fuel: u64::MAX, ..small() };
    let filled = "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(0xab))";
    let looked = "const a = new Uint8Array(8e6); return a.indexOf(0xab) + a.findIndex(byte => byte !== 0)";
    for _ in 0..3 {
        arena.attack(&row(101, filled, Limit(ErrorKind::Memory, "memory")), &limits).await;
        arena.attack(&row(101, looked, Value(json!(-2))), &limits).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn random_numbers_and_ids_differ_from_run_to_run() {
    let arena = Arena::new();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..50 {
        let value =
            arena.run("return [Math.random(), crypto.randomUUID()].join()", &Limits::default()).await.result.unwrap();
        assert!(seen.insert(value.as_str().to_owned()), "{} came twice", value.as_str());
    }
    arena.attack(&row(102, "return Math.random() < 1", Value(json!(true))), &small()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn every_clock_goes_by_the_millisecond() {
    let source = "
        const isWhole = (read) => {
            const ticks = new Set();
            for (let i = 0; i < 2000; i++) ticks.add(read());
            return [...ticks].every((tick) => Math.abs(tick - Math.round(tick)) < 1e-3);
        };
        const instant = Temporal.Now.instant();
        return [isWhole(() => performance.now()), isWhole(() => Date.now()), isWhole(() => performance.timeOrigin + performance.now()),
                instant.epochNanoseconds % 1000000n === 0n]";
    Arena::new().attack(&row(103, source, Value(json!([true, true, true, true]))), &Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_that_is_dropped_at_any_poll_frees_its_slot() {
    const SOURCE: &str = "
        let n = 0; for (let i = 0; i < 3e4; i++) n += i;
        await box.wait({ ms: 1 }); await new Promise(done => setTimeout(done, 1));
        await Promise.all([box.echo({}), box.wait({ ms: 1 }), box.fail({}).catch(() => {})]);
        return n";
    let sandbox =
        Sandbox::new(&Image::embedded(), SandboxOptions { max_live: 1, ..SandboxOptions::default() }).unwrap();
    let limits = Limits::default();
    let mut polls = 0;
    loop {
        polls += 1;
        let mut run = sandbox.run(Program::new(SOURCE)).limits(&limits).tools(Arc::new(tools())).into_future();
        let mut ended = false;
        for poll in 0..polls {
            // It gets no wake-up, but after a while everything that it waits for is there.
            if poll > 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            if let Poll::Ready(outcome) = run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                assert_eq!(outcome.result.unwrap().as_str(), "449985000");
                ended = true;
                break;
            }
        }
        drop(run);
        let next = sandbox.run(Program::new("1 + 1")).limits(&limits).tools(Arc::new(tools())).await;
        assert_eq!(next.result.unwrap().as_str(), "2", "after {polls} polls");
        if ended {
            break;
        }
    }
    assert!(polls > 3, "the run was to be dropped in the middle, and ended at poll {polls}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_run_after_a_trap_has_an_instance_of_its_own() {
    let arena = Arena::new();
    let limits = Limits { fuel: 20_000_000, ..small() };
    for _ in 0..20 {
        arena.attack(&row(107, "globalThis.left = 1; for (;;) {}", Limit(ErrorKind::Fuel, "fuel")), &limits).await;
        let next = arena.run("typeof left", &Limits::default()).await;
        assert_eq!(next.result.unwrap().as_str(), "\"undefined\"");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn whichever_growth_of_memory_is_denied_the_run_ends_as_memory() {
    const SOURCE: &str = "const all = []; for (let i = 0; i < 80; i++) all.push(new Uint8Array(1e5).fill(i), { i, text: 'x'.repeat(5000) + i }); return all.length";
    const PAGE: u64 = 65_536;
    let arena = Arena::new();
    let peak = arena.run(SOURCE, &Limits::default()).await.usage.peak_memory_bytes.unwrap();
    let empty = arena.run("1", &Limits::default()).await.usage.peak_memory_bytes.unwrap();
    assert!(peak > empty + 20 * PAGE, "the script was to grow the memory: {empty} to {peak}");
    // Each size of the memory is the limit once, so that each growth is denied once.
    for pages in (empty / PAGE - 4)..=(peak / PAGE) {
        let limits = Limits { memory: ByteSize::b(pages * PAGE), ..Limits::default() };
        let outcome = arena.run(SOURCE, &limits).await;
        match outcome.result {
            Ok(value) => assert_eq!((value.as_str(), pages), ("160", peak / PAGE)),
            Err(error) => {
                assert!(pages < peak / PAGE, "{pages} pages are enough: {error:#?}");
                assert_eq!(error.kind, ErrorKind::Memory, "{pages} pages: {error:#?}");
                assert_eq!(error.limit.map(|limit| limit.name.as_str()), Some("memory"));
            }
        }
        arena.assert_clean("a growth that was denied").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn with_whatever_fuel_a_run_succeeds_or_ends_as_fuel() {
    const SOURCE: &str = "const names = ['b', 'a'].sort(); await box.echo({ names }); return JSON.stringify(names)";
    let arena = Arena::new();
    let enough = arena.run(SOURCE, &Limits::default()).await.usage.fuel.unwrap();
    let sweep =
        (0..=400).chain((400..enough).step_by(usize::try_from(enough / 300).unwrap())).chain([enough - 1, enough]);
    for fuel in sweep {
        let outcome = arena.run(SOURCE, &Limits { fuel, ..Limits::default() }).await;
        match outcome.result {
            // Fuel is counted at branches: code after the last one is free.
            Ok(value) => {
                assert_eq!(value.as_str(), r#""[\"a\",\"b\"]""#);
                assert!(enough - fuel < 5_000, "{fuel} sufficed where {enough} were used");
            }
            Err(error) => {
                assert!(fuel < enough, "{error:#?}");
                assert_eq!(error.kind, ErrorKind::Fuel, "fuel {fuel}: {error:#?}");
                assert_eq!(error.limit.map(|limit| limit.max), Some(fuel));
            }
        }
    }
    arena.assert_clean("a sweep of fuel").await;
}
