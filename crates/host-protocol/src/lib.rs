//! The protocol of `belljar host`: a program in any language has scripts run, and serves the calls
//! that they make, over one connection with requests in both directions.
//!
//! `message` has the messages, and `carrier` what carries them: lines here, frames of a WebSocket
//! elsewhere. `session` is one connection: the runs that it has, what it accepts and what it
//! refuses. `host_calls` is what a run sends to the program at the other end, and `outbox` what
//! waits to be written to it. [`Runner`] does the actual runs; nothing in this crate knows an
//! interpreter or a tool.
//!
//! The other end is not trusted to be correct: lines, requests, runs and bytes that are held for it
//! are bounded, whatever it sends or does not read. `docs/HOST_PROTOCOL.md` describes the protocol.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod carrier;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod host_calls;
mod message;
mod outbox;
mod runner;
mod session;
#[cfg(test)]
mod tests;

pub use belljar_json_rpc::{Error, Line, Lines, MAX_LINE_BYTES, codes};
pub use carrier::{LineSink, Sink, Source};
pub use host_calls::{Answer, CallFailure, HostRun, Target};
pub use message::{Form, Hello, HostFunction, HostNamespace, OwnTools, PROTOCOL, RunRequest, Stream, Style};
pub use runner::Runner;
pub use session::{Ends, SessionLimits, serve};
