//! How a server is reached, in the terms of OpenTelemetry's conventions.

use belljar_model::Transport;
use url::{Host, Url};

/// How a server is reached. It has no other part of the server's URL, since that may hold secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// The network transport: `pipe` or `tcp`, or `None` for a server inside this process.
    pub transport: Option<&'static str>,
    /// The host of a remote server, as a name or an IP address, even if there is a proxy in
    /// between.
    pub address: Option<String>,
    /// The port of a remote server.
    pub port: Option<u16>,
}

impl Reached {
    /// How a server with this transport is reached.
    pub fn of(transport: &Transport) -> Self {
        let url = match transport {
            Transport::Http(endpoint) => Url::parse(&endpoint.url).ok(),
            _ => None,
        };
        let address = url.as_ref().and_then(Url::host).map(|host| match host {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            // Without the brackets that it has in a URL.
            Host::Ipv6(address) => address.to_string(),
        });
        let port = url.as_ref().and_then(Url::port_or_known_default);
        Self { transport: transport.network(), address, port }
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::HttpEndpoint;

    use super::*;

    #[test]
    fn a_remote_server_is_its_host_and_port_and_nothing_else_of_its_url() {
        for (url, address, port) in [
            ("https://user:pass@Mcp.Example/token?key=1#x", "mcp.example", 443),
            ("http://127.0.0.1:8080/mcp", "127.0.0.1", 8080),
            ("http://[::1]/mcp", "::1", 80),
            ("https://müller.example/", "xn--mller-kva.example", 443),
        ] {
            let reached = Reached::of(&Transport::Http(HttpEndpoint::new(url)));
            assert_eq!(
                reached,
                Reached { transport: Some("tcp"), address: Some(address.to_owned()), port: Some(port) }
            );
        }
        let broken = Reached::of(&Transport::Http(HttpEndpoint::new("not a url")));
        assert_eq!(broken, Reached { transport: Some("tcp"), ..Reached::default() });
        assert_eq!(Reached::of(&Transport::BuiltIn("demo".to_owned())), Reached::default());
    }
}
