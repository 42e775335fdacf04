//! Which parts of a server's configuration are secrets, by their place: the values of `env` and
//! `headers`, the client secret of `oauth`, and the user, password and query of URLs.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use belljar_model::{HttpEndpoint, Redactor, ServerSpec, Transport};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::text::one_line;

/// Settings in `env` that are not secrets, and whose values occur in many messages.
const SETTINGS: [&str; 3] = ["production", "development", "localhost"];
/// Headers that only describe the format of an answer.
const PLAIN_HEADERS: [&str; 4] = ["accept", "accept-language", "content-type", "user-agent"];
/// The length from which a part of a URL's path may be a token, in characters.
const TOKEN_CHARS: usize = 16;

/// Masks the secrets of one server.
pub(crate) fn redactor_of(spec: &ServerSpec) -> Redactor {
    match &spec.transport {
        Transport::Stdio(command) => {
            let mut secrets = Vec::new();
            for value in command.env.values() {
                add_value(value, &mut secrets);
            }
            command.args.iter().for_each(|argument| add_urls(argument, &mut secrets));
            Redactor::new(secrets.iter().map(String::as_str))
        }
        Transport::Http(endpoint) => redactor_of_endpoint(endpoint),
        _ => Redactor::default(),
    }
}

/// Masks the secrets of a remote server. The tokens of its login are added when they are read.
pub(crate) fn redactor_of_endpoint(endpoint: &HttpEndpoint) -> Redactor {
    let mut secrets = Vec::new();
    add_url(&endpoint.url, &mut secrets);
    endpoint.proxy.iter().for_each(|proxy| add_url(proxy, &mut secrets));
    for (name, value) in &endpoint.headers {
        if !PLAIN_HEADERS.iter().any(|plain| plain.eq_ignore_ascii_case(name)) {
            add_value(value, &mut secrets);
        }
    }
    secrets.extend(endpoint.oauth.secret.clone());
    Redactor::new(secrets.iter().map(String::as_str))
}

/// A foreign text on one line of at most `limit` characters, with the server's secrets masked. No
/// secret is cut in two.
pub(crate) fn redacted_line(text: &str, limit: usize, redactor: &Redactor) -> String {
    let line = one_line(text, limit.saturating_add(Redactor::REACH));
    match line.char_indices().nth(limit) {
        None => redactor.redact(&line).into_owned(),
        Some((end, _)) => redactor.redact_to(&line, end).into_owned() + "…",
    }
}

/// Adds a value of `env` or `headers`, and the secrets inside it.
fn add_value(value: &str, secrets: &mut Vec<String>) {
    add_urls(value, secrets);
    if SETTINGS.contains(&value) || is_path(value) || is_plain_url(value) {
        return;
    }
    secrets.push(value.to_owned());
    let Some((scheme, credentials)) = value.split_once(' ') else { return };
    secrets.push(credentials.to_owned());
    if scheme.eq_ignore_ascii_case("basic")
        && let Some(pair) =
            BASE64_STANDARD.decode(credentials.trim()).ok().and_then(|pair| String::from_utf8(pair).ok())
    {
        secrets.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
        secrets.push(pair);
    }
}

