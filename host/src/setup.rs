//! From the command line to a toolbox and a gateway.

use std::{num::NonZeroU32, path::PathBuf, sync::Arc};

use belljar_config::Config;
use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{Limits, LimitsPatch, RunsPatch, ServerSpec, Transport};
use belljar_sandbox::{Image, Sandbox, SandboxOptions};
use belljar_upstream::{BuiltIns, Options};
use cap_std::{ambient_authority, fs::Dir};

use crate::{
    arguments::ConfigArguments,
    environment,
    failure::Failure,
    output::{self, HINT},
};

/// The name of the built-in server, in configurations and in scripts.
const DEMO: &str = "demo";

/// The configured children, and the limits that go with them.
pub(crate) struct Setup {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) limits: Limits,
    runs: RunsPatch,
}

/// Reads the configuration. No child is started yet.
pub(crate) fn load(arguments: &ConfigArguments) -> Result<Setup, Failure> {
    load_with(arguments, &LimitsPatch::default())
}

/// The same with limits of the owner's own, which may be higher than the configured ones.
pub(crate) fn load_with(arguments: &ConfigArguments, limits: &LimitsPatch) -> Result<Setup, Failure> {
    let config = match chosen(arguments) {
        Some(path) => environment::with_variables(|variables| belljar_config::load(&path, variables))?,
        None => demo(),
    };
    let limits = limits.over(&config.limits.over(&Limits::default()));
    let mut options = Options::new("belljar", env!("CARGO_PKG_VERSION"));
    options.environment = environment::inherited();
    options.max_result = limits.max_result;
    let built_ins = BuiltIns::new().with(DEMO, belljar_demo::serve);
    let toolbox = Toolbox::new(config.servers, built_ins, options);
    let toolbox = match state_folder() {
        Some(folder) => toolbox.with_state_folder(folder),
        None => toolbox,
    };
    Ok(Setup { toolbox: Arc::new(toolbox), limits, runs: config.runs })
}

/// The folder for what is learned from run to run. Without one, nothing is kept, and all else works.
fn state_folder() -> Option<Dir> {
    let path = environment::state_folder()?;
    let opened = std::fs::create_dir_all(&path).and_then(|()| Dir::open_ambient_dir(&path, ambient_authority()));
    opened.inspect_err(|error| tracing::info!("{} cannot be used: {error}", path.display())).ok()
}

/// The configuration to load: named on the command line, in the environment, or the user's own.
fn chosen(arguments: &ConfigArguments) -> Option<PathBuf> {
    let chosen = arguments
        .config
        .clone()
        .or_else(environment::named_config)
        .or_else(|| environment::own_config().filter(|path| path.exists()));
    if chosen.is_none()
        && let Some(nearby) = environment::config_nearby()
    {
        output::say(format_args!(
            "{HINT}note:{HINT:#} {nearby} is in this folder and was not loaded, since it can start programs; to use it: \
             --config {nearby}"
        ));
    }
    chosen
}

/// Without any configuration: the built-in demo.
fn demo() -> Config {
    let mut config = Config::default();
    config.servers.push(ServerSpec::new(DEMO, Transport::BuiltIn(DEMO.to_owned())));
    config
}

impl Setup {
    /// Adds the sandbox. `limits` are the owner's own, and may be higher than the configured ones.
    pub(crate) fn gateway(&self, limits: &LimitsPatch) -> Result<Gateway, Failure> {
        let sandbox = Sandbox::new(&Image::embedded(), options(&self.runs))
            .map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Gateway::new(self.toolbox.clone(), Arc::new(sandbox), limits.over(&self.limits)))
    }
}

fn options(runs: &RunsPatch) -> SandboxOptions {
    let default = SandboxOptions::default();
    SandboxOptions {
        max_live: runs.max_live.map_or(default.max_live, NonZeroU32::get),
        live_memory: runs.live_memory.unwrap_or(default.live_memory),
        max_computing: runs.max_computing.map_or(default.max_computing, NonZeroU32::get),
        max_queued: runs.max_queued.unwrap_or(default.max_queued),
        queue_timeout: runs.queue_timeout.unwrap_or(default.queue_timeout),
    }
}
