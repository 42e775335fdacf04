//! The guest's allocator, made for an instance that lives for one script.
//!
//! Small blocks come from free lists, one for each size, which are filled from large pieces of
//! memory and never give them back: the instance ends soon, and its memory with it. Large blocks go
//! to the standard library's allocator. An interpreter allocates and frees small blocks all the
//! time; here that is a few instructions, and no block has a header.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    ptr::null_mut,
};

/// Sizes are multiples of this, which is also the alignment of every small block.
const GRAIN: usize = 16;
/// The largest small block.
const MAX_SMALL: usize = 512;
const SIZES: usize = MAX_SMALL / GRAIN;
/// What the free lists are filled from at a time. The first piece is part of the snapshot.
const PIECE: usize = 64 * 1024;

/// The allocator. See the module.
pub(crate) struct Heap {
    state: UnsafeCell<State>,
}

struct State {
    /// The first free block of each size; each free block holds the address of the next.
    free: [*mut u8; SIZES],
    /// What is left of the current piece.
    piece: *mut u8,
    left: usize,
    /// Bytes in the blocks that are not small.
    large: usize,
}

// SAFETY: the guest is compiled for wasm32-wasip2, which has one thread. (See the `cfg` where it is
// installed.)
unsafe impl Sync for Heap {}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self { state: UnsafeCell::new(State { free: [null_mut(); SIZES], piece: null_mut(), left: 0, large: 0 }) }
    }

    /// Bytes in the blocks that are not small: buffers, long texts and long lists.
    #[cfg(any(test, target_family = "wasm"))]
    pub(crate) fn large_bytes(&self) -> usize {
        // SAFETY: one thread, and no reference to the state outlives a call.
        unsafe { (*self.state.get()).large }
    }

    /// Notes that large blocks have grown or shrunk, if the allocation came about.
    fn resized(&self, block: *mut u8, before: usize, after: usize) {
        if !block.is_null() {
            // SAFETY: as in `large_bytes`.
            let large = unsafe { &mut (*self.state.get()).large };
            *large = large.saturating_sub(before).saturating_add(after);
        }
    }
}

/// The free list that a layout belongs to, if it is small.
fn list(layout: &Layout) -> Option<usize> {
    let is_small = layout.size() <= MAX_SMALL && layout.align() <= GRAIN;
    // A block of no size is never asked for.
    is_small.then(|| layout.size().saturating_sub(1) / GRAIN)
}

impl State {
    fn take(&mut self, list: usize) -> *mut u8 {
        let Some(first) = self.free.get_mut(list) else { return null_mut() };
        let block = *first;
        if !block.is_null() {
            // SAFETY: a block on a free list was given back with room for at least GRAIN bytes,
            // aligned for a pointer, and its first bytes were written by `give` with the address of
            // the next.
            *first = unsafe { block.cast::<*mut u8>().read() };
            return block;
        }
        self.cut((list + 1) * GRAIN)
    }

    fn give(&mut self, block: *mut u8, list: usize) {
        let Some(first) = self.free.get_mut(list) else { return };
        // SAFETY: the caller owns the block, which has at least GRAIN bytes and is aligned for a
        // pointer.
        unsafe { block.cast::<*mut u8>().write(*first) };
        *first = block;
    }

    /// A block from the current piece, or from a new one.
    fn cut(&mut self, size: usize) -> *mut u8 {
        if self.left < size {
            let Ok(layout) = Layout::from_size_align(PIECE, GRAIN) else { return null_mut() };
            // SAFETY: the layout has a size.
            let piece = unsafe { System.alloc(layout) };
            if piece.is_null() {
                return null_mut();
            }
            (self.piece, self.left) = (piece, PIECE);
        }
        let block = self.piece;
        // SAFETY: at least `size` bytes are left of the piece.
        self.piece = unsafe { block.add(size) };
        self.left -= size;
        block
    }
}

// SAFETY: `take` gives blocks that are large and aligned enough and that nobody else has; the rest
// is the standard library's.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match list(&layout) {
            // SAFETY: one thread, and nothing in `take` allocates through this allocator.
            Some(list) => unsafe { (*self.state.get()).take(list) },
            None => {
                // SAFETY: as the caller says.
                let block = unsafe { System.alloc(layout) };
                self.resized(block, 0, layout.size());
                block
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match list(&layout) {
            // SAFETY: one thread; the block came from `take` of the same list, since the layout is
            // the same.
            Some(list) => unsafe { (*self.state.get()).give(block, list) },
            None => {
                self.resized(block, layout.size(), 0);
                // SAFETY: as the caller says.
                unsafe { System.dealloc(block, layout) }
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        match (list(&layout), list(&wanted)) {
            (Some(old), Some(new)) if old == new => block,
            (None, None) => {
                // SAFETY: as the caller says.
                let moved = unsafe { System.realloc(block, layout, size) };
                self.resized(moved, layout.size(), size);
                moved
            }
            _ => {
                // SAFETY: both blocks are valid for the smaller of the two sizes, and are not the
                // same.
                unsafe {
                    let moved = self.alloc(wanted);
                    if !moved.is_null() {
                        std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_large_blocks_is_known() {
        let heap = Heap::new();
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: every block is given back with the layout that it has.
        unsafe {
            let large = heap.alloc(layout(10_000));
            let small = heap.alloc(layout(100));
            assert_eq!(heap.large_bytes(), 10_000);
            let large = heap.realloc(large, layout(10_000), 20_000);
            assert_eq!(heap.large_bytes(), 20_000);
            let grown = heap.realloc(small, layout(100), 5_000);
            assert_eq!(heap.large_bytes(), 25_000);
            heap.dealloc(large, layout(20_000));
            let shrunk = heap.realloc(grown, layout(5_000), 100);
            assert_eq!(heap.large_bytes(), 0);
            heap.dealloc(shrunk, layout(100));
        }
    }

    /// Allocates, grows and frees blocks of many sizes, each filled with a byte of its own.
    #[test]
    fn no_two_blocks_overlap_and_a_grown_block_keeps_its_bytes() {
        let heap = Heap::new();
        let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let mut random = 1_u32;
        for round in 0..20_000_u32 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let size = 1 + (random >> 8) as usize % 1_500;
            let byte = (round % 251) as u8;
            match random >> 29 {
                0..=3 => {
                    let layout = Layout::from_size_align(size, 1 << (random >> 5 & 3)).unwrap();
                    // SAFETY: the layout has a size; the block is filled within it.
                    unsafe {
                        let block = heap.alloc(layout);
                        assert!(!block.is_null() && block as usize % layout.align() == 0);
                        block.write_bytes(byte, layout.size());
                        blocks.push((block, layout, byte));
                    }
                }
                kind if !blocks.is_empty() => {
                    let (block, layout, byte) = blocks.swap_remove(random as usize % blocks.len());
                    // SAFETY: the block was allocated with this layout and filled with this byte.
                    unsafe {
                        assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|&found| found == byte));
                        if kind < 6 {
                            heap.dealloc(block, layout);
                        } else {
                            let grown = heap.realloc(block, layout, size);
                            let kept = layout.size().min(size);
                            assert!(std::slice::from_raw_parts(grown, kept).iter().all(|&found| found == byte));
                            grown.write_bytes(byte, size);
                            blocks.push((grown, Layout::from_size_align(size, layout.align()).unwrap(), byte));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
