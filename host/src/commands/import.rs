//! `belljar import`.
//!
//! The user's own files are imported directly. A file in the current folder was written by the
//! folder's author, and its commands run as the user: it is imported only by its name, or after a
//! yes of a person who has seen its contents.

use std::{path::PathBuf, process::ExitCode};

use belljar_config::{
    ConfigErrorKind, Format,
    import::{Folders, Found, ImportClient, Plan, Source, write},
    masked::Author,
};
use belljar_model::{ErrorKind, RunError};
use clap::Args;

use crate::{arguments::ConfigArguments, consent, environment, failure::Failure, help, output, render};

#[derive(Args)]
#[command(after_help = help::IMPORT)]
pub(crate) struct ImportArguments {
    /// Only from this file or client: claude-desktop, claude-code, cursor or vscode [default: the
    /// user's own files of all clients].
    #[arg(long, value_name = "FILE|CLIENT", value_parser = ImportFrom::parse)]
    pub(crate) from: Option<ImportFrom>,
    /// Writes the servers to the configuration, after making a copy of it.
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where servers are imported from.
#[derive(Clone)]
pub(crate) enum ImportFrom {
    Client(ImportClient),
    File(PathBuf),
}

impl ImportFrom {
    #[expect(clippy::unnecessary_wraps, reason = "clap wants it so")]
    fn parse(text: &str) -> Result<Self, String> {
        let client = ImportClient::ALL.into_iter().find(|client| client.as_str() == text);
        Ok(client.map_or_else(|| Self::File(PathBuf::from(text)), Self::Client))
    }
}

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
    let existing = match belljar_config::server_names(&target) {
        Ok(names) => names,
        Err(error) if matches!(*error.fault, ConfigErrorKind::NotFound) => Vec::new(),
        Err(error) => return Err(Failure::from(error)),
    };
    let plan = plan(&arguments, &existing)?;
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

/// Reads the files, shows their contents, and imports those that are the user's own, were named, or
/// are agreed to.
fn plan(arguments: &ImportArguments, existing: &[String]) -> Result<Plan, Failure> {
    let mut plan = Plan::beside(existing);
    let look = |plan: &Plan, source| environment::with_variables(|variables| plan.look(source, variables)).0;
    let (sources, of_project) = match &arguments.from {
        Some(ImportFrom::File(path)) => {
            let source = Source { title: path.display().to_string(), path: path.clone(), author: Author::Stranger };
            (vec![source], Vec::new())
        }
        Some(ImportFrom::Client(client)) => sources(&[*client]),
        None => sources(&ImportClient::ALL),
    };
    let is_named = matches!(arguments.from, Some(ImportFrom::File(_)));
    for source in sources {
        let found = look(&plan, source);
        // A named file must be readable; an unnamed one may be anything.
        if is_named && let Err(error) = &found.items {
            return Err(Failure::from(RunError::new(ErrorKind::Config, error.to_string())));
        }
        if !arguments.json {
            render::import::show(&found);
        }
        plan.take(found);
    }
    for source in of_project {
        let found = look(&plan, source);
        if !arguments.json {
            render::import::show_offered(&found);
        }
        if arguments.write && !arguments.json && is_agreed_to(&found) {
            plan.take(found);
        } else {
            plan.leave(found);
        }
    }
    Ok(plan)
}

fn is_agreed_to(found: &Found) -> bool {
    !found.is_empty() && consent::agreed(render::import::question(found))
}

/// The existing files: the user's own, and those of the project in the current folder.
fn sources(clients: &[ImportClient]) -> (Vec<Source>, Vec<Source>) {
    let (home, settings) = (environment::home(), environment::settings_folder());
    let folders = Folders { home: home.as_deref(), settings: settings.as_deref() };
    let title = |client: ImportClient| client.title().to_owned();
    let own = clients.iter().flat_map(|&client| {
        let files = client.files(&folders).into_iter().filter(|path| path.exists());
        files.map(move |path| Source { title: title(client), path, author: Author::User })
    });
    let own: Vec<Source> = own.collect();
    // In the home, or through a link, a project's file may be the user's own.
    let real: Vec<PathBuf> = own.iter().filter_map(|source| source.path.canonicalize().ok()).collect();
    let of_project = clients.iter().filter_map(|&client| {
        let path = PathBuf::from(client.project_file()?);
        let is_own = path.canonicalize().is_ok_and(|path| real.contains(&path));
        (path.exists() && !is_own).then(|| Source { title: title(client), path, author: Author::Stranger })
    });
    let of_project = of_project.collect();
    (own, of_project)
}
