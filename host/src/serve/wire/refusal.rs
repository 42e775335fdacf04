//! The answers that the client gets to rejected lines.

use belljar_model::{ErrorKind, JsonError, LimitHit, LimitName, Outcome, RunError};
use rmcp::{
    RoleServer,
    model::{
        ClientRequest, ErrorCode, ErrorData, GetMeta as _, JsonRpcRequest, ProtocolVersion, RequestId,
        ServerJsonRpcMessage, ServerResult,
    },
    service::TxJsonRpcMessage,
};
use serde_json::json;

use super::{MAX_BYTES_IN_FLIGHT, MAX_ID_BYTES, MAX_IN_FLIGHT, MAX_LINE_BYTES};
use crate::serve::{
    answer::{refused, told},
    definitions::{EXECUTE, SEARCH},
};

/// Why a line of the client is rejected.
pub(super) enum Refusal {
    /// Too many requests are in flight.
    TooMany,
    /// With this request, the requests in flight would have this many bytes.
    TooLarge(usize),
    /// A request with this id is in flight.
    SameId,
    LongId,
    LongLine,
    Shape(JsonError),
    NoMessage,
}

/// The rejected request, as far as the form of the answer depends on it.
pub(super) struct Refused {
    id: RequestId,
    tool: Option<&'static str>,
    /// Whether results state their type.
    has_result_types: bool,
}

impl Refused {
    /// A request in a session of this revision, unless it names another.
    pub(super) fn of(request: &JsonRpcRequest<ClientRequest>, negotiated: Option<&ProtocolVersion>) -> Self {
        let own = request.request.get_meta().protocol_version();
        let revision = own.as_ref().or(negotiated);
        // Dates sort like texts.
        let has_result_types =
            revision.is_some_and(|revision| revision.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let tool = match &request.request {
            ClientRequest::CallToolRequest(call) => match call.params.name.as_ref() {
                EXECUTE => Some(EXECUTE),
                SEARCH => Some(SEARCH),
                _ => None,
            },
            _ => None,
        };
        Self { id: request.id.clone(), tool, has_result_types }
    }

    pub(super) fn unknown(id: RequestId) -> Self {
        Self { id, tool: None, has_result_types: false }
    }
}

impl Refusal {
    pub(super) fn answer(self, request: Option<Refused>) -> TxJsonRpcMessage<RoleServer> {
        let has_result_types = request.as_ref().is_some_and(|refused| refused.has_result_types);
        let (id, tool) = request.map_or((None, None), |refused| (Some(refused.id), refused.tool));
        let (code, message, hint) = self.words();
        let limit = self.limit();
        let is_busy = limit.is_some();
        // A model's request is answered in the form that it reads.
        if let (Some(limit), Some(id), Some(tool)) = (limit, &id, tool) {
            let result = if tool == EXECUTE {
                let error = RunError::new(ErrorKind::Busy, message).with_hint(hint).with_limit(limit);
                told(Outcome::refused(error))
            } else {
                refused(&format!("{message}\nhint: {hint}"))
            };
            let mut result = ServerResult::CallToolResult(result);
            if !has_result_types {
                result.strip_result_type_for_legacy_peer();
            }
            return ServerJsonRpcMessage::response(result, id.clone());
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
                "give each request its own id",
            ),
            Self::LongId => (
                codes::INVALID_REQUEST,
                format!("an id has at most {MAX_ID_BYTES} bytes; a request with a longer id was not read"),
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
                "a line is JSON, but not a message of the protocol".to_owned(),
                "send JSON-RPC 2.0, one message on each line",
            ),
        }
    }

    /// The limit that the client may be below later.
    fn limit(&self) -> Option<LimitHit> {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let hit = |name, max, used| Some(LimitHit { name, max: count(max), used: count(used) });
        match self {
            Self::TooMany => hit(LimitName::RequestsInFlight, MAX_IN_FLIGHT, MAX_IN_FLIGHT + 1),
            Self::TooLarge(used) => hit(LimitName::RequestBytesInFlight, MAX_BYTES_IN_FLIGHT, *used),
            _ => None,
        }
    }
}
