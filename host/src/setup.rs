//! From the command line to a toolbox and a gateway.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
};

use belljar_config::{ApprovalsSettings, Config, Format};
use belljar_engine::Engine;
#[cfg(unix)]
use belljar_engine::ProcessEngine;
use belljar_gateway::{ArtifactStore, Gateway, RunLedger, SKILLS, SkillFolder, Skills, Toolbox};
use belljar_ledger::SqliteLedger;
use belljar_model::{LedgerSettings, Limits, LimitsPatch, RunsPatch, ServerSpec, Transport};
use belljar_sandbox::{Image, Sandbox, SandboxError, SandboxOptions};
use belljar_upstream::{BuiltIns, Confiner, Options, Supervisor};
#[cfg(unix)]
use belljar_worker::WorkerProgram;
use cap_std::fs::Dir;

use crate::{
    approvals::Told,
    arguments::ConfigArguments,
    artifacts, environment,
    failure::Failure,
    output,
    policy::{self, FoundPolicy, LoadedPolicy},
    select, traces,
};

/// The name of the built-in server, in configurations and in scripts.
const DEMO: &str = "demo";

/// The configured children, and their limits.
pub(crate) struct Setup {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) limits: Limits,
    /// The limits that the configuration sets.
    pub(crate) set_limits: LimitsPatch,
    /// How the owner is asked about calls.
    pub(crate) approvals: ApprovalsSettings,
    /// The webhook for questions to the owner.
    pub(crate) told: Told,
    /// The configured servers, in the order of the configuration.
    pub(crate) servers: Vec<ServerSpec>,
    /// The owner's rules for calls.
    pub(crate) rules: Option<LoadedPolicy>,
    runs: RunsPatch,
}

/// The first argument of this program as the supervisor between belljar and a child.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The first argument of this program when it confines itself and becomes a child.
pub(crate) const CONFINE: &str = "__confine";

/// The first argument of this program as the process in which scripts run.
pub(crate) const ENGINE: &str = "__engine";

/// The first argument of this program as the process of a component.
pub(crate) const COMPONENT: &str = "__component";

/// The first argument of this program as a worker that checks arguments.
pub(crate) const CHECK: &str = "__check";

/// A configuration, and its sources.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// Its path; absent for the built-in demo.
    pub(crate) path: Option<PathBuf>,
    /// The variables that it refers to, with their values.
    pub(crate) looked_up: BTreeMap<String, Option<String>>,
    /// The owner's rules for calls; without any, every call is allowed.
    pub(crate) policy: Option<LoadedPolicy>,
}

impl Loaded {
    /// The limits that the configuration sets.
    pub(crate) fn limits(&self) -> Limits {
        self.config.limits.over(&Limits::default())
    }

    /// The folders with scripts that have a name: the one beside the configuration, if it exists,
    /// and those that it names.
    pub(crate) fn skill_folders(&self) -> Vec<SkillFolder> {
        let beside = self.folder_of_skills().filter(|folder| folder.symlink_metadata().is_ok());
        let beside = beside.map(|path| SkillFolder { path, is_named: false });
        let named = self.config.skills.iter().map(|path| SkillFolder { path: path.clone(), is_named: true });
        beside.into_iter().chain(named).collect()
    }

    /// The folder beside the configuration, if that is a belljar.toml.
    pub(crate) fn folder_of_skills(&self) -> Option<PathBuf> {
        let path = self.path.as_ref().filter(|path| Format::of(path) == Format::Toml)?;
        Some(std::path::absolute(path).ok()?.with_file_name(SKILLS))
    }

    /// The folder in which a daemon runs servers that name none: that of the configuration; the
    /// home for the user's own.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let path = self.path.as_ref()?;
        if environment::own_config().as_ref() == Some(path) {
            return environment::home();
        }
        let path = std::path::absolute(path).ok()?;
        path.parent().map(Path::to_owned)
    }
}

/// A configuration whose rules may have mistakes.
pub(crate) struct Found {
    pub(crate) config: Config,
    path: Option<PathBuf>,
    looked_up: BTreeMap<String, Option<String>>,
    pub(crate) policy: Option<FoundPolicy>,
}

/// Reads the configuration, and finds its rules.
pub(crate) fn find(arguments: &ConfigArguments) -> Result<Found, Failure> {
    let Some(path) = chosen(arguments) else {
        return Ok(Found { config: demo(), path: None, looked_up: BTreeMap::new(), policy: None });
    };
    let (read, looked_up) = environment::with_variables(|variables| {
        let config = belljar_config::load(&path, variables)?;
        let policy = policy::find(&path, &config, variables)?;
        Ok::<_, Failure>((config, policy))
    });
    let (config, policy) = read?;
    select::check(&path, &config)?;
    Ok(Found { config, path: Some(path), looked_up, policy })
}

