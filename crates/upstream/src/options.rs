//! What the host decides for all children.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use belljar_model::{ByteSize, Limits};
use futures::future::BoxFuture;
use tokio::io::DuplexStream;

/// What holds for all children alike.
#[derive(Clone)]
pub struct Options {
    /// The allow-listed part of the host's environment. Every child gets it, and beside it the variables of its own
    /// configuration; it gets nothing else. Without a `PATH` in either, commands are looked for in the system's folders alone.
    pub environment: BTreeMap<String, String>,
    /// The name that belljar gives itself in the handshake.
    pub client_name: String,
    /// The version that belljar gives itself in the handshake.
    pub client_version: String,
    /// The largest result of one call, as JSON. By default that of [`Limits::max_result`].
    pub max_result: ByteSize,
    /// How long a failed start is remembered and answered without another try. Five seconds: a script that asks in a
    /// loop starts no storm, and a person who mended the cause does not wait.
    pub retry_after: Duration,
}

impl Options {
    /// The default of [`Options::retry_after`].
    pub const RETRY_AFTER: Duration = Duration::from_secs(5);

    /// The defaults, with an empty environment.
    pub fn new(client_name: impl Into<String>, client_version: impl Into<String>) -> Self {
        Self {
            environment: BTreeMap::new(),
            client_name: client_name.into(),
            client_version: client_version.into(),
            max_result: Limits::default().max_result,
            retry_after: Self::RETRY_AFTER,
        }
    }
}

impl fmt::Debug for Options {
    /// Values of the environment may be secrets: the names alone are shown.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("environment", &self.environment.keys().collect::<Vec<_>>())
            .field("client_name", &self.client_name)
            .field("client_version", &self.client_version)
            .field("max_result", &self.max_result)
            .field("retry_after", &self.retry_after)
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
