//! Filters that the configuration has for results: their check, and the process in which they run.
//! The process stays, and keeps the filters that it was sent.

use std::{collections::HashMap, ffi::OsString, io, path::Path, process::ExitCode, thread};

use belljar_config::Config;
use belljar_gateway::{FILTER_TIME, FilterAnswer, FilterQuestion};
use belljar_worker::{Bounds, FrameError, Role};
use serde_json::value::RawValue;

use super::{
    DESCRIPTORS, MEMORY, STACK, Said, VALUE_BYTES,
    worker::{Compiled, compiled, outputs},
};
use crate::failure::Failure;

/// How many filters the process keeps compiled: more than configurations have.
const KEPT: usize = 256;

/// Refuses a configuration in which a filter is wrong, and says which and where.
pub(crate) fn check(path: &Path, config: &Config) -> Result<(), Failure> {
    let filters: Vec<(&str, &str, &str)> = config
        .servers
        .iter()
        .flat_map(|server| {
            server.results.iter().map(|(tool, filter)| (server.name.as_str(), tool.as_str(), filter.as_str()))
        })
        .collect();
    if filters.is_empty() {
        return Ok(());
    }
    // The parser of filters recurses for each bracket, so it gets a stack that is large enough.
    let wrong = thread::scope(|scope| {
        let look = || {
            let wrong = |(server, tool, filter): &(&str, &str, &str)| match compiled(filter) {
                Err(Said::Refused { message, hint }) => {
                    Some((format!("'results.{tool}' of server '{server}': {message}"), hint))
                }
                _ => None,
            };
            filters.iter().find_map(wrong)
        };
        let looking = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, look);
        looking.map(|looking| looking.join())
    });
    match wrong {
        Ok(Ok(None)) => Ok(()),
        Ok(Ok(Some((message, hint)))) => {
            let message = format!("{}: {message}", path.display());
            Err(Failure::config(message, hint.unwrap_or_else(|| "filters are in jq's language".to_owned())))
        }
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(Failure::internal(format!("the filters of results cannot be looked at: {error}"))),
    }
}

/// Answers requests until there are no more.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let bounds = Bounds { memory: Some(MEMORY), descriptors: Some(DESCRIPTORS), processor_time: Some(FILTER_TIME) };
    let Ok(role) = Role::begin(arguments, bounds, VALUE_BYTES) else { return ExitCode::from(2) };
    let served = thread::Builder::new().stack_size(STACK).spawn(move || serve(role));
    match served.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::from(3),
    }
}

fn serve(mut role: Role) -> Result<(), FrameError> {
    let mut kept = HashMap::new();
    while let Some(question) = role.receive()? {
        let answer = answered(&mut kept, &question).unwrap_or_else(FilterAnswer::Refused);
        role.send(&serde_json::to_vec(&answer).map_err(io::Error::from)?)?;
    }
    Ok(())
}

fn answered(kept: &mut HashMap<String, Compiled>, question: &[u8]) -> Result<FilterAnswer, String> {
    let FilterQuestion { filter, max_bytes, value } =
        serde_json::from_slice(question).map_err(|error| format!("the question cannot be understood: {error}"))?;
    if !kept.contains_key(filter.as_ref()) {
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(filter.to_string(), compiled(&filter).map_err(reason)?);
    }
    let Some(filter) = kept.get(filter.as_ref()) else { return Err("the filter is not kept".to_owned()) };
    let outputs = outputs(filter, value.get().as_bytes(), max_bytes).map_err(reason)?;
    let not_json = |_| "what the filter gives is not JSON, which has no NaN, infinite numbers or bytes".to_owned();
    let outputs = outputs.into_iter().map(|output| RawValue::from_string(output).map_err(not_json));
    Ok(FilterAnswer::Outputs(outputs.collect::<Result<_, _>>()?))
}

fn reason(said: Said) -> String {
    match said {
        Said::Refused { message, hint: Some(hint) } => format!("{message} ({hint})"),
        Said::Refused { message, hint: None } => message,
        _ => "the filter gave no answer".to_owned(),
    }
}
