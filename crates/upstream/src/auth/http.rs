//! The requests of a login, as rmcp wants them made: over https or to this machine, without redirects, and with answers that are
//! bounded.

use std::time::Duration;

use reqwest::redirect::Policy;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};

use crate::remote::{builder, host_of, is_private_way};

/// Documents and tokens have a few KB.
const ANSWER_BYTES: usize = 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Http(reqwest::Client);

impl Http {
    pub(super) fn new(agent: &str) -> Result<Self, reqwest::Error> {
        // rmcp itself follows the redirects that it allows.
        builder(agent).redirect(Policy::none()).timeout(TIMEOUT).build().map(Self)
    }
}

#[derive(Debug, thiserror::Error)]
enum HttpFault {
    #[error("{host} is neither reached by https nor on this machine")]
    Insecure { host: String },
    #[error("{host} answered with more than {ANSWER_BYTES} bytes")]
    TooLong { host: String },
}

impl OAuthHttpClient for Http {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request.request).map_err(reqwest::Error::without_url)?;
            let host = host_of(request.url());
            if !is_private_way(request.url()) {
                return Err(HttpFault::Insecure { host }.into());
            }
            let mut response = self.0.execute(request).await.map_err(reqwest::Error::without_url)?;
            let mut answer = ::http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(reqwest::Error::without_url)? {
                if body.len() + piece.len() > ANSWER_BYTES {
                    return Err(HttpFault::TooLong { host }.into());
                }
                body.extend_from_slice(&piece);
            }
            Ok(answer.body(body)?)
        })
    }
}
