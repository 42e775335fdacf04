//! How a run is requested: what runs, within which limits, with which tools, and until when.

use std::{borrow::Cow, future::IntoFuture, sync::Arc};

use belljar_model::{Limits, Outcome};
use futures::future::BoxFuture;

use crate::{Program, ToolSet, Tools};

/// A requested run. It begins when it is awaited, and ends in an [`Outcome`], whatever the script
/// does.
///
/// The defaults are the default [`Limits`], no tools, and no cancellation.
///
/// # Cancellation
/// Dropping the future ends the run: its instance is dropped, and its calls and timers are aborted.
#[must_use = "a run begins when it is awaited"]
pub struct Run<'a, R: ?Sized> {
    runner: &'a R,
    request: RunRequest<'a>,
}

/// Something that runs scripts: a [`Sandbox`](crate::Sandbox), or a forwarder to one.
pub trait Runner: Sync {
    /// Runs a script until it ends or is cancelled. A [`Run`] calls it when it is awaited.
    ///
    /// # Cancellation
    /// As [`Run`].
    fn begin<'a>(&'a self, request: RunRequest<'a>) -> BoxFuture<'a, Outcome>;
}

/// The settings of a run.
pub struct RunRequest<'a> {
    /// What to run.
    pub program: Program,
    /// Its limits.
    pub limits: Cow<'a, Limits>,
    /// Its tools.
    pub tools: Arc<dyn Tools>,
    /// Completes when the run is to end.
    pub cancelled: BoxFuture<'a, ()>,
}

impl<'a, R: Runner + ?Sized> Run<'a, R> {
    /// A run of a script by `runner`. This is for implementers of [`Runner`]; others call
    /// [`Sandbox::run`](crate::Sandbox::run).
    pub fn new(runner: &'a R, program: impl Into<Program>) -> Self {
        let request = RunRequest {
            program: program.into(),
            limits: Cow::Owned(Limits::default()),
            tools: Arc::new(ToolSet::new()),
            cancelled: Box::pin(std::future::pending()),
        };
        Self { runner, request }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: &'a Limits) -> Self {
        self.request.limits = Cow::Borrowed(limits);
        self
    }

    /// Sets the tools.
    pub fn tools(mut self, tools: Arc<dyn Tools>) -> Self {
        self.request.tools = tools;
        self
    }

    /// Ends the run when `cancelled` completes. Its outcome is then of the kind `cancelled`, with
    /// its logs and calls so far.
    pub fn cancel_on(mut self, cancelled: impl Future<Output = ()> + Send + 'a) -> Self {
        self.request.cancelled = Box::pin(cancelled);
        self
    }
}

impl<'a, R: Runner + ?Sized> IntoFuture for Run<'a, R> {
    type Output = Outcome;
    type IntoFuture = BoxFuture<'a, Outcome>;

    fn into_future(self) -> Self::IntoFuture {
        self.runner.begin(self.request)
    }
}
