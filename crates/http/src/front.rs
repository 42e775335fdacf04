//! The order in which a request is looked at: where it comes from, what it asks for, who asks, how much it brings; then rmcp.

use std::{
    convert::Infallible,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
        session::{SessionManager as _, local::LocalSessionManager},
    },
};
use serde::Deserialize;
use serde_json::{Value, error::Category, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    Admission, Options, Principal, Tokens,
    admission::Flights,
    answer::{self, Answer},
    body::{Room, Unread},
    cors,
    guesses::Guesses,
    origin::{Allowed, Stranger, only},
    sessions::{NoUse, Place, Sessions, Use},
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// From this revision on there are no sessions. Revisions are dates, which compare as texts.
const WITHOUT_SESSIONS: &str = "2026-07-28";
/// How long to wait where a limit was reached.
const LATER: Duration = Duration::from_secs(5);
const INVALID_REQUEST: i32 = -32600;
const PARSE_ERROR: i32 = -32700;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Client {
    /// Somebody at this address, who has to show a token.
    At(IpAddr),
    /// A process of the user who runs the server, at its socket.
    #[cfg(unix)]
    Owner,
}

/// The endpoint, and all that its requests share.
pub(crate) struct Front<H> {
    service: StreamableHttpService<Arc<H>, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) flights: Flights,
    pub(crate) options: Options,
    tokens: watch::Receiver<Arc<Tokens>>,
    allowed: Allowed,
    room: Room,
    guesses: Guesses,
    draining: AtomicBool,
    /// Cancels the calls in flight, whose answers can still be sent.
    pub(crate) calling_off: CancellationToken,
    /// Ends all sessions and streams.
    pub(crate) ending: CancellationToken,
}

/// The longest id of a request that is looked at. rmcp makes of longer ones what it will.
const MAX_ID: usize = 256;

/// What is read of a message before rmcp reads it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Value,
}

impl Head {
    fn has_usable_id(&self) -> bool {
        self.id.is_number() || self.id.as_str().is_some_and(|id| id.len() <= MAX_ID)
    }
}

impl<H: ServerHandler> Front<H> {
    pub(crate) fn new(handler: H, options: Options, tokens: watch::Receiver<Arc<Tokens>>) -> Self {
        let (handler, limits, ending) = (Arc::new(handler), &options.limits, CancellationToken::new());
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        let config = StreamableHttpServerConfig::default()
            // Both are checked here, for every path.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(ending.clone());
        Self {
            service: StreamableHttpService::new(move || Ok(handler.clone()), manager.clone(), config),
            manager,
            sessions: Sessions::new(limits.sessions, limits.sessions_per_principal),
            flights: Flights::default(),
            tokens,
            allowed: Allowed::new(&options.hosts, &options.origins),
            room: Room::new(limits.bodies_bytes, limits.body_bytes, limits.body),
            guesses: Guesses::default(),
            draining: AtomicBool::new(false),
            calling_off: CancellationToken::new(),
            ending,
            options,
        }
    }

    /// From now on, nothing new is begun.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Ends sessions that nobody uses, and forgets those that have ended.
    pub(crate) async fn reap(&self) {
        let alive: std::collections::HashSet<_> = self.manager.sessions.read().await.keys().cloned().collect();
        let over = self.sessions.give_up(Instant::now(), self.options.limits.idle, |id| alive.contains(id));
        for id in over {
            self.close(&id).await;
        }
    }

    async fn close(&self, id: &Arc<str>) {
        if let Err(error) = self.manager.close_session(id).await {
            tracing::debug!("a session was over before it was closed: {error}");
        }
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, client: Client, request: Request<Incoming>) -> Result<Answer, Infallible> {
        if let Err(stranger) = self.allowed.check(request.uri(), request.headers()) {
            return Ok(answer::last(strange(&stranger)));
        }
        let page = cors::page(request.headers());
        let mut answer = self.admitted(client, request).await.unwrap_or_else(|refusal| refusal);
        if let Some(page) = page {
            cors::share(&mut answer, page);
        }
        Ok(answer)
    }

    async fn admitted(&self, client: Client, request: Request<Incoming>) -> Result<Answer, Answer> {
        match request.uri().path() {
            "/mcp" if cors::is_preflight(&request) => Ok(cors::preflight()),
            "/mcp" => self.mcp(client, request).await,
            "/healthz" => probe(request.method(), true),
            "/readyz" => probe(request.method(), !self.is_draining()),
            _ => Err(answer::refused(StatusCode::NOT_FOUND, "not found: the endpoint is /mcp")),
        }
    }

