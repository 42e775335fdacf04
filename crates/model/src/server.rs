//! The configuration of a child server, which `upstream` starts.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use crate::{EffectRules, Life, Targets};

/// One configured child server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerSpec {
    /// The configured name: not empty, no dot, no control character, at most
    /// [`ServerSpec::NAME_BYTES`].
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// How long starting it may take, from `exec` to the tool list. Twenty seconds by default:
    /// `npx` may have to unpack a package.
    pub start_timeout: Duration,
    /// The owner's settings for what its tools may change, and for whether what the server says
    /// counts.
    pub effects: EffectRules,
    /// The MCP revisions to try.
    pub era: Era,
    /// What it may ask the client whose run calls it.
    pub asks: Asks,
    /// How its process is kept.
    pub life: Life,
    /// Whether only one run at a time may use it, from the run's first call to its end.
    pub exclusive: bool,
    /// The owner's targets for its figures.
    pub targets: Targets,
    /// Filters by the names of tools, in jq's language: a script gets a tool's results after its
    /// filter.
    pub results: BTreeMap<String, String>,
    /// By the exact names of tools, where their results name what a call has changed.
    pub affected: BTreeMap<String, AffectedPointers>,
}

/// Where a tool's result names what its call has changed: JSON pointers, in which `*` stands for
/// every element or member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AffectedPointers {
    /// Pointers to files.
    pub files: Vec<String>,
    /// Pointers to symbols, as the tool names them.
    pub symbols: Vec<String>,
}

/// How calls of different runs affect each other at one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// They do not affect each other.
    Free,
    /// They share the server's state, such as a page, and mix if they overlap.
    Stateful,
    /// They would mix, so one run at a time has the server.
    Exclusive,
}

/// Packages whose servers keep one state for all callers, whatever their configuration says:
/// browsers.
const KNOWN_STATEFUL: [&str; 6] = [
    "@playwright/mcp",
    "playwright-mcp",
    "mcp-server-playwright",
    "chrome-devtools-mcp",
    "server-puppeteer",
    "puppeteer-mcp",
];

impl ServerSpec {
    /// The longest name, in bytes.
    pub const NAME_BYTES: usize = 64;
    /// The default of [`ServerSpec::start_timeout`].
    pub const START_TIMEOUT: Duration = Duration::from_secs(20);
    /// The longest filter of [`ServerSpec::results`], in bytes.
    pub const FILTER_BYTES: usize = 16 * 1024;

    /// A server with the default start limit and no overrides. The annotations of one inside this
    /// process are trusted.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        let trust_hints = matches!(transport, Transport::BuiltIn(_));
        Self {
            name: name.into(),
            transport,
            start_timeout: Self::START_TIMEOUT,
            effects: EffectRules { trust_hints, ..EffectRules::default() },
            era: Era::Auto,
            asks: Asks::default(),
            life: Life::default(),
            exclusive: false,
            targets: Targets::default(),
            results: BTreeMap::new(),
            affected: BTreeMap::new(),
        }
    }

    /// How its calls affect each other: as its owner says, or as is known of its program.
    pub fn sharing(&self) -> Sharing {
        match &self.transport {
            _ if self.exclusive => Sharing::Exclusive,
            _ if self.life.stateful => Sharing::Stateful,
            Transport::Stdio(program) => {
                let is_known = |text: &String| KNOWN_STATEFUL.iter().any(|known| text.contains(known));
                let is_known = std::iter::once(&program.command).chain(&program.args).any(is_known);
                if is_known { Sharing::Stateful } else { Sharing::Free }
            }
            _ => Sharing::Free,
        }
    }
}

/// What a server may ask the client whose run calls it, if the client supports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asks {
    /// A question to the user, who sees which server asks. The only one that is allowed unless the
    /// owner says otherwise.
    pub elicitation: bool,
    /// A question to the client's model: at the user's cost, with the server's prompt.
    pub sampling: bool,
    /// Which folders the client works in.
    pub roots: bool,
}

impl Asks {
    /// The names used in configuration.
    pub const ALL: [&str; 3] = ["elicitation", "sampling", "roots"];

    /// Nothing.
    pub const NOTHING: Self = Self { elicitation: false, sampling: false, roots: false };

    /// The same, with what a configuration calls `name` allowed too, or `None` for an unknown name.
    pub fn with(self, name: &str) -> Option<Self> {
        Some(match name {
            "elicitation" => Self { elicitation: true, ..self },
            "sampling" => Self { sampling: true, ..self },
            "roots" => Self { roots: true, ..self },
            _ => return None,
        })
    }
}

impl Default for Asks {
    fn default() -> Self {
        Self { elicitation: true, ..Self::NOTHING }
    }
}

