//! The parts of a message that must be known before rmcp reads it.

use std::fmt;

use http::StatusCode;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, error::Category};

use crate::answer::{self, Answer};

/// The longest request id that is examined. Longer ones are left to rmcp.
const MAX_ID: usize = 256;
pub(crate) const INVALID_REQUEST: i32 = -32600;
const PARSE_ERROR: i32 = -32700;

/// The parts of a message that are read.
#[derive(Deserialize)]
pub(crate) struct Head {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    params: Named,
}

impl Head {
    /// Reads it. rmcp answers malformed JSON with 415.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Answer> {
        let refused = |code, message| answer::rpc_error(StatusCode::BAD_REQUEST, Value::Null, code, message);
        let not_one = || refused(INVALID_REQUEST, "this is not one JSON-RPC message; batches are not supported");
        let head = serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => not_one(),
            _ => refused(PARSE_ERROR, "this is not JSON"),
        })?;
        // serde would also read an array as a structure.
        if body.trim_ascii_start().starts_with(b"{") { Ok(head) } else { Err(not_one()) }
    }

    /// Whether it wants a session.
    pub(crate) fn begins_session(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// The tool that it calls.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.params.0.as_deref().filter(|_| self.method.as_deref() == Some("tools/call"))
    }

    /// The id of a request, if it can be distinguished from others.
    pub(crate) fn request(self) -> Option<Value> {
        let is_usable = self.id.is_number() || self.id.as_str().is_some_and(|id| id.len() <= MAX_ID);
        Some(self.id).filter(|_| self.method.is_some() && is_usable)
    }
}

/// The `name` in the parameters, if there is one. rmcp checks them.
#[derive(Default)]
struct Named(Option<String>);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameVisitor).map(Self)
    }
}

/// Skips everything but a name, and keeps nothing of it.
struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut name = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "name" {
                name = map.next_value::<Text>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// A text, or `None` for anything else.
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| match value {
            Value::String(text) => Self(Some(text)),
            _ => Self(None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(body: &str) -> Option<String> {
        let head = Head::read(body.as_bytes()).unwrap_or_else(|_| panic!("a message: {body}"));
        head.tool().map(str::to_owned)
    }

    #[test]
    fn the_tool_of_a_call_is_known_and_odd_parameters_are_left_to_rmcp() {
        let of = |method: &str, params: &str| tool(&format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#));
        assert_eq!(of("tools/call", r#"{"arguments":{"name":"x"},"name":"a","b":[{}]}"#).as_deref(), Some("a"));
        assert_eq!(of("prompts/get", r#"{"name":"a"}"#), None);
        for params in ["null", "1", "-1", "1.5", "true", "\"name\"", "[\"name\", {}]", "{}", r#"{"name":{"name":1}}"#] {
            assert_eq!(of("tools/call", params), None, "{params}");
        }
        assert_eq!(tool(r#"{"id":1,"method":"tools/call"}"#), None);
    }
}
