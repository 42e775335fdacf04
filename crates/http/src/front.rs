//! Handles a request in this order: where it comes from, what it wants, who sent it, and how large
//! it is; then rmcp takes over.

use std::{
    convert::Infallible,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Instant,
};

use belljar_host_protocol::Ends;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use parking_lot::Mutex;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
        session::{SessionManager as _, local::LocalSessionManager},
    },
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    Admission, Metrics, Options, Page, Principal, Scope, Tokens,
    admission::Flights,
    answer::{self, Answer, LATER},
    body, cors,
    guesses::Guesses,
    host::{self, Opening, WebSockets},
    message::{Head, INVALID_REQUEST},
    oauth::{self, Refusal, ResourceServer},
    origin::{Allowed, only},
    refusal::{challenged, full, internal, not_read, strange, unauthorized},
    sessions::{NoUse, Place, Sessions, Use},
    shares::Shares,
    tokens::TokenDigest,
    ui::{self, StillValid},
    validity::Validity,
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// From this revision on there are no sessions. Revisions are dates, which can be compared as
/// texts.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// The peer of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Client {
    /// A client at this address, which must show a token.
    At(IpAddr),
    /// A process of the user who runs the server, at its socket.
    #[cfg(unix)]
    Owner,
}

/// The endpoint, and the state that all its requests share.
pub(crate) struct Front<H> {
    service: StreamableHttpService<Arc<H>, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) flights: Flights,
    pub(crate) options: Options,
    tokens: watch::Receiver<Arc<Tokens>>,
    /// Set before the first request, if at all.
    pub(crate) oauth: OnceLock<ResourceServer>,
    allowed: Allowed,
    shares: Shares,
    guesses: Guesses,
    draining: CancellationToken,
    /// Set before the first request, if at all.
    pub(crate) web_sockets: OnceLock<WebSockets>,
    /// Set before the first request, if at all.
    pub(crate) metrics: OnceLock<Metrics>,
    /// Set before the first request, if at all.
    pub(crate) page: OnceLock<Arc<dyn Page>>,
    /// Cancels the calls in flight, whose answers can still be sent.
    pub(crate) calling_off: CancellationToken,
    /// Ends all sessions and streams.
    pub(crate) ending: CancellationToken,
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
            oauth: OnceLock::new(),
            allowed: Allowed::new(&options.hosts, &options.origins),
            shares: Shares::new(limits),
            guesses: Guesses::default(),
            draining: CancellationToken::new(),
            web_sockets: OnceLock::new(),
            metrics: OnceLock::new(),
            page: OnceLock::new(),
            calling_off: CancellationToken::new(),
            ending,
            options,
        }
    }

    /// From now on, starts nothing new.
    pub(crate) fn drain(&self) {
        self.draining.cancel();
    }

    /// Ends idle sessions, and forgets those that have ended.
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

    /// Answers one request. After a request for a WebSocket, `opening` says what is to be done with
    /// the connection.
    pub(crate) async fn answer(
        &self,
        client: Client,
        request: Request<Incoming>,
        opening: &Mutex<Option<Opening>>,
    ) -> Result<Answer, Infallible> {
        let resource = self.oauth.get().map(ResourceServer::host);
        let checked = match ui::is_below(request.uri().path()) {
            // The page only accepts requests of its own origin, under whatever name.
            true => self.allowed.check_host(request.uri(), request.headers(), resource),
            false => self.allowed.check(request.uri(), request.headers(), resource),
        };
        if let Err(stranger) = checked {
            return Ok(answer::last(strange(&stranger)));
        }
        // Pages of another origin may not read what is meant for people.
        let page = cors::page(request.headers()).filter(|_| !ui::is_below(request.uri().path()));
        let mut answer = self.admitted(client, request, opening).await.unwrap_or_else(|refusal| refusal);
        if let Some(page) = page {
            cors::share(&mut answer, page);
        }
        Ok(answer)
    }

    async fn admitted(
        &self,
        client: Client,
        request: Request<Incoming>,
        opening: &Mutex<Option<Opening>>,
    ) -> Result<Answer, Answer> {
        match request.uri().path() {
            "/host" if self.web_sockets.get().is_some() => {
                let (answer, opened) = self.host(client, request).await?;
                *opening.lock() = opened;
                Ok(answer)
            }
            "/mcp" if cors::is_preflight(&request) => Ok(cors::preflight()),
            "/mcp" => self.mcp(client, request).await,
            "/metrics" if self.metrics.get().is_some() => self.metrics(client, request).await,
            path if self.page.get().is_some() && ui::is_below(path) => self.ui(client, request).await,
            "/healthz" => probe(request.method(), true),
            "/readyz" => probe(request.method(), !self.is_draining()),
            path if self.is_metadata(path) && cors::is_preflight(&request) => Ok(cors::preflight()),
            path if self.is_metadata(path) => self.metadata(request.method()),
            _ => Err(answer::refused(StatusCode::NOT_FOUND, "not found: the endpoint is /mcp")),
        }
    }

    /// Opens a WebSocket for the host protocol.
    async fn host(&self, client: Client, mut request: Request<Incoming>) -> Result<(Answer, Option<Opening>), Answer> {
        only_read(request.method())?;
        let headers = request.headers_mut();
        if !headers.contains_key(header::AUTHORIZATION)
            && let Some(token) = host::offered_token(headers)
        {
            headers.insert(header::AUTHORIZATION, token);
        }
        let principal = self.principal(client, request.headers()).await?;
        let validity = self.validity(client, request.headers(), &principal);
        if !principal.may(Scope::RunReadOnly) {
            let message = format!("the token '{}' does not allow runs", principal.name());
            return Err(answer::refused(StatusCode::FORBIDDEN, &message));
        }
        if self.is_draining() {
            let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            return Err(answer::last(answer::later(refusal, LATER)));
        }
        let ends = Ends { draining: self.draining.clone(), now: self.calling_off.child_token() };
        let held = (self.flights.begin(), ends, validity);
        let opened = self.web_sockets.get().map(|all| all.open(&principal, &mut request, held));
        match opened {
            Some(Ok((answer, opening))) => Ok((answer, Some(opening))),
            Some(Err(none)) => Err(none.refusal()),
            None => Err(internal()),
        }
    }

    async fn metrics(&self, client: Client, request: Request<Incoming>) -> Result<Answer, Answer> {
        only_read(request.method())?;
        let principal = self.principal(client, request.headers()).await?;
        if !principal.may(Scope::Metrics) {
            let message = format!("the token '{}' does not allow this: it needs the scope metrics", principal.name());
            return Err(answer::refused(StatusCode::FORBIDDEN, &message));
        }
        let metrics = self.metrics.get().ok_or_else(internal)?;
        Ok(metrics().await.answer())
    }

    /// Lets the page answer. Who may open it is decided only here.
    async fn ui(&self, client: Client, mut request: Request<Incoming>) -> Result<Answer, Answer> {
        let path = request.uri().path();
        if path == "/ui" {
            return Ok(ui::with_a_slash());
        }
        if self.is_draining() && request.method() != Method::GET {
            let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            return Err(answer::last(answer::later(refusal, LATER)));
        }
        let bearer = if ui::opens(path) && request.method() == Method::POST {
            // Nobody shows a token at the socket, so a proxy there would open the page to
            // everybody.
            if !matches!(client, Client::At(_)) {
                let message = "the page is opened at the server's address, not at its socket";
                return Err(answer::refused(StatusCode::FORBIDDEN, message));
            }
            let principal = self.principal(client, request.headers()).await?;
            if !principal.may(Scope::Admin) {
                let message =
                    format!("the token '{}' does not open the page: it needs the scope admin", principal.name());
                return Err(answer::refused(StatusCode::FORBIDDEN, &message));
            }
            tracing::info!("the page was opened with the token '{}'", principal.name());
            let validity = self.validity(client, request.headers(), &principal);
            request.headers_mut().remove(header::AUTHORIZATION);
            Some(StillValid::new(principal.shared_name().clone(), move || validity.is_valid()))
        } else {
            None
        };
        let flight = (request.method() != Method::GET).then(|| self.flights.begin());
        let (page, request) = self.page.get().zip(ui::below(request)).ok_or_else(internal)?;
        tokio::select! {
            answer = page.answer(request, bearer) => {
                Ok(answer::holding(ui::until(answer, self.draining.clone()), flight))
            }
            () = self.calling_off.cancelled() => {
                let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
                Err(answer::last(answer::later(refusal, LATER)))
            }
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
        let principal = self.principal(client, request.headers()).await?;
        // The request's handler does not need it, and could leak it.
        request.headers_mut().remove(header::AUTHORIZATION);
        if self.is_draining() {
            let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            return Err(answer::last(answer::later(refusal, LATER)));
        }
        let mut share = self.shares.open(principal.shared_name()).map_err(full)?;
        // A stream that only waits for messages does not delay the end of the server.
        let flight = (method != Method::GET).then(|| self.flights.begin());
        let (mut parts, body) = request.into_parts();
        let limits = &self.options.limits;
        let read = match method {
            Method::POST => {
                Some(body::read(body, limits, &mut share).await.map_err(|unread| not_read(&unread, limits))?)
            }
            _ => None,
        };
        let head = read.as_deref().map(Head::read).transpose()?;
        self.check_scopes(&principal, head.as_ref())?;
        if without_sessions(&parts.headers) {
            parts.headers.remove(SESSION);
        }
        let named = only(&parts.headers, &SESSION).map(str::to_owned);
        let (session, place) = self.session(&principal, &parts.headers, head)?;
        let admission = Admission::new(principal, (session, Some(share)), flight, self.calling_off.clone());
        parts.extensions.insert(admission.clone());
        let request = Request::from_parts(parts, Full::new(read.unwrap_or_default()));
        let answer = self.service.handle(request).await;
        self.note(&method, named, place, &answer).await?;
        Ok(answer::holding(tidy(answer), admission))
    }

    fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// The principal of the token.
    async fn principal(&self, client: Client, headers: &HeaderMap) -> Result<Principal, Answer> {
        let address = match client {
            Client::At(address) => address,
            #[cfg(unix)]
            Client::Owner => return Ok(Principal::owner()),
        };
        let oauth = self.oauth.get();
        let Some(shown) = headers.get(header::AUTHORIZATION) else {
            return Err(match oauth {
                None => unauthorized(
                    "a token is needed: 'Authorization: Bearer …'; 'belljar token add' makes one",
                    "Bearer realm=\"belljar\"",
                ),
                Some(oauth) => unauthorized("a token is needed: 'Authorization: Bearer …'", &oauth.challenge(None)),
            });
        };
        let bearer = bearer(headers);
        let known = bearer.and_then(|token| self.tokens.borrow().principal(token));
        if let Some(principal) = known {
            return Ok(principal);
        }
        let mut challenge = "Bearer realm=\"belljar\", error=\"invalid_token\"".to_owned();
        if let Some(oauth) = oauth {
            let refusal = match bearer.filter(|token| oauth::is_signed(token)) {
                Some(token) => match oauth.principal(token).await {
                    Ok(principal) => return Ok(principal),
                    Err(refusal) => refusal,
                },
                None => Refusal::Rejected(oauth::Rejected::Malformed),
            };
            match refusal {
                Refusal::Unavailable => {
                    let message =
                        "the keys of the authorization server cannot be fetched at the moment; try again later";
                    let refusal = answer::refused(StatusCode::SERVICE_UNAVAILABLE, message);
                    return Err(answer::last(answer::later(refusal, LATER)));
                }
                // Signatures cannot be guessed: this was a valid token once, or is valid for
                // another server.
                Refusal::NotGood(why) => {
                    tracing::info!("a token from {address} is refused: {why}");
                    return Err(unauthorized(&why.to_string(), &oauth.challenge(Some(&why))));
                }
                Refusal::Rejected(why) => challenge = oauth.challenge(Some(&why)),
            }
        }
        tracing::info!("a wrong token of {} bytes from {address}", shown.len());
        let refusal = match self.guesses.count(address, self.options.limits.guesses, Instant::now()) {
            None => unauthorized("this token is not valid", &challenge),
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

    /// How long a principal may keep a connection with the token that it has shown.
    fn validity(&self, client: Client, headers: &HeaderMap, principal: &Principal) -> Validity {
        #[cfg(unix)]
        if matches!(client, Client::Owner) {
            return Validity::Always;
        }
        #[cfg(not(unix))]
        let _ = client;
        match principal.expires() {
            Some(until) => Validity::Until(until),
            None => Validity::Token {
                digest: TokenDigest::of(bearer(headers).unwrap_or_default()),
                principal: principal.clone(),
                tokens: self.tokens.clone(),
            },
        }
    }

    /// Rejects a call for which a token of the authorization server lacks scopes, so that the
    /// client can get a new one. For a token that the owner made, the handler answers instead, and
    /// a model can read that answer.
    fn check_scopes(&self, principal: &Principal, head: Option<&Head>) -> Result<(), Answer> {
        let Some(oauth) = self.oauth.get().filter(|_| principal.is_of_issuer()) else { return Ok(()) };
        let Some(lacking) = oauth.lacking(principal, head.and_then(Head::tool)) else { return Ok(()) };
        let mut refusal = answer::refused(StatusCode::FORBIDDEN, "the token does not have the scopes that this needs");
        challenged(&mut refusal, &oauth.challenge_for_more(&lacking));
        Err(refusal)
    }

    fn is_metadata(&self, path: &str) -> bool {
        self.oauth.get().is_some_and(|oauth| oauth.metadata_path() == path)
    }

    /// The document that tells clients where to get tokens.
    fn metadata(&self, method: &Method) -> Result<Answer, Answer> {
        only_read(method)?;
        let metadata = self.oauth.get().map(ResourceServer::metadata);
        Ok(answer::of(StatusCode::OK, &metadata.unwrap_or_default()))
    }

    /// The session of a request, or a place for the session that it wants to begin.
    fn session(
        &self,
        principal: &Principal,
        headers: &HeaderMap,
        head: Option<Head>,
    ) -> Result<(Option<Use>, Option<Place>), Answer> {
        let mut named = headers.get_all(SESSION).iter();
        let Some(first) = named.next() else {
            if !head.is_some_and(|head| head.begins_session()) {
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
        let request = head.and_then(Head::request);
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

    /// Updates the list of sessions after rmcp's answer.
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
            // Nobody could tell whose session it is.
            (Some(id), None) => {
                self.close(&id).await;
                tracing::error!("a session was started by a request that is not 'initialize'");
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

    /// Forgets a session that rmcp no longer has.
    async fn reap_one(&self, id: &str) {
        if !self.manager.sessions.read().await.contains_key(id) {
            self.sessions.remove(id);
        }
    }
}

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, &header::AUTHORIZATION)
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
}

fn without_sessions(headers: &HeaderMap) -> bool {
    only(headers, &REVISION).is_some_and(|revision| revision >= WITHOUT_SESSIONS)
}

fn only_read(method: &Method) -> Result<(), Answer> {
    match [Method::GET, Method::HEAD].contains(method) {
        true => Ok(()),
        false => Err(answer::refused(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported here")),
    }
}

fn probe(method: &Method, ready: bool) -> Result<Answer, Answer> {
    only_read(method)?;
    let (status, text) = if ready { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "ending") };
    Ok(answer::of(status, &json!({ "status": text })))
}

/// Replaces rmcp's 500, which shows internal details.
fn tidy(answer: Answer) -> Answer {
    if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::warn!("rmcp answered with an internal error");
        return internal();
    }
    answer
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn the_body_of_an_internal_error_does_not_say_what_went_wrong_inside() {
        let mut answer = answer::refused(StatusCode::INTERNAL_SERVER_ERROR, "the folder /home/ann/secret is not there");
        answer.headers_mut().insert("x-inside", HeaderValue::from_static("secret"));
        let answer = tidy(answer);
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!answer.headers().contains_key("x-inside"));
        let body = answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(body.contains("its log says more") && !body.contains("secret"), "{body}");
    }
}
