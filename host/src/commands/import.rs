//! `belljar import`.

use std::{path::PathBuf, process::ExitCode};

use belljar_config::{
    ConfigError, Fault, Format,
    import::{Client, Folders, Item, Plan, Source, write},
};
use belljar_model::{ErrorKind, RunError};

use crate::{
    arguments::{ImportArguments, ImportFrom},
    environment,
    failure::Failure,
    output, render,
};

pub(crate) fn import(arguments: ImportArguments) -> Result<ExitCode, Failure> {
    let target = arguments.config.config.clone().or_else(environment::named_config).or_else(environment::own_config);
    let target = target.ok_or_else(|| {
        Failure::usage("there is no home directory to keep a belljar.toml in", "name the file with --config FILE")
    })?;
    if Format::of(&target) != Format::Toml {
        return Err(Failure::usage(
            format!(
                "{} is not named like a belljar.toml, and a client's own file is never written to",
                target.display()
            ),
            "name a file that ends in .toml with --config FILE",
        ));
    }
    let is_named = matches!(arguments.from, Some(ImportFrom::File(_)));
    let (plan, _) = environment::with_variables(|variables| {
        let existing = match belljar_config::server_names(&target) {
            Ok(names) => names,
            Err(error) if matches!(*error.fault, Fault::NotFound) => Vec::new(),
            Err(error) => return Err(Failure::from(error)),
        };
        Ok(Plan::of(sources(arguments.from), &existing, variables))
    });
    let plan = plan?;
    // A file that was asked for by name has to be one that can be read; one that is merely there may be anything.
    if is_named && let Some((_, Err(error))) = plan.found.first() {
        return Err(Failure::from(RunError::new(ErrorKind::Config, error.to_string())));
    }
    if !arguments.json {
        render::import::show(&plan);
    }
    let written = if arguments.write && !plan.is_empty() {
        let (written, _) = environment::with_variables(|variables| write(&target, &plan, variables));
        Some(written.map_err(|fault| Failure::from(RunError::new(ErrorKind::Config, fault.to_string())))?)
    } else {
        None
    };
    if arguments.json {
        output::print_json(&render::import::as_json(&plan, &target, written.as_ref()));
    } else {
        render::import::show_written(&plan, &target, written.as_ref());
    }
    Ok(ExitCode::SUCCESS)
}

/// The files to look into: the one that was named, or those of the clients that are there.
fn sources(from: Option<ImportFrom>) -> Vec<Source> {
    let clients = match from {
        Some(ImportFrom::File(path)) => return vec![Source { title: path.display().to_string(), path }],
        Some(ImportFrom::Client(client)) => vec![client],
        None => Client::ALL.to_vec(),
    };
    let (home, settings, workspace) = environment::client_folders();
    let folders = Folders { home: home.as_deref(), settings: settings.as_deref(), workspace: workspace.as_deref() };
    let mut sources = Vec::new();
    for client in clients {
        let there = client.files(&folders).into_iter().filter(|path: &PathBuf| path.exists());
        sources.extend(there.map(|path| Source { title: client.title().to_owned(), path }));
    }
    sources
}

/// Whether a file was merely looked into, and has no servers.
pub(crate) fn is_without_servers(items: &Result<Vec<Item>, ConfigError>) -> bool {
    match items {
        Ok(items) => items.is_empty(),
        Err(error) => matches!(*error.fault, Fault::NoServers { .. }),
    }
}
