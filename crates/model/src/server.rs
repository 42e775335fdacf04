//! What the configuration says of a child server, and `upstream` starts.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use crate::{Effect, Life};

/// One configured child server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerSpec {
    /// The configured name: not empty, no dot, no control character, at most [`ServerSpec::NAME_BYTES`].
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// How long starting it may take, from `exec` to the tool list. Twenty seconds by default: `npx` may have to unpack.
    pub start_timeout: Duration,
    /// The owner's word on what tools may change, by exact tool name, over the tools' own annotations.
    pub effects: BTreeMap<String, Effect>,
    /// How it is kept.
    pub life: Life,
}

impl ServerSpec {
    /// The longest name, in bytes.
    pub const NAME_BYTES: usize = 64;
    /// The default of [`ServerSpec::start_timeout`].
    pub const START_TIMEOUT: Duration = Duration::from_secs(20);

    /// A server with the default start limit and no overrides.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            start_timeout: Self::START_TIMEOUT,
            effects: BTreeMap::new(),
            life: Life::default(),
        }
    }
}

/// How a child server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// A process of our own, spoken to over its stdin and stdout.
    Stdio(StdioCommand),
    /// Streamable HTTP or legacy SSE at a URL.
    Http(HttpEndpoint),
    /// A server inside this process, by the name under which the host registered it.
    BuiltIn(String),
}

impl Transport {
    /// The name used in JSON and tables.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::BuiltIn(_) => "built_in",
        }
    }
}

/// A program to start.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct StdioCommand {
    /// The program: a path, or a name looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for it beside the allow-listed environment. May hold secrets: `Debug` shows the names alone.
    pub env: BTreeMap<String, String>,
    /// Its working directory; ours if there is none.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for StdioCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StdioCommand")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// A remote server.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HttpEndpoint {
    /// Where it is.
    pub url: String,
    /// Headers for every request. May hold secrets: `Debug` shows the names alone.
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpEndpoint").field("headers", &self.headers.keys().collect::<Vec<_>>()).finish()
    }
}
