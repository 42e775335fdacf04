//! Handles a request in this order: where it goes and comes from, what it wants, whose it is.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use tokio::time::timeout_at;

use crate::{
    answer::{self, Answer},
    files,
    sessions::{NoSecret, Opened, Sessions},
    source::{Decided, NotShown, RunsAsked, Source},
    stream,
};

/// What goes with each change, beside the token.
const CHANGE: HeaderName = HeaderName::from_static("x-belljar-change");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The body of a decision has some hundred bytes.
const MAX_BODY: usize = 4096;
/// How long it may take.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Characters of a name in a request.
const MAX_NAME: usize = 200;
/// Streams at once: each has a connection.
const MAX_STREAMS: usize = 16;

/// What answers requests.
pub(crate) struct Front {
    pub(crate) sessions: Sessions,
    source: Arc<dyn Source>,
    /// `127.0.0.1` and `localhost`, with the port.
    hosts: [String; 2],
    streams: Arc<()>,
}

/// Why a request is refused.
struct Refused(StatusCode, String);

impl Refused {
    fn new(status: StatusCode, message: &str) -> Self {
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

impl Front {
    pub(crate) fn new(address: SocketAddr, source: Arc<dyn Source>) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", address.port()));
        Self { sessions: Sessions::default(), source, hosts, streams: Arc::new(()) }
    }

    /// Whether a page is open and hears what happens.
    pub(crate) fn is_watched(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }

    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Result<Answer, Infallible>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let answered = match self.comes_from_here(&request) {
            Ok(()) => self.admitted(request).await,
            Err(refused) => Err(refused),
        };
        Ok(answered.unwrap_or_else(|Refused(status, message)| answer::refused(status, &message)))
    }

    /// Whether a request is meant for this server, and no other page has sent it.
    fn comes_from_here<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        let headers = request.headers();
        let strange = |message| Err(Refused::new(StatusCode::FORBIDDEN, message));
        let Some(host) = only(headers, &header::HOST).filter(|host| self.hosts.iter().any(|own| own == host)) else {
            return strange("the host of the request is not this server");
        };
        if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
            return strange("the host of the request is not this server");
        }
        let is_change = request.method() != Method::GET;
        if headers.contains_key(header::ORIGIN) || is_change {
            let own = |origin: &str| origin.strip_prefix("http://") == Some(host);
            if !only(headers, &header::ORIGIN).is_some_and(own) {
                return strange("the request comes from another page");
            }
        }
        let is_file = files::file(request.uri().path()).is_some();
        let site = only(headers, &FETCH_SITE);
        // The document itself is opened from the file that brings its ticket.
        if !is_file && headers.contains_key(&FETCH_SITE) && !matches!(site, Some("same-origin" | "none")) {
            return strange("the request comes from another page");
        }
        Ok(())
    }

    async fn admitted<B: Body<Data = Bytes> + Unpin>(&self, request: Request<B>) -> Result<Answer, Refused> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        if method != Method::GET && method != Method::POST {
            return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, "the page takes GET and POST"));
        }
        if let (&Method::GET, Some((kind, text))) = (&method, files::file(&path)) {
            return Ok(answer::of(kind, text));
        }
        if (&method, path.as_str()) == (&Method::POST, "/session") {
            let Ticket { ticket } = body(request).await?;
            let opened = self.sessions.open(&ticket, Instant::now())?;
            let Opened { token, change } = opened.ok_or_else(|| {
                Refused::new(StatusCode::FORBIDDEN, "the ticket is used up or too old: 'belljar ui' makes a new one")
            })?;
            return Ok(answer::json(&json!({ "token": token, "change": change })));
        }
        let token = self.token(request.headers())?;
        if method == Method::GET {
            return self.shown(&path, request.uri().query().unwrap_or_default()).await;
        }
        let change = only(request.headers(), &CHANGE).unwrap_or_default();
        if !self.sessions.may_change(&token, change, Instant::now()) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "the request lacks what goes with each change"));
        }
        self.changed(&token, &path, request).await
    }

    /// The token of a request, if it is that of an open page.
    fn token(&self, headers: &HeaderMap) -> Result<String, Refused> {
        let shown = only(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let known = shown.filter(|token| self.sessions.knows(token, Instant::now()));
        known.map(str::to_owned).ok_or_else(|| {
            Refused::new(StatusCode::UNAUTHORIZED, "the page is not open any more: open it with 'belljar ui'")
        })
    }

    async fn shown(&self, path: &str, query: &str) -> Result<Answer, Refused> {
        match path {
            "/api/runs" => Ok(answer::json(&self.source.runs(runs_asked(query)?).await?)),
            "/api/approvals" => Ok(answer::json(&self.source.approvals().await?)),
            "/api/waiting" => Ok(answer::json(&self.source.waiting().await?)),
            "/metrics" => {
                let (kind, text) = self.source.metrics().await;
                Ok(answer::of(kind, text))
            }
            "/api/events" => {
                if Arc::strong_count(&self.streams) > MAX_STREAMS {
                    let message = format!("{MAX_STREAMS} pages are open, the limit: close one");
                    return Err(Refused(StatusCode::TOO_MANY_REQUESTS, message));
                }
                Ok(stream::answer(self.source.updates(), self.streams.clone()))
            }
            _ => match path.strip_prefix("/api/runs/") {
                Some(run) => Ok(answer::json(&self.source.run(name(run)?).await?)),
                None => Err(not_found()),
            },
        }
    }

    async fn changed<B>(&self, token: &str, path: &str, request: Request<B>) -> Result<Answer, Refused>
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
        let Decided { approve, confirmation } = body(request).await?;
        let identity = self.sessions.confirmed(token, &id, &confirmation, Instant::now()).ok_or_else(|| {
            let message = "nothing is decided: the call was shown too long ago, or was decided here; look at it again";
            Refused::new(StatusCode::CONFLICT, message)
        })?;
        self.source.decide(id, identity, approve).await?;
        Ok(answer::json(&json!({ "approved": approve })))
    }
}

