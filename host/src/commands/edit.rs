//! `belljar add` and `belljar remove`.

use std::{path::Path, process::ExitCode};

use belljar_config::{
    Format,
    edit::{self, EditError, NewServer, Reached},
};
use belljar_model::{ErrorKind, RunError};
use clap::Args;

use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    help,
    output::{self, visible_line},
    setup,
};

#[derive(Args)]
#[command(after_help = help::ADD)]
pub(crate) struct AddArguments {
    /// The name that scripts and commands will use for the server.
    pub(crate) name: String,
    /// The address of a remote server.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env"])]
    pub(crate) url: Option<String>,
    /// A header for each request, as in 'Authorization: Bearer ${TOKEN}'.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// A variable of the program's environment, as in 'TOKEN=${TOKEN}'.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// The program of the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// The server keeps state, so it is not stopped when idle.
    #[arg(long)]
    pub(crate) stateful: bool,
    /// The server starts with the daemon instead of when it is first needed.
    #[arg(long)]
    pub(crate) warm: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::REMOVE)]
pub(crate) struct RemoveArguments {
    /// The server's name.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The suffix of copies of a changed configuration.
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
    edit: impl FnOnce(&str, &Path) -> Result<String, EditError>,
) -> Result<ExitCode, Failure> {
    let path = setup::to_change(config)?;
    if Format::of(&path) != Format::Toml {
        let message = format!("{} is a client's file, which only that client changes", path.display());
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
        output::note(format_args!("the previous content is in {}", visible_line(&copy.display().to_string())));
    }
    Ok(ExitCode::SUCCESS)
}

fn refused(path: &Path, fault: EditError) -> Failure {
    let hint = match &fault {
        EditError::Exists { name } => format!("`belljar remove {name}` removes it; or choose another name"),
        EditError::Unknown { nearest: Some(near), .. } => format!("did you mean {near}?"),
        EditError::Unknown { nearest: None, .. } => "`belljar servers` lists what is configured".to_owned(),
        _ => "nothing was written".to_owned(),
    };
    RunError::new(ErrorKind::Config, format!("{}: {fault}", path.display())).with_hint(hint).into()
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it like NAME=value")?;
    Ok((name.to_owned(), value.to_owned()))
}
