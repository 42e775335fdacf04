//! HTTP requests to one remote server: with its headers and login, to its own origin only, and with
//! bounded answers.

use std::{collections::BTreeMap, sync::Arc};

use belljar_model::{HttpEndpoint, Redactor};
use reqwest::{
    Method, Response, StatusCode,
    dns::Resolve,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
};
use url::Url;

use crate::{
    auth::{Login, scope},
    error::RemoteError,
    http::{
        builder::{builder, proxy},
        origin::{host_of, is_private_way},
        reach::{Reach, SystemLookup},
    },
    limits,
    redaction::redacted_line,
    text::one_line,
};

/// One remote server, for requests.
pub(crate) struct HttpClient {
    http: reqwest::Client,
    url: Url,
    host: String,
    server: String,
    headers: HeaderMap,
    login: Option<Login>,
    redactor: Arc<Redactor>,
}

/// Headers that belong to the protocol, whatever the configuration says.
const OURS: [&str; 7] =
    ["accept", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];

impl HttpClient {
    /// Prepares a client for `endpoint`; nothing is sent yet. `login` is used unless the headers
    /// have an `Authorization`.
    pub(crate) fn new(
        server: &str,
        endpoint: &HttpEndpoint,
        agent: &str,
        login: Option<Login>,
    ) -> Result<Self, RemoteError> {
        Self::with_lookup(server, endpoint, agent, login, Arc::new(SystemLookup))
    }

    fn with_lookup(
        server: &str,
        endpoint: &HttpEndpoint,
        agent: &str,
        login: Option<Login>,
        lookup: Arc<dyn Resolve>,
    ) -> Result<Self, RemoteError> {
        let url = Url::parse(&endpoint.url).map_err(|error| RemoteError::Url { reason: error.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(RemoteError::Url { reason: "it is neither http nor https".to_owned() });
        }
        let host = host_of(&url);
        let headers = header_map(&endpoint.headers)?;
        let login = login.filter(|_| !headers.contains_key(AUTHORIZATION));
        let url_has_secrets = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
        let mut builder = builder(agent);
        if let Some(proxy) = proxy(endpoint.proxy.as_deref())? {
            builder = builder.proxy(proxy);
        }
        if url_has_secrets || !headers.is_empty() || login.is_some() {
            if !is_private_way(&url) {
                return Err(RemoteError::Insecure { host });
            }
            // Only a certificate proves who is at a name. Without one, the connection itself must
            // stay on this machine.
            if url.scheme() == "http" {
                builder = builder.dns_resolver(Arc::new(Reach::loopback(lookup)));
            }
        }
        let http = builder.build().map_err(|error| RemoteError::of(error, &host))?;
        Ok(Self { http, url, host, server: server.to_owned(), headers, login, redactor: Arc::default() })
    }

    /// The same, with the secrets of the server masked in messages about it.
    pub(crate) fn with_redactor(self, redactor: Arc<Redactor>) -> Self {
        Self { redactor, ..self }
    }

    /// Where the server is.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The server's name for messages.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Sends one request, with a login if there is one, and returns the head of the answer,
    /// whatever its status.
    ///
    /// # Errors
    /// If there is no answer, or the server rejects the login.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Response, RemoteError> {
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
                    .map_err(|_| self.login_expired("its token is malformed".to_owned()))?;
                value.set_sensitive(true);
                request = request.header(AUTHORIZATION, value);
            }
            if let Some(body) = &body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|error| RemoteError::of(error, &self.host))?;
            if response.status().is_redirection() {
                return Err(self.redirected(&response));
            }
            if response.status() == StatusCode::FORBIDDEN
                && let Some(login) = &self.login
                && let Some(scopes) = scope::needed(response.headers())
            {
                login.wants(&scopes).await;
                return Err(self.scope_needed(scopes, login.has_chosen_scopes()));
            }
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            // A token that was valid a moment ago may have been renewed by another process, or
            // withdrawn.
            let Some((login, old)) = self.login.as_ref().zip(token.take()) else {
                return Err(self.login_needed(response.status()));
            };
            if !std::mem::take(&mut may_renew) {
                return Err(self.login_expired("a fresh token is refused, too".to_owned()));
            }
            token = Some(login.renewed(&old).await.map_err(|reason| self.login_expired(reason))?);
        }
    }

    /// The meaning of a status that is not a success.
    pub(crate) async fn refused(&self, response: Response) -> RemoteError {
        let status = response.status().as_u16();
        if status == StatusCode::FORBIDDEN.as_u16() && self.headers.contains_key(AUTHORIZATION) {
            return RemoteError::Denied { host: self.host.clone(), status };
        }
        let message = self.short_text(response).await;
        RemoteError::Status { host: self.host.clone(), status, message }
    }

    /// The beginning of an answer, if it is text for people.
    async fn short_text(&self, response: Response) -> String {
        let is_text =
            content_type(&response).is_some_and(|kind| matches!(kind.as_str(), "text/plain" | "application/json"));
        match self.body(response, limits::ERROR_BODY_BYTES).await {
            Ok(Some(body)) if is_text => redacted_line(&String::from_utf8_lossy(&body), 200, &self.redactor),
            _ => String::new(),
        }
    }

    /// The whole answer, or `None` if it is longer than `limit`. No more than that is held.
    pub(crate) async fn body(&self, mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, RemoteError> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| RemoteError::of(error, &self.host))? {
            if body.len() + piece.len() > limit {
                return Ok(None);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Some(body))
    }

    pub(crate) fn not_mcp(&self, reason: impl Into<String>) -> RemoteError {
        RemoteError::NotMcp { host: self.host.clone(), reason: reason.into() }
    }

    fn redirected(&self, response: &Response) -> RemoteError {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default();
        let to = match self.url.join(location) {
            // A query may contain a secret.
            Ok(url) => format!("{}://{}{}", url.scheme(), host_of(&url), url.path()),
            Err(_) => "nowhere".to_owned(),
        };
        RemoteError::Redirected { host: self.host.clone(), to: redacted_line(&to, 200, &self.redactor) }
    }

    fn login_needed(&self, status: StatusCode) -> RemoteError {
        let host = self.host.clone();
        if self.headers.contains_key(AUTHORIZATION) {
            return RemoteError::Denied { host, status: status.as_u16() };
        }
        RemoteError::LoginNeeded { host, server: self.server.clone() }
    }

    fn scope_needed(&self, scopes: Vec<String>, is_chosen: bool) -> RemoteError {
        RemoteError::ScopeNeeded { host: self.host.clone(), server: self.server.clone(), scopes, is_chosen }
    }

    fn login_expired(&self, reason: String) -> RemoteError {
        RemoteError::LoginExpired {
            host: self.host.clone(),
            server: self.server.clone(),
            reason: redacted_line(&reason, 200, &self.redactor),
        }
    }
}

