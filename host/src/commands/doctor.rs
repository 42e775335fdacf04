//! `belljar doctor`: checks everything that belljar needs.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use belljar_config::packages::{self, PackageSource};
use belljar_daemon::{DaemonClient, requests::AskStatus};
use belljar_engine::Engine;
#[cfg(unix)]
use belljar_engine::MemoryBound;
use belljar_ledger::{KeepTotals, Keeps as _};
use belljar_model::{ChildEnvironment, LimitsPatch, ServerFigures, ServerSpec, ToolDefinition, Transport};
use belljar_policy::{Policy, ServerTools};
use belljar_sandbox::EMBEDDED_DIGESTS;
use belljar_upstream::ServerStatus;
use clap::Args;
use futures::future::join_all;
use serde::Serialize;

use crate::{
    arguments::{ConfigArguments, NoDaemon},
    daemon::Place,
    environment,
    failure::Failure,
    installed,
    output::{self, ERROR, GOOD, HINT, WARNING, visible_line},
    policy,
    render::{self, count::counted},
    setup::{self, Loaded, Setup},
    signals,
};

#[derive(Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    config: ConfigArguments,
    #[command(flatten)]
    daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// One thing that was checked.
#[derive(Serialize)]
struct Check {
    what: String,
    state: CheckState,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckState {
    Good,
    /// It works, but not as well as it could.
    Warning,
    Bad,
}

impl Check {
    fn new(what: impl Into<String>, state: CheckState, found: impl Into<String>, hint: Option<String>) -> Self {
        Self { what: what.into(), state, found: found.into(), hint }
    }

