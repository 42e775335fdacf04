//! What the process finds around itself: variables, folders, and where its log goes.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use belljar_config::Variables;
use tracing_subscriber::EnvFilter;

use crate::output::Log;

/// Variables that every child gets: what the official SDKs pass on, and what locates programs and their caches. Secrets of others
/// are not among them.
const INHERITED: [&str; 17] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// The part of the environment that children inherit.
pub(crate) fn inherited() -> BTreeMap<String, String> {
    INHERITED.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?))).collect()
}

/// Calls `with` with what a configuration may refer to.
pub(crate) fn with_variables<T>(with: impl FnOnce(&Variables<'_>) -> T) -> T {
    let (home, workspace) = (env::home_dir(), env::current_dir().ok());
    let environment = |name: &str| env::var(name).ok();
    with(&Variables { environment: &environment, home: home.as_deref(), workspace: workspace.as_deref() })
}

/// The configuration that `BELLJAR_CONFIG` names.
pub(crate) fn named_config() -> Option<PathBuf> {
    env::var_os("BELLJAR_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The user's own configuration, whether it is there or not.
pub(crate) fn own_config() -> Option<PathBuf> {
    let folder = env::var_os("XDG_CONFIG_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".config")))?;
    Some(folder.join("belljar").join("belljar.toml"))
}

/// Where belljar keeps what it has learned, whether it is there or not.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let folder = env::var_os("XDG_STATE_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".local").join("state")))?;
    Some(folder.join("belljar"))
}

/// A configuration in the current folder. It could start programs, so it is offered and never loaded unasked.
pub(crate) fn config_nearby() -> Option<&'static str> {
    ["belljar.toml", ".mcp.json"].into_iter().find(|name| Path::new(name).is_file())
}

/// Sends the log to stderr: warnings, or more with `-v`, or what `BELLJAR_LOG` says.
pub(crate) fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info,rmcp=warn",
        _ => "debug,rmcp=warn,wasmtime=info,cranelift=info",
    };
    let filter = EnvFilter::try_from_env("BELLJAR_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Log)
        .with_ansi(is_terminal && env::var_os("NO_COLOR").is_none())
        .without_time()
        .with_target(false)
        .init();
}
