//! belljar's own answers, including errors, as JSON.

use std::{convert::Infallible, time::Duration};

use belljar_connections::Held;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use serde_json::{Value, json};

/// When to retry after a limit was reached.
pub(crate) const LATER: Duration = Duration::from_secs(5);

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// An error that says what is wrong, for people and programs.
pub(crate) fn refused(status: StatusCode, message: &str) -> Answer {
    of(status, &json!({ "error": message }))
}

/// The error of a message, in JSON-RPC.
pub(crate) fn rpc_error(status: StatusCode, id: Value, code: i32, message: &str) -> Answer {
    of(status, &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

/// A JSON document.
pub(crate) fn of(status: StatusCode, body: &Value) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = status;
    answer
}

/// The same answer, with a value that is kept until the answer has been sent or dropped.
pub(crate) fn holding<T: Send + Sync + Unpin + 'static>(answer: Answer, held: T) -> Answer {
    answer.map(|body| Held::new(body, held).boxed())
}

/// The same answer, after which the connection is closed.
pub(crate) fn last(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The same answer, with a time to wait.
pub(crate) fn later(mut answer: Answer, wait: Duration) -> Answer {
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    answer
}