    async fn mcp(&self, client: Client, mut request: Request<Incoming>) -> Result<Answer, Answer> {
        let method = request.method().clone();
        if ![Method::POST, Method::GET, Method::DELETE].contains(&method) {
            let mut refusal =
                answer::refused(StatusCode::METHOD_NOT_ALLOWED, "the endpoint takes POST, GET and DELETE");
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
            return Err(refusal);
        }
        let principal = self.principal(client, request.headers())?;
        // Whatever handles the request has no use for it, and could lose it.
        request.headers_mut().remove(header::AUTHORIZATION);
        if self.is_draining() {
            let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            return Err(answer::last(answer::later(refusal, LATER)));
        }
        // A stream that only waits for what may come does not hold up the end.
        let flight = (method != Method::GET).then(|| self.flights.begin());
        let (mut parts, body) = request.into_parts();
        let read = match method {
            Method::POST => Some(self.room.read(body).await.map_err(|unread| self.not_read(&unread))?),
            _ => None,
        };
        let head = read.as_ref().map(|read| head(&read.bytes)).transpose()?;
        if without_sessions(&parts.headers) {
            parts.headers.remove(SESSION);
        }
        let named = only(&parts.headers, &SESSION).map(str::to_owned);
        let (session, place) = self.session(&principal, &parts.headers, head)?;
        let admission = Admission::new(principal, session, flight, self.calling_off.clone());
        parts.extensions.insert(admission.clone());
        let bytes = read.as_ref().map(|read| read.bytes.clone()).unwrap_or_default();
        let answer = self.service.handle(Request::from_parts(parts, Full::new(bytes))).await;
        drop(read);
        self.note(&method, named, place, &answer).await?;
        Ok(tidy(answer).map(|body| {
            let held = move |frame| {
                let _ = &admission;
                frame
            };
            body.map_frame(held).boxed()
        }))
    }

    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Whose token it is.
    fn principal(&self, client: Client, headers: &HeaderMap) -> Result<Principal, Answer> {
        let address = match client {
            Client::At(address) => address,
            #[cfg(unix)]
            Client::Owner => return Ok(Principal::owner()),
        };
        let Some(shown) = headers.get(header::AUTHORIZATION) else {
            return Err(unauthorized(
                "a token is needed: 'Authorization: Bearer …'; 'belljar token add' makes one",
                "",
            ));
        };
        let bearer = only(headers, &header::AUTHORIZATION)
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        let known = bearer.and_then(|token| self.tokens.borrow().principal(token));
        if let Some(principal) = known {
            return Ok(principal);
        }
        tracing::info!("a wrong token of {} bytes from {address}", shown.len());
        let refusal = match self.guesses.count(address, self.options.limits.guesses, Instant::now()) {
            None => unauthorized("this token is not valid", ", error=\"invalid_token\""),
            Some(wait) => answer::later(
                answer::refused(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many wrong tokens came from this address; try again later",
                ),
                wait,
            ),
        };
        Err(answer::last(refusal))
    }

    /// The session that a request is in, or the room for the one that it asks for.
    fn session(
        &self,
        principal: &Principal,
        headers: &HeaderMap,
        head: Option<Head>,
    ) -> Result<(Option<Use>, Option<Place>), Answer> {
        let mut named = headers.get_all(SESSION).iter();
        let Some(first) = named.next() else {
            let begins = head.is_some_and(|head| head.method.as_deref() == Some("initialize"));
            if !begins {
                return Ok((None, None));
            }
            let place = self.sessions.reserve(principal.shared_name()).ok_or_else(|| {
                let limits = &self.options.limits;
                let message = format!(
                    "too many sessions are open: the limit is {} in all, {} for one principal; end one with DELETE, or try again later",
                    limits.sessions, limits.sessions_per_principal
                );
                answer::later(answer::refused(StatusCode::SERVICE_UNAVAILABLE, &message), LATER)
            })?;
            return Ok((None, Some(place)));
        };
        let unknown = || answer::refused(StatusCode::NOT_FOUND, "unknown session; start one with 'initialize'");
        let (None, Ok(session)) = (named.next(), first.to_str()) else { return Err(unknown()) };
        let request = head.filter(|head| head.method.is_some() && head.has_usable_id()).map(|head| head.id);
        let key = request.as_ref().map(Value::to_string);
        match self.sessions.enter(session, principal.name(), key) {
            Ok(used) => Ok((Some(used), None)),
            Err(NoUse::Unknown) => Err(unknown()),
            Err(NoUse::Repeated) => {
                let message = "a request with this id is already in progress in this session";
                Err(answer::rpc_error(StatusCode::BAD_REQUEST, request.unwrap_or_default(), INVALID_REQUEST, message))
            }
        }
    }

