//! `belljar search`.

use std::process::ExitCode;

use belljar_catalog::Query;

use crate::{arguments::SearchArguments, failure::Failure, output, render, setup};

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
    let progress = render::progress::show(setup.toolbox.upstream());
    let answer = tokio::select! {
        answer = setup.toolbox.search(&query) => Some(answer),
        () = super::run::interrupted() => None,
    };
    progress.end().await;
    if let Some(answer) = &answer {
        if arguments.json {
            output::print_json(answer);
        } else {
            output::print(output::visible(answer.to_text().trim_end()));
        }
    }
    setup.toolbox.shutdown().await;
    Ok(if answer.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
