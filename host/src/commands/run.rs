//! `belljar run`.

use std::{path::PathBuf, process::ExitCode};

use belljar_daemon::requests::{Execute, Origin};
use belljar_model::{LedgerLevel, RunId};
use clap::Args;
use futures::FutureExt as _;
use serde_json::value::RawValue;

use super::{
    assume::{self, Assume},
    component,
    recording::RecordingFile,
    source,
};
use crate::{
    approvals::TerminalDesk,
    arguments::{ConfigArguments, LimitArguments, NoDaemon, WorkspaceArgument},
    backend::{self, Meanwhile},
    failure::{self, Failure},
    help, output, render,
    setup::{self, Loaded},
    signals,
};

#[derive(Args)]
#[command(after_help = help::RUN)]
pub(crate) struct RunArguments {
    /// The script; without a file, or with -, it is read from stdin. A .wasm or .wat file is run as
    /// a component.
    #[arg(value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
    /// The script itself.
    #[arg(long, value_name = "TEXT")]
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Records the script's inputs in a file, for belljar replay. The file contains arguments and
    /// answers.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// What the ledger keeps of this run, instead of the configured `[ledger] level`: off, calls or
    /// recordings.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) ledger: Option<LedgerLevel>,
    /// The input of a component's run, as JSON.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["code", "plan"])]
    pub(crate) input: Option<String>,
    /// Prints which tools a component could call, with their effects and the rules' verdicts, and
    /// runs nothing.
    #[arg(long, conflicts_with_all = ["code", "record"])]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgument,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

#[derive(Args)]
pub(crate) struct ResumeArguments {
    /// The name of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunId,
    /// What to assume about calls that were sent but not answered when the run was interrupted.
    /// They are not sent again.
    #[arg(long, value_enum, value_name = "failed|done", hide_possible_values = true)]
    pub(crate) assume: Option<Assume>,
    /// Skips the prompt, if belljar.toml has `[approvals] allow_yes = true`.
    #[arg(long, requires = "assume")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

pub(crate) async fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    if let Some(file) = arguments.file.as_deref().filter(|file| component::is_component(file)) {
        return component::run(file, &arguments).await;
    }
    if arguments.plan || arguments.input.is_some() {
        let option = if arguments.plan { "--plan" } else { "--input" };
        let hint = "name a file that ends in .wasm or .wat; belljar check judges the calls of a script";
        return Err(Failure::usage(format!("{option} is for components"), hint));
    }
    let loaded = setup::read_to_call(&arguments.config)?;
    let limits = arguments.limits.patch.clone();
    let max_source = backend::raised(&limits, &loaded.limits()).max_source.as_u64();
    let script = match &arguments.code {
        Some(code) => code.clone(),
        None => source::read(arguments.file.as_deref(), "a script", max_source)?,
    };
    if script.trim().is_empty() {
        return Err(Failure::usage("the script is empty", "belljar run --help shows how to write one"));
    }
    let recording = arguments.record.as_deref().map(RecordingFile::new).transpose()?;
    let asked = Execute {
        code: Some(script),
        limits,
        ledger: arguments.ledger,
        workspace: Some(arguments.workspace.or_folder()),
        ..Execute::default()
    };
    executed(loaded, arguments.daemon, asked, recording, arguments.json).await
}

/// Resumes a run that waits for decisions.
pub(crate) async fn resume(arguments: ResumeArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read_to_call(&arguments.config)?;
    if let Some(assumed) = arguments.assume
        && !assume::assume(&loaded, arguments.run, assumed, arguments.yes).await?
    {
        return Ok(ExitCode::SUCCESS);
    }
    let asked = Execute { run: Some(arguments.run), ..Execute::default() };
    executed(loaded, arguments.daemon, asked, None, arguments.json).await
}

/// Executes the request, and shows the result.
pub(super) async fn executed(
    loaded: Loaded,
    daemon: NoDaemon,
    asked: Execute,
    recording: Option<RecordingFile>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let told_to_end = signals::told_to_end();
    let desk = TerminalDesk::open(&loaded)?;
    let asked = Execute {
        origin: Origin::Run,
        desk: desk.as_ref().map(TerminalDesk::id),
        max_recording: recording.is_some().then_some(loaded.config.ledger.max_recording),
        ..asked
    };
    let mut backend = backend::open(loaded, daemon).await?;
    let progress = backend.progress();
    let told = backend.execute(asked, Meanwhile::default(), told_to_end.boxed()).await;
    progress.end().await;
    let code = told.and_then(|told| {
        let code = show(&told.answer, json)?;
        if let Some(file) = &recording {
            file.write(told.recording.as_ref(), None)?;
        }
        Ok(code)
    });
    backend.close().await;
    code
}

/// Shows an outcome, and returns its exit code.
pub(super) fn show(outcome: &RawValue, json: bool) -> Result<ExitCode, Failure> {
    let seen = render::outcome::Seen::parse(outcome)?;
    if json {
        output::print_json_text(outcome.get());
    } else {
        render::outcome::show(&seen);
    }
    Ok(seen.error.as_ref().map_or(ExitCode::SUCCESS, |error| failure::exit_code_of(error.kind)))
}
