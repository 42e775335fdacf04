//! `belljar add` and `belljar remove`.

use std::{path::Path, process::ExitCode};

use belljar_config::{
    Format,
    edit::{self, EditFault, NewServer, Reached},
};
use belljar_model::{ErrorKind, RunError};

use crate::{
    arguments::{AddArguments, ConfigArguments, RemoveArguments},
    failure::Failure,
    output::{self, visible_line},
    setup,
};

/// What the copies of a changed configuration are called.
const SUFFIX: &str = "before-edit";

pub(crate) fn add(arguments: AddArguments) -> Result<ExitCode, Failure> {
    let AddArguments { name, url, headers, env, command, stateful, warm, config, json } = arguments;
    let reached = match (url, command.split_first()) {
        (Some(url), None) => Reached::Url { url, headers },
        (None, Some((command, args))) if headers.is_empty() => {
            Reached::Command { command: command.clone(), args: args.to_vec(), env }
        }
        _ => {
            let hint = "belljar add NAME -- COMMAND ARGS…, or belljar add NAME --url URL";
            return Err(Failure::usage("a server is a command or a url", hint));
        }
    };
    let server = NewServer { name, reached, stateful, warm };
    change(&config, &server.name, "added", json, |text, folder| edit::added(text, folder, &server))
}

pub(crate) fn remove(arguments: RemoveArguments) -> Result<ExitCode, Failure> {
    let RemoveArguments { name, config, json } = arguments;
    change(&config, &name, "removed", json, |text, folder| edit::removed(text, folder, &name))
}

fn change(
    config: &ConfigArguments,
    name: &str,
    what: &str,
    json: bool,
    edit: impl FnOnce(&str, &Path) -> Result<String, EditFault>,
) -> Result<ExitCode, Failure> {
    let path = setup::to_change(config)?;
    if Format::of(&path) != Format::Toml {
        let message = format!("{} is a client's file, and is changed by that client alone", path.display());
        return Err(Failure::usage(message, "name a belljar.toml with --config"));
    }
    let before = belljar_config::text(&path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = edit(before.as_deref().unwrap_or_default(), folder).map_err(|fault| refused(&path, fault))?;
    let copy = belljar_config::replace(&path, before.as_deref(), &text, SUFFIX).map_err(|error| {
        let message = format!("{} cannot be written: {error}", path.display());
        Failure::from(RunError::new(ErrorKind::Config, message))
    })?;
    if json {
        output::print_json(&serde_json::json!({ what: name, "config": path, "copy": copy }));
        return Ok(ExitCode::SUCCESS);
    }
    output::print(format_args!("{what} '{}': {}", visible_line(name), visible_line(&path.display().to_string())));
    if let Some(copy) = copy {
        output::note(format_args!("what it was before is in {}", visible_line(&copy.display().to_string())));
    }
    Ok(ExitCode::SUCCESS)
}

fn refused(path: &Path, fault: EditFault) -> Failure {
    let hint = match &fault {
        EditFault::Exists { name } => format!("`belljar remove {name}` removes it; or choose another name"),
        EditFault::Unknown { nearest: Some(near), .. } => format!("did you mean {near}?"),
        EditFault::Unknown { nearest: None, .. } => "`belljar servers` lists what is configured".to_owned(),
        _ => "nothing was written".to_owned(),
    };
    RunError::new(ErrorKind::Config, format!("{}: {fault}", path.display())).with_hint(hint).into()
}
