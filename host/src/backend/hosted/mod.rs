//! Runs for programs that speak the host protocol, over any of its carriers.
//!
//! `runner.rs` executes a run, `functions.rs` turns what such a program offers into functions of a
//! run and calls them, and `asker.rs` has who the program is and what it may ask for.

mod asker;
mod functions;
mod runner;

pub(crate) use asker::HostAsker;
pub(crate) use runner::HostRunner;
