//! `belljar host`.

mod stdio;

use std::{process::ExitCode, sync::Arc};

use belljar_host_protocol::{Ends, LineSink, Lines, MAX_LINE_BYTES, SessionLimits};
use clap::Args;

use crate::{
    arguments::ConfigArguments,
    backend::{Generations, HostAsker, HostRunner},
    failure::Failure,
    help, setup, signals,
};

#[derive(Args)]
#[command(after_help = help::HOST)]
pub(crate) struct HostArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) async fn host(arguments: HostArguments) -> Result<ExitCode, Failure> {
    let told_to_end = signals::told_to_end();
    let mut loaded = setup::read_to_call(&arguments.config)?;
    if loaded.path.is_none() {
        // The demo is for people.
        loaded.config.servers.clear();
    }
    let generations = Arc::new(Generations::begin(loaded, arguments.config, None).await?);
    generations.begin_warm();
    let ends = Ends::default();
    let runner = Arc::new(HostRunner::new(generations.clone(), HostAsker::Owner));
    let lines = Lines::new(stdio::input(), MAX_LINE_BYTES);
    let serving =
        belljar_host_protocol::serve(lines, LineSink::new(stdio::output()), runner, SessionLimits::default(), &ends);
    let told = async {
        told_to_end.await;
        ends.now.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serving => {}
        () = told => {}
    }
    generations.shutdown().await;
    Ok(ExitCode::SUCCESS)
}
