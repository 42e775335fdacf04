//! The seam between a child and the way in which it is reached.
//!
//! To the rest of this crate a connection is a [`Link`](crate::link::Link), which owns what must end, and a [`LinkWire`], over
//! which rmcp speaks. A pipe and a remote endpoint differ in these two alone: a new way to reach a child is a function that makes
//! both. A wire must pass on each result as tolerantly as [`Wire`] does, bound what it holds, and never answer noise.

use std::borrow::Cow;

use futures::future::BoxFuture;
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    link::Output,
    wire::{Heard, SendFault, Wire},
};

/// What rmcp speaks to a child over.
pub(crate) enum LinkWire {
    /// The pipes of a process, or a stream inside this one.
    Stream(Box<Wire<Output>>),
    /// Anything else.
    #[expect(dead_code, reason = "remote transports make it")]
    Remote(Box<dyn Channel>),
}

/// [`Transport`] for trait objects. Every transport is one.
pub(crate) trait Channel: Send + 'static {
    fn send_boxed(&mut self, message: ClientJsonRpcMessage) -> BoxFuture<'static, Result<(), SendFault>>;
    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<ServerJsonRpcMessage>>;
    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), SendFault>>;
}

impl<T: Transport<RoleClient> + 'static> Channel for T {
    fn send_boxed(&mut self, message: ClientJsonRpcMessage) -> BoxFuture<'static, Result<(), SendFault>> {
        let sending = self.send(message);
        Box::pin(async move { sending.await.map_err(|error| SendFault::Remote(error.to_string())) })
    }

    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<ServerJsonRpcMessage>> {
        Box::pin(self.receive())
    }

    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), SendFault>> {
        Box::pin(async move { self.close().await.map_err(|error| SendFault::Remote(error.to_string())) })
    }
}

impl LinkWire {
    /// Tells whether the child says anything; for a remote one, its answers alone do.
    pub(crate) fn heard(&self) -> Heard {
        match self {
            Self::Stream(wire) => wire.heard(),
            Self::Remote(_) => Heard::default(),
        }
    }
}

impl Transport<RoleClient> for LinkWire {
    type Error = SendFault;

    fn name() -> Cow<'static, str> {
        "belljar".into()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match self {
            Self::Stream(wire) => futures::future::Either::Left(wire.send(message)),
            Self::Remote(channel) => futures::future::Either::Right(channel.send_boxed(message)),
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        match self {
            Self::Stream(wire) => wire.receive().await,
            Self::Remote(channel) => channel.receive_boxed().await,
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        match self {
            Self::Stream(wire) => wire.close().await,
            Self::Remote(channel) => channel.close_boxed().await,
        }
    }
}

/// The end of a connection to a server that is no process of ours. Dropping it ends the task at once.
#[expect(dead_code, reason = "remote transports make it")]
pub(crate) struct Remote {
    /// Cancelled by us: say goodbye (end the session) and then cancel `ended`.
    pub(crate) closing: CancellationToken,
    /// Cancelled by the transport when the connection is over for good, whoever ended it.
    pub(crate) ended: CancellationToken,
    /// What keeps the connection, if anything does.
    pub(crate) task: Option<AbortOnDropHandle<()>>,
}
