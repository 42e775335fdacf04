//! The host's settings for all children.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use belljar_model::{ByteSize, Limits, WithheldVariables};
use cap_std::fs::Dir;
use futures::future::BoxFuture;
use tokio::io::DuplexStream;

use crate::connection::answering::RequestsHeard;

/// The settings that apply to all children.
#[derive(Clone)]
pub struct Options {
    /// The allowed part of the host's environment. Every child gets it, with the variables of its
    /// own configuration; it gets nothing else. Without a `PATH` in either, commands are searched
    /// only in the system's folders.
    pub environment: BTreeMap<String, String>,
    /// The variables of the host's environment that children do not get but might need. If a start
    /// fails, the error names them.
    pub withheld: WithheldVariables,
    /// The name that belljar gives itself in the handshake.
    pub client_name: String,
    /// The version that belljar gives itself in the handshake.
    pub client_version: String,
    /// The largest result of one call, as JSON. By default that of [`Limits::max_result`].
    pub max_result: ByteSize,
    /// How long a failed child is left alone before it is started again.
    pub backoff: Backoff,
    /// The program, and its first arguments, that runs between belljar and each child, and calls
    /// [`supervise`](crate::supervise). Without one, children are on their own when belljar is
    /// killed with SIGKILL.
    pub supervisor: Option<Supervisor>,
    /// The program that confines a child before it becomes that child. Without one, a child with a
    /// `sandbox` cannot be started.
    pub confiner: Option<Confiner>,
    /// The folder in which tool lists are kept between processes. Without one, servers are asked.
    pub cache: Option<Arc<Dir>>,
    /// The folder in which the tokens of logins are kept. Without one, nobody is logged in
    /// anywhere.
    pub credentials: Option<Arc<Dir>>,
    /// How many instances there may be for principals.
    pub instances: Instances,
    /// Whether a server whose list on disk is old is started in the background to refresh it. A
    /// short-lived process has no use for that.
    pub refresh: bool,
    /// Gets each request that a child makes, once it is answered or refused.
    pub requests: Option<RequestsHeard>,
}

/// A program that calls [`supervise`](crate::supervise) when it is started with these arguments and
/// more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    /// The program's file.
    pub program: PathBuf,
    /// The arguments that select its role.
    pub arguments: Vec<String>,
}

/// A program that calls [`confine`](crate::confine) when it is started with these arguments and
/// more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confiner {
    /// The program's file.
    pub program: PathBuf,
    /// The arguments that select its role.
    pub arguments: Vec<String>,
    /// Folders of the host that a confined child finds empty: that of the daemon's socket.
    pub hidden: Vec<PathBuf>,
}

/// The wait after a child failed: it doubles with each failure in a row. A random part of the same
/// length is added, so that children that failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure. The default is a quarter of a second: nobody notices it, and it
    /// keeps a loop of failures from becoming a storm.
    pub first: Duration,
    /// The longest wait. The default is thirty seconds: a person who fixed the cause does not wait
    /// long.
    pub most: Duration,
}

/// How many instances of servers there may be for principals, besides those of the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instances {
    /// Of one server. The default is 32: as many people as share one machine.
    pub per_server: usize,
    /// Of all servers together. The default is 128: each may be a process with some tens of
    /// megabytes.
    pub in_all: usize,
    /// After this long without a call, an instance of a stateful server may be stopped to make room
    /// for another. The default is half an hour.
    pub kept: Duration,
}

impl Default for Instances {
    fn default() -> Self {
        Self { per_server: 32, in_all: 128, kept: Duration::from_secs(30 * 60) }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(250), most: Duration::from_secs(30) }
    }
}

impl Options {
    /// The defaults, with an empty environment.
    pub fn new(client_name: impl Into<String>, client_version: impl Into<String>) -> Self {
        Self {
            environment: BTreeMap::new(),
            withheld: WithheldVariables::default(),
            client_name: client_name.into(),
            client_version: client_version.into(),
            max_result: Limits::default().max_result,
            backoff: Backoff::default(),
            supervisor: None,
            confiner: None,
            cache: None,
            credentials: None,
            instances: Instances::default(),
            refresh: false,
            requests: None,
        }
    }
}

impl fmt::Debug for Options {
    /// Values of the environment may be secrets, so only the names are shown.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("environment", &self.environment.keys().collect::<Vec<_>>())
            .field("withheld", &self.withheld)
            .field("client_name", &self.client_name)
            .field("client_version", &self.client_version)
            .field("max_result", &self.max_result)
            .field("backoff", &self.backoff)
            .field("supervisor", &self.supervisor)
            .field("confiner", &self.confiner)
            .field("has_cache", &self.cache.is_some())
            .field("has_credentials", &self.credentials.is_some())
            .field("instances", &self.instances)
            .field("refresh", &self.refresh)
            .field("hears_requests", &self.requests.is_some())
            .finish()
    }
}

/// Serves MCP on a stream until the stream ends.
pub type ServeBuiltIn = Arc<dyn Fn(DuplexStream) -> BoxFuture<'static, ()> + Send + Sync>;

/// The servers inside this process, by the name that a configuration uses for them.
#[derive(Clone, Default)]
pub struct BuiltIns(BTreeMap<String, ServeBuiltIn>);

impl BuiltIns {
    /// No servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server.
    #[must_use]
    pub fn with<Serving>(
        mut self,
        name: impl Into<String>,
        serve: impl Fn(DuplexStream) -> Serving + Send + Sync + 'static,
    ) -> Self
    where
        Serving: Future<Output = ()> + Send + 'static,
    {
        self.0.insert(name.into(), Arc::new(move |stream| Box::pin(serve(stream))));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ServeBuiltIn> {
        self.0.get(name)
    }
}

impl fmt::Debug for BuiltIns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}
