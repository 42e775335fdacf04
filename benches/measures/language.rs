//! The language's own work, in the sandbox and in stock Boa built natively, in turn, in one
//! process: `cargo bench --workspace --bench language [-- ROUNDS]`.
//!
//! Each script prepares its data and measures its own work, in milliseconds. Work that is quadratic
//! in stock Boa is measured there with a tenth of the data.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, Effect, Limits};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet, Tools};
use boa_engine::{Context, Source};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A piece of work.
struct Work {
    name: &'static str,
    /// Declarations, and a function `prepare` that makes the input of `work`. `SCALE` is 1, or less
    /// for stock Boa.
    script: &'static str,
    /// The share of the data for stock Boa, or `None` if it cannot take part.
    stock: Option<f64>,
}

/// A log of a megabyte, and typical work of models on one.
const LOG: &str = "
function prepare() {
    let lines = [];
    for (let i = 0; i < 20000 * SCALE; i++) lines.push('2026-01-01 line ' + i + ' user' + (i % 97) + ' took ' + (i % 1000) + ' ms and more');
    return lines.join('\\n');
}";

const RECORDS: &str = "
function prepare() { return Array.from({ length: 50000 * SCALE }, (_, i) => ({ id: i, name: 'n' + i })); }";

const WORKS: &[Work] = &[
    Work {
        name: "JSON.parse of 50,000 small objects",
        script: "RECORDS; const text = JSON.stringify(prepare()); const work = () => JSON.parse(text);",
        stock: Some(1.0),
    },
    Work {
        name: "JSON.stringify of the same",
        script: "RECORDS; const data = prepare(); const work = () => JSON.stringify(data);",
        stock: Some(1.0),
    },
    Work {
        name: "filter and map of the same",
        script: "RECORDS; const data = prepare(); const work = () => data.filter((x) => x.id % 2).map((x) => ({ id: x.id, up: x.name.toUpperCase() }));",
        stock: Some(1.0),
    },
    Work {
        name: "split into 40,000 lines, and join, 1 MB",
        script: "const text = Array.from({ length: 40000 * SCALE }, (_, i) => 'a line with ' + (100000 + i) + ' in it').join('\\n'); const work = () => text.split('\\n').join('\\n').length;",
        stock: Some(0.1),
    },
    Work {
        name: "match(/…/g), 1 MB",
        script: "LOG; const text = prepare(); const work = () => text.match(/line \\d+/g).length;",
        stock: Some(0.1),
    },
    Work {
        name: "matchAll(/…/g), 1 MB",
        script: "LOG; const text = prepare(); const work = () => [...text.matchAll(/line (\\d+)/g)].length;",
        stock: Some(0.1),
    },
    Work {
        name: "replace(/…/g, function), 1 MB",
        script: "LOG; const text = prepare(); const work = () => text.replace(/line \\d+/g, (m) => m.toUpperCase()).length;",
        stock: Some(0.1),
    },
    Work {
        name: "a script over a 1 MB log",
        script: "LOG; const text = prepare(); const work = () => {
            const counts = new Map();
            for (const word of text.split(/\\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1);
            const lines = text.match(/line \\d+/g).length;
            const replaced = text.replace(/user\\d+/g, (m) => m.toUpperCase()).length;
            let slow = 0;
            const pattern = /took (\\d+) ms/;
            for (const line of text.split('\\n')) { const m = pattern.exec(line); if (m && Number(m[1]) > 900) slow++; }
            return counts.size + lines + replaced + slow;
        };",
        stock: Some(0.1),
    },
    Work {
        name: "1 MB by += in 50,000 steps",
        script: "const work = () => { let s = ''; for (let i = 0; i < 50000 * SCALE; i++) s += 'twenty characters ...'; return s.length; };",
        stock: Some(0.1),
    },
    Work {
        name: "sort of 100,000 numbers, (a, b) => a - b",
        script: "const data = Array.from({ length: 100000 * SCALE }, (_, i) => (i * 7919) % 100003); const work = () => data.slice().sort((a, b) => a - b);",
        stock: Some(1.0),
    },
    Work {
        name: "sort of 100,000 numbers, a < b ? -1 : a > b ? 1 : 0",
        script: "const data = Array.from({ length: 100000 * SCALE }, (_, i) => (i * 7919) % 100003); const work = () => data.slice().sort((a, b) => a < b ? -1 : a > b ? 1 : 0);",
        stock: Some(1.0),
    },
    Work {
        name: "sort of 100,000 numbers, any comparator",
        script: "const data = Array.from({ length: 100000 * SCALE }, (_, i) => (i * 7919) % 100003); const work = () => data.slice().sort((a, b) => { const difference = a - b; return difference; });",
        stock: Some(1.0),
    },
    Work {
        name: "unshift of 5,000 items, one by one",
        script: "const work = () => { const list = []; for (let i = 0; i < 5000 * SCALE; i++) list.unshift(i); return list.length; };",
        stock: Some(0.1),
    },
    Work {
        name: "100 splices of 100,000 items",
        script: "const list = Array.from({ length: 100000 * SCALE }, (_, i) => i); const work = () => { for (let i = 0; i < 100; i++) list.splice(i, 1); return list.length; };",
        stock: Some(0.1),
    },
    Work {
        name: "a loop over 50,000 pairs of Object.entries",
        script: "const data = Object.fromEntries(Array.from({ length: 50000 * SCALE }, (_, i) => ['k' + i, i])); const work = () => { let sum = 0; for (const [key, value] of Object.entries(data)) sum += value + key.length; return sum; };",
        stock: Some(1.0),
    },
    Work {
        name: "fib(24)",
        script: "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } const work = () => fib(24);",
        stock: Some(1.0),
    },
];

