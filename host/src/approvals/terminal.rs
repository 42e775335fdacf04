//! The terminal at which a run was started: the person there is asked, one question at a time.
//!
//! Yes or no must be typed in full, or `any`: that approves any arguments of the tool under the
//! rule, for the rest of the run. A line that was typed before its question was shown is discarded;
//! anything else is asked again, and the end of the input is not an answer.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    sync::Arc,
    time::SystemTime,
};

use belljar_approvals::{By, Change, Channel, Decision, Group, QuestionId, State};
use belljar_ledger::{KeptQuestion, Ledger, QuestionFilter};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::sleep,
};

use super::{LOOK_EVERY, new_desk, shown};
use crate::{consent, failure::Failure, output, setup::Loaded};

/// A terminal at which questions are asked. It finds its questions by its number.
pub(crate) struct TerminalDesk {
    id: u64,
    task: JoinHandle<()>,
}

impl TerminalDesk {
    /// The terminal of this process, if there is one and there are rules that could ask.
    pub(crate) fn open(loaded: &Loaded) -> Result<Option<Self>, Failure> {
        if loaded.policy.is_none() || !consent::can_be_asked() {
            return Ok(None);
        }
        let id = new_desk()?;
        let ledger: Arc<dyn Ledger> = Arc::new(crate::setup::ledger_of(&loaded.config.ledger));
        Ok(Some(Self { id, task: tokio::spawn(look(id, ledger)) }))
    }

    /// Its number.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for TerminalDesk {
    fn drop(&mut self) {
        // A pending read of a line is abandoned: the process ends without waiting for it.
        self.task.abort();
    }
}

/// Asks each question once, as it comes, until it is aborted.
async fn look(desk: u64, ledger: Arc<dyn Ledger>) {
    let mut seen = BTreeSet::new();
    let mut is_there = true;
    loop {
        let asked =
            ledger.questions(QuestionFilter { open: true, desk: Some(desk), ..QuestionFilter::default() }).await;
        match asked {
            Ok(questions) => {
                for kept in questions.iter().filter(|kept| seen.insert(kept.question.id)) {
                    // One answer may have decided several questions.
                    if !is_open(&ledger, kept.question.id).await {
                        continue;
                    }
                    is_there = is_there && ask(desk, &ledger, kept).await;
                    if !is_there {
                        say_unanswered(&ledger, kept.question.id).await;
                    }
                }
            }
            Err(fault) => tracing::debug!("questions to the owner could not be read: {fault}"),
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Whether a question is open, as far as that is known.
async fn is_open(ledger: &Arc<dyn Ledger>, id: QuestionId) -> bool {
    match ledger.question_states(vec![id]).await {
        Ok(states) => states.iter().any(|(_, state)| *state == State::Open),
        Err(_) => true,
    }
}

/// Asks until yes, no or any is typed. Returns whether anybody answered.
async fn ask(desk: u64, ledger: &Arc<dyn Ledger>, kept: &KeptQuestion) -> bool {
    let id = kept.question.id;
    consent::forget_what_was_typed();
    output::say(format_args!("a rule asks you to decide about a call:\n{}", shown(&kept.question)));
    output::say(format_args!("any means {}", Group::of(&kept.question.binding)));
    loop {
        let answer = spawn_blocking(|| line("send it? type yes or no: ")).await;
        let Ok(Some(answer)) = answer else { return false };
        let decision =
            |approve| Decision { approve, by: By::Desk(desk), channel: Channel::Terminal, at: SystemTime::now() };
        let change = match answer.trim().to_lowercase().as_str() {
            "yes" => Change::Decide(id, decision(true)),
            "no" => Change::Decide(id, decision(false)),
            "any" => Change::Grant(id, decision(true)),
            _ => continue,
        };
        match ledger.change_question(change).await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => output::warn(format_args!("this decision does not count: {refusal}")),
            Err(fault) => output::warn(format_args!("this decision does not count: {fault}")),
        }
        return true;
    }
}

async fn say_unanswered(ledger: &Arc<dyn Ledger>, id: QuestionId) {
    if let Err(fault) = ledger.change_question(Change::End(id, State::Unanswered)).await {
        tracing::debug!("could not record that nobody answered: {fault}");
    }
}

/// A typed line, or `None` at the end of the input.
fn line(prompt: &str) -> Option<String> {
    let mut stderr = anstream::stderr();
    write!(stderr, "{prompt}").and_then(|()| stderr.flush()).ok()?;
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).ok()?;
    (read > 0).then_some(answer)
}
