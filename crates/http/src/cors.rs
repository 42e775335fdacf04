//! The headers with which a browser lets a page of an allowed origin send requests and read the
//! answers.
//!
//! The page was checked before (`origin`): other pages get none of these headers, and cookies are
//! never used.

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};

use crate::{
    answer::{self, Answer},
    origin::only,
};

/// Headers that clients of the protocol send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
);
/// Headers that they must be able to read.
const ANSWER_HEADERS: HeaderValue = HeaderValue::from_static("mcp-session-id, retry-after, www-authenticate");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// How many seconds a browser may remember this.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The origin of the page that sends a request, if a page does.
pub(crate) fn page(headers: &HeaderMap) -> Option<HeaderValue> {
    only(headers, &header::ORIGIN).and_then(|origin| HeaderValue::from_str(origin).ok())
}

/// Whether a browser asks what a page may send. Such a request has no token.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    *request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to such a request.
pub(crate) fn preflight() -> Answer {
    let mut answer = answer::empty(StatusCode::NO_CONTENT);
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    answer
}

/// Lets the page read an answer.
pub(crate) fn share(answer: &mut Answer, page: HeaderValue) {
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANSWER_HEADERS);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
