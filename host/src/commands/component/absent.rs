//! What the commands answer on systems without Unix processes.

use std::{path::Path, process::ExitCode};

use belljar_model::Outcome;
use belljar_sandbox::Recording;

use crate::{commands::run::RunArguments, failure::Failure, setup::Loaded};

pub(in crate::commands) async fn run(_file: &Path, _arguments: &RunArguments) -> Result<ExitCode, Failure> {
    Err(Failure::config("components are run in a confined process, which needs Linux", "run a script instead"))
}

pub(in crate::commands) async fn replay(
    _file: &Path,
    _loaded: Loaded,
    _recording: &Recording,
) -> Result<Outcome, Failure> {
    Err(Failure::config("components are run in a confined process, which needs Linux", "replay a script instead"))
}
