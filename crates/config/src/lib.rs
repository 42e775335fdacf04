//! belljar's configuration: `belljar.toml` and the `mcpServers` files of MCP clients, read into one
//! typed [`Config`].
//!
//! Both formats become one tree with positions, and one reader makes the servers from it, so a key
//! means the same in both. `belljar.toml` is ours, and an unknown key in it is an error. A client's
//! file belongs to the client: unknown keys in it are ignored, and a `null` counts as absent.
//! `[limits]`, `[runs]`, `[effects]`, `[children]`, `[artifacts]`, `[daemon]`, `[ledger]`,
//! `[policy]`, `[keep]`, `[approvals]`, `[http]`, `[[hook]]` and `[skills]` can only be set in
//! `belljar.toml`.
//!
//! ```toml
//! [limits]                    # replaces the defaults; the names are those of `Limits`
//! timeout = "120s"
//! memory = "64MiB"
//!
//! [runs]                      # how many runs there may be at once
//! max_live = 16
//! live_memory = "2GiB"
//!
//! [children]
//! inherit = ["UV_INDEX_URL"]  # variables that all children get beside the usual ones
//!
//! [effects.read_only]         # what holds by effect, where nothing is said of a server
//! call_timeout = "10s"
//! repeat = "read_only"
//!
//! [artifacts]
//! max_bytes = "1GiB"          # of what runs leave for later ones, by principal
//!
//! [daemon]
//! idle = "30m"                # how long it stays without a client; or "never"
//!
//! [ledger]
//! level = "calls"             # what is kept of runs: "off", "calls", "recordings"
//! keep = { days = 30, bytes = "256MiB" }
//!
//! [policy]
//! file = "policy.toml"        # the owner's rules for calls; else policy.toml beside this file
//!
//! [approvals]
//! wait = "10m"                # how long a decision of the owner is waited for
//!
//! [http.oauth]                # whose tokens `belljar serve --http` takes, beside its own
//! issuer = "https://login.example.com"
//! resource = "https://mcp.example.com/mcp"
//!
//! [[hook]]                    # what `belljar hook` tells an agent before a call of its own tools
//! tools = "Grep|Search"
//! files = ["*.ts"]
//! patterns = ["class "]
//! say = "code.find_symbol({name_path_pattern: {name}})"
//! mode = "tell"
//!
//! [keep]
//! max_bytes = "8MiB"          # what scripts keep for later runs, by principal and workspace
//!
//! [skills]
//! folders = ["team/skills"]   # scripts with a name, beside those in skills/ next to this file
//!
//! [servers.fs]                # a program: `command`, and `args`, `env`, `cwd`
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-filesystem", "/data"]
//! env = { KEY = "${KEY}" }
//! start_timeout = "20s"
//! effects = { write_file = "mutating" }
//!
//! idle = "5m"                 # how it is kept: see `belljar_model::Life`; these are the defaults
//! max_calls = 1000
//! concurrency = 8
//! max_response = "5MB"
//! repeat = "never"
//! breaker = { failures = 5, rest = "60s" }
//! paths = { arguments = ["path"], roots = ["/data"], denied = ["/data/private"], guidance = "…" }
//! targets = { start = "2s", first = "3s", warm = "100ms", errors = "1%" }
//! results = { list_directory = ".[] | .name" }   # what scripts get of a result, in jq's language
//!
//! [servers.code]              # one instance for each project
//! command = "serena"
//! args = ["start-mcp-server", "--project={key}"]
//! key = "{project}"
//! instances = 3
//! stateful = true
//! warm = false
//! on_start = [{ tool = "activate_project", arguments = { project = "{key}" } }]
//!
//! [servers.remote]            # a remote server: `url`, and `headers`
//! url = "https://example.com/mcp"
//! headers = { Authorization = "Bearer ${TOKEN}" }
//!
//! [servers.account]           # a remote server that wants a login: see `belljar login`
//! url = "https://example.com/account"
//! oauth = { client_id = "registered-by-hand", scopes = ["read"] }
//!
//! [servers.demo]              # a server inside belljar
//! builtin = "demo"
//! disabled = true             # left out, and none of its variables are looked up
//! ```
//!
//! A `type` (`stdio`, `http`, `sse` or `streamable-http`) is optional, and is checked against the
//! other keys: a `url` without a type is tried as streamable HTTP, and then as legacy SSE. `era`
//! (`auto`, `initialize` or `discover`) sets how a connection begins, instead of detecting it.
//! `env_file` names a file of `NAME=value` lines; entries of `env` override it. `command`, `args`,
//! `env`, `cwd`, `url` and `headers` may refer to [`Variables`]. A relative `cwd` or `env_file` is
//! resolved against the directory of the configuration file, as given by its path; nothing else is
//! resolved.
//!
//! This crate never reads the environment, the home directory or the terminal, and starts nothing.
//! It opens no files except the one that it was given, the files of variables and of projects that
//! this file names, the files that [`import`] is told to read or write, and those that
//! [`replace()`] is told to write. The values of `env`, `headers` and variables appear in no error
//! and no `Debug`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod approvals;
mod artifacts;
mod children;
mod daemon;
mod document;
pub mod edit;
mod effects;
mod env_file;
mod error;
mod expand;
mod file;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod hook;
mod http;
pub mod import;
mod keep;
mod ledger;
mod life;
mod limits;
pub mod masked;
mod oauth;
pub mod packages;
mod policy;
mod project_file;
mod projects;
mod replace;
mod sandbox;
#[cfg(test)]
mod schema;
mod server;
mod skills;
mod targets;
#[cfg(test)]
mod testing;
mod transport;
mod tree;

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use belljar_model::{
    ArtifactSettings, ByteSize, HookRule, KeepSettings, LedgerSettings, LimitsPatch, RunsPatch, ServerSpec,
};

