//! Does the work for a command or a client, in this process or in the daemon.
//!
//! The caller does not know which. `port.rs` has the traits: a command gets its [`Backend`] from
//! [`open`], which alone decides; a long-running server has [`Backends`], which give it one for
//! each request. Both take the requests of the daemon's protocol.
//!
//! `local.rs` does the work in this process, with children of its own or with those of a
//! generation, which `generations.rs` keeps. `remote.rs` has the daemon do it. `service.rs` is the
//! daemon's side of that: a local backend behind the socket. `hooks.rs` is what the daemon does for
//! the hooks of coding agents. `hosted/` executes runs for programs that speak the host protocol.
//! `limits.rs` decides who may raise a limit, and `instructions.rs` is what a client is told about
//! the children.

mod generation;
mod generations;
mod hooks;
mod hosted;
mod instructions;
mod limits;
mod local;
mod port;
mod remote;
mod service;

pub(crate) use generation::Generation;
pub(crate) use generations::Generations;
pub(crate) use hosted::{HostAsker, HostRunner};
pub(crate) use limits::raised;
pub(crate) use port::{Backend, Backends, Meanwhile};
pub(crate) use remote::RemoteEachTime;
pub(crate) use service::GatewayService;

use crate::{
    arguments::NoDaemon,
    daemon,
    failure::Failure,
    setup::{Loaded, Setup},
};
use local::Local;
use remote::Remote;

/// The backend of a command.
pub(crate) async fn open(loaded: Loaded, choice: NoDaemon) -> Result<Box<dyn Backend>, Failure> {
    Ok(match daemon::reach(&loaded, choice).await? {
        Some(client) => Box::new(Remote::new(client)),
        None => Box::new(Local::alone(Setup::of(loaded))),
    })
}
