//! The client's user, asked by a form. It is for clients of the initialize era, which take requests from a server.
//!
//! Clients answer forms by themselves: some accept with nothing in it, some decline, some fill in
//! the first value of each list. So only an explicit decision in the content counts, and the first
//! value is `deny`. All else is "not answered", and the question stays open for the owner's other
//! ways to decide.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc, time::SystemTime};

use belljar_approvals::{By, Change, Channel, Decision, Question};
use belljar_ledger::{Ledger, QuestionFilter};
use rmcp::{
    RoleServer,
    model::{ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, ServerRequest},
    service::Peer,
};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::approvals::{LOOK_EVERY, shown};

/// The word that approves. Whatever fills in the first value of a list denies.
const APPROVE: &str = "approve this call";
const DENY: &str = "deny";

/// Asks the client's user each question of this desk once, as it comes. It never ends.
pub(super) async fn ask(peer: &Peer<RoleServer>, desk: u64, ledger: &Arc<dyn Ledger>) -> Infallible {
    let mut seen = BTreeSet::new();
    loop {
        match ledger.questions(QuestionFilter { open: true, desk: Some(desk), ..QuestionFilter::default() }).await {
            Ok(questions) => {
                for kept in questions.iter().filter(|kept| seen.insert(kept.question.id)) {
                    one(peer, desk, ledger, &kept.question).await;
                }
            }
            Err(fault) => tracing::debug!("questions to the owner could not be read: {fault}"),
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn one(peer: &Peer<RoleServer>, desk: u64, ledger: &Arc<dyn Ledger>, question: &Question) {
    let Some(form) = form(question) else { return };
    let left = question.binding.expires.duration_since(SystemTime::now()).unwrap_or_default();
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let answer = match timeout(left, peer.send_request(request)).await {
        Ok(Ok(ClientResult::ElicitResult(answer))) => answer,
        Ok(Ok(_)) | Err(_) => return,
        Ok(Err(error)) => {
            tracing::info!("the client did not put a question to its user: {error}");
            return;
        }
    };
    let content = (answer.action == ElicitationAction::Accept).then_some(answer.content).flatten();
    let Some(approve) = content.as_ref().and_then(decided) else {
        tracing::info!("the client's answer to a question has no decision in it, and counts for none");
        return;
    };
    let decision = Decision { approve, by: By::Desk(desk), channel: Channel::Elicitation, at: SystemTime::now() };
    match ledger.change_question(Change::Decide(question.id, decision)).await {
        Ok(Ok(())) => {}
        Ok(Err(refusal)) => tracing::info!("a decision by the client's form counts for nothing: {refusal}"),
        Err(fault) => tracing::warn!("a decision by the client's form was not kept: {fault}"),
    }
}

/// What a form's content says: nothing, unless it says just that.
fn decided(content: &Value) -> Option<bool> {
    match content.get("decision")?.as_str()? {
        APPROVE => Some(true),
        DENY => Some(false),
        _ => None,
    }
}

fn form(question: &Question) -> Option<ElicitRequestParams> {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Your decision", "enum": [DENY, APPROVE] }
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = format!("A rule of yours in belljar wants you to decide about a call:\n{}", shown(question));
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_decision_counts() {
        assert_eq!(decided(&json!({ "decision": "approve this call" })), Some(true));
        assert_eq!(decided(&json!({ "decision": "deny" })), Some(false));
        for content in [
            json!({}),
            json!(null),
            json!({ "decision": true }),
            json!({ "decision": "" }),
            json!({ "decision": "yes" }),
            json!({ "decision": "Approve this call" }),
            json!({ "confirm": true, "approve": "approve this call" }),
            json!("approve this call"),
        ] {
            assert_eq!(decided(&content), None, "{content}");
        }
    }
}
