//! When garbage is collected for what the engine's collector does not see.
//!
//! It counts its own boxes: a buffer of a megabyte, or a text, counts as the few bytes of its handle, and a loop over such garbage would
//! meet the memory limit before the first collection. So large blocks are counted by the allocator, and where they have grown by much, a
//! collection is made: before a buffer is made, and between jobs. Nothing but sizes decides, so the same script collects at the same places.

use std::cell::Cell;

/// Growth that is left to the engine.
const SLACK: usize = 8 << 20;

thread_local! {
    /// Bytes in large blocks at which the next collection is due.
    static DUE: Cell<usize> = const { Cell::new(SLACK) };
}

/// Collects garbage if large blocks have grown by half, and by more than a little, since the last time.
pub(crate) fn collect_if_due() {
    if large_bytes() >= DUE.get() {
        boa_gc::force_collect();
        let left = large_bytes();
        DUE.set(left.saturating_add((left / 2).max(SLACK)));
    }
}

#[cfg(target_family = "wasm")]
fn large_bytes() -> usize {
    crate::HEAP.large_bytes()
}

/// Where the guest is tested natively, the allocator is another one.
#[cfg(not(target_family = "wasm"))]
fn large_bytes() -> usize {
    0
}
