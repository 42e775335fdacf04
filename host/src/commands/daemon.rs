//! `belljar daemon`.

use std::{process::ExitCode, sync::Arc, time::Duration};

use belljar_daemon::{
    DaemonClient, DaemonServer, Options, Readiness, detach,
    requests::{AskMetrics, AskStatus, Metrics, Reload, Reloaded, Status},
};
use clap::{Args, Subcommand};

use crate::{
    arguments::ConfigArguments,
    backend::{GatewayService, Generations},
    daemon::{self, Place},
    failure::Failure,
    output::{self, DIM, GOOD, STRONG, visible},
    render::{self, count::counted},
    setup, signals,
};

#[derive(Args)]
pub(crate) struct DaemonArguments {
    #[command(subcommand)]
    pub(crate) command: DaemonCommand,
}

#[derive(Subcommand)]
pub(crate) enum DaemonCommand {
    /// Starts the daemon, if it is not running.
    Start(DaemonOptions),
    /// Shows the daemon's state; exit code 1 if none is running.
    Status(DaemonOptions),
    /// Prints the metrics of the daemon's runs in Prometheus text format; exit code 1 if none is
    /// running.
    Metrics(DaemonOptions),
    /// Stops the daemon when its running requests have ended.
    Stop(DaemonOptions),
    /// Makes the daemon read its configuration again; running requests keep their servers.
    Reload(DaemonOptions),
    /// Stops the daemon and starts a new one.
    Restart(DaemonOptions),
    /// Is the daemon, in this process.
    #[command(hide = true)]
    Run(DaemonOptions),
}

impl DaemonCommand {
    pub(crate) fn options(&self) -> &DaemonOptions {
        match self {
            Self::Start(options)
            | Self::Status(options)
            | Self::Metrics(options)
            | Self::Stop(options)
            | Self::Reload(options)
            | Self::Restart(options)
            | Self::Run(options) => options,
        }
    }
}