    fn good(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(what, CheckState::Good, found, None)
    }
}

/// Returns 0 if all is well, 2 if the configuration cannot be used, and 1 if anything else is
/// wrong.
pub(crate) async fn doctor(arguments: DoctorArguments) -> Result<ExitCode, Failure> {
    let told_to_end = signals::told_to_end();
    let loaded = setup::read(&arguments.config);
    let (mut checks, code) = match loaded {
        Ok(loaded) => tokio::select! {
            checks = all(loaded, &arguments) => (checks?, 0),
            () = told_to_end => return Err(Failure::internal("interrupted")),
        },
        Err(failure) => {
            let (message, hint) = failure.told();
            (vec![Check::new("configuration", CheckState::Bad, message, hint)], 2)
        }
    };
    if code == 2 {
        checks.extend(folders());
    }
    let is_well = checks.iter().all(|check| check.state != CheckState::Bad);
    if arguments.json {
        output::print_json(&serde_json::json!({ "ok": is_well, "checks": checks }));
    } else {
        show(&checks);
    }
    Ok(ExitCode::from(if is_well { 0 } else { code.max(1) }))
}

async fn all(loaded: Loaded, arguments: &DoctorArguments) -> Result<Vec<Check>, Failure> {
    let found = match &loaded.path {
        Some(path) => format!("{}, {}", path.display(), counted(loaded.config.servers.len(), "server")),
        None => "none: the built-in demo".to_owned(),
    };
    let mut checks = vec![Check::good("configuration", found), limits(&loaded.config.limits)];
    checks.extend(folders());
    checks.extend(kept_values(&loaded).await);
    checks.extend(artifacts(&loaded).await);
    checks.push(daemon(&loaded, arguments).await);
    let specs = loaded.config.servers.clone();
    let environment = environment::of_children(&loaded.config.children);
    let of_packages = specs.iter().filter_map(|spec| package(spec, &environment));
    let of_packages: Vec<Check> = of_packages.collect();
    checks.extend((!specs.is_empty()).then(|| variables(&environment)));
    let found = loaded.policy.as_ref().map(|rules| (rules.path.clone(), rules.policy.clone()));
    let setup = Setup::of(loaded);
    checks.extend(image(&setup).await);
    let (servers, lists) = servers(&setup, &specs).await;
    checks.extend(rules(found, &specs, &lists));
    checks.extend(servers);
    checks.extend(of_packages);
    Ok(checks)
}

/// Checks the owner's rules against the servers' current lists.
fn rules(found: Option<(PathBuf, Arc<Policy>)>, specs: &[ServerSpec], lists: &[Option<Tools>]) -> Vec<Check> {
    let Some((path, policy)) = found else {
        return vec![Check::good("rules", "none: every call of every tool is allowed")];
    };
    let servers: Vec<ServerTools<'_>> = specs
        .iter()
        .zip(lists)
        .map(|(spec, tools)| ServerTools {
            name: &spec.name,
            effects: &spec.effects,
            tools: tools.as_ref().map(|tools| tools.as_slice()),
        })
        .collect();
    let compared = policy.compare(&servers);
    let mut checks = vec![Check::good("rules", format!("{}, {}", path.display(), counted(policy.rules(), "rule")))];
    let closed = "correct the rule; until then this condition counts as unknown, and the rule allows nothing";
    checks.extend(compared.mistakes.iter().map(|mistake| {
        Check::new("rules", CheckState::Bad, policy::placed(&path, &mistake.problem), Some(closed.to_owned()))
    }));
    checks.extend(
        compared
            .warnings
            .iter()
            .map(|problem| Check::new("rules", CheckState::Warning, policy::placed(&path, problem), None)),
    );
    checks
}

/// What servers get from the caller's environment, and what they do not get but might need.
fn variables(environment: &ChildEnvironment) -> Check {
    let (what, passed) = ("environment of servers", counted(environment.passed.len(), "variable"));
    let Some(names) = environment.withheld.told() else { return Check::good(what, passed) };
    let state = if environment.withheld.has_proxy() { CheckState::Warning } else { CheckState::Good };
    let hint =
        "a server that needs one of them gets it by 'inherit' of [children] in belljar.toml, or by its own 'env'";
    Check::new(what, state, format!("{passed}; not {names}"), Some(hint.to_owned()))
}

/// The package of a server that runs whatever version is newest when it starts.
fn package(spec: &ServerSpec, environment: &ChildEnvironment) -> Option<Check> {
    let Transport::Stdio(command) = &spec.transport else { return None };
    let package = packages::unpinned(command)?;
    let mut variables = environment.passed.clone();
    variables.extend(command.env.clone());
    let version = installed::version(&package, &variables);
    let found = match package.source {
        PackageSource::Git => format!("'{}' is not pinned: the latest commit is fetched", package.written),
        _ => format!("'{}' is not pinned: the newest version is fetched", package.written),
    };
    let pinned = package.pinned(version.as_deref());
    let hint = match version {
        Some(_) => format!("pin it: write \"{pinned}\", which is the version in the cache"),
        None => format!("pin it: write \"{pinned}\", with the one that you have looked at"),
    };
    Some(Check::new(format!("package of {}", spec.name), CheckState::Warning, found, Some(hint)))
}

/// The limits that the configuration sets.
fn limits(limits: &LimitsPatch) -> Check {
    let set = serde_json::to_value(limits).unwrap_or_default();
    let set = set.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let set: Vec<String> = set.map(|(name, value)| format!("{name} = {value}")).collect();
    Check::good("limits", if set.is_empty() { "the defaults".to_owned() } else { set.join(", ") })
}

/// How much scripts keep for later runs, if they may.
async fn kept_values(loaded: &Loaded) -> Option<Check> {
    let (what, settings) = ("kept values", &loaded.config.keep);
    if !settings.enabled {
        return None;
    }
    Some(match setup::ledger_of(&loaded.config.ledger).kept_totals().await {
        Ok(KeepTotals { values, bytes, holders }) => {
            let values = counted(usize::try_from(values).unwrap_or(usize::MAX), "value");
            let places = counted(usize::try_from(holders).unwrap_or(usize::MAX), "workspace");
            let max = settings.max_bytes.as_u64();
            Check::good(what, format!("{values} in {places}, {bytes} bytes; at most {max} in each"))
        }
        Err(fault) => Check::new(what, CheckState::Warning, fault.to_string(), Some(fault.hint().to_owned())),
    })
}

/// How much runs have kept for later ones, if they may.
async fn artifacts(loaded: &Loaded) -> Option<Check> {
    let (what, settings) = ("artifacts", loaded.config.artifacts);
    if !settings.enabled {
        return None;
    }
    Some(match super::artifacts::totals(&setup::ledger_of(&loaded.config.ledger), settings).await {
        Ok(found) => Check::good(what, found),
        Err(fault) => Check::new(what, CheckState::Warning, fault.to_string(), Some(fault.hint().to_owned())),
    })
}

/// Whether the embedded image loads and works.
async fn image(setup: &Setup) -> Vec<Check> {
    let engine = match setup.engine().await {
        Ok(engine) => engine,
        Err(failure) => {
            let (message, hint) = failure.told();
            return vec![Check::new("image", CheckState::Bad, message, hint)];
        }
    };
    let memory = memory_of_process(&engine);
    let gateway = setup.gateway_with(engine);
    let outcome = gateway.execute("1 + 1".to_owned()).await;
    let value = outcome.result.as_ref().map(|value| value.as_str().to_owned());
    let image = match value {
        Ok(value) if value == "2" => {
            let (version, digest, place) =
                (env!("CARGO_PKG_VERSION"), EMBEDDED_DIGESTS.component, setup.place_of_runs());
            Check::good("image", format!("belljar {version}, runs scripts{place}; interpreter sha256:{digest}"))
        }
        Ok(value) => {
            Check::new("image", CheckState::Bad, format!("1 + 1 is {value}"), Some("reinstall belljar".into()))
        }
        Err(error) => Check::new("image", CheckState::Bad, error.message.clone(), error.hint.clone()),
    };
    std::iter::once(image).chain(memory).collect()
}

/// What bounds the memory of the process in which scripts run, if they have one.
#[cfg(unix)]
fn memory_of_process(engine: &Engine) -> Option<Check> {
    let Engine::Apart(process) = engine else { return None };
    Some(match process.memory_bound()? {
        MemoryBound::Group { max } => {
            Check::good("memory of scripts", format!("at most {max}, in its own memory cgroup"))
        }
        MemoryBound::Mapped { max, reason } => Check::new(
            "memory of scripts",
            CheckState::Warning,
            format!("at most {max} mapped; their process has no memory cgroup: {reason}"),
            Some("run belljar as a systemd unit with Delegate=memory and DelegateSubgroup=belljar to bound its actual memory as well".into()),
        ),
        _ => return None,
    })
}

#[cfg(not(unix))]
fn memory_of_process(_engine: &Engine) -> Option<Check> {
    None
}

/// The folders that belljar uses. They are optional, so a wrong one is a warning.
fn folders() -> Vec<Check> {
    let folders = [
        ("state folder", environment::state_folder(), "XDG_STATE_HOME"),
        ("cache folder", environment::cache_folder(), "XDG_CACHE_HOME"),
    ];
    let look = |(what, path, variable): (&str, Option<std::path::PathBuf>, &str)| {
        let hint = Some(format!("let {variable} point to a folder that you can write to"));
        let Some(path) = path else {
            return Check::new(what, CheckState::Warning, "none: nothing is kept between commands", hint);
        };
        match writable(&path) {
            Ok(()) => Check::good(what, path.display().to_string()),
            Err(error) => Check::new(what, CheckState::Warning, format!("{}: {error}", path.display()), hint),
        }
    };
    folders.map(look).into()
}

fn writable(path: &Path) -> std::io::Result<()> {
    belljar_files::own_folder(path)?;
    let probe = path.join(format!(".probe-{}", std::process::id()));
    std::fs::write(&probe, "")?;
    std::fs::remove_file(probe)
}

async fn daemon(loaded: &Loaded, arguments: &DoctorArguments) -> Check {
    if arguments.daemon.no_daemon || environment::without_daemon() {
        return Check::good("daemon", "not used");
    }
    let bad = |failure: Failure| {
        let (message, hint) = failure.told();
        Check::new("daemon", CheckState::Bad, message, hint)
    };
    let place = match Place::of(loaded) {
        Ok(place) => place,
        Err(failure) => return bad(failure),
    };
    let mut client = match DaemonClient::connect(&place.address).await {
        Ok(Some(client)) => client,
        Ok(None) => return Check::good("daemon", "not running; the next command that needs it starts it"),
        Err(fault) => return bad(crate::daemon::unreachable(fault)),
    };
    match client.ask(&AskStatus {}).await {
        Ok(status) if client.hello().fingerprint == place.fingerprint => {
            let uptime = humantime::format_duration(Duration::from_secs(status.uptime_s));
            Check::good("daemon", format!("running as {} for {uptime}", status.pid))
        }
        Ok(status) => Check::new(
            "daemon",
            CheckState::Warning,
            format!("running as {} with another configuration or version", status.pid),
            Some("the next command replaces it; `belljar daemon restart` does so now".to_owned()),
        ),
        Err(fault) => bad(crate::daemon::failed(fault)),
    }
}

/// A server's list.
type Tools = Arc<Vec<ToolDefinition>>;

/// Starts each server in this process and lists its tools. The lists are in the order of `specs`.
async fn servers(setup: &Setup, specs: &[ServerSpec]) -> (Vec<Check>, Vec<Option<Tools>>) {
    let upstream = setup.toolbox.upstream();
    let progress = render::progress::show(upstream);
    let names: Vec<&str> = upstream.names().collect();
    join_all(names.iter().map(|name| upstream.tools(name))).await;
    progress.end().await;
    let status = setup.toolbox.status();
    let lists = join_all(specs.iter().map(|spec| upstream.known_tools(&spec.name))).await;
    let figures = setup.toolbox.figures().await;
    setup.toolbox.shutdown().await;
    let trust_of = |name: &str| specs.iter().find(|spec| spec.name == name).map(trust).unwrap_or_default();
    let servers = status.into_iter().map(|status| server(&trust_of(&status.name), status));
    (servers.chain(figures.iter().flat_map(targets)).collect(), lists)
}

/// Each target of a server's owner, and what was measured.
fn targets(figures: &ServerFigures) -> impl Iterator<Item = Check> {
    let what = format!("targets of {}", figures.name);
    figures.targets.iter().map(move |target| {
        let told = render::figures::of_target(target);
        match target.met {
            Some(true) => Check::good(what.clone(), told),
            None => Check::good(what.clone(), format!("{told}; not measured yet")),
            Some(false) => Check::new(
                what.clone(),
                CheckState::Warning,
                format!("missed: {told}"),
                Some(hint_of_target(&target.name).to_owned()),
            ),
        }
    })
}

/// What can be done about a missed target.
fn hint_of_target(name: &str) -> &'static str {
    match name {
        "start" | "first" => {
            "warm = true in the server's table starts it before it is needed; a pinned and installed package starts faster than one that npx or uvx fetches"
        }
        "warm" => "`belljar servers --stats` shows all figures; what a call asks for decides how long a server takes",
        _ => "`belljar runs` shows which calls had no result, and `belljar servers` what went wrong last",
    }
}

