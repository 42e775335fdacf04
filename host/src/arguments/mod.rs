//! Arguments that several parts of the program share: `common` and `limits` are used by many
//! commands, `serve` says where a server listens. All others are in the file of their command.

mod common;
mod limits;
mod serve;

pub(crate) use common::{ConfigArguments, NoDaemon, WorkspaceArgument, duration, since};
pub(crate) use limits::LimitArguments;
pub(crate) use serve::ServeArguments;
