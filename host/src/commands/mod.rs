//! One module per command: ask the crates, show the answer, choose the exit code.

pub(crate) mod approvals;
mod assume;
pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod generate;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod login;
pub(crate) mod policy;
mod recording;
pub(crate) mod replay;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod servers;
mod source;
pub(crate) mod test;
pub(crate) mod token;
pub(crate) mod typescript;
pub(crate) mod wit;
