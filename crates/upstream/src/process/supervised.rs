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

use super::{Group, Leader, Pipes, Process, orphans::Known, spawn_fault, start};
use crate::{
    fault::StartFault,
    options::{Options, Supervisor},
    supervisor::report,
};

/// All that a supervisor ever says, in bytes, with room to spare.
const REPORT_BYTES: u64 = 256;

/// A supervisor, and what it says of its child.
#[derive(Debug)]
pub(super) struct Supervision {
    /// Until it has been waited for.
    known: Option<Known>,
    lines: BufReader<Take<Receiver>>,
    child: Option<u32>,
    status: Option<ExitStatus>,
}

impl Supervision {
    /// The child's number.
    pub(super) fn child(&self) -> Option<u32> {
        self.child
    }

    /// The supervisor has been waited for. How the child ended, if it has said that.
    ///
    /// # Cancellation
    /// What was read of a line is lost, and the status with it.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        self.known = None;
        if self.status.is_none() {
            let (word, number) = line(&mut self.lines).await?;
            self.status = (word == report::STATUS).then(|| ExitStatus::from_raw(number));
        }
        self.status
    }

    /// Whether the supervisor has not said how the child ended, which it does when it has ended everything below itself: it was killed,
    /// most likely by the child.
    pub(super) fn was_broken_off(&self) -> bool {
        self.status.is_none()
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
    let (mut process, pipes) = {
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
        let started = Known::start(|| start(program, command, options, Leader::Supervisor), |child| child.id());
        let (child, known) = started.map_err(|error| match spawn_fault(command, error) {
            fault @ StartFault::NoDirectory { .. } => fault,
            StartFault::CannotExecute { source, .. } => broken(source),
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
            Err(spawn_fault(command, io::Error::from_raw_os_error(number)))
        }
        _ => {
            // A child may have been started all the same, and have killed it.
            process.kill().await;
            Err(broken(io::Error::other("it ended before it had started the server")))
        }
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
