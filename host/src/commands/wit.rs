//! `belljar wit`: child servers as WIT packages, for components in any language.
//!
//! It works from the tool lists on disk, and starts a server only if its list is not known yet, or
//! lacks a tool that is named. It calls nothing.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use belljar_catalog::{
    Catalog, ServerState,
    wit::{Mapping, Package, Selection, Worlds, packages},
};
use belljar_gateway::Toolbox;
use belljar_model::{ErrorKind, RunError, ToolPath};
use cap_std::{ambient_authority, fs::Dir};
use clap::Args;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    output, render,
    setup::{self, Setup},
    signals,
};

const HELP: &str = "\
Each server has its own package, belljar:mcp-NAME, with its tools as typed functions: synchronous in the interface \
tools, and async in tools-async. The rules for names and types are in docs/COMPONENTS.md.

Examples:
  belljar wit github                                  print the package of a server
  belljar wit github.create_issue github.list_issues  a package with only these tools
  belljar wit github fs --world --out wit             write a folder for wit-bindgen, componentize-py, jco or wasm-tools
  belljar wit --any-tool --world --out wit            for components that find tools by name at run time

No tool is called. A server is started only if its tools are not known yet, or a named tool is not among them.

Exit code: 0, also if a server that was not named is left out because it is unavailable; 2 wrong usage or \
configuration, or no such server or tool; 3 belljar itself failed.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct WitArguments {
    /// Servers, or single tools [default: all servers].
    #[arg(value_name = "SERVER|SERVER.TOOL")]
    pub(crate) names: Vec<String>,
    /// Adds the interface with which a component finds any tool by name at run time. Without names,
    /// no server is included.
    #[arg(long)]
    pub(crate) any_tool: bool,
    /// Writes the package and its dependencies to this folder instead of printing them.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Adds the worlds guest and guest-async, which import these tools and export run.
    #[arg(long)]
    pub(crate) world: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object: the files, and the function of each tool.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn wit(arguments: WitArguments) -> Result<ExitCode, Failure> {
    if arguments.any_tool && arguments.names.is_empty() {
        print(&arguments, &[])?;
        return Ok(ExitCode::SUCCESS);
    }
    let setup = Setup::of(setup::read(&arguments.config)?);
    let catalog = catalog(&setup, &arguments.names).await?;
    show(&catalog, &arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// The tools of these servers, or of all. Servers whose tools are not known, or that lack a tool
/// that is named, are started, and ended.
pub(crate) async fn catalog(setup: &Setup, names: &[String]) -> Result<Arc<Catalog>, Failure> {
    let told_to_end = signals::told_to_end();
    let progress = render::progress::show(setup.toolbox.upstream());
    let catalog = tokio::select! {
        catalog = current(&setup.toolbox, names) => Ok(catalog),
        () = told_to_end => Err(RunError::new(ErrorKind::Cancelled, "interrupted").into()),
    };
    progress.end().await;
    setup.toolbox.shutdown().await;
    catalog
}

/// The same. A list on disk may be outdated: a tool is missing if the server itself does not have
/// it.
async fn current(toolbox: &Toolbox, names: &[String]) -> Arc<Catalog> {
    let servers: Vec<&str> = names.iter().map(|name| name.split('.').next().unwrap_or_default()).collect();
    let catalog = toolbox.catalog_of(&servers).await;
    let is_missing = |name: &String| name.contains('.') && catalog.lookup(name).is_none();
    let lacking = names.iter().zip(&servers).filter(|(name, _)| is_missing(name)).map(|(_, server)| *server);
    let lacking: BTreeSet<String> = lacking
        .filter_map(|server| catalog.server(server).or_else(|| catalog.namespace(server)))
        .filter(|server| *server.state() == ServerState::Ready)
        .map(|server| server.name().to_owned())
        .collect();
    if lacking.is_empty() {
        return catalog;
    }
    join_all(lacking.iter().map(|server| toolbox.upstream().start(server))).await;
    toolbox.catalog_of(&servers).await
}

fn show(catalog: &Catalog, arguments: &WitArguments) -> Result<(), Failure> {
    let chosen = chosen(catalog, &arguments.names)?;
    let names: Vec<&str> = catalog.servers().iter().map(|server| server.name()).collect();
    let mapped: Vec<Selected<'_>> = packages(&names)
        .iter()
        .zip(catalog.servers())
        .filter_map(|(package, server)| Some((Mapping::new(package, server), chosen.get(server.name())?)))
        .collect();
    let offered: HashSet<&ToolPath> =
        mapped.iter().flat_map(|(mapping, _)| mapping.functions()).map(|function| &function.path).collect();
    if let Some(path) = chosen.values().flatten().flatten().find(|path| !offered.contains(path)) {
        let hint = "its name has a line break, or is that of a lock; name other tools";
        return Err(Failure::usage(format!("components cannot import {:?}", path.to_string()), hint));
    }
    let is_empty = |(mapping, only): &Selected<'_>| selection(mapping, only).functions().next().is_none();
    if mapped.iter().all(is_empty) {
        return Err(Failure::config("there are no tools for a package", "belljar servers says what each server has"));
    }
    print(arguments, &mapped)
}

/// A server, and those of its tools that were chosen, if not all.
type Selected<'c> = (Mapping, &'c Option<HashSet<ToolPath>>);

fn selection<'m>(mapping: &'m Mapping, only: &'m Option<HashSet<ToolPath>>) -> Selection<'m> {
    only.as_ref().map_or(Selection::all(mapping), |only| Selection::of(mapping, only))
}

/// Prints or writes the package of these servers.
fn print(arguments: &WitArguments, mapped: &[Selected<'_>]) -> Result<(), Failure> {
    let selections: Vec<Selection<'_>> = mapped.iter().map(|(mapping, only)| selection(mapping, only)).collect();
    let worlds = if arguments.world { Worlds::Guest } else { Worlds::Imports };
    let package = match arguments.any_tool {
        true => Package::with_any_tool(&selections, worlds),
        false => Package::new(&selections, worlds),
    };
    if let Some(folder) = &arguments.out {
        let files = package.files();
        write(folder, files.iter().map(|file| (file.path.as_str(), file.text.as_str())))?;
    }
    if arguments.json {
        output::print_json(&as_json(&package, mapped, &selections));
    } else if let Some(folder) = &arguments.out {
        output::print(format_args!("the package is in {}", output::visible_line(&folder.display().to_string())));
    } else {
        output::print(output::visible_text(package.text().trim_end()));
    }
    Ok(())
}

/// The servers to make packages of, each with its tools, if not all.
pub(super) fn chosen(
    catalog: &Catalog,
    names: &[String],
) -> Result<BTreeMap<String, Option<HashSet<ToolPath>>>, Failure> {
    let mut chosen = BTreeMap::new();
    if names.is_empty() {
        for server in catalog.servers() {
            match server.state() {
                ServerState::Ready => {
                    chosen.insert(server.name().to_owned(), None);
                }
                ServerState::Unavailable { reason, .. } => output::warn(format_args!(
                    "{} is left out, since it is not available: {reason}",
                    output::visible_line(server.name())
                )),
                ServerState::NotStarted => {}
            }
        }
        return Ok(chosen);
    }
    for name in names {
        let server = name.split('.').next().unwrap_or_default();
        let Some(server) = catalog.server(server).or_else(|| catalog.namespace(server)) else {
            let meant = catalog.nearest_server(server).map(|server| server.name());
            return Err(absent(format!("there is no server {server:?}"), meant, "belljar servers lists them"));
        };
        if let ServerState::Unavailable { reason, hint } = server.state() {
            return Err(Failure::config(format!("{} is not available: {reason}", server.name()), hint));
        }
        if !name.contains('.') {
            chosen.insert(server.name().to_owned(), None);
            continue;
        }
        let Some(tool) = catalog.lookup(name) else {
            let meant = catalog.nearest_tool(name).map(|tool| tool.path().to_string());
            let hint = format!("belljar search --server {} lists its tools", server.name());
            return Err(absent(format!("there is no tool {name:?}"), meant.as_deref(), &hint));
        };
        let only = chosen.entry(server.name().to_owned()).or_insert_with(|| Some(HashSet::new()));
        // A server that is named as a whole stays whole.
        if let Some(only) = only {
            only.insert(tool.path().clone());
        }
    }
    Ok(chosen)
}

fn absent(message: String, meant: Option<&str>, hint: &str) -> Failure {
    Failure::usage(message, meant.map_or_else(|| hint.to_owned(), |meant| format!("did you mean {meant}?")))
}

/// Writes the files. Nothing outside of the folder is written to, whatever links are in it.
pub(super) fn write<'a>(folder: &Path, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), Failure> {
    let unwritable = |error: io::Error| {
        Failure::usage(format!("{} cannot be written to: {error}", folder.display()), "name a folder of your own")
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let opened = Dir::open_ambient_dir(folder, ambient_authority()).map_err(unwritable)?;
    for (path, text) in files {
        let path = Path::new(path);
        if let Some(parent) = path.parent() {
            opened.create_dir_all(parent).map_err(unwritable)?;
        }
        opened.write(path, text).map_err(unwritable)?;
    }
    Ok(())
}

fn as_json(package: &Package, mapped: &[Selected<'_>], selections: &[Selection<'_>]) -> Value {
    let tools = mapped.iter().zip(selections).flat_map(|((mapping, _), selection)| {
        selection.functions().map(move |function| {
            json!({
                "tool": function.path.to_string(),
                "package": mapping.package(),
                "function": function.name,
                "typed_arguments": mapping.is_typed(&function.arguments),
                "typed_result": mapping.is_typed(&function.result),
            })
        })
    });
    let files = package.files().into_iter().map(|file| json!({ "path": file.path, "text": file.text }));
    json!({ "files": files.collect::<Vec<_>>(), "tools": tools.collect::<Vec<_>>() })
}