/// What the owner allows a server beyond the default.
fn trust(spec: &ServerSpec) -> String {
    let is_ours = matches!(spec.transport, Transport::BuiltIn(_));
    let trusted = [
        (spec.asks.sampling, "may use the client's model"),
        (spec.asks.roots, "may see the client's folders"),
        (spec.effects.trust_hints && !is_ours, "its hints are trusted"),
    ];
    trusted.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| format!("; {what}")).collect()
}

fn server(trust: &str, status: ServerStatus) -> Check {
    let what = format!("server {}", status.name);
    match (status.tools, status.last_error) {
        (Some(0), None) => Check::new(what, CheckState::Warning, "starts, but has no tools", status.hint),
        (Some(tools), None) => Check::good(what, format!("{}{trust}", counted(tools, "tool"))),
        (Some(tools), Some(error)) if status.state.as_str() == "ready" => {
            Check::new(what, CheckState::Warning, format!("{}; {error}", counted(tools, "tool")), status.hint)
        }
        (_, Some(error)) => Check::new(what, CheckState::Bad, error, status.hint),
        (None, None) => {
            Check::new(what, CheckState::Bad, format!("it is {} and lists nothing", status.state.as_str()), status.hint)
        }
    }
}

fn show(checks: &[Check]) {
    let width = checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
    for check in checks {
        let (style, mark) = match check.state {
            CheckState::Good => (GOOD, "ok  "),
            CheckState::Warning => (WARNING, "warn"),
            CheckState::Bad => (ERROR, "bad "),
        };
        let (what, found) = (visible_line(&check.what), visible_line(&check.found));
        output::print(format_args!("{style}{mark}{style:#}  {what:<width$}  {found}"));
        if let Some(hint) = &check.hint {
            output::print(format_args!("      {:<width$}  {HINT}hint:{HINT:#} {}", "", visible_line(hint)));
        }
    }
}
