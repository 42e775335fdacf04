//! A child process and its whole group: started with only what it is given, and ended with all its
//! helpers.
//!
//! `npx` and similar programs leave the real server running when only they are signalled, and a
//! helper survives when its leader exits cleanly. So each child is in its own process group, which
//! is signalled as a whole, even after its leader is gone. If there is a supervisor, it leads the
//! group, and it also finds helpers that have left it.

//!
//! - `spawn`: starts a child, by way of `supervised` where there is a supervisor, else with `start`
//! - `running`: the process with its pipes, and its end; `group`: sends signals
//! - `supervisor`: the supervisor's own process; `supervision`: its reports to belljar
//! - `orphans`: what is left when a supervisor is killed; `table`: the processes of the system
//! - `stderr`: a child's stderr; `walls`: a child that is confined

pub(crate) mod group;
#[cfg(unix)]
pub(crate) mod orphans;
pub(crate) mod running;
pub(crate) mod spawn;
mod start;
pub(crate) mod stderr;
#[cfg(unix)]
mod supervised;
#[cfg(unix)]
mod supervision;
#[cfg(unix)]
pub(crate) mod supervisor;
#[cfg(unix)]
mod table;
pub(crate) mod walls;

/// How often to check whether killed processes are gone: the system tells only their parents.
#[cfg(unix)]
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);
