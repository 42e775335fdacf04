//! The requests of a login, made for rmcp: over https or to this machine, never to an address that
//! the server must not lead to, without redirects, and with bounded answers.
//!
//! The server says where to log in. Without checks, it could direct belljar's requests at machines
//! in its owner's network.

use std::{sync::Arc, time::Duration};

use reqwest::{
    StatusCode,
    dns::Resolve,
    header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE},
    redirect::Policy,
};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use url::Url;

use crate::{
    error::RemoteError,
    http::{
        builder::{builder, proxy},
        origin::{host_of, is_private_way},
        reach::{Reach, SystemLookup},
    },
};

/// Documents and tokens have a few KB.
const ANSWER_BYTES: usize = 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Http {
    /// Over https, to any allowed address.
    encrypted: reqwest::Client,
    /// Over http, to this machine only.
    open: reqwest::Client,
    reach: Reach,
}

impl Http {
    /// For a login at `server`, which the owner named.
    ///
    /// If there is a proxy, it resolves names itself, so only addresses in URLs can be checked
    /// here.
    pub(super) fn new(
        agent: &str,
        server: &Url,
        allow_private: bool,
        through: Option<&str>,
    ) -> Result<Self, RemoteError> {
        Self::with_lookup(agent, server, allow_private, through, Arc::new(SystemLookup))
    }

    fn with_lookup(
        agent: &str,
        server: &Url,
        allow_private: bool,
        through: Option<&str>,
        lookup: Arc<dyn Resolve>,
    ) -> Result<Self, RemoteError> {
        let reach = Reach::of_login(server, allow_private, lookup.clone());
        let client = |builder: reqwest::ClientBuilder| {
            // rmcp itself follows the redirects that it allows.
            let built = builder.redirect(Policy::none()).timeout(TIMEOUT).build();
            built.map_err(|error| RemoteError::of(error, "this machine"))
        };
        let encrypted = match proxy(through)? {
            // The proxy's own name comes from the owner.
            Some(proxy) => builder(agent).proxy(proxy),
            None => builder(agent).dns_resolver(Arc::new(reach.clone())),
        };
        let open = builder(agent).dns_resolver(Arc::new(Reach::loopback(lookup)));
        Ok(Self { encrypted: client(encrypted)?, open: client(open)?, reach })
    }

    /// The server's answer to a request without a token, if it says where to log in.
    pub(super) async fn challenge(&self, server: &Url) -> Option<String> {
        const REQUEST: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{}}"#;
        let client = if server.scheme() == "https" { &self.encrypted } else { &self.open };
        let request = client.post(server.clone()).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "application/json, text/event-stream").body(REQUEST);
        let response = request.send().await.ok().filter(|response| response.status() == StatusCode::UNAUTHORIZED)?;
        Some(response.headers().get(WWW_AUTHENTICATE)?.to_str().ok()?.to_owned())
    }

    /// The refused address to which the login was led, if any.
    pub(super) fn refused(&self) -> Option<String> {
        self.reach.refused()
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("{host} is neither reached by https nor on this machine")]
    Insecure { host: String },
    #[error("{host} is at an address to which this server may not lead")]
    NotAllowed { host: String },
    #[error("{host} answered with more than {ANSWER_BYTES} bytes")]
    TooLong { host: String },
    #[error(transparent)]
    Failed(RemoteError),
}

impl Http {
    /// Makes one request, if it is allowed, and reads its bounded answer.
    pub(super) async fn fetch(&self, request: reqwest::Request) -> Result<::http::Response<Vec<u8>>, HttpError> {
        let host = host_of(request.url());
        if !is_private_way(request.url()) {
            return Err(HttpError::Insecure { host });
        }
        if !self.reach.allows(request.url()) {
            return Err(HttpError::NotAllowed { host });
        }
        let client = if request.url().scheme() == "https" { &self.encrypted } else { &self.open };
        let failed = |error: reqwest::Error| match RemoteError::of(error, &host) {
            RemoteError::Insecure { host } => HttpError::NotAllowed { host },
            fault => HttpError::Failed(fault),
        };
        let mut response = client.execute(request).await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > ANSWER_BYTES {
                return Err(HttpError::TooLong { host });
            }
            body.extend_from_slice(&piece);
        }
        let mut answer = ::http::Response::new(body);
        *answer.status_mut() = response.status();
        *answer.headers_mut() = std::mem::take(response.headers_mut());
        Ok(answer)
    }
}

impl OAuthHttpClient for Http {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request.request).map_err(reqwest::Error::without_url)?;
            Ok(self.fetch(request).await?)
        })
    }
}
