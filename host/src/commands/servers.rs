//! `belljar servers`.

use std::process::ExitCode;

use belljar_daemon::{Client, requests::Servers};
use futures::future::join_all;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    arguments::ServersArguments,
    daemon,
    failure::Failure,
    output, render,
    setup::{self, Setup},
    signals,
};

pub(crate) async fn servers(arguments: ServersArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    let status = match daemon::reach(&loaded, arguments.daemon).await? {
        Some(client) => there(client, told_to_end).await?,
        None => here(Setup::of(loaded), told_to_end).await?,
    };
    if arguments.json {
        output::print_json_text(status.get());
    } else {
        render::servers::show(&status)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn there(mut client: Client, told_to_end: impl Future<Output = ()>) -> Result<Box<RawValue>, Failure> {
    let progress = render::progress::show_of_daemon(&client);
    let answer = client.ask_until(&Servers { start: true }, told_to_end).await.map_err(daemon::failed);
    progress.end().await;
    answer
}

async fn here(setup: Setup, told_to_end: impl Future<Output = ()>) -> Result<Box<RawValue>, Failure> {
    let upstream = setup.toolbox.upstream();
    let progress = render::progress::show(upstream);
    // What a server's state is can only be said once it has been asked; why it failed is in the status.
    let names: Vec<&str> = upstream.names().collect();
    let asked = join_all(names.iter().map(|name| upstream.start(name)));
    tokio::select! {
        _ = asked => {}
        () = told_to_end => {}
    }
    progress.end().await;
    let seen = setup.toolbox.seen_servers().await;
    setup.toolbox.shutdown().await;
    to_raw_value(&seen).map_err(|error| Failure::internal(format!("the status is no JSON: {error}")))
}
