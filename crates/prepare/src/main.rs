//! Prepares the guest's dependencies and prints the path of the configuration file for
//! `cargo --config`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the path is the result")]

use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut fetch = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    fetch.args(["fetch", "--locked"]).current_dir(repository.join("guest"));
    match belljar_prepare::prepare(&repository, &mut fetch) {
        Ok(config) => {
            println!("{}", config.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
