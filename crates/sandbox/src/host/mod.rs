//! The host's side of the interface: each import, and the state of one run behind it.
//!
//! The guest calls everything here with arbitrary values. No function trusts them, blocks, recurses
//! over them or keeps more of them than the limits allow.

mod catalog;
mod completions;
mod console;
mod state;
mod stderr;
mod timers;
mod tools;
mod wasi;
mod workspace;

use wasmtime::component::Linker;

use crate::bindings::belljar::sandbox;
pub(crate) use state::{MAX_HANDLES, RunState, Shared, Tape};

/// Links the imports of the world, and no other.
pub(crate) fn link(linker: &mut Linker<RunState>) -> wasmtime::Result<()> {
    wasi::link(linker)?;
    tools::link(linker)?;
    sandbox::catalog::add_to_linker::<_, RunState>(linker, |state| state)?;
    sandbox::console::add_to_linker::<_, RunState>(linker, |state| state)?;
    sandbox::timers::add_to_linker::<_, RunState>(linker, |state| state)?;
    sandbox::completions::add_to_linker::<_, RunState>(linker, |state| state)?;
    sandbox::workspace::add_to_linker::<_, RunState>(linker, |state| state)
}
