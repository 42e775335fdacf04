//! `belljar typescript`: the servers' tools as a module of declarations, and the client that calls
//! them.
//!
//! It works from the tool lists on disk, and starts a server only if its list is not known yet, or
//! lacks a tool that is named. It calls nothing.

use std::{path::PathBuf, process::ExitCode};

use belljar_catalog::{Catalog, typescript::declarations};
use clap::Args;
use serde_json::json;

use super::wit;
use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    output,
    setup::{self, Setup},
};

/// The client that calls the tools, for Node.
const CLIENT: &str = include_str!("../typescript/client.mjs");
/// The client's types, except those of the tools.
const CLIENT_TYPES: &str = include_str!("../typescript/client.d.mts");
/// The names of the two files. A compiler finds the types of the one in the other.
const FILE: &str = "client.mjs";
const TYPES_FILE: &str = "client.d.mts";

const HELP: &str = "\
The module has the type of each tool's function. --out writes it together with a client that has these types, which \
your program imports as ./client.mjs. The client talks to the daemon, and starts it if necessary, so that servers \
stay warm. See docs/TYPESCRIPT.md.

Examples:
  belljar typescript github                  print the declarations of a server
  belljar typescript --out belljar           write the client and its types for all servers

No tool is called. A server is started only if its tools are not known yet, or a named tool is not among them.

Exit code: 0, also if a server that was not named is left out because it is unavailable; 2 wrong usage or \
configuration, or no such server or tool; 3 belljar itself failed.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct TypescriptArguments {
    /// Servers, or single tools [default: all servers].
    #[arg(value_name = "SERVER|SERVER.TOOL")]
    names: Vec<String>,
    /// Writes the client and its types to this folder instead of printing them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// For tools that declare no result type, uses the type of results of earlier calls instead of
    /// unknown.
    #[arg(long)]
    observed: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints one JSON object: the files, and the declared tools.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn typescript(arguments: TypescriptArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::of(setup::read(&arguments.config)?);
    let catalog = wit::catalog(&setup, &arguments.names).await?;
    show(&catalog, &setup, &arguments)?;
    Ok(ExitCode::SUCCESS)
}

fn show(catalog: &Catalog, setup: &Setup, arguments: &TypescriptArguments) -> Result<(), Failure> {
    let chosen = wit::chosen(catalog, &arguments.names)?;
    let is_chosen = |tool: &belljar_catalog::Tool| {
        let only = chosen.get(tool.path().server());
        only.is_some_and(|only| only.as_ref().is_none_or(|only| only.contains(tool.path())))
    };
    let tools: Vec<String> =
        catalog.tools().filter(|tool| is_chosen(tool)).map(|tool| tool.path().to_string()).collect();
    if tools.is_empty() {
        return Err(Failure::config("there is no tool to declare", "belljar servers says what each server has"));
    }
    let observed = |tool: &belljar_catalog::Tool| {
        let is_declared = tool.definition().output_schema.is_some();
        setup.toolbox.observed(tool.path()).filter(|_| arguments.observed && !is_declared)
    };
    let servers = catalog.servers().iter().map(AsRef::as_ref);
    let types = format!("{CLIENT_TYPES}{}", declarations(servers, &is_chosen, &observed));
    let files = [(FILE, CLIENT), (TYPES_FILE, types.as_str())];
    if let Some(folder) = &arguments.out {
        wit::write(folder, files)?;
    }
    if arguments.json {
        let files: Vec<_> = files.iter().map(|(path, text)| json!({ "path": path, "text": text })).collect();
        output::print_json(&json!({ "files": files, "tools": tools }));
    } else if let Some(folder) = &arguments.out {
        let folder = output::visible_line(&folder.display().to_string()).into_owned();
        output::print(format_args!("{FILE} and {TYPES_FILE} are in {folder}"));
    } else {
        output::print(output::visible_text(types.trim_end()));
    }
    Ok(())
}
