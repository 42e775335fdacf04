//! All configured children, as one handle.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use belljar_model::{JsonText, Measures, ServerSpec, Targets, ToolDefinition, ToolPath, nearest};
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{
    sync::{Semaphore, broadcast},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    child::{core::Shared, server::ServerInstances, status::ServerStatus},
    connection::{
        client_requests::{Caller, ClientAbilities},
        requests::CallLimit,
    },
    error::{CallError, StartError},
    limits,
    options::{BuiltIns, Options},
    tools::{cache::Cache, known_tools::KnownTools},
};

/// The configured child servers: started on demand, kept warm, restarted, and stopped together.
///
/// Clones share the children. When the last one is dropped without [`Upstream::shutdown`], all
/// processes are killed.
#[derive(Clone)]
pub struct Upstream(Arc<Inner>);

struct Inner {
    servers: Vec<ServerInstances>,
    index: HashMap<String, usize>,
    shared: Arc<Shared>,
    /// Tool lists that are being written to disk.
    writes: TaskTracker,
}

impl Upstream {
    /// Holds `servers`, and starts none. Of two with the same name the first counts.
    pub fn new(servers: Vec<ServerSpec>, built_ins: BuiltIns, options: Options) -> Self {
        let (events, _) = broadcast::channel(limits::EVENTS);
        let (stop, abilities) = (CancellationToken::new(), Mutex::default());
        let places = Arc::new(Semaphore::new(options.instances.in_all.min(Semaphore::MAX_PERMITS)));
        let shared = Arc::new(Shared { options, built_ins, stop, events, abilities, places });
        let (mut known, mut index, writes) = (Vec::new(), HashMap::new(), TaskTracker::new());
        for spec in servers {
            if !index.contains_key(&spec.name) {
                index.insert(spec.name.clone(), known.len());
                let folder = shared.options.cache.as_ref();
                let cache = folder.and_then(|folder| Cache::of(folder, &spec, &shared.options.client_version, &writes));
                let known_tools = KnownTools::new(Arc::new(spec.clone()), cache);
                known.push(ServerInstances::new(spec, shared.clone(), known_tools));
            }
        }
        Self(Arc::new(Inner { servers: known, index, shared, writes }))
    }

