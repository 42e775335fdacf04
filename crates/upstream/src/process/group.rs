//! The process group of a child, to which signals are sent.

#[cfg(unix)]
pub(crate) use unix::Group;

#[cfg(unix)]
mod unix {
    use std::{
        io::{PipeWriter, Write as _},
        time::Duration,
    };

    use nix::{
        sys::signal::{Signal, killpg},
        unistd::Pid,
    };
    use parking_lot::Mutex;

    use crate::process::LOOK_EVERY;

    /// A process group that may be signalled as long as it is ours.
    ///
    /// The kernel reuses the number of a group once its last member is gone, so after that it is
    /// forgotten here.
    #[derive(Debug)]
    pub(crate) struct Group {
        leader: Mutex<Option<Pid>>,
        /// The pipe whose end tells the supervisor to kill everything, if there is one.
        control: Mutex<Option<PipeWriter>>,
    }

    impl Group {
        pub(crate) fn led_by(pid: Option<u32>) -> Self {
            // Zero and one would mean our own group and everybody.
            let pid = pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1);
            Self { leader: Mutex::new(pid.map(Pid::from_raw)), control: Mutex::default() }
        }

        pub(crate) fn with_supervisor(self, control: PipeWriter) -> Self {
            *self.control.lock() = Some(control);
            self
        }

        /// Has everything killed, now.
        pub(crate) fn kill(&self) {
            let told = match self.control.lock().take() {
                Some(mut control) => control.write_all(&[crate::process::supervisor::KILL]).is_ok(),
                None => false,
            };
            // If a supervisor cannot be told, it is dead.
            if !told {
                self.kill_members();
            }
        }

        /// Kills every member of the group, including the supervisor.
        pub(crate) fn kill_members(&self) {
            self.signal(Some(Signal::SIGKILL));
        }

        pub(crate) fn terminate(&self) {
            self.signal(Some(Signal::SIGTERM));
        }

        pub(crate) fn release(&self) {
            *self.leader.lock() = None;
        }

        /// Waits until there are no members.
        pub(crate) async fn is_gone_within(&self, limit: Duration) -> bool {
            let deadline = tokio::time::Instant::now() + limit;
            while self.signal(None) {
                if tokio::time::Instant::now() >= deadline {
                    return false;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            true
        }

        /// Whether there was a process to signal.
        fn signal(&self, signal: Option<Signal>) -> bool {
            let leader = *self.leader.lock();
            leader.is_some_and(|leader| killpg(leader, signal) != Err(nix::errno::Errno::ESRCH))
        }
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::Group;

#[cfg(not(unix))]
mod elsewhere {
    use std::time::Duration;

    /// On systems without process groups, the process is killed through its own handle.
    #[derive(Debug)]
    pub(crate) struct Group;

    impl Group {
        pub(crate) fn led_by(_pid: Option<u32>) -> Self {
            Self
        }

        pub(crate) fn kill(&self) {}

        pub(crate) fn kill_members(&self) {}

        pub(crate) fn terminate(&self) {}

        pub(crate) fn release(&self) {}

        pub(crate) async fn is_gone_within(&self, _limit: Duration) -> bool {
            true
        }
    }
}
