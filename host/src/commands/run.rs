//! `belljar run`.

use std::process::ExitCode;

use belljar_model::LimitsPatch;

use super::source;
use crate::{
    arguments::RunArguments,
    failure::{self, Failure},
    output, render, setup, signals,
};

pub(crate) async fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let limits = arguments.limits();
    let setup = setup::load_with(&arguments.config, &limits)?;
    let max_source = setup.limits.max_source.as_u64();
    let script = match &arguments.code {
        Some(code) => code.clone(),
        None => source::read(arguments.file.as_deref(), "a script", max_source)?,
    };
    if script.trim().is_empty() {
        return Err(Failure::usage("the script is empty", "belljar run --help shows how to write one"));
    }
    let interrupted = signals::told_to_end();
    let gateway = setup.gateway(&limits)?;
    let progress = render::progress::show(setup.toolbox.upstream());
    let outcome = gateway.execute_until(script, &LimitsPatch::default(), interrupted).await;
    progress.end().await;
    let stopped = setup.toolbox.shutdown();
    if arguments.json {
        output::print_json(&outcome);
    } else {
        render::outcome::show(&outcome);
    }
    stopped.await;
    Ok(match &outcome.result {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => failure::exit_code(error),
    })
}
