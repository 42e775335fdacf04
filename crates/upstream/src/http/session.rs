//! Streamable HTTP: each of our messages is one POST, whose answer is a JSON document or a stream
//! of events.
//!
//! A server of the initialize era may have a session. If it has forgotten the session, the
//! handshake is repeated, and the refused request, which therefore had no effect, is sent again; no
//! other request is ever sent twice. A stream that breaks is resumed if the server gave its events
//! ids.

use std::{collections::HashMap, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use parking_lot::Mutex;
use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::{
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    error::RemoteError,
    framing::messages::Frame,
    http::{
        client::{HttpClient, content_type},
        events::{Event, Events},
        message::{self, Outgoing},
        mirrored::MirroredArguments,
    },
    limits,
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How a session ended, or that the server speaks the older protocol.
pub(crate) enum End {
    /// It is over.
    Over(Option<RemoteError>),
    /// The server refuses the first message, which is to be sent in the older protocol.
    Refused { fault: RemoteError, message: Vec<u8> },
}

/// A session with a server.
pub(crate) struct Session {
    client: Arc<HttpClient>,
    frames: mpsc::Sender<Frame>,
    /// The most bytes of one message.
    limit: usize,
    state: Mutex<SessionState>,
    /// Held while the handshake is repeated.
    renewal: tokio::sync::Mutex<()>,
    mirrored: Mutex<MirroredArguments>,
}

/// What an answer is read for, besides being passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The negotiated version.
    Handshake,
    /// Which arguments go into headers.
    ToolList,
    Other,
}

#[derive(Default, Clone)]
struct SessionState {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The parameters of `initialize`, to send it again.
    handshake: Option<String>,
}

impl Session {
    pub(crate) fn new(client: Arc<HttpClient>, frames: mpsc::Sender<Frame>, limit: usize) -> Arc<Self> {
        let (state, renewal, mirrored) = (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        Arc::new(Self { client, frames, limit, state, renewal, mirrored })
    }

    /// Sends the messages of `outgoing` until there are no more, or the server is lost.
    pub(crate) async fn run(
        self: Arc<Self>,
        outgoing: &mut mpsc::Receiver<Vec<u8>>,
        closing: &CancellationToken,
    ) -> End {
        let (mut tasks, mut calls) = (JoinSet::new(), HashMap::<String, AbortHandle>::new());
        loop {
            let body = tokio::select! {
                biased;
                () = closing.cancelled() => break,
                Some(ended) = tasks.join_next(), if !tasks.is_empty() => {
                    match ended {
                        Ok(Ok(Some(id))) => drop(calls.remove(&id)),
                        Ok(Err(fault)) => return End::Over(Some(fault)),
                        // It was aborted, or was not a call.
                        Ok(Ok(None)) | Err(_) => {}
                    }
                    continue;
                }
                body = outgoing.recv() => match body {
                    Some(body) => body,
                    None => break,
                },
            };
            let Some(message) = Outgoing::read(&body) else { continue };
            let (method, id) =
                (message.method.as_deref().unwrap_or_default(), message.id.map(|id| id.get().to_owned()));
            match (method, id) {
                ("initialize" | "server/discover", Some(id)) => {
                    if method == "initialize" {
                        self.change(|state| {
                            let params = message.params.map(|params| params.get().to_owned());
                            *state = SessionState { handshake: params, ..SessionState::default() };
                        });
                    }
                    match self.clone().shake_hands(&id, &body).await {
                        Ok(()) => {}
                        Err(fault) if fault.is_refusal() => return End::Refused { fault, message: body },
                        Err(fault) => return End::Over(Some(fault)),
                    }
                }
                // No other message may overtake it.
                ("notifications/initialized", _) => {
                    if let Ok(Err(fault)) = timeout(limits::CONTROL_REQUEST, self.post(&body)).await {
                        tracing::debug!("the end of the handshake was not accepted: {fault}");
                    }
                    // The server's questions during the first call may come on this stream, and are
                    // lost if it is not open yet.
                    let (opened, is_open) = oneshot::channel();
                    tasks.spawn(self.clone().listen(opened));
                    if timeout(limits::STREAM_OPENING, is_open).await.is_err() {
                        tracing::debug!("the server's own stream is not open yet");
                    }
                }
                ("notifications/cancelled", _) => {
                    let cancelled = message.parameters().request_id.map(|id| id.get().to_owned());
                    if let Some(call) = cancelled.and_then(|id| calls.remove(&id)) {
                        call.abort();
                    }
                    // Without a handshake, the end of its stream is the cancellation.
                    if self.state().handshake.is_some() {
                        tasks.spawn(self.clone().notify(body));
                    }
                }
                ("", _) | (_, None) => drop(tasks.spawn(self.clone().notify(body))),
                (_, Some(id)) => {
                    let session = self.clone();
                    let purpose = if method == "tools/list" { Purpose::ToolList } else { Purpose::Other };
                    let (key, call) = (id.clone(), async move { session.call(id, body, purpose).await });
                    calls.insert(key, tasks.spawn(call));
                }
            }
        }
        self.say_goodbye().await;
        End::Over(None)
    }

    /// The first exchange. If it fails, the server is lost.
    async fn shake_hands(self: Arc<Self>, id: &str, body: &[u8]) -> Result<(), RemoteError> {
        let response = self.post(body).await?;
        let session = response.headers().get(SESSION).cloned();
        if session.is_some() {
            self.change(|state| state.id = session);
        }
        if !response.status().is_success() {
            return self.pass_on_error(id, response).await?.map_or(Ok(()), Err);
        }
        self.answer(id, response, Purpose::Handshake).await
    }

    /// A request, from its sending to its answer.
    async fn call(self: Arc<Self>, id: String, body: Vec<u8>, purpose: Purpose) -> Result<Option<String>, RemoteError> {
        let answered = async {
            let response = self.post(&body).await?;
            // The answer may take any time, but the request has arrived.
            drop(body);
            match response.status().is_success() {
                true => self.answer(&id, response, purpose).await,
                false => self.pass_on_error(&id, response).await?.map_or(Ok(()), Err),
            }
        };
        match answered.await {
            Ok(()) => {}
            // These apply to all later requests, too.
            Err(
                fault @ (RemoteError::Unreachable { .. }
                | RemoteError::LoginNeeded { .. }
                | RemoteError::LoginExpired { .. }),
            ) => {
                return Err(fault);
            }
            Err(fault) => self.pass_on(message::failure(&id, &fault.to_string())).await,
        }
        Ok(Some(id))
    }

    /// A message that has no answer.
    async fn notify(self: Arc<Self>, body: Vec<u8>) -> Result<Option<String>, RemoteError> {
        match timeout(limits::CONTROL_REQUEST, self.post(&body)).await {
            Ok(Ok(response)) if response.status().is_success() => {}
            Ok(Ok(response)) => tracing::debug!("a notification was not accepted: HTTP status {}", response.status()),
            Ok(Err(fault)) => tracing::debug!("a notification was not accepted: {fault}"),
            Err(_) => tracing::debug!("a notification was not accepted in time"),
        }
        Ok(None)
    }

    /// Sends a message. If the session is gone, creates a new one and sends it again: it was not
    /// read.
    async fn post(&self, body: &[u8]) -> Result<Response, RemoteError> {
        let before = self.state();
        let response = self.post_in(&before, body).await?;
        let is_lost = response.status() == StatusCode::NOT_FOUND && before.id.is_some() && before.handshake.is_some();
        if !is_lost {
            return Ok(response);
        }
        let after = self.renew(&before).await?;
        self.post_in(&after, body).await
    }

    async fn post_in(&self, state: &SessionState, body: &[u8]) -> Result<Response, RemoteError> {
        let mut headers = headers_of(state);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(message) = Outgoing::read(body)
            && let parameters = message.parameters()
            && let Some(version) = parameters.version()
        {
            // The revision without a handshake repeats in headers what a proxy may need.
            let mut add = |name: HeaderName, value: &str| drop(headers.insert(name, header_value(value)));
            add(VERSION, version);
            add(METHOD, message.method.as_deref().unwrap_or_default());
            if let (Some("tools/call"), Some(name)) = (message.method.as_deref(), &parameters.name) {
                add(NAME, name);
                if let Some(arguments) = parameters.arguments {
                    let mirrored = self.mirrored.lock();
                    mirrored.of_call(name, arguments).into_iter().for_each(|(header, text)| add(header, &text));
                }
            }
        }
        self.client.send(Method::POST, self.client.url(), headers, Some(body.to_vec())).await
    }

    /// Repeats the handshake, unless another task has done so in the meantime.
    async fn renew(&self, before: &SessionState) -> Result<SessionState, RemoteError> {
        const ID: &str = "\"belljar-session\"";
        let _renewing = self.renewal.lock().await;
        let now = self.state();
        if now.id != before.id {
            return Ok(now);
        }
        tracing::info!("{} has forgotten the session: a new one is begun", self.client.host());
        let params = now.handshake.clone().unwrap_or_default();
        let initialize = format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"initialize","params":{params}}}"#);
        let fresh = SessionState { handshake: now.handshake, ..SessionState::default() };
        let response = self.post_in(&fresh, initialize.as_bytes()).await?;
        if !response.status().is_success() {
            return Err(self.client.refused(response).await);
        }
        let id = response.headers().get(SESSION).cloned();
        // Only the existence of an answer counts; the version was negotiated before.
        let mut answers = Answers::of(self, response)?;
        while let Some(frame) = answers.next().await? {
            if matches!(&frame, Frame::Whole(text) if message::is_answer(text, ID)) {
                break;
            }
        }
        let after = SessionState { id, version: now.version, ..fresh };
        self.change(|state| state.clone_from(&after));
        let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.post_in(&after, initialized).await?;
        Ok(after)
    }

    /// Passes on the contents of a successful answer, until the request with this id is answered.
    async fn answer(&self, id: &str, response: Response, purpose: Purpose) -> Result<(), RemoteError> {
        const MOST_RESUMPTIONS: usize = 5;
        let mut answers = Answers::of(self, response)?;
        let mut resumptions = 0;
        loop {
            let broken = match answers.next().await {
                Ok(Some(Frame::Whole(text))) => {
                    let is_end = message::is_answer(&text, id);
                    match purpose {
                        Purpose::Handshake if is_end => {
                            let version = message::negotiated_version(&text).map(|version| header_value(&version));
                            self.change(|state| state.version = version);
                        }
                        Purpose::ToolList if is_end => {
                            self.mirrored.lock().learn(&text);
                        }
                        Purpose::Handshake | Purpose::ToolList | Purpose::Other => {}
                    }
                    self.pass_on(text).await;
                    if is_end {
                        return Ok(());
                    }
                    continue;
                }
                // A single document is known to be the answer; an event may be something else.
                Ok(Some(Frame::TooLong(whose))) => {
                    let whose = whose.or_else(|| serde_json::from_str(id).ok());
                    let _ = self.frames.send(Frame::TooLong(whose)).await;
                    return Ok(());
                }
                Ok(None) => None,
                Err(fault) => Some(fault),
            };
            // The stream ended without the answer. If the server numbers its events, it is resumed.
            let Some(last) = answers.last_id().filter(|_| resumptions < MOST_RESUMPTIONS) else {
                return Err(broken.unwrap_or_else(|| self.client.not_mcp("the answer ended before its end")));
            };
            resumptions += 1;
            let (last, retry) = (last.to_owned(), answers.retry());
            sleep(retry).await;
            let response = self.get(Some(&last)).await?;
            if !response.status().is_success() {
                return Err(broken.unwrap_or(self.client.refused(response).await));
            }
            answers = Answers::of(self, response)?.after(last);
        }
    }

    /// Listens for the server's own messages, if it offers that. Drops `opened` when the server has
    /// answered.
    async fn listen(self: Arc<Self>, opened: oneshot::Sender<()>) -> Result<Option<String>, RemoteError> {
        let mut last: Option<String> = None;
        let mut failures = 0_u32;
        let mut opened = Some(opened);
        loop {
            let response = self.get(last.as_deref()).await;
            drop(opened.take());
            let response = match response {
                Ok(response) if response.status().is_success() => response,
                // It does not offer it, or no longer.
                Ok(response) if response.status().is_client_error() => return Ok(None),
                Ok(_) | Err(_) => {
                    failures += 1;
                    sleep(backoff(failures)).await;
                    continue;
                }
            };
            let Ok(answers) = Answers::of(&self, response) else { return Ok(None) };
            let mut answers = answers;
            while let Ok(Some(frame)) = answers.next().await {
                failures = 0;
                if self.frames.send(frame).await.is_err() {
                    return Ok(None);
                }
            }
            last = answers.last_id().map(str::to_owned).or(last);
            failures += 1;
            sleep(answers.retry().max(backoff(failures))).await;
        }
    }

    async fn get(&self, last: Option<&str>) -> Result<Response, RemoteError> {
        let mut headers = headers_of(&self.state());
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last) = last {
            headers.insert(LAST_EVENT, header_value(last));
        }
        self.client.send(Method::GET, self.client.url(), headers, None).await
    }

    /// Passes on an unsuccessful answer if it is JSON-RPC; else returns the fault.
    async fn pass_on_error(&self, id: &str, response: Response) -> Result<Option<RemoteError>, RemoteError> {
        let is_json = content_type(&response).is_some_and(|kind| kind == "application/json");
        let is_told = !matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if !is_json || !is_told {
            return Ok(Some(self.client.refused(response).await));
        }
        let status = response.status().as_u16();
        let body = self.client.body(response, limits::ERROR_BODY_BYTES).await?.unwrap_or_default();
        match message::error_for(&body, id) {
            Some(error) => {
                self.pass_on(error).await;
                Ok(None)
            }
            None => {
                let (host, message) = (self.client.host().to_owned(), String::new());
                Ok(Some(RemoteError::Status { host, status, message }))
            }
        }
    }

    async fn pass_on(&self, text: Vec<u8>) {
        // If nobody reads any more, the session is about to end.
        let _ = self.frames.send(Frame::Whole(text)).await;
    }

    /// Ends the session, so that the server need not wait for a timeout.
    async fn say_goodbye(&self) {
        let state = self.state();
        if state.id.is_none() {
            return;
        }
        let goodbye = self.client.send(Method::DELETE, self.client.url(), headers_of(&state), None);
        if timeout(limits::GOODBYE, goodbye).await.is_err() {
            tracing::debug!("{} did not take note of the end of the session in time", self.client.host());
        }
    }

    fn state(&self) -> SessionState {
        self.state.lock().clone()
    }

    fn change(&self, change: impl FnOnce(&mut SessionState)) {
        change(&mut self.state.lock());
    }
}

