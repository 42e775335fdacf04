//! What a backend does, and what a server that lasts has it from.

use std::{sync::Arc, time::Duration};

use belljar_daemon::requests::{AskEffect, Call, Execute, Reloaded, Search, Servers, Told, ToolEffect};
use belljar_gateway::Follower;
use belljar_upstream::{AskClient, ClientAbilities};
use futures::future::BoxFuture;
use serde_json::value::RawValue;

use crate::{approvals::Asking, envelope::Isolation, failure::Failure, render::progress::Progress};

/// Ends when nobody waits for the answer any more.
pub(crate) type Cancelled<'a> = BoxFuture<'a, ()>;

/// Does what is asked. One request after the other.
///
/// Dropping a future gives its request up. A run that is cancelled still says what it has done.
pub(crate) trait Backend: Send {
    /// Runs a script, or goes on with a run.
    fn execute<'a>(
        &'a mut self,
        asked: Execute,
        meanwhile: Meanwhile,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Told, Failure>>;

    /// Calls one tool. The answer is what `belljar call --json` prints.
    fn call<'a>(&'a mut self, asked: Call, cancelled: Cancelled<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Failure>>;

    /// What a call of a tool may change, as decisions take it.
    fn effect(&mut self, asked: AskEffect) -> BoxFuture<'_, Result<ToolEffect, Failure>>;

    /// Searches the tools.
    fn search(&mut self, asked: Search) -> BoxFuture<'_, Result<Told, Failure>>;

    /// The state of each server, as `belljar servers --json` prints it.
    fn servers<'a>(
        &'a mut self,
        asked: Servers,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, Failure>>;

    /// Shows on a terminal which children are starting, until it is ended.
    fn progress(&self) -> Progress;

    /// Where the children are.
    fn isolation(&self) -> Isolation;

    /// Gives back what is held for this command.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// Who hears of a run while it goes on, and is asked what children want to know. Only a backend of
/// this process reaches them.
#[derive(Default)]
pub(crate) struct Meanwhile {
    pub(crate) follower: Option<Follower>,
    pub(crate) client: Option<Arc<dyn AskClient>>,
}

/// What a server that lasts has its requests done by.
pub(crate) trait Backends: Send + Sync {
    /// Who does the next request.
    fn backend(&self) -> BoxFuture<'_, Result<Box<dyn Backend>, Failure>>;

    /// What clients are told of the children.
    fn instructions(&self) -> Arc<str>;

    /// How clients are asked about calls.
    fn asking(&self) -> Asking;

    /// How long a run may take.
    fn longest(&self) -> Duration;

    /// Whether what a script logs is heard before its run ends.
    fn is_heard_meanwhile(&self) -> bool;

    /// The one client that there is can do this, when a child asks.
    fn set_client_abilities(&self, abilities: ClientAbilities);

    /// Reads the configuration again. Nothing, where nobody had read it before.
    fn reload(&self) -> BoxFuture<'_, Result<Option<Reloaded>, Failure>>;

    /// Stops the children of this process.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
