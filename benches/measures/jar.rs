//! What the sandbox costs, wall by wall: `cargo bench --workspace --bench jar`, or with a part of
//! the names after `--`.
//!
//! - `instantiate`, and `1+1`, a typical script, the translation of TypeScript of 1, 10 and 100 KB,
//!   and some computing: each without any wall, with fuel, epochs or the limiter alone, and with
//!   all. These engines are built here, link no tools and no console, and allocate as wasmtime does
//!   by default.
//! - `stock Boa`: the same computing in the unmodified engine, built natively.
//! - `sandbox`: what users get, with its pool: `1+1`, calls one after the other and at once,
//!   results and values of 1 KB to 10 MB.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{hint::black_box, sync::Arc, time::Duration};

use belljar_benches::TYPICAL;
use belljar_measures::{
    two_tools,
    walls::{Jar, Walls},
};
use belljar_model::{ByteSize, Limits};
use belljar_sandbox::{Effect, Image, Program, Sandbox, SandboxOptions, ToolSet, Tools};
use boa_engine::{Context, Source};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const WALLS: [Walls; 5] = [Walls::NONE, Walls::FUEL, Walls::EPOCHS, Walls::LIMITER, Walls::ALL];

/// Scripts that compute, which run in stock Boa too: their last expression is their value.
const COMPUTING: [(&str, &str); 4] = [
    ("fib(20)", "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); fib(20)"),
    (
        "sort of 20,000 numbers",
        "Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011).sort((a, b) => a - b).length",
    ),
    (
        "text and regular expressions, 20 KB",
        "const text = 'line 1 of some words\\n'.repeat(1000); \
         text.split('\\n').length + text.match(/line \\d/g).length + text.replace(/of/g, 'OF').length",
    ),
    (
        "JSON of 5,000 objects",
        "JSON.parse(JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, name: 'n' + id })))).length",
    ),
];

const SIZES: [(&str, usize); 4] = [("1 KB", 1_000), ("100 KB", 100_000), ("1 MB", 1_000_000), ("10 MB", 10_000_000)];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Functions with types that are never called, of about this size: what is measured is translating,
/// parsing and compiling them.
fn typescript(bytes: usize) -> String {
    let mut source = String::new();
    for number in 0.. {
        if source.len() >= bytes {
            break;
        }
        source += &format!(
            "interface Record{number} {{ id: number; name?: string; tags: readonly string[] }}\n\
             function pick{number}<T extends Record{number}>(records: T[], limit: number = 10): T[] {{\n\
             \x20 return records.filter((each: T): boolean => each.id > {number} && !!each.name).slice(0, limit) as T[];\n\
             }}\n"
        );
    }
    source + "1"
}

fn engines(criterion: &mut Criterion) {
    let runtime = runtime();
    let jars: Vec<(Walls, Jar)> = WALLS.into_iter().map(|walls| (walls, Jar::new(walls).unwrap())).collect();
    let mut group = criterion.benchmark_group("instantiate");
    for (walls, jar) in &jars {
        group.bench_function(walls.name, |bencher| {
            bencher.to_async(&runtime).iter(async || jar.instantiate().await.unwrap());
        });
    }
    group.finish();
    let translations =
        [1_000, 10_000, 100_000].map(|bytes| (format!("TypeScript of {} KB", bytes / 1000), typescript(bytes)));
    let scripts = [("1+1", "1+1"), ("a typical script", TYPICAL)]
        .into_iter()
        .chain(translations.iter().map(|(name, source)| (name.as_str(), source.as_str())))
        .chain(COMPUTING);
    for (name, source) in scripts {
        let mut group = criterion.benchmark_group(name);
        for (walls, jar) in &jars {
            group.bench_function(walls.name, |bencher| {
                bencher.to_async(&runtime).iter(async || jar.run(source).await.unwrap());
            });
        }
        group.finish();
    }
}

fn stock(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stock Boa");
    for (name, source) in [("1+1", "1+1")].into_iter().chain(COMPUTING) {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut context = Context::default();
                black_box(context.eval(Source::from_bytes(source)).unwrap());
            });
        });
    }
    group.finish();
}

struct Shipped {
    runtime: Runtime,
    sandbox: Sandbox,
}

impl Shipped {
    async fn run(&self, source: &str, tools: Arc<dyn Tools>) {
        let limits = Limits {
            max_calls: 100_000,
            compute: Duration::from_secs(60),
            memory: ByteSize::gib(1),
            max_result: ByteSize::mib(32),
            max_output: ByteSize::mib(32),
            ..Limits::default()
        };
        let outcome = self.sandbox.run(Program::new(source)).limits(&limits).tools(tools).await;
        assert!(outcome.is_ok(), "{:?}", outcome.result);
    }
}

fn shipped(criterion: &mut Criterion) {
    let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap();
    let shipped = Shipped { runtime: runtime(), sandbox };
    let mut group = criterion.benchmark_group("sandbox");
    for (name, source) in [
        ("1+1", "1+1"),
        ("a typical script", TYPICAL),
        ("1 call", "await box.echo({ i: 1 })"),
        ("1,000 calls in turn", "for (let i = 0; i < 1000; i++) await box.echo({ i })"),
        ("1,000 calls at once", "(await Promise.all(Array.from({ length: 1000 }, (_, i) => box.echo({ i })))).length"),
    ] {
        group.bench_function(name, |bencher| {
            bencher.to_async(&shipped.runtime).iter(|| shipped.run(source, two_tools()));
        });
    }
    for (size, bytes) in SIZES {
        group.throughput(Throughput::Bytes(bytes as u64));
        let records: Vec<_> =
            (0..bytes / 50).map(|id| json!({ "id": id, "name": format!("the record {id:07}"), "on": true })).collect();
        let tools: Arc<dyn Tools> = Arc::new(ToolSet::new().with("box", "records", Effect::ReadOnly, move |_| {
            let records = records.clone();
            async move { Ok(json!(records)) }
        }));
        group.bench_function(BenchmarkId::new("a result in", size), |bencher| {
            bencher.to_async(&shipped.runtime).iter(|| shipped.run("(await box.records({})).length", tools.clone()));
        });
        let source = format!(
            "Array.from({{ length: {} }}, (_, id) => ({{ id, name: 'the record ' + id, on: true }}))",
            bytes / 50
        );
        group.bench_function(BenchmarkId::new("a value out", size), |bencher| {
            bencher.to_async(&shipped.runtime).iter(|| shipped.run(&source, two_tools()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = engines, stock, shipped
}
criterion_main!(benches);
