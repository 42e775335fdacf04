//! The headers that every answer has, whatever its content.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde_json::{Value, json};

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Only scripts, styles and requests of this server are allowed, and none inline; the page cannot
/// be in a frame; and no text becomes markup, whatever a script of the page does.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers of each answer. Nothing is shared with other pages (no CORS), and nothing is cached.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// An answer of this type.
pub(crate) fn of(kind: &'static str, body: impl Into<Bytes>) -> Answer {
    with(kind, Full::new(body.into()).boxed_unsync())
}

/// The same with a body that is sent in parts.
pub(crate) fn with(kind: &'static str, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// A JSON document.
pub(crate) fn json(body: &Value) -> Answer {
    of("application/json", body.to_string())
}

/// An error, for people and for the page, which needs to know whether it is logged in.
pub(crate) fn refused(status: StatusCode, message: &str, has_login: bool) -> Answer {
    let mut answer = json(&match has_login {
        true => json!({ "error": message, "login": true }),
        false => json!({ "error": message }),
    });
    *answer.status_mut() = status;
    answer
}
