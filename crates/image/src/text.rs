//! Machine code that stays where it is: the embedded image is part of the program's file, and runs
//! from there.
//!
//! Copying it would touch each of its pages at every start, which would take longer than the rest
//! of the start. Mapped, a page is read when it is first run, and shared by all processes. It is
//! never writable: it goes from read-only to read and execute.

#![allow(unsafe_code, reason = "rights on memory are changed here, of code that wasmtime hands over")]

use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::{Config, CustomCodeMemory, Engine, component::Component};

/// The smallest unit of memory permissions on this architecture.
const PAGE: usize = 4096;

/// Bytes that begin at a page, so that the sections of an image begin at pages too.
#[repr(C, align(4096))]
pub(crate) struct Paged<T: ?Sized>(pub(crate) T);

/// Lets engines of `config` run code from memory that is not theirs.
pub(crate) fn allow(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(InPlace)));
}

/// Whether an engine already runs the embedded image in place. A process usually has one engine. If
/// two engines run the same code, each needs its own copy, since wasmtime finds out from the
/// address whose code has trapped.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Makes a component from the embedded image, which is not copied for the first one in a process.
///
/// # Safety
/// `code` must be the embedded image, which comes from `Engine::precompile_component`.
pub(crate) unsafe fn load(engine: &Engine, code: &'static [u8]) -> wasmtime::Result<Component> {
    if IS_TAKEN.swap(true, Ordering::AcqRel) {
        // SAFETY: as the caller promises.
        return unsafe { Component::deserialize(engine, code) };
    }
    // SAFETY: as the caller promises; what is 'static and shared is neither moved nor written to;
    // and nobody else runs it in place.
    let loaded = unsafe { Component::deserialize_raw(engine, NonNull::from(code)) };
    if loaded.is_err() {
        IS_TAKEN.store(false, Ordering::Release);
    }
    loaded
}

/// Grants and revokes permission to execute.
struct InPlace;

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        PAGE
    }

    fn publish_executable(&self, text: *const u8, length: usize) -> wasmtime::Result<()> {
        // SAFETY: wasmtime hands over the text of an image that it keeps, which begins at a page,
        // and writes to it no more. Of code that it has compiled itself the pages are its own; of
        // the embedded image they are part of the program, and nothing there is lost but the right
        // to write, which they never had.
        unsafe { mprotect(text.cast_mut().cast::<c_void>(), length, MprotectFlags::READ | MprotectFlags::EXEC)? };
        Ok(())
    }

    fn unpublish_executable(&self, text: *const u8, length: usize) -> wasmtime::Result<()> {
        // SAFETY: as above; no code of it is run any more.
        unsafe { mprotect(text.cast_mut().cast::<c_void>(), length, MprotectFlags::READ)? };
        Ok(())
    }
}
