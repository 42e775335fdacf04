//! What the client hears in place of an answer.

use belljar_model::{ErrorKind, JsonFault, LimitHit, Outcome, RunError};
use rmcp::{
    RoleServer,
    model::{ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId, ServerJsonRpcMessage, ServerResult},
    service::TxJsonRpcMessage,
};
use serde_json::json;

use super::{
    MAX_ID_BYTES, MAX_LINE_BYTES,
    in_flight::{MAX_BYTES_IN_FLIGHT, MAX_IN_FLIGHT},
};
use crate::serve::{
    definitions::{EXECUTE, SEARCH},
    refused, told,
};

/// Why a line of the client is not worked on.
pub(super) enum Refusal {
    /// Too many requests are in flight.
    TooMany,
    /// The requests in flight would have so many bytes with this one.
    TooLarge(usize),
    /// A request with this id is in flight.
    SameId,
    LongId,
    LongLine,
    Shape(JsonFault),
    NoMessage,
}

/// The request that is refused, as far as the form of the answer depends on it.
pub(super) struct Refused {
    id: RequestId,
    tool: Option<&'static str>,
}

impl Refused {
    pub(super) fn of(request: &JsonRpcRequest<ClientRequest>) -> Self {
        let tool = match &request.request {
            ClientRequest::CallToolRequest(call) => match call.params.name.as_ref() {
                EXECUTE => Some(EXECUTE),
                SEARCH => Some(SEARCH),
                _ => None,
            },
            _ => None,
        };
        Self { id: request.id.clone(), tool }
    }

    pub(super) fn unknown(id: RequestId) -> Self {
        Self { id, tool: None }
    }
}

impl Refusal {
    pub(super) fn answer(self, request: Option<Refused>) -> TxJsonRpcMessage<RoleServer> {
        let (id, tool) = request.map_or((None, None), |refused| (Some(refused.id), refused.tool));
        let (code, message, hint) = self.words();
        let limit = self.limit();
        let is_busy = limit.is_some();
        // What a model asked for is answered in the form that it reads.
        if let (Some(limit), Some(id), Some(tool)) = (limit, &id, tool) {
            let result = if tool == EXECUTE {
                let error = RunError::new(ErrorKind::Busy, message).with_hint(hint).with_limit(limit);
                told(&Outcome::refused(error))
            } else {
                refused(&format!("{message}\nhint: {hint}"))
            };
            return ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), id.clone());
        }
        let mut data = json!({ "hint": hint });
        if is_busy {
            data["kind"] = json!(ErrorKind::Busy);
        }
        ServerJsonRpcMessage::error(ErrorData::new(ErrorCode(code), message, Some(data)), id)
    }

    fn words(&self) -> (i32, String, &'static str) {
        use belljar_daemon::codes;
        const LATER: &str = "wait for an answer, and send again";
        match self {
            Self::TooMany => (
                codes::BUSY,
                format!("belljar is busy: this client has {MAX_IN_FLIGHT} requests in flight, the limit"),
                LATER,
            ),
            Self::TooLarge(used) => {
                let message = format!(
                    "belljar is busy: with this one, the requests of this client in flight have {used} bytes; the limit is \
                     {MAX_BYTES_IN_FLIGHT}"
                );
                (codes::BUSY, message, LATER)
            }
            Self::SameId => (
                codes::INVALID_REQUEST,
                "a request with this id is still in flight".to_owned(),
                "give each request an id of its own",
            ),
            Self::LongId => (
                codes::INVALID_REQUEST,
                format!("an id has at most {MAX_ID_BYTES} bytes; a request with a longer one was not read"),
                "use numbers",
            ),
            Self::LongLine => (
                codes::TOO_LONG,
                format!("a line has more than {MAX_LINE_BYTES} bytes, the limit; it was not read"),
                "pass data through tools instead",
            ),
            Self::Shape(fault) => {
                (codes::INVALID_REQUEST, format!("a line was not read: {fault}"), "pass data through tools instead")
            }
            Self::NoMessage => (
                codes::INVALID_REQUEST,
                "a line is JSON and no message of the protocol".to_owned(),
                "send JSON-RPC 2.0, one message on each line",
            ),
        }
    }

    /// The limit that the client may be below later.
    fn limit(&self) -> Option<LimitHit> {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let hit = |name, max, used, unit| Some(LimitHit { name, max: count(max), used: count(used), unit });
        match self {
            Self::TooMany => hit("requests_in_flight", MAX_IN_FLIGHT, MAX_IN_FLIGHT + 1, "requests"),
            Self::TooLarge(used) => hit("request_bytes_in_flight", MAX_BYTES_IN_FLIGHT, *used, "bytes"),
            _ => None,
        }
    }
}
