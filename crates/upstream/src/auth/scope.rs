//! The scopes that a server wants beyond those of a login.
//!
//! A server that refuses a call says which scopes it needs. They are stored beside the login, and
//! requested at the next `belljar login`, where the owner sees them. Nothing is requested without
//! the owner.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// Scopes that are stored per server: operations need one or two.
const MAX_SCOPES: usize = 32;
/// The longest name of a stored scope. Some are URLs.
const SCOPE_BYTES: usize = 200;

/// The scopes of a challenge about an insufficient token; empty for other challenges.
pub(crate) fn needed(headers: &HeaderMap) -> Option<Vec<String>> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let mut parameters = challenges.filter_map(bearer).map(parameters);
    let parameters = parameters.find(|all| value_of(all, "error") == Some("insufficient_scope"))?;
    let scopes = scopes(value_of(&parameters, "scope")?.split_ascii_whitespace());
    (!scopes.is_empty()).then_some(scopes)
}

/// Valid names of scopes, each once, and not too many.
pub(super) fn scopes<'s>(names: impl Iterator<Item = &'s str>) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for name in names {
        let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        let is_scope = (1..=SCOPE_BYTES).contains(&name.len()) && name.bytes().all(allowed);
        if is_scope && scopes.len() < MAX_SCOPES && !scopes.iter().any(|known| known == name) {
            scopes.push(name.to_owned());
        }
    }
    scopes
}

fn bearer(challenge: &str) -> Option<&str> {
    let (scheme, rest) = challenge.trim_start().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(rest)
}

fn value_of<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The parameters of a challenge: `name=value` or `name="value"`, with commas between them.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_start_matches([',', ' ', '\t']).trim_end().to_owned();
        let after = after.trim_start();
        let (value, remaining) = match after.strip_prefix('"') {
            Some(quoted) => quoted_value(quoted),
            None => {
                let end = after.find(',').unwrap_or(after.len());
                let (value, remaining) = after.split_at(end);
                (value.trim().to_owned(), remaining)
            }
        };
        found.push((name, value));
        rest = remaining;
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn quoted_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, text.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(challenges: &[&str]) -> Option<Vec<String>> {
        let mut headers = HeaderMap::new();
        for challenge in challenges {
            headers.append(WWW_AUTHENTICATE, challenge.parse().expect("a value"));
        }
        needed(&headers)
    }

    #[test]
    fn the_scopes_of_a_challenge_are_found_wherever_they_stand() {
        let expected = Some(vec!["a:b".to_owned(), "c".to_owned()]);
        for challenge in [
            r#"Bearer error="insufficient_scope", scope="a:b c", resource_metadata="https://x/y?a=b""#,
            r#"bearer resource_metadata="https://x",scope="a:b c a:b", error="insufficient_scope""#,
            r#"Bearer realm="with \"scope=x\", error=y", error=insufficient_scope, Scope="a:b  c""#,
        ] {
            assert_eq!(of(&[challenge]), expected, "{challenge}");
            assert_eq!(of(&["Basic realm=\"x\"", challenge]), expected, "{challenge}");
        }
    }

    #[test]
    fn what_is_no_such_challenge_and_no_scope_is_passed_over_and_their_number_is_bounded() {
        for challenge in [
            "",
            "Bearer",
            r#"Bearer error="invalid_token", scope="a""#,
            r#"Bearer error="insufficient_scope""#,
            r#"Bearer error="insufficient_scope", scope="""#,
            r#"Basic error="insufficient_scope", scope="a""#,
            r#"Bearer error="insufficient_scope", scope="a"#,
        ] {
            let found = of(&[challenge]);
            assert!(found.is_none() || challenge.ends_with("\"a"), "{challenge}");
        }
        let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let long = "x".repeat(201);
        let found = of(&[&format!("Bearer error=\"insufficient_scope\", scope=\"{long} {}\"", many.join(" "))]);
        assert_eq!(found.expect("scopes"), many[..32]);
    }
}
