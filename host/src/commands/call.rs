//! `belljar call`.

use std::{path::Path, process::ExitCode};

use belljar_daemon::requests::Call;
use belljar_model::ToolPath;
use clap::Args;
use futures::FutureExt as _;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::source;
use crate::{
    arguments::{ConfigArguments, NoDaemon},
    backend,
    failure::{self, Failure},
    help, output,
    render::{self, outcome::SeenError},
    select::{Filter, Selected},
    setup, signals,
};

#[derive(Args)]
#[command(after_help = help::CALL)]
pub(crate) struct CallArguments {
    /// The tool, as in fs.read_file.
    #[arg(value_name = "SERVER.TOOL")]
    pub(crate) path: ToolPath,
    /// The arguments, as a JSON object; @FILE reads them from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    /// A jq filter for the value, as in '.issues[] | {id, title}'.
    #[arg(long, value_name = "FILTER")]
    pub(crate) select: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object, including the raw result unless --select is given.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn call(arguments: CallArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read_to_call(&arguments.config)?;
    let input = input(&arguments.input, loaded.limits().max_arguments.as_u64())?;
    let filter = match &arguments.select {
        Some(expression) => Some(Filter::new(expression).await?),
        None => None,
    };
    let told_to_end = signals::told_to_end();
    let asked = Call { tool: arguments.path, arguments: input, timeout_ms: None, effect: None };
    let mut backend = backend::open(loaded, arguments.daemon).await?;
    let progress = backend.progress();
    let answer = backend.call(asked, told_to_end.boxed()).await;
    progress.end().await;
    backend.close().await;
    let answer = answer?;
    let seen = Seen::parse(&answer)?;
    if let (Some(warning), false) = (&seen.warning, arguments.json) {
        output::note(output::visible(warning));
    }
    match (filter, &seen.error) {
        (Some(filter), None) => show_selected(filter.apply(&seen.value).await?, &answer, arguments.json)?,
        _ if arguments.json => output::print_json_text(answer.get()),
        (_, Some(error)) => output::complain(&error.message, error.hint.as_deref()),
        (None, None) => output::print(render::value::without_media(seen.value.clone())),
    }
    Ok(seen.error.as_ref().map_or(ExitCode::SUCCESS, |error| failure::exit_code_of(error.kind)))
}

/// Shows the result of a filter: each value on its own, or with `--json` the answer with them in
/// place of its value.
fn show_selected(selected: Selected, answer: &RawValue, json: bool) -> Result<(), Failure> {
    let spared = selected.tokens_spared;
    if json {
        let mut answer: Map<String, Value> = serde_json::from_str(answer.get())
            .map_err(|error| Failure::internal(format!("the answer cannot be understood: {error}")))?;
        answer.insert("value".to_owned(), selected.into_value());
        // A user who selects wants less than everything.
        answer.insert("raw".to_owned(), Value::Null);
        output::print_json(&answer);
    } else {
        selected.outputs.iter().for_each(|output| output::print(render::value::text(output)));
    }
    output::note(format_args!("--select saved about {spared} tokens (at 4 bytes per token)"));
    Ok(())
}

/// The shown parts of an answer, from this process or the daemon.
#[derive(Deserialize)]
struct Seen {
    value: Value,
    error: Option<SeenError>,
    warning: Option<String>,
}

impl Seen {
    fn parse(answer: &RawValue) -> Result<Self, Failure> {
        serde_json::from_str(answer.get())
            .map_err(|error| Failure::internal(format!("the answer cannot be understood: {error}")))
    }
}

/// The arguments: JSON itself, `@FILE`, or `-` for stdin.
pub(super) fn input(input: &str, max: u64) -> Result<Map<String, Value>, Failure> {
    let text = match input.strip_prefix('@') {
        Some(path) => source::read(Some(Path::new(path)), "JSON", max)?,
        None if input == "-" => source::read(None, "JSON", max)?,
        None => input.to_owned(),
    };
    let hint = "--input takes a JSON object, as in --input '{\"path\": \"notes.txt\"}'";
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::usage("the input is JSON, but not an object", hint)),
        Err(error) => Err(Failure::usage(format!("the input is not JSON: {error}"), hint)),
    }
}
