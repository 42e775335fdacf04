//! The warm process behind every belljar command: its socket, its protocol, its client and its
//! server.
//!
//! This crate defines how one process serves many short-lived ones over a Unix socket, or over a
//! named pipe on Windows: who may connect, how a line becomes a request, what is cancelled when a
//! client vanishes, and how the process is started exactly once and ends by itself. [`Service`]
//! does the actual work; nothing in here depends on wasmtime, MCP or scripts, so a client starts in
//! a millisecond.
//!
//! Everything that a client sends is bounded before it is read: lines, clients and concurrent
//! requests. Only processes of the same user are served. The protocol is documented in
//! `docs/DAEMON.md`.

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
