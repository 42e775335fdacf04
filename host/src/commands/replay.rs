//! `belljar replay`.

use std::{path::PathBuf, process::ExitCode};

use belljar_model::Outcome;
use belljar_recording::fixture::{Fixture, Match};
use belljar_sandbox::Recording;
use clap::Args;
use serde_json::value::to_raw_value;

use super::{
    component,
    recording::{MAX_BYTES, RecordingFile},
    runs, source,
};
use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    help,
    setup::{self, Setup},
};

#[derive(Args)]
#[command(after_help = help::REPLAY)]
pub(crate) struct ReplayArguments {
    /// A recording written by belljar run --record, or a run whose recording is in the ledger.
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// Runs this script instead of the recorded one. Calls are answered if their tool and arguments
    /// were recorded.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) source: Option<PathBuf>,
    /// The component that was run. It must be the same file, since the recording does not contain
    /// it.
    #[arg(long, value_name = "WASM", conflicts_with_all = ["source", "fixture", "loose"])]
    pub(crate) component: Option<PathBuf>,
    /// Writes a fixture of the run to this new file, for belljar test.
    #[arg(long, value_name = "OUT")]
    pub(crate) fixture: Option<PathBuf>,
    /// Makes the fixture loose: its calls are answered by tool and arguments, in any order. With
    /// --source, fixtures are always loose.
    #[arg(long, requires = "fixture")]
    pub(crate) loose: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn replay(arguments: ReplayArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let path = arguments.file.display();
    let bytes = match runs::named(&arguments.file) {
        Some(run) => runs::recording(run).await?,
        None => source::read_bytes(
            &arguments.file,
            "a recording",
            MAX_BYTES.max(loaded.config.ledger.max_recording).as_u64(),
        )?,
    };
    let recording = Recording::read(bytes)
        .map_err(|error| Failure::usage(format!("{path}: {error}"), "belljar run --record FILE writes recordings"))?;
    if let Some(file) = &arguments.component {
        let outcome = component::replay(file, loaded, &recording).await?;
        return shown(&outcome, arguments.json);
    }
    let max_source = loaded.limits().max_source.as_u64();
    let script =
        arguments.source.as_deref().map(|path| source::read(Some(path), "a script", max_source)).transpose()?;
    let file = arguments.fixture.as_deref().map(RecordingFile::new).transpose()?;
    let gateway = Setup::of(loaded).gateway().await?;
    let (matching, outcome) = match &script {
        Some(script) => (Match::Loose, gateway.rehearse(script, &recording).await),
        None if arguments.loose => (Match::Loose, gateway.rehearse(&recording.start().source, &recording).await),
        None => (Match::Exact, gateway.replay(&recording).await),
    };
    let outcome = outcome?;
    if let Some(file) = file {
        let fixture = Fixture::new(matching, recording, &outcome);
        let script = arguments.source.as_deref().map(|script| file.way_to(script)).transpose()?;
        file.write_fixture(&Fixture { script, ..fixture }.to_text())?;
    }
    shown(&outcome, arguments.json)
}

fn shown(outcome: &Outcome, json: bool) -> Result<ExitCode, Failure> {
    let outcome =
        to_raw_value(outcome).map_err(|error| Failure::internal(format!("the outcome is not JSON: {error}")))?;
    super::run::show(&outcome, json)
}
