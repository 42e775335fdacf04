//! The cost of scripts does not grow unnoticed: the fuel of ten fixed scripts stays within two
//! percent of the record.
//!
//! Fuel counts the guest's instructions and is the same on every machine, so it shows what no clock
//! on a busy machine can. If a change affects the cost of scripts on purpose, `BELLJAR_ACCEPT=1`
//! updates the record.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use belljar_model::{ByteSize, Limits};
use belljar_sandbox::{Program, ToolSet};
use serde_json::json;

use crate::support::{repository, sandbox, tools};

/// How far a script's fuel may differ from the record, in percent.
const MARGIN: f64 = 2.0;
const RECORD: &str = "tests/tables/fuel.txt";

/// The scripts, each about one typical kind of work.
const SCRIPTS: [(&str, &str); 10] = [
    ("nothing", "1+1"),
    ("types", "interface P { name: string } enum E { A = 1 } const p: P = { name: 'x' } satisfies P; p.name + E.A"),
    ("calls", "let sum = 0; for (let i = 0; i < 100; i++) sum += (await box.echo({ i })).i; sum"),
    ("calls_at_once", "(await Promise.all(Array.from({ length: 100 }, (_, i) => box.echo({ i })))).length"),
    ("fibonacci", "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); fib(18)"),
    (
        "json",
        "const all = Array.from({ length: 2000 }, (_, id) => ({ id, name: 'n' + id })); JSON.parse(JSON.stringify(all)).length",
    ),
    ("result", "(await box.records({})).filter((each) => each.id % 7 === 0).map((each) => each.name).length"),
    ("sort", "const all = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003); all.sort((a, b) => b - a)[0]"),
    (
        "text",
        "const text = 'line 1 of some words\\n'.repeat(2000); const count = new Map(); \
         for (const word of text.split(/\\s+/)) count.set(word, (count.get(word) ?? 0) + 1); \
         [count.size, text.match(/line \\d/g).length, text.replace(/of/g, () => 'OF').length]",
    ),
    ("console", "for (let i = 0; i < 100; i++) console.log('item %d', i, { i, tags: ['a', 'b'] })"),
];

fn toolset() -> ToolSet {
    let records: Vec<_> = (0..1000).map(|id| json!({ "id": id, "name": format!("record {id}"), "on": true })).collect();
    tools().with("box", "records", belljar_model::Effect::ReadOnly, move |_| {
        let records = records.clone();
        async move { Ok(json!(records)) }
    })
}

async fn fuel(source: &str) -> u64 {
    let limits = Limits { max_logs: ByteSize::mib(1), compute: Duration::from_secs(100), ..Limits::default() };
    let outcome =
        sandbox().run(Program::new(source).with_seed([3; 32])).limits(&limits).tools(Arc::new(toolset())).await;
    assert!(outcome.is_ok(), "{source}\n{outcome:#?}");
    outcome.usage.fuel.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_fixed_scripts_cost_what_is_recorded_within_two_of_a_hundred() {
    let path = repository().join(RECORD);
    let mut found = BTreeMap::new();
    for (name, source) in SCRIPTS {
        found.insert(name, fuel(source).await);
    }
    if std::env::var_os("BELLJAR_ACCEPT").is_some() {
        let record = found.iter().fold(String::new(), |mut record, (name, fuel)| {
            let _ = writeln!(record, "{name} {fuel}");
            record
        });
        std::fs::write(&path, record).unwrap();
        return;
    }
    let record = std::fs::read_to_string(&path).unwrap();
    let recorded: BTreeMap<&str, u64> = record
        .lines()
        .map(|line| line.split_once(' ').map(|(name, fuel)| (name, fuel.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(recorded.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "the record names other scripts");
    let mut strayed = String::new();
    for (name, fuel) in &found {
        let change = (*fuel as f64 / recorded[name] as f64 - 1.0) * 100.0;
        if change.abs() > MARGIN {
            let _ = writeln!(strayed, "{name}: {change:+.1} % ({} to {fuel})", recorded[name]);
        }
    }
    assert!(strayed.is_empty(), "the fuel of scripts has changed (BELLJAR_ACCEPT=1 accepts it):\n{strayed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_does_a_tenth_more_is_seen() {
    let loops = |count: u32| format!("let sum = 0; for (let i = 0; i < {count}; i++) sum += i; sum");
    let (less, more) = (fuel(&loops(100_000)).await, fuel(&loops(110_000)).await);
    assert!(more as f64 / less as f64 > 1.0 + MARGIN / 100.0, "{less} {more}");
}
