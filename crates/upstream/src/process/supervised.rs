//! Starts a child below a supervisor, and receives its reports. See [`crate::process::supervisor`].

use std::io;

use belljar_model::StdioCommand;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use parking_lot::Mutex;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use tokio::{
    io::{AsyncReadExt as _, BufReader},
    net::unix::pipe::Receiver,
    process::Command,
};

use crate::{
    error::StartError,
    options::{Options, Supervisor},
    process::{
        group::Group,
        orphans::Known,
        running::{Pipes, Process},
        start::{Leader, spawn_error, start},
        supervision::{REPORT_BYTES, Supervision, line},
        supervisor::report,
    },
};

/// Starts `command` below a supervisor.
pub(super) async fn spawn(
    command: &StdioCommand,
    options: &Options,
    supervisor: &Supervisor,
) -> Result<(Process, Pipes), StartError> {
    let broken =
        |source: io::Error| StartError::CannotExecute { command: supervisor.program.display().to_string(), source };
    let (mut process, pipes) = {
        // While the supervisor's ends can be inherited, no other child may be started, or it would
        // hold them open.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock();
        let (theirs_control, control) = io::pipe().map_err(broken)?;
        let (report, theirs_report) = io::pipe().map_err(broken)?;
        inherit(&theirs_control).and_then(|()| inherit(&theirs_report)).map_err(broken)?;
        let mut program = Command::new(&supervisor.program);
        program
            .args(&supervisor.arguments)
            .arg(theirs_control.as_raw_fd().to_string())
            .arg(theirs_report.as_raw_fd().to_string())
            .arg(&command.command)
            .args(&command.args);
        let started = Known::start(|| start(program, command, options, Leader::Supervisor), |child| child.id());
        let (child, known) = started.map_err(|error| match spawn_error(command, error) {
            fault @ StartError::NoDirectory { .. } => fault,
            StartError::CannotExecute { source, .. } => broken(source),
            _ => broken(io::ErrorKind::NotFound.into()),
        })?;
        let group = Group::led_by(child.id()).with_supervisor(control);
        let receiver = Receiver::from_owned_fd(OwnedFd::from(report)).map_err(broken)?;
        let (mut process, pipes) = Process::of(child, group)?;
        let lines = BufReader::new(receiver.take(REPORT_BYTES));
        process.supervision = Some(Supervision { known: Some(known), lines, child: None, status: None });
        (process, pipes)
    };
    let said = match &mut process.supervision {
        Some(supervision) => line(&mut supervision.lines).await,
        None => None,
    };
    match (said, &mut process.supervision) {
        (Some((word, pid)), Some(supervision)) if word == report::PID => {
            supervision.child = u32::try_from(pid).ok();
            Ok((process, pipes))
        }
        (Some((word, number)), _) if word == report::ERROR => {
            Err(spawn_error(command, io::Error::from_raw_os_error(number)))
        }
        _ => {
            // A child may still have been started, and have killed it.
            process.kill().await;
            Err(broken(io::Error::other("it ended before it had started the server")))
        }
    }
}

/// Lets the next process that is started inherit `file`.
fn inherit(file: impl AsFd) -> io::Result<()> {
    fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}
