//! Questions that wait for the owner's decision, as the page shows and decides them.
//!
//! A decision goes to the ledger like one of `belljar approve`, and is bound to the same things.

use std::time::SystemTime;

use belljar_approvals::{Binding, By, Change, Channel, Decision, Question, QuestionId};
use belljar_ledger::{KeptQuestion, Ledger, QuestionFilter};
use belljar_model::{AskWay, display};
use belljar_page::NotShown;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::source::{LedgerSource, unreadable};
use crate::approvals::{in_json, laid_out};

/// How many bytes of arguments the list has. Those of further questions are shown when they are
/// opened, so that no question is hidden by others.
const MAX_LISTED: usize = 2 * 1024 * 1024;

pub(super) async fn list(source: &LedgerSource) -> Result<Value, NotShown> {
    let waiting = QuestionFilter { waiting: true, ..QuestionFilter::default() };
    let questions = source.ledger()?.questions(waiting).await.map_err(unreadable)?;
    let shown = spawn_blocking(move || {
        let mut room = MAX_LISTED;
        let shown = questions.iter().map(|KeptQuestion { question, .. }| {
            let bytes = question.arguments.len();
            let has_room = bytes <= room;
            room -= if has_room { bytes } else { 0 };
            as_shown(question, has_room)
        });
        json!({ "approvals": shown.collect::<Vec<_>>() })
    });
    shown.await.map_err(|error| NotShown::Failed(format!("the questions cannot be shown: {error}")))
}

/// How many there are.
pub(super) async fn count(source: &LedgerSource) -> Result<Value, NotShown> {
    Ok(json!({ "waiting": source.ledger()?.waiting_questions().await.map_err(unreadable)? }))
}

/// One question, if it can be decided here, with its identity.
pub(super) async fn one(source: &LedgerSource, id: String) -> Result<(Value, String), NotShown> {
    let question = waiting(&*source.ledger()?, &id).await?;
    match not_here(&question) {
        Some(why) => Err(NotShown::Refused(why)),
        None => Ok((as_shown(&question, true), identity(&question))),
    }
}

pub(super) async fn decide(source: &LedgerSource, id: String, shown: String, approve: bool) -> Result<(), NotShown> {
    let ledger = source.ledger()?;
    let question = waiting(&*ledger, &id).await?;
    if identity(&question) != shown {
        let message = "nothing is decided: the call is not the one that was shown; look at it again";
        return Err(NotShown::Refused(message.to_owned()));
    }
    let decision = Decision { approve, by: By::Owner, channel: Channel::Page, at: SystemTime::now() };
    let changed = ledger.change_question(Change::Decide(question.id, decision)).await.map_err(unreadable)?;
    changed.map_err(|refusal| NotShown::Refused(format!("nothing is decided: {refusal}")))
}

async fn waiting(ledger: &dyn Ledger, id: &str) -> Result<Question, NotShown> {
    let id: QuestionId = id.parse().map_err(|fault| NotShown::Unknown(format!("{fault}")))?;
    let filter = QuestionFilter { waiting: true, id: Some(id), ..QuestionFilter::default() };
    let found = ledger.questions(filter).await.map_err(unreadable)?.into_iter().next();
    let over =
        || NotShown::Refused(format!("{id} does not wait any more: it was decided, has expired, or its run is over"));
    found.map(|kept| kept.question).ok_or_else(over)
}

/// Why a question cannot be decided on the page, if it cannot.
fn not_here(question: &Question) -> Option<String> {
    let ways = question.binding.ways;
    if !ways.has(AskWay::Page) {
        return Some(format!("its rule does not name the page; it is asked by {ways}"));
    }
    (!question.for_command).then(|| "it is asked where its run was started".to_owned())
}

fn as_shown(question: &Question, with_arguments: bool) -> Value {
    let mut shown = in_json(question);
    if let Some(shown) = shown.as_object_mut() {
        // The page shows the arguments as text, which keeps every digit. A JavaScript number may
        // not.
        shown.remove("arguments");
        if with_arguments {
            shown.insert("arguments_text".to_owned(), laid_out(&question.arguments).into());
            shown.insert("arguments_sent".to_owned(), display::json(&question.arguments).into());
        }
        shown.insert("arguments_bytes".to_owned(), question.arguments.len().into());
        shown.insert("not_here".to_owned(), not_here(question).into());
    }
    shown
}

/// Everything that a decision is bound to.
fn identity(question: &Question) -> String {
    let Binding { run, number, tool, arguments, definition, rule, ways, principal, expires } = &question.binding;
    let asked = belljar_approvals::digest(question.arguments.as_bytes());
    format!(
        "{run:?} {number} {tool:?} {arguments:?} {definition:?} {rule:?} {ways:?} {principal:?} {expires:?} {asked:?}"
    )
}
