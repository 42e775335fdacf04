//! What the daemon does for its clients, as far as this crate has to know it.

use belljar_model::ServerFigures;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::DaemonError;

/// What a request ends in: JSON, or why there is none.
pub type Answer = Result<Box<RawValue>, DaemonError>;

/// The work behind the socket. The protocol's own methods (`hello`, `status`, `stop`, `cancel`)
/// never reach it.
pub trait Service: Send + Sync + 'static {
    /// Begins to answer a request; `None` where there is no such method. `params` is JSON of any
    /// kind, as the client sent it.
    ///
    /// `client` is the number of the connection: requests of one are of one client, who takes turns
    /// with the others where they must wait.
    ///
    /// `cancelled` is told when the client cancels: a run can then still say what it has done.
    /// Dropping the future cancels too: that is what happens when the client has vanished.
    fn answer(
        &self,
        client: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>>;

    /// What it works with: of the configuration and the version. A client that has read another one
    /// starts a daemon of its own.
    fn fingerprint(&self) -> String;

    /// What was measured of each server.
    fn figures(&self) -> BoxFuture<'static, Vec<ServerFigures>>;

    /// Whether something would be lost if the daemon ended by itself now.
    fn is_needed(&self) -> bool;

    /// Gives back all that is held; nothing is asked any more after this.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
