//! The interface to whatever does the runs.

use std::sync::Arc;

use belljar_json_rpc::Error;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::{Hello, HostRun, RunRequest};

/// Does the runs of a connection.
pub trait Runner: Send + Sync + 'static {
    /// The answer to the other end's `hello`.
    fn hello(&self) -> Hello;

    /// Runs a script. `host` reaches the functions that the other end serves, and `client` is the
    /// name that it gives itself. The answer is the outcome as JSON, even if the script failed; an
    /// error says that the request is wrong.
    ///
    /// `cancelled` completes when the other end cancels the run, or is gone: the outcome then says
    /// what has been done. Dropping the future also cancels the run.
    fn run(
        &self,
        request: RunRequest,
        host: HostRun,
        client: Option<Arc<str>>,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, Error>>;
}
