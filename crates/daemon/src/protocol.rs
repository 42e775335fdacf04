//! The messages on the socket: JSON-RPC 2.0, one message per line. `docs/DAEMON.md` describes them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of the protocol. It changes when an old client could misunderstand a new daemon; new
/// methods and fields do not change it.
pub const PROTOCOL: u32 = 1;

/// The longest line of a client: a script of the largest size with arguments, escaped.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// Clients at once. A shell loop has a handful; one that forgets to hang up must not take all file
/// descriptors.
pub(crate) const MAX_CLIENTS: usize = 256;
/// Requests of one client at once.
pub(crate) const MAX_IN_FLIGHT: usize = 256;
/// The longest text that a client may use as an id.
const MAX_ID_BYTES: usize = 128;

/// The error codes: those of JSON-RPC, and belljar's own.
pub mod codes {
    /// The line is not JSON.
    pub const PARSE: i32 = -32700;
    /// The line is JSON but not a request, or a request at the wrong time.
    pub const INVALID_REQUEST: i32 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are wrong.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The daemon failed.
    pub const INTERNAL: i32 = -32603;
    /// Too many clients, or too many requests of one client; try again later.
    pub const BUSY: i32 = -32000;
    /// The daemon is ending and takes no new requests.
    pub const STOPPING: i32 = -32001;
    /// The client speaks a version that the daemon does not.
    pub const PROTOCOL: i32 = -32002;
    /// The line is too long.
    pub const TOO_LONG: i32 = -32003;
    /// The configuration cannot be used.
    pub const INVALID_CONFIG: i32 = -32004;
    /// The client cancelled the request.
    pub const CANCELLED: i32 = -32800;
}

/// A client's message about a request that it sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(i64),
    Text(String),
}

/// A line of a client. Without an id, it is a notification and gets no answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Request<'line> {
    jsonrpc: &'line str,
    #[serde(default)]
    pub(crate) id: Option<Id>,
    pub(crate) method: String,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'line RawValue>,
}

impl<'line> Request<'line> {
    pub(crate) fn parse(line: &'line str) -> Result<Self, DaemonError> {
        let request: Self = serde_json::from_str(line).map_err(|error| {
            let code = if error.is_data() { codes::INVALID_REQUEST } else { codes::PARSE };
            DaemonError::new(code, format!("the line is not a request: {error}")).with_hint(
                "a request is {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"…\", \"params\": {…}} on one line",
            )
        })?;
        if request.jsonrpc != "2.0" {
            return Err(DaemonError::new(codes::INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\""));
        }
        if matches!(&request.id, Some(Id::Text(id)) if id.len() > MAX_ID_BYTES) {
            return Err(DaemonError::new(codes::INVALID_REQUEST, format!("an id has at most {MAX_ID_BYTES} bytes")));
        }
        Ok(request)
    }

    /// The parameters as a type; missing ones count as an empty object.
    pub(crate) fn params<T: Deserialize<'line>>(&self) -> Result<T, DaemonError> {
        let text = self.params.map_or("{}", RawValue::get);
        serde_json::from_str(text).map_err(|error| {
            DaemonError::new(codes::INVALID_PARAMS, format!("the parameters of '{}' are wrong: {error}", self.method))
        })
    }
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct DaemonError {
    /// One of [`codes`].
    pub code: i32,
    /// What happened.
    pub message: String,
    /// What to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Advice>,
}

/// Further data of a [`DaemonError`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What to try.
    pub hint: String,
}

impl DaemonError {
    /// An error without a hint.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data = Some(Advice { hint: hint.into() });
        self
    }

    /// What to try.
    pub fn hint(&self) -> Option<&str> {
        self.data.as_ref().map(|advice| advice.hint.as_str())
    }
}

/// An answer as a line, without its line break.
pub(crate) fn line(id: Option<&Id>, answer: &Result<Box<RawValue>, DaemonError>) -> String {
    #[derive(Serialize)]
    struct Line<'answer> {
        jsonrpc: &'static str,
        id: Option<&'answer Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'answer RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'answer DaemonError>,
    }
    let (result, error) = match answer {
        Ok(result) => (Some(result.as_ref()), None),
        Err(fault) => (None, Some(fault)),
    };
    let line = serde_json::to_string(&Line { jsonrpc: "2.0", id, result, error });
    // Texts, numbers and existing JSON, which can always be written.
    line.unwrap_or_else(|_| r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no JSON"}}"#.to_owned())
}

/// A request or a notification as the client writes it.
#[derive(Debug, Serialize)]
pub(crate) struct Sent<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    pub(crate) method: &'a str,
    params: P,
}

impl<'a, P: Serialize> Sent<'a, P> {
    pub(crate) fn request(id: i64, method: &'a str, params: P) -> Self {
        Self { jsonrpc: "2.0", id: Some(id), method, params }
    }

    pub(crate) fn notification(method: &'a str, params: P) -> Self {
        Self { jsonrpc: "2.0", id: None, method, params }
    }
}

/// An answer as the client reads it.
#[derive(Debug, Deserialize)]
pub(crate) struct Response {
    pub(crate) id: Option<Id>,
    #[serde(default)]
    pub(crate) result: Option<Box<RawValue>>,
    #[serde(default)]
    pub(crate) error: Option<DaemonError>,
}

/// The request `hello`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Greet {
    pub(crate) protocol: u32,
}

/// The notification `cancel`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cancel {
    pub(crate) id: Id,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_request_is_told_apart_from_one_that_is_no_json() {
        for (line, code) in [
            ("", codes::PARSE),
            ("{", codes::PARSE),
            ("GET / HTTP/1.1", codes::PARSE),
            ("[]", codes::INVALID_REQUEST),
            ("{}", codes::INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"status"}"#, codes::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"status"}"#, codes::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, codes::INVALID_REQUEST),
        ] {
            assert_eq!(Request::parse(line).unwrap_err().code, code, "{line}");
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"status"}}"#, "x".repeat(200));
        assert_eq!(Request::parse(&long).unwrap_err().code, codes::INVALID_REQUEST);
    }

    #[test]
    fn an_answer_has_a_result_or_an_error_and_never_both() {
        let result = RawValue::from_string("{\"a\":1}".to_owned()).unwrap();
        assert_eq!(line(Some(&Id::Number(7)), &Ok(result)), r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        let fault = DaemonError::new(codes::BUSY, "busy").with_hint("later");
        assert_eq!(
            line(None, &Err(fault)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy","data":{"hint":"later"}}}"#
        );
    }
}
