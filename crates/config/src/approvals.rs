//! The `[approvals]` of belljar.toml: how the owner is asked.

use std::time::Duration;

use belljar_model::ByteSize;

use crate::{
    ApprovalsSettings, WebhookSettings,
    error::{ConfigErrorKind, Field, Located},
    expand::Expander,
    life::{duration, expected_duration},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["wait", "allow_yes", "hold", "max_resting", "webhook"];

/// The keys of the webhook.
pub(crate) const WEBHOOK_KEYS: &[&str] = &["url", "secret", "arguments"];

/// The fewest characters of the webhook's secret: a shorter one can be guessed from one message.
const SECRET_CHARACTERS: usize = 16;

impl Default for ApprovalsSettings {
    /// The default wait is a day: a waiting run is suspended, and blocks nobody. It keeps its slot
    /// for 45 seconds, since clients give up on a call after a minute. All suspended runs together
    /// may take 256 MiB; each takes some ten kilobytes.
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(24 * 3600),
            allow_yes: false,
            hold: Duration::from_secs(45),
            max_resting: ByteSize::mib(256),
            webhook: None,
        }
    }
}

/// Reads the settings.
pub(crate) fn read(node: &Node, expander: &Expander<'_>) -> Result<ApprovalsSettings, Located> {
    let expected = |field, expected, node: &Node| {
        let found = match node.value {
            Value::String(_) => "another string",
            _ => node.kind(),
        };
        ConfigErrorKind::Expected { field: Field::of_file(field), expected, found }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("approvals", "a table", node)) };
    check_unique(entries)?;
    let mut settings = ApprovalsSettings::default();
    for entry in entries {
        match (entry.key.as_str(), &entry.node.value) {
            ("hold", _) => {
                let hold = duration(&entry.node).ok_or_else(|| {
                    let what = expected_duration(&entry.node, "a duration such as \"45s\"");
                    expected("approvals.hold", what, &entry.node)
                });
                settings.hold = hold?;
            }
            ("max_resting", Value::String(text) | Value::Number(text)) => {
                let size = text.parse().map_err(|_| {
                    let what = "a size such as \"256MiB\", or a number of bytes";
                    expected("approvals.max_resting", what, &entry.node)
                });
                settings.max_resting = size?;
            }
            ("max_resting", _) => {
                return Err(expected("approvals.max_resting", "a size such as \"256MiB\"", &entry.node));
            }
            ("wait", _) => {
                let wait = duration(&entry.node).ok_or_else(|| {
                    let what = expected_duration(&entry.node, "a duration such as \"10m\"");
                    expected("approvals.wait", what, &entry.node)
                });
                settings.wait = wait?;
            }
            ("webhook", _) => settings.webhook = Some(webhook(&entry.node, expander)?),
            ("allow_yes", Value::Boolean(allow)) => settings.allow_yes = *allow,
            ("allow_yes", _) => return Err(expected("approvals.allow_yes", "true or false", &entry.node)),
            _ => return Err(ConfigErrorKind::unknown_key("approvals", &entry.key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

/// Reads the webhook's address and its settings.
fn webhook(node: &Node, expander: &Expander<'_>) -> Result<WebhookSettings, Located> {
    let expected = |key: &str, expected, node: &Node| {
        let found = match node.value {
            Value::String(_) => "another string",
            _ => node.kind(),
        };
        ConfigErrorKind::Expected { field: Field::of_file(key), expected, found }.at(node.offset)
    };
    let text = |key: &str, what, node: &Node| {
        let Value::String(text) = &node.value else { return Err(expected(key, what, node)) };
        expander.expand(text, &Field::of_file(key)).map_err(|fault| fault.at(node.offset))
    };
    const TABLE: &str = "a table with 'url' and 'secret'";
    let Value::Table(entries) = &node.value else { return Err(expected("approvals.webhook", TABLE, node)) };
    check_unique(entries)?;
    let (mut url, mut secret, mut arguments) = (None, None, false);
    for entry in entries {
        match (entry.key.as_str(), &entry.node.value) {
            ("url", _) => {
                const URL: &str = "a URL that begins with https://, or with http:// for this machine";
                let read = text("approvals.webhook.url", URL, &entry.node)?;
                if !is_private_url(&read) {
                    return Err(expected("approvals.webhook.url", URL, &entry.node));
                }
                url = Some(read);
            }
            ("secret", _) => {
                const SECRET: &str = "a string of at least 16 characters, such as \"${WEBHOOK_SECRET}\"";
                let read = text("approvals.webhook.secret", SECRET, &entry.node)?;
                if read.chars().count() < SECRET_CHARACTERS {
                    return Err(expected("approvals.webhook.secret", SECRET, &entry.node));
                }
                secret = Some(read);
            }
            ("arguments", Value::Boolean(told)) => arguments = *told,
            ("arguments", _) => return Err(expected("approvals.webhook.arguments", "true or false", &entry.node)),
            _ => {
                return Err(
                    ConfigErrorKind::unknown_key("approvals.webhook", &entry.key, WEBHOOK_KEYS).at(entry.offset)
                );
            }
        }
    }
    match (url, secret) {
        (Some(url), Some(secret)) => Ok(WebhookSettings { url, secret, arguments }),
        _ => {
            let (field, found) = (Field::of_file("approvals.webhook"), "a table without one of them");
            Err(ConfigErrorKind::Expected { field, expected: TABLE, found }.at(node.offset))
        }
    }
}

/// Whether nobody on the way to this URL can read what is sent there.
fn is_private_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let is_plain = scheme.eq_ignore_ascii_case("http");
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_here = matches!(host, "127.0.0.1" | "::1" | "localhost");
    // A name and password before the host could look like a host.
    (scheme.eq_ignore_ascii_case("https") && !host.is_empty()) || (is_plain && is_here && !authority.contains('@'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_model::ByteSize;

    use crate::testing::toml;

    #[test]
    fn a_webhook_has_an_address_and_a_secret_that_nothing_shows() {
        let text = "[approvals]\nwebhook = { url = 'https://hooks.example/x', secret = '${TOKEN}-0123456789abcdef' }\n";
        let webhook = toml(text).expect("a config").approvals.webhook.expect("a webhook");
        assert_eq!((webhook.url.as_str(), webhook.arguments), ("https://hooks.example/x", false));
        assert_eq!(webhook.secret, "sesame-0123456789abcdef");
        assert!(!format!("{webhook:?}").contains("sesame"), "{webhook:?}");
        for url in ["http://127.0.0.1:8080/x", "http://[::1]/", "http://localhost", "HTTPS://x.example"] {
            assert!(super::is_private_url(url), "{url}");
        }
    }

    #[test]
    fn nobody_approves_without_typing_unless_the_file_says_so() {
        assert!(!toml("").expect("a config").approvals.allow_yes);
        let set = "[approvals]\nwait = '2h'\nallow_yes = true\nhold = '5s'\nmax_resting = '1MiB'\n";
        let set = toml(set).expect("a config").approvals;
        assert_eq!((set.wait, set.allow_yes), (Duration::from_secs(7200), true));
        assert_eq!((set.hold, set.max_resting), (Duration::from_secs(5), ByteSize::mib(1)));
        for (text, message) in [
            ("approvals = 1", "line 1, column 13: 'approvals' must be a table, not a number"),
            ("[approvals]\nwait = 5", "line 2, column 8: 'approvals.wait' must be a duration such as \"10m\""),
            ("[approvals]\nallow_yes = 'yes'", "line 2, column 13: 'approvals.allow_yes' must be true or false"),
            ("[approvals]\nmax_resting = 'lots'", "'approvals.max_resting' must be a size"),
            ("[approvals]\nhold = 5", "'approvals.hold' must be a duration"),
            ("[approvals]\nwebhook = 'x'", "'approvals.webhook' must be a table with 'url' and 'secret'"),
            (
                "[approvals]\nwebhook = { url = 'https://x' }",
                "must be a table with 'url' and 'secret', not a table without one of them",
            ),
            (
                "[approvals]\nwebhook = { url = 'http://hooks.example' }",
                "line 2, column 19: 'approvals.webhook.url' must be a URL that begins with https://, or with http:// for this",
            ),
            ("[approvals]\nwebhook = { url = 'http://127.0.0.1@evil.example/' }", "'approvals.webhook.url' must be"),
            ("[approvals]\nwebhook = { url = 'http://localhost.evil.example' }", "'approvals.webhook.url' must be"),
            (
                "[approvals]\nwebhook = { secret = 'short' }",
                "'approvals.webhook.secret' must be a string of at least 16",
            ),
            ("[approvals]\nwebhook = { arguments = 1 }", "'approvals.webhook.arguments' must be true or false"),
            ("[approvals]\nwebhook = { to = 'x' }", "unknown key 'to' in approvals.webhook"),
            ("[approvals]\nyes = true", "line 2, column 1: unknown key 'yes' in approvals"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
