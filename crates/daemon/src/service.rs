//! What the daemon does for its clients, as far as this crate needs to know.

use belljar_model::ServerFigures;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::{DaemonError, Lines, ReadHalf, WriteHalf};

/// The result of a request: JSON, or why there is none.
pub type Answer = Result<Box<RawValue>, DaemonError>;

/// A connection whose client has asked, by `host`, to speak the host protocol from here on.
#[derive(Debug)]
pub struct HostConnection {
    /// What the client sends.
    pub lines: Lines<ReadHalf>,
    /// What it reads.
    pub output: WriteHalf,
    /// The daemon is ending: nothing new is begun, and the connection ends with its last run.
    pub draining: CancellationToken,
    /// The daemon waits no longer.
    pub stopping: CancellationToken,
}

/// The work behind the socket. The protocol's own methods (`hello`, `status`, `stop`, `cancel`,
/// `host`) never reach it.
pub trait Service: Send + Sync + 'static {
    /// Begins to answer a request, or returns `None` if there is no such method. `params` is any
    /// JSON, as the client sent it.
    ///
    /// `client` is the number of the connection: its requests belong to one client, which takes
    /// turns with the others when they must wait.
    ///
    /// `cancelled` completes when the client cancels: a run can then still report what it has done.
    /// Dropping the future cancels too; that happens when the client has vanished.
    fn answer(
        &self,
        client: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>>;

    /// Speaks the host protocol on the rest of a connection, until it ends. Dropping the future
    /// ends it.
    fn host(&self, connection: HostConnection) -> BoxFuture<'static, ()>;

    /// The digest of its configuration and version. A client with another one starts a daemon of
    /// its own.
    fn fingerprint(&self) -> String;

    /// What was measured of each server.
    fn figures(&self) -> BoxFuture<'static, Vec<ServerFigures>>;

    /// Whether something would be lost if the daemon ended by itself now.
    fn is_needed(&self) -> bool;

    /// Releases all resources; there are no further requests after this.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
