//! `belljar resume --assume`: the owner says what became of calls that a run had sent when it was
//! interrupted.

use belljar_ledger::{Assumption, CallState, KeptCall, Ledger as _, LedgerError, NotResting};
use belljar_model::{Effect, ErrorKind, RunError, RunId};

use crate::{
    consent,
    failure::Failure,
    output::{self, visible_line},
    setup::{self, Loaded},
};

/// What happened to the calls that were sent.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Assume {
    Failed,
    Done,
}

/// Records the assumption after a person has typed a code, or if `--yes` was given and is allowed.
/// Returns whether the run can be resumed here: the run of another principal is resumed when that
/// principal asks again.
pub(super) async fn assume(loaded: &Loaded, run: RunId, assumed: Assume, yes: bool) -> Result<bool, Failure> {
    let ledger = setup::ledger_of(&loaded.config.ledger);
    let Some((kept, calls)) = ledger.run(run).await.map_err(unusable)? else {
        return Err(Failure::usage(format!("the ledger has no run {run}"), "`belljar runs` lists its runs"));
    };
    let refused = |reason: NotResting| {
        Failure::from(RunError::new(ErrorKind::Usage, format!("nothing is assumed of {run}: {reason}")))
    };
    match ledger.resting(run).await.map_err(unusable)? {
        Err(NotResting::Interrupted) => {}
        Ok(resting) if resting.assumed.is_some() => {}
        Ok(_) => return Err(refused(NotResting::Waits)),
        Err(reason) => return Err(refused(reason)),
    }
    // Calls that were sent after the run was put aside.
    let is_lost = |call: &&KeptCall| {
        call.state != CallState::Denied
            && call.trusted != Effect::ReadOnly
            && kept.took.is_none_or(|took| call.begun >= took)
    };
    let lost: Vec<&KeptCall> = calls.iter().filter(is_lost).collect();
    for call in &lost {
        let tool = call.tool.to_string();
        output::say(format_args!("  call {}  {}  {}", call.number, visible_line(&tool), known(call.state)));
    }
    let (word, assumed) = match assumed {
        Assume::Failed => ("failed", Assumption::Failed),
        Assume::Done => ("were done", Assumption::Done),
    };
    output::say(format_args!("you say that those without an answer {word}; none of them is sent again"));
    consent::owner_agrees(yes, || Ok(loaded.config.approvals.allow_yes), "say so")?;
    let noted = ledger.assume(run, assumed).await.map_err(unusable)?;
    ledger.close().await;
    noted.map_err(refused)?;
    if let Some(principal) = &kept.principal {
        let name = visible_line(principal);
        output::say(format_args!("noted: the run goes on when {name}, who asked for it, asks for it again"));
        return Ok(false);
    }
    Ok(true)
}

fn known(state: CallState) -> &'static str {
    match state {
        CallState::Ok => "it was done, and its answer is lost",
        CallState::ToolError => "it failed, and its answer is lost",
        CallState::AssumedDone => "no answer: assumed to have been done",
        CallState::AssumedFailed => "no answer: assumed to have failed",
        CallState::Sent | CallState::Fault | CallState::Denied => "no answer: it may have taken effect",
    }
}

fn unusable(fault: LedgerError) -> Failure {
    Failure::config(fault.to_string(), fault.hint())
}
