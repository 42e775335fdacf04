//! A child process and its whole group: started with nothing but what it is given, and ended with all its helpers.
//!
//! `npx` and its like leave the real server running when they alone are signalled, and a helper survives when its leader
//! exits cleanly. So each child is in a process group of its own, and the group is what is signalled, also after its leader
//! is gone. Where there is a supervisor, it leads the group, and it also finds helpers that have left it.

use std::{io, process::Stdio, sync::Arc};

use belljar_model::StdioCommand;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{
    fault::{Exit, StartFault},
    limits,
    options::Options,
};

/// A child process in a group of its own. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Process {
    /// The child, or its supervisor.
    child: Box<dyn ChildWrapper>,
    group: Arc<Group>,
    #[cfg(unix)]
    supervision: Option<supervised::Supervision>,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    /// Starts `command` with the environment of `options` and its own variables, and nothing else.
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    pub(crate) async fn spawn(command: &StdioCommand, options: &Options) -> Result<(Self, Pipes), StartFault> {
        #[cfg(unix)]
        if let Some(supervisor) = &options.supervisor {
            return supervised::spawn(command, options, supervisor).await;
        }
        let mut child_command = Command::new(&command.command);
        child_command.args(&command.args);
        let child =
            start(child_command, command, options, Leader::Child).map_err(|error| spawn_fault(command, error))?;
        let group = Group::led_by(child.id());
        Self::of(child, group)
    }

    fn of(mut child: Box<dyn ChildWrapper>, group: Group) -> Result<(Self, Pipes), StartFault> {
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let process = Self {
            child,
            group: Arc::new(group),
            #[cfg(unix)]
            supervision: None,
        };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((process, Pipes { stdin, stdout, stderr })),
            // All three were asked for.
            _ => Err(StartFault::Interrupted),
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        #[cfg(unix)]
        if let Some(supervision) = &self.supervision {
            return supervision.child();
        }
        self.child.id()
    }

    /// The group, for whoever may have to kill it without owning the process.
    pub(crate) fn group(&self) -> Arc<Group> {
        self.group.clone()
    }

    /// Waits until the child exits. Its helpers may live on: see [`Process::sweep`].
    ///
    /// # Cancellation
    /// Nothing is lost: the exit is reported by the next call.
    pub(crate) async fn exited(&mut self) -> Exit {
        let Ok(status) = self.child.wait().await else { return Exit::Closed };
        #[cfg(unix)]
        if let Some(supervision) = &mut self.supervision
            && let Some(status) = supervision.ended().await
        {
            return Exit::Process(status);
        }
        Exit::Process(status)
    }

    /// Ends the child whose stdin the caller has closed: first by patience, then by SIGTERM, then by SIGKILL.
    pub(crate) async fn stop(&mut self) {
        if timeout(limits::STDIN_GRACE, self.exited()).await.is_err() {
            self.group.terminate();
            if timeout(limits::TERM_GRACE, self.exited()).await.is_err() {
                self.kill().await;
                return;
            }
        }
        self.sweep().await;
    }

    /// Kills the child and its group.
    pub(crate) async fn kill(&mut self) {
        self.group.kill();
        // Where there are no groups, this ends the job that holds the child and its helpers.
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
        if timeout(limits::KILL_WAIT, self.exited()).await.is_err() {
            // The supervisor does not do what it is there for.
            self.group.kill_members();
            let _ = timeout(limits::KILL_WAIT, self.exited()).await;
        }
        self.sweep().await;
    }

    /// Ends the helpers that outlived their leader.
    pub(crate) async fn sweep(&mut self) {
        #[cfg(unix)]
        if self.supervision.as_ref().is_some_and(supervised::Supervision::was_broken_off) && !orphans::end().await {
            tracing::warn!("a server's supervisor was killed, and processes that it had below it cannot be ended");
        }
        self.group.terminate();
        if !self.group.is_gone_within(limits::HELPER_GRACE).await {
            self.group.kill_members();
            self.group.is_gone_within(limits::KILL_WAIT).await;
        }
        self.group.release();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// Who makes the group that a started program leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leader {
    /// It is made with the child.
    Child,
    /// The supervisor makes it, with a session.
    #[cfg(unix)]
    Supervisor,
}

