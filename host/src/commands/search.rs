//! `belljar search`.

use std::process::ExitCode;

use belljar_catalog::Query;
use belljar_model::{ErrorKind, RunError};

use crate::{arguments::SearchArguments, failure::Failure, output, render, setup, signals};

pub(crate) async fn search(arguments: SearchArguments) -> Result<ExitCode, Failure> {
    let setup = setup::load(&arguments.config)?;
    let query = Query {
        text: arguments.query.join(" "),
        server: arguments.server,
        effect: arguments.effect,
        detail: arguments.detail,
        limit: arguments.limit,
        budget: arguments.budget,
    };
    let interrupted = signals::told_to_end();
    let progress = render::progress::show(setup.toolbox.upstream());
    let answer = tokio::select! {
        answer = setup.toolbox.search(&query) => Ok(answer),
        () = interrupted => Err(Failure::from(RunError::new(ErrorKind::Cancelled, "interrupted"))),
    };
    progress.end().await;
    if let Ok(answer) = &answer {
        if arguments.json {
            output::print_json(answer);
        } else {
            output::print(output::visible(answer.to_text().trim_end()));
        }
    }
    setup.toolbox.shutdown().await;
    answer.map(|_| ExitCode::SUCCESS)
}
