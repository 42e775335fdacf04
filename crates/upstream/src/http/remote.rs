//! Our end of a connection to a server that is not our process.

use std::sync::{Arc, OnceLock};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::error::RemoteError;

/// Why a remote server was lost, once it is.
pub(crate) type Loss = Arc<OnceLock<RemoteError>>;

/// Our end of a connection to a server that is not our process. Dropping it ends the task at once.
pub(crate) struct Remote {
    /// Cancelled by us: end the session and then cancel `ended`.
    pub(crate) closing: CancellationToken,
    /// Cancelled by the transport when the connection is over for good, whoever ended it.
    pub(crate) ended: CancellationToken,
    /// The task that keeps the connection.
    pub(crate) _task: AbortOnDropHandle<()>,
    /// Why it is over, if we did not end it.
    pub(crate) loss: Loss,
}
