//! All configured children, as one handle.

use std::{collections::HashMap, sync::Arc};

use belljar_model::{JsonText, ServerSpec, ToolDefinition, ToolPath, nearest};
use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::{sync::broadcast, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    CallFault, CallLimit, StartFault,
    child::Child,
    limits,
    options::{BuiltIns, Options},
    status::ServerStatus,
};

/// The configured child servers: started on demand, kept warm, brought back, and stopped together.
///
/// Clones share the children. When the last one is dropped without [`Upstream::shutdown`], all processes are killed.
#[derive(Clone)]
pub struct Upstream(Arc<Inner>);

struct Inner {
    children: Vec<Child>,
    index: HashMap<String, usize>,
    options: Arc<Options>,
    stop: CancellationToken,
    events: broadcast::Sender<ServerStatus>,
}

impl Upstream {
    /// Knows `servers`, and starts none. Of two with the same name the first counts.
    pub fn new(servers: Vec<ServerSpec>, built_ins: BuiltIns, options: Options) -> Self {
        let (options, built_ins) = (Arc::new(options), Arc::new(built_ins));
        let (stop, (events, _)) = (CancellationToken::new(), broadcast::channel(limits::EVENTS));
        let (mut children, mut index) = (Vec::new(), HashMap::new());
        for spec in servers {
            if !index.contains_key(&spec.name) {
                index.insert(spec.name.clone(), children.len());
                children.push(Child::new(spec, options.clone(), built_ins.clone(), stop.clone(), events.clone()));
            }
        }
        Self(Arc::new(Inner { children, index, options, stop, events }))
    }

    /// The servers' names, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.children.iter().map(Child::name)
    }

    /// The tools of `server`, as it listed them last. Starts it if need be; concurrent callers share one start.
    ///
    /// # Errors
    /// [`StartFault`] when it cannot be started, or could not a moment ago.
    ///
    /// # Cancellation
    /// Dropping the future leaves the start running, for the others who wait for it and for the next demand.
    pub async fn tools(&self, server: &str) -> Result<Arc<Vec<ToolDefinition>>, Arc<StartFault>> {
        let child = self.child(server).map_err(|(name, nearest)| StartFault::UnknownServer { name, nearest })?;
        Ok(child.ready().await?.1)
    }

    /// Starts `server` in the background, if it is known and not running.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn begin(&self, server: &str) {
        if let Ok(child) = self.child(server) {
            child.demand();
        }
    }

    /// Calls a tool, and gives the whole result object. See [`Upstream::call_text`].
    ///
    /// # Errors
    /// As [`Upstream::call_text`].
    pub async fn call(
        &self,
        path: &ToolPath,
        arguments: Map<String, Value>,
        limit: impl Into<CallLimit>,
    ) -> Result<Value, CallFault> {
        let text = self.call_text(path, arguments, limit).await?;
        text.to_value().map_err(|error| CallFault::Malformed(error.into()))
    }

    /// Calls a tool, and gives the text of the whole result object as the child wrote it, checked against
    /// [`Options::max_result`] and for depth.
    ///
    /// Starts the server if need be, within its own time limit; `limit` is for the call alone. A call is sent at most
    /// once, whatever happens to it. A tool that fails is a result with `isError`, and no fault.
    ///
    /// # Errors
    /// [`CallFault`] when there is no result.
    ///
    /// # Cancellation
    /// Dropping the future tells the child to give up. The call may still have its effect.
    pub async fn call_text(
        &self,
        path: &ToolPath,
        arguments: Map<String, Value>,
        limit: impl Into<CallLimit>,
    ) -> Result<JsonText, CallFault> {
        let limit = limit.into();
        let child = self.child(path.server()).map_err(|(name, nearest)| CallFault::UnknownServer { name, nearest })?;
        let (connection, _) =
            child.ready().await.map_err(|fault| CallFault::Unavailable { server: path.server().to_owned(), fault })?;
        connection.call(path, arguments, limit, self.0.options.max_result).await
    }

    /// Every server, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.0.children.iter().map(Child::status).collect()
    }

    /// Each change of a server's state from now on, as its new status. A subscriber that is slow loses the oldest.
    pub fn subscribe(&self) -> broadcast::Receiver<ServerStatus> {
        self.0.events.subscribe()
    }

    /// Stops all children in parallel, in less than five seconds, and starts none from now on.
    ///
    /// Each has its stdin closed, then its process group gets SIGTERM, then SIGKILL. Calls in flight fail at once.
    ///
    /// # Cancellation
    /// Dropping the future kills what is left at once.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        let ends = join_all(self.0.children.iter().map(Child::ended));
        if timeout(limits::STOP_LIMIT, ends).await.is_err() {
            tracing::warn!("some child servers had to be abandoned to SIGKILL");
        }
    }

    fn child(&self, name: &str) -> Result<&Child, (String, Option<String>)> {
        let child = self.0.index.get(name).and_then(|index| self.0.children.get(*index));
        child.ok_or_else(|| {
            let name: String = name.chars().take(ServerSpec::NAME_BYTES).collect();
            let nearest = nearest(&name, self.names()).map(str::to_owned);
            (name, nearest)
        })
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Upstream").field(&self.names().collect::<Vec<_>>()).finish()
    }
}
