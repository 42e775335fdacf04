//! JSON-RPC over a byte stream, as rmcp needs it, and bounded against a hostile child.
//!
//! rmcp's own stream transport answers JSON that is not JSON-RPC with an error to the child, lets a
//! call whose answer is too long wait forever, and parses results into types, so that one odd tool
//! breaks a whole list. This one ignores noise, fails the call whose answer is too long, and passes
//! each result on as the text that the child wrote.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use belljar_model::{Framing, JsonText, Redactor};
use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetMeta as _,
        Implementation, InitializeResult, JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse,
        ProtocolVersion, RequestId, RequestMetaObject, ServerCapabilities, ServerJsonRpcMessage, ServerResult,
        SubscriptionsListenResult,
    },
    transport::Transport,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use tokio::{
    io::AsyncRead,
    sync::mpsc::{self, error::TrySendError},
};

use crate::{
    framing::{
        gate::{Gate, Gates},
        lines::Line,
        messages::Messages,
    },
    limits,
    redaction::redacted_line,
    text::one_line,
};

/// The code for an answer that was too long. No child can send it: see [`foreign_error`].
pub(crate) const TOO_LONG: ErrorCode = ErrorCode(i32::MIN);

/// The arguments of a call, in a part of rmcp's request that rmcp does not parse: it would build a
/// tree of them, and from that another.
#[derive(Clone)]
pub(crate) struct Arguments(pub(crate) JsonText);

/// Additional parts of a repeated call, after the server asked for something instead of returning a
/// result.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Continuation {
    pub(crate) input_responses: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_state: Option<String>,
}

/// The connection to a child, for rmcp.
pub(crate) struct Wire<R> {
    messages: Messages<R>,
    outgoing: mpsc::Sender<Vec<u8>>,
    framing: Framing,
    handshake: Option<(RequestId, Handshake)>,
    unanswered: Arc<AtomicUsize>,
    heard: Heard,
    redactor: Arc<Redactor>,
    gates: Gates,
    /// An answer that has been read, and is held back.
    held: Option<HeldBack>,
}

struct HeldBack {
    answer: ServerJsonRpcMessage,
    bytes: usize,
    gate: Gate,
}

/// How many messages a child has sent, and whether it is being read, to tell whether it is alive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Hearing>);

#[derive(Debug, Default)]
struct Hearing {
    count: AtomicUsize,
    is_held_back: AtomicBool,
}

impl Heard {
    pub(crate) fn count(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }

    /// Whether reading is paused, because an answer is held back.
    pub(crate) fn is_held_back(&self) -> bool {
        self.0.is_held_back.load(Ordering::Relaxed)
    }

    fn note(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }

    fn hold_back(&self, is_held_back: bool) {
        self.0.is_held_back.store(is_held_back, Ordering::Relaxed);
    }
}

