//! The messages on the socket: JSON-RPC 2.0, one message per line. `docs/DAEMON.md` describes them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use belljar_json_rpc::{Error as DaemonError, MAX_LINE_BYTES, codes};
pub(crate) use belljar_json_rpc::{Id, response as line};

/// The version of the protocol. It is increased if an old client could misunderstand a new daemon;
/// new methods and fields do not change it.
pub const PROTOCOL: u32 = 1;

/// The most clients at once. A shell loop has a handful; a loop that forgets to hang up must not
/// use up all file descriptors.
pub(crate) const MAX_CLIENTS: usize = 256;
/// The most concurrent requests of one client.
pub(crate) const MAX_IN_FLIGHT: usize = 256;

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
        request.id.as_ref().map_or(Ok(()), Id::check)?;
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
}
