//! `belljar servers`.

use std::process::ExitCode;

use futures::future::join_all;

use crate::{arguments::ServersArguments, failure::Failure, output, render, setup, signals};

pub(crate) async fn servers(arguments: ServersArguments) -> Result<ExitCode, Failure> {
    let setup = setup::load(&arguments.config)?;
    let upstream = setup.toolbox.upstream();
    let interrupted = signals::told_to_end();
    let progress = render::progress::show(upstream);
    // What a server's state is can only be said once it has been asked; why it failed is in the status.
    let names: Vec<&str> = upstream.names().collect();
    let asked = join_all(names.iter().map(|name| upstream.start(name)));
    tokio::select! {
        _ = asked => {}
        () = interrupted => {}
    }
    progress.end().await;
    let status = setup.toolbox.status();
    if arguments.json {
        output::print_json(&serde_json::json!({ "servers": status }));
    } else {
        render::servers::show(&status);
    }
    setup.toolbox.shutdown().await;
    Ok(ExitCode::SUCCESS)
}
