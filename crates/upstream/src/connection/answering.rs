//! Reports which requests of children were answered or refused.

use std::{fmt, sync::Arc, time::SystemTime};

use belljar_model::{RequestFailure, RequestTrace, TRACEPARENT, TRACESTATE, TraceContext};
use rmcp::{ErrorData, RoleClient, service::RequestContext};
use serde_json::Value;

pub(crate) const PING: &str = "ping";
pub(crate) const SAMPLING: &str = "sampling/createMessage";
pub(crate) const ELICITATION: &str = "elicitation/create";
pub(crate) const ROOTS: &str = "roots/list";

/// The most bytes of a child's text.
const MAX_TEXT: usize = 128;

/// A request of a child to its client, once it is answered or refused.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildRequest {
    /// The child's configured name.
    pub server: String,
    /// Its method; `_OTHER` for one that belljar does not know.
    pub method: &'static str,
    /// Its id, unless it came in place of a result.
    pub id: Option<String>,
    /// The revision of the protocol, as far as the child has named it.
    pub protocol: Option<String>,
    /// The network transport below it.
    pub transport: Option<&'static str>,
    /// The span that the child says it is part of.
    pub parent: Option<TraceContext>,
    /// The span of the run, if only one run calls the child.
    pub run: Option<TraceContext>,
    /// When it came.
    pub began: SystemTime,
    /// Why it was not answered as the child wanted, if it was not.
    pub failure: Option<RequestFailure>,
}

/// Gets the requests of children. It must not wait.
pub type RequestsHeard = Arc<dyn Fn(ChildRequest) + Send + Sync>;

/// Who gets the requests of one child.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) server: String,
    pub(crate) transport: Option<&'static str>,
    pub(crate) heard: Option<RequestsHeard>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").field("is_heard", &self.heard.is_some()).finish_non_exhaustive()
    }
}

impl Watch {
    /// A request that is being answered. `run` is the span of the only run that calls the child.
    pub(crate) fn request(
        &self,
        method: &str,
        run: impl FnOnce() -> Option<TraceContext>,
        context: &RequestContext<RoleClient>,
    ) -> Answering {
        self.answering(method, run, |request| {
            let said = |key: &str| context.meta.get(key).and_then(Value::as_str).map(str::to_owned);
            let named = RequestTrace { traceparent: said(TRACEPARENT), tracestate: said(TRACESTATE), served: None };
            let protocol = context.peer.peer_info().map(|info| cut(info.protocol_version.to_string()));
            ChildRequest {
                id: Some(cut(context.id.to_string())),
                parent: named.bounded().parent(),
                protocol,
                ..request
            }
        })
    }

    /// A question in place of the result of a call of this run.
    pub(crate) fn question(&self, method: &str, run: Option<&TraceContext>) -> Answering {
        self.answering(method, || run.cloned(), |request| request)
    }

    fn answering(
        &self,
        method: &str,
        run: impl FnOnce() -> Option<TraceContext>,
        with: impl FnOnce(ChildRequest) -> ChildRequest,
    ) -> Answering {
        Answering(self.heard.clone().map(|heard| {
            let request = ChildRequest {
                server: self.server.clone(),
                method: known(method),
                id: None,
                protocol: None,
                transport: self.transport,
                parent: None,
                run: run(),
                began: SystemTime::now(),
                failure: None,
            };
            (heard, with(request))
        }))
    }
}

/// A request that is being answered. Listeners hear of it when it ends, even if nobody waits for
/// the answer any more.
#[must_use = "it has ended when it is dropped"]
pub(crate) struct Answering(Option<(RequestsHeard, ChildRequest)>);

impl Answering {
    /// Ends the request with this answer.
    pub(crate) fn ended<T>(mut self, answer: Result<T, ErrorData>) -> Result<T, ErrorData> {
        self.tell(answer.as_ref().err().map(|error| RequestFailure::Code(error.code.0)));
        answer
    }

    /// Declines the request without asking anybody.
    pub(crate) fn declined(mut self) {
        self.tell(Some(RequestFailure::Declined));
    }

    fn tell(&mut self, failure: Option<RequestFailure>) {
        if let Some((heard, request)) = self.0.take() {
            heard(ChildRequest { failure, ..request });
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.tell(Some(RequestFailure::Cancelled));
    }
}

/// The name of a method. There are only a few names, whatever a child sends.
fn known(method: &str) -> &'static str {
    [PING, SAMPLING, ELICITATION, ROOTS].into_iter().find(|known| *known == method).unwrap_or("_OTHER")
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}
