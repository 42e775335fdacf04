//! `belljar completions` and `belljar man`, generated from the command line's definition.

use std::{io, path::PathBuf, process::ExitCode};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::{failure::Failure, output};

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArguments {
    /// The folder for the pages of all commands; without it, the main page is printed.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &CompletionsArguments, mut command: Command) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "belljar", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(arguments: &ManArguments, mut command: Command) -> Result<ExitCode, Failure> {
    let Some(folder) = &arguments.folder else {
        command.build();
        let page = page(command)?;
        output::print(String::from_utf8_lossy(&page).trim_end());
        return Ok(ExitCode::SUCCESS);
    };
    let unwritable = |error: io::Error| {
        Failure::usage(format!("{} cannot be written to: {error}", folder.display()), "name a folder of your own")
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(command, folder).map_err(unwritable)?;
    output::print(format_args!("a page for each command is in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::internal(format!("the page cannot be made: {error}")))?;
    Ok(page)
}