/// Starts a program with the pipes, the environment and the folder that the child is to have.
fn start(
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
    // On Unix the group is killed when it is dropped, with more care.
    #[cfg(not(unix))]
    program.kill_on_drop(true);
    let mut wrap = CommandWrap::from(program);
    if leader == Leader::Child {
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject);
    }
    wrap.spawn()
}

fn spawn_fault(command: &StdioCommand, error: io::Error) -> StartFault {
    let name = command.command.clone();
    if let Some(directory) = &command.cwd
        && !directory.is_dir()
    {
        return StartFault::NoDirectory { path: directory.clone() };
    }
    // A script whose interpreter is missing is "not found" too, although the file is there.
    let is_path_to_file = name.contains(std::path::MAIN_SEPARATOR) && std::path::Path::new(&name).exists();
    if error.kind() == io::ErrorKind::NotFound && !is_path_to_file {
        return StartFault::CommandNotFound { command: name };
    }
    StartFault::CannotExecute { command: name, source: error }
}

#[cfg(unix)]
mod orphans;
#[cfg(unix)]
mod supervised;
#[cfg(unix)]
mod table;

#[cfg(unix)]
pub use orphans::adopt_orphans;
#[cfg(unix)]
pub(crate) use table::Table;
#[cfg(unix)]
pub(crate) use unix::Group;

#[cfg(unix)]
mod unix {
    use std::{
        io::{PipeWriter, Write as _},
        sync::{Mutex, PoisonError},
        time::Duration,
    };

    use nix::{
        sys::signal::{Signal, killpg},
        unistd::Pid,
    };

    /// A process group that may be signalled as long as it is ours.
    ///
    /// The kernel gives the number of a group away once its last member is gone, so after that it is forgotten here.
    #[derive(Debug)]
    pub(crate) struct Group {
        leader: Mutex<Option<Pid>>,
        /// The pipe whose end tells the supervisor to kill everything, if there is one.
        control: Mutex<Option<PipeWriter>>,
    }

    impl Group {
        pub(super) fn led_by(pid: Option<u32>) -> Self {
            // Zero and one would mean our own group and everybody.
            let pid = pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1);
            Self { leader: Mutex::new(pid.map(Pid::from_raw)), control: Mutex::default() }
        }

        pub(super) fn with_supervisor(self, control: PipeWriter) -> Self {
            *self.control.lock().unwrap_or_else(PoisonError::into_inner) = Some(control);
            self
        }

        /// Has everything killed, now.
        pub(crate) fn kill(&self) {
            let told = match self.control.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(mut control) => control.write_all(&[crate::supervisor::KILL]).is_ok(),
                None => false,
            };
            // A supervisor that cannot be told is dead.
            if !told {
                self.kill_members();
            }
        }

        /// Kills every member of the group, the supervisor too.
        pub(super) fn kill_members(&self) {
            self.signal(Some(Signal::SIGKILL));
        }

        pub(super) fn terminate(&self) {
            self.signal(Some(Signal::SIGTERM));
        }

        pub(super) fn release(&self) {
            *self.leader.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }

        /// Waits until there are no members.
        pub(super) async fn is_gone_within(&self, limit: Duration) -> bool {
            const STEP: Duration = Duration::from_millis(5);
            let deadline = tokio::time::Instant::now() + limit;
            while self.signal(None) {
                if tokio::time::Instant::now() >= deadline {
                    return false;
                }
                tokio::time::sleep(STEP).await;
            }
            true
        }

        /// Whether there was anybody to signal.
        fn signal(&self, signal: Option<Signal>) -> bool {
            let leader = *self.leader.lock().unwrap_or_else(PoisonError::into_inner);
            leader.is_some_and(|leader| killpg(leader, signal) != Err(nix::errno::Errno::ESRCH))
        }
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::Group;

#[cfg(not(unix))]
mod elsewhere {
    use std::time::Duration;

    /// Where there are no process groups: the process is killed through its own handle.
    #[derive(Debug)]
    pub(crate) struct Group;

    impl Group {
        pub(super) fn led_by(_pid: Option<u32>) -> Self {
            Self
        }

        pub(crate) fn kill(&self) {}

        pub(super) fn kill_members(&self) {}

        pub(super) fn terminate(&self) {}

        pub(super) fn release(&self) {}

        pub(super) async fn is_gone_within(&self, _limit: Duration) -> bool {
            true
        }
    }
}
