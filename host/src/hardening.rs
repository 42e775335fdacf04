//! Hardens this process before it reads anything secret.
//!
//! Child servers run as the same user, and the system would let them read belljar's environment and
//! memory through `/proc`, or trace it. This must come first in `main`, so that everything that is
//! read later is protected.

use std::{env, ffi::OsStr, io};

use crate::{select, setup};

/// The variable that leaves the process open to debuggers and profilers of the same user.
#[cfg(target_os = "linux")]
const DEBUGGABLE: &str = "BELLJAR_DEBUGGABLE";

/// The role of a process of this program, as far as it matters here, according to its first
/// arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs between belljar and a child server, and hardens itself.
    Supervisor,
    /// Applies a filter to a value, and hardens itself.
    Filter,
    /// Applies the configuration's filters to results, and hardens itself.
    ResultFilter,
    /// Runs scripts, and hardens itself.
    Engine,
    /// Runs one component.
    Component,
    /// Checks arguments against schemas, and hardens itself.
    Checker,
    /// Confines itself and becomes a child server. It has nothing that its child does not get, and
    /// a hidden process could not map its user in a namespace of its own.
    Confiner,
    /// Serves commands, and was usually started by one.
    Daemon,
    /// Started by a person or a client.
    Command,
}

impl Role {
    pub(crate) fn of_this_process() -> Self {
        let mut arguments = env::args_os().skip(1);
        let (first, second) = (arguments.next(), arguments.next());
        let is = |argument: &Option<_>, name: &str| argument.as_deref() == Some(OsStr::new(name));
        if cfg!(unix) && is(&first, setup::SUPERVISE) {
            Self::Supervisor
        } else if is(&first, select::WORKER) {
            Self::Filter
        } else if is(&first, select::RESULTS_WORKER) {
            Self::ResultFilter
        } else if cfg!(unix) && is(&first, setup::ENGINE) {
            Self::Engine
        } else if cfg!(unix) && is(&first, setup::COMPONENT) {
            Self::Component
        } else if is(&first, setup::CHECK) {
            Self::Checker
        } else if is(&first, setup::CONFINE) {
            Self::Confiner
        } else if is(&first, "daemon") && is(&second, "run") {
            Self::Daemon
        } else {
            Self::Command
        }
    }
}

/// Hides a daemon or a command from others of the same user. A daemon also closes files that it
/// inherited by accident. On Windows, streams are kept from the processes that this one starts.
///
/// # Errors
/// The system's error. The process must then not continue.
pub(crate) fn harden(role: Role) -> io::Result<()> {
    #[cfg(windows)]
    belljar_daemon::keep_streams();
    let hardens_itself = [
        Role::Supervisor,
        Role::Filter,
        Role::ResultFilter,
        Role::Engine,
        Role::Component,
        Role::Checker,
        Role::Confiner,
    ];
    if hardens_itself.contains(&role) {
        return Ok(());
    }
    // A daemon outlives its starter. The starter of a command may want it to keep inherited files:
    // a lock, or the pipe behind `--config <(…)`.
    #[cfg(unix)]
    if role == Role::Daemon {
        belljar_worker::close_inherited(&[])?;
    }
    #[cfg(target_os = "linux")]
    hide()?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn hide() -> io::Result<()> {
    // The engine resets its slots by the page map, which a hidden process can only open as root.
    // Opening it reads nothing.
    belljar_sandbox::open_page_map();
    if env::var_os(DEBUGGABLE).is_none_or(|value| value.is_empty() || value == "0") {
        // This also keeps memory out of core dumps.
        nix::sys::prctl::set_dumpable(false)?;
    }
    Ok(())
}
