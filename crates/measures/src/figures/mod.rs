//! Measures every figure of `belljar bench`, one after the other: nothing else of belljar runs
//! while one is measured.

mod calls;
mod context;
mod invented;
mod overhead;
mod search;
mod starts;
mod throughput;
mod waiting;

use std::{path::PathBuf, sync::Arc, time::Duration};

use belljar_model::ToolDefinition;
use serde_json::Value;

pub use context::tokens;

use crate::{
    MeasureError,
    load::sandbox,
    machine::cores,
    report::{Machine, Report, Skipped},
};

/// What is measured.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The program whose start is measured: it takes `run --no-daemon --config FILE --code 1+1`.
    pub program: PathBuf,
    /// belljar's version.
    pub version: String,
    /// How it was built.
    pub profile: &'static str,
    /// The time, formatted for people.
    pub now: String,
    /// The command that repeats the measures.
    pub command: String,
    /// The user's servers.
    pub servers: Vec<Listed>,
    /// The definitions of belljar's own tools, as a client gets them.
    pub own_tools: Vec<Value>,
    /// The command that makes a server's list known.
    pub list_with: String,
}

/// A server of the user's.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its tools, if they are known without starting it.
    pub tools: Option<Arc<Vec<ToolDefinition>>>,
    /// It came with belljar, not from the user.
    pub is_built_in: bool,
}

/// How thorough the measurements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Under a minute on two cores.
    Full,
    /// A few seconds: fewer rounds, and no engine compiled to compare with.
    Quick,
}

/// A measurement begins.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Finished measurements.
    pub done: u64,
    /// All measurements.
    pub of: u64,
    /// What is measured now.
    pub what: &'static str,
}

/// How many rounds of each measurement.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    cold: usize,
    warm: usize,
    sequential: usize,
    parallel: usize,
    throughput: Duration,
    overhead: usize,
    index: usize,
    query: usize,
}

impl Rounds {
    const FULL: Self = Self {
        cold: 30,
        warm: 2_000,
        sequential: 30,
        parallel: 15,
        throughput: Duration::from_secs(1),
        overhead: 9,
        index: 10,
        query: 300,
    };
    const QUICK: Self = Self {
        cold: 5,
        warm: 100,
        sequential: 5,
        parallel: 3,
        throughput: Duration::from_millis(150),
        // There is no time for it at all.
        overhead: 0,
        index: 3,
        query: 30,
    };

    fn of(pace: Pace) -> Self {
        match pace {
            Pace::Full => Self::FULL,
            Pace::Quick => Self::QUICK,
        }
    }
}

/// The listener for each step.
struct Steps<'a> {
    done: u64,
    of: u64,
    told: &'a (dyn Fn(Step) + Send + Sync),
}

impl Steps<'_> {
    fn next(&mut self, what: &'static str) {
        (self.told)(Step { done: self.done, of: self.of, what });
        self.done += 1;
    }
}

/// Measures everything, and reports each step before it begins. No server is started, and nothing
/// of the user is changed.
///
/// # Errors
/// [`MeasureError`] if the program or the sandbox does not work. [`Report::skipped`] has what
/// cannot be measured on this machine.
///
/// # Cancellation
/// Dropping the future ends what is under way. An engine that is being compiled on its own thread
/// is compiled to the end.
///
/// # Panics
/// Outside of a tokio runtime with more than one thread.
pub async fn measure(
    subject: Subject,
    pace: Pace,
    told: &(dyn Fn(Step) + Send + Sync),
) -> Result<Report, MeasureError> {
    let rounds = Rounds::of(pace);
    let mut skipped = Vec::new();
    let mut steps = Steps { done: 0, of: 7 + overhead::steps(pace), told };

    steps.next("cold start");
    let cold_start = starts::cold(&subject.program, rounds.cold).await?;
    steps.next("memory of runs that wait");
    let waiting_runs = waiting::all(&mut skipped).await?;

    // As many slots as a process has by default, or more on a large machine.
    let slots = u32::try_from(2 * cores()).unwrap_or(u32::MAX).max(64);
    let sandbox = sandbox(slots, 0)?;
    steps.next("warm start");
    let warm_start = starts::warm(&sandbox, rounds.warm).await?;
    steps.next("tool calls");
    let sequential_call = calls::sequential(&sandbox, rounds.sequential).await?;
    let parallel_calls = calls::parallel(&sandbox, rounds.parallel).await?;
    steps.next("throughput");
    let throughput = throughput::all(&sandbox, rounds.throughput).await?;
    drop(sandbox);

    let overhead = overhead::all(pace, rounds.overhead, &mut steps, &mut skipped).await?;
    steps.next("search");
    let search = search::all(&subject.servers, rounds.index, rounds.query);
    steps.next("tokens");
    let tokens = context::tokens(&subject.servers, &subject.own_tools, &subject.list_with);

    Ok(Report {
        version: subject.version,
        profile: subject.profile,
        measured_at: subject.now,
        command: subject.command,
        machine: Machine::this(),
        cold_start,
        warm_start,
        sequential_call,
        parallel_calls,
        throughput,
        waiting_runs,
        overhead,
        search,
        tokens,
        skipped,
    })
}

fn skip(skipped: &mut Vec<Skipped>, what: impl Into<String>, why: impl Into<String>) {
    skipped.push(Skipped { what: what.into(), why: why.into() });
}
