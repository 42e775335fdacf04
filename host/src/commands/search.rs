//! `belljar search`.

use std::process::ExitCode;

use belljar_catalog::Detail;
use belljar_daemon::requests::Search;
use belljar_model::{Effect, ErrorKind, RunError};
use clap::Args;

use crate::{
    arguments::{ConfigArguments, NoDaemon},
    backend,
    failure::Failure,
    help, output, setup, signals,
};

#[derive(Args)]
#[command(after_help = help::SEARCH)]
pub(crate) struct SearchArguments {
    /// What to search for; without it, the servers and their tools are listed.
    pub(crate) query: Vec<String>,
    /// How much to show of each tool: names, brief or full.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) detail: Option<Detail>,
    /// Only tools of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only tools with this effect: read_only, mutating or external.
    #[arg(long, value_name = "EFFECT")]
    pub(crate) effect: Option<Effect>,
    /// Maximum number of tools to show.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Maximum number of tokens in the answer [default: 2000].
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn search(arguments: SearchArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    let asked = Search {
        query: arguments.query.join(" "),
        server: arguments.server,
        effect: arguments.effect,
        detail: arguments.detail.map(|detail| detail.to_string()),
        limit: arguments.limit,
        budget: arguments.budget,
        request: None,
    };
    let mut backend = backend::open(loaded, arguments.daemon).await?;
    let progress = backend.progress();
    let told = tokio::select! {
        told = backend.search(asked) => told,
        () = told_to_end => Err(RunError::new(ErrorKind::Cancelled, "interrupted").into()),
    };
    progress.end().await;
    if let Ok(told) = &told {
        if arguments.json {
            output::print_json_text(told.answer.get());
        } else {
            output::print(output::visible_text(told.text.trim_end()));
        }
    }
    backend.close().await;
    told.map(|_| ExitCode::SUCCESS)
}
