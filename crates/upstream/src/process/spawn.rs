//! Starts a child, below a supervisor if there is one.

use belljar_model::StdioCommand;

#[cfg(unix)]
use crate::process::supervised;
use crate::{
    error::StartError,
    options::Options,
    process::{
        group::Group,
        running::{Pipes, Process},
        start::{Leader, program, spawn_error, start},
    },
};

/// Starts `command` with the environment of `options` and its own variables, and nothing else.
///
/// # Cancellation
/// Dropping the future leaves nothing behind.
pub(crate) async fn spawn(command: &StdioCommand, options: &Options) -> Result<(Process, Pipes), StartError> {
    #[cfg(unix)]
    if let Some(supervisor) = &options.supervisor {
        return supervised::spawn(command, options, supervisor).await;
    }
    let mut child_command = program(command, options);
    child_command.args(&command.args);
    let child = start(child_command, command, options, Leader::Child).map_err(|error| spawn_error(command, error))?;
    let group = Group::led_by(child.id());
    Process::of(child, group)
}
