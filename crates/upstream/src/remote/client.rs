//! HTTP requests to one remote server: with its headers and login, to its own origin alone, and with answers that are bounded.

use std::{collections::BTreeMap, time::Duration};

use belljar_model::HttpEndpoint;
use reqwest::{
    Method, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
    redirect::Policy,
};
use url::Url;

use crate::{
    auth::Login,
    limits,
    remote::fault::{RemoteFault, host_of, is_private_way},
    text::one_line,
};

/// One remote server, as it is asked.
pub(crate) struct Client {
    http: reqwest::Client,
    url: Url,
    host: String,
    server: String,
    headers: HeaderMap,
    login: Option<Login>,
}

/// Headers that belong to the protocol, whatever the configuration says.
const OURS: [&str; 7] =
    ["accept", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];

impl Client {
    /// Prepares to ask `endpoint`; nothing is sent yet. `login` counts unless the headers have an `Authorization`.
    pub(crate) fn new(
        server: &str,
        endpoint: &HttpEndpoint,
        agent: &str,
        login: Option<Login>,
    ) -> Result<Self, RemoteFault> {
        let url = Url::parse(&endpoint.url).map_err(|error| RemoteFault::Url { reason: error.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(RemoteFault::Url { reason: "it is none of http or https".to_owned() });
        }
        let host = host_of(&url);
        let headers = header_map(&endpoint.headers)?;
        let login = login.filter(|_| !headers.contains_key(AUTHORIZATION));
        let has_secrets = !headers.is_empty() || !url.username().is_empty() || url.password().is_some();
        if (has_secrets || login.is_some()) && !is_private_way(&url) {
            return Err(RemoteFault::Insecure { host });
        }
        let http = builder(agent).build().map_err(|error| RemoteFault::of(error, &host))?;
        Ok(Self { http, url, host, server: server.to_owned(), headers, login })
    }

    /// Where the server is.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The server's name for messages.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Sends one request, with a login if there is one, and gives the head of the answer, whatever its status.
    ///
    /// # Errors
    /// When there is no answer, or the server does not accept who asks.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Response, RemoteFault> {
        let mut token = match &self.login {
            Some(login) => login.token().await.map_err(|reason| self.login_expired(reason))?,
            None => None,
        };
        let mut may_renew = true;
        loop {
            let mut request = self.http.request(method.clone(), url.clone()).headers(self.headers.clone());
            request = request.headers(headers.clone());
            if let Some(token) = &token {
                let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                    .map_err(|_| self.login_expired("its token is none".to_owned()))?;
                value.set_sensitive(true);
                request = request.header(AUTHORIZATION, value);
            }
            if let Some(body) = &body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|error| RemoteFault::of(error, &self.host))?;
            if response.status().is_redirection() {
                return Err(self.redirected(&response));
            }
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            // A token that was good a moment ago may have been renewed by another process, or withdrawn.
            let Some((login, old)) = self.login.as_ref().zip(token.take()) else {
                return Err(self.login_needed(response.status()));
            };
            if !std::mem::take(&mut may_renew) {
                return Err(self.login_expired("a fresh token is refused, too".to_owned()));
            }
            token = Some(login.renewed(&old).await.map_err(|reason| self.login_expired(reason))?);
        }
    }

    /// What a status that means no success says.
    pub(crate) async fn refused(&self, response: Response) -> RemoteFault {
        let status = response.status().as_u16();
        if status == StatusCode::FORBIDDEN.as_u16() && self.headers.contains_key(AUTHORIZATION) {
            return RemoteFault::Denied { host: self.host.clone(), status };
        }
        let message = self.short_text(response).await;
        RemoteFault::Status { host: self.host.clone(), status, message }
    }

    /// The beginning of an answer that is meant for people, if it is a text for them.
    async fn short_text(&self, response: Response) -> String {
        let is_text =
            content_type(&response).is_some_and(|kind| matches!(kind.as_str(), "text/plain" | "application/json"));
        match self.body(response, limits::ERROR_BODY_BYTES).await {
            Ok(Some(body)) if is_text => one_line(&String::from_utf8_lossy(&body), 200),
            _ => String::new(),
        }
    }

    /// The whole of an answer, or none where it is longer than `limit`. No more than that is held.
    pub(crate) async fn body(&self, mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, RemoteFault> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| RemoteFault::of(error, &self.host))? {
            if body.len() + piece.len() > limit {
                return Ok(None);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Some(body))
    }

    pub(crate) fn not_mcp(&self, reason: impl Into<String>) -> RemoteFault {
        RemoteFault::NotMcp { host: self.host.clone(), reason: reason.into() }
    }

    fn redirected(&self, response: &Response) -> RemoteFault {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default();
        let to = match self.url.join(location) {
            // A query may hold a secret.
            Ok(url) => format!("{}://{}{}", url.scheme(), host_of(&url), url.path()),
            Err(_) => "nowhere".to_owned(),
        };
        RemoteFault::Redirected { host: self.host.clone(), to: one_line(&to, 200) }
    }

    fn login_needed(&self, status: StatusCode) -> RemoteFault {
        let host = self.host.clone();
        if self.headers.contains_key(AUTHORIZATION) {
            return RemoteFault::Denied { host, status: status.as_u16() };
        }
        RemoteFault::LoginNeeded { host, server: self.server.clone() }
    }

    fn login_expired(&self, reason: String) -> RemoteFault {
        RemoteFault::LoginExpired {
            host: self.host.clone(),
            server: self.server.clone(),
            reason: one_line(&reason, 200),
        }
    }
}

/// How all of belljar's requests are made: without a proxy of the environment, without cookies, over TLS that is checked with
/// the system's certificates, and never sent on to another origin.
pub(crate) fn builder(agent: &str) -> reqwest::ClientBuilder {
    const CONNECT: Duration = Duration::from_secs(10);
    const KEEP_ALIVE: Duration = Duration::from_secs(30);
    // The first in this process counts, and any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(agent)
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEP_ALIVE)
        .redirect(same_origin())
}

/// Follows a redirect that keeps the method and the body, to the same origin: many servers have one for a missing slash. Any
/// other would take the headers to strangers, or lose the message.
fn same_origin() -> Policy {
    const MOST: usize = 3;
    Policy::custom(|attempt| {
        let keeps_request = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let is_same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps_request && is_same && attempt.previous().len() <= MOST { attempt.follow() } else { attempt.stop() }
    })
}

/// The media type of an answer, in lower case and without its parameters.
pub(crate) fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, RemoteFault> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if OURS.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
            continue;
        }
        let wrong = || RemoteFault::Url { reason: format!("the header '{}' cannot be sent", one_line(name, 80)) };
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}
