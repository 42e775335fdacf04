//! Which addresses a connection may be made to.
//!
//! A name says nothing about where it leads: `intern.localhost` is whatever the resolver answers.
//! So names are resolved here, and only allowed addresses are passed on. The connection uses one of
//! these and no other, so nothing can change between the check and its use.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::{error::remote::NotAllowed, http::origin::is_localhost};

/// The kind of network that an address is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressClass {
    /// The internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// Link-local (where clouds keep the credentials of their machines), multicast, reserved, or no
    /// address of a host at all.
    Special,
}

impl AddressClass {
    /// The class of an address. One that embeds an IPv4 address has the class of that.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => Self::of_v4(v4),
            IpAddr::V6(v6) => embedded(v6).map_or_else(|| Self::of_v6(v6), Self::of_v4),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            _ if address.is_loopback() => Self::Loopback,
            _ if address.is_private() => Self::Private,
            // Shared with the customers of a carrier (RFC 6598), and used within clouds.
            [100, 64..=127, ..] => Self::Private,
            [0, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] | [240..=255, ..] => Self::Special,
            _ if address.is_link_local() || address.is_multicast() => Self::Special,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            _ if address.is_loopback() => Self::Loopback,
            // Unique local addresses.
            [0xfc00..=0xfdff, ..] => Self::Private,
            // Link-local and site-local, Teredo, and NAT64 of local use.
            [0xfe80..=0xfeff, ..] | [0x2001, 0, ..] | [0x64, 0xff9b, 1, ..] => Self::Special,
            _ if address.is_unspecified() || address.is_multicast() => Self::Special,
            _ => Self::Public,
        }
    }
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let joined = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(joined(g, h)),
        [0, 0, 0, 0, 0, 0] if !address.is_loopback() && !address.is_unspecified() => Some(joined(g, h)),
        [0x2002, ..] => Some(joined(b, c)),
        _ => None,
    }
}

/// The addresses that one HTTP client may connect to.
#[derive(Clone)]
pub(crate) struct Reach {
    classes: Arc<[AddressClass]>,
    /// A host that its owner has named, which may be anywhere.
    own_host: Option<Arc<str>>,
    lookup: Arc<dyn Resolve>,
    refused: Arc<Mutex<Option<String>>>,
}

impl Reach {
    /// This machine and nothing else.
    pub(crate) fn loopback(lookup: Arc<dyn Resolve>) -> Self {
        Self { classes: Arc::new([AddressClass::Loopback]), own_host: None, lookup, refused: Arc::default() }
    }

    /// What a login at `server` may lead to: the server's own host, which the owner named; the
    /// internet; this machine if the server is on it; and the private network if the server's URL
    /// is an address in it, or the owner says so.
    ///
    /// What the server's *name* resolves to does not count, since the server's operator decides
    /// that.
    pub(crate) fn of_login(server: &Url, allow_private: bool, lookup: Arc<dyn Resolve>) -> Self {
        let own_class = match server.host() {
            Some(Host::Ipv4(address)) => Some(AddressClass::of(address.into())),
            Some(Host::Ipv6(address)) => Some(AddressClass::of(address.into())),
            Some(Host::Domain(name)) if is_localhost(name) => Some(AddressClass::Loopback),
            Some(Host::Domain(_)) | None => None,
        };
        let private = allow_private.then_some(AddressClass::Private);
        let own_class = own_class.filter(|class| matches!(class, AddressClass::Loopback | AddressClass::Private));
        let classes = [Some(AddressClass::Public), own_class, private].into_iter().flatten().collect();
        let own_host = server.host_str().filter(|host| !is_localhost(host)).map(Into::into);
        Self { classes, own_host, lookup, refused: Arc::default() }
    }

    /// Whether a URL is allowed, if its host is an address. Names are checked when they are
    /// resolved.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::from(address),
            Some(Host::Ipv6(address)) => IpAddr::from(address),
            Some(Host::Domain(_)) => return true,
            None => return false,
        };
        let host = url.host_str().unwrap_or_default();
        let is_allowed = self.is_own(host) || self.classes.contains(&AddressClass::of(address));
        if !is_allowed {
            self.note(host);
        }
        is_allowed
    }

    /// The host that was refused last, if any was.
    pub(crate) fn refused(&self) -> Option<String> {
        self.refused.lock().clone()
    }

    fn is_own(&self, host: &str) -> bool {
        self.own_host.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(host))
    }

    fn note(&self, host: &str) {
        *self.refused.lock() = Some(host.to_owned());
    }
}

