//! The only place where HTTP clients are built, for calls and for logins.

use std::time::Duration;

use reqwest::{Proxy, StatusCode, redirect::Policy};

use crate::error::RemoteError;

/// The proxy for https requests. http requests do not use it: it could read them.
///
/// # Errors
/// If it is not a URL; it is not quoted, as it may contain a password.
pub(crate) fn proxy(proxy: Option<&str>) -> Result<Option<Proxy>, RemoteError> {
    let unusable = |_| RemoteError::Url { reason: "that of its 'proxy' is not the URL of a proxy".to_owned() };
    proxy.map(|url| Proxy::https(url).map_err(unusable)).transpose()
}

/// The settings of all of belljar's requests: without a proxy of the environment, without cookies,
/// over TLS that is checked with the system's certificates, and never redirected to another origin.
pub(crate) fn builder(agent: &str) -> reqwest::ClientBuilder {
    const CONNECT: Duration = Duration::from_secs(10);
    const KEEP_ALIVE: Duration = Duration::from_secs(30);
    // The first one in this process counts, and any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(agent)
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEP_ALIVE)
        .redirect(same_origin())
}

/// Follows a redirect that keeps the method and the body, to the same origin: many servers have one
/// for a missing slash. Any other would send the headers to strangers, or lose the message.
fn same_origin() -> Policy {
    const MOST: usize = 3;
    Policy::custom(|attempt| {
        let keeps_request = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let is_same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps_request && is_same && attempt.previous().len() <= MOST { attempt.follow() } else { attempt.stop() }
    })
}
