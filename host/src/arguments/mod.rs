//! Arguments that several parts of the program share: `common` and `limits` are in those of many
//! commands, `serve` says where a server listens. All others lie beside their command.

mod common;
mod limits;
mod serve;

pub(crate) use common::{ConfigArguments, NoDaemon, duration, since};
pub(crate) use limits::LimitArguments;
pub(crate) use serve::ServeArguments;
