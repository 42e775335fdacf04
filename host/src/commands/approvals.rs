//! `belljar approvals`, `belljar approve` and `belljar deny`.

use std::{collections::BTreeSet, process::ExitCode, time::SystemTime};

use belljar_approvals::{By, Change, Channel, Decision, Group, QuestionId, Refusal};
use belljar_ledger::{KeptQuestion, Ledger as _, LedgerError, QuestionFilter, SqliteLedger};
use belljar_model::{AskWay, ErrorKind, LedgerSettings, RunError, RunId};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    approvals::{in_json, shown},
    consent,
    failure::Failure,
    output,
    render::count::counted,
    setup,
};

#[derive(Args)]
pub(crate) struct ApprovalsArguments {
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ApproveArguments {
    #[command(flatten)]
    pub(crate) decide: DecideArguments,
    /// Approves the tool, as it is defined now, with any arguments under this rule, for the rest of
    /// the run.
    #[arg(long)]
    pub(crate) any_arguments: bool,
}

#[derive(Args)]
pub(crate) struct DecideArguments {
    /// Names of questions, or their beginnings, as listed by belljar approvals; or a run, for all
    /// its questions.
    #[arg(value_name = "ID|RUN", required = true)]
    pub(crate) words: Vec<String>,
    /// Skips the prompt, if belljar.toml has `[approvals] allow_yes = true`.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The ledger of this user. Decisions are stored by the time the command ends.
fn ledger() -> SqliteLedger {
    setup::ledger_of(&LedgerSettings::default())
}

pub(crate) async fn approvals(arguments: ApprovalsArguments) -> Result<ExitCode, Failure> {
    let questions = open(&ledger(), None).await?;
    if arguments.json {
        let questions: Vec<_> = grouped(&questions).into_iter().flat_map(|(_, group)| group).map(as_json).collect();
        output::print_json(&json!({ "approvals": questions }));
        return Ok(ExitCode::SUCCESS);
    }
    if questions.is_empty() {
        output::remark("nothing waits for a decision");
    }
    for (group, questions) in grouped(&questions) {
        if questions.len() > 1 {
            output::print(format_args!("{}: {} of {}", group.run, counted(questions.len(), "call"), group.named()));
        }
        for kept in questions {
            output::print(kept.question.id);
            output::print(shown(&kept.question));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The questions that somebody waits for, of this run or of all.
async fn open(ledger: &SqliteLedger, run: Option<RunId>) -> Result<Vec<KeptQuestion>, Failure> {
    let filter = QuestionFilter { waiting: true, run, ..QuestionFilter::default() };
    ledger.questions(filter).await.map_err(unusable)
}

/// Whether `belljar approve` may decide a question.
fn is_here(kept: &KeptQuestion) -> bool {
    kept.question.for_command && kept.question.binding.ways.has(AskWay::Cli)
}

fn as_json(kept: &KeptQuestion) -> Value {
    let mut shown = in_json(&kept.question);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("here".to_owned(), is_here(kept).into());
    }
    shown
}

/// Approves the named calls, or any arguments of them.
pub(crate) async fn approve(arguments: ApproveArguments) -> Result<ExitCode, Failure> {
    let ApproveArguments { decide: arguments, any_arguments } = arguments;
    decide(&arguments, if any_arguments { Wanted::AnyArguments } else { Wanted::These }).await
}

/// Denies the named calls.
pub(crate) async fn deny(arguments: DecideArguments) -> Result<ExitCode, Failure> {
    decide(&arguments, Wanted::Denied).await
}

/// What happens to the named calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// They are not sent.
    Denied,
    /// They are sent.
    These,
    /// They are sent, and so are later ones of the same group.
    AnyArguments,
}

async fn decide(arguments: &DecideArguments, wanted: Wanted) -> Result<ExitCode, Failure> {
    let ledger = ledger();
    let mut chosen: Vec<KeptQuestion> = Vec::new();
    for word in &arguments.words {
        for kept in named(&ledger, word).await? {
            if chosen.iter().all(|known| known.question.id != kept.question.id) {
                chosen.push(kept);
            }
        }
    }
    let groups = grouped(&chosen);
    show(&groups);
    let channel = if arguments.yes {
        if chosen.iter().any(|kept| !kept.question.allow_yes) {
            let hint = "--yes needs [approvals] allow_yes = true in the owner's belljar.toml when the run begins";
            return Err(Failure::usage("--yes is not allowed here: a person has to confirm", hint));
        }
        Channel::Unattended
    } else {
        typed(&groups, wanted)?;
        Channel::Command
    };
    let decision = Decision { approve: wanted != Wanted::Denied, by: By::Owner, channel, at: SystemTime::now() };
    let changes: Vec<(QuestionId, Change)> = match wanted {
        // One of each group stands for all of them.
        Wanted::AnyArguments => {
            let first = groups.iter().filter_map(|(_, group)| Some(group.first()?.question.id));
            first.map(|id| (id, Change::Grant(id, decision))).collect()
        }
        Wanted::These | Wanted::Denied => {
            let ids = chosen.iter().map(|kept| kept.question.id);
            ids.map(|id| (id, Change::Decide(id, decision))).collect()
        }
    };
    let mut refusals = Vec::new();
    for (id, change) in changes {
        if let Err(refusal) = ledger.change_question(change).await.map_err(unusable)? {
            refusals.push((id, refusal));
        }
    }
    ledger.close().await;
    if let ([(id, refusal)], [_]) = (refusals.as_slice(), chosen.as_slice()) {
        return Err(refused(*id, *refusal));
    }
    for (id, refusal) in &refusals {
        output::warn(format_args!("{id} was not decided: {refusal}"));
    }
    output::say(match wanted {
        Wanted::Denied => "denied",
        Wanted::These => "approved: the call is sent if nothing has changed",
        Wanted::AnyArguments => "approved: such calls are sent if nothing has changed, until the run ends",
    });
    for run in chosen.iter().map(|kept| kept.question.run()).collect::<BTreeSet<_>>() {
        output::remark(format_args!(
            "a run that was put aside goes on when its client asks for it again, or with: belljar resume {run}"
        ));
    }
    Ok(if refusals.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The questions of one run, of one tool, by one rule.
type Grouped<'q> = Vec<(Group, Vec<&'q KeptQuestion>)>;

/// The questions by group, the oldest first.
fn grouped(questions: &[KeptQuestion]) -> Grouped<'_> {
    let mut groups: Grouped<'_> = Vec::new();
    for kept in questions {
        let group = Group::of(&kept.question.binding);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, of_group)) => of_group.push(kept),
            None => groups.push((group, vec![kept])),
        }
    }
    groups
}

