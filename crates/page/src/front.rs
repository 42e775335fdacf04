//! Handles a request in this order: where it goes and comes from, what it wants, and who sent it.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Instant};

use belljar_connections::Held;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    answer::{self, Answer},
    embedded::Bearer,
    files,
    reading::{MAX_BODY, MAX_CALL, asked, body, export, name, not_found},
    sessions::{NoSecret, Opened, Sessions},
    source::{Asked, Decided, Export, NotShown, Source, Task, WrittenCall},
    stream,
};

/// The header that each change needs in addition to the token.
const CHANGE: HeaderName = HeaderName::from_static("x-belljar-change");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The most streams at once: each has a connection.
const MAX_STREAMS: usize = 16;
/// The most calls, searches and replays at once, for all pages together: each may take long.
const MAX_WORK: usize = 8;
/// The most other reads at once. Further ones wait, until their browsers give up.
const MAX_READS: usize = 4;
/// The most exports at once, until they have been read completely: each may be large.
const MAX_EXPORTS: usize = 2;
/// The key for the confirmation of a call that was written on the page, among those of questions.
const WRITTEN: &str = "a written call";

/// Answers requests.
pub(crate) struct Front {
    pub(crate) sessions: Arc<Sessions>,
    source: Arc<dyn Source>,
    place: Place,
    streams: Arc<()>,
    work: Semaphore,
    reads: Semaphore,
    exports: Arc<Semaphore>,
}

/// Where the page is served.
enum Place {
    /// On its own port on the loopback, under these names.
    Own([String; 2]),
    /// On another server, which has checked the names, and whose clients have tokens.
    Embedded,
}

/// Why a request is refused.
pub(crate) struct Refused(pub(crate) StatusCode, pub(crate) String);

impl Refused {
    pub(crate) fn new(status: StatusCode, message: &str) -> Self {
        Self(status, message.to_owned())
    }
}

impl From<NotShown> for Refused {
    fn from(fault: NotShown) -> Self {
        let status = match &fault {
            NotShown::Unknown(_) => StatusCode::NOT_FOUND,
            NotShown::Wrong(_) => StatusCode::BAD_REQUEST,
            NotShown::Refused(_) => StatusCode::CONFLICT,
            NotShown::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, fault.to_string())
    }
}

impl From<NoSecret> for Refused {
    fn from(NoSecret: NoSecret) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the system gave no random number")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ticket {
    ticket: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfirmedCall {
    tool: String,
    arguments: String,
    confirmation: String,
}

impl Front {
    /// A page on its own port.
    pub(crate) fn new(address: SocketAddr, source: Arc<dyn Source>) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", address.port()));
        Self::at(Place::Own(hosts), source)
    }

    /// A page on another server.
    pub(crate) fn embedded(source: Arc<dyn Source>) -> Self {
        Self::at(Place::Embedded, source)
    }

    fn at(place: Place, source: Arc<dyn Source>) -> Self {
        let (work, reads) = (Semaphore::new(MAX_WORK), Semaphore::new(MAX_READS));
        let exports = Arc::new(Semaphore::new(MAX_EXPORTS));
        Self { sessions: Arc::default(), source, place, streams: Arc::new(()), work, reads, exports }
    }

    /// Whether a page is open and receives updates.
    pub(crate) fn is_watched(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }

    /// Whether a request opens a page. Anybody may send such a request: who sent it is known only
    /// when its whole body has arrived.
    pub(crate) fn is_opened_by<B>(request: &Request<B>) -> bool {
        (request.method(), request.uri().path()) == (&Method::POST, "/session")
    }

