//! The interface of a backend, and its source in a long-running server.

use std::{sync::Arc, time::Duration};

use belljar_daemon::requests::{AskEffect, Call, Execute, Reloaded, Search, Servers, Told, ToolEffect};
use belljar_gateway::Follower;
use belljar_upstream::{AskClient, ClientAbilities};
use futures::future::BoxFuture;
use serde_json::value::RawValue;

use crate::{
    approvals::Asking, artifacts::KeptArtifacts, envelope::Isolation, failure::Failure, render::progress::Progress,
};

/// Completes when nobody waits for the answer any more.
pub(crate) type Cancelled<'a> = BoxFuture<'a, ()>;

/// Handles requests, one at a time.
///
/// Dropping a future abandons its request. A cancelled run still reports what it has done.
pub(crate) trait Backend: Send {
    /// Runs a script, or resumes a run.
    fn execute<'a>(
        &'a mut self,
        asked: Execute,
        meanwhile: Meanwhile,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Told, Failure>>;

    /// Calls one tool. The answer is the output of `belljar call --json`.
    fn call<'a>(&'a mut self, asked: Call, cancelled: Cancelled<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Failure>>;

    /// What a call of a tool may change, for decisions.
    fn effect(&mut self, asked: AskEffect) -> BoxFuture<'_, Result<ToolEffect, Failure>>;

    /// Searches the tools.
    fn search(&mut self, asked: Search) -> BoxFuture<'_, Result<Told, Failure>>;

    /// The state of each server: the output of `belljar servers --json`.
    fn servers<'a>(
        &'a mut self,
        asked: Servers,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, Failure>>;

    /// Shows on a terminal which children are starting, until it is ended.
    fn progress(&self) -> Progress;

    /// Where the children are.
    fn isolation(&self) -> Isolation;

    /// Releases what is held for this command.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// The client of a run, who hears its progress and answers children's questions. Only a backend of
/// this process reaches it.
#[derive(Default)]
pub(crate) struct Meanwhile {
    pub(crate) follower: Option<Follower>,
    pub(crate) client: Option<Arc<dyn AskClient>>,
}

/// The source of backends for a long-running server.
pub(crate) trait Backends: Send + Sync {
    /// The backend for the next request.
    fn backend(&self) -> BoxFuture<'_, Result<Box<dyn Backend>, Failure>>;

    /// The instructions for clients.
    fn instructions(&self) -> Arc<str>;

    /// How clients are asked about calls.
    fn asking(&self) -> Asking;

    /// The artifacts that clients can read, if there are any.
    fn artifacts(&self) -> Option<KeptArtifacts>;

    /// How long a run may take.
    fn longest(&self) -> Duration;

    /// Whether a script's logs are sent before its run ends.
    fn is_heard_meanwhile(&self) -> bool;

    /// What the only client can do, when a child asks.
    fn set_client_abilities(&self, abilities: ClientAbilities);

    /// Reads the configuration again. Returns `None` if it had not been read before.
    fn reload(&self) -> BoxFuture<'_, Result<Option<Reloaded>, Failure>>;

    /// Stops the children of this process.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
