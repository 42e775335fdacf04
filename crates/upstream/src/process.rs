//! A child process and its whole group: started with nothing but what it is given, and ended with all its helpers.
//!
//! `npx` and its like leave the real server running when they alone are signalled, and a helper survives when its leader
//! exits cleanly. So each child leads a process group of its own, and the group is what is signalled, also after its leader
//! is gone. A helper that leaves the group by itself (a daemon) is out of reach.

use std::{collections::BTreeMap, io, process::Stdio, sync::Arc};

use belljar_model::StdioCommand;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{
    fault::{Exit, StartFault},
    limits,
};

/// A child process that leads its own group. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    group: Arc<Group>,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    /// Starts `command` with `environment` and its own variables, and nothing else.
    pub(crate) fn spawn(
        command: &StdioCommand,
        environment: &BTreeMap<String, String>,
    ) -> Result<(Self, Pipes), StartFault> {
        let mut child_command = Command::new(&command.command);
        child_command
            .args(&command.args)
            .env_clear()
            .envs(environment)
            .envs(&command.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = &command.cwd {
            child_command.current_dir(directory);
        }
        let mut wrap = CommandWrap::from(child_command);
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject);
        let mut child = wrap.spawn().map_err(|error| spawn_fault(command, error))?;
        let group = Arc::new(Group::led_by(child.id()));
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let process = Self { child, group };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((process, Pipes { stdin, stdout, stderr })),
            // All three were asked for above.
            _ => Err(StartFault::Interrupted),
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// The group, for whoever may have to kill it without owning the process.
    pub(crate) fn group(&self) -> Arc<Group> {
        self.group.clone()
    }

    /// Waits until the leader exits. Its helpers may live on: see [`Process::sweep`].
    ///
    /// # Cancellation
    /// Nothing is lost: the exit is reported by the next call.
    pub(crate) async fn exited(&mut self) -> Exit {
        match self.child.wait().await {
            Ok(status) => Exit::Process(status),
            Err(_) => Exit::Closed,
        }
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
        if timeout(limits::KILL_WAIT, self.exited()).await.is_ok() {
            self.group.is_gone_within(limits::KILL_WAIT).await;
            self.group.release();
        }
    }

    /// Ends the helpers that outlived their leader.
    pub(crate) async fn sweep(&mut self) {
        self.group.terminate();
        if !self.group.is_gone_within(limits::HELPER_GRACE).await {
            self.group.kill();
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
pub(crate) use unix::Group;

#[cfg(unix)]
mod unix {
    use std::{
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
    pub(crate) struct Group(Mutex<Option<Pid>>);

    impl Group {
        pub(super) fn led_by(pid: Option<u32>) -> Self {
            // Zero and one would mean our own group and everybody.
            let pid = pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1);
            Self(Mutex::new(pid.map(Pid::from_raw)))
        }

        /// Kills every member, now.
        pub(crate) fn kill(&self) {
            self.signal(Some(Signal::SIGKILL));
        }

        pub(super) fn terminate(&self) {
            self.signal(Some(Signal::SIGTERM));
        }

        pub(super) fn release(&self) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
            let leader = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

        pub(super) fn terminate(&self) {}

        pub(super) fn release(&self) {}

        pub(super) async fn is_gone_within(&self, _limit: Duration) -> bool {
            true
        }
    }
}
