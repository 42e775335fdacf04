//! The end of a connection to a server that is not a process of ours.

use std::sync::{Arc, OnceLock};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::error::RemoteError;

/// Why a remote server was lost, once it is.
pub(crate) type Loss = Arc<OnceLock<RemoteError>>;

/// The end of a connection to a server that is not a process of ours. Dropping it ends the task at
/// once.
pub(crate) struct Remote {
    /// Cancelled by us: say goodbye (end the session) and then cancel `ended`.
    pub(crate) closing: CancellationToken,
    /// Cancelled by the transport when the connection is over for good, whoever ended it.
    pub(crate) ended: CancellationToken,
    /// What keeps the connection.
    pub(crate) _task: AbortOnDropHandle<()>,
    /// Why it is over, if that was not our wish.
    pub(crate) loss: Loss,
}
