//! The warm process behind the commands: which one it is, how a command reaches it, and what it does.

mod log;
mod place;
mod reach;
mod service;

pub(crate) use log::to_file as log_to_file;
pub(crate) use place::{Place, fingerprint};
pub(crate) use reach::{failed, reach, reach_in_any_case, start_at, stop, unreachable};
pub(crate) use service::GatewayService;
