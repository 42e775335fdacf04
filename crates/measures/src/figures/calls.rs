//! The cost of crossing the sandbox's boundary and coming back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::Limits;
use belljar_sandbox::{Program, Sandbox};

use crate::{
    MeasureError, Times,
    report::{Microseconds, Milliseconds, ParallelCalls, SequentialCall, milliseconds},
    tools::{WAIT, two_tools},
};

const CALLS: u32 = 1_000;

/// A call of a tool that does nothing, in a run of many. The time of the run itself is divided
/// among them.
pub(super) async fn sequential(sandbox: &Arc<Sandbox>, rounds: usize) -> Result<SequentialCall, MeasureError> {
    let source = format!("for (let i = 0; i < {CALLS}; i++) await box.echo({{ i }})");
    let times = times(sandbox, &source, rounds).await?;
    Ok(SequentialCall { calls: CALLS, each: Microseconds::of(&times, CALLS) })
}

/// As many calls at once, each of which waits.
pub(super) async fn parallel(sandbox: &Arc<Sandbox>, rounds: usize) -> Result<ParallelCalls, MeasureError> {
    let source = format!("(await Promise.all(Array.from({{ length: {CALLS} }}, () => box.wait({{}})))).length");
    let whole = Milliseconds::of(&times(sandbox, &source, rounds).await?);
    Ok(ParallelCalls { calls: CALLS, each_ms: milliseconds(WAIT), sum_ms: milliseconds(WAIT * CALLS), whole })
}

async fn times(sandbox: &Arc<Sandbox>, source: &str, rounds: usize) -> Result<Times, MeasureError> {
    let limits = Limits { max_calls: CALLS.into(), max_concurrent_calls: CALLS.into(), ..Limits::default() };
    let mut times: Vec<Duration> = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let tools = two_tools();
        let begun = Instant::now();
        let outcome = sandbox.run(Program::new(source)).limits(&limits).tools(tools).await;
        let time = begun.elapsed();
        outcome.result?;
        times.push(time);
    }
    Ok(Times::new(times))
}
