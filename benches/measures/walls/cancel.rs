//! The time from dropping a run to another run in its slot.

use std::{sync::Arc, time::Duration, time::Instant};

use belljar_measures::{ENDLESS, Gate, Times, endless, patient, sandbox, start};
use belljar_sandbox::{Program, Sandbox};
use tokio::runtime::Runtime;

use crate::table::{head, row};

const ROUNDS: usize = 200;
/// Long enough for the script to be well under way.
const UNDER_WAY: Duration = Duration::from_millis(5);

pub(crate) fn measure(runtime: &Runtime) {
    head("From a dropped run to the answer of the next in its slot, which is the only one");
    let only = sandbox(1, 4).unwrap();
    row("1+1, with nothing to wait for", &times(runtime, || async { next(&only).await }));
    row("dropped while it waits for a tool", &times(runtime, || dropped(&only, "await box.wait({})", true)));
    row("dropped while it computes", &times(runtime, || dropped(&only, ENDLESS, false)));
    let busy = sandbox(8, 4).unwrap();
    let beside = runtime.block_on(async { endless(&busy, crate::cores()) });
    row("the same, with endless scripts beside it", &times(runtime, || dropped(&only, ENDLESS, false)));
    drop(beside);
    println!();
}

fn times<F: Future<Output = Duration>>(runtime: &Runtime, mut one: impl FnMut() -> F) -> Times {
    Times::new((0..ROUNDS).map(|_| runtime.block_on(one())).collect())
}

async fn dropped(sandbox: &Arc<Sandbox>, source: &'static str, waits: bool) -> Duration {
    let gate = Gate::default();
    let run = start(sandbox, source, &patient(), &gate);
    if waits {
        gate.arrived(1).await;
    }
    tokio::time::sleep(UNDER_WAY).await;
    let begun = Instant::now();
    run.abort();
    next(sandbox).await;
    begun.elapsed()
}

/// A run that takes the slot as soon as it is free.
async fn next(sandbox: &Arc<Sandbox>) -> Duration {
    let begun = Instant::now();
    let outcome = sandbox.run(Program::new("1+1")).limits(&patient()).await;
    assert!(outcome.is_ok(), "{:?}", outcome.result);
    begun.elapsed()
}