#[derive(Args)]
pub(crate) struct DaemonOptions {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How long running requests may continue when the daemon is told to end: twice the limit of a tool
/// call.
const DRAIN: Duration = Duration::from_secs(60);

pub(crate) async fn daemon(arguments: DaemonArguments) -> Result<ExitCode, Failure> {
    let DaemonOptions { config, json } = arguments.command.options();
    match &arguments.command {
        DaemonCommand::Start(_) => start(config, *json).await,
        DaemonCommand::Status(_) => status(config, *json).await,
        DaemonCommand::Metrics(_) => metrics(config, *json).await,
        DaemonCommand::Stop(_) => stop(config, *json).await,
        DaemonCommand::Restart(_) => {
            stop_running(config).await?;
            start(config, *json).await
        }
        DaemonCommand::Reload(_) => reload(config, *json).await,
        DaemonCommand::Run(_) => run(config).await,
    }
}

async fn start(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let loaded = setup::read(config)?;
    let mut client = match daemon::reach_in_any_case(&loaded).await? {
        Some(client) => client,
        // The built-in demo does not need a daemon, but may have one.
        None => daemon::start_at(&Place::of(&loaded)?, &loaded).await?,
    };
    show(&mut client, json).await
}

async fn status(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(&setup::read(config)?)?;
    let connected = DaemonClient::connect(&place.address).await;
    match connected.map_err(daemon::unreachable)? {
        Some(mut client) => show(&mut client, json).await,
        None => {
            if json {
                output::print_json(&serde_json::json!({ "running": false, "socket": place.address.socket() }));
            } else {
                output::print("no daemon is running for this configuration; the next command that needs one starts it");
            }
            Ok(ExitCode::from(1))
        }
    }
}

/// The counts begin with the daemon, so no daemon is started just to be asked.
async fn metrics(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(&setup::read(config)?)?;
    let connected = DaemonClient::connect(&place.address).await;
    let Some(mut client) = connected.map_err(daemon::unreachable)? else {
        if json {
            output::print_json(&serde_json::json!({ "running": false }));
        } else {
            output::say("no daemon is running for this configuration; the next command that needs one starts it");
        }
        return Ok(ExitCode::from(1));
    };
    let metrics: Metrics = client.ask(&AskMetrics {}).await.map_err(daemon::failed)?;
    if json {
        output::print_json(&metrics);
    } else {
        // Names in it are already on one line, and contain no hidden characters.
        output::print(metrics.text.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

async fn stop(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let stopped = stop_running(config).await?;
    if json {
        output::print_json(&serde_json::json!({ "stopped": stopped }));
    } else if stopped {
        output::print("the daemon has ended");
    } else {
        output::print("no daemon was running for this configuration");
    }
    Ok(ExitCode::SUCCESS)
}

async fn reload(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(&setup::read_to_call(config)?)?;
    let connected = DaemonClient::connect(&place.address).await;
    let Some(mut client) = connected.map_err(daemon::unreachable)? else {
        if json {
            output::print_json(&serde_json::json!({ "running": false }));
        } else {
            output::print("no daemon is running for this configuration; the next command that needs one starts it");
        }
        return Ok(ExitCode::from(1));
    };
    let reloaded: Reloaded = client.ask(&Reload {}).await.map_err(daemon::failed)?;
    if json {
        output::print_json(&reloaded);
        return Ok(ExitCode::SUCCESS);
    }
    output::print(format_args!(
        "the daemon has read its configuration again: {}; runs under way keep the servers that they began with",
        counted(reloaded.servers, "server")
    ));
    for table in reloaded.need_restart {
        output::note(format_args!("{table} has changed, which only `belljar daemon restart` applies"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops it, and returns whether there was one. It is gone afterwards.
async fn stop_running(config: &ConfigArguments) -> Result<bool, Failure> {
    let place = Place::of(&setup::read(config)?)?;
    let connected = DaemonClient::connect(&place.address).await;
    let Some(client) = connected.map_err(daemon::unreachable)? else { return Ok(false) };
    daemon::stop(client).await?;
    place.address.gone(DRAIN).await.map_err(|fault| Failure::internal(fault.to_string()))?;
    Ok(true)
}

async fn show(client: &mut DaemonClient, json: bool) -> Result<ExitCode, Failure> {
    let status: Status = client.ask(&AskStatus {}).await.map_err(daemon::failed)?;
    if json {
        output::print_json(&status);
        return Ok(ExitCode::SUCCESS);
    }
    let row = |name: &str, value: &str| output::print(format_args!("  {DIM}{name:<8}{DIM:#} {}", visible(value)));
    let seconds = |seconds: u64| humantime::format_duration(Duration::from_secs(seconds)).to_string();
    output::print(format_args!("{GOOD}running{GOOD:#} {STRONG}belljar {}{STRONG:#}", visible(&status.version)));
    row("pid", &status.pid.to_string());
    row("config", status.config.as_deref().unwrap_or("the built-in demo"));
    row("socket", &status.socket);
    row("log", status.log.as_deref().unwrap_or("none"));
    row("uptime", &seconds(status.uptime_s));
    row("clients", &status.clients.to_string());
    row("requests", &format!("{} running, {} answered", status.running, status.answered));
    let ends = match (status.idle_s, status.kept_alive) {
        (None, _) => "never by itself".to_owned(),
        (Some(_), true) => "not while a stateful server runs".to_owned(),
        (Some(idle), false) => format!("after {} without a client", seconds(idle)),
    };
    row("ends", &ends);
    if !status.servers.is_empty() {
        output::print("");
        render::figures::table(&status.servers);
    }
    Ok(ExitCode::SUCCESS)
}

/// The daemon itself. The starting process waits for its one line on stdout.
async fn run(config: &ConfigArguments) -> Result<ExitCode, Failure> {
    // A daemon that a person starts in a shell already leads a group, and stays there.
    if let Err(error) = detach() {
        tracing::debug!("the daemon stays in the session of its starter: {error}");
    }
    match serve(config).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            let (message, hint) = failure.told();
            Readiness::Failed { message, hint }.say().await;
            Err(failure)
        }
    }
}

async fn serve(config: &ConfigArguments) -> Result<(), Failure> {
    let told_to_end = signals::told_to_end();
    let loaded = setup::read(config)?;
    let place = Place::of(&loaded)?;
    let log = daemon::log_to_file(place.address.name(), setup::state_folder(), 0);
    let options = Options {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: loaded.path.as_ref().map(|path| path.display().to_string()),
        log: log.map(|path| path.display().to_string()),
        idle: loaded.config.daemon.idle,
        drain: DRAIN,
    };
    let generations = Arc::new(Generations::begin(loaded, config.clone(), None).await?);
    let service = Arc::new(GatewayService::new(generations.clone()));
    let server = DaemonServer::bind(&place.address, service, options)
        .await
        .map_err(|fault| Failure::internal(fault.to_string()))?;
    tracing::info!(socket = %place.address.socket().display(), "listening");
    Readiness::Ready.say().await;
    generations.begin_telemetry();
    generations.begin_warm();
    server.serve(told_to_end).await;
    tracing::info!("ended");
    Ok(())
}