/// The media type of an answer, in lower case and without its parameters.
pub(crate) fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, RemoteError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if OURS.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
            continue;
        }
        let wrong = || RemoteError::Url { reason: format!("the header '{}' cannot be sent", one_line(name, 80)) };
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use std::io;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::http::reach::testing::Fixed;

    /// Answers one request, and returns it.
    async fn served(listener: TcpListener) -> io::Result<String> {
        let (mut stream, _) = listener.accept().await?;
        let (mut seen, mut piece) = (Vec::new(), [0; 1024]);
        while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut piece).await?;
            seen.extend_from_slice(piece.get(..read).unwrap_or_default());
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await?;
        Ok(String::from_utf8_lossy(&seen).to_lowercase())
    }

    fn client(endpoint: &HttpEndpoint, addresses: &[&str]) -> Result<HttpClient, RemoteError> {
        HttpClient::with_lookup("there", endpoint, "tests/0", None, Fixed::at(addresses))
    }

    async fn sent(client: &HttpClient) -> Result<Response, RemoteError> {
        client.send(Method::GET, client.url(), HeaderMap::new(), None).await
    }

    #[tokio::test]
    async fn a_secret_goes_to_a_name_of_this_machine_only_where_the_connection_stays_on_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut endpoint = HttpEndpoint::new(format!("http://intern.localhost:{port}/mcp"));
        endpoint.headers.insert("Authorization".to_owned(), "Bearer sesame".to_owned());
        // At another origin: there is no connection, so nothing can be sent.
        for elsewhere in [["192.0.2.7"], ["10.0.0.9"], ["169.254.169.254"]] {
            let fault = sent(&client(&endpoint, &elsewhere).expect("a client")).await.expect_err("it is elsewhere");
            assert_eq!(fault, RemoteError::Insecure { host: format!("intern.localhost:{port}") });
        }
        let here = client(&endpoint, &["192.0.2.7", "127.0.0.1"]).expect("a client");
        let (answer, seen) = tokio::join!(sent(&here), served(listener));
        assert_eq!(answer.expect("an answer").status(), StatusCode::NO_CONTENT);
        assert!(seen.expect("a request").contains("authorization: bearer sesame"));
    }

    #[tokio::test]
    async fn what_has_no_secret_goes_in_the_open_to_wherever_its_owner_says() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let endpoint = HttpEndpoint::new(format!("http://127.0.0.1:{port}/mcp"));
        let there = client(&endpoint, &[]).expect("a client");
        let (answer, seen) = tokio::join!(sent(&there), served(listener));
        assert!(answer.is_ok() && seen.is_ok());
        assert!(client(&HttpEndpoint::new("http://example.com/mcp"), &[]).is_ok());
        // Any part of a query may be a secret.
        for url in ["http://example.com/mcp?key=sesame", "http://sesame@example.com/mcp", "http://10.0.0.9/?sesame"] {
            let fault = client(&HttpEndpoint::new(url), &[]).err();
            assert!(matches!(fault, Some(RemoteError::Insecure { .. })), "{url}: {fault:?}");
        }
    }
}
