//! Child MCP servers: started on demand, kept warm, called within limits, brought back, and stopped without a trace.
//!
//! An [`Upstream`] owns every configured child. Each running child has one task (in `life.rs`) that owns its process, its
//! connection and its end, so that a child that fails takes nothing else with it. Callers hold a handle to the connection
//! and never the process.
//!
//! What a child sends is hostile: lines, results, lists and error texts are bounded before anything is built from them, and
//! a result is handed on as the text that the child wrote. What a child gets is named: the environment in [`Options`], the
//! variables of its own configuration, and nothing else. This crate reads no environment, home or terminal of its own, and
//! never repeats a call.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod child;
mod client;
mod connection;
mod fault;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod life;
mod limits;
mod lines;
mod link;
mod listing;
mod options;
mod process;
mod scan;
mod status;
mod stderr;
mod text;
mod upstream;
mod wire;

pub use connection::CallLimit;
pub use fault::{CallFault, Exit, MalformedResult, StartFault, StartStep};
pub use options::{BuiltIns, Options, ServeBuiltIn};
pub use status::{ServerState, ServerStatus};
pub use upstream::Upstream;