impl Resolve for Reach {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = this.lookup.resolve(name).await?;
            if this.is_own(&host) {
                return Ok(found);
            }
            let (allowed, others): (Vec<SocketAddr>, Vec<SocketAddr>) =
                found.partition(|address| this.classes.contains(&AddressClass::of(address.ip())));
            // A name without any address is unknown, and not refused.
            if allowed.is_empty() && !others.is_empty() {
                this.note(&host);
                return Err(NotAllowed { host }.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The system's resolver.
pub(crate) struct SystemLookup;

impl Resolve for SystemLookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Answers every name with the same addresses.
    pub(crate) struct Fixed(pub(crate) Vec<IpAddr>);

    impl Fixed {
        pub(crate) fn at(addresses: &[&str]) -> Arc<Self> {
            Arc::new(Self(addresses.iter().map(|address| address.parse().expect("an address")).collect()))
        }
    }

    impl Resolve for Fixed {
        fn resolve(&self, _: Name) -> Resolving {
            let addresses: Vec<SocketAddr> = self.0.iter().map(|address| SocketAddr::new(*address, 0)).collect();
            Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{testing::Fixed, *};

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    async fn reached(reach: &Reach, host: &str) -> Result<Vec<String>, String> {
        match reach.resolve(host.parse().expect("a name")).await {
            Ok(addresses) => Ok(addresses.map(|address| address.ip().to_string()).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn each_address_is_in_the_network_that_it_leads_to() {
        for (class, addresses) in [
            (
                AddressClass::Public,
                ["8.8.8.8", "192.0.2.1", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1"].as_slice(),
            ),
            (
                AddressClass::Loopback,
                &["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "2002:7f00:1::", "::127.0.0.1"],
            ),
            (
                AddressClass::Private,
                &["10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd00::1", "64:ff9b::a00:9"],
            ),
            (
                AddressClass::Special,
                &[
                    "169.254.169.254",
                    "::ffff:169.254.169.254",
                    "0.0.0.0",
                    "255.255.255.255",
                    "224.0.0.1",
                    "240.0.0.1",
                    "fe80::1",
                    "::",
                    "ff02::1",
                    "2001::1",
                    "fec0::1",
                    "64:ff9b:1::1",
                    "198.18.0.1",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(AddressClass::of(address.parse().expect("an address")), class, "{address}");
            }
        }
    }

    #[tokio::test]
    async fn a_name_of_this_machine_that_leads_elsewhere_is_not_reached() {
        let lookup = Fixed::at(&["203.0.113.7", "10.0.0.9"]);
        let refused = reached(&Reach::loopback(lookup), "intern.localhost").await;
        assert_eq!(refused, Err("intern.localhost is at an address that may not be connected to".to_owned()));
        // Of several addresses the allowed ones remain.
        let reach = Reach::loopback(Fixed::at(&["203.0.113.7", "127.0.0.1", "::1"]));
        assert_eq!(reached(&reach, "localhost").await, Ok(vec!["127.0.0.1".to_owned(), "::1".to_owned()]));
        assert_eq!(reached(&Reach::loopback(Fixed::at(&[])), "localhost").await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn a_login_leads_to_no_private_address_unless_the_server_is_at_one_or_the_owner_says_so() {
        let cases = [
            ("https://mcp.example/mcp", false, [true, false, false, false]),
            ("https://mcp.example/mcp", true, [true, false, true, false]),
            ("http://localhost:3000/mcp", false, [true, true, false, false]),
            ("http://[::1]:3000/mcp", false, [true, true, false, false]),
            ("https://10.0.0.5/mcp", false, [true, false, true, false]),
            ("https://169.254.169.254/mcp", true, [true, false, true, false]),
        ];
        let places = ["8.8.8.8", "127.0.0.1", "10.0.0.9", "169.254.169.254"];
        for (server, allow_private, expected) in cases {
            for (place, expected) in places.into_iter().zip(expected) {
                let reach = Reach::of_login(&url(server), allow_private, Fixed::at(&[place]));
                assert_eq!(reached(&reach, "sso.example").await.is_ok(), expected, "{server} {allow_private} {place}");
                assert_eq!(reach.refused().is_none(), expected);
                // The same if the address itself is in the URL, except for the server's own.
                let is_own = server.contains(&format!("//{place}"));
                let literal = url(&format!("https://{place}/token"));
                assert_eq!(reach.allows(&literal), expected || is_own, "{server} {allow_private} {place}");
            }
        }
    }

    #[tokio::test]
    async fn the_host_that_the_owner_named_may_be_anywhere_and_lets_no_other_in() {
        let reach = Reach::of_login(&url("https://mcp.corp/mcp"), false, Fixed::at(&["10.0.0.5"]));
        assert!(reached(&reach, "mcp.corp").await.is_ok());
        assert!(reached(&reach, "sso.corp").await.is_err());
        // A local name must lead to this machine, whoever named it.
        let reach = Reach::of_login(&url("http://mcp.localhost/mcp"), false, Fixed::at(&["10.0.0.5"]));
        assert!(reached(&reach, "mcp.localhost").await.is_err());
    }
}
