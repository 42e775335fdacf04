//! Child MCP servers: started on demand, kept warm, called within limits, restarted, and stopped
//! without leaving anything behind.
//!
//! An [`Upstream`] owns every configured server. The states of a child, and the transitions between
//! them, are in `child/state.rs`. Each running child has one task (in `child/life.rs`) that owns
//! its process, its connection and its end, so that a failing child does not affect others. Callers
//! hold a handle to the connection and never the process.
//!
//! Everything that a child sends is hostile: lines, results, lists and error texts are bounded
//! before anything is built from them, and a result is passed on as the text that the child wrote.
//! A child gets only the environment in [`Options`] and the variables of its own configuration.
//! This crate does not read the environment, the home folder or the terminal, and repeats no call
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
mod reached;
mod redaction;
mod text;
mod tools;
mod upstream;

pub use child::server::with_real_paths;
pub use child::status::{ServerState, ServerStatus};
pub use connection::answering::{ChildRequest, RequestsHeard};
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
pub use reached::Reached;
pub use tools::affinity::route_by_folder;
pub use tools::listed::{Listed, listed};
pub use tools::paths::{PATH_BYTES, real_path};
pub use tools::projects::project_of;
pub use upstream::Upstream;
