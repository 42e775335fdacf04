//! Confined children: the program for a child's `sandbox` precedes the child's own command.
//!
//! The child is then started as belljar's own program in another role, below the supervisor like
//! any other. That process builds the walls around itself and becomes the child ([`confine`]), so
//! that neither belljar nor the supervisor is within them.

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use belljar_confine::child::{ChildWalls, EXIT_CODE, FAILED, execute};
use belljar_model::StdioCommand;

use crate::{
    error::{Exit, StartError},
    options::Options,
};

/// Confines this process and becomes a child: the program that is named in
/// [`Options::confiner`](crate::Options::confiner) calls this first, with what follows the
/// arguments named there, and ends with its result.
pub fn confine(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let walls = arguments.next().and_then(|walls| serde_json::from_str::<ChildWalls>(walls.to_str()?).ok());
    let reason = match (walls, arguments.next()) {
        (Some(walls), Some(program)) => match execute(&walls, &program, arguments) {
            Ok(never) => match never {},
            Err(fault) => fault.to_string(),
        },
        _ => "belljar starts this by itself".to_owned(),
    };
    // If nobody reads it, there is still the exit code.
    let _ = writeln!(std::io::stderr(), "{FAILED}{reason}");
    ExitCode::from(EXIT_CODE)
}

/// The command with which a child is started: its own, or one that confines it first.
pub(crate) fn around(command: &StdioCommand, options: &Options) -> Result<StdioCommand, StartError> {
    let Some(sandbox) = &command.sandbox else { return Ok(command.clone()) };
    let refused = |reason: &str| StartError::Sandbox { reason: reason.to_owned() };
    let confiner = options.confiner.as_ref().ok_or_else(|| refused("this program cannot wall in its servers"))?;
    let walls = ChildWalls {
        network: sandbox.network,
        read: sandbox.read.clone(),
        write: sandbox.write.clone(),
        hidden: confiner.hidden.clone(),
    };
    let walls = serde_json::to_string(&walls).map_err(|_| refused("a folder's name is not UTF-8"))?;
    let program = confiner.program.to_str().ok_or_else(|| refused("the path of belljar's program is not UTF-8"))?;
    let mut args = confiner.arguments.clone();
    args.extend([walls, command.command.clone()]);
    args.extend(command.args.iter().cloned());
    Ok(StdioCommand {
        command: program.to_owned(),
        args,
        env: command.env.clone(),
        cwd: command.cwd.clone(),
        sandbox: None,
    })
}

/// Why a child ended during its start: by itself, or because its walls could not be built. A child
/// can claim the latter falsely, but is not running in either case.
pub(crate) fn exited(exit: Exit, stderr: Vec<String>) -> StartError {
    let failed = matches!(exit, Exit::Process(status) if status.code() == Some(EXIT_CODE.into()));
    match stderr.iter().rev().find_map(|line| line.strip_prefix(FAILED)) {
        Some(reason) if failed => StartError::Sandbox { reason: reason.to_owned() },
        _ => StartError::Exited { exit, stderr },
    }
}
