//! What runs in this process: scripts, or one component.

use belljar_model::{ErrorKind, Outcome, RunError};
use belljar_sandbox::{Recording, ReplayError, Runner, Sandbox};
use futures::future::BoxFuture;

use crate::protocol::to_worker::{self, Replay};

/// Something that runs what the gateway sends.
pub(super) trait Jar: Runner + Send + Sync + 'static {
    /// Repeats a recorded run, whose frame has this body.
    fn replay<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Outcome, ReplayError>>;
}

impl Jar for Sandbox {
    fn replay<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Outcome, ReplayError>> {
        Box::pin(replay(body, self))
    }
}

async fn replay(body: &[u8], sandbox: &Sandbox) -> Result<Outcome, ReplayError> {
    let unread = |reason: String| ReplayError::Run(RunError::new(ErrorKind::Internal, reason));
    let Replay { source, ceiling, recording } =
        to_worker::parse_replay(body).map_err(|error| unread(error.to_string()))?;
    let recording = Recording::read(recording).map_err(|error| unread(error.to_string()))?;
    match source {
        Some(source) => sandbox.rehearse(source, &recording, &ceiling).await,
        None => sandbox.replay_script(&recording, &ceiling).await,
    }
}
