//! How much memory live runs take while they wait for a tool.

use std::io;

use belljar_sandbox::{Program, SandboxError};
use tokio::task::JoinSet;

use super::skip;
use crate::{
    MeasureError,
    load::{Gate, patient, sandbox},
    process::{proportional_bytes, resident_bytes},
    report::{Skipped, WaitingRuns, rounded},
};

const RUNS: [u32; 2] = [100, 1_000];

pub(super) async fn all(skipped: &mut Vec<Skipped>) -> Result<Vec<WaitingRuns>, MeasureError> {
    let mut waiting = Vec::new();
    for runs in RUNS {
        let what = format!("memory of {runs} runs that wait");
        if let Err(error) = proportional_bytes() {
            skip(skipped, what, format!("only Linux tells what a process takes of the memory, in /proc: {error}"));
            continue;
        }
        match of(runs).await {
            Ok(figure) => waiting.push(figure),
            // A thousand slots reserve 4 TiB of address space, which is not available everywhere.
            Err(MeasureError::Sandbox(error @ SandboxError::Engine { .. })) => skip(skipped, what, error.to_string()),
            Err(fault) => return Err(fault),
        }
    }
    Ok(waiting)
}

/// Each time in a new sandbox, none of whose slots was used before.
async fn of(runs: u32) -> Result<WaitingRuns, MeasureError> {
    let sandbox = sandbox(runs, 0)?;
    let (gate, limits) = (Gate::default(), patient());
    let unreadable = |error: io::Error| MeasureError::Task(error.to_string());
    let taken = || proportional_bytes().map_err(unreadable);
    let resident = || resident_bytes().map_err(unreadable);
    let before = (taken()?, resident()?);
    let mut waiting = JoinSet::new();
    for _ in 0..runs {
        let (sandbox, limits, tools) = (sandbox.clone(), limits.clone(), gate.tools());
        waiting
            .spawn(async move { sandbox.run(Program::new("await box.wait({})")).limits(&limits).tools(tools).await });
    }
    // A run that fails never arrives.
    tokio::select! {
        () = gate.arrived(usize::try_from(runs).unwrap_or(usize::MAX)) => {}
        Some(ended) = waiting.join_next() => {
            ended?.result?;
        }
    }
    let (taken_bytes, resident_bytes) = (taken()?.saturating_sub(before.0), resident()?.saturating_sub(before.1));
    gate.open();
    while let Some(ended) = waiting.join_next().await {
        ended?.result?;
    }
    #[expect(clippy::cast_precision_loss, reason = "memory of a process is below 2^53 bytes")]
    let each = |bytes: u64| rounded(bytes as f64 / f64::from(runs));
    let (bytes_per_run, resident_bytes_per_run) = (each(taken_bytes), each(resident_bytes));
    Ok(WaitingRuns { runs, taken_bytes, bytes_per_run, resident_bytes, resident_bytes_per_run })
}
