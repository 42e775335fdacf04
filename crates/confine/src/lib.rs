//! Walls that a process builds around itself and cannot take down again.
//!
//! [`engine`] is for the process in which scripts run when `[runs] process = true`: it has its pipe and its memory, and nothing
//! else. A hypothetical hole in the WebAssembly engine ends there.
//!
//! Nothing here is best effort. Where the system cannot give a wall, the caller hears of it ([`ConfineFault`]) and must not go on
//! as if the wall stood.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_os = "linux")]
pub mod engine;
#[cfg(not(target_os = "linux"))]
#[path = "engine_elsewhere.rs"]
pub mod engine;
#[cfg(target_os = "linux")]
mod system_calls;

/// Why a wall cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineFault {
    /// Landlock is missing, disabled or too old.
    #[error(
        "landlock cannot take the files away ({0}); it needs Linux 5.13 with landlock among the `lsm=` of the kernel"
    )]
    Landlock(String),
    /// The kernel does not take the filter.
    #[error("seccomp cannot filter the system calls ({0}); it needs a kernel with CONFIG_SECCOMP_FILTER")]
    Seccomp(String),
    /// A resource limit cannot be set.
    #[error("the limit {name} cannot be set: {source}")]
    Limit {
        /// Its name, as in setrlimit(2).
        name: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The operating system or the processor is not one for which there are walls.
    #[error("there are no such walls on {0}; they need Linux on x86-64, AArch64 or RISC-V")]
    Unsupported(&'static str),
}
