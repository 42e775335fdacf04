//! `belljar run`.

use std::process::ExitCode;

use belljar_daemon::Client;
use belljar_model::LimitsPatch;
use serde_json::value::to_raw_value;

use super::source;
use crate::{
    arguments::RunArguments,
    daemon::{self, Told},
    failure::{self, Failure},
    output, render,
    setup::{self, Setup},
    signals,
};

pub(crate) async fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let limits = arguments.limits();
    let max_source = limits.over(&loaded.limits()).max_source.as_u64();
    let script = match &arguments.code {
        Some(code) => code.clone(),
        None => source::read(arguments.file.as_deref(), "a script", max_source)?,
    };
    if script.trim().is_empty() {
        return Err(Failure::usage("the script is empty", "belljar run --help shows how to write one"));
    }
    let told_to_end = signals::told_to_end();
    let outcome = match daemon::reach(&loaded, arguments.daemon).await? {
        Some(client) => there(client, &script, &limits, told_to_end).await?,
        None => return here(Setup::of(loaded), script, &limits, arguments.json, told_to_end).await,
    };
    finish(&outcome, arguments.json)
}

/// Runs the script in the daemon.
async fn there(
    mut client: Client,
    script: &str,
    limits: &LimitsPatch,
    told_to_end: impl Future<Output = ()>,
) -> Result<Box<serde_json::value::RawValue>, Failure> {
    let params = serde_json::json!({ "code": script, "limits": limits });
    let progress = render::progress::show_of_daemon(&client);
    let answer = client.request_until("execute", &params, told_to_end).await.map_err(daemon::failed);
    progress.end().await;
    Told::parse(&answer?).map(|told| told.answer.to_owned())
}

/// Runs the script in this process, with children of its own.
async fn here(
    setup: Setup,
    script: String,
    limits: &LimitsPatch,
    json: bool,
    told_to_end: impl Future<Output = ()> + Send,
) -> Result<ExitCode, Failure> {
    let gateway = setup.gateway(limits).await?;
    let progress = render::progress::show(setup.toolbox.upstream());
    let outcome = gateway.execute_until(script, &LimitsPatch::default(), told_to_end).await;
    progress.end().await;
    let stopped = setup.toolbox.shutdown();
    let outcome =
        to_raw_value(&outcome).map_err(|error| Failure::internal(format!("the outcome is no JSON: {error}")))?;
    let code = finish(&outcome, json);
    stopped.await;
    code
}

fn finish(outcome: &serde_json::value::RawValue, json: bool) -> Result<ExitCode, Failure> {
    let seen = render::outcome::Seen::parse(outcome)?;
    if json {
        output::print_json_text(outcome.get());
    } else {
        render::outcome::show(&seen);
    }
    Ok(seen.error.as_ref().map_or(ExitCode::SUCCESS, |error| failure::exit_code_of(error.kind)))
}
