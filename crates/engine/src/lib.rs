//! Where scripts run: in this process, or in a confined process of belljar's own.
//!
//! An [`Engine`] runs scripts in the same way in both cases. Within this process it is a
//! [`Sandbox`](belljar_sandbox::Sandbox), and only WebAssembly confines a script. As a
//! [`ProcessEngine`] it is a sandbox in a second process ([`serve`]), which gives up files,
//! sockets, other processes and executable memory before it reads its first script. The two
//! processes exchange frames over pipes. Tools are called on this side in both cases.
//!
//! The gateway's side treats that process as hostile: it checks each call against what the run was
//! granted, bounds every frame before it reads it, does its own counting, and ends the process if
//! it breaks a rule. See `protocol/mod.rs`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod client;
mod engine;
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
pub use absent::ProcessEngine;
#[cfg(unix)]
pub use client::{ComponentError, ComponentProcess, EngineError, MemoryBound, ProcessEngine};
pub use engine::Engine;
#[cfg(unix)]
pub use worker::{serve, serve_component};