/// Adds the secrets of each URL in a text. Many connection strings are not valid URLs (several
/// hosts, a raw `#` or `/` in the password, `jdbc:` in front, `--dsn=` before it), so they are also
/// recognised by their form.
fn add_urls(text: &str, secrets: &mut Vec<String>) {
    add_url(text, secrets);
    for word in text.split(|character: char| character.is_whitespace() || matches!(character, '"' | '\'' | '<' | '>')) {
        let rest = match (word.split_once("://"), word.split_once('@')) {
            (Some((_, rest)), _) => rest,
            // As Go's drivers write it: user:password@tcp(host)/name.
            (None, Some((user, _))) if user.contains(':') => word,
            (None, _) => continue,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // If a password has a raw '/', '?' or '#', the very last '@' ends it.
        for userinfo in [authority, rest].into_iter().filter_map(|part| part.rsplit_once('@').map(|(info, _)| info)) {
            let userinfo =
                userinfo.rsplit_once('=').filter(|_| !word.contains("://")).map_or(userinfo, |(_, info)| info);
            add_written(userinfo, secrets);
            if let Some((user, password)) = userinfo.split_once(':') {
                add_written(user, secrets);
                add_written(password, secrets);
            }
        }
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        for part in query.split(['&', ';', '#']) {
            add_written(part.split_once('=').map_or(part, |(_, value)| value), secrets);
        }
    }
}

/// Adds a part as written and decoded.
fn add_written(written: &str, secrets: &mut Vec<String>) {
    secrets.push(written.to_owned());
    secrets.push(percent_decode_str(written).decode_utf8_lossy().into_owned());
}

/// Adds the user, password, query and fragment of a URL, as written and decoded.
fn add_url(text: &str, secrets: &mut Vec<String>) {
    let Some(url) = Url::parse(text).ok().filter(Url::has_host) else { return };
    for written in [Some(url.username()), url.password(), url.query(), url.fragment()].into_iter().flatten() {
        secrets.push(written.to_owned());
    }
    let parts = url.query().into_iter().flat_map(|query| query.split('&'));
    secrets.extend(parts.map(|part| part.split_once('=').map_or(part, |(_, value)| value).to_owned()));
    secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
    for written in [Some(url.username()), url.password()].into_iter().flatten() {
        secrets.push(percent_decode_str(written).decode_utf8_lossy().into_owned());
    }
}

/// Whether a value is a path, or a list of paths like `PATH`, and at least one of them exists.
fn is_path(value: &str) -> bool {
    let mut paths = std::env::split_paths(value);
    let are_absolute = std::env::split_paths(value).all(|path| path.is_absolute());
    are_absolute && paths.any(|path| Path::exists(&path))
}

/// Whether a value is a URL without room for a token.
fn is_plain_url(value: &str) -> bool {
    let Some(url) = Url::parse(value).ok().filter(Url::has_host) else { return false };
    let is_bare =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    let mut parts = url.path_segments().into_iter().flatten();
    is_bare && parts.all(|part| part.chars().count() < TOKEN_CHARS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use belljar_model::StdioCommand;

    use super::*;

    fn of_env(value: &str) -> Redactor {
        redactor_of(&ServerSpec::new(
            "test",
            Transport::Stdio(StdioCommand {
                command: "x".to_owned(),
                args: vec!["postgres://user:in-an-argument@host/db".to_owned()],
                env: BTreeMap::from([("VALUE".to_owned(), value.to_owned())]),
                cwd: None,
                sandbox: None,
            }),
        ))
    }

    #[test]
    fn values_of_env_are_secrets_but_for_paths_that_exist_and_plain_settings() {
        for secret in [
            "sesame-open",
            "/not/a/path/anywhere",
            "postgres://user:sesame-open@host/db",
            "https://hooks.example.com/services/T00000000/abcdefghijklmnopqrstuvwx",
            "https://example.com/?key=sesame-open",
        ] {
            assert_eq!(of_env(secret).redact(&format!("a {secret} b")), "a [redacted] b");
        }
        for plain in ["true", "production", "/usr/bin:/no/such/folder", "/tmp", "https://api.example.com/v1/mcp"] {
            assert_eq!(of_env(plain).redact(plain), plain);
        }
        assert_eq!(
            of_env("postgres://user:ses%2Bame-open@host/db").redact("ses+ame-open ses%2Bame-open"),
            "[redacted] [redacted]"
        );
        assert_eq!(of_env("x").redact("in-an-argument"), "[redacted]");
    }

    #[test]
    fn connection_strings_hold_secrets_whether_a_parser_takes_them_or_not() {
        for (written, secret) in [
            ("--db=postgres://bob:sesame-open@db/x", "sesame-open"),
            ("DATABASE_URL=postgres://bob:sesame-open@db/x", "sesame-open"),
            ("mongodb://bob:sesame-open@h1:27017,h2:27017/db?replicaSet=rs", "sesame-open"),
            ("jdbc:postgresql://h/db?user=bob&password=sesame-open", "sesame-open"),
            ("bob:sesame-open@tcp(127.0.0.1:3306)/db", "sesame-open"),
            ("--dsn=bob:sesame-open@tcp(127.0.0.1:3306)/db", "sesame-open"),
            ("postgres://bob:sesame-open@h:99999/db", "sesame-open"),
            ("connect to \"redis://:sesame-open@h:6379/0\" now", "sesame-open"),
            ("postgres://bob:sesame/#?open@h/db", "sesame/#?open"),
        ] {
            let command = |args, env| StdioCommand { command: "x".to_owned(), args, env, cwd: None, sandbox: None };
            let argument = command(vec![written.to_owned()], BTreeMap::new());
            let variable = command(Vec::new(), BTreeMap::from([("URL".to_owned(), written.to_owned())]));
            for command in [argument, variable] {
                let redactor = redactor_of(&ServerSpec::new("db", Transport::Stdio(command)));
                assert_eq!(redactor.redact(&format!("{secret} is wrong")), "[redacted] is wrong", "{written}");
            }
        }
    }

    #[test]
    fn headers_logins_and_urls_of_a_remote_server_hold_secrets() {
        let mut endpoint = HttpEndpoint::new("https://who:pass+w%2Ford@example.com/mcp?key=sesame%2Fopen&x=1");
        endpoint.headers = BTreeMap::from([
            ("Authorization".to_owned(), "Bearer abcdefgh".to_owned()),
            ("X-Basic".to_owned(), format!("Basic {}", BASE64_STANDARD.encode("user:hunter22"))),
            ("Accept".to_owned(), "application/json".to_owned()),
        ]);
        endpoint.oauth.secret = Some("client-secret".to_owned());
        let redactor = redactor_of_endpoint(&endpoint);
        for secret in [
            "pass+w/ord",
            "pass+w%2Ford",
            "sesame/open",
            "sesame%2Fopen",
            "abcdefgh",
            "hunter22",
            "user:hunter22",
            "client-secret",
        ] {
            assert_eq!(redactor.redact(&format!("a {secret} b")), "a [redacted] b", "{secret}");
        }
        assert_eq!(redactor.redact("example.com/mcp who application/json"), "example.com/mcp who application/json");
    }

    #[test]
    fn a_line_is_cut_with_no_part_of_a_secret_left_in_it() {
        let redactor = Redactor::new(["sesame-open"]);
        for before in 0..40 {
            let text = format!("{}\u{1b}[31msesame-open\u{1b}[0m {}", ".".repeat(before), "x".repeat(2_000));
            let line = redacted_line(&text, 20, &redactor);
            assert!(!line.contains("ses"), "{line}");
            assert!(line.ends_with('…'), "{line}");
        }
    }
}
