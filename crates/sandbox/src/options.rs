//! The settings of a sandbox.

use std::{num::NonZero, thread, time::Duration};

use belljar_model::ByteSize;

/// How many runs there may be, and what they share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxOptions {
    /// Runs that may be live at once, waiting for tools or computing. 64: each reserves some 4 GiB
    /// of address space, and uses the memory that it touches. Further runs queue.
    pub max_live: u32,
    /// What all live runs together may take: their memory limits, and what the host may hold for
    /// them (`max_held`). 20 GiB: as many runs with the default limits as there are slots. A run
    /// whose own limits are larger runs alone.
    pub live_memory: ByteSize,
    /// Runs that may compute at once; further ones take turns of a tick with them, and those that
    /// wait for tools take none. As many as there are cores.
    pub max_computing: u32,
    /// Runs that may queue. 256: a place costs some hundred bytes and the source. One more is told
    /// that belljar is busy.
    pub max_queued: u32,
    /// How long a run may queue before it is told that belljar is busy. Thirty seconds: a client
    /// waits for two minutes, and the run itself still has to follow.
    pub queue_timeout: Duration,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            max_live: 64,
            live_memory: ByteSize::gib(20),
            max_computing: u32::try_from(cores).unwrap_or(u32::MAX),
            max_queued: 256,
            queue_timeout: Duration::from_secs(30),
        }
    }
}
