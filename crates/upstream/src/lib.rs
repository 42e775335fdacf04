//! Child MCP servers: started on demand, kept warm, called within limits, brought back, and stopped
//! without a trace.
//!
//! An [`Upstream`] owns every configured server. What states a child can be in, and how it comes
//! from one to the other, is in `child/state.rs`. Each running child has one task (in
//! `child/life.rs`) that owns its process, its connection and its end, so that a child that fails
//! takes nothing else with it. Callers hold a handle to the connection and never the process.
//!
//! What a child sends is hostile: lines, results, lists and error texts are bounded before anything
//! is built from them, and a result is handed on as the text that the child wrote. What a child
//! gets is named: the environment in [`Options`], the variables of its own configuration, and
//! nothing else. This crate reads no environment, home or terminal of its own, and repeats no call
//! unless the owner allows it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod auth;
mod child;
mod connection;
mod error;
mod framing;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod http;
mod limits;
mod options;
mod pace;
mod process;
mod redaction;
mod text;
mod tools;
mod upstream;

pub use child::server::with_real_paths;
pub use child::status::{ServerState, ServerStatus};
pub use connection::client_requests::{AskClient, Caller, ClientAbilities, ProgressHeard};
pub use connection::requests::CallLimit;
pub use error::{CallError, Exit, MalformedResult, RemoteError, StartError, StartStep};
pub use framing::gate::AnswerGate;
pub use options::{Backoff, BuiltIns, Confiner, Instances, Options, ServeBuiltIn, Supervisor};
#[cfg(unix)]
pub use process::orphans::adopt_orphans;
#[cfg(unix)]
pub use process::supervisor::supervise;
pub use process::walls::confine;
pub use tools::listed::{Listed, listed};
pub use tools::paths::{PATH_BYTES, real_path};
pub use tools::projects::project_of;
pub use upstream::Upstream;