/// Why a message could not be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the connection is closed")]
    Closed,
    #[error("a message cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl<R: AsyncRead + Unpin> Wire<R> {
    /// Reads messages of at most `limit` bytes from `reader`, and sends framed messages to the
    /// other end of `outgoing`.
    pub(crate) fn new(reader: R, outgoing: mpsc::Sender<Vec<u8>>, framing: Framing, limit: usize) -> Self {
        Self::of(Messages::new(reader, framing, limit), outgoing, framing)
    }

    /// The same, wherever the messages come from.
    pub(crate) fn of(messages: Messages<R>, outgoing: mpsc::Sender<Vec<u8>>, framing: Framing) -> Self {
        let (unanswered, heard, redactor) = (Arc::default(), Heard::default(), Arc::default());
        let (gates, held) = (Gates::default(), None);
        Self { messages, outgoing, framing, handshake: None, unanswered, heard, redactor, gates, held }
    }

    /// The same, with the secrets of the server masked in log messages about it.
    pub(crate) fn with_redactor(self, redactor: Arc<Redactor>) -> Self {
        Self { redactor, ..self }
    }

    /// A handle that shows whether the child sends anything.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    /// The meaning of the line just read, or `None` if it is noise.
    fn message(&self) -> Option<ServerJsonRpcMessage> {
        let line = self.messages.text();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        // serde would also read the members of an object from an array.
        let text = std::str::from_utf8(line).ok().filter(|text| text.starts_with('{'))?;
        let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
        if envelope.jsonrpc != "2.0" {
            return None;
        }
        if let Some(method) = &envelope.method {
            return match envelope.id {
                Some(_) => self.request(text),
                None => notification(method, text),
            };
        }
        let id: RequestId = serde_json::from_str(envelope.id?.get()).ok()?;
        if let Some(error) = envelope.error {
            return Some(JsonRpcMessage::error(foreign_error(error), Some(id)));
        }
        let result = envelope.result.map_or("null", RawValue::get);
        let handshake = self.handshake.as_ref().filter(|(expected, _)| expected.to_string() == id.to_string());
        let result = match handshake {
            Some((_, Handshake::Initialize)) => initialized(result),
            Some((_, Handshake::Discover)) => discovered(result),
            Some((_, Handshake::Listen)) => typed(result),
            None => as_text(result),
        };
        Some(JsonRpcMessage::response(result, id))
    }

    /// The gate of a call's answer, and its size.
    fn gate_of(&mut self, message: &ServerJsonRpcMessage) -> Option<(Gate, usize)> {
        match message {
            JsonRpcMessage::Response(JsonRpcResponse { id, result, .. }) => {
                let gate = self.gates.take(id)?;
                let ServerResult::CustomResult(CustomResult(Value::String(text))) = result else { return None };
                Some((gate, text.len()))
            }
            JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => {
                self.gates.take(id);
                None
            }
            _ => None,
        }
    }

    /// A request of the child.
    fn request(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        if text.len() > limits::CHILD_REQUEST_BYTES {
            return None;
        }
        if self.unanswered.load(Ordering::Relaxed) >= limits::CHILD_REQUESTS {
            tracing::debug!("a child asks faster than it reads: its request is dropped");
            return None;
        }
        let message = serde_json::from_str(text).ok()?;
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        Some(message)
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Wire<R> {
    type Error = SendError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let Some(handshake) = Handshake::of(&request.request)
        {
            self.handshake = Some((request.id.clone(), handshake));
        }
        if let JsonRpcMessage::Request(JsonRpcRequest { id, request: ClientRequest::CallToolRequest(call), .. }) =
            &message
            && let Some(gate) = call.extensions.get::<Gate>()
        {
            self.gates.add(id.clone(), gate.clone());
        }
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let unanswered = is_answer.then(|| self.unanswered.clone());
        let line = text_of(&message).map(|message| framed(message, self.framing));
        // Queued now if there is room, since rmcp polls the returned future in any order, and a
        // cancellation must not overtake its request.
        let outgoing = self.outgoing.clone();
        let queued = line.map(|line| outgoing.try_send(line));
        async move {
            match queued? {
                Ok(()) => {}
                Err(TrySendError::Full(line)) => outgoing.send(line).await.map_err(|_| SendError::Closed)?,
                Err(TrySendError::Closed(_)) => return Err(SendError::Closed),
            }
            if let Some(unanswered) = unanswered {
                unanswered.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(held) = &self.held {
                self.heard.hold_back(true);
                held.gate.admit(held.bytes).await;
                self.heard.hold_back(false);
                return self.held.take().map(|held| held.answer);
            }
            match self.messages.next().await {
                Ok(Some(Line::Whole)) => match self.message() {
                    Some(message) => {
                        self.heard.note();
                        match self.gate_of(&message) {
                            Some((gate, bytes)) => self.held = Some(HeldBack { answer: message, bytes, gate }),
                            None => return Some(message),
                        }
                    }
                    None => ignore(self.messages.text(), &self.redactor),
                },
                Ok(Some(Line::TooLong(Some(id)))) => {
                    self.heard.note();
                    self.gates.take(&id);
                    return Some(JsonRpcMessage::error(ErrorData::new(TOO_LONG, "too long", None), Some(id)));
                }
                Ok(Some(Line::TooLong(None))) => ignore(b"(a line that is too long)", &self.redactor),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A message as JSON.
fn text_of(message: &ClientJsonRpcMessage) -> Result<Vec<u8>, serde_json::Error> {
    if let JsonRpcMessage::Request(JsonRpcRequest { id, request, .. }) = message
        && let ClientRequest::CallToolRequest(call) = request
        && let Some(Arguments(arguments)) = call.extensions.get::<Arguments>()
    {
        let continued = call.extensions.get::<Continuation>();
        let parameters = CallParameters { meta: request.get_meta(), name: &call.params.name, arguments, continued };
        let call = CallMessage { jsonrpc: "2.0", id, method: "tools/call", params: parameters };
        let mut text = Vec::with_capacity(arguments.as_str().len() + CALL_BYTES);
        return serde_json::to_writer(&mut text, &call).map(|()| text);
    }
    serde_json::to_vec(message)
}

/// The usual size of a call besides its arguments.
const CALL_BYTES: usize = 512;

/// A call of a tool, whose arguments are written unchanged.
#[derive(Serialize)]
struct CallMessage<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'static str,
    params: CallParameters<'a>,
}

#[derive(Serialize)]
struct CallParameters<'a> {
    #[serde(rename = "_meta")]
    meta: &'a RequestMetaObject,
    name: &'a str,
    arguments: &'a JsonText,
    #[serde(flatten)]
    continued: Option<&'a Continuation>,
}

/// A framed message.
fn framed(mut message: Vec<u8>, framing: Framing) -> Vec<u8> {
    match framing {
        Framing::Lines => {
            message.push(b'\n');
            message
        }
        Framing::ContentLength => {
            let mut framed = format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes();
            framed.append(&mut message);
            framed
        }
    }
}

/// The requests whose answers rmcp itself reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handshake {
    Initialize,
    Discover,
    /// The last such request of a connection, which stays open.
    Listen,
}

impl Handshake {
    fn of(request: &ClientRequest) -> Option<Self> {
        match request {
            ClientRequest::InitializeRequest(_) => Some(Self::Initialize),
            ClientRequest::DiscoverRequest(_) => Some(Self::Discover),
            ClientRequest::SubscriptionsListenRequest(_) => Some(Self::Listen),
            _ => None,
        }
    }
}

/// The outermost members of a message, without parsing their contents.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A notification of the child, if belljar acts on it. Others would only cost time.
fn notification(method: &str, text: &str) -> Option<ServerJsonRpcMessage> {
    let is_wanted = match method {
        "notifications/progress" | "notifications/tools/list_changed" | "notifications/subscriptions/acknowledged" => {
            true
        }
        "notifications/message" => tracing::enabled!(target: "belljar::child", tracing::Level::INFO),
        _ => false,
    };
    (is_wanted && text.len() <= limits::CHILD_REQUEST_BYTES).then(|| serde_json::from_str(text).ok()).flatten()
}

/// A result as its text. rmcp carries results as JSON values, so the text travels as a JSON string.
fn as_text(result: &str) -> ServerResult {
    ServerResult::CustomResult(CustomResult(Value::String(result.to_owned())))
}

/// The answer to `server/discover`, which must contain the server's revisions.
fn discovered(result: &str) -> ServerResult {
    let result = Some(result).filter(|result| result.len() <= limits::CHILD_REQUEST_BYTES);
    let discovered = result.and_then(|result| serde_json::from_str::<DiscoverResult>(result).ok());
    discovered.map_or_else(|| as_text(""), ServerResult::DiscoverResult)
}

/// The end of a subscription.
fn typed(result: &str) -> ServerResult {
    let result = Some(result).filter(|result| result.len() <= limits::CHILD_REQUEST_BYTES);
    let ended = result.and_then(|result| serde_json::from_str::<SubscriptionsListenResult>(result).ok());
    ended.map_or_else(|| as_text(""), ServerResult::SubscriptionsListenResult)
}

/// The answer to `initialize`, read leniently: belljar only needs to know that it came.
fn initialized(result: &str) -> ServerResult {
    if result.len() > limits::CHILD_REQUEST_BYTES {
        return as_text("");
    }
    if let Ok(result) = serde_json::from_str::<InitializeResult>(result) {
        return ServerResult::InitializeResult(result);
    }
    let Ok(Value::Object(result)) = serde_json::from_str(result) else { return as_text("") };
    let version = result.get("protocolVersion").cloned().and_then(|version| serde_json::from_value(version).ok());
    let answer = InitializeResult::new(ServerCapabilities::default())
        .with_protocol_version(version.unwrap_or(ProtocolVersion::V_2024_11_05))
        .with_server_info(Implementation::new("unknown", "unknown"));
    ServerResult::InitializeResult(answer)
}

/// A child's error, read leniently. Its code is kept distinct from ours.
fn foreign_error(error: &RawValue) -> ErrorData {
    #[derive(Default, Deserialize)]
    struct Foreign<'a> {
        #[serde(default)]
        code: Value,
        #[serde(default)]
        message: Value,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
    }
    let Foreign { code, message, data } = serde_json::from_str(error.get()).unwrap_or_default();
    let code = code.as_i64().and_then(|code| i32::try_from(code).ok()).map(ErrorCode).filter(|code| *code != TOO_LONG);
    let message = match message.as_str() {
        Some(message) if !message.trim().is_empty() => {
            // If it fails a start, it is redacted before it is shortened.
            one_line(message, limits::MESSAGE_CHARS + Redactor::REACH)
        }
        _ => "the server gave no reason".to_owned(),
    };
    // Only the server's own revisions are read from an error's data.
    let data = data
        .filter(|data| {
            code == Some(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) && data.get().len() <= limits::MESSAGE_CHARS
        })
        .and_then(|data| serde_json::from_str(data.get()).ok());
    ErrorData::new(code.unwrap_or(ErrorCode::INTERNAL_ERROR), message, data)
}

fn ignore(line: &[u8], redactor: &Redactor) {
    const SHOWN_BYTES: usize = 1_000;
    let shown = line.get(..SHOWN_BYTES.min(line.len())).unwrap_or_default();
    let line = redacted_line(&String::from_utf8_lossy(shown), 200, redactor);
    if !line.is_empty() {
        tracing::debug!(target: "belljar::child", "ignored on stdout: {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(text: &'static str) -> Wire<&'static [u8]> {
        let (outgoing, _) = mpsc::channel(1);
        let wire = Wire::new(text.as_bytes(), outgoing, Framing::Lines, 10_000);
        Wire { handshake: Some((RequestId::Number(0), Handshake::Initialize)), ..wire }
    }

    #[tokio::test]
    async fn what_is_not_json_rpc_is_noise() {
        let mut wire = wire(
            "Server started on stdio\n{\"level\":\"info\"}\n42\n[]\n{\"id\":1,\"result\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\": 1 }}\r\n",
        );
        let (result, id) = wire.receive().await.expect("a message").into_response().expect("an answer");
        assert_eq!(id, RequestId::Number(1));
        let ServerResult::CustomResult(CustomResult(Value::String(text))) = result else { panic!("{result:?}") };
        assert_eq!(text, r#"{"a": 1 }"#);
        assert!(wire.receive().await.is_none());
    }

    #[tokio::test]
    async fn the_arguments_of_a_call_are_sent_as_they_are() {
        use rmcp::model::{CallToolRequest, CallToolRequestParams};
        let (outgoing, mut sent) = mpsc::channel(1);
        let mut wire = Wire::new(&b""[..], outgoing, Framing::Lines, 100);
        let mut call = CallToolRequest::new(CallToolRequestParams::new("echo \"x\""));
        let arguments = r#"{"n": 1e400, "n": [1,  2]}"#;
        let bounds = belljar_model::JsonBounds::with_bytes(100);
        call.extensions.insert(Arguments(JsonText::parse(arguments.to_owned(), &bounds).expect("JSON")));
        let mut request = ClientRequest::CallToolRequest(call);
        request.get_meta_mut().set_progress_token(rmcp::model::ProgressToken(RequestId::Number(4)));
        wire.send(JsonRpcMessage::request(request, RequestId::Number(7))).await.expect("there is room");
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"_meta":{{"progressToken":4}},"name":"echo \"x\"","arguments":{arguments}}}}}"#
        );
        assert_eq!(String::from_utf8(sent.recv().await.expect("a line")).expect("text"), expected + "\n");
    }

    #[tokio::test]
    async fn an_odd_handshake_is_still_one() {
        let mut wire = wire("{\"jsonrpc\":\"2.0\",\"id\":\"0\",\"result\":{\"capabilities\":null}}\n");
        let (result, _) = wire.receive().await.expect("a message").into_response().expect("an answer");
        assert!(matches!(result, ServerResult::InitializeResult(_)), "{result:?}");
    }

    #[tokio::test]
    async fn a_child_cannot_pretend_that_its_answer_was_too_long() {
        let mut wire = wire(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-2147483648,\"message\":\"a\\u001b[31m\\nb\"}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"odd\"}\n",
        );
        let (error, _) = wire.receive().await.expect("a message").into_error().expect("an error");
        assert_eq!((error.code, error.message.as_ref()), (ErrorCode::INTERNAL_ERROR, "a b"));
        let (error, _) = wire.receive().await.expect("a message").into_error().expect("an error");
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    }

    #[tokio::test]
    async fn a_flood_of_requests_is_cut_off() {
        let flood = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(limits::CHILD_REQUESTS * 2);
        let (outgoing, _) = mpsc::channel(1);
        let mut wire = Wire::new(std::io::Cursor::new(flood), outgoing, Framing::Lines, 10_000);
        let mut received = 0;
        while wire.receive().await.is_some() {
            received += 1;
        }
        assert_eq!(received, limits::CHILD_REQUESTS);
    }
}
