//! `belljar search`.

use std::process::ExitCode;

use belljar_daemon::requests::Search;
use belljar_model::{ErrorKind, RunError};

use crate::{arguments::SearchArguments, backend, failure::Failure, output, setup, signals};

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
