//! Very many short runs of every kind, sequential and concurrent, while the process is monitored.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use belljar_measures::{process, two_tools};
use belljar_model::{ByteSize, Effect, ErrorKind, Limits};
use belljar_sandbox::{Program, Sandbox, ToolSet, Tools};
use futures::{FutureExt as _, future::join_all};

/// Runs under way at the same time.
const AT_ONCE: u64 = 4;

/// The process after some runs.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Runs that have ended.
    pub runs: u64,
    /// How long the last of them took, since the previous sample.
    pub elapsed: Duration,
    /// Bytes of memory that are resident.
    pub resident_bytes: u64,
    /// File descriptors that are open.
    pub descriptors: usize,
}

/// A kind of run: its name, its source, its expected end, and its limits.
struct Kind {
    name: &'static str,
    source: &'static str,
    ends: Option<ErrorKind>,
    limits: Limits,
}

/// The names of all kinds, which take turns.
pub fn kinds() -> Vec<&'static str> {
    all().iter().map(|kind| kind.name).chain(["dropped in a call"]).collect()
}

fn all() -> Vec<Kind> {
    let kind = |name, source, ends| Kind { name, source, ends, limits: Limits::default() };
    let little = |name, source, ends, limits| Kind { name, source, ends: Some(ends), limits };
    vec![
        kind("a sum", "1+1", None),
        kind("JSON", "JSON.parse(JSON.stringify({ a: Array(200).fill({ b: 'c' }) })).a.length", None),
        kind("TypeScript", "type T = { a: number }; const t: T = { a: 1 }; t.a as number", None),
        kind("text", "'the quick brown fox '.repeat(50).split(' ').sort().join('-').replace(/o/g, '0').length", None),
        kind("a call", "await box.echo({ a: 1 })", None),
        kind("calls at once", "(await Promise.all([1, 2, 3, 4, 5].map((i) => box.echo({ i })))).length", None),
        kind("a timer", "await new Promise((resolve) => setTimeout(resolve, 0)); 1", None),
        kind("logs", "for (let i = 0; i < 20; i++) console.log('line', i, { a: [i] }); 1", None),
        kind("an exception", "null.property", Some(ErrorKind::Exception)),
        kind("a syntax error", "const = 1", Some(ErrorKind::Syntax)),
        kind("a refused call", "await box.echo(1n)", Some(ErrorKind::Exception)),
        kind("a deadlock", "await new Promise(() => {})", Some(ErrorKind::Deadlock)),
        kind("a full stack", "(function f() { return f() + 1 })()", Some(ErrorKind::Stack)),
        little("no fuel", "for (;;);", ErrorKind::Fuel, Limits { fuel: 2_000_000, ..Limits::default() }),
        little(
            "no memory",
            "const all = []; for (;;) all.push(new Uint8Array(1_000_000))",
            ErrorKind::Memory,
            Limits { memory: ByteSize::mib(6), ..Limits::default() },
        ),
        little(
            "no time",
            "for (;;);",
            ErrorKind::Timeout,
            Limits { compute: Duration::from_millis(1), ..Limits::default() },
        ),
        little(
            "too many calls",
            "for (;;) await box.echo({})",
            ErrorKind::Calls,
            Limits { max_calls: 3, ..Limits::default() },
        ),
        little(
            "too much output",
            "'x'.repeat(2000)",
            ErrorKind::Output,
            Limits { max_output: ByteSize::b(1000), ..Limits::default() },
        ),
    ]
}

/// Makes `runs` runs, of each kind in turn, and reports on the process after every `every` runs.
///
/// # Errors
/// The process cannot be watched: there is no `/proc`.
///
/// # Panics
/// A run ended differently than its kind must.
pub async fn soak(sandbox: &Arc<Sandbox>, runs: u64, every: u64, mut told: impl FnMut(Sample)) -> io::Result<()> {
    let (kinds, tools) = (Arc::new(all()), two_tools());
    let mut done = 0;
    while done < runs {
        let (next, until) = (Arc::new(AtomicU64::new(done)), runs.min(done + every));
        let begun = Instant::now();
        let workers = (0..AT_ONCE).map(|_| {
            let (sandbox, kinds, tools, next) = (sandbox.clone(), kinds.clone(), tools.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= until {
                        return;
                    }
                    one(&sandbox, &kinds, &tools, number).await;
                }
            })
        });
        for worker in join_all(workers).await {
            worker.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        }
        done = until;
        let (resident_bytes, descriptors) = (process::resident_bytes()?, process::descriptors()?);
        told(Sample { runs: done, elapsed: begun.elapsed(), resident_bytes, descriptors });
    }
    Ok(())
}

/// A tool that never answers.
fn never() -> Arc<dyn Tools> {
    Arc::new(ToolSet::new().with("box", "wait", Effect::ReadOnly, async |_| std::future::pending().await))
}

async fn one(sandbox: &Sandbox, kinds: &[Kind], tools: &Arc<dyn Tools>, number: u64) {
    let count = kinds.len() as u64 + 1;
    let kind = usize::try_from(number % count).ok().and_then(|at| kinds.get(at));
    let Some(kind) = kind else {
        let (limits, tools) = (Limits::default(), never());
        let mut run = sandbox.run(Program::new("await box.wait({})")).limits(&limits).tools(tools).into_future();
        // The run gets as far as it can without waiting; then it is dropped.
        assert!((&mut run).now_or_never().is_none(), "a call that is never answered has an answer");
        return;
    };
    let outcome = sandbox.run(Program::new(kind.source)).limits(&kind.limits).tools(tools.clone()).await;
    let ended = outcome.result.as_ref().err().map(|error| error.kind);
    assert_eq!(ended, kind.ends, "run {number}, {}: {:?}", kind.name, outcome.result);
}