fn not_found() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "there is nothing here")
}

/// A name of belljar's own making in a path.
fn name(text: &str) -> Result<String, Refused> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    match !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_name) {
        true => Ok(text.to_owned()),
        false => Err(not_found()),
    }
}

/// The value of a header that must occur exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

async fn body<T: DeserializeOwned, B: Body<Data = Bytes> + Unpin>(request: Request<B>) -> Result<T, Refused> {
    let too_large = || Refused(StatusCode::PAYLOAD_TOO_LARGE, format!("a body may have {MAX_BODY} bytes"));
    let wrong = |message| Refused::new(StatusCode::BAD_REQUEST, message);
    let (mut body, mut bytes) = (request.into_body(), BytesMut::new());
    let end = Instant::now() + BODY_TIME;
    loop {
        let frame = timeout_at(end.into(), body.frame()).await;
        let Some(frame) = frame.map_err(|_| wrong("the body came too slowly"))? else { break };
        let frame = frame.map_err(|_| wrong("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > MAX_BODY {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
    serde_json::from_slice(&bytes).map_err(|_| wrong("the body is not what is expected here"))
}

fn runs_asked(query: &str) -> Result<RunsAsked, Refused> {
    let mut asked = RunsAsked::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value).filter(|value| value.len() <= MAX_NAME);
        let value = value.ok_or_else(|| Refused::new(StatusCode::BAD_REQUEST, "a filter cannot be read"))?;
        let text = Some(value.clone()).filter(|value| !value.is_empty());
        match name {
            "client" => asked.client = text,
            "tool" => asked.tool = text,
            "effect" => asked.effect = text,
            "failed" => asked.failed = value == "1",
            "waiting" => asked.waiting = value == "1",
            "limit" => asked.limit = value.parse().ok(),
            _ => return Err(Refused::new(StatusCode::BAD_REQUEST, "there is no such filter")),
        }
    }
    Ok(asked)
}

/// A value of a query, without its percent signs.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
