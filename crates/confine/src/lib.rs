//! Walls that a process builds around itself and cannot take down again.
//!
//! [`engine`] is for the process in which scripts run if `[runs] process = true`: the process has
//! its pipe and its memory, and nothing else. This contains the damage if the WebAssembly engine
//! should have a hole.
//!
//! [`child`] is for a child server to which its owner has given a `sandbox`: a program is executed
//! behind walls that leave it only the folders and the network that the owner named.
//!
//! Nothing here is best effort. If the system cannot provide a wall, the caller gets a
//! [`ConfineError`] and must not continue without it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod child;
#[cfg(target_os = "linux")]
pub mod engine;
#[cfg(not(target_os = "linux"))]
#[path = "engine_elsewhere.rs"]
pub mod engine;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod system_calls;

/// Why a wall cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// Landlock is missing, disabled or too old.
    #[error(
        "landlock cannot take the files away ({0}); it needs Linux 5.13 with landlock among the `lsm=` of the kernel"
    )]
    Landlock(String),
    /// The kernel rejects the filter.
    #[error("seccomp cannot filter the system calls ({0}); it needs a kernel with CONFIG_SECCOMP_FILTER")]
    Seccomp(String),
    /// The system refuses namespaces for this user.
    #[error(
        "a namespace cannot be made ({0}); users must be allowed to make them: see user.max_user_namespaces and \
             kernel.apparmor_restrict_unprivileged_userns in sysctl, and what the container around belljar allows"
    )]
    Namespaces(String),
    /// A folder or file that was to be allowed does not exist.
    #[error("'{}' cannot be allowed: {source}", path.display())]
    Path {
        /// The path, as it was given.
        path: std::path::PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The program behind the walls cannot be executed.
    #[error("the command '{command}' cannot be executed within the sandbox: {source}; its files must be readable")]
    Command {
        /// The command, as it was given.
        command: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A resource limit cannot be set.
    #[error("the limit {name} cannot be set: {source}")]
    Limit {
        /// Its name, as in setrlimit(2).
        name: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// There are no walls for this operating system or processor.
    #[error("these walls do not exist on {0}; they need Linux on x86-64, AArch64 or RISC-V")]
    Unsupported(&'static str),
}
