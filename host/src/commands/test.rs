//! `belljar test`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use belljar_gateway::Gateway;
use belljar_recording::{
    ReadError, Recording,
    fixture::{Fixture, Match},
};
use belljar_sandbox::ReplayError;
use clap::Args;
use serde::Serialize;

use super::{
    recording::{MAX_BYTES, MAX_FIXTURE_BYTES},
    source,
};
use crate::{
    arguments::ConfigArguments,
    failure::{self, Failure},
    help, output,
    setup::{self, Setup},
};

#[derive(Args)]
#[command(after_help = help::TEST)]
pub(crate) struct TestArguments {
    /// Recordings, fixtures, and folders to search for them.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the result of each test as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The extensions of tests when a folder is searched.
const ENDINGS: [&str; 2] = [".belljar", ".belljar.jsonl"];
/// The extensions of scripts in fixtures.
const SCRIPTS: [&str; 8] = ["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"];
/// The most tests of one command.
const MAX_TESTS: usize = 10_000;
/// How deeply folders may be nested.
const MAX_DEPTH: usize = 32;

/// The result for one file.
#[derive(Serialize)]
struct Tested {
    file: String,
    ok: bool,
    /// The difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
    /// Why it could not be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    passed: usize,
    failed: usize,
    tests: &'a [Tested],
}

/// How a test failed.
enum Failed {
    Differs(String),
    Broken(Failure),
}

pub(crate) async fn test(arguments: TestArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let max_source = loaded.limits().max_source.as_u64();
    let mut files = Vec::new();
    for path in &arguments.paths {
        find(path, &mut files)?;
    }
    let gateway = Setup::of(loaded).gateway().await?;
    let mut tests = Vec::new();
    let mut worst = 0;
    for file in &files {
        let mut tested = Tested { file: file.display().to_string(), ok: true, difference: None, error: None };
        match run(&gateway, file, max_source).await {
            Ok(()) => {}
            Err(Failed::Differs(text)) => {
                worst = worst.max(1);
                (tested.ok, tested.difference) = (false, Some(text));
            }
            Err(Failed::Broken(failure)) => {
                worst = worst.max(failure::exit_number_of(failure.kind()));
                (tested.ok, tested.error) = (false, Some(failure.told().0));
            }
        }
        if !arguments.json {
            show(&tested);
        }
        tests.push(tested);
    }
    let passed = tests.iter().filter(|tested| tested.ok).count();
    let failed = tests.len() - passed;
    if arguments.json {
        output::print_json(&Report { ok: failed == 0, passed, failed, tests: &tests });
    } else {
        output::print(format_args!("{passed} passed, {failed} failed"));
    }
    Ok(ExitCode::from(worst))
}

fn show(tested: &Tested) {
    let file = output::visible_line(&tested.file);
    match (&tested.difference, &tested.error) {
        (Some(difference), _) => output::print(format_args!("differs  {file}: {}", output::visible_line(difference))),
        (_, Some(error)) => output::print(format_args!("broken   {file}: {}", output::visible_line(error))),
        _ => output::print(format_args!("equal    {file}")),
    }
}

/// The tests of a path: the file itself, or those in the folder and below it, by name.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let before = files.len();
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    find_below(path, 0, files)?;
    if files.len() == before {
        let hint = format!("tests are files that end with {} or {}", ENDINGS[0], ENDINGS[1]);
        return Err(Failure::usage(format!("there are no tests in {}", path.display()), hint));
    }
    Ok(())
}

fn find_below(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let read = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = read.map_err(|error| unreadable(folder, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Links to folders are not followed, so that none leads back to an earlier one.
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
        let name = entry.file_name();
        if kind.is_dir() && depth < MAX_DEPTH {
            find_below(&entry.path(), depth + 1, files)?;
        } else if !kind.is_dir() && ENDINGS.iter().any(|ending| name.to_string_lossy().ends_with(ending)) {
            files.push(entry.path());
        }
        if files.len() > MAX_TESTS {
            let message = format!("there are more than {MAX_TESTS} tests");
            return Err(Failure::usage(message, "name a folder that has fewer"));
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let hint = "name recordings, fixtures, or folders that contain some";
    Failure::usage(format!("{} cannot be read: {error}", path.display()), hint)
}

async fn run(gateway: &Gateway, file: &Path, max_source: u64) -> Result<(), Failed> {
    let bytes = source::read_bytes(file, "a test", MAX_FIXTURE_BYTES.as_u64()).map_err(Failed::Broken)?;
    let broken = |error: &dyn std::fmt::Display| {
        Failed::Broken(Failure::usage(error.to_string(), "belljar replay FILE --fixture OUT writes fixtures"))
    };
    let fixture = match Recording::read(&bytes[..]) {
        Ok(recording) => return gateway.replay(&recording).await.map(drop).map_err(|error| failed(error, None)),
        Err(ReadError::Foreign) => {
            let text = str::from_utf8(&bytes).map_err(|error| broken(&error))?;
            Fixture::read(text, MAX_BYTES).map_err(|error| broken(&error))?
        }
        Err(error) => return Err(broken(&error)),
    };
    let outcome = match (fixture.matching, &fixture.script) {
        (Match::Exact, None) => gateway.replay(&fixture.recording).await,
        (Match::Exact, Some(_)) => return Err(broken(&"a fixture with its own script must be loose")),
        (Match::Loose, None) => gateway.rehearse(&fixture.recording.start().source, &fixture.recording).await,
        (Match::Loose, Some(script)) => {
            let script = script_of(file, script).map_err(Failed::Broken)?;
            let script = source::read(Some(&script), "the script of a test", max_source).map_err(Failed::Broken)?;
            gateway.rehearse(&script, &fixture.recording).await
        }
    };
    let outcome = outcome.map_err(|error| failed(error, Some(&fixture)))?;
    match fixture.difference(&outcome) {
        None => Ok(()),
        Some(difference) => Err(Failed::Differs(difference.to_string())),
    }
}

/// The script that a fixture names. Part of a failing script is shown, so a stranger's fixture must
/// not be able to name any other file of the user.
fn script_of(fixture: &Path, named: &str) -> Result<PathBuf, Failure> {
    let path = fixture.parent().unwrap_or(Path::new("")).join(named);
    let path = path.canonicalize().map_err(|error| {
        let message = format!("the script {} cannot be read: {error}", path.display());
        Failure::usage(message, "the fixture names it relative to its own folder")
    })?;
    if path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| SCRIPTS.contains(&ending)) {
        return Ok(path);
    }
    let message = format!("{} does not have the name of a script", path.display());
    Err(Failure::usage(message, format!("a fixture's script ends with one of .{}", SCRIPTS.join(", ."))))
}

fn failed(error: ReplayError, fixture: Option<&Fixture>) -> Failed {
    match error {
        ReplayError::Diverged(divergence) => {
            let outcome = divergence.outcome();
            let difference = fixture.zip(outcome).and_then(|(fixture, outcome)| fixture.difference(outcome));
            Failed::Differs(difference.map_or_else(|| divergence.to_string(), |difference| difference.to_string()))
        }
        ReplayError::Time(_) => Failed::Differs(error.to_string()),
        other => Failed::Broken(other.into()),
    }
}
