//! Which names a request may use for this server, and which pages may send it.
//!
//! An attacker's page can make a browser send requests to the loopback, even under a name of its
//! own (DNS rebinding). Such a request has the attacker's name as its `Host`, or the attacker's
//! page as its `Origin`.

use http::{HeaderMap, Uri, header, uri::Authority};

/// The names and pages that are allowed.
#[derive(Debug)]
pub(crate) struct Allowed {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// It does not have exactly one `Host`.
    NoHost,
    /// Its `Host` names another server.
    Host,
    /// It comes from a page that is not allowed.
    Origin,
}

impl Allowed {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { hosts: lower(hosts), origins: lower(origins) }
    }

    /// Checks where a request goes and comes from. `more` is an additional name of this server.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap, more: Option<&str>) -> Result<(), Stranger> {
        self.check_host(uri, headers, more)?;
        if !headers.contains_key(header::ORIGIN) {
            return Ok(());
        }
        let origin = only(headers, &header::ORIGIN).map(str::to_ascii_lowercase);
        if origin.is_some_and(|origin| self.origins.contains(&origin)) { Ok(()) } else { Err(Stranger::Origin) }
    }

    /// Checks only where a request goes.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap, more: Option<&str>) -> Result<(), Stranger> {
        let host = only(headers, &header::HOST).ok_or(Stranger::NoHost)?;
        for host in std::iter::once(host).chain(uri.authority().map(Authority::as_str)) {
            let authority: Authority = host.parse().map_err(|_| Stranger::Host)?;
            let named = authority.host().to_ascii_lowercase();
            if authority.as_str().contains('@') || !(self.hosts.contains(&named) || more == Some(&named)) {
                return Err(Stranger::Host);
            }
        }
        Ok(())
    }
}

/// The value of a header that must occur exactly once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn checked(uri: &str, pairs: &[(&str, &str)]) -> Result<(), Stranger> {
        let options = Options::default().at(([127, 0, 0, 1], 8765).into());
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: header::HeaderName = name.parse().expect("a name");
            headers.append(name, value.parse().expect("a value"));
        }
        Allowed::new(&options.hosts, &options.origins).check(
            &uri.parse().expect("a target"),
            &headers,
            Some("mcp.example"),
        )
    }

    #[test]
    fn the_own_names_are_allowed_with_any_port_and_in_any_case() {
        for host in ["127.0.0.1:8765", "localhost", "LocalHost:1", "[::1]:8765", "MCP.example"] {
            assert_eq!(checked("/mcp", &[("host", host)]), Ok(()), "{host}");
        }
    }

    #[test]
    fn other_names_none_and_two_are_refused() {
        assert_eq!(checked("/mcp", &[]), Err(Stranger::NoHost));
        assert_eq!(checked("/mcp", &[("host", "localhost"), ("host", "localhost")]), Err(Stranger::NoHost));
        for host in
            ["evil.example", "localhost.evil.example:8765", "127.0.0.1.nip.io", "localhost@evil.example", "", "a b"]
        {
            assert_eq!(checked("/mcp", &[("host", host)]), Err(Stranger::Host), "{host}");
        }
        assert_eq!(checked("http://evil.example/mcp", &[("host", "localhost")]), Err(Stranger::Host));
    }

    #[test]
    fn an_origin_must_be_one_of_ours_to_the_last_character() {
        for origin in ["http://127.0.0.1:8765", "http://localhost:8765", "http://[::1]:8765"] {
            assert_eq!(checked("/mcp", &[("host", "localhost"), ("origin", origin)]), Ok(()), "{origin}");
        }
        for origin in
            ["null", "http://localhost", "https://localhost:8765", "http://localhost:87650", "http://evil.example", ""]
        {
            assert_eq!(
                checked("/mcp", &[("host", "localhost"), ("origin", origin)]),
                Err(Stranger::Origin),
                "{origin}"
            );
        }
        let twice = [("host", "localhost"), ("origin", "http://localhost:8765"), ("origin", "http://localhost:8765")];
        assert_eq!(checked("/mcp", &twice), Err(Stranger::Origin));
    }
}