/// Reads the configuration. No child is started yet.
pub(crate) fn read(arguments: &ConfigArguments) -> Result<Loaded, Failure> {
    let Found { config, path, looked_up, policy } = find(arguments)?;
    let policy = policy.map(|found| found.without_mistakes(&config)).transpose()?;
    Ok(Loaded { config, path, looked_up, policy })
}

/// The same for a command that calls tools: its rules must fit the servers' lists from when the
/// rules were written.
pub(crate) fn read_to_call(arguments: &ConfigArguments) -> Result<Loaded, Failure> {
    let loaded = read(arguments)?;
    if let Some(rules) = &loaded.policy {
        rules.hold_against_lists(&loaded.config.servers)?;
    }
    Ok(loaded)
}

/// The belljar.toml that a command changes, whether it exists or not.
pub(crate) fn to_change(arguments: &ConfigArguments) -> Result<PathBuf, Failure> {
    let path = arguments.config.clone().or_else(environment::named_config).or_else(environment::own_config);
    path.ok_or_else(|| Failure::usage("there is no home folder", "name a file with --config"))
}

/// The folder for what is learned from run to run. Without one, nothing is kept, and everything
/// else works.
pub(crate) fn state_folder() -> Option<Dir> {
    folder(environment::state_folder())
}

/// The same for code that cannot do without it.
pub(crate) fn needed_state_folder() -> Result<Dir, Failure> {
    let hint = "set XDG_STATE_HOME to a folder of your own";
    let path = environment::state_folder().ok_or_else(|| Failure::usage("there is no home folder", hint))?;
    belljar_files::own_folder(&path)
        .map_err(|error| Failure::config(format!("the folder {} cannot be used: {error}", path.display()), hint))
}

/// The folder for the tokens of logins, which belongs to the user alone.
pub(crate) fn credentials() -> Option<Dir> {
    folder(Some(environment::state_folder()?.join("logins")))
}

