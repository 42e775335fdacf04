//! Requests a run of a component.

use std::{borrow::Cow, future::IntoFuture, sync::Arc};

use belljar_model::{ByteSize, Limits, Outcome};
use belljar_sandbox::{ToolSet, Tools};
use futures::future::BoxFuture;

use crate::{Components, Linked, run};

/// A requested run of a component. It starts when it is awaited, and ends in an [`Outcome`],
/// whatever the component does.
///
/// The defaults are the default [`Limits`], no tools, no input and no cancellation.
///
/// # Cancellation
/// Dropping the future ends the run: its instance is dropped, and its calls are aborted.
#[must_use = "a run begins when it is awaited"]
pub struct ComponentRun<'a> {
    components: &'a Components,
    linked: &'a Linked,
    pub(crate) limits: Cow<'a, Limits>,
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) input: Option<String>,
    pub(crate) seed: Option<[u8; 32]>,
    pub(crate) max_recording: Option<ByteSize>,
    pub(crate) order: Option<String>,
    pub(crate) cancelled: BoxFuture<'a, ()>,
}

impl<'a> ComponentRun<'a> {
    pub(crate) fn new(components: &'a Components, linked: &'a Linked) -> Self {
        Self {
            components,
            linked,
            limits: Cow::Owned(Limits::default()),
            tools: Arc::new(ToolSet::new()),
            input: None,
            seed: None,
            max_recording: None,
            order: None,
            cancelled: Box::pin(std::future::pending()),
        }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: &'a Limits) -> Self {
        self.limits = Cow::Borrowed(limits);
        self
    }

    /// Sets the tools. They must be those of the servers that the component was linked with.
    pub fn tools(mut self, tools: Arc<dyn Tools>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the input for a `run` that takes one.
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets the seed of the run's random numbers.
    pub fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Records what the run takes in, in at most this many bytes: [`Outcome::recording`]. Then
    /// [`Components::replay`] can repeat it.
    pub fn recording(mut self, max: ByteSize) -> Self {
        self.max_recording = Some(max);
        self
    }

    /// Sets the text of the [`Order`](crate::Order) that the run follows, which is included in its
    /// recording.
    pub fn ordered(mut self, order: impl Into<String>) -> Self {
        self.order = Some(order.into());
        self
    }

    /// Ends the run when `cancelled` completes. The kind of its outcome is then `cancelled`.
    pub fn cancel_on(mut self, cancelled: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancelled = Box::pin(cancelled);
        self
    }
}

impl<'a> IntoFuture for ComponentRun<'a> {
    type Output = Outcome;
    type IntoFuture = BoxFuture<'a, Outcome>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(run::run(self.components, self.linked, self))
    }
}
