//! The seam between a child and the way in which it is reached.
//!
//! To the rest of this crate a connection is a [`Link`](crate::link::Link), which owns what must end, and a [`LinkWire`], over
//! which rmcp speaks. A pipe and a remote endpoint differ in where the wire's messages come from and go to, and in what ends: a
//! new way to reach a child is a function that makes both.

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{link::Output, remote::Loss, wire::Wire};

/// What rmcp speaks to a child over.
pub(crate) type LinkWire = Wire<Output>;

/// The end of a connection to a server that is no process of ours. Dropping it ends the task at once.
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
