//! What belljar asks of the engine, and what its built-ins, values and globals are made with.
//! Nothing of the script's is called unless a function says so.
//!
//! - `originals`: built-ins as they were before any script ran, and questions about objects with
//!   their help.
//! - `objects`: functions and properties of our own; `plain`: elements and members without a call.
//! - `scripts`: code that the engine parses.
//! - `collections`: what a `Map` and a `Set` hold.
//! - `errors`, `stack`, `call_site`: errors and places, in positions of the author's source.
//! - `place` tells the host where the script is, `waits` notes where functions wait, `limits` is
//!   how deep calls may go; `inside` is which scripts with names the code runs in.

pub mod call_site;
pub mod collections;
pub mod errors;
pub mod inside;
mod limits;
pub mod objects;
pub mod originals;
pub mod place;
pub mod plain;
pub mod scripts;
pub mod stack;
pub mod waits;

use boa_engine::{Context, JsResult};

pub use limits::limit;

/// Keeps the built-ins as they are now, before a script can put its own in their places. Part of
/// the snapshot.
pub fn keep_originals(context: &mut Context) -> JsResult<()> {
    let setter_of_stacks = originals::keep(context)?;
    errors::install(setter_of_stacks, context)
}