/// Which MCP revisions belljar speaks with a server. They differ in how a connection begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// Whichever the server speaks.
    #[default]
    Auto,
    /// Revisions that begin with `initialize`: 2024-11-05 to 2025-11-25.
    Initialize,
    /// Revisions without it: 2026-07-28, which begins with `server/discover`.
    Discover,
}

impl Era {
    /// All of them, as a configuration names them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Initialize, Self::Discover];

    /// The name used in configurations and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Initialize => "initialize",
            Self::Discover => "discover",
        }
    }
}

/// How a child server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// A process that belljar starts and speaks to over its stdin and stdout.
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

    /// The network transport below it, by OpenTelemetry's name; a server inside this process has
    /// none.
    pub fn network(&self) -> Option<&'static str> {
        match self {
            Self::Stdio(_) => Some("pipe"),
            Self::Http(_) => Some("tcp"),
            Self::BuiltIn(_) => None,
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
    /// Environment variables in addition to the allowed ones. May hold secrets: `Debug` shows only
    /// the names.
    pub env: BTreeMap<String, String>,
    /// Its working directory; that of belljar if absent.
    pub cwd: Option<PathBuf>,
    /// What it may reach, if its owner confines it.
    pub sandbox: Option<ChildSandbox>,
}

/// What a confined program may reach, apart from the system's own folders and its own file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChildSandbox {
    /// Whether it has a network.
    pub network: bool,
    /// Files and folders that it may read, and programs there that it may execute.
    pub read: Vec<PathBuf>,
    /// Files and folders to which it has full access.
    pub write: Vec<PathBuf>,
}

impl fmt::Debug for StdioCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StdioCommand")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

/// A remote server.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HttpEndpoint {
    /// Its URL.
    pub url: String,
    /// Headers for every request. May hold secrets: `Debug` shows only the names.
    pub headers: BTreeMap<String, String>,
    /// The protocol.
    pub protocol: HttpProtocol,
    /// How belljar identifies itself to the server's authorization server, for a login.
    pub oauth: OAuthClient,
    /// The proxy for its https requests and its logins. May hold a password.
    pub proxy: Option<String>,
}

impl HttpEndpoint {
    /// A remote server without headers. Its protocol is detected, and belljar registers itself for
    /// a login.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: BTreeMap::new(),
            protocol: HttpProtocol::default(),
            oauth: OAuthClient::default(),
            proxy: None,
        }
    }
}

/// The protocol of a URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpProtocol {
    /// Streamable HTTP, or legacy SSE if the server refuses that.
    #[default]
    Any,
    /// Streamable HTTP.
    Streamable,
    /// The HTTP with SSE of revision 2024-11-05.
    Sse,
}

/// A client that is registered with an authorization server.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct OAuthClient {
    /// Its id. Without one, belljar registers itself.
    pub id: Option<String>,
    /// The URL of a document that describes belljar as a client, for authorization servers that
    /// read such documents. For those, the URL is the id.
    pub metadata: Option<String>,
    /// Its secret, if it has one.
    pub secret: Option<String>,
    /// The requested scopes. If there are none, those that the server names are requested.
    pub scopes: Vec<String>,
    /// The port of the loopback address to which the browser returns, if the registration fixes
    /// one.
    pub port: Option<u16>,
    /// Whether the server may direct its login to a private network.
    pub allow_private: bool,
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, metadata, secret: _, scopes, port, allow_private } = self;
        let mut shown = formatter.debug_struct("OAuthClient");
        shown.field("id", id).field("metadata", metadata).field("scopes", scopes).field("port", port);
        shown.field("allow_private", allow_private).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpEndpoint")
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("protocol", &self.protocol)
            .field("oauth", &self.oauth)
            .field("has_proxy", &self.proxy.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_shares_its_state_where_its_owner_says_so_or_where_it_is_a_known_browser() {
        let program = |args: &[&str]| {
            ServerSpec::new(
                "s",
                Transport::Stdio(StdioCommand {
                    command: "npx".to_owned(),
                    args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                    env: BTreeMap::new(),
                    cwd: None,
                    sandbox: None,
                }),
            )
        };
        assert_eq!(program(&["-y", "@playwright/mcp@latest"]).sharing(), Sharing::Stateful);
        assert_eq!(program(&["/opt/node_modules/chrome-devtools-mcp/build/index.js"]).sharing(), Sharing::Stateful);
        let mut other = program(&["-y", "@modelcontextprotocol/server-memory"]);
        assert_eq!(other.sharing(), Sharing::Free);
        other.life.stateful = true;
        assert_eq!(other.sharing(), Sharing::Stateful);
        other.exclusive = true;
        assert_eq!(other.sharing(), Sharing::Exclusive);
    }
}