pub use belljar_model::Position;
pub use children::ChildrenSettings;
pub use error::{ConfigError, ConfigErrorKind, Field};
use expand::Expander;
pub use expand::{EXPANDED_BYTES, Variables};
pub use file::FILE_BYTES;
pub use http::{HttpSettings, OAuthSettings, is_safe_name};
pub use policy::folder;
pub use replace::{replace, replace_with_secret};
pub use tree::DEPTH;

/// The most servers in one file. Each is a process or a connection; people configure a dozen.
pub const MAX_SERVERS: usize = 256;

/// The contents of a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Config {
    /// The servers that are not disabled, in the order of the file. Their names are unique.
    pub servers: Vec<ServerSpec>,
    /// The limits that were set. A client's file sets none.
    pub limits: LimitsPatch,
    /// How many runs there may be at once, if set. A client's file cannot set it.
    pub runs: RunsPatch,
    /// What all child servers get from the owner's environment.
    pub children: ChildrenSettings,
    /// What becomes an artifact, and how artifacts are kept.
    pub artifacts: ArtifactSettings,
    /// How the daemon is kept.
    pub daemon: DaemonSettings,
    /// What is kept of runs.
    pub ledger: LedgerSettings,
    /// How much scripts may keep for later runs.
    pub keep: KeepSettings,
    /// The file with the owner's rules, if one is named.
    pub policy: Option<PathBuf>,
    /// How the owner is asked about calls.
    pub approvals: ApprovalsSettings,
    /// Whose tokens are accepted over HTTP.
    pub http: HttpSettings,
    /// Where the tool calls of agents that ask `belljar hook` are redirected, in the order of the
    /// file.
    pub hooks: Vec<HookRule>,
    /// The folders with named scripts, in addition to the one next to the file.
    pub skills: Vec<PathBuf>,
}

/// The contents of `[approvals]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalsSettings {
    /// How long to wait for a decision.
    pub wait: Duration,
    /// Whether `belljar approve --yes` decides without a person typing.
    pub allow_yes: bool,
    /// How long a waiting run keeps its slot before it is suspended.
    pub hold: Duration,
    /// How many bytes all suspended runs may take.
    pub max_resting: ByteSize,
    /// The webhook that is notified about waiting calls.
    pub webhook: Option<WebhookSettings>,
}

/// The webhook that is notified about waiting calls, and its settings.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WebhookSettings {
    /// The address.
    pub url: String,
    /// The secret with which messages are signed.
    pub secret: String,
    /// Whether messages contain the arguments of calls.
    pub arguments: bool,
}

impl fmt::Debug for WebhookSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebhookSettings").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// The contents of `[daemon]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DaemonSettings {
    /// How long the daemon stays without a client; `None` for ever.
    pub idle: Option<Duration>,
}

impl Default for DaemonSettings {
    /// Half an hour: longer than a person thinks between two commands, shorter than a forgotten
    /// browser should stay.
    fn default() -> Self {
        Self { idle: Some(Duration::from_secs(30 * 60)) }
    }
}

/// The format of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `belljar.toml`: unknown keys are errors.
    Toml,
    /// A client's `{"mcpServers": {…}}` or VS Code's `{"servers": {…}}`, with comments and trailing
    /// commas allowed.
    Json,
}

impl Format {
    /// The format that a file's extension indicates: TOML for `.toml`, otherwise JSON.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Self::Toml,
            _ => Self::Json,
        }
    }
}

