//! What a worker process may use, and what it gives up.

use std::{io, time::Duration};

use crate::BeginError;
#[cfg(unix)]
use crate::close_inherited;

/// What a role needs. Everything else is given up: privileges of programs that it might start, core
/// dumps, inherited files, and outliving its parent. On Unix the system enforces the bounds;
/// elsewhere only the parent's limits do.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of address space: the program, its stacks and its heap.
    pub memory: Option<u64>,
    /// Open descriptors; stdin, stdout and stderr are three.
    pub descriptors: Option<u64>,
    /// Processor time for each request, rounded up to whole seconds. The system ends a process that
    /// uses more, even if its parent is too busy to do so.
    pub processor_time: Option<Duration>,
}

#[cfg(unix)]
impl Bounds {
    /// Bounds this process, which `parent` has started.
    pub(crate) fn apply(&self, parent: u32, prepare: impl FnOnce()) -> Result<(), BeginError> {
        use nix::sys::resource::Resource;
        follow(parent)?;
        close_inherited(&[])?;
        prepare();
        lower(Resource::RLIMIT_CORE, 0)?;
        #[cfg(not(any(target_os = "macos", target_os = "openbsd")))]
        if let Some(memory) = self.memory {
            lower(Resource::RLIMIT_AS, memory)?;
        }
        if let Some(descriptors) = self.descriptors {
            lower(Resource::RLIMIT_NOFILE, descriptors)?;
        }
        self.grant_processor_time()?;
        #[cfg(target_os = "linux")]
        {
            nix::sys::prctl::set_no_new_privs().map_err(io::Error::from)?;
            nix::sys::prctl::set_dumpable(false).map_err(io::Error::from)?;
        }
        Ok(())
    }

    /// Grants processor time for one more request, beyond what was used so far.
    pub(crate) fn grant_processor_time(&self) -> io::Result<()> {
        use nix::sys::{
            resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit},
            time::TimeValLike as _,
        };
        let Some(granted) = self.processor_time else { return Ok(()) };
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let used = u64::try_from((usage.user_time() + usage.system_time()).num_milliseconds()).unwrap_or(0);
        let soft = Duration::from_millis(used).saturating_add(granted).as_secs().saturating_add(1);
        let (_, hard) = getrlimit(Resource::RLIMIT_CPU)?;
        Ok(setrlimit(Resource::RLIMIT_CPU, soft.min(hard), hard)?)
    }
}

#[cfg(not(unix))]
impl Bounds {
    pub(crate) fn apply(&self, _parent: u32, prepare: impl FnOnce()) -> Result<(), BeginError> {
        prepare();
        Ok(())
    }

    pub(crate) fn grant_processor_time(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends with the parent.
#[cfg(unix)]
fn follow(parent: u32) -> Result<(), BeginError> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).map_err(io::Error::from)?;
    // It may have ended before the signal was requested.
    let is_there = u32::try_from(nix::unistd::getppid().as_raw()).is_ok_and(|pid| pid == parent);
    if is_there { Ok(()) } else { Err(BeginError::Orphaned) }
}

/// Lowers a limit permanently. A lower existing one stays.
#[cfg(unix)]
fn lower(resource: nix::sys::resource::Resource, limit: u64) -> io::Result<()> {
    let (_, hard) = nix::sys::resource::getrlimit(resource)?;
    let limit = limit.min(hard);
    Ok(nix::sys::resource::setrlimit(resource, limit, limit)?)
}
