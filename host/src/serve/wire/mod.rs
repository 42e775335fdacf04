//! The two pipes to the client of `belljar serve`, with bounds on what the client can make belljar
//! hold.
//!
//! rmcp starts a task for each message and keeps each answer until the client takes it. So the
//! bounds are here, before rmcp: a client may have a limited number of requests in flight, counted
//! until their answers are written, and gets `busy` above that. While it does not take its answers,
//! nothing more is read from it. Reading continues at the bound, so a client can always cancel.
//!
//! `in_flight` counts requests, `refusal` has the answers to rejected ones, `outbox` writes.

mod in_flight;
mod outbox;
mod refusal;
#[cfg(test)]
mod tests;

use std::{io, sync::Arc};

use belljar_daemon::{Line, Lines};
use belljar_http::AskedOnce;
use belljar_model::{JsonBounds, JsonError, JsonText};
use rmcp::{
    RoleServer,
    model::{ClientNotification, GetExtensions as _, JsonRpcMessage, ProtocolVersion, RequestId, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::{Deserialize, de::IgnoredAny};
use tokio::io::{AsyncRead, AsyncWrite};

use in_flight::InFlight;
use outbox::Outbox;
use refusal::Refusal;

/// The longest line of a client: a script of the largest size, escaped, or an answer to a child's
/// question. The daemon has the same limit.
const MAX_LINE_BYTES: usize = 16 << 20;
/// The values in one line, since a short text can make a large tree. A request has a dozen, a long
/// form of an elicitation some hundreds.
const MAX_VALUES: usize = 100_000;
/// The longest text that a client may use as an id, which is kept and sent back.
const MAX_ID_BYTES: usize = 128;
/// Requests of the client at once. Agents have a handful; above the default number of live and
/// queued runs, most would wait in vain. Each may leave an answer of the largest size, until the
/// client reads.
const MAX_IN_FLIGHT: usize = 64;
/// The total size of their lines: twice the longest line, so that one of maximum length does not
/// block others.
const MAX_BYTES_IN_FLIGHT: usize = 2 * MAX_LINE_BYTES;

/// The connection to the client.
pub(crate) struct Wire<R> {
    lines: Lines<R>,
    gate: Gate,
    outbox: Outbox,
}

impl<R: AsyncRead + Unpin + Send> Wire<R> {
    /// Reads from `input`; a task writes to `output`, and ends with the wire.
    /// The client's roots are asked for again once it says that they have changed.
    pub(crate) fn new(input: R, output: impl AsyncWrite + Unpin + Send + 'static, roots: Arc<AskedOnce>) -> Self {
        Self {
            lines: Lines::new(input, MAX_LINE_BYTES),
            gate: Gate { in_flight: InFlight::default(), is_initialized: false, revision: None, roots },
            outbox: Outbox::new(output),
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Wire<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.gate.revision = Some(result.protocol_version.clone());
        }
        let slot = answered.and_then(|id| self.gate.in_flight.leave(id));
        self.outbox.send(&message, slot)
    }

    /// # Cancellation
    /// rmcp drops this future whenever something else is ready: the part of a line that was read
    /// stays in the reader, and nothing is awaited between a line and its handling.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // A client that does not take answers is not read from: every line may have one.
            let room = self.outbox.room().await?;
            let read = tokio::select! {
                biased;
                // An answer that nobody takes makes a question pointless.
                () = self.outbox.broken() => return None,
                read = self.lines.next() => read,
            };
            let taken = match read {
                Ok(Some(Line::Text(line))) => self.gate.take(line),
                Ok(Some(Line::TooLong)) => Taken::Refused(None, Refusal::LongLine),
                Ok(Some(Line::NoText)) => {
                    tracing::debug!("a line of the client is not UTF-8, and was ignored");
                    Taken::Ignored
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!("the client cannot be read from any more: {error}");
                    return None;
                }
            };
            match taken {
                Taken::Accepted(message) => return Some(*message),
                Taken::Refused(request, refusal) => room.put(&refusal.answer(request)),
                Taken::Ignored => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outbox.close().await;
        Ok(())
    }
}

/// Decides about each line of the client.
struct Gate {
    in_flight: InFlight,
    is_initialized: bool,
    roots: Arc<AskedOnce>,
    /// The negotiated revision of the protocol. A request may name its own.
    revision: Option<ProtocolVersion>,
}

/// What happens to a line.
enum Taken {
    Accepted(Box<RxJsonRpcMessage<RoleServer>>),
    Refused(Option<refusal::Refused>, Refusal),
    Ignored,
}

impl Gate {
    fn take(&mut self, line: String) -> Taken {
        let bytes = line.len();
        let line = match line.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => line,
        };
        if line.trim().is_empty() {
            return Taken::Ignored;
        }
        let bounds = JsonBounds { values: MAX_VALUES, ..JsonBounds::with_bytes(MAX_LINE_BYTES) };
        let text = match JsonText::parse(line, &bounds) {
            Ok(text) => text,
            Err(JsonError::Syntax(error)) => {
                // It may not be a request. Answering it could make two echoing sides go on for
                // ever.
                tracing::debug!(bytes, "a line of the client is not JSON, and was ignored: {:?}", error.classify());
                return Taken::Ignored;
            }
            Err(fault) => return Taken::Refused(None, Refusal::Shape(fault)),
        };
        match serde_json::from_str::<RxJsonRpcMessage<RoleServer>>(text.as_str()) {
            Ok(message) => self.admit(message, bytes),
            Err(error) => misunderstood(&text, &error),
        }
    }

    fn admit(&mut self, mut message: RxJsonRpcMessage<RoleServer>, bytes: usize) -> Taken {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                if is_long(&request.id) {
                    return Taken::Refused(None, Refusal::LongId);
                }
                match self.in_flight.enter(&request.id, bytes) {
                    // rmcp passes this to the handler of the request, and drops it with it.
                    Ok(slot) => drop(request.request.extensions_mut().insert(slot)),
                    Err(refusal) => {
                        let refused = refusal::Refused::of(request, self.revision.as_ref());
                        return Taken::Refused(Some(refused), refusal);
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => {
                // rmcp starts a task for each, and no other notification means anything to this
                // server.
                let is_heard = match &notification.notification {
                    ClientNotification::CancelledNotification(cancelled) => {
                        let id = cancelled.params.request_id.as_ref();
                        id.is_some_and(|id| self.in_flight.cancel(id))
                    }
                    ClientNotification::InitializedNotification(_) => {
                        !std::mem::replace(&mut self.is_initialized, true)
                    }
                    // Done here, so that it already applies to the next request.
                    ClientNotification::RootsListChangedNotification(_) => {
                        self.roots.forget();
                        false
                    }
                    _ => false,
                };
                if !is_heard {
                    return Taken::Ignored;
                }
            }
            // Answers to our requests; rmcp drops those that nobody waits for.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Taken::Accepted(Box::new(message))
    }
}

/// JSON that is not a message of the protocol. Only a request is answered, and a message without a
/// method may not be one: as in JSON-RPC, the answer then has no id. With its id it could be taken
/// for the answer to another request in flight.
fn misunderstood(text: &JsonText, error: &serde_json::Error) -> Taken {
    #[derive(Deserialize)]
    struct Envelope {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    tracing::debug!("a line of the client is not a message of the protocol: {:?}", error.classify());
    match serde_json::from_str::<Envelope>(text.as_str()) {
        Ok(Envelope { id: None, method: Some(_) }) => Taken::Ignored,
        Ok(Envelope { id: Some(id), method: Some(_) }) if !is_long(&id) => {
            Taken::Refused(Some(refusal::Refused::unknown(id)), Refusal::NoMessage)
        }
        _ => Taken::Refused(None, Refusal::NoMessage),
    }
}

fn is_long(id: &RequestId) -> bool {
    matches!(id, RequestId::String(id) if id.len() > MAX_ID_BYTES)
}
