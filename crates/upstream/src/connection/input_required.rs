//! Questions that a server of the revision without sessions asks instead of returning a result, and
//! the answers that are sent with the same call again.
//!
//! The answers and the server's own state are sent back unchanged. Each question is passed on like
//! one that comes as a request: with the server's name, within bounds, to the client whose call it
//! concerns.

#![expect(deprecated, reason = "sampling and roots are deprecated, and a server may still ask for them")]

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    model::{CreateMessageRequestParams, ElicitRequestParams},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    connection::{
        answering::{ELICITATION, ROOTS, SAMPLING},
        client::ChildClient,
        client_requests::Caller,
        question,
    },
    framing::wire::Continuation,
    limits,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    input_requests: Map<String, Value>,
    request_state: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    method: String,
    #[serde(default)]
    params: Value,
}

/// Whether a result asks for input instead.
pub(crate) fn is_asked_for(result: &str) -> bool {
    const QUESTION: &str = "input_required";
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "resultType", borrow)]
        kind: Cow<'a, str>,
    }
    result.contains(QUESTION) && serde_json::from_str::<Kind<'_>>(result).is_ok_and(|result| result.kind == QUESTION)
}

impl ChildClient {
    /// Asks the client of `caller` for what `result` requests, or returns `None` if it cannot be
    /// asked for all of it. Each question counts towards the run's limit, so a server cannot ask
    /// without end.
    pub(crate) async fn continuation(&self, result: &str, caller: &Caller) -> Option<Continuation> {
        if result.len() > limits::CHILD_REQUEST_BYTES {
            return None;
        }
        let asked: InputRequired = serde_json::from_str(result).ok()?;
        if asked.input_requests.is_empty() {
            return None;
        }
        let mut input_responses = Map::new();
        for (name, question) in asked.input_requests {
            match self.input(question, caller).await {
                Some(Ok(answer)) => drop(input_responses.insert(name, answer)),
                Some(Err(error)) => {
                    tracing::debug!(server = self.server, "a question was not answered: {}", error.message);
                    return None;
                }
                None => return None,
            }
        }
        Some(Continuation { input_responses, request_state: asked.request_state })
    }

    /// The answer to one question, if somebody can be asked.
    async fn input(&self, question: Value, caller: &Caller) -> Option<Result<Value, ErrorData>> {
        let Question { method, params } = serde_json::from_value(question).ok()?;
        let answering = self.watch.question(&method, caller.run_trace());
        let Some(answer) = self.answer(&method, params, caller).await else {
            answering.declined();
            return None;
        };
        match answering.ended(answer) {
            Ok(value) => value.ok().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    async fn answer(
        &self,
        method: &str,
        params: Value,
        caller: &Caller,
    ) -> Option<Result<serde_json::Result<Value>, ErrorData>> {
        Some(match method {
            ELICITATION => {
                let request: ElicitRequestParams = serde_json::from_value(params).ok()?;
                let can_ask = self.asked_of(caller, |abilities| abilities.elicitation || abilities.elicitation_url);
                let (client, abilities) = can_ask.ok()?;
                match question::elicitation(&self.server, request, abilities) {
                    Ok(request) => client.elicit(request).await.map(serde_json::to_value),
                    Err(error) => Err(error),
                }
            }
            SAMPLING => {
                let request: CreateMessageRequestParams = serde_json::from_value(params).ok()?;
                let (client, abilities) = self.asked_of(caller, |abilities| abilities.sampling).ok()?;
                match question::sampling(&self.server, request, abilities) {
                    Ok(request) => client.create_message(request).await.map(serde_json::to_value),
                    Err(error) => Err(error),
                }
            }
            ROOTS => {
                let (client, _) = self.asked_of(caller, |abilities| abilities.roots).ok()?;
                client.list_roots().await.map(serde_json::to_value)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_told_from_a_result_that_speaks_of_one() {
        assert!(is_asked_for(r#"{"resultType":"input_required","inputRequests":{}}"#));
        assert!(!is_asked_for(r#"{"resultType":"complete","content":[{"type":"text","text":"input_required"}]}"#));
        assert!(!is_asked_for(r#"{"content":[{"type":"text","text":"input_required"}]}"#));
    }
}
