//! A child process with its group, from its start to its end.

use std::sync::Arc;

use process_wrap::tokio::ChildWrapper;
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};

#[cfg(unix)]
use crate::process::{orphans, supervision::Supervision};
use crate::{
    error::{Exit, StartError},
    limits,
    process::group::Group,
};

/// A child process in a group of its own. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Process {
    /// The child, or its supervisor.
    child: Box<dyn ChildWrapper>,
    group: Arc<Group>,
    #[cfg(unix)]
    pub(super) supervision: Option<Supervision>,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    pub(super) fn of(mut child: Box<dyn ChildWrapper>, group: Group) -> Result<(Self, Pipes), StartError> {
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let process = Self {
            child,
            group: Arc::new(group),
            #[cfg(unix)]
            supervision: None,
        };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((process, Pipes { stdin, stdout, stderr })),
            // All three pipes were requested.
            _ => Err(StartError::Interrupted),
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        #[cfg(unix)]
        if let Some(supervision) = &self.supervision {
            return supervision.child();
        }
        self.child.id()
    }

    /// The group, for code that may have to kill it without owning the process.
    pub(crate) fn group(&self) -> Arc<Group> {
        self.group.clone()
    }

    /// Waits until the child exits. Its helpers may survive: see [`Process::sweep`].
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

    /// Ends the child whose stdin the caller has closed: by waiting, then SIGTERM, then SIGKILL.
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
        // On systems without groups, this ends the job that holds the child and its helpers.
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
        if timeout(limits::KILL_WAIT, self.exited()).await.is_err() {
            // The supervisor fails to do its job.
            self.group.kill_members();
            let _ = timeout(limits::KILL_WAIT, self.exited()).await;
        }
        self.sweep().await;
    }

    /// Ends the helpers that outlived their leader.
    pub(crate) async fn sweep(&mut self) {
        #[cfg(unix)]
        if self.supervision.as_ref().is_some_and(Supervision::was_broken_off) && !orphans::end().await {
            tracing::warn!("a server's supervisor was killed, and processes that it had below it cannot be ended");
        }
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
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
