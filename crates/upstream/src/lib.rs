//! Child MCP servers: started on demand, kept warm, called within limits, brought back, and stopped without a trace.
//!
//! An [`Upstream`] owns every configured server. What states a child can be in, and how it comes from one to the other, is in
//! `state.rs`. Each running child has one task (in `life.rs`) that owns its process, its connection and its end, so that a child that fails takes nothing else with it. Callers hold a handle to the connection
//! and never the process.
//!
//! What a child sends is hostile: lines, results, lists and error texts are bounded before anything is built from them, and
//! a result is handed on as the text that the child wrote. What a child gets is named: the environment in [`Options`], the
//! variables of its own configuration, and nothing else. This crate reads no environment, home or terminal of its own, and
//! repeats no call unless the owner allows it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod affinity;
mod arguments;
mod asking;
pub mod auth;
mod book;
mod cache;
mod channel;
mod child;
mod client;
mod connection;
mod era;
mod fault;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod gate;
mod headers;
mod key_places;
mod life;
mod limits;
mod lines;
mod link;
mod listed;
mod listing;
mod load;
mod messages;
mod options;
mod pace;
mod paths;
mod process;
mod question;
mod redaction;
mod remote;
mod scan;
mod server;
mod state;
mod status;
mod stderr;
#[cfg(unix)]
mod supervisor;
mod text;
mod upstream;
mod walls;
mod wire;

pub use asking::{AskClient, Caller, ClientAbilities};
pub use connection::CallLimit;
pub use fault::{CallFault, Exit, MalformedResult, StartFault, StartStep};
pub use gate::AnswerGate;
pub use listed::{Listed, listed};
pub use options::{Backoff, BuiltIns, Confiner, Instances, Options, ServeBuiltIn, Supervisor};
pub use paths::real_path;
#[cfg(unix)]
pub use process::adopt_orphans;
pub use remote::RemoteFault;
pub use status::{ServerState, ServerStatus};
#[cfg(unix)]
pub use supervisor::supervise;
pub use upstream::Upstream;
pub use walls::confine;
