//! Configured servers as callers know them: their instances, each with its state, its life and its
//! calls.
//!
//! - `server`: the instances of one server, and which of them a call goes to
//! - `handle`: one child, as its callers hold it; `core`: what it shares with its life
//! - `life`: the task that owns one life, from the start of the process to its end
//! - `state`: every state of a child, and every transition; `status`: what is reported of it
//! - `meter`: what is measured of a server

pub(crate) mod core;
mod handle;
mod life;
mod meter;
pub(crate) mod server;
mod state;
pub(crate) mod status;
