//! A child process and its whole group: started with nothing but what it is given, and ended with
//! all its helpers.
//!
//! `npx` and its like leave the real server running when they alone are signalled, and a helper
//! survives when its leader exits cleanly. So each child is in a process group of its own, and the
//! group is what is signalled, also after its leader is gone. Where there is a supervisor, it leads
//! the group, and it also finds helpers that have left it.

//!
//! - `spawn`: starts a child, by way of `supervised` where there is a supervisor, else with `start`
//! - `running`: the process with its pipes, and its end; `group`: what is signalled
//! - `supervisor`: what runs in the supervisor's own process; `supervision`: what belljar hears of
//!   it
//! - `orphans`: what is left when a supervisor is killed; `table`: the processes of the system
//! - `stderr`: what a child writes beside the protocol; `walls`: a child that is confined

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

/// How often it is looked whether processes that were killed are gone: the system tells only their
/// parents.
#[cfg(unix)]
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);
