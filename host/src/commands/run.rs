//! `belljar run`.

use std::process::ExitCode;

use belljar_daemon::{
    Client,
    requests::{Execute, Origin},
};
use belljar_model::{ByteSize, LedgerLevel, LimitsPatch, Recorded, RunId};
use belljar_upstream::Caller;
use serde_json::value::{RawValue, to_raw_value};

use super::{assume, recording::RecordingFile, source};
use crate::{
    approvals::{self, TerminalDesk},
    arguments::{ResumeArguments, RunArguments},
    daemon,
    failure::{self, Failure},
    output, render,
    setup::{self, Loaded, Setup},
    signals,
};

pub(crate) async fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read_to_call(&arguments.config)?;
    let limits = arguments.limits.patch.clone();
    let max_source = limits.over(&loaded.limits()).max_source.as_u64();
    let script = match &arguments.code {
        Some(code) => code.clone(),
        None => source::read(arguments.file.as_deref(), "a script", max_source)?,
    };
    if script.trim().is_empty() {
        return Err(Failure::usage("the script is empty", "belljar run --help shows how to write one"));
    }
    let wanted = Wanted {
        recording: arguments.record.as_deref().map(RecordingFile::new).transpose()?,
        max_recording: loaded.config.ledger.max_recording,
        level: arguments.ledger,
        json: arguments.json,
    };
    let told_to_end = signals::told_to_end();
    let desk = TerminalDesk::open(&loaded)?;
    let desk_id = desk.as_ref().map(TerminalDesk::id);
    let work = Work::Script(script);
    match daemon::reach(&loaded, arguments.daemon).await? {
        Some(client) => there(client, &work, &limits, &wanted, desk_id, told_to_end).await,
        None => here(loaded, work, &limits, &wanted, desk_id, told_to_end).await,
    }
}

/// Goes on with a run that waits for decisions.
pub(crate) async fn resume(arguments: ResumeArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read_to_call(&arguments.config)?;
    if let Some(assumed) = arguments.assume
        && !assume::assume(&loaded, arguments.run, assumed, arguments.yes).await?
    {
        return Ok(ExitCode::SUCCESS);
    }
    let max_recording = loaded.config.ledger.max_recording;
    let wanted = Wanted { recording: None, max_recording, level: None, json: arguments.json };
    let told_to_end = signals::told_to_end();
    let desk = TerminalDesk::open(&loaded)?;
    let desk_id = desk.as_ref().map(TerminalDesk::id);
    let (work, limits) = (Work::Run(arguments.run), LimitsPatch::default());
    match daemon::reach(&loaded, arguments.daemon).await? {
        Some(client) => there(client, &work, &limits, &wanted, desk_id, told_to_end).await,
        None => here(loaded, work, &limits, &wanted, desk_id, told_to_end).await,
    }
}

/// What is to be done.
enum Work {
    /// A script is run.
    Script(String),
    /// A run goes on that waits.
    Run(RunId),
}

/// What is to become of the outcome.
struct Wanted {
    recording: Option<RecordingFile>,
    max_recording: ByteSize,
    /// How much the ledger is to keep, if that is not what it keeps of all runs.
    level: Option<LedgerLevel>,
    json: bool,
}

/// Runs the script in the daemon.
async fn there(
    mut client: Client,
    work: &Work,
    limits: &LimitsPatch,
    wanted: &Wanted,
    desk: Option<u64>,
    told_to_end: impl Future<Output = ()>,
) -> Result<ExitCode, Failure> {
    let (code, run) = match work {
        Work::Script(script) => (Some(script.clone()), None),
        Work::Run(run) => (None, Some(*run)),
    };
    let asked = Execute {
        code,
        run,
        limits: limits.clone(),
        max_recording: wanted.recording.is_some().then_some(wanted.max_recording),
        ledger: wanted.level,
        origin: Origin::Run,
        desk,
        ..Execute::default()
    };
    let progress = render::progress::show_of_daemon(&client);
    let told = client.ask_until(&asked, told_to_end).await.map_err(daemon::failed);
    progress.end().await;
    let told = told?;
    wanted.finish(&told.answer, told.recording.as_ref())
}

/// Runs the script in this process, with children of its own.
async fn here(
    loaded: Loaded,
    work: Work,
    limits: &LimitsPatch,
    wanted: &Wanted,
    desk: Option<u64>,
    told_to_end: impl Future<Output = ()> + Send,
) -> Result<ExitCode, Failure> {
    let asked = match &work {
        Work::Script(_) => approvals::asked_at_command(&loaded.config.approvals, desk),
        Work::Run(_) => approvals::asked(&loaded.config.approvals, approvals::at_terminal(desk), true),
    };
    let setup = Setup::of(loaded);
    let mut gateway = setup.gateway(limits).await?.with_origin("run").with_approvals(asked);
    if wanted.recording.is_some() {
        gateway = gateway.with_recording(wanted.max_recording);
    }
    if let Some(level) = wanted.level {
        gateway = gateway.with_ledger_level(level);
    }
    let progress = render::progress::show(setup.toolbox.upstream());
    let mut outcome = match work {
        Work::Script(script) => gateway.execute_until(script, &LimitsPatch::default(), told_to_end).await,
        Work::Run(run) => gateway.resume_for(Caller::default(), run, told_to_end).await,
    };
    progress.end().await;
    let stopped = async { futures::join!(setup.toolbox.shutdown(), setup.told.close()) };
    let recording = outcome.recording.take();
    let outcome =
        to_raw_value(&outcome).map_err(|error| Failure::internal(format!("the outcome is not JSON: {error}")))?;
    let code = wanted.finish(&outcome, recording.as_ref());
    stopped.await;
    code
}

impl Wanted {
    fn finish(&self, outcome: &RawValue, recording: Option<&Recorded>) -> Result<ExitCode, Failure> {
        let code = show(outcome, self.json)?;
        if let Some(file) = &self.recording {
            file.write(recording)?;
        }
        Ok(code)
    }
}

/// Shows an outcome, and gives the exit code for it.
pub(super) fn show(outcome: &RawValue, json: bool) -> Result<ExitCode, Failure> {
    let seen = render::outcome::Seen::parse(outcome)?;
    if json {
        output::print_json_text(outcome.get());
    } else {
        render::outcome::show(&seen);
    }
    Ok(seen.error.as_ref().map_or(ExitCode::SUCCESS, |error| failure::exit_code_of(error.kind)))
}