    /// The servers' names, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.servers.iter().map(ServerInstances::name)
    }

    /// The tools of `server`, from its last list in this process or in an earlier one. Starts it if
    /// they are not known; concurrent callers share one start.
    ///
    /// # Errors
    /// [`StartError`] if it cannot be started, or could not a moment ago.
    ///
    /// # Cancellation
    /// Dropping the future leaves the start running, for the others who wait for it and for the
    /// next demand.
    pub async fn tools(&self, server: &str) -> Result<Arc<Vec<ToolDefinition>>, Arc<StartError>> {
        self.known(server)?.tools().await
    }

    /// The known tools of `server`, from its last list in this process or in an earlier one. Starts
    /// nothing.
    pub async fn known_tools(&self, server: &str) -> Option<Arc<Vec<ToolDefinition>>> {
        self.server(server).ok()?.known_tools().await
    }

    /// Whether belljar itself has added `argument` to those of a tool, as far as the tool is known.
    /// Such an argument says which instance a call is for, and is not sent to the server.
    pub fn adds(&self, tool: &ToolPath, argument: &str) -> bool {
        self.server(tool.server()).is_ok_and(|server| server.adds(tool.tool(), argument))
    }

    /// Starts `server`, if it is not running, and returns the tools that it has now.
    ///
    /// # Errors
    /// As [`Upstream::tools`].
    ///
    /// # Cancellation
    /// As [`Upstream::tools`].
    pub async fn start(&self, server: &str) -> Result<Arc<Vec<ToolDefinition>>, Arc<StartError>> {
        self.known(server)?.start().await
    }

    /// Starts `server` in the background, if it is known and not running.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn begin(&self, server: &str) {
        if let Ok(server) = self.server(server) {
            server.begin();
        }
    }

    /// Starts, in the background, the servers that are kept up.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn begin_warm(&self) {
        self.0.servers.iter().filter(|server| server.is_warm()).for_each(ServerInstances::begin);
    }

    /// What the client can do for children that start from now on.
    pub fn set_client_abilities(&self, abilities: ClientAbilities) {
        *self.0.shared.abilities.lock() = abilities;
    }

    /// Calls a tool, and returns the whole result object. See [`Upstream::call_text`].
    ///
    /// # Errors
    /// As [`Upstream::call_text`].
    pub async fn call(
        &self,
        path: &ToolPath,
        arguments: Map<String, Value>,
        limit: impl Into<CallLimit>,
    ) -> Result<Value, CallError> {
        let arguments = JsonText::from_value(&Value::Object(arguments));
        let text = self.call_text(path, arguments, limit, &Caller::default()).await?;
        text.to_value().map_err(|error| CallError::Malformed(error.into()))
    }

    /// Calls a tool with the text of a JSON object, and returns the text of the whole result object
    /// as the child wrote it, checked against [`Options::max_result`] and for depth.
    ///
    /// Starts the server if necessary, within its own time limit, and waits for its turn; `limit`
    /// is for the call alone. A call is sent at most once, unless the owner allows repeating calls
    /// of its tool, and then at most twice. A failing tool is a result with `isError`, and not an
    /// error here.
    ///
    /// # Errors
    /// [`CallError`] when there is no result.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call at the child. The call may still take effect.
    pub async fn call_text(
        &self,
        path: &ToolPath,
        arguments: JsonText,
        limit: impl Into<CallLimit>,
        caller: &Caller,
    ) -> Result<JsonText, CallError> {
        let limit = limit.into();
        let server =
            self.server(path.server()).map_err(|(name, nearest)| CallError::UnknownServer { name, nearest })?;
        if caller.principal().is_some() && self.0.shared.places.available_permits() == 0 {
            // A server that was stopped for idleness has no state, and can give its place to
            // another.
            self.0.servers.iter().for_each(ServerInstances::forget_stopped);
        }
        server.call(path, arguments, limit, self.0.shared.options.max_result, caller).await
    }

    /// Every server, in the order of the configuration; a server with keys once for each of its
    /// instances.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.0.servers.iter().flat_map(ServerInstances::status).collect()
    }

    /// Takes what was measured of each server since the last time, for servers that have any
    /// measurements.
    pub fn take_measures(&self) -> BTreeMap<String, Measures> {
        let taken = self.0.servers.iter().map(|server| (server.name().to_owned(), server.meter().take()));
        taken.filter(|(_, measures)| !measures.is_empty()).collect()
    }

    /// Puts back what could not be saved.
    pub fn put_back_measures(&self, measures: &BTreeMap<String, Measures>) {
        for server in &self.0.servers {
            if let Some(measures) = measures.get(server.name()) {
                server.meter().put_back(measures);
            }
        }
    }

    /// Each server with its measurements that were not yet taken, and with its owner's targets.
    pub fn measures(&self) -> impl Iterator<Item = (&str, Measures, &Targets)> {
        self.0.servers.iter().map(|server| (server.name(), server.meter().look(), &server.spec().targets))
    }

    /// Whether a stateful child is running, whose state would be lost with this process.
    pub fn keeps_state(&self) -> bool {
        self.0.servers.iter().any(ServerInstances::keeps_state)
    }

    /// Each change of a server's state from now on, as its new status. A slow subscriber loses the
    /// oldest.
    pub fn subscribe(&self) -> broadcast::Receiver<ServerStatus> {
        self.0.shared.events.subscribe()
    }

    /// Stops all children in parallel, in less than five seconds, and starts none from now on.
    ///
    /// Each has its stdin closed, then its process group gets SIGTERM, then SIGKILL. Calls in
    /// flight fail at once.
    ///
    /// # Cancellation
    /// Dropping the future kills what is left at once.
    pub async fn shutdown(&self) {
        self.0.shared.stop.cancel();
        self.0.writes.close();
        let ends = join_all(self.0.servers.iter().map(ServerInstances::ended));
        if timeout(limits::STOP_LIMIT, async { tokio::join!(ends, self.0.writes.wait()) }).await.is_err() {
            tracing::warn!("some child servers had to be abandoned to SIGKILL");
        }
    }

    fn known(&self, name: &str) -> Result<&ServerInstances, Arc<StartError>> {
        self.server(name).map_err(|(name, nearest)| Arc::new(StartError::UnknownServer { name, nearest }))
    }

    fn server(&self, name: &str) -> Result<&ServerInstances, (String, Option<String>)> {
        let server = self.0.index.get(name).and_then(|index| self.0.servers.get(*index));
        server.ok_or_else(|| {
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
