//! How late a deadline is, while every core runs an endless script.

use std::{sync::Arc, time::Duration, time::Instant};

use belljar_measures::{ENDLESS, Times, endless, patient, sandbox};
use belljar_model::{ErrorKind, Limits};
use belljar_sandbox::{Program, Sandbox};
use tokio::runtime::Runtime;

use crate::{
    cores,
    table::{head, row},
};

const ROUNDS: usize = 200;
const DEADLINE: Duration = Duration::from_millis(50);

pub(crate) fn measure(runtime: &Runtime) {
    head(&format!("Past a deadline of {} ms, with {} endless scripts beside it", DEADLINE.as_millis(), cores()));
    let sandbox = sandbox(16, 16).unwrap();
    let deadline = Limits { timeout: DEADLINE, ..patient() };
    let waiting = "await new Promise((resolve) => setTimeout(resolve, 3600000))";
    let catching = "for (;;) { try { for (;;); } catch {} finally { continue } }";
    let matching = "/^(a|a|aa)*$/.test('a'.repeat(2000) + 'b')";
    for (name, source) in [
        ("a loop", ENDLESS),
        ("a loop that catches all it can", catching),
        ("a regular expression that backtracks", matching),
        ("a timer", waiting),
    ] {
        let beside = runtime.block_on(async { endless(&sandbox, cores()) });
        let times = (0..ROUNDS).map(|_| runtime.block_on(overshoot(&sandbox, source, &deadline))).collect();
        row(name, &Times::new(times));
        drop(beside);
    }
    println!();
}

/// How much later than its deadline a run ends.
async fn overshoot(sandbox: &Arc<Sandbox>, source: &'static str, limits: &Limits) -> Duration {
    let (sandbox, limits) = (sandbox.clone(), limits.clone());
    let run = async move {
        let begun = Instant::now();
        let outcome = sandbox.run(Program::new(source)).limits(&limits).await;
        let ended = begun.elapsed();
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Timeout);
        ended
    };
    // On a worker thread, as in a server.
    tokio::spawn(run).await.unwrap().saturating_sub(DEADLINE)
}
