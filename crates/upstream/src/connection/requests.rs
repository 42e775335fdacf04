//! Requests to a connected child: each with a time limit, and each cancelled when nobody waits for
//! it.

use std::{sync::Arc, time::Duration};

use belljar_model::{ByteSize, JsonBounds, JsonError, JsonText, MAX_DURATION, TRACEPARENT, TRACESTATE, ToolPath};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientNotification,
        ClientRequest, CustomResult, GetMeta as _, ProtocolVersion, RequestId, ServerResult,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout, timeout_at},
};

use crate::{
    connection::{
        client::ChildClient,
        client_requests::{Caller, ProgressHeard},
        in_flight::InFlightCalls,
        input_required,
    },
    error::{CallError, Exit, MalformedResult},
    framing::wire::{Arguments, Continuation, Heard, TOO_LONG},
    limits,
    text::one_line,
};

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimit {
    /// The limit without progress: each report starts it again.
    pub quiet: Duration,
    /// The limit in all, whatever the child reports.
    pub total: Duration,
}

impl From<Duration> for CallLimit {
    /// A limit that progress does not extend.
    fn from(limit: Duration) -> Self {
        Self { quiet: limit, total: limit }
    }
}

/// How a life ended, for the calls that were in flight.
#[derive(Debug, Clone)]
pub(crate) enum Death {
    Died { exit: Exit, stderr: Vec<String> },
    Stopped,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum RequestError {
    Timeout { limit: Duration },
    Closed,
    TooLong,
    Protocol { code: i32, message: String },
}

/// A connection to a running child.
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    client: ChildClient,
    pub(crate) in_flight: Arc<InFlightCalls>,
    /// The largest answer that is read.
    max_response: ByteSize,
    abandoned: mpsc::Sender<RequestId>,
    death: watch::Receiver<Option<Death>>,
    heard: Heard,
}

impl Connection {
    /// A connection, and the task that cancels requests that nobody waits for any more.
    pub(crate) fn new(
        peer: Peer<RoleClient>,
        client: ChildClient,
        in_flight: Arc<InFlightCalls>,
        max_response: ByteSize,
        death: watch::Receiver<Option<Death>>,
        heard: Heard,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (abandoned, requests) = mpsc::channel(limits::CANCELLATIONS);
        let announcing = announce_abandoned(peer.clone(), requests);
        (Self { peer, client, in_flight, max_response, abandoned, death, heard }, announcing)
    }

