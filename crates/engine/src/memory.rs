//! How much memory the engine's process may take.
//!
//! The limits of its runs are enforced in the process itself. These bounds are for a process that
//! misbehaves.

use belljar_sandbox::SandboxOptions;

/// What the process needs in addition to its runs: machine code, the heap, the stacks of its
/// threads, frames on their way.
const BESIDE_RUNS: u64 = 1 << 30;
/// What each slot needs in addition to the memory of its run, even when idle: stacks, tables, pages
/// that are kept warm.
const BESIDE_RUN: u64 = 8 << 20;
/// The most memory of one run. A run with limits above `live_memory` still runs, alone.
const LARGEST_RUN: u64 = 4 << 30;

/// What the process of a component needs in addition to its run: compiling a large component takes
/// 400 MiB.
const BESIDE_COMPONENT: u64 = 2 << 30;

/// The writable bytes that the process of one component may map, to compile it and to run it.
pub(crate) fn most_mapped_by_component(options: &SandboxOptions) -> u64 {
    options.live_memory.as_u64().saturating_mul(2).saturating_add(BESIDE_COMPONENT)
}

/// The bytes that the engine's process may use.
pub(crate) fn most_taken(options: &SandboxOptions) -> u64 {
    runs(options).saturating_add(beside(options))
}

/// The writable bytes that the engine's process may map. They include twice the memory of the runs:
/// a run's memory stays mapped in its slot, untouched, until the slot's next run.
pub(crate) fn most_mapped(options: &SandboxOptions) -> u64 {
    runs(options).saturating_mul(2).saturating_add(beside(options))
}

fn runs(options: &SandboxOptions) -> u64 {
    options.live_memory.as_u64().max(LARGEST_RUN)
}

fn beside(options: &SandboxOptions) -> u64 {
    BESIDE_RUN.saturating_mul(u64::from(options.max_live)).saturating_add(BESIDE_RUNS)
}
