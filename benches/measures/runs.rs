//! What a run costs inside a warm process: `cargo bench -p belljar-benches --bench runs`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_measures::{many_tools, two_tools};
use belljar_model::{ByteSize, Limits};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet, Tools};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};

struct Bench {
    runtime: Runtime,
    sandbox: Sandbox,
}

impl Bench {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap();
        Self { runtime, sandbox }
    }

    async fn run(&self, source: &str, tools: Arc<dyn Tools>) {
        let limits = Limits { max_calls: 100_000, max_output: ByteSize::mib(16), ..Limits::default() };
        let outcome = self.sandbox.run(Program::new(source)).limits(&limits).tools(tools).await;
        assert!(outcome.is_ok(), "{:?}", outcome.result);
    }
}

fn runs(criterion: &mut Criterion) {
    let bench = Bench::new();
    let mut case = |name: &str, source: &str, tools: Arc<dyn Tools>| {
        criterion.bench_function(name, |bencher| {
            bencher.to_async(&bench.runtime).iter(|| bench.run(source, tools.clone()));
        });
    };
    case("instantiate + 1+1 + drop", "1+1", Arc::new(ToolSet::new()));
    case("1 tool bound, 1 called", "await box0.tool0({ a: 1 })", many_tools(1));
    case("1,000 tools bound, 1 called", "await box0.tool0({ a: 1 })", many_tools(1_000));
    case("1,000 sequential calls", "for (let i = 0; i < 1000; i++) await box.echo({ i })", two_tools());
    case(
        "1,000 calls of 50 ms at once",
        "(await Promise.all(Array.from({ length: 1000 }, () => box.wait({})))).length",
        two_tools(),
    );

    // The same as the first, all rounds in one task of a runtime with a thread for each core. A
    // task for each round would measure how long it takes to wake a thread.
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let bench = Arc::new(bench);
    criterion.bench_function("instantiate + 1+1 + drop, many threads", |bencher| {
        bencher.to_async(&runtime).iter_custom(|rounds| {
            let bench = bench.clone();
            let work = async move {
                let begun = Instant::now();
                for _ in 0..rounds {
                    bench.run("1+1", Arc::new(ToolSet::new())).await;
                }
                begun.elapsed()
            };
            async move { tokio::spawn(work).await.unwrap() }
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(5));
    targets = runs
}
criterion_main!(benches);
