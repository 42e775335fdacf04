//! The walls around the process in which scripts run.
//!
//! They are built in two steps. This is because landlock only binds the thread that asks for it and
//! threads that it starts later, and because the engine needs more rights while it is set up than
//! afterwards: it makes machine code executable, and starts threads.
//!
//! 1. [`before_threads`], while the process has one thread: no access to files, TCP ports or
//!    abstract sockets, and no signals to other processes.
//! 2. [`before_work`], when the engine and its threads are ready and no script has been read yet: a
//!    short list of system calls (see `system_calls.rs`), none of which opens, connects, starts or
//!    traces anything or makes memory executable; and resource limits that allow no new descriptor,
//!    no new process and no byte written to a file. Any other call ends the process immediately, so
//!    that an attempt does not go unnoticed.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetStatus,
    Scope,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{ConfineError, system_calls};

/// Denies this thread, and those that it starts, all access to files. Open files stay open.
///
/// The kernel must support landlock. What newer kernels can deny as well (TCP, abstract sockets,
/// signals) is denied if possible, since the filter of [`before_work`] denies it too.
///
/// # Errors
/// [`ConfineError::Landlock`], if the kernel has no landlock.
pub fn before_threads() -> Result<(), ConfineError> {
    let fault = |error: &dyn std::fmt::Display| ConfineError::Landlock(error.to_string());
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .map_err(|error| fault(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V6))
        .map_err(|error| fault(&error))?
        .handle_access(AccessNet::from_all(ABI::V6))
        .map_err(|error| fault(&error))?
        .scope(Scope::from_all(ABI::V6))
        .map_err(|error| fault(&error))?
        .create()
        .map_err(|error| fault(&error))?
        .restrict_self()
        .map_err(|error| fault(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(ConfineError::Landlock("the kernel did not enforce it".to_owned()));
    }
    Ok(())
}

/// Limits the writable memory that this process can map: its heap, its stacks and the memory of its
/// runs. Addresses that are only reserved do not count, such as the 4 GiB of each slot; they are
/// why `RLIMIT_AS` cannot be used.
///
/// # Errors
/// [`ConfineError::Limit`], if the system refuses it.
pub fn bound_memory(bytes: u64) -> Result<(), ConfineError> {
    let fault = |error: rustix::io::Errno| ConfineError::Limit { name: "RLIMIT_DATA", source: error.into() };
    // A lower existing limit stays.
    let bytes = getrlimit(Resource::Data).maximum.map_or(bytes, |maximum| maximum.min(bytes));
    setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) }).map_err(fault)
}

/// Denies this process what a compiler does not need, before it compiles code that nobody reviewed:
/// other programs and processes, sockets, and attributes of files. [`before_work`] follows.
///
/// # Errors
/// [`ConfineError::Seccomp`], if the system refuses it.
pub fn before_compiling() -> Result<(), ConfineError> {
    system_calls::compiling::deny_what_no_compiler_needs()
}

/// Leaves all threads of this process only the system calls that are needed to run scripts, and no
/// further descriptors, processes or files.
///
/// # Errors
/// [`ConfineError`], if the system refuses one of these.
pub fn before_work() -> Result<(), ConfineError> {
    for (name, resource) in [
        ("RLIMIT_CORE", Resource::Core),
        ("RLIMIT_FSIZE", Resource::Fsize),
        ("RLIMIT_NPROC", Resource::Nproc),
        ("RLIMIT_MSGQUEUE", Resource::Msgqueue),
        // Open descriptors stay open, but no new ones can be opened.
        ("RLIMIT_NOFILE", Resource::Nofile),
    ] {
        setrlimit(resource, Rlimit { current: Some(0), maximum: Some(0) })
            .map_err(|error| ConfineError::Limit { name, source: error.into() })?;
    }
    system_calls::leave_those_of_the_engine()
}
