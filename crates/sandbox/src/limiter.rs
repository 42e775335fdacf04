//! The memory limit, and how much of it was used.

use wasmtime::ResourceLimiter;

/// The most elements of a table. The guest's table has a fixed size, and a hostile component gets
/// no more than this.
const TABLE_ELEMENTS: usize = 20_000;

/// Bounds the linear memory of one run.
pub(crate) struct MemoryLimiter {
    limit: usize,
    peak: usize,
    /// The size that was requested and refused.
    denied: Option<usize>,
}

impl MemoryLimiter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), peak: 0, denied: None }
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    pub(crate) fn denied(&self) -> Option<u64> {
        self.denied.map(|denied| denied as u64)
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.limit {
            // An error, and not the `false` that makes `memory.grow` return -1, which a script
            // could catch as a RangeError.
            self.denied = Some(desired);
            return Err(wasmtime::Error::msg("the memory limit was reached"));
        }
        self.peak = self.peak.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }
}