    /// Keeps the list of sessions true to what rmcp did.
    async fn note(
        &self,
        method: &Method,
        named: Option<String>,
        place: Option<Place>,
        answer: &Answer,
    ) -> Result<(), Answer> {
        let made: Option<Arc<str>> =
            answer.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(Into::into).filter(|_| named.is_none());
        match (made, place) {
            (Some(id), Some(place)) => self.sessions.add(id, place, Instant::now()),
            // Nobody could be asked whose it is.
            (Some(id), None) => {
                self.close(&id).await;
                tracing::error!("a session was begun by a request that is not 'initialize'");
                return Err(internal());
            }
            (None, _) => {}
        }
        let over =
            *method == Method::DELETE && answer.status().is_success() || answer.status() == StatusCode::NOT_FOUND;
        if let Some(id) = named.filter(|_| over) {
            self.reap_one(&id).await;
        }
        Ok(())
    }

    /// Forgets a session that rmcp has no more.
    async fn reap_one(&self, id: &str) {
        if !self.manager.sessions.read().await.contains_key(id) {
            self.sessions.remove(id);
        }
    }

    fn not_read(&self, unread: &Unread) -> Answer {
        let limits = &self.options.limits;
        answer::last(match unread {
            Unread::TooLarge => {
                let message = format!("the body has more than {} bytes, the limit", limits.body_bytes);
                answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &message)
            }
            Unread::TooSlow => {
                let message = format!("the body took more than {} seconds, the limit", limits.body.as_secs());
                answer::refused(StatusCode::REQUEST_TIMEOUT, &message)
            }
            Unread::NoRoom => {
                let message = "too many request bodies are being received at the moment; try again later";
                answer::later(answer::refused(StatusCode::SERVICE_UNAVAILABLE, message), LATER)
            }
            Unread::Broken => answer::refused(StatusCode::BAD_REQUEST, "the body ends too early or is malformed"),
        })
    }
}

/// Reads as much of a message as has to be known here. rmcp answers malformed JSON with 415.
fn head(body: &[u8]) -> Result<Head, Answer> {
    let refused = |code, message| answer::rpc_error(StatusCode::BAD_REQUEST, Value::Null, code, message);
    let not_one = || refused(INVALID_REQUEST, "this is not one JSON-RPC message; batches are not supported");
    let head = serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => not_one(),
        _ => refused(PARSE_ERROR, "this is not JSON"),
    })?;
    // An array can be read as a structure, too.
    if body.trim_ascii_start().starts_with(b"{") { Ok(head) } else { Err(not_one()) }
}

fn without_sessions(headers: &HeaderMap) -> bool {
    only(headers, &REVISION).is_some_and(|revision| revision >= WITHOUT_SESSIONS)
}

fn probe(method: &Method, ready: bool) -> Result<Answer, Answer> {
    if ![Method::GET, Method::HEAD].contains(method) {
        return Err(answer::refused(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported here"));
    }
    let (status, text) = if ready { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "ending") };
    Ok(answer::of(status, &json!({ "status": text })))
}

fn strange(stranger: &Stranger) -> Answer {
    let (status, message) = match stranger {
        Stranger::NoHost => (StatusCode::BAD_REQUEST, "a request must have exactly one 'Host' header"),
        Stranger::Host => {
            (StatusCode::FORBIDDEN, "the name in 'Host' is not one of this server's; --allow-host adds names")
        }
        Stranger::Origin => (StatusCode::FORBIDDEN, "this 'Origin' is not allowed; --allow-origin adds origins"),
    };
    answer::refused(status, message)
}

fn unauthorized(message: &str, more: &str) -> Answer {
    let mut refusal = answer::refused(StatusCode::UNAUTHORIZED, message);
    if let Ok(challenge) = HeaderValue::try_from(format!("Bearer realm=\"belljar\"{more}")) {
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    refusal
}

fn internal() -> Answer {
    answer::refused(StatusCode::INTERNAL_SERVER_ERROR, "the request failed inside the server; its log says more")
}

/// rmcp's 500 says what went wrong inside.
fn tidy(answer: Answer) -> Answer {
    if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::warn!("rmcp answered with an internal error");
        return internal();
    }
    answer
}
