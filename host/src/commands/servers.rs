//! `belljar servers`.

use std::process::ExitCode;

use belljar_daemon::requests::Servers;
use clap::Args;
use futures::FutureExt as _;

use crate::{
    arguments::{ConfigArguments, NoDaemon},
    backend,
    failure::Failure,
    help, output, render, setup, signals,
};

#[derive(Args)]
#[command(after_help = help::SERVERS)]
pub(crate) struct ServersArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Shows each server's measurements of the last seven days, and starts none.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn servers(arguments: ServersArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    let mut backend = backend::open(loaded, arguments.daemon).await?;
    let progress = backend.progress();
    let asked = Servers { start: !arguments.stats, stats: arguments.stats };
    let status = backend.servers(asked, told_to_end.boxed()).await;
    progress.end().await;
    backend.close().await;
    let status = status?;
    if arguments.json {
        output::print_json_text(status.get());
    } else if arguments.stats {
        render::figures::show(&status)?;
    } else {
        render::servers::show(&status)?;
    }
    Ok(ExitCode::SUCCESS)
}