    /// Calls a tool, and returns its result as the child wrote it: the text of a JSON object.
    pub(crate) async fn call(
        &self,
        path: &ToolPath,
        arguments: JsonText,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<JsonText, CallError> {
        let _calling = self.client.callers.enter(caller);
        let max_result = max_result.min(self.max_response);
        let end = Instant::now() + limit.total.min(MAX_DURATION);
        // A stateless server may ask for more, and needs the arguments again with the answer.
        let again = self.is_stateless().then(|| arguments.clone());
        let mut text = self.call_once(path, arguments, None, limit, max_result, caller).await?;
        while input_required::is_asked_for(&text) {
            let refused = || CallError::InputRequired { tool: path.tool().to_owned() };
            let asking = self.client.continuation(&text, caller);
            let continued = timeout_at(end, asking).await.map_err(|_| CallError::Timeout {
                server: path.server().to_owned(),
                tool: path.tool().to_owned(),
                limit: limit.total,
            })?;
            let (arguments, continued) = again.clone().zip(continued).ok_or_else(refused)?;
            let limit = CallLimit { total: end.saturating_duration_since(Instant::now()), ..limit };
            text = self.call_once(path, arguments, Some(continued), limit, max_result, caller).await?;
        }
        let bytes = usize::try_from(max_result.as_u64()).unwrap_or(usize::MAX);
        JsonText::parse(text, &JsonBounds::with_bytes(bytes)).map_err(|fault| match fault {
            JsonError::TooLong { .. } => CallError::TooLarge { limit: max_result },
            fault => CallError::Malformed(fault.into()),
        })
    }

    /// Sends one request for a call, and returns the text of the object in the answer.
    async fn call_once(
        &self,
        path: &ToolPath,
        arguments: JsonText,
        continued: Option<Continuation>,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<String, CallError> {
        let mut request = CallToolRequest::new(CallToolRequestParams::new(path.tool().to_owned()));
        request.extensions.insert(Arguments(arguments));
        if let Some(continued) = continued {
            request.extensions.insert(continued);
        }
        if let Some(gate) = caller.gate() {
            request.extensions.insert(gate);
        }
        let mut request = ClientRequest::CallToolRequest(request);
        if let Some(trace) = caller.trace() {
            let meta = request.get_meta_mut();
            meta.insert(TRACEPARENT.to_owned(), Value::String(trace.to_string()));
            if let Some(state) = &trace.state {
                meta.insert(TRACESTATE.to_owned(), Value::String(state.to_string()));
            }
        }
        let server = || path.server().to_owned();
        let text = match self.request_heard(request, limit, caller.progress().cloned()).await {
            Ok(text) => text,
            Err(RequestError::Timeout { limit }) => {
                return Err(CallError::Timeout { server: server(), tool: path.tool().to_owned(), limit });
            }
            Err(RequestError::TooLong) => return Err(CallError::TooLarge { limit: max_result }),
            Err(RequestError::Protocol { code, message }) => {
                return Err(CallError::Protocol { code, message: one_line(&message, limits::MESSAGE_CHARS) });
            }
            Err(RequestError::Closed) => {
                return Err(match self.death().await {
                    Some(Death::Died { exit, stderr }) => {
                        CallError::Died { server: server(), exit: Some(exit), stderr }
                    }
                    Some(Death::Stopped) => CallError::Cancelled { server: server() },
                    None => CallError::Died { server: server(), exit: None, stderr: Vec::new() },
                });
            }
        };
        match text.starts_with('{') {
            true => Ok(text),
            false => Err(CallError::Malformed(MalformedResult::NotAnObject)),
        }
    }

    /// Whether the server's tools may have arguments that go into headers, too.
    pub(crate) fn reads_marks(&self) -> bool {
        self.client.is_remote && self.is_stateless()
    }

    /// Whether the server is of a revision without sessions.
    fn is_stateless(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28)
    }

    /// Sends a request and waits for its result, as JSON text.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request at the child.
    pub(crate) async fn request(&self, request: ClientRequest, limit: CallLimit) -> Result<String, RequestError> {
        self.request_heard(request, limit, None).await
    }

    /// The same with a listener for its progress.
    async fn request_heard(
        &self,
        request: ClientRequest,
        limit: CallLimit,
        heard: Option<ProgressHeard>,
    ) -> Result<String, RequestError> {
        let mut end = Instant::now() + limit.total.min(MAX_DURATION);
        let out_of_time = |_| RequestError::Timeout { limit: limit.total };
        let sending = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let handle = timeout_at(end, sending).await.map_err(out_of_time)?.map_err(error_of)?;
        let mut waiting = Waiting { abandoned: &self.abandoned, request: Some(handle.id.clone()) };
        let progress = self.client.progress.watch(handle.progress_token, heard);
        let mut answer = handle.rx;
        let mut death = self.death.clone();
        loop {
            let quiet = Instant::now() + limit.quiet.min(MAX_DURATION);
            tokio::select! {
                biased;
                answer = &mut answer => {
                    waiting.request = None;
                    return text_of(answer.unwrap_or(Err(ServiceError::TransportClosed)));
                }
                _ = death.wait_for(Option::is_some) => return Err(RequestError::Closed),
                () = sleep_until(end.min(quiet)) => {
                    // Its answers were held back meanwhile, which is not the child's fault.
                    if self.heard.is_held_back() {
                        end = Instant::now() + limit.quiet.min(MAX_DURATION);
                        continue;
                    }
                    let limit = if quiet < end { limit.quiet } else { limit.total };
                    return Err(RequestError::Timeout { limit });
                }
                () = progress.next() => {}
            }
        }
    }

    /// Whether the child can no longer answer.
    pub(crate) fn is_over(&self) -> bool {
        self.death.borrow().is_some() || self.peer.is_transport_closed()
    }

    /// How the child's life ended, once it is known.
    async fn death(&self) -> Option<Death> {
        let mut death = self.death.clone();
        let news = timeout(limits::DEATH_WAIT, death.wait_for(Option::is_some)).await.ok()?.ok()?;
        news.clone()
    }
}

/// Cancels a request at the child when dropped.
struct Waiting<'a> {
    abandoned: &'a mpsc::Sender<RequestId>,
    request: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            // If the channel is full the child reads nothing anyway.
            let _ = self.abandoned.try_send(request);
        }
    }
}

async fn announce_abandoned(peer: Peer<RoleClient>, mut requests: mpsc::Receiver<RequestId>) {
    while let Some(request) = requests.recv().await {
        let reason = Some("nobody waits for the answer any more".to_owned());
        let parameters = CancelledNotificationParam::new(Some(request), reason);
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(parameters));
        if peer.send_notification(notification).await.is_err() {
            return;
        }
    }
}

fn text_of(answer: Result<ServerResult, ServiceError>) -> Result<String, RequestError> {
    match answer {
        Ok(ServerResult::CustomResult(CustomResult(Value::String(text)))) => Ok(text),
        // rmcp's own transports return parsed results. If one cannot be written again it is not a
        // JSON object to the caller.
        Ok(result) => Ok(serde_json::to_string(&result).unwrap_or_default()),
        Err(fault) => Err(error_of(fault)),
    }
}

fn error_of(fault: ServiceError) -> RequestError {
    match fault {
        ServiceError::McpError(error) if error.code == TOO_LONG => RequestError::TooLong,
        ServiceError::McpError(error) => {
            // It is shortened where it is shown; during a start, secrets are masked before.
            RequestError::Protocol { code: error.code.0, message: error.message.into_owned() }
        }
        _ => RequestError::Closed,
    }
}
