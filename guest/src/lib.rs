//! The interpreter inside the jar: Boa runs the script, oxc translates its TypeScript.
//!
//! This crate is compiled for `wasm32-wasip2` into a component of the world `interpreter` (see
//! `wit/sandbox.wit`). Untrusted source is read, parsed, translated and run here, and nowhere else.
//! Whatever goes wrong in here, the worst outcome is a trap that ends this instance: the host
//! relies on nothing that this code promises.
//!
//! One instance runs one script. `init` is called when the image is built and its effects are part
//! of the snapshot, so nothing it calls may read a clock or draw a random number.

mod failure;
mod heap;
mod interpreter;
mod jobs;
mod modules;
mod plan;
mod prelude;
mod signature;

use belljar_guest_bindings::{Failure, Guest, Program};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

struct Jar;

impl Guest for Jar {
    fn init() {
        interpreter::build();
    }

    fn run(program: Program) -> Result<String, Failure> {
        interpreter::run(program)
    }
}

belljar_guest_bindings::export!(Jar with_types_in belljar_guest_bindings);
