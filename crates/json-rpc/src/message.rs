//! Ids, errors and answers.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The longest line of a client: a script of the largest size with arguments, escaped.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// The longest text that may be an id.
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
    /// belljar failed.
    pub const INTERNAL: i32 = -32603;
    /// Too many clients, or too many requests of one client; try again later.
    pub const BUSY: i32 = -32000;
    /// The process is ending and takes no new requests.
    pub const STOPPING: i32 = -32001;
    /// The client speaks a version of the protocol that belljar does not.
    pub const PROTOCOL: i32 = -32002;
    /// The line is too long.
    pub const TOO_LONG: i32 = -32003;
    /// The configuration cannot be used.
    pub const INVALID_CONFIG: i32 = -32004;
    /// The client cancelled the request.
    pub const CANCELLED: i32 = -32800;
}

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    /// Whether it may be used.
    ///
    /// # Errors
    /// [`codes::INVALID_REQUEST`]: it is too long.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Text(id) if id.len() > MAX_ID_BYTES => {
                Err(Error::new(codes::INVALID_REQUEST, format!("an id has at most {MAX_ID_BYTES} bytes")))
            }
            Self::Text(_) | Self::Number(_) => Ok(()),
        }
    }
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// One of [`codes`].
    pub code: i32,
    /// What happened.
    pub message: String,
    /// What to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Advice>,
}

/// Further data of an [`Error`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What to try.
    pub hint: String,
}

impl Error {
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

/// The answer to a request as a line, without its line break.
pub fn response(id: Option<&Id>, answer: &Result<Box<RawValue>, Error>) -> String {
    #[derive(Serialize)]
    struct Line<'answer> {
        jsonrpc: &'static str,
        id: Option<&'answer Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'answer RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'answer Error>,
    }
    let (result, error) = match answer {
        Ok(result) => (Some(result.as_ref()), None),
        Err(fault) => (None, Some(fault)),
    };
    let line = serde_json::to_string(&Line { jsonrpc: "2.0", id, result, error });
    // Texts, numbers and existing JSON, which can always be written.
    line.unwrap_or_else(|_| r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no JSON"}}"#.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_result_or_an_error_and_never_both() {
        let result = RawValue::from_string("{\"a\":1}".to_owned()).unwrap();
        assert_eq!(response(Some(&Id::Number(7)), &Ok(result)), r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        let fault = Error::new(codes::BUSY, "busy").with_hint("later");
        assert_eq!(
            response(None, &Err(fault)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy","data":{"hint":"later"}}}"#
        );
    }
}
