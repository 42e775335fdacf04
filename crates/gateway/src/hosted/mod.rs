//! Runs for a program that offers its own functions. `tools.rs` has these functions, `own.rs`
//! decides which of belljar's tools such a run gets in addition, and `joined.rs` puts both into the
//! form that the sandbox uses.
//!
//! belljar's own tools are called through the run's grant, as in any other run: the owner's rules,
//! limits and ledger apply to them.

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
    /// Calls what the program offers.
    pub functions: Arc<dyn HostFunctions>,
    /// Which of belljar's own tools the run gets in addition.
    pub own: OwnTools,
    /// JavaScript that runs before the script.
    pub prelude: Option<String>,
    /// Whether the script finds belljar's own globals.
    pub builtins: bool,
    /// Whether the value is in extended JSON.
    pub extended_value: bool,
}
