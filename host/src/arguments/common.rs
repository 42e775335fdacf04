//! Arguments that several commands share.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use clap::Args;

use crate::environment;

#[derive(Args, Clone)]
pub(crate) struct ConfigArguments {
    /// The configuration: a belljar.toml, or the JSON file of an MCP client.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Whether a command may use the daemon.
#[derive(Args, Clone, Copy)]
pub(crate) struct NoDaemon {
    /// Does everything in this process, without the daemon.
    #[arg(long)]
    pub(crate) no_daemon: bool,
}

/// Whose kept values a run has.
#[derive(Args, Clone)]
pub(crate) struct WorkspaceArgument {
    /// The workspace, which separates the data that is kept between runs [default: the current
    /// folder].
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
}

impl WorkspaceArgument {
    /// The named workspace, or the folder in which this command was started.
    pub(crate) fn or_folder(&self) -> String {
        self.workspace.clone().unwrap_or_else(environment::workspace)
    }
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    belljar_model::parse_duration(text).map_err(|fault| fault.to_string())
}

/// A time, or how long ago it was.
pub(crate) fn since(text: &str) -> Result<SystemTime, String> {
    let midnight = || humantime::parse_rfc3339_weak(&format!("{text} 00:00:00"));
    if let Ok(at) = humantime::parse_rfc3339_weak(text).or_else(|_| midnight()) {
        return Ok(at);
    }
    let ago = duration(text).map_err(|_| "write a duration such as 2h, or a time such as 2026-11-22".to_owned())?;
    SystemTime::now().checked_sub(ago).ok_or_else(|| "this is too long ago".to_owned())
}
