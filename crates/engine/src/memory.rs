//! How much memory the engine's process may take.
//!
//! Its runs keep to their limits by themselves. These bounds are for a process in which something
//! else went wrong.

use belljar_sandbox::SandboxOptions;

/// What the process takes beside its runs: machine code, the heap, the stacks of its threads,
/// frames on their way.
const BESIDE_RUNS: u64 = 1 << 30;
/// What each slot has beside the memory of its run, whether there is one or not: stacks, tables,
/// pages that are kept warm.
const BESIDE_RUN: u64 = 8 << 20;
/// The most that one run can have as its memory. One whose limits are above `live_memory` still
/// runs, alone.
const LARGEST_RUN: u64 = 4 << 30;

/// The bytes that it may take.
pub(crate) fn most_taken(options: &SandboxOptions) -> u64 {
    runs(options).saturating_add(beside(options))
}

/// The bytes that it may map to write to. Twice the memory of the runs: what a run had stays mapped
/// in its slot, untouched, until the next run comes there.
pub(crate) fn most_mapped(options: &SandboxOptions) -> u64 {
    runs(options).saturating_mul(2).saturating_add(beside(options))
}

fn runs(options: &SandboxOptions) -> u64 {
    options.live_memory.as_u64().max(LARGEST_RUN)
}

fn beside(options: &SandboxOptions) -> u64 {
    BESIDE_RUN.saturating_mul(u64::from(options.max_live)).saturating_add(BESIDE_RUNS)
}
