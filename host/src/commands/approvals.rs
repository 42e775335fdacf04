//! `belljar approvals`, `belljar approve` and `belljar deny`.

use std::{
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use belljar_approvals::{By, Change, Channel, Decision, QuestionId, Refusal};
use belljar_ledger::{KeptQuestion, Ledger as _, LedgerFault, QuestionFilter, SqliteLedger};
use belljar_model::{AskWay, ErrorKind, LedgerSettings, RunError};
use serde_json::{Value, json, value::RawValue};

use crate::{
    approvals::shown,
    arguments::{ApprovalsArguments, DecideArguments},
    consent,
    failure::Failure,
    output, setup,
};

/// The ledger of this user. What is decided is in it when the command ends.
fn ledger() -> SqliteLedger {
    setup::ledger_of(&LedgerSettings::default())
}

pub(crate) async fn approvals(arguments: ApprovalsArguments) -> Result<ExitCode, Failure> {
    let questions = open(&ledger()).await?;
    if arguments.json {
        let questions: Vec<_> = questions.iter().map(as_json).collect();
        output::print_json(&json!({ "approvals": questions }));
        return Ok(ExitCode::SUCCESS);
    }
    if questions.is_empty() {
        output::remark("nothing waits for a decision");
    }
    for kept in &questions {
        output::print(kept.question.id);
        output::print(shown(&kept.question));
    }
    Ok(ExitCode::SUCCESS)
}

/// The questions whose decision somebody waits for.
async fn open(ledger: &SqliteLedger) -> Result<Vec<KeptQuestion>, Failure> {
    let found = ledger.questions(QuestionFilter { open: true, ..QuestionFilter::default() }).await;
    let now = SystemTime::now();
    let is_open = |kept: &KeptQuestion| kept.is_waited_for && kept.question.binding.expires > now;
    Ok(found.map_err(unusable)?.into_iter().filter(is_open).collect())
}

fn as_json(kept: &KeptQuestion) -> Value {
    let question = &kept.question;
    let binding = &question.binding;
    let milliseconds = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    };
    let arguments = serde_json::from_str::<&RawValue>(&question.arguments).ok();
    json!({
        "id": question.id,
        "run": binding.run,
        "call": binding.number,
        "server": binding.tool.server(),
        "tool": binding.tool.tool(),
        "effect": question.effect,
        "arguments": arguments,
        "rule": binding.rule.as_deref(),
        "why": question.why.as_deref(),
        "principal": binding.principal.as_ref(),
        "asked_ms": milliseconds(question.asked),
        "expires_ms": milliseconds(binding.expires),
        "so_far": question.so_far,
        "here": question.for_command,
        "who": binding.ways,
    })
}

/// Decides a question.
pub(crate) async fn decide(arguments: DecideArguments, approve: bool) -> Result<ExitCode, Failure> {
    let ledger = ledger();
    let kept = found(&ledger, &arguments.id).await?;
    let question = &kept.question;
    if !question.binding.ways.has(AskWay::Cli) {
        return Err(refused(question.id, Refusal::OtherWay(question.binding.ways)));
    }
    if !question.for_command {
        let message = format!("{} is asked at the terminal where its run was started", question.id);
        return Err(Failure::usage(message, "type yes or no there"));
    }
    output::say(shown(question));
    let channel = if arguments.yes {
        if !question.allow_yes {
            let hint = "the owner's belljar.toml would have to say [approvals] allow_yes = true when the run begins";
            return Err(Failure::usage("--yes is not allowed here: a person has to type", hint));
        }
        Channel::Unattended
    } else {
        typed(approve)?;
        Channel::Command
    };
    let decision = Decision { approve, by: By::Owner, channel, at: SystemTime::now() };
    let decided = ledger.change_question(Change::Decide(question.id, decision)).await.map_err(unusable)?;
    ledger.close().await;
    decided.map_err(|refusal| refused(question.id, refusal))?;
    let run = question.binding.run;
    output::say(if approve { "approved: the call is sent if nothing has changed" } else { "denied" });
    output::remark(format_args!(
        "a run that was put aside goes on when its client asks for it again, or with: belljar resume {run}"
    ));
    Ok(ExitCode::SUCCESS)
}

/// Waits for a person to type what only this terminal shows.
fn typed(approve: bool) -> Result<(), Failure> {
    if !approve {
        return consent::types("no", "type no to deny: ");
    }
    let code = consent::code()?;
    consent::types(&code, &format!("type {code} to approve: "))
}

/// The question of this name, or the only open one whose name begins so.
async fn found(ledger: &SqliteLedger, name: &str) -> Result<KeptQuestion, Failure> {
    let open = open(ledger).await?;
    let mut begins = open.into_iter().filter(|kept| kept.question.id.to_string().starts_with(name));
    match (begins.next(), begins.next()) {
        (Some(kept), None) => return Ok(kept),
        (Some(_), Some(_)) if name.len() > 2 => {
            return Err(Failure::usage(format!("several questions begin with {name}"), "type more of the name"));
        }
        _ => {}
    }
    let id: QuestionId = name
        .parse()
        .map_err(|fault| Failure::usage(format!("{fault}"), "belljar approvals lists what waits for a decision"))?;
    let filter = QuestionFilter { id: Some(id), ..QuestionFilter::default() };
    let kept = ledger.questions(filter).await.map_err(unusable)?.into_iter().next();
    let kept = kept.ok_or_else(|| refused(id, Refusal::Unknown))?;
    let too_late = if kept.question.binding.expires <= SystemTime::now() { Refusal::TooLate } else { Refusal::Over };
    Err(refused(id, kept.state.decided(true).err().unwrap_or(too_late)))
}

fn refused(id: QuestionId, refusal: Refusal) -> Failure {
    RunError::new(ErrorKind::Denied, format!("{id} was not decided: {refusal}")).into()
}

fn unusable(fault: LedgerFault) -> Failure {
    Failure::config(fault.to_string(), fault.hint())
}
