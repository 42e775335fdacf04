//! How many runs end per second.

use belljar_sandbox::{Program, Sandbox};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

use crate::{
    MeasureError,
    machine::cores,
    report::{Throughput, milliseconds, rounded},
};

/// Up to this number each step adds one; after it, each step doubles.
const SINGLE_STEPS: usize = 8;

/// From one run at once to twice as many as there are cores.
pub(super) async fn all(sandbox: &Arc<Sandbox>, window: Duration) -> Result<Vec<Throughput>, MeasureError> {
    let mut throughput = Vec::new();
    for runs_at_once in levels(cores()) {
        throughput.push(at(sandbox, runs_at_once, window).await?);
    }
    Ok(throughput)
}

async fn at(sandbox: &Arc<Sandbox>, runs_at_once: usize, window: Duration) -> Result<Throughput, MeasureError> {
    let mut workers = JoinSet::new();
    let begun = Instant::now();
    for _ in 0..runs_at_once {
        let sandbox = sandbox.clone();
        workers.spawn(async move {
            let mut runs = 0_u32;
            while begun.elapsed() < window {
                let outcome = sandbox.run(Program::new("1+1")).await;
                outcome.result?;
                runs += 1;
            }
            Ok::<u32, MeasureError>(runs)
        });
    }
    let mut runs = 0_u32;
    while let Some(ended) = workers.join_next().await {
        runs += ended??;
    }
    let elapsed = begun.elapsed();
    let runs_per_second = rounded(f64::from(runs) / elapsed.as_secs_f64());
    Ok(Throughput { runs_at_once, runs: runs.into(), elapsed_ms: milliseconds(elapsed), runs_per_second })
}

fn levels(cores: usize) -> Vec<usize> {
    let most = 2 * cores;
    if most <= SINGLE_STEPS {
        return (1..=most).collect();
    }
    let doubling = std::iter::successors(Some(1), |level| Some(level * 2)).take_while(|level| *level < most);
    let mut levels: Vec<usize> = doubling.chain([cores, most]).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_go_from_one_to_twice_the_cores_and_are_few() {
        assert_eq!(levels(1), [1, 2]);
        assert_eq!(levels(2), [1, 2, 3, 4]);
        assert_eq!(levels(6), [1, 2, 4, 6, 8, 12]);
        assert_eq!(levels(64), [1, 2, 4, 8, 16, 32, 64, 128]);
    }
}