    /// Answers a request; `bearer` has shown a token of the server on which the page is.
    pub(crate) async fn answer<B>(&self, request: Request<B>, bearer: Option<Bearer>) -> Result<Answer, Infallible>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let answered = match self.comes_from_here(&request) {
            Ok(()) => self.admitted(request, bearer).await,
            Err(refused) => Err(refused),
        };
        let has_login = matches!(self.place, Place::Embedded);
        Ok(answered.unwrap_or_else(|Refused(status, message)| answer::refused(status, &message, has_login)))
    }

    /// Checks that a request is meant for this server, and was not sent by another page.
    fn comes_from_here<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        let headers = request.headers();
        let strange = |message| Err(Refused::new(StatusCode::FORBIDDEN, message));
        let is_own = |host: &&str| match &self.place {
            Place::Own(names) => names.iter().any(|own| own == host),
            Place::Embedded => true,
        };
        let Some(host) = only(headers, &header::HOST).filter(is_own) else {
            return strange("the host of the request is not this server");
        };
        if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
            return strange("the host of the request is not this server");
        }
        let is_change = request.method() != Method::GET;
        if headers.contains_key(header::ORIGIN) || is_change {
            // There may be a proxy in front of the other server that speaks TLS.
            let schemes: &[&str] = match &self.place {
                Place::Own(_) => &["http://"],
                Place::Embedded => &["http://", "https://"],
            };
            let own = |origin: &str| schemes.iter().any(|scheme| origin.strip_prefix(scheme) == Some(host));
            if !only(headers, &header::ORIGIN).is_some_and(own) {
                return strange("the request comes from another page");
            }
        }
        let is_file = files::file(request.uri().path()).is_some();
        let site = only(headers, &FETCH_SITE);
        // The document itself is opened by the file that contains its ticket.
        if !is_file && headers.contains_key(&FETCH_SITE) && !matches!(site, Some("same-origin" | "none")) {
            return strange("the request comes from another page");
        }
        Ok(())
    }

    async fn admitted<B>(&self, request: Request<B>, bearer: Option<Bearer>) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        if method != Method::GET && method != Method::POST {
            return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, "the page takes GET and POST"));
        }
        if let (&Method::GET, Some((kind, text))) = (&method, files::file(&path)) {
            return Ok(answer::of(kind, text));
        }
        if Self::is_opened_by(&request) {
            let Opened { token, change } = self.opened(request, bearer).await?;
            return Ok(answer::json(&json!({ "token": token, "change": change })));
        }
        let token = self.token(request.headers())?;
        if method == Method::GET {
            return self.shown(token, &path, request.uri().query().unwrap_or_default()).await;
        }
        let change = only(request.headers(), &CHANGE).unwrap_or_default();
        if !self.sessions.may_change(&token, change, Instant::now()) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "the request lacks what goes with each change"));
        }
        self.changed(&token, &path, request).await
    }

    /// Opens a page for somebody who has a ticket or a token.
    async fn opened<B>(&self, request: Request<B>, bearer: Option<Bearer>) -> Result<Opened, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if let Place::Embedded = self.place {
            let bearer = bearer.ok_or_else(|| Refused::new(StatusCode::UNAUTHORIZED, "a token is needed"))?;
            return Ok(self.sessions.open_for(bearer, Instant::now())?);
        }
        let Ticket { ticket } = body(request, MAX_BODY).await?;
        self.sessions.open(&ticket, Instant::now())?.ok_or_else(|| {
            Refused::new(StatusCode::FORBIDDEN, "the ticket is used up or too old: 'belljar ui' makes a new one")
        })
    }

    /// The token of a request, if it is that of an open page.
    fn token(&self, headers: &HeaderMap) -> Result<String, Refused> {
        let shown = only(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let known = shown.filter(|token| self.sessions.knows(token, Instant::now()));
        let message = match &self.place {
            Place::Own(_) => "the page is not open any more: open it with 'belljar ui'",
            Place::Embedded => "the page is not open: it takes a token with the scope admin",
        };
        known.map(str::to_owned).ok_or_else(|| Refused::new(StatusCode::UNAUTHORIZED, message))
    }

    async fn shown(&self, token: String, path: &str, query: &str) -> Result<Answer, Refused> {
        if path == "/metrics" {
            let (kind, text) = self.source.metrics().await;
            return Ok(answer::of(kind, text));
        }
        if path == "/api/events" {
            if Arc::strong_count(&self.streams) > MAX_STREAMS {
                let message = format!("{MAX_STREAMS} pages are open, the limit: close one");
                return Err(Refused(StatusCode::TOO_MANY_REQUESTS, message));
            }
            let sessions = self.sessions.clone();
            let is_open = move || sessions.knows(&token, Instant::now());
            return Ok(stream::answer(self.source.updates(), self.streams.clone(), is_open));
        }
        if let Some((run, form)) = export(path) {
            let kind = match form {
                Export::Recording => "application/octet-stream",
                Export::Json => "application/json",
            };
            let place = self.exports.clone().try_acquire_owned().map_err(|_| too_many(MAX_EXPORTS))?;
            let exported = answer::of(kind, self.source.exported(run, form).await?);
            return Ok(exported.map(|body| Held::new(body, place).boxed_unsync()));
        }
        let asked = asked(path, query)?;
        let _place = match &asked {
            // A server may have to be started for this.
            Asked::Search(_) | Asked::ToolsOf(_) | Asked::Tool(_) => Some(self.place_to_work()?),
            // Waiting questions are always shown, whatever else is being read.
            Asked::Waiting | Asked::Approvals => None,
            // Nobody closes the semaphore.
            _ => self.reads.acquire().await.ok(),
        };
        Ok(answer::json(&self.source.shown(asked).await?))
    }

    /// A place for work that may take long.
    fn place_to_work(&self) -> Result<SemaphorePermit<'_>, Refused> {
        self.work.try_acquire().map_err(|_| too_many(MAX_WORK))
    }

    async fn changed<B>(&self, token: &str, path: &str, request: Request<B>) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let done = match path {
            "/api/explain" => {
                let call = body(request, MAX_CALL).await?;
                let _place = self.place_to_work()?;
                self.source.done(Task::Explain(call)).await?
            }
            "/api/call/show" => {
                let call: WrittenCall = body(request, MAX_CALL).await?;
                let identity = identity(&call);
                let _place = self.place_to_work()?;
                let explained = self.source.done(Task::Explain(call)).await?;
                let shown = (WRITTEN.to_owned(), identity);
                let confirmation = self.sessions.confirmation(token, shown, Instant::now())?;
                json!({ "explained": explained, "confirmation": confirmation })
            }
            "/api/call" => self.call(token, body(request, MAX_CALL).await?).await?,
            "/session/end" => {
                tracing::info!(by = self.sessions.bearer(token), "a page is closed");
                self.sessions.close(token);
                json!({ "closed": true })
            }
            _ => match path.strip_prefix("/api/runs/").and_then(|asked| asked.split_once('/')) {
                Some((run, "replay")) => {
                    let run = name(run)?;
                    let _place = self.place_to_work()?;
                    self.source.done(Task::Replay(run)).await?
                }
                Some((run, "cancel")) => {
                    let run = name(run)?;
                    tracing::info!(run, by = self.sessions.bearer(token), "a run is cancelled on the page");
                    self.source.cancel(run).await?;
                    json!({ "cancelled": true })
                }
                _ => return self.decided(token, path, request).await,
            },
        };
        Ok(answer::json(&done))
    }

    /// Makes a call, if it is exactly the one that was shown.
    async fn call(&self, token: &str, asked: ConfirmedCall) -> Result<serde_json::Value, Refused> {
        let ConfirmedCall { tool, arguments, confirmation } = asked;
        let call = WrittenCall { tool, arguments };
        // If there is no place, the person's confirmation is not used up.
        let _place = self.place_to_work()?;
        let shown = self.sessions.confirmed(token, WRITTEN, &confirmation, Instant::now());
        if shown.as_deref() != Some(identity(&call).as_str()) {
            let message = "nothing is called: the call was not shown so, or too long ago; look at it again";
            return Err(Refused::new(StatusCode::CONFLICT, message));
        }
        tracing::info!(
            tool = call.tool,
            by = self.sessions.bearer(token),
            "a call that was written on the page is made"
        );
        Ok(self.source.call(call).await?)
    }

    async fn decided<B>(&self, token: &str, path: &str, request: Request<B>) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let asked = path.strip_prefix("/api/approvals/").ok_or_else(not_found)?;
        if let Some(id) = asked.strip_suffix("/show") {
            let id = name(id)?;
            let (question, identity) = self.source.question(id.clone()).await?;
            let confirmation = self.sessions.confirmation(token, (id, identity), Instant::now())?;
            return Ok(answer::json(&json!({ "question": question, "confirmation": confirmation })));
        }
        let id = name(asked)?;
        let Decided { approve, confirmation } = body(request, MAX_BODY).await?;
        let identity = self.sessions.confirmed(token, &id, &confirmation, Instant::now()).ok_or_else(|| {
            let message = "nothing is decided: the call was shown too long ago, or was decided here; look at it again";
            Refused::new(StatusCode::CONFLICT, message)
        })?;
        tracing::info!(question = id, approve, by = self.sessions.bearer(token), "a decision is made on the page");
        self.source.decide(id, identity, approve).await?;
        Ok(answer::json(&json!({ "approved": approve })))
    }
}

fn too_many(limit: usize) -> Refused {
    let message = format!("{limit} requests of this kind are under way, the limit: try again later");
    Refused(StatusCode::TOO_MANY_REQUESTS, message)
}

/// A text that contains everything about a call that was written on the page.
fn identity(call: &WrittenCall) -> String {
    let digest = Sha256::digest(json!([call.tool, call.arguments]).to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of a header that must occur exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
