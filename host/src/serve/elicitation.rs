//! The client's user, asked by a form. It is for clients of the initialize era, which accept
//! requests from a server.
//!
//! Some clients answer forms by themselves: they accept without content, decline, or fill in the
//! first value of each list. So only an explicit decision in the content counts, and the first
//! value is `deny`. Anything else means "not answered", and the question stays open for the owner's
//! other ways to decide.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc, time::SystemTime};

use belljar_approvals::{By, Change, Channel, Decision, Question, QuestionId};
use belljar_ledger::{Ledger, QuestionFilter};
use futures::stream::{FuturesUnordered, StreamExt as _};
use rmcp::{
    RoleServer, ServiceError,
    model::{ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, ServerRequest},
    service::{Peer, PeerRequestOptions, RequestHandle},
};
use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    sync::watch,
    time::{sleep, timeout},
};

use crate::approvals::{LOOK_EVERY, shown};

/// The word that approves. Filling in the first value of a list denies.
const APPROVE: &str = "approve this call";
const DENY: &str = "deny";
/// Forms that a client has at one time. A further question waits until one of them is answered, or
/// decided elsewhere.
const MAX_FORMS: usize = 8;

/// Asks the client's user each question of this desk once, as it comes. It never ends. Forms that
/// are no longer relevant are withdrawn.
pub(super) async fn ask(peer: &Peer<RoleServer>, desk: u64, ledger: &Arc<dyn Ledger>) -> Infallible {
    let mut seen = BTreeSet::new();
    let open = watch::Sender::new(BTreeSet::new());
    let mut forms = FuturesUnordered::new();
    loop {
        match ledger.questions(QuestionFilter { open: true, desk: Some(desk), ..QuestionFilter::default() }).await {
            Ok(questions) => {
                open.send_replace(questions.iter().map(|kept| kept.question.id).collect());
                for kept in questions {
                    if forms.len() < MAX_FORMS && seen.insert(kept.question.id) {
                        forms.push(one(peer, desk, ledger, kept.question, open.subscribe()));
                    }
                }
            }
            Err(fault) => tracing::debug!("questions to the owner could not be read: {fault}"),
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => {}
            Some(()) = forms.next() => {}
        }
    }
}

async fn one(
    peer: &Peer<RoleServer>,
    desk: u64,
    ledger: &Arc<dyn Ledger>,
    question: Question,
    mut open: watch::Receiver<BTreeSet<QuestionId>>,
) {
    let Some(form) = form(&question) else { return };
    let left = question.binding.expires.duration_since(SystemTime::now()).unwrap_or_default();
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let mut form = match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
        Ok(request) => Form(Some(request)),
        Err(error) => return unasked(&error),
    };
    let answer = tokio::select! {
        answer = timeout(left, form.answer()) => answer,
        // It was decided elsewhere, or nobody waits for it any more.
        _ = open.wait_for(|open| !open.contains(&question.id)) => return,
    };
    let answer = match answer {
        Ok(Ok(ClientResult::ElicitResult(answer))) => answer,
        Ok(Ok(_)) | Err(_) => return,
        Ok(Err(error)) => return unasked(&error),
    };
    let content = (answer.action == ElicitationAction::Accept).then_some(answer.content).flatten();
    let Some(approve) = content.as_ref().and_then(decided) else {
        tracing::info!("the client's answer to a question has no decision, and does not count");
        return;
    };
    let decision = Decision { approve, by: By::Desk(desk), channel: Channel::Elicitation, at: SystemTime::now() };
    match ledger.change_question(Change::Decide(question.id, decision)).await {
        Ok(Ok(())) => {}
        Ok(Err(refusal)) => tracing::info!("a decision from the client's form does not count: {refusal}"),
        Err(fault) => tracing::warn!("a decision by the client's form was not kept: {fault}"),
    }
}

fn unasked(error: &ServiceError) {
    tracing::info!("the client did not put a question to its user: {error}");
}

/// A form that the client shows. If it is dropped without an answer, the client is told to withdraw
/// it.
struct Form(Option<RequestHandle<RoleServer>>);

impl Form {
    async fn answer(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(request) = &mut self.0 else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut request.rx).await;
        self.0 = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Form {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = request.cancel(Some("it is decided, or not asked any more".to_owned())).await {
                    tracing::debug!("the client could not be told to withdraw a form: {error}");
                }
            });
        }
    }
}

/// The decision in a form's content, if it is explicit.
pub(super) fn decided(content: &Value) -> Option<bool> {
    match content.get("decision")?.as_str()? {
        APPROVE => Some(true),
        DENY => Some(false),
        _ => None,
    }
}

pub(super) fn form(question: &Question) -> Option<ElicitRequestParams> {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Your decision", "enum": [DENY, APPROVE] }
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = format!("One of your rules in belljar asks you to decide about a call:\n{}", shown(question));
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
