//! The warm process behind every belljar command: its socket, its protocol, its client and its
//! server.
//!
//! This crate knows how one process serves many short ones over a Unix socket, or a named pipe of
//! Windows: who may connect, how a line becomes a request, what is cancelled when a client
//! vanishes, how the process is started exactly once and ends by itself. [`Service`] does the
//! actual requests; nothing in here knows wasmtime, MCP or a script, so that a client starts in a
//! millisecond.
//!
//! What a client sends is bounded before it is read: lines, clients and requests at once. Only
//! processes of the same user are served. The protocol is documented in `docs/DAEMON.md`.

#![deny(unsafe_code)]
#![warn(missing_docs)]

mod address;
mod client;
mod lock;
mod platform;
mod protocol;
pub mod requests;
mod server;
mod service;
mod session;
mod shared;
mod start;
#[cfg(test)]
mod tests;

pub use address::{Address, AddressError};
pub use belljar_json_rpc::{Line, Lines};
pub use client::{ConnectError, DaemonClient, RequestError};
pub use lock::{Lock, LockError};
#[cfg(windows)]
pub use platform::keep_streams;
pub use platform::{ReadHalf, User, WriteHalf, detach, temporary_folder};
pub use protocol::{DaemonError, MAX_LINE_BYTES, PROTOCOL, codes};
pub use server::{DaemonServer, ServeError};
pub use service::{Answer, HostConnection, Service};
pub use shared::Options;
pub use start::{Readiness, StartError, start};
