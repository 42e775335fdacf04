//! Names the subjects of an issuer.
//!
//! A principal's name appears in rules, tables and lists, and may become part of a server's paths
//! and arguments. So it is short, unique, and contains no character with a meaning in those places.
//! It contains an `@`, which the names of tokens cannot have.

use sha2::{Digest as _, Sha256};
use url::Url;

/// The longest name of a subject, as written here, and of an issuer. Together with the `@` between
/// them, they have at most 113 characters: the ledger keeps 120 characters of a name, and cutting
/// it could remove what distinguishes two names.
const MAX_SUBJECT: usize = 64;
const MAX_REALM: usize = 48;

/// The part after the subject: the issuer's host, and a distinction if one host has several
/// issuers.
pub(super) fn realm(issuer: &str, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().replace(['[', ']'], "").replace(':', "-");
    let port = url.port().map_or(String::new(), |port| format!("-{port}"));
    let hash = hex(issuer.as_bytes(), 4);
    let named = match url.path() {
        "/" => format!("{host}{port}"),
        _ => format!("{host}{port}-{hash}"),
    };
    if named.len() <= MAX_REALM { named } else { hash }
}

/// The principal of a subject.
pub(super) fn name(subject: &str, realm: &str) -> String {
    let mut written = String::new();
    for byte in subject.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || (matches!(byte, b'-' | b'_' | b'.') && !written.is_empty());
        if is_plain {
            written.push(byte.into());
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
    }
    if written.len() > MAX_SUBJECT {
        // No other subject is written like this: elsewhere, two digits follow a `%`.
        written = format!("%sha256-{}", hex(subject.as_bytes(), 16));
    }
    format!("{written}@{realm}")
}

/// The first bytes of a hash.
fn hex(text: &[u8], bytes: usize) -> String {
    Sha256::digest(text).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn realm_of(issuer: &str) -> String {
        realm(issuer, &Url::parse(issuer).expect("a URL"))
    }

    #[test]
    fn a_subject_is_readable_where_it_can_be() {
        for (subject, expected) in [
            ("alice", "alice@login.example"),
            ("auth0|5f7c8ec7", "auth0%7C5f7c8ec7@login.example"),
            ("alice@corp.example", "alice%40corp.example@login.example"),
            ("-x", "%2Dx@login.example"),
            ("..", "%2E.@login.example"),
            ("a/../b", "a%2F..%2Fb@login.example"),
            ("é\n", "%C3%A9%0A@login.example"),
        ] {
            assert_eq!(name(subject, "login.example"), expected);
        }
    }

    #[test]
    fn no_two_subjects_and_no_two_issuers_have_one_name() {
        let long = "a".repeat(65);
        let hashed = name(&long, "r");
        let imitated = hashed.strip_suffix("@r").expect("a realm");
        let subjects = ["a", "a@", "a%40", "A", "%61", &long, &"a".repeat(66), imitated];
        let names: HashSet<_> = subjects.iter().map(|subject| name(subject, "r")).collect();
        assert_eq!(names.len(), subjects.len(), "{names:?}");
        let issuers = [
            "https://h.example",
            "https://h.example:8443",
            "https://h.example/a",
            "https://h.example/b",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
        ];
        let realms: HashSet<_> = issuers.iter().map(|issuer| realm_of(issuer)).collect();
        assert_eq!(realms.len(), issuers.len(), "{realms:?}");
        assert_eq!(realm_of("https://login.example/"), "login.example");
        assert_eq!(realm_of("http://[::1]:8080"), "--1-8080");
        assert_eq!(realm_of(&format!("https://{}.example", "h".repeat(60))).len(), 8);
        let longest = name(&"a".repeat(64), &realm_of(&format!("https://{}.example", "h".repeat(40))));
        assert_eq!(longest.len(), 113);
    }
}
