//! What a run took in, kept so that the run can be repeated without its tools.
//!
//! A run depends only on its source, its seed, its limits and what the host passes to it. A
//! recording has all of these in the order in which they crossed: directories of servers, answers
//! of the catalogue, readings of the clocks, calls with their arguments, answers, and ends of
//! timers. From it, `belljar_sandbox::Sandbox::replay` reproduces the same outcome, with exactly
//! the same fuel.
//!
//! [`Writer`] makes a recording while a run goes on, within a budget of bytes. [`Recording`] reads
//! one that may come from anywhere: it is checked as a whole before any part is used, takes no more
//! memory than its bytes, and cannot panic. `docs/RECORDING.md` documents the format byte for byte.
//!
//! This crate does no I/O, and knows neither wasmtime nor MCP.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod entry;
pub mod fixture;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod reader;
mod remarks;
mod start;
#[cfg(test)]
mod tests;
mod writer;

pub use entry::{Answer, Cause, Clock, Digests, End, Entry, Kept, Listing, Property, Question, Spent};
pub use format::digest;
pub use reader::{Entries, ReadError, Recording};
pub use remarks::{RemarkError, Remarks};
pub use start::{Begin, CallForm, EngineId, GlobalFunction, Head, Server, Start, Surroundings};
pub use writer::{Full, Writer};
