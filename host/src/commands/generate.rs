//! `belljar completions` and `belljar man`: what is made from the command line's own definition.

use std::{io, process::ExitCode};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::{
    arguments::{Arguments, CompletionsArguments, ManArguments},
    failure::Failure,
    output,
};

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "belljar", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(arguments: &ManArguments) -> Result<ExitCode, Failure> {
    let mut command = Arguments::command();
    command.build();
    let Some(folder) = &arguments.folder else {
        let page = page(command)?;
        output::print(String::from_utf8_lossy(&page).trim_end());
        return Ok(ExitCode::SUCCESS);
    };
    let unwritable = |error: io::Error| {
        Failure::usage(format!("{} cannot be written to: {error}", folder.display()), "name a folder of your own")
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(unwritable)?;
    output::print(format_args!("a page for each command is in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::internal(format!("the page cannot be made: {error}")))?;
    Ok(page)
}
