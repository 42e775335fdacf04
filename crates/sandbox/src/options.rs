//! The settings of a sandbox.

use std::{num::NonZero, thread, time::Duration};

use belljar_model::ByteSize;

/// How many runs there may be, and how much they share. Each field's documentation states its
/// default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxOptions {
    /// How many runs may be live at once, whether they compute or wait for tools. The default is
    /// 64: each reserves some 4 GiB of address space, and uses the memory that it touches. Further
    /// runs queue.
    pub max_live: u32,
    /// How much all live runs together may take: their memory limits, and what the host may hold
    /// for them (`max_held`). The default is 20 GiB: enough for a run with the default limits in
    /// each of the 64 slots. A run whose own limits are larger runs alone.
    pub live_memory: ByteSize,
    /// How many runs may compute at once. Further ones take turns of a tick with them; runs that
    /// wait for tools take none. The default is the number of cores.
    pub max_computing: u32,
    /// How many runs may queue. The default is 256: a place costs some hundred bytes and the
    /// source. Further runs end with the error that belljar is busy.
    pub max_queued: u32,
    /// How long a run may queue before it ends with the error that belljar is busy. The default is
    /// thirty seconds: a client waits for two minutes, and the run itself still has to follow.
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
