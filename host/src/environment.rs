//! The environment of the process: variables, folders, and the destination of its log.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use belljar_config::{ChildrenSettings, Variables};
use belljar_model::ChildEnvironment;
use belljar_worker::WorkerProgram;
use tracing_subscriber::EnvFilter;

use crate::output::{self, Log};

/// The part of the environment that children inherit, and the variables that they do not get
/// although they might need them. Variables that are not UTF-8 are passed on to nobody.
pub(crate) fn of_children(settings: &ChildrenSettings) -> ChildEnvironment {
    let variables =
        env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    ChildEnvironment::choose(variables, &settings.inherit)
}

/// Calls `with` with the values that a configuration may refer to. The variables that it reads are
/// returned with its result.
pub(crate) fn with_variables<T>(with: impl FnOnce(&Variables<'_>) -> T) -> (T, BTreeMap<String, Option<String>>) {
    let (home, workspace) = (env::home_dir(), env::current_dir().ok());
    let looked_up = RefCell::new(BTreeMap::new());
    let environment = |name: &str| {
        let value = env::var(name).ok();
        looked_up.borrow_mut().insert(name.to_owned(), value.clone());
        value
    };
    let answer = with(&Variables { environment: &environment, home: home.as_deref(), workspace: workspace.as_deref() });
    (answer, looked_up.into_inner())
}

/// The folder in which this command was started, as a workspace; empty if there is none.
pub(crate) fn workspace() -> String {
    env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    env::home_dir()
}

/// Where daemons may listen, the best place first. Each must be a folder that belongs to the user
/// alone. Anybody can create the one in the temporary folder first, but nobody else the one below
/// the user's own state.
pub(crate) fn runtime_folders() -> Vec<PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let temporary = belljar_daemon::temporary_folder();
    let state = state_folder().map(|folder| folder.join("run"));
    let folders = match runtime {
        Some(folder) => [Some(folder.join("belljar")), state, temporary],
        None => [temporary, state, None],
    };
    folders.into_iter().flatten().collect()
}

/// Whether the environment asks commands to work in their own process.
pub(crate) fn without_daemon() -> bool {
    env::var_os("BELLJAR_NO_DAEMON").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The configuration that `BELLJAR_CONFIG` names.
pub(crate) fn named_config() -> Option<PathBuf> {
    env::var_os("BELLJAR_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The user's own configuration, whether it exists or not.
pub(crate) fn own_config() -> Option<PathBuf> {
    let folder = env::var_os("XDG_CONFIG_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".config")))?;
    Some(folder.join("belljar").join("belljar.toml"))
}

/// Where programs keep their settings.
pub(crate) fn settings_folder() -> Option<PathBuf> {
    if cfg!(windows) {
        env::var_os("APPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library").join("Application Support"))
    } else {
        own_config()?.parent()?.parent().map(Path::to_owned)
    }
}

/// The folder of what belljar has learned, whether it exists or not.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let folder = env::var_os("XDG_STATE_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".local").join("state")))?;
    Some(folder.join("belljar"))
}

/// The folder for what belljar could find out again, whether it exists or not.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = env::var_os("XDG_CACHE_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".cache")))?;
    Some(folder.join("belljar"))
}

/// The same, opened, and created if necessary. One that belongs to somebody else is not used.
pub(crate) fn cache() -> Option<std::sync::Arc<cap_std::fs::Dir>> {
    let path = cache_folder()?;
    belljar_files::own_folder(&path)
        .inspect_err(|error| tracing::info!("{} cannot be used: {error}", path.display()))
        .ok()
        .map(std::sync::Arc::new)
}

/// This program's file.
pub(crate) fn own_program() -> Option<PathBuf> {
    env::current_exe().ok()
}

/// This program again, in the role that its first argument selects.
pub(crate) fn own_worker(role: &str) -> Option<WorkerProgram> {
    own_program().map(|program| WorkerProgram { program, arguments: vec![role.into()] })
}

/// A configuration in the current folder. It could start programs, so it is offered and never
/// loaded by default.
pub(crate) fn config_nearby() -> Option<&'static str> {
    ["belljar.toml", ".mcp.json"].into_iter().find(|name| Path::new(name).is_file())
}

/// Sends the log to stderr: warnings, or more with `-v`, less with `-q`, or as `BELLJAR_LOG` says.
pub(crate) fn log_to_stderr(verbose: u8, quiet: bool) {
    let level = match verbose {
        0 if quiet => "error",
        0 => "warn",
        1 => "info,rmcp=warn",
        _ => "debug,rmcp=warn,reqwest=warn,hyper_util=warn,rustls=warn,wasmtime=info,cranelift=info",
    };
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(log_filter(level))
        .fmt_fields(output::log_fields())
        .with_writer(|| Log)
        .with_ansi(is_terminal && env::var_os("NO_COLOR").is_none())
        .without_time()
        .with_target(false)
        .init();
}

/// What is logged: as `BELLJAR_LOG` says, else `level`. A login's code, which a library would log,
/// never is.
pub(crate) fn log_filter(level: &str) -> EnvFilter {
    let filter = EnvFilter::try_from_env("BELLJAR_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let quiet =
        ["rmcp::transport::auth=warn", "oauth2=warn"].into_iter().filter_map(|directive| directive.parse().ok());
    quiet.fold(filter, EnvFilter::add_directive)
}
