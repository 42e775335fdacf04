//! `belljar search`.

use std::process::ExitCode;

use belljar_catalog::Query;
use belljar_daemon::{Client, requests::Search};
use belljar_model::{ErrorKind, RunError};

use crate::{
    arguments::SearchArguments,
    daemon,
    failure::Failure,
    output, render,
    setup::{self, Setup},
    signals,
};

pub(crate) async fn search(arguments: SearchArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    match daemon::reach(&loaded, arguments.daemon).await? {
        Some(client) => there(client, &arguments, told_to_end).await,
        None => here(Setup::of(loaded), arguments, told_to_end).await,
    }
}

async fn there(
    mut client: Client,
    arguments: &SearchArguments,
    told_to_end: impl Future<Output = ()>,
) -> Result<ExitCode, Failure> {
    let asked = Search {
        query: arguments.query.join(" "),
        server: arguments.server.clone(),
        effect: arguments.effect,
        detail: arguments.detail.map(|detail| detail.to_string()),
        limit: arguments.limit,
        budget: arguments.budget,
    };
    let progress = render::progress::show_of_daemon(&client);
    let answer = tokio::select! {
        answer = client.ask(&asked) => answer.map_err(daemon::failed),
        () = told_to_end => Err(interrupted()),
    };
    progress.end().await;
    let told = answer?;
    if arguments.json {
        output::print_json_text(told.answer.get());
    } else {
        output::print(output::visible_text(told.text.trim_end()));
    }
    Ok(ExitCode::SUCCESS)
}

async fn here(
    setup: Setup,
    arguments: SearchArguments,
    told_to_end: impl Future<Output = ()>,
) -> Result<ExitCode, Failure> {
    let query = Query {
        text: arguments.query.join(" "),
        server: arguments.server,
        effect: arguments.effect,
        detail: arguments.detail,
        limit: arguments.limit,
        budget: arguments.budget,
    };
    let progress = render::progress::show(setup.toolbox.upstream());
    let answer = tokio::select! {
        answer = setup.toolbox.search(&query) => Ok(answer),
        () = told_to_end => Err(interrupted()),
    };
    progress.end().await;
    if let Ok(answer) = &answer {
        if arguments.json {
            output::print_json(answer);
        } else {
            output::print(output::visible_text(answer.to_text().trim_end()));
        }
    }
    setup.toolbox.shutdown().await;
    // The process ends, and its memory with it: freeing a catalogue tool by tool takes longer than answering from it.
    std::mem::forget(setup);
    answer.map(|_| ExitCode::SUCCESS)
}

fn interrupted() -> Failure {
    RunError::new(ErrorKind::Cancelled, "interrupted").into()
}
