//! The client's user, asked in place of an answer. It is for clients of the revision without
//! sessions, which accept no requests from a server: they are told what is needed, and send the
//! same request again with it.
//!
//! A run that waits for decisions is put aside at once, and the client gets a form for each
//! question (`elicitation.rs` defines what counts as a decision) and a sealed state
//! (`request_state.rs`). With the decisions the run is resumed. A client is not asked the same
//! question twice in one call: a client that answers by itself would be asked for ever.

use std::{collections::BTreeSet, sync::Arc, time::SystemTime};

use belljar_approvals::{By, Change, Channel, Decision, Question, Refusal};
use belljar_ledger::{Ledger, LedgerError, QuestionFilter};
use belljar_model::{ErrorKind, LimitsPatch, Outcome, RunError, RunId};
use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult,
        ElicitationAction, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    },
};
use serde_json::Value;

use super::{
    answer::told,
    elicitation,
    request_state::{RequestState, request_digest},
    requests::ExecuteRequest,
};
use crate::approvals;

/// Bytes of all forms of a round. Questions that do not fit are asked in a later one.
const MAX_FORMS_BYTES: usize = 1 << 20;

/// What a client sends with a repeated request.
pub(super) struct Retry {
    responses: InputResponses,
    state: Option<String>,
}

impl Retry {
    /// Takes it out of a request.
    pub(super) fn of(request: &mut CallToolRequestParams) -> Option<Self> {
        let (responses, state) = (request.input_responses.take(), request.request_state.take());
        (responses.is_some() || state.is_some()).then(|| Self { responses: responses.unwrap_or_default(), state })
    }
}

/// The client of one request, with what is needed to ask it.
pub(super) struct Rounds<'a> {
    pub(super) ledger: &'a Arc<dyn Ledger>,
    /// Who asks; `None` for the owner.
    pub(super) principal: Option<&'a str>,
}

/// The work of one round.
pub(super) struct Round {
    /// The script to run, or the run to resume.
    request: ExecuteRequest,
    /// The place where its questions are asked.
    pub(super) desk: u64,
    /// Whether a waiting run is put aside at once, since the client is asked in the answer.
    pub(super) is_asked_with_answer: bool,
    digest: [u8; 32],
    before: Vec<u64>,
}

/// The client's result if a round is impossible.
pub(super) enum NoRound {
    /// Its state is not one that it was given.
    Refused(ErrorData),
    /// Its decisions do not count, or cannot be kept.
    Told(Box<CallToolResult>),
}

impl Round {
    /// Takes the script or run, which is needed once.
    pub(super) fn take_request(&mut self) -> ExecuteRequest {
        std::mem::take(&mut self.request)
    }
}