/// A folder of belljar, created if necessary, and private to the user. One that belongs to somebody
/// else is not used.
fn folder(path: Option<PathBuf>) -> Option<Dir> {
    let path = path?;
    belljar_files::own_folder(&path)
        .inspect_err(|error| tracing::info!("{} cannot be used: {error}", path.display()))
        .ok()
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
        output::note(format_args!(
            "{nearby} is in this folder and was not loaded, since it can start programs; to use it: \
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
    /// The children of a configuration, none of them started.
    pub(crate) fn of(loaded: Loaded) -> Self {
        Self::with(loaded, false)
    }

    /// The same for a long-running process: it asks servers with old tool lists again.
    pub(crate) fn to_stay(loaded: Loaded) -> Self {
        Self::with(loaded, true)
    }

    fn with(loaded: Loaded, refresh: bool) -> Self {
        let (limits, runs, folders) = (loaded.limits(), loaded.config.runs.clone(), loaded.skill_folders());
        let mut options = Options::new("belljar", env!("CARGO_PKG_VERSION"));
        let environment = environment::of_children(&loaded.config.children);
        (options.environment, options.withheld) = (environment.passed, environment.withheld);
        options.max_result = limits.max_result;
        options.refresh = refresh;
        options.requests = traces::of_children();
        options.credentials = credentials().map(Arc::new);
        options.cache = environment::cache();
        // Elsewhere a job object ends with its last handle.
        if cfg!(unix) {
            let supervise = |program| Supervisor { program, arguments: vec![SUPERVISE.to_owned()] };
            options.supervisor = environment::own_program().map(supervise);
        }
        #[cfg(unix)]
        if let Err(error) = belljar_upstream::adopt_orphans() {
            tracing::warn!("processes that a server leaves when it kills its supervisor will not be found: {error}");
        }
        if cfg!(target_os = "linux") {
            let hidden = environment::runtime_folders();
            let confine = |program| Confiner { program, arguments: vec![CONFINE.to_owned()], hidden };
            options.confiner = environment::own_program().map(confine);
        }
        let built_ins = BuiltIns::new().with(DEMO, belljar_demo::serve);
        let toolbox = Toolbox::new(loaded.config.servers.clone(), built_ins, options);
        let toolbox = match environment::own_worker(CHECK) {
            Some(program) => toolbox.with_check_worker(program),
            None => toolbox,
        };
        let toolbox = match environment::own_worker(select::RESULTS_WORKER) {
            Some(program) => toolbox.with_filter_worker(program),
            None => toolbox,
        };
        let toolbox = match state_folder() {
            Some(folder) => toolbox.with_state_folder(folder),
            None => toolbox,
        };
        let ledger = ledger_of(&loaded.config.ledger);
        let toolbox = match artifacts::settings(&loaded) {
            Some(settings) => {
                let store = Arc::new(ledger.artifacts(settings));
                toolbox.with_artifacts(ArtifactStore { store, settings })
            }
            None => toolbox,
        };
        let toolbox = toolbox
            .with_ledger(kept_in(ledger, &loaded.config.ledger))
            .with_configuration(name_of(loaded.path.as_deref()))
            .with_keep(loaded.config.keep.clone());
        let toolbox = match &loaded.policy {
            Some(rules) => {
                let file = rules.name();
                toolbox.with_policy(rules.policy.clone(), &loaded.config.servers).with_rules_file(file)
            }
            None => toolbox,
        };
        let toolbox = match folders.is_empty() {
            true => toolbox,
            false => toolbox.with_skills(Skills::new(folders)),
        };
        let told = Told::of(loaded.config.approvals.webhook.as_ref());
        let Loaded { config: Config { limits: set_limits, approvals, servers, .. }, policy: rules, .. } = loaded;
        Self { toolbox: traces::traced(toolbox), limits, set_limits, approvals, told, servers, rules, runs }
    }

    /// Where scripts run, for people; `None` if it is belljar's own process.
    pub(crate) fn place_of_runs(&self) -> &'static str {
        if self.runs.process == Some(true) { " in a confined process of their own" } else { "" }
    }

    /// Starts the engine.
    pub(crate) async fn engine(&self) -> Result<Engine, Failure> {
        engine(&self.runs).await
    }

    /// Adds the engine.
    pub(crate) async fn gateway(&self) -> Result<Gateway, Failure> {
        Ok(self.gateway_with(self.engine().await?))
    }

    /// The same with an existing engine.
    pub(crate) fn gateway_with(&self, engine: Engine) -> Gateway {
        self.told.of_questions(Gateway::new(self.toolbox.clone(), engine, self.limits.clone()))
    }
}

/// The name of a configuration: the canonical path of its file.
fn name_of(path: Option<&Path>) -> String {
    let path = path.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Where runs are kept, according to the configuration. No file is created before there is
/// something to keep.
fn kept_in(ledger: SqliteLedger, settings: &LedgerSettings) -> RunLedger {
    RunLedger {
        ledger: Arc::new(ledger),
        required: settings.required,
        level: settings.level,
        max_recording: settings.max_recording,
        redact: settings.redact.as_slice().into(),
    }
}

/// The ledger of this user.
pub(crate) fn ledger_of(settings: &LedgerSettings) -> SqliteLedger {
    let options = belljar_ledger::Options { fsync: settings.fsync, keep: settings.keep };
    SqliteLedger::new(environment::state_folder().as_deref(), options)
}

/// Runs scripts: a sandbox in this process, or a confined process if the configuration asks for
/// one.
pub(crate) async fn engine(runs: &RunsPatch) -> Result<Engine, Failure> {
    if runs.process != Some(true) {
        let sandbox = Sandbox::new(&Image::embedded(), options(runs)).map_err(|error| match error {
            SandboxError::Engine { .. } if runs.max_live.is_some() => {
                let hint = "set a lower 'max_live' in [runs]: each run reserves some GiB of addresses";
                Failure::config(error.to_string(), hint)
            }
            error => Failure::internal(error.to_string()),
        })?;
        let sandbox = match state_folder() {
            Some(folder) => sandbox.with_overflow(folder),
            None => sandbox,
        };
        return Ok(Arc::new(sandbox).into());
    }
    apart(runs).await
}

#[cfg(unix)]
async fn apart(runs: &RunsPatch) -> Result<Engine, Failure> {
    let program = environment::own_program().ok_or_else(|| {
        Failure::internal("belljar's own program cannot be found, but it is needed to start the engine's process")
    })?;
    let program = WorkerProgram { program, arguments: vec![ENGINE.into()] };
    let process = ProcessEngine::start(program, options(runs)).await.map_err(|fault| {
        Failure::config(
            fault.to_string(),
            "[runs] process = true asks for this process; without it, scripts run in belljar's own",
        )
    })?;
    let process = match state_folder() {
        Some(folder) => process.with_overflow(folder),
        None => process,
    };
    Ok(Arc::new(process).into())
}

#[cfg(not(unix))]
async fn apart(_runs: &RunsPatch) -> Result<Engine, Failure> {
    Err(Failure::config("[runs] process = true needs Linux", "without it, scripts run in belljar's own process"))
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