/// Reads the configuration file at `path`, at most [`FILE_BYTES`] long. A link is followed, since
/// the user named it.
///
/// # Errors
/// [`ConfigError`] with the path, and a position if there is one.
pub fn load(path: &Path, variables: &Variables<'_>) -> Result<Config, ConfigError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let config = file::read(path)
        .map_err(ConfigError::from)
        .and_then(|text| parse(&text, Format::of(path), directory, variables));
    config.map_err(|error| ConfigError { path: Some(path.to_owned()), ..error })
}

/// The text of the file at `path`, at most [`FILE_BYTES`] long, or `None` if it does not exist.
///
/// # Errors
/// [`ConfigError`] with the path.
pub fn text(path: &Path) -> Result<Option<String>, ConfigError> {
    match file::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(ConfigErrorKind::NotFound) => Ok(None),
        Err(fault) => Err(ConfigError { path: Some(path.to_owned()), ..fault.into() }),
    }
}

/// The names of the servers in the belljar.toml at `path`, including disabled ones. Nothing else in
/// it is checked.
///
/// # Errors
/// [`ConfigError`] with the path.
pub fn server_names(path: &Path) -> Result<Vec<String>, ConfigError> {
    let names = file::read(path).map_err(ConfigError::from).and_then(|text| {
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let root = tree::parse(text, Format::Toml).map_err(|located| located.into_error(text))?;
        Ok(document::server_names(&root))
    });
    names.map_err(|error| ConfigError { path: Some(path.to_owned()), ..error })
}

/// Reads a configuration from its text. A relative `cwd` in it is resolved against `directory`.
///
/// # Errors
/// [`ConfigError`] without a path.
pub fn parse(text: &str, format: Format, directory: &Path, variables: &Variables<'_>) -> Result<Config, ConfigError> {
    parse_with(text, format, directory, Expander::new(variables))
}

fn parse_with(text: &str, format: Format, directory: &Path, expander: Expander<'_>) -> Result<Config, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    tree::parse(text, format)
        .and_then(|root| document::read(&root, format, directory, expander))
        .map_err(|located| located.into_error(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_in_the_documentation_is_a_configuration() {
        let example: String = include_str!("lib.rs")
            .lines()
            .skip_while(|line| *line != "//! ```toml")
            .skip(1)
            .take_while(|line| *line != "//! ```")
            .flat_map(|line| [line.trim_start_matches("//!"), "\n"])
            .collect();
        let config = testing::toml(&example.replace("${KEY}", "${TOKEN}")).expect("a config");
        assert_eq!(
            config.servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(),
            ["fs", "code", "remote", "account"]
        );
        assert_eq!(config.limits.memory, Some(belljar_model::ByteSize::mib(64)));
    }

    #[test]
    fn the_extension_decides_the_format() {
        for (path, format) in [
            ("belljar.toml", Format::Toml),
            ("/x/Belljar.TOML", Format::Toml),
            (".mcp.json", Format::Json),
            ("claude_desktop_config.json", Format::Json),
            ("mcp.jsonc", Format::Json),
            ("toml", Format::Json),
        ] {
            assert_eq!(Format::of(Path::new(path)), format, "{path}");
        }
    }

    #[test]
    fn a_loaded_file_resolves_cwd_against_its_own_directory_and_names_itself_in_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("belljar.toml");
        let variables = Variables { environment: &|_| None, home: None, workspace: None };

        std::fs::write(&path, "[servers.fs]\ncommand = 'x'\ncwd = 'sub'\n").expect("written");
        let config = load(&path, &variables).expect("a config");
        let belljar_model::Transport::Stdio(command) = &config.servers[0].transport else { panic!("no command") };
        assert_eq!(command.cwd, Some(folder.path().join("sub")));

        std::fs::write(&path, "[servers.fs]\ncomand = 'x'\n").expect("written");
        let error = load(&path, &variables).expect_err("a wrong key");
        assert_eq!(
            error.to_string(),
            format!("{}:2:1: unknown key 'comand' in server 'fs': did you mean 'command'?", path.display())
        );
        assert_eq!(error.position, Some(Position { line: 2, column: 1 }));
    }

    #[test]
    fn a_byte_order_mark_is_no_syntax_error() {
        let variables = Variables { environment: &|_| None, home: None, workspace: None };
        for (text, format) in [("\u{feff}[servers]", Format::Toml), ("\u{feff}{\"servers\": {}}", Format::Json)] {
            assert_eq!(parse(text, format, Path::new(""), &variables).expect("a config"), Config::default());
        }
    }
}