/// Shows each question, combined for each group.
fn show(groups: &Grouped<'_>) {
    for (group, questions) in groups {
        if questions.len() > 1 {
            output::say(format_args!("{}: {} of {}", group.run, counted(questions.len(), "call"), group.named()));
        }
        for kept in questions {
            if groups.len() > 1 || questions.len() > 1 {
                output::say(kept.question.id);
            }
            output::say(shown(&kept.question));
        }
    }
}

/// Waits for a person to type what only this terminal shows.
fn typed(groups: &Grouped<'_>, wanted: Wanted) -> Result<(), Failure> {
    let calls: usize = groups.iter().map(|(_, group)| group.len()).sum();
    let these = if calls > 1 { format!(" these {calls} calls") } else { String::new() };
    match wanted {
        Wanted::Denied => consent::types("no", &format!("type no to deny{these}: ")),
        Wanted::These => {
            let code = consent::code()?;
            consent::types(&code, &format!("type {code} to approve{these}: "))
        }
        Wanted::AnyArguments => {
            for (group, _) in groups {
                output::say(format_args!("{}: {group}", group.run));
            }
            let code = consent::code()?;
            consent::types(&code, &format!("type {code} to approve that: "))
        }
    }
}

/// The questions that a word names: by its full name, by a unique prefix of an open one, or all
/// that a run asks here.
async fn named(ledger: &SqliteLedger, word: &str) -> Result<Vec<KeptQuestion>, Failure> {
    if !word.starts_with("r_") {
        let kept = found(ledger, word).await?;
        let question = &kept.question;
        if !question.binding.ways.has(AskWay::Cli) {
            return Err(refused(question.id, Refusal::OtherWay(question.binding.ways)));
        }
        if !question.for_command {
            let message = format!("{} is asked at the terminal where its run was started", question.id);
            return Err(Failure::usage(message, "type yes or no there"));
        }
        return Ok(vec![kept]);
    }
    let open = open(ledger, word.parse().ok()).await?;
    let of_run: Vec<KeptQuestion> =
        open.into_iter().filter(|kept| kept.question.run().to_string().starts_with(word)).collect();
    if of_run.iter().map(|kept| kept.question.run()).collect::<BTreeSet<_>>().len() > 1 {
        return Err(Failure::usage(format!("several runs begin with {word}"), "type more of the name"));
    }
    let (here, elsewhere): (Vec<_>, Vec<_>) = of_run.into_iter().partition(is_here);
    match (here.is_empty(), elsewhere.len()) {
        (true, 0) => Err(Failure::usage(
            format!("no call of {word} waits for a decision"),
            "belljar approvals lists what waits for a decision",
        )),
        (true, _) => Err(Failure::usage(
            format!("the questions of {word} cannot be decided here"),
            "belljar approvals shows who is asked about each question",
        )),
        (false, 0) => Ok(here),
        (false, others) => {
            output::note(format_args!("{} of it cannot be decided here", counted(others, "other call")));
            Ok(here)
        }
    }
}

/// The question with this name, or the only open one with this prefix.
async fn found(ledger: &SqliteLedger, name: &str) -> Result<KeptQuestion, Failure> {
    let parsed = name.parse::<QuestionId>();
    if parsed.is_err() {
        let open = open(ledger, None).await?;
        let mut begins = open.into_iter().filter(|kept| kept.question.id.to_string().starts_with(name));
        match (begins.next(), begins.next()) {
            (Some(kept), None) => return Ok(kept),
            (Some(_), Some(_)) if name.len() > 2 => {
                return Err(Failure::usage(format!("several questions begin with {name}"), "type more of the name"));
            }
            _ => {}
        }
    }
    let id = parsed
        .map_err(|fault| Failure::usage(format!("{fault}"), "belljar approvals lists what waits for a decision"))?;
    let by_id = QuestionFilter { id: Some(id), ..QuestionFilter::default() };
    let waiting = ledger.questions(QuestionFilter { waiting: true, ..by_id }).await.map_err(unusable)?;
    if let Some(kept) = waiting.into_iter().next() {
        return Ok(kept);
    }
    let kept = ledger.questions(by_id).await.map_err(unusable)?.into_iter().next();
    let kept = kept.ok_or_else(|| refused(id, Refusal::Unknown))?;
    let too_late = if kept.question.binding.expires <= SystemTime::now() { Refusal::TooLate } else { Refusal::Over };
    Err(refused(id, kept.state.decided(true).err().unwrap_or(too_late)))
}

fn refused(id: QuestionId, refusal: Refusal) -> Failure {
    RunError::new(ErrorKind::Denied, format!("{id} was not decided: {refusal}")).into()
}

fn unusable(fault: LedgerError) -> Failure {
    Failure::config(fault.to_string(), fault.hint())
}
