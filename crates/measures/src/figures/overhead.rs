//! What fuel and epochs cost of a script's time.

use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use super::{Pace, Steps, skip};
use crate::{
    MeasureError,
    report::{Overhead, Skipped, milliseconds, rounded},
    walls::{Jar, SCRIPTS, Walls, fastest},
};

/// The engines to compare, the most important first.
const ENGINES: [Walls; 4] = [Walls::NONE, Walls::ALL, Walls::FUEL, Walls::EPOCHS];
/// Reported steps: one for each engine, and one for the comparison.
const STEPS: u64 = ENGINES.len() as u64 + 1;
/// An engine that lacks a limit must be compiled: seconds with many cores, a quarter of a minute
/// with two. No further one is started that would probably exceed this. All three take less on two
/// idle cores.
const COMPILING: Duration = Duration::from_secs(40);

pub(super) fn steps(pace: Pace) -> u64 {
    if pace == Pace::Full { STEPS } else { 0 }
}

pub(super) async fn all(
    pace: Pace,
    rounds: usize,
    steps: &mut Steps<'_>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<Overhead>, MeasureError> {
    if pace == Pace::Quick {
        skip(
            skipped,
            "the cost of limits",
            "it takes an engine that has to be compiled first, for which --quick has no time",
        );
        return Ok(Vec::new());
    }
    let mut jars: Vec<Jar> = Vec::with_capacity(ENGINES.len());
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    for walls in ENGINES {
        steps.next(told(walls));
        // The shipped engine is already compiled.
        if walls != Walls::ALL && begun.elapsed() + longest > COMPILING {
            let why = format!("compiling another engine takes {:.0} s on this machine", longest.as_secs_f64());
            skip(skipped, format!("the cost of {} alone", walls.name), why);
            continue;
        }
        let compiling = Instant::now();
        jars.push(spawn_blocking(move || Jar::new(walls)).await??);
        longest = longest.max(compiling.elapsed());
    }
    steps.next("cost of fuel and epochs");
    let mut overhead = Vec::with_capacity(SCRIPTS.len());
    for (script, source) in SCRIPTS {
        let times = fastest(&jars, source, rounds).await?;
        let of = |walls: Walls| jars.iter().zip(&times).find(|(jar, _)| jar.walls() == walls).map(|(_, time)| *time);
        let (Some(without), Some(shipped)) = (of(Walls::NONE), of(Walls::ALL)) else { continue };
        let ratio = |time: Duration| rounded(time.as_secs_f64() / without.as_secs_f64());
        overhead.push(Overhead {
            script,
            without_ms: milliseconds(without),
            fuel_ratio: of(Walls::FUEL).map(ratio),
            epochs_ratio: of(Walls::EPOCHS).map(ratio),
            shipped_ratio: ratio(shipped),
        });
    }
    Ok(overhead)
}

fn told(walls: Walls) -> &'static str {
    match walls {
        Walls::NONE => "compiling an engine without limits",
        Walls::FUEL => "compiling an engine with fuel alone",
        Walls::EPOCHS => "compiling an engine with epochs alone",
        _ => "loading the engine as it is shipped",
    }
}
