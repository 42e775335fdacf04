//! `belljar runs`, whose arguments are in `arguments.rs`.

mod arguments;

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
};

use belljar_ledger::{
    Filter, KeptCall, KeptRecording, KeptRun, Ledger as _, LedgerError, Purge, SqliteLedger, WholeRun,
};
use belljar_model::{ByteSize, ErrorKind, LedgerSettings, RunError, RunId, RunIdStart};
use belljar_recording::{
    Answer, Entry, Recording,
    fixture::{Fixture, Match},
};
use serde::Serialize;

use super::recording::RecordingFile;
use crate::{
    failure::Failure,
    output, render,
    render::runs::{Crossing, Difference},
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
    let missing = |message: String, hint: &str| Failure::usage(message, hint);
    match ledger.recording(run).await.map_err(unreadable)? {
        Some(KeptRecording::Whole(bytes)) => Ok(bytes),
        Some(KeptRecording::Redacted(_)) => Err(missing(
            format!("the recording of {run} was redacted: it is verifiable, not replayable"),
            "the rest is in belljar runs show",
        )),
        Some(KeptRecording::NotReplayable { reason }) => Err(missing(
            format!("{run} is not replayable: {reason}"),
            "[ledger] max_recording says how much is kept of one run",
        )),
        None => Err(missing(
            format!("the ledger has no recording of {run}"),
            "belljar run --ledger recordings keeps one, and so does [ledger] level = \"recordings\"",
        )),
    }
}

async fn list(arguments: RunsArguments) -> Result<ExitCode, Failure> {
    let RunsArguments { tool, effect, failed, since, limit, json, .. } = arguments;
    let tool = tool.map(|path| match path.split_once('.') {
        Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
        None => (path, None),
    });
    let is_all = tool.is_none() && effect.is_none() && !failed && since.is_none();
    let runs = ledger().runs(Filter { tool, effect, failed, since, limit }).await.map_err(unreadable)?;
    if json {
        output::print_json(&serde_json::json!({ "runs": runs }));
    } else {
        render::runs::list(&runs, is_all);
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(arguments: &RunsShowArguments) -> Result<ExitCode, Failure> {
    #[derive(Serialize)]
    struct Shown<'r> {
        #[serde(flatten)]
        run: &'r KeptRun,
        calls: &'r [KeptCall],
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<&'r str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        crossings: Vec<Crossing<'r>>,
    }
    let ledger = ledger();
    let (run, calls) = found(&ledger, arguments.run).await?;
    let kept = ledger.recording(run.run).await.map_err(unreadable)?;
    let recording = read(run.run, kept.as_ref())?;
    let source = recording.as_ref().map(|recording| recording.start().source.as_str());
    let crossings: Vec<_> = recording.iter().flat_map(crossings).collect();
    if arguments.json {
        output::print_json(&Shown { run: &run, calls: &calls, source, crossings });
    } else {
        render::runs::show(&run, &calls, source, &crossings);
    }
    Ok(ExitCode::SUCCESS)
}

/// The recording, if there is a readable one.
fn read(run: RunId, kept: Option<&KeptRecording>) -> Result<Option<Recording>, Failure> {
    let recording = kept.and_then(KeptRecording::bytes).map(Recording::read).transpose();
    recording.map_err(|error| Failure::internal(format!("the recording of {run} cannot be read: {error}")))
}

/// What crossed between script and tools, in order.
fn crossings(recording: &Recording) -> Vec<Crossing<'_>> {
    let crossing = |entry| match entry {
        Entry::Call { number, arguments, .. } => Some(Crossing::Arguments { number, text: arguments }),
        Entry::Answer { number, answer: Answer::Result(text), .. } => Some(Crossing::Answer { number, text }),
        Entry::Answer { number, answer: Answer::Fault { message, .. }, .. } => {
            Some(Crossing::Fault { number, text: message })
        }
        _ => None,
    };
    recording.entries().filter_map(crossing).collect()
}

async fn diff(arguments: &RunsDiffArguments) -> Result<ExitCode, Failure> {
    let ledger = ledger();
    let (one, other) = (found(&ledger, arguments.one).await?, found(&ledger, arguments.other).await?);
    let difference = first_difference(&one, &other);
    if arguments.json {
        output::print_json(&serde_json::json!({ "equal": difference.is_none(), "difference": difference }));
    } else {
        render::runs::difference((one.0.run, other.0.run), difference.as_ref());
    }
    Ok(if difference.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Where two runs first differ, in the order in which things happened.
fn first_difference((one, calls): &WholeRun, (other, other_calls): &WholeRun) -> Option<Difference> {
    let differ = |what: &'static str, call: Option<u64>, one: String, other: String| {
        (one != other).then_some(Difference { what, call, one, other })
    };
    let shown = |value: &dyn std::fmt::Debug| format!("{value:?}");
    if one.key != other.key {
        let key = |run: &KeptRun| run.key.map(|key| format!("{key:08x}")).unwrap_or_default();
        // Digests with two keys cannot be compared.
        return differ("key of the digests", None, key(one), key(other));
    }
    let digest = |digest: Option<&belljar_ledger::Digest>| {
        digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()).unwrap_or_default()
    };
    let of_call = |(one, other): (&KeptCall, &KeptCall)| {
        let number = Some(one.number);
        differ("tool", number, one.tool.to_string(), other.tool.to_string())
            .or_else(|| differ("number", number, one.number.to_string(), other.number.to_string()))
            .or_else(|| differ("arguments", number, digest(one.arguments.as_ref()), digest(other.arguments.as_ref())))
            .or_else(|| differ("answer", number, digest(one.answer.as_ref()), digest(other.answer.as_ref())))
            .or_else(|| differ("state", number, one.state.as_str().to_owned(), other.state.as_str().to_owned()))
    };
    differ("source", None, digest(one.source.as_ref()), digest(other.source.as_ref()))
        .or_else(|| calls.iter().zip(other_calls).find_map(of_call))
        .or_else(|| differ("calls", None, calls.len().to_string(), other_calls.len().to_string()))
        .or_else(|| differ("state", None, one.state.as_str().to_owned(), other.state.as_str().to_owned()))
        .or_else(|| differ("error", None, shown(&one.error), shown(&other.error)))
        .or_else(|| differ("fuel", None, shown(&one.fuel), shown(&other.fuel)))
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
        output::note(format_args!("written, {size}: belljar replay {}", file.path().display()));
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
    // Whoever purges applies how long artifacts are kept, too.
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
