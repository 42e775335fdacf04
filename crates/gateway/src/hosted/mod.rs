//! Runs for a program that serves functions of its own: `tools.rs` is what it offers, `own.rs`
//! which of belljar's tools such a run gets beside them, and `joined.rs` both as the sandbox asks
//! for them.
//!
//! belljar's own tools are called by way of the run's grant, as in any other run: the owner's
//! rules, limits and ledger hold for them.

mod joined;
mod own;
mod tools;

use std::sync::Arc;

pub(crate) use joined::Joined;
pub use own::{OwnTools, OwnToolsError};
pub(crate) use tools::untaken;
pub use tools::{HostAnswer, HostFunctions, HostNamespace, HostTool, HostTools, HostToolsError};

/// What a run gets from the program for which it is made.
#[derive(Clone)]
pub struct HostedRun {
    /// What the program offers.
    pub tools: Arc<HostTools>,
    /// Calls it.
    pub functions: Arc<dyn HostFunctions>,
    /// Which of belljar's own tools the run gets too.
    pub own: OwnTools,
    /// JavaScript that runs before the script.
    pub prelude: Option<String>,
    /// Whether the script finds belljar's own globals.
    pub builtins: bool,
    /// Whether the value is in extended JSON.
    pub extended_value: bool,
}