/// The messages of one answer.
enum Answers<'a> {
    Document { session: &'a Session, response: Option<Response> },
    Stream { session: &'a Session, response: Response, events: Box<Events>, before: Option<String> },
}

impl<'a> Answers<'a> {
    fn of(session: &'a Session, response: Response) -> Result<Self, RemoteError> {
        match content_type(&response).as_deref() {
            Some("application/json") => Ok(Self::Document { session, response: Some(response) }),
            Some("text/event-stream") => {
                Ok(Self::Stream { session, response, events: Box::new(Events::new(session.limit)), before: None })
            }
            Some(_) => Err(session.client.not_mcp("its answer is neither JSON nor a stream of events")),
            None => Err(session.client.not_mcp("its answer is empty")),
        }
    }

    /// A stream that goes on after the event with this id.
    fn after(mut self, last: String) -> Self {
        if let Self::Stream { before, .. } = &mut self {
            *before = Some(last);
        }
        self
    }

    fn last_id(&self) -> Option<&str> {
        match self {
            Self::Document { .. } => None,
            Self::Stream { events, before, .. } => events.last_id().or(before.as_deref()),
        }
    }

    fn retry(&self) -> Duration {
        match self {
            Self::Stream { events, .. } => events.retry().unwrap_or(limits::STREAM_RETRY),
            Self::Document { .. } => limits::STREAM_RETRY,
        }
    }

    async fn next(&mut self) -> Result<Option<Frame>, RemoteError> {
        match self {
            Self::Document { session, response } => {
                let Some(response) = response.take() else { return Ok(None) };
                let body = session.client.body(response, session.limit).await?;
                Ok(Some(body.map_or(Frame::TooLong(None), Frame::Whole)))
            }
            Self::Stream { session, response, events, .. } => loop {
                match events.next() {
                    Some(Event::Whole { data, name }) if name == "message" && !data.is_empty() => {
                        return Ok(Some(Frame::Whole(data)));
                    }
                    Some(Event::Whole { .. }) => {}
                    Some(Event::TooLong(id)) => return Ok(Some(Frame::TooLong(id))),
                    None => {
                        let piece = response.chunk().await;
                        match piece.map_err(|error| RemoteError::of(error, session.client.host()))? {
                            Some(piece) => events.feed(&piece),
                            None => return Ok(None),
                        }
                    }
                }
            },
        }
    }
}

fn headers_of(state: &SessionState) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [(SESSION, &state.id), (VERSION, &state.version)] {
        if let Some(value) = value {
            headers.insert(name, value.clone());
        }
    }
    headers
}

/// A text as the value of a header: unchanged, or in base64 if a header cannot hold it.
fn header_value(text: &str) -> HeaderValue {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') && text.trim() == text;
    // A value that looks encoded would be decoded.
    let is_plain = is_plain && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let plain = if is_plain { HeaderValue::from_str(text).ok() } else { None };
    let encoded = || HeaderValue::try_from(format!("=?base64?{}?=", BASE64_STANDARD.encode(text)));
    plain.or_else(|| encoded().ok()).unwrap_or(HeaderValue::from_static(""))
}

fn backoff(failures: u32) -> Duration {
    limits::STREAM_RETRY.saturating_mul(1 << failures.clamp(1, 6).saturating_sub(1))
}
