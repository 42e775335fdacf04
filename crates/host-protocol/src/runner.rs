//! What does the runs, as far as this crate needs to know.

use std::sync::Arc;

use belljar_json_rpc::Error;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::{Hello, HostRun, RunRequest};

/// Does the runs of a connection.
pub trait Runner: Send + Sync + 'static {
    /// What the other end is told first.
    fn hello(&self) -> Hello;

    /// Runs a script. `host` reaches the functions that the other end serves, and `client` is how
    /// it calls itself. The answer is the outcome as JSON, also of a script that failed; an error
    /// says that the request is wrong.
    ///
    /// `cancelled` completes when the other end cancels, or is gone: the outcome then says what has
    /// been done. Dropping the future cancels too.
    fn run(
        &self,
        request: RunRequest,
        host: HostRun,
        client: Option<Arc<str>>,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, Error>>;
}
