//! `belljar call`.

use std::{path::Path, process::ExitCode};

use belljar_model::{ErrorKind, RunError};
use serde_json::{Map, Value};

use super::source;
use crate::{
    arguments::CallArguments,
    failure::{self, Failure},
    output, render, setup, signals,
};

pub(crate) async fn call(arguments: CallArguments) -> Result<ExitCode, Failure> {
    let setup = setup::load(&arguments.config)?;
    let input = input(&arguments.input, setup.limits.max_arguments.as_u64())?;
    let interrupted = signals::told_to_end();
    let progress = render::progress::show(setup.toolbox.upstream());
    let answer = tokio::select! {
        answer = setup.toolbox.call(&arguments.path, input, setup.limits.call) => Ok(answer),
        () = interrupted => {
            let message = "interrupted; the call may have taken effect";
            Err(Failure::from(RunError::new(ErrorKind::Cancelled, message)))
        }
    };
    progress.end().await;
    setup.toolbox.shutdown().await;
    let answer = answer?;
    if arguments.json {
        output::print_json(&answer);
    } else if let Some(error) = &answer.error {
        output::complain(&error.message, error.hint.as_deref());
    } else {
        output::print(render::value::text(&answer.value));
    }
    Ok(answer.error.as_ref().map_or(ExitCode::SUCCESS, failure::exit_code))
}

/// The arguments: JSON itself, `@FILE`, or `-` for stdin.
fn input(input: &str, max: u64) -> Result<Map<String, Value>, Failure> {
    let text = match input.strip_prefix('@') {
        Some(path) => source::read(Some(Path::new(path)), "JSON", max)?,
        None if input == "-" => source::read(None, "JSON", max)?,
        None => input.to_owned(),
    };
    let hint = "--input takes a JSON object, as in --input '{\"path\": \"notes.txt\"}'";
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::usage("the input is JSON, but no object", hint)),
        Err(error) => Err(Failure::usage(format!("the input is not JSON: {error}"), hint)),
    }
}
