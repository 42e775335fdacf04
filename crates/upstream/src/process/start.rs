//! Starts a program with its pipes, its environment and its folder, and nothing else.

use std::{io, process::Stdio};

use belljar_model::StdioCommand;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::Command;

use crate::{error::StartError, options::Options};

/// Who creates the group that a started program leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    /// It is created with the child.
    Child,
    /// The supervisor creates it, with a session.
    #[cfg(unix)]
    Supervisor,
}

/// The program of a command, as the system finds it.
#[cfg(not(windows))]
pub(super) fn program(command: &StdioCommand, _options: &Options) -> Command {
    Command::new(&command.command)
}

/// The program of a command. By its name alone, Windows finds only files that end in `.exe`, but
/// servers are mostly started by scripts: `npx` is `npx.cmd`.
#[cfg(windows)]
pub(super) fn program(command: &StdioCommand, options: &Options) -> Command {
    // If a variable occurs in several cases, the last one counts, as it does for the child.
    let mut variables = command.env.iter().rev().chain(options.environment.iter().rev());
    let folders = variables.find(|(name, _)| name.eq_ignore_ascii_case("PATH")).map(|(_, folders)| folders);
    let here = command.cwd.clone().unwrap_or_default();
    // If the program is not found, the start reports that.
    match which::which_in(&command.command, folders, here) {
        Ok(program) => Command::new(program),
        Err(_) => Command::new(&command.command),
    }
}

/// Starts a program with the pipes, the environment and the folder that the child is to have.
pub(super) fn start(
    mut program: Command,
    command: &StdioCommand,
    options: &Options,
    leader: Leader,
) -> io::Result<Box<dyn ChildWrapper>> {
    program
        .env_clear()
        .envs(&options.environment)
        .envs(&command.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(directory) = &command.cwd {
        program.current_dir(directory);
    }
    // On Unix, dropping the group kills it more carefully.
    #[cfg(not(unix))]
    program.kill_on_drop(true);
    let mut wrap = CommandWrap::from(program);
    if leader == Leader::Child {
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        // The job ends with our handle to it, even if we are killed. Ctrl-C at a console is meant
        // for belljar, which ends its servers itself.
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject)
            .wrap(process_wrap::tokio::KillOnDrop)
            .wrap(process_wrap::tokio::CreationFlags(windows::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP));
    }
    wrap.spawn()
}

pub(super) fn spawn_error(command: &StdioCommand, error: io::Error) -> StartError {
    let name = command.command.clone();
    if let Some(directory) = &command.cwd
        && !directory.is_dir()
    {
        return StartError::NoDirectory { path: directory.clone() };
    }
    // A script whose interpreter is missing is also "not found", although the file exists.
    let is_path_to_file = name.contains(std::path::MAIN_SEPARATOR) && std::path::Path::new(&name).exists();
    if error.kind() == io::ErrorKind::NotFound && !is_path_to_file {
        return StartError::CommandNotFound { command: name };
    }
    StartError::CannotExecute { command: name, source: error }
}
