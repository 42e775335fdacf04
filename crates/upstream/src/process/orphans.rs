//! Cleans up when a child kills its own supervisor, which its user's rights allow it to do.
//!
//! The processes below the supervisor are then adopted by the nearest process that adopts orphans,
//! which belljar makes itself. An orphan is distinguished from belljar's own processes by its
//! session: a supervisor starts its own session, and nothing below it can move to belljar's. So
//! every direct child of belljar that is in another session, and is not a living supervisor, is an
//! orphan.
//!
//! If a child also kills belljar, before its supervisor can act, its processes cannot be reached.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use nix::{
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    limits,
    process::{
        LOOK_EVERY,
        table::{Entry, Table},
    },
};

/// Makes this process adopt the processes below a killed supervisor; they are ended with their
/// child's life.
///
/// From then on this process must have no children in other sessions, except those of this crate:
/// they would be ended too. Only Linux has adoption; elsewhere this does nothing.
///
/// # Errors
/// The system's error.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        nix::sys::prctl::set_child_subreaper(true)?;
        ADOPTS.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether this process adopts orphans. The system keeps this per process, so it is a static.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// The supervisors that were started and have not been waited for.
static SUPERVISORS: Mutex<BTreeSet<Pid>> = Mutex::new(BTreeSet::new());

/// When the first supervisor was started. Children older than that are not belljar's.
static FIRST: OnceLock<Option<u64>> = OnceLock::new();

fn supervisors() -> MutexGuard<'static, BTreeSet<Pid>> {
    SUPERVISORS.lock()
}

/// A supervisor that is not an orphan. Dropped when it has been waited for.
#[derive(Debug)]
pub(super) struct Known(Option<Pid>);

impl Known {
    /// Starts a supervisor in such a way that it is not taken for an orphan before its pid is known
    /// here.
    pub(super) fn start<T>(
        start: impl FnOnce() -> io::Result<T>,
        pid: impl FnOnce(&T) -> Option<u32>,
    ) -> io::Result<(T, Self)> {
        let mut known = supervisors();
        let started = start()?;
        let pid = pid(&started).and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
        known.extend(pid);
        if let Some(pid) = pid {
            FIRST.get_or_init(|| Table::entry(pid).map(|supervisor| supervisor.started));
        }
        Ok((started, Self(pid)))
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            supervisors().remove(&pid);
        }
    }
}

/// Kills all orphans of this process, and waits until they are gone. Returns whether they were gone
/// in time.
///
/// # Cancellation
/// A thread of the runtime continues until it is done or out of time.
pub(super) async fn end() -> bool {
    if !ADOPTS.load(Ordering::Relaxed) {
        return true;
    }
    tokio::task::spawn_blocking(end_within_limit).await.unwrap_or(false)
}

fn end_within_limit() -> bool {
    let deadline = Instant::now() + limits::KILL_WAIT;
    while end_once() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
    true
}

/// Kills all orphans with everything below them, and reaps dead ones. Returns whether there were
/// any.
fn end_once() -> bool {
    // A supervisor in the table was started before or after the first look; one that ends meanwhile
    // is in the first.
    let before = supervisors().clone();
    let table = Table::read();
    let after = supervisors().clone();
    let (Some(belljar), Some(Some(first))) = (Table::entry(Pid::this()), FIRST.get()) else { return false };
    let is_orphan = |child: &&Entry| {
        let is_known = before.contains(&child.pid) || after.contains(&child.pid);
        child.session != belljar.session && child.started >= *first && !is_known
    };
    let mut any = false;
    for orphan in table.children(belljar.pid).filter(is_orphan) {
        any = true;
        if orphan.is_dead {
            // Its pid is not reused as long as nobody has waited for it.
            let _ = waitpid(orphan.pid, Some(WaitPidFlag::WNOHANG));
            continue;
        }
        for pid in table.living_below(orphan.pid).into_iter().chain([orphan.pid]) {
            // It may have ended meanwhile.
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
    any
}
