//! What a thousand runs that all wait for a tool take.
//!
//! All instances share the pages of the snapshot that they have not written to. `VmRSS` counts such
//! a page once for each instance, `Pss` once in total, which is the memory that the machine has
//! lost.

use belljar_measures::{
    Gate, patient,
    process::{proportional_bytes, resident_bytes},
    sandbox, start,
};
use futures::future::join_all;
use tokio::runtime::Runtime;

use crate::table::{line, mebibytes};

const RUNS: usize = 1_000;

pub(crate) fn measure(runtime: &Runtime) {
    println!("{RUNS} live runs that all wait for a tool");
    let before = resident_bytes().unwrap();
    let sandbox = sandbox(u32::try_from(RUNS).unwrap(), 0).unwrap();
    let idle = resident_bytes().unwrap();
    for (name, source) in [
        ("a call and no more", "await box.wait({})"),
        (
            "a call, with 100 KB of JSON in hand",
            "const all = JSON.parse(JSON.stringify(Array(2000).fill({ name: 'n', id: 1, tags: ['a'] }))); await box.wait({}); all.length",
        ),
    ] {
        let gate = Gate::default();
        let began = resident_bytes().unwrap();
        let began_own = proportional_bytes().unwrap();
        let (grown, own, kept) = runtime.block_on(async {
            let runs: Vec<_> = (0..RUNS).map(|_| start(&sandbox, source, &patient(), &gate)).collect();
            gate.arrived(RUNS).await;
            let grown = resident_bytes().unwrap().saturating_sub(began);
            let own = proportional_bytes().unwrap().saturating_sub(began_own);
            gate.open();
            for outcome in join_all(runs).await {
                let outcome = outcome.unwrap();
                assert!(outcome.is_ok(), "{:?}", outcome.result);
            }
            (grown, own, proportional_bytes().unwrap().saturating_sub(began_own))
        });
        line(&format!("{name}: memory taken"), mebibytes(own));
        line("  for each run", format!("{:.0} KiB", own as f64 / RUNS as f64 / 1024.0));
        line("  RSS, which counts shared pages in each run", mebibytes(grown));
        line("  kept by warm slots when all have ended", mebibytes(kept));
    }
    line("the sandbox itself", mebibytes(idle.saturating_sub(before)));
    line("RSS at the end", mebibytes(resident_bytes().unwrap()));
    println!();
}
