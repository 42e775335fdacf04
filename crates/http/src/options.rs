//! The settings of the server.

use std::{net::SocketAddr, time::Duration};

/// How much a client may use. Each limit has the reason for its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once. 512: half of the files that a process may usually have open. When all
    /// are taken, those that wait for a request are closed, and further ones wait to be accepted.
    pub connections: usize,
    /// Requests of one principal that may be open at once, including waiting streams. 256: half of
    /// the connections, and as many as its sessions. All principals together have seven eighths of
    /// the connections.
    pub requests_per_principal: usize,
    /// Sessions at once. 1,024: some 50 KB each.
    pub sessions: usize,
    /// Sessions of one principal. 256: an office of agents with one token, and a quarter of all.
    pub sessions_per_principal: usize,
    /// How long an unused session is kept. Half an hour, as elsewhere; coming back costs one
    /// `initialize`.
    pub idle: Duration,
    /// How long a request's head may take, and how long a connection may be idle between two. 15
    /// seconds: heads are sent in one piece.
    pub head: Duration,
    /// How long a request's body may take. 15 seconds.
    pub body: Duration,
    /// The size of a body. 4 MiB: scripts have one MiB at most.
    pub body_bytes: usize,
    /// Values and keys in the JSON of a body. 50,000: a call has some ten, and each takes 128 bytes
    /// when parsed.
    pub body_values: usize,
    /// How much the bodies of all open requests may take together, including their parsed form. 64
    /// MiB.
    pub bodies_bytes: usize,
    /// How much the bodies of one principal may take. 32 MiB: half of that.
    pub bodies_bytes_per_principal: usize,
    /// How long a client may read nothing of what is written to it. 30 seconds: its data is kept in
    /// memory for that long.
    pub stalled: Duration,
    /// Wrong tokens from one address in a minute, before it has to wait. 10: a person's mistakes.
    pub guesses: u32,
    /// How long calls in flight may continue when the server is told to end. 10 seconds: service
    /// managers wait at least that long.
    pub grace: Duration,
    /// How long cancelled calls and unsent answers may take after that. 3 seconds.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            requests_per_principal: 256,
            sessions: 1024,
            sessions_per_principal: 256,
            idle: Duration::from_secs(30 * 60),
            head: Duration::from_secs(15),
            body: Duration::from_secs(15),
            body_bytes: 4 * 1024 * 1024,
            body_values: 50_000,
            bodies_bytes: 64 * 1024 * 1024,
            bodies_bytes_per_principal: 32 * 1024 * 1024,
            stalled: Duration::from_secs(30),
            guesses: 10,
            grace: Duration::from_secs(10),
            farewell: Duration::from_secs(3),
        }
    }
}

/// Limits, and the names of this server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// How much a client may use.
    pub limits: Limits,
    /// Names in `Host` besides those of the loopback: a proxy's public name.
    pub hosts: Vec<String>,
    /// Values of `Origin` besides the server's own, each with scheme, host and port as a browser
    /// sends them.
    pub origins: Vec<String>,
}

impl Options {
    /// Also allows the server's own names and origins at this address.
    #[must_use]
    pub fn at(mut self, address: SocketAddr) -> Self {
        let port = address.port();
        let own = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned);
        let bound = (!address.ip().is_unspecified()).then(|| match address.ip() {
            std::net::IpAddr::V4(ip) => ip.to_string(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        });
        for host in own.into_iter().chain(bound) {
            // Browsers omit a scheme's default port.
            let origin = if port == 80 { format!("http://{host}") } else { format!("http://{host}:{port}") };
            self.origins.push(origin);
            self.hosts.push(host);
        }
        self
    }
}
