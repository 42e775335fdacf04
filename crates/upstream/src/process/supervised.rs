//! Starting a child below a supervisor, and hearing of it. See [`crate::supervisor`].

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    process::ExitStatus,
    sync::{Mutex, PoisonError},
};

use belljar_model::StdioCommand;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Take},
    net::unix::pipe::Receiver,
    process::Command,
};

use super::{Group, Pipes, Process, spawn_fault, start};
use crate::{
    fault::StartFault,
    options::{Options, Supervisor},
    supervisor::report,
};

/// All that a supervisor ever says, in bytes, with room to spare.
const REPORT_BYTES: u64 = 256;

/// What a supervisor says of its child.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) pid: u32,
    lines: BufReader<Take<Receiver>>,
    status: Option<ExitStatus>,
}

impl Report {
    /// How the child ended. The supervisor has ended, or will say no more.
    ///
    /// # Cancellation
    /// What was read of a line is lost, and the status with it.
    pub(super) async fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let (word, number) = line(&mut self.lines).await?;
            self.status = (word == report::STATUS).then(|| ExitStatus::from_raw(number));
        }
        self.status
    }
}

/// Starts `command` below a supervisor.
pub(super) async fn spawn(
    command: &StdioCommand,
    options: &Options,
    supervisor: &Supervisor,
) -> Result<(Process, Pipes), StartFault> {
    let broken =
        |source: io::Error| StartFault::CannotExecute { command: supervisor.program.display().to_string(), source };
    let (process, pipes, receiver) = {
        // While the supervisor's ends can be inherited, no other child may be started, or it would hold them open.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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
        let child = start(program, command, options).map_err(|error| match spawn_fault(command, error) {
            fault @ StartFault::NoDirectory { .. } => fault,
            StartFault::CannotExecute { source, .. } => broken(source),
            _ => broken(io::ErrorKind::NotFound.into()),
        })?;
        let group = Group::led_by(child.id()).with_supervisor(control);
        let receiver = Receiver::from_owned_fd(OwnedFd::from(report)).map_err(broken)?;
        let (process, pipes) = Process::of(child, group)?;
        (process, pipes, receiver)
    };
    let mut process = process;
    let mut lines = BufReader::new(receiver.take(REPORT_BYTES));
    match line(&mut lines).await {
        Some((word, pid)) if word == report::PID => {
            let pid = u32::try_from(pid).unwrap_or(0);
            process.report = Some(Report { pid, lines, status: None });
            Ok((process, pipes))
        }
        Some((word, number)) if word == report::ERROR => {
            Err(spawn_fault(command, io::Error::from_raw_os_error(number)))
        }
        _ => Err(broken(io::Error::other("it ended before it had started the server"))),
    }
}

/// Lets the next process that is started have `file`.
fn inherit(file: impl AsFd) -> io::Result<()> {
    fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// A line of a report: a word and a number.
async fn line(lines: &mut BufReader<Take<Receiver>>) -> Option<(String, i32)> {
    let mut line = String::new();
    lines.read_line(&mut line).await.ok()?;
    let (word, number) = line.trim_end().split_once(' ')?;
    Some((word.to_owned(), number.parse().ok()?))
}
