//! The figures, in the form that `belljar bench --json` prints. docs/BENCH.md describes each field.
//!
//! Units are in the names. A figure that could not be measured is absent, and `skipped` says why.

use std::time::Duration;

use serde::Serialize;

use crate::Times;

/// All figures of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// belljar's version.
    pub version: String,
    /// `release`, or `dev` for a development build, whose figures mean little.
    pub profile: &'static str,
    /// When it was measured, in UTC.
    pub measured_at: String,
    /// The command that repeats it.
    pub command: String,
    /// The machine.
    pub machine: Machine,
    /// From starting the program to its end, with the result of `1+1`.
    pub cold_start: Milliseconds,
    /// A fresh sandbox in a warm process, `1+1` in it, and its end.
    pub warm_start: Microseconds,
    /// A tool call, of many in sequence.
    pub sequential_call: SequentialCall,
    /// Many tool calls at once.
    pub parallel_calls: ParallelCalls,
    /// Runs of `1+1`, with so many at once.
    pub throughput: Vec<Throughput>,
    /// The memory of live runs while they wait for a tool.
    pub waiting_runs: Vec<WaitingRuns>,
    /// What fuel and epochs cost of a script's time. Empty if there was no time to compile an
    /// engine without them.
    pub overhead: Vec<Overhead>,
    /// The time to find a tool.
    pub search: Search,
    /// What tool definitions take of a model's context.
    pub tokens: Tokens,
    /// What was not measured.
    pub skipped: Vec<Skipped>,
}

/// The machine, as far as the system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// How many cores this process may use.
    pub cores: usize,
    /// The system and the version of its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// All of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Such as `linux`.
    pub system: &'static str,
    /// Such as `x86_64`.
    pub architecture: &'static str,
}

/// Times of rounds, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Milliseconds {
    /// How many rounds there were.
    pub rounds: usize,
    /// The fastest.
    pub min_ms: f64,
    /// Half are faster.
    pub median_ms: f64,
    /// 95 of a hundred are faster.
    pub p95_ms: f64,
}

/// Times of rounds, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Microseconds {
    /// How many rounds there were.
    pub rounds: usize,
    /// The fastest.
    pub min_us: f64,
    /// Half are faster.
    pub median_us: f64,
    /// 95 of a hundred are faster.
    pub p95_us: f64,
}

/// The time of a tool call that is awaited before the next one. The tool itself does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SequentialCall {
    /// Calls of the run, whose time is divided by them.
    pub calls: u32,
    /// The time of one call.
    #[serde(flatten)]
    pub each: Microseconds,
}

/// A run with all of its calls under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ParallelCalls {
    /// Calls of one run.
    pub calls: u32,
    /// How long each call waits.
    pub each_ms: f64,
    /// How long they would wait one after the other (calculated).
    pub sum_ms: f64,
    /// The time of the whole run.
    #[serde(flatten)]
    pub whole: Milliseconds,
}

/// How many runs end per second, with so many at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Throughput {
    /// Runs under way at the same time.
    pub runs_at_once: usize,
    /// Runs that ended.
    pub runs: u64,
    /// The time in which they did.
    pub elapsed_ms: f64,
    /// One divided by the other.
    pub runs_per_second: f64,
}

/// The memory of live runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaitingRuns {
    /// Runs that waited for a tool at the same time.
    pub runs: u32,
    /// The memory that the machine has lost: pages of the interpreter's image, which all runs
    /// share, count once.
    pub taken_bytes: u64,
    /// The same per run.
    pub bytes_per_run: f64,
    /// The growth of the process's resident memory: shared pages count once for each run that has
    /// read them.
    pub resident_bytes: u64,
    /// The same per run.
    pub resident_bytes_per_run: f64,
}

/// A script in an engine without fuel, epochs and a memory limiter, and how many times longer it
/// takes with them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Overhead {
    /// What the script does.
    pub script: &'static str,
    /// Its time without.
    pub without_ms: f64,
    /// With fuel alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel_ratio: Option<f64>,
    /// With epochs alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs_ratio: Option<f64>,
    /// As belljar runs scripts: with all three.
    pub shipped_ratio: f64,
}

/// The time to find a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Search {
    /// Whose tools were searched.
    pub origin: Origin,
    /// Their servers.
    pub servers: usize,
    /// The number of tools.
    pub tools: usize,
    /// Building the catalogue of all tool lists.
    pub index: Milliseconds,
    /// Asking it.
    pub queries: Vec<SearchQuery>,
}

/// Whose tools were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Those of the user's configuration.
    Configuration,
    /// Made-up ones, since none of the user's lists is known.
    BuiltIn,
}

/// A question to the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchQuery {
    /// The kind of question.
    pub kind: &'static str,
    /// The question.
    pub query: String,
    /// How long the answer takes.
    #[serde(flatten)]
    pub times: Microseconds,
}

/// What tool definitions take of a model's context before it has done anything, by an estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tokens {
    /// How tokens are estimated.
    pub estimate: &'static str,
    /// The servers with known lists.
    pub servers: Vec<ServerTokens>,
    /// The servers with unknown lists, which are not counted.
    pub unlisted: Vec<String>,
    /// The command that makes their lists known.
    pub list_with: String,
    /// The definitions of all tools of those servers.
    pub direct_tokens: usize,
    /// The definitions of belljar's two tools.
    pub belljar_tokens: usize,
    /// A search for a tool and its answer, by which a model finds it: the median. Absent if no tool
    /// is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_up_tokens: Option<usize>,
    /// What belljar's two save of all definitions. Negative if those are fewer.
    pub saved_tokens: i64,
    /// The same in percent of all definitions. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_percent: Option<f64>,
}

/// The tools of a server, and what their definitions take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerTokens {
    /// Its name.
    pub server: String,
    /// Whether it came with belljar, not from the user.
    pub is_built_in: bool,
    /// How many there are.
    pub tools: usize,
    /// Their definitions.
    pub tokens: usize,
}

/// A missing figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub what: String,
    /// Why it is missing.
    pub why: String,
}

impl Milliseconds {
    pub(crate) fn of(times: &Times) -> Self {
        let of = |percent| milliseconds(times.percentile(percent));
        Self { rounds: times.rounds(), min_ms: of(0), median_ms: of(50), p95_ms: of(95) }
    }
}

impl Microseconds {
    /// Each time divided by `parts`.
    pub(crate) fn of(times: &Times, parts: u32) -> Self {
        let of = |percent| rounded(times.percentile(percent).as_secs_f64() * 1e6 / f64::from(parts));
        Self { rounds: times.rounds(), min_us: of(0), median_us: of(50), p95_us: of(95) }
    }
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    rounded(time.as_secs_f64() * 1e3)
}

/// Three digits are as precise as the clock.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
