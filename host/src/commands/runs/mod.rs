//! `belljar runs`, whose arguments are in `arguments.rs`.

mod arguments;

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
};

use belljar_ledger::{Filter, KeptRun, Ledger as _, LedgerError, Purge, SqliteLedger, WholeRun};
use belljar_model::{ByteSize, ErrorKind, LedgerSettings, RunError, RunIdStart};
use belljar_recording::{
    Recording,
    fixture::{Fixture, Match},
};

use super::recording::RecordingFile;
use crate::{
    failure::Failure,
    kept_run, output,
    render::{self, runs::Ran},
    setup::{self, Setup},
};
pub(crate) use arguments::RunsArguments;
use arguments::{RunsCommand, RunsDiffArguments, RunsExportArguments, RunsPurgeArguments, RunsShowArguments};

pub(crate) async fn runs(arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        None => list(arguments).await,
        Some(RunsCommand::Show(arguments)) => show(&arguments).await,
        Some(RunsCommand::Diff(arguments)) => diff(&arguments).await,
        Some(RunsCommand::Export(arguments)) => export(&arguments).await,
        Some(RunsCommand::Purge(arguments)) => purge(arguments).await,
    }
}

/// The ledger of this user, opened for reading.
fn ledger() -> SqliteLedger {
    setup::ledger_of(&LedgerSettings::default())
}

/// The run that a word names, if no file has that name.
pub(super) fn named(word: &Path) -> Option<RunIdStart> {
    if word.exists() { None } else { word.to_str()?.parse().ok() }
}

/// The ledger's recording of a run.
pub(super) async fn recording(run: RunIdStart) -> Result<Vec<u8>, Failure> {
    let ledger = ledger();
    let (KeptRun { run, .. }, _) = found(&ledger, run).await?;
    kept_run::replayable(run, ledger.recording(run).await.map_err(unreadable)?)
}

async fn list(arguments: RunsArguments) -> Result<ExitCode, Failure> {
    let RunsArguments { tool, effect, client, failed, waiting, since, limit, json, .. } = arguments;
    let tool = tool.map(|path| match path.split_once('.') {
        Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
        None => (path, None),
    });
    let is_all = tool.is_none() && effect.is_none() && client.is_none() && !failed && !waiting && since.is_none();
    let filter = Filter { tool, effect, client, failed, waiting, since, limit };
    let runs = ledger().runs(filter).await.map_err(unreadable)?;
    if json {
        output::print_json(&serde_json::json!({ "runs": runs }));
    } else {
        render::runs::list(&runs, is_all);
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(arguments: &RunsShowArguments) -> Result<ExitCode, Failure> {
    let ledger = ledger();
    let (run, calls) = found(&ledger, arguments.run).await?;
    let kept = ledger.recording(run.run).await.map_err(unreadable)?;
    let recording = kept_run::read(run.run, kept.as_ref())?;
    let shown = kept_run::Shown::new(&run, &calls, recording.as_ref());
    if arguments.json {
        output::print_json(&shown);
    } else {
        let ran = recording.as_ref().map(|recording| recording.start().script().map_or(Ran::Component, Ran::Script));
        render::runs::show(&run, &calls, ran, &shown.crossings);
    }
    Ok(ExitCode::SUCCESS)
}

async fn diff(arguments: &RunsDiffArguments) -> Result<ExitCode, Failure> {
    let ledger = ledger();
    let (one, other) = (found(&ledger, arguments.one).await?, found(&ledger, arguments.other).await?);
    let difference = kept_run::first_difference(&one, &other);
    if arguments.json {
        output::print_json(&serde_json::json!({ "equal": difference.is_none(), "difference": difference }));
    } else {
        render::runs::difference((one.0.run, other.0.run), difference.as_ref());
    }
    Ok(if difference.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

async fn export(arguments: &RunsExportArguments) -> Result<ExitCode, Failure> {
    let file = arguments.output.as_deref().map(RecordingFile::new).transpose()?;
    if arguments.fixture {
        let text = fixture(arguments).await?;
        match &file {
            Some(file) => file.write_fixture(&text)?,
            None if std::io::stdout().is_terminal() => output::print(output::visible(text.trim_end())),
            None => output::print(text.trim_end()),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &file {
        let bytes = recording(arguments.run).await?;
        file.write_bytes(&bytes)?;
        let size = ByteSize::b(bytes.len() as u64).display().iec();
        let path = file.path().display();
        let is_of_component = Recording::read(bytes).is_ok_and(|recording| recording.start().script().is_none());
        let with = if is_of_component { " --component FILE" } else { "" };
        output::note(format_args!("written, {size}: belljar replay {path}{with}"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut stdout = std::io::stdout();
    if stdout.is_terminal() {
        return Err(Failure::usage("a recording is not text for a terminal", "name a file with -o"));
    }
    let bytes = recording(arguments.run).await?;
    let written = stdout.write_all(&bytes).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::internal(format!("the recording could not be written: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// The fixture of a run. A recording has only digests of the results, so the run is repeated
/// without its tools.
async fn fixture(arguments: &RunsExportArguments) -> Result<String, Failure> {
    let recording = Recording::read(recording(arguments.run).await?)
        .map_err(|error| Failure::internal(format!("the recording of {} cannot be read: {error}", arguments.run)))?;
    let gateway = Setup::of(setup::read(&arguments.config)?).gateway().await?;
    let (matching, outcome) = match arguments.loose {
        true => (Match::Loose, gateway.rehearse(&recording.start().source, &recording).await),
        false => (Match::Exact, gateway.replay(&recording).await),
    };
    let outcome = outcome?;
    Ok(Fixture::new(matching, recording, &outcome).to_text())
}

async fn purge(arguments: RunsPurgeArguments) -> Result<ExitCode, Failure> {
    let config = setup::read(&arguments.config)?.config;
    let ledger = setup::ledger_of(&config.ledger);
    // A purge also applies the configured bounds on artifacts.
    ledger.artifacts(config.artifacts);
    let what = match (arguments.all, arguments.before) {
        (true, _) => Purge::All,
        (false, Some(at)) => Purge::Before(at),
        (false, None) if arguments.runs.is_empty() => Purge::Kept,
        (false, None) => Purge::Runs(arguments.runs),
    };
    let purged = ledger.purge(what).await.map_err(unreadable)?;
    ledger.close().await;
    if arguments.json {
        output::print_json(&serde_json::json!({ "purged": purged }));
    } else {
        output::print(format_args!("{purged} {} forgotten", if purged == 1 { "run is" } else { "runs are" }));
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that must exist.
async fn found(ledger: &SqliteLedger, name: RunIdStart) -> Result<WholeRun, Failure> {
    let (first, last) = name.bounds();
    let run = match (name.whole(), ledger.between(first, last).await.map_err(unreadable)?.as_slice()) {
        (Some(run), _) => ledger.run(run).await.map_err(unreadable)?,
        (None, [run]) => ledger.run(*run).await.map_err(unreadable)?,
        (None, []) => None,
        (None, _) => {
            let message = format!("{name} is the beginning of more than one run's name");
            return Err(Failure::usage(message, "give more of it; `belljar runs` lists them"));
        }
    };
    run.ok_or_else(|| {
        RunError::new(ErrorKind::Exception, format!("the ledger has no run {name}"))
            .with_hint("`belljar runs` lists its runs; [ledger] keep says how long")
            .into()
    })
}

fn unreadable(fault: LedgerError) -> Failure {
    RunError::new(ErrorKind::Internal, fault.to_string()).with_hint(fault.hint()).into()
}
