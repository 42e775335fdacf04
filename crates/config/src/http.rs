//! The `[http]` of belljar.toml: whose tokens `belljar serve --http` accepts.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    expand::Expander,
    tree::{Node, Value, check_unique, expected},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["oauth"];
/// The keys of `oauth`.
pub(crate) const OAUTH_KEYS: &[&str] = &["issuer", "resource", "scope_prefix", "allow_private"];

/// The contents of `[http]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HttpSettings {
    /// The authorization server whose tokens are accepted, in addition to those of `belljar token`.
    pub oauth: Option<OAuthSettings>,
}

/// The contents of `[http.oauth]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OAuthSettings {
    /// The URL of the authorization server: `https`, or on this machine.
    pub issuer: String,
    /// The URL under which clients know this server, which its tokens must name.
    pub resource: String,
    /// The prefix of `search`, `run` and so on in tokens.
    pub scope_prefix: String,
    /// Whether the issuer's keys may be fetched from the private network.
    pub allow_private: bool,
}

/// Reads the settings.
pub(crate) fn read(node: &Node, expander: &Expander<'_>) -> Result<HttpSettings, Located> {
    let Value::Table(entries) = &node.value else { return Err(expected("http", "a table", node)) };
    check_unique(entries)?;
    let mut settings = HttpSettings::default();
    for entry in entries {
        match entry.key.as_str() {
            "oauth" => settings.oauth = Some(oauth(&entry.node, expander)?),
            key => return Err(ConfigErrorKind::unknown_key("http", key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

fn oauth(node: &Node, expander: &Expander<'_>) -> Result<OAuthSettings, Located> {
    let Value::Table(entries) = &node.value else { return Err(expected("http.oauth", "a table", node)) };
    check_unique(entries)?;
    let (mut issuer, mut resource, mut scope_prefix, mut allow_private) = (None, None, String::new(), false);
    for entry in entries {
        let node = &entry.node;
        match entry.key.as_str() {
            "issuer" => issuer = Some(url("http.oauth.issuer", node, expander)?),
            "resource" => resource = Some(url("http.oauth.resource", node, expander)?),
            "scope_prefix" => scope_prefix = prefix(node)?,
            "allow_private" => match node.value {
                Value::Boolean(boolean) => allow_private = boolean,
                _ => return Err(expected("http.oauth.allow_private", "true or false", node)),
            },
            key => return Err(ConfigErrorKind::unknown_key("http.oauth", key, OAUTH_KEYS).at(entry.offset)),
        }
    }
    let missing = |field| expected(field, "given: a URL without a query", node);
    Ok(OAuthSettings {
        issuer: issuer.ok_or_else(|| missing("http.oauth.issuer"))?,
        resource: resource.ok_or_else(|| missing("http.oauth.resource"))?,
        scope_prefix,
        allow_private,
    })
}

/// Reads a URL that serves as a name: it is compared exactly as it is written.
fn url(field: &'static str, node: &Node, expander: &Expander<'_>) -> Result<String, Located> {
    const WANTED: &str = "a URL with https, or http on this machine, and without user, query and fragment";
    let Value::String(text) = &node.value else { return Err(expected(field, WANTED, node)) };
    let text = expander.expand(text, &Field::of_file(field)).map_err(|fault| fault.at(node.offset))?;
    if is_safe_name(&text) { Ok(text) } else { Err(expected(field, WANTED, node)) }
}

/// Whether a URL is safe as the name of a server to which secrets are sent: https, or on this
/// machine; without a user, a query or a fragment. This is as much as can be checked without a URL
/// parser.
pub fn is_safe_name(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    // It is used in a header.
    let is_plain =
        url.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'?' | b'#' | b'@'));
    let authority = rest.split('/').next().unwrap_or_default();
    is_plain && !authority.is_empty() && (scheme == "https" || scheme == "http" && is_here(authority))
}

/// Whether a host, with or without a port, is this machine.
fn is_here(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => authority,
    };
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        || v6.and_then(|host| host.parse().ok()).is_some_and(|address: Ipv6Addr| address.is_loopback())
}

/// Reads a prefix, which must be the beginning of a `scope-token` of RFC 6749.
fn prefix(node: &Node) -> Result<String, Located> {
    match &node.value {
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\') => {
            Ok(text.clone())
        }
        _ => Err(expected("http.oauth.scope_prefix", "the beginning of the name of a scope", node)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::toml;

    #[test]
    fn an_issuer_and_a_resource_are_read_as_they_are_written() {
        assert_eq!(toml("[http]\n").expect("a config").http, HttpSettings::default());
        let text = "[http.oauth]\nissuer = 'https://Login.example/realm/'\nresource = 'http://localhost:8765/mcp'\n";
        let expected = OAuthSettings {
            issuer: "https://Login.example/realm/".to_owned(),
            resource: "http://localhost:8765/mcp".to_owned(),
            scope_prefix: String::new(),
            allow_private: false,
        };
        assert_eq!(toml(text).expect("a config").http.oauth, Some(expected.clone()));
        let more = format!("{text}scope_prefix = 'belljar:'\nallow_private = true\n");
        let expected = OAuthSettings { scope_prefix: "belljar:".to_owned(), allow_private: true, ..expected };
        assert_eq!(toml(&more).expect("a config").http.oauth, Some(expected));
    }

    #[test]
    fn without_tls_only_this_machine_is_named() {
        for (authority, expected) in [
            ("localhost", true),
            ("a.localhost:1", true),
            ("127.1.2.3:80", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("[::2]", false),
            ("10.0.0.1:80", false),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("localhost:80:80", false),
        ] {
            assert_eq!(is_here(authority), expected, "{authority}");
        }
    }

    #[test]
    fn what_names_nobody_is_refused_with_its_place() {
        let wanted = "must be a URL with https, or http on this machine, and without user, query and fragment, not";
        for (text, message) in [
            ("http = 3", "line 1, column 8: 'http' must be a table, not a number".to_owned()),
            ("[http]\noauht = {}", "line 2, column 1: unknown key 'oauht' in http: did you mean 'oauth'?".to_owned()),
            ("http.oauth.isuer = 'x'", "unknown key 'isuer' in http.oauth: did you mean 'issuer'?".to_owned()),
            ("[http.oauth]\nissuer = 'https://x'", "'http.oauth.resource' must be given".to_owned()),
            ("[http.oauth]\nresource = 'https://x'", "'http.oauth.issuer' must be given".to_owned()),
            ("http.oauth.issuer = 'http://login.example'", format!("'http.oauth.issuer' {wanted} another string")),
            (
                "http.oauth.issuer = 'http://127.0.0.1.example:1'",
                format!("'http.oauth.issuer' {wanted} another string"),
            ),
            ("http.oauth.issuer = 'https://a:b@login.example'", format!("'http.oauth.issuer' {wanted} another string")),
            ("http.oauth.resource = 'https://x/mcp?a=b'", format!("'http.oauth.resource' {wanted} another string")),
            ("http.oauth.resource = 'https://x/mcp#a'", format!("'http.oauth.resource' {wanted} another string")),
            ("http.oauth.resource = 'https://x/\"'", format!("'http.oauth.resource' {wanted} another string")),
            ("http.oauth.resource = 1", format!("'http.oauth.resource' {wanted} a number")),
            ("http.oauth.scope_prefix = 'a b'", "'http.oauth.scope_prefix' must be the beginning".to_owned()),
            ("http.oauth.allow_private = 1", "'http.oauth.allow_private' must be true or false".to_owned()),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(&message), "{error}");
        }
    }
}