impl Rounds<'_> {
    /// Begins a round: handles the client's decisions, if it was asked before.
    ///
    /// # Errors
    /// Nothing was decided, and nothing is run.
    pub(super) async fn begin(&self, request: ExecuteRequest, retry: Option<Retry>) -> Result<Round, NoRound> {
        let digest = request_digest(&request);
        let Some(Retry { responses, state }) = retry else {
            let desk = approvals::new_desk().map_err(|failure| NoRound::Refused(internal(&failure.told().0)))?;
            return Ok(Round { request, desk, is_asked_with_answer: true, digest, before: Vec::new() });
        };
        let refused = |reason: &dyn std::fmt::Display| {
            NoRound::Refused(ErrorData::invalid_params(
                format!(
                    "nothing was decided, and nothing was run: {reason}. A run that waits goes on with {{ \"run\": … }}"
                ),
                None,
            ))
        };
        let state = state.ok_or_else(|| refused(&"inputResponses came without their requestState"))?;
        let state =
            RequestState::opened(&state, self.ledger, self.principal, &request).map_err(|useless| refused(&useless))?;
        let is_decided = self.decide(&state, &responses).await?;
        let request = ExecuteRequest { code: None, run: Some(state.run), limits: LimitsPatch::default() };
        // If the client has decided nothing, the owner has as long to do so elsewhere as with any
        // other client.
        Ok(Round { request, desk: state.desk, is_asked_with_answer: is_decided, digest, before: state.all() })
    }

    /// Passes the client's decisions to the ledger. Returns whether there were any.
    async fn decide(&self, state: &RequestState, responses: &InputResponses) -> Result<bool, NoRound> {
        let (mut taken, mut refusals) = (0, Vec::new());
        for (call, question) in state.questions() {
            let Some(approve) = responses.get(&key(call)).and_then(decided) else {
                tracing::info!(run = %state.run, call, "the client's answer has no decision, and does not count");
                continue;
            };
            let at = SystemTime::now();
            let decision = Decision { approve, by: By::Desk(state.desk), channel: Channel::Elicitation, at };
            match self.ledger.change_question(Change::Decide(question, decision)).await {
                Ok(Ok(())) => taken += 1,
                Ok(Err(refusal)) => refusals.push((call, refusal)),
                Err(fault) => return Err(NoRound::Told(Box::new(unkept(state.run, &fault)))),
            }
        }
        for (call, refusal) in &refusals {
            tracing::info!(run = %state.run, call, "a decision from the client's form does not count: {refusal}");
        }
        match refusals.first() {
            Some(_) if taken == 0 => Err(NoRound::Told(Box::new(too_late(state.run, &refusals)))),
            _ => Ok(taken > 0),
        }
    }

    /// Ends a round: if its run waits for questions that the client was not asked yet, it is asked
    /// those.
    pub(super) async fn end(&self, round: Round, result: CallToolResult) -> CallToolResponse {
        let Some(run) = run_that_waits(&result) else { return result.into() };
        match self.asked(round, run).await {
            Ok(Some(asked)) => asked.into(),
            Ok(None) => result.into(),
            Err(fault) => {
                tracing::warn!(%run, "the client is not asked about a run, since its questions could not be read: {fault}");
                result.into()
            }
        }
    }

    /// The forms of the open questions.
    async fn asked(&self, round: Round, run: RunId) -> Result<Option<InputRequiredResult>, LedgerError> {
        let before: BTreeSet<u64> = round.before.iter().copied().collect();
        let filter = QuestionFilter { open: true, run: Some(run), desk: Some(round.desk), ..QuestionFilter::default() };
        let open = self.ledger.questions(filter).await?.into_iter().map(|kept| kept.question);
        let (mut forms, mut questions, mut bytes) = (InputRequests::new(), Vec::<Question>::new(), 0);
        for question in open.filter(|question| !before.contains(&question.id.bits())) {
            let Some(form) = elicitation::form(&question) else { continue };
            if let ElicitRequestParams::FormElicitationParams { message, .. } = &form {
                bytes += message.len();
            }
            if bytes > MAX_FORMS_BYTES && !questions.is_empty() {
                break;
            }
            forms.insert(key(question.binding.number), InputRequest::Elicitation(ElicitRequest::new(form)));
            questions.push(question);
        }
        if questions.is_empty() {
            return Ok(None);
        }
        let whose = (self.principal.map(str::to_owned), round.digest, round.desk);
        let state = RequestState::new(run, whose, &questions, round.before);
        let Some(state) = state.sealed(self.ledger) else {
            tracing::warn!(%run, "the client is not asked about a run, since its state cannot be sealed");
            return Ok(None);
        };
        Ok(Some(InputRequiredResult::new(Some(forms), Some(state))))
    }
}

/// The name of a form, from the call that it is about.
fn key(call: u64) -> String {
    format!("call_{call}")
}

/// The decision in an answer: only if its form was accepted with an explicit one.
fn decided(answer: &Value) -> Option<bool> {
    let answer: ElicitResult = serde_json::from_value(answer.clone()).ok()?;
    let content = (answer.action == ElicitationAction::Accept).then_some(answer.content).flatten()?;
    elicitation::decided(&content)
}

/// The waiting run, if the result says that it waits.
fn run_that_waits(result: &CallToolResult) -> Option<RunId> {
    let outcome = result.structured_content.as_ref()?;
    let kind = outcome.get("error")?.get("kind")?.as_str()?;
    (kind == ErrorKind::Approval.as_str()).then(|| outcome.get("run")?.as_str()?.parse().ok()).flatten()
}

fn too_late(run: RunId, refusals: &[(u64, Refusal)]) -> CallToolResult {
    let each: Vec<String> = refusals.iter().map(|(call, refusal)| format!("call {call}: {refusal}")).collect();
    failed(run, ErrorKind::Usage, format!("the decisions of the client's user do not count: {}", each.join("; ")))
}

fn unkept(run: RunId, fault: &LedgerError) -> CallToolResult {
    failed(run, ErrorKind::Config, format!("the decision of the client's user could not be kept: {fault}"))
}

fn failed(run: RunId, kind: ErrorKind, message: String) -> CallToolResult {
    let hint = format!("to go on, call execute_code with {{ \"run\": \"{run}\" }} and without code");
    told(Outcome { run: Some(run), ..Outcome::refused(RunError::new(kind, message).with_hint(hint)) })
}

fn internal(message: &str) -> ErrorData {
    ErrorData::internal_error(message.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_form_that_was_accepted_with_an_explicit_decision_decides() {
        let accepted = |content: Value| json!({ "action": "accept", "content": content });
        assert_eq!(decided(&accepted(json!({ "decision": "approve this call" }))), Some(true));
        assert_eq!(decided(&accepted(json!({ "decision": "deny" }))), Some(false));
        for answer in [
            accepted(json!({})),
            accepted(json!({ "decision": "" })),
            json!({ "action": "accept" }),
            json!({ "action": "decline", "content": { "decision": "approve this call" } }),
            json!({ "action": "cancel" }),
            json!({ "content": { "decision": "approve this call" } }),
            json!({}),
            json!(null),
            json!("approve this call"),
        ] {
            assert_eq!(decided(&answer), None, "{answer}");
        }
    }
}
