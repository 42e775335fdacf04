//! `belljar servers`.

use std::process::ExitCode;

use belljar_daemon::requests::Servers;
use futures::FutureExt as _;

use crate::{arguments::ServersArguments, backend, failure::Failure, output, render, setup, signals};

pub(crate) async fn servers(arguments: ServersArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    let mut backend = backend::open(loaded, arguments.daemon).await?;
    let progress = backend.progress();
    let status = backend.servers(Servers { start: true }, told_to_end.boxed()).await;
    progress.end().await;
    backend.close().await;
    let status = status?;
    if arguments.json {
        output::print_json_text(status.get());
    } else {
        render::servers::show(&status)?;
    }
    Ok(ExitCode::SUCCESS)
}