/// A script that returns the milliseconds of its work.
fn script(work: &Work, scale: f64) -> String {
    let script = work.script.replace("LOG;", LOG).replace("RECORDS;", RECORDS).replace("SCALE", &scale.to_string());
    format!("(() => {{ {script}\nconst started = Date.now(); work(); return Date.now() - started; }})()")
}

struct Jar {
    runtime: Runtime,
    sandbox: Sandbox,
    limits: Limits,
}

impl Jar {
    fn new() -> Self {
        let limits = Limits {
            fuel: 1_000_000_000_000,
            compute: Duration::from_secs(60),
            memory: ByteSize::mib(1024),
            max_output: ByteSize::mib(16),
            ..Limits::default()
        };
        Self {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            sandbox: Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap(),
            limits,
        }
    }

    /// The value of a script, and its peak memory.
    fn run(&self, source: &str, tools: Arc<dyn Tools>) -> (Value, u64) {
        let outcome = self
            .runtime
            .block_on(self.sandbox.run(Program::new(source)).limits(&self.limits).tools(tools).into_future());
        let memory = outcome.usage.peak_memory_bytes.unwrap_or_default();
        let value = outcome.result.unwrap_or_else(|error| panic!("{error:?}"));
        (serde_json::from_str(value.as_str()).unwrap(), memory)
    }
}

fn stock(source: &str) -> f64 {
    let mut context = Context::default();
    let value = context.eval(Source::from_bytes(source)).unwrap_or_else(|error| panic!("{error}"));
    value.as_number().unwrap()
}

fn median(mut figures: Vec<f64>) -> (f64, f64) {
    figures.sort_by(f64::total_cmp);
    (figures[figures.len() / 2], figures[0])
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let jar = Jar::new();
    let none: Arc<dyn Tools> = Arc::new(ToolSet::new());
    println!("milliseconds, median of {rounds} rounds (best)\n");
    println!("{:<44} {:>16} {:>20} {:>8}", "work", "in the jar", "stock Boa, native", "ratio");
    for work in WORKS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(jar.run(&script(work, 1.0), none.clone()).0.as_f64().unwrap());
            if let Some(scale) = work.stock {
                theirs.push(stock(&script(work, scale)));
            }
        }
        let (ours, best) = median(ours);
        let (stock, note, ratio) = match work.stock {
            None => (String::new(), "", String::new()),
            Some(scale) => {
                let (theirs, best) = median(theirs);
                let ratio = if scale < 1.0 { String::new() } else { format!("{:.1}x", theirs / ours.max(0.5)) };
                (format!("{theirs:.0} ({best:.0})"), if scale < 1.0 { " of a tenth" } else { "" }, ratio)
            }
        };
        println!(
            "{:<44} {:>16} {:>20} {ratio:>8}",
            work.name,
            format!("{ours:.0} ({best:.0})"),
            format!("{stock}{note}")
        );
    }
    result_of_a_megabyte(&jar, rounds);
    memory(&jar);
}

/// 10,000 records of a child, filtered, mapped and returned: the whole run.
fn result_of_a_megabyte(jar: &Jar, rounds: usize) {
    let records: Vec<Value> = (0..10_000)
        .map(|id| json!({"id": id, "name": format!("record number {id}"), "tags": ["a", "b"], "open": id % 3 == 0, "at": "2026-01-01T00:00:00Z"}))
        .collect();
    let bytes = serde_json::to_string(&records).unwrap().len();
    let records = json!(records);
    let tools: Arc<dyn Tools> = Arc::new(ToolSet::new().with("box", "records", Effect::ReadOnly, move |_| {
        let records = records.clone();
        async move { Ok(json!({ "records": records })) }
    }));
    let source = "const { records } = await box.records(); return records.filter((r) => r.open).map((r) => ({ id: r.id, name: r.name }))";
    let mut wall = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        let (value, _) = jar.run(source, tools.clone());
        wall.push(started.elapsed().as_secs_f64() * 1000.0);
        assert_eq!(value.as_array().unwrap().len(), 3_334);
    }
    let (median, best) = median(wall);
    let name = format!("a result of {bytes} bytes, filtered, returned");
    println!("{name:<44} {:>16}", format!("{median:.0} ({best:.0})"));
}

fn memory(jar: &Jar) {
    let source = "const data = Array.from({ length: 200000 }, (_, i) => ({ id: i, name: 'n' + i })); JSON.parse(JSON.stringify(data)).length";
    let (_, memory) = jar.run(source, Arc::new(ToolSet::new()));
    println!("{:<44} {:>12} MiB", "200,000 objects, stringify and parse", memory / 1024 / 1024);
}
