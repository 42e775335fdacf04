//! Limits the memory of a run, and how many tables, memories and instances it has.

use wasmtime::ResourceLimiter;

use crate::engine::{CORE_INSTANCES, MEMORIES, TABLE_ELEMENTS, TABLES};

/// Limits the total size of all linear memories of one run.
pub(crate) struct Limiter {
    limit: usize,
    used: usize,
    peak: usize,
    /// The size that was requested and refused.
    denied: Option<usize>,
}

impl Limiter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), used: 0, peak: 0, denied: None }
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    pub(crate) fn denied(&self) -> Option<u64> {
        self.denied.map(|denied| denied as u64)
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let wanted = self.used.saturating_add(desired.saturating_sub(current));
        if wanted > self.limit {
            self.denied = Some(wanted);
            return Err(wasmtime::Error::msg("the memory limit was reached"));
        }
        self.used = wanted;
        self.peak = self.peak.max(wanted);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}
