//! What the daemon does for its clients, as far as this crate needs to know.

use belljar_model::ServerFigures;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::{DaemonError, Lines, ReadHalf, WriteHalf};

/// The result of a request: JSON, or why there is none.
pub type Answer = Result<Box<RawValue>, DaemonError>;

/// A connection whose client has asked, with `host`, to switch to the host protocol.
#[derive(Debug)]
pub struct HostConnection {
    /// The lines that the client sends.
    pub lines: Lines<ReadHalf>,
    /// The output that the client reads.
    pub output: WriteHalf,
    /// Cancelled when the daemon begins to end: nothing new is started, and the connection ends
    /// with its last run.
    pub draining: CancellationToken,
    /// Cancelled when the daemon no longer waits.
    pub stopping: CancellationToken,
}

/// The work behind the socket. The protocol's own methods (`hello`, `status`, `stop`, `cancel`,
/// `host`) never reach it.
pub trait Service: Send + Sync + 'static {
    /// Starts to answer a request, or returns `None` if there is no such method. `params` is any
    /// JSON, as the client sent it.
    ///
    /// `client` is the number of the connection: its requests belong to one client, which takes
    /// turns with the others if they have to wait.
    ///
    /// `cancelled` completes when the client cancels: a run can then still report what it has done.
    /// Dropping the future cancels too; this happens when the client has vanished.
    fn answer(
        &self,
        client: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>>;

    /// Speaks the host protocol on the rest of a connection until it ends. Dropping the future ends
    /// the connection.
    fn host(&self, connection: HostConnection) -> BoxFuture<'static, ()>;

    /// The digest of the service's configuration and version. A client with another digest starts
    /// its own daemon.
    fn fingerprint(&self) -> String;

    /// What was measured about each server.
    fn figures(&self) -> BoxFuture<'static, Vec<ServerFigures>>;

    /// Whether something would be lost if the daemon ended by itself now.
    fn is_needed(&self) -> bool;

    /// Releases all resources; there are no further requests after this.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
