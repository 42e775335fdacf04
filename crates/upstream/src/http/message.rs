//! The messages that pass through, parsed only far enough to know what each is and which request it
//! answers.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The outermost members of one of our own messages.
#[derive(Deserialize)]
pub(crate) struct Outgoing<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
}

/// The parts of a message's parameters that go into headers, or say what it cancels.
#[derive(Default, Deserialize)]
pub(crate) struct Parameters<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    pub(crate) request_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
}

impl<'a> Outgoing<'a> {
    /// Reads a message that rmcp has written.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    pub(crate) fn parameters(&self) -> Parameters<'a> {
        self.params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
    }
}

impl Parameters<'_> {
    /// The revision that a request names, which only those without a handshake do.
    pub(crate) fn version(&self) -> Option<&str> {
        self.meta.as_ref()?.version.as_deref()
    }
}

/// The outermost members of a server's message.
#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

/// Whether `text` answers the request with this id.
pub(crate) fn is_answer(text: &[u8], id: &str) -> bool {
    let message: Option<Incoming<'_>> = serde_json::from_slice(text).ok();
    message.is_some_and(|message| {
        message.method.is_none()
            && message.id.is_some_and(|theirs| theirs.get().trim_matches('"') == id.trim_matches('"'))
    })
}

/// A JSON-RPC error in an unsuccessful answer, as an answer to the request with this id, even if it
/// names none.
pub(crate) fn error_for(text: &[u8], id: &str) -> Option<Vec<u8>> {
    let message: Incoming<'_> = serde_json::from_slice(text).ok()?;
    let error = message.error.filter(|_| message.jsonrpc == "2.0")?;
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.get()).into_bytes())
}

/// The revision that an answer to `initialize` names.
pub(crate) fn negotiated_version(text: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Negotiated {
        #[serde(rename = "protocolVersion")]
        version: String,
    }
    const LONGEST: usize = 32;
    let message: Incoming<'_> = serde_json::from_slice(text).ok()?;
    let negotiated: Negotiated = serde_json::from_str(message.result?.get()).ok()?;
    Some(negotiated.version).filter(|version| version.len() <= LONGEST)
}

/// An error of ours, as the answer to the request with this id.
pub(crate) fn failure(id: &str, message: &str) -> Vec<u8> {
    const CODE: i32 = -32_000;
    let message = serde_json::Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{CODE},"message":{message}}}}}"#).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_known_by_its_id() {
        assert!(is_answer(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "7"));
        assert!(is_answer(br#"{"jsonrpc":"2.0","id":"7","error":{}}"#, "7"));
        assert!(!is_answer(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "7"));
        assert!(!is_answer(br#"{"jsonrpc":"2.0","id":8,"result":{}}"#, "7"));
        assert!(!is_answer(b"[]", "7"));
    }

    #[test]
    fn an_error_without_an_id_is_that_of_the_request() {
        let text = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
        let expected = br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}"#.to_vec();
        assert_eq!(error_for(text, "3"), Some(expected));
        assert_eq!(error_for(br#"{"error":"not found"}"#, "3"), None);
    }

    #[test]
    fn what_goes_into_headers_is_read() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let message = Outgoing::read(text).expect("a message");
        let parameters = message.parameters();
        assert_eq!((parameters.name.as_deref(), parameters.version()), (Some("x"), Some("2026-07-28")));
        let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","x":1}}"#;
        assert_eq!(negotiated_version(answer).as_deref(), Some("2025-06-18"));
    }
}
