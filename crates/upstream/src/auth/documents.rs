//! Documents of an authorization server that the owner named: its metadata and its keys, which
//! belljar needs to check the tokens of its own clients.
//!
//! They are fetched like those of a login: without redirects, within the same bounds, and not from
//! any address of this machine or a private network that the issuer might lead to.

use reqwest::{Method, StatusCode, header::ACCEPT};
use url::Url;

use crate::{
    auth::http::{Http, HttpError},
    error::RemoteError,
    http::origin::host_of,
};

/// Fetches documents of one authorization server.
pub struct Documents(Http);

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum DocumentError {
    /// The address is not a URL.
    #[error("it leads to something that is not a URL")]
    NotAUrl,
    /// The server may not be contacted, or did not answer.
    #[error("{reason}")]
    Unreachable { reason: String },
    /// The server does not have the document.
    #[error("{host} answered {status}")]
    Status { host: String, status: u16 },
}

impl Documents {
    /// A fetcher for the server at `issuer`. `allow_private` allows it to lead to the private
    /// network.
    ///
    /// # Errors
    /// [`RemoteError`], if the URL is invalid or the system has no trusted certificates.
    pub fn new(agent: &str, issuer: &str, allow_private: bool) -> Result<Self, RemoteError> {
        let url = Url::parse(issuer).map_err(|error| RemoteError::Url { reason: error.to_string() })?;
        Http::new(agent, &url, allow_private, None).map(Self)
    }

    /// The document at a URL.
    ///
    /// # Errors
    /// [`DocumentError`], also for a redirect.
    pub async fn get(&self, url: &str) -> Result<Vec<u8>, DocumentError> {
        let url = Url::parse(url).map_err(|_| DocumentError::NotAUrl)?;
        let host = host_of(&url);
        let mut request = reqwest::Request::new(Method::GET, url);
        request.headers_mut().insert(ACCEPT, reqwest::header::HeaderValue::from_static("application/json"));
        let unreachable = |fault: HttpError| DocumentError::Unreachable { reason: fault.to_string() };
        let answer = self.0.fetch(request).await.map_err(unreachable)?;
        match answer.status() {
            StatusCode::OK => Ok(answer.into_body()),
            status => Err(DocumentError::Status { host, status: status.as_u16() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_issuer_leads_to_no_address_of_this_machine_or_a_private_network() {
        let of = |issuer: &str, allow| Documents::new("belljar/0", issuer, allow).expect("a client");
        for (issuer, allow, place, words) in [
            ("https://192.0.2.1", false, "http://127.0.0.1:9/keys", "may not lead"),
            ("https://192.0.2.1", true, "https://127.0.0.1:9/keys", "may not lead"),
            ("https://192.0.2.1", false, "https://10.0.0.9/keys", "may not lead"),
            ("http://127.0.0.1:9", true, "https://169.254.169.254/keys", "may not lead"),
            ("http://127.0.0.1:9", false, "http://192.0.2.1/keys", "neither reached by https"),
            ("http://127.0.0.1:9", false, "file:///etc/passwd", "neither reached by https"),
        ] {
            let fault = of(issuer, allow).get(place).await.expect_err(place).to_string();
            assert!(fault.contains(words), "{place}: {fault}");
        }
        let fault = of("http://127.0.0.1:9", false).get("keys").await.expect_err("no URL");
        assert!(matches!(fault, DocumentError::NotAUrl));
    }
}
