//! Filters in jq's language over a value: `--select` of one command (`filter.rs`, `worker.rs`), and
//! those that the configuration has for results (`results.rs`).
//!
//! A filter is a program, usually written by a model: it may run for ever, recurse without end, or
//! build a value that fills the memory. So it runs in its own process, which is this same program
//! again. The system bounds the memory of that process, and it is ended after its time; whatever
//! happens to it is only an error here. It sees no environment and no file.

mod filter;
mod results;
mod worker;

pub(crate) use filter::{Filter, Selected};
pub(crate) use results::{check, run as results_worker};
pub(crate) use worker::run as worker;

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The first argument of the filter process; it is not a public command.
pub(crate) const WORKER: &str = "__select";

/// The first argument of the process that filters results as the configuration says.
pub(crate) const RESULTS_WORKER: &str = "__results";

/// How long a filter may work, from when it has its value.
const TIME: Duration = Duration::from_secs(10);
/// The address space of the filter process, in bytes: its program, the value several times over,
/// and the filter's results.
const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
/// The stack for a filter's recursion, in bytes.
const STACK: usize = 64 * 1024 * 1024;
/// The most values that a filter may return.
const OUTPUTS: usize = 100_000;
/// The most bytes of JSON in all of them together.
const OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// Open files: stdin, stdout, stderr, and a few that the system's libraries may want.
const DESCRIPTORS: u64 = 16;
/// The largest value that is read. If memory runs out first, the process ends.
const VALUE_BYTES: usize = 1024 * 1024 * 1024;
/// The longest filter, in bytes.
const EXPRESSION_BYTES: usize = 64 * 1024;

/// An answer of the filter process: first to the filter, then to the value.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// The filter is valid: the value may be sent.
    Ready,
    /// Its results, each as JSON.
    Outputs(Vec<String>),
    /// Why it has none.
    Refused { message: String, hint: Option<String> },
}
