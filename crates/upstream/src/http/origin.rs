//! What a URL says about the way to its server: which host it is, and whether others can read the
//! traffic.

use url::{Host, Url};

/// A URL's host and port, as a message names a server.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Whether nobody on the way can read what is sent to `url`, as far as the URL says. That a local
/// name leads to this machine is checked when the connection is made: see
/// [`Reach`](crate::http::reach::Reach).
pub(crate) fn is_private_way(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => is_localhost(name),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => true,
        "http" => is_loopback,
        _ => false,
    }
}

/// Whether a name is meant to be this machine. Where it actually leads is a separate question.
pub(crate) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_loopback_are_private_ways() {
        for (url, expected) in [
            ("https://example.com/mcp", true),
            ("http://127.0.0.1:3000/mcp", true),
            ("http://[::1]/", true),
            ("http://localhost:1/", true),
            ("http://example.com/", false),
            ("http://127.0.0.1.example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://10.0.0.1/", false),
            ("ftp://localhost/", false),
        ] {
            assert_eq!(is_private_way(&Url::parse(url).expect("a URL")), expected, "{url}");
        }
    }

    #[test]
    fn a_host_is_named_without_what_may_be_a_secret() {
        let url = Url::parse("https://me:sesame@example.com:8443/sesame?sesame#sesame").expect("a URL");
        assert_eq!(host_of(&url), "example.com:8443");
    }
}
