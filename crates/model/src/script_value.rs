//! A script's value, including undefined and bytes, and the JSON in which it crosses to the host.
//!
//! Extended JSON is JSON in which an object whose only member is `$belljar` is special:
//! `{"$belljar": "undefined"}` is undefined, `{"$belljar": {"bytes": "…", "type": "Uint8Array"}}`
//! is bytes in base64, and `{"$belljar": {"object": {…}}}` is the inner object, whose only member
//! is itself `$belljar`. Any other content of `$belljar` is refused, so that each text has one
//! meaning.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Number, Value, json};

use crate::JsonText;

/// The only member of a special object.
const MARK: &str = "$belljar";
/// What stands for undefined.
const UNDEFINED: &str = "undefined";

/// A value of a script that can cross to its host.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptValue {
    /// `undefined`, which plain JSON does not have.
    Undefined,
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A buffer, or a view of one.
    Bytes(Bytes),
    /// An array.
    List(Vec<ScriptValue>),
    /// An object, with its members in their order.
    Object(Vec<(String, ScriptValue)>),
}

/// Bytes, and the type of their object in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    /// The type of the script's object.
    pub kind: BytesKind,
    /// The bytes, as they are in memory. Numbers of several bytes are little-endian.
    pub bytes: Vec<u8>,
}

/// The types of JavaScript that hold bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they have the names of JavaScript")]
pub enum BytesKind {
    ArrayBuffer,
    DataView,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float16Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
}

/// Why JSON is not extended JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The text is not JSON.
    #[error("the value is not JSON")]
    NotJson,
    /// The content of `$belljar` has no meaning.
    #[error(
        "an object whose only member is \"{MARK}\" must be {{\"{MARK}\": \"{UNDEFINED}\"}}, \
         {{\"{MARK}\": {{\"bytes\": \"…\", \"type\": \"Uint8Array\"}}}}, or {{\"{MARK}\": {{\"object\": {{\"{MARK}\": …}}}}}}"
    )]
    UnknownMark,
    /// There is no such type.
    #[error("there are no bytes of this type: use \"Uint8Array\", \"ArrayBuffer\", or another typed array")]
    UnknownType,
    /// The bytes are not in base64.
    #[error("the bytes are not base64 of the standard alphabet, with padding")]
    NotBase64,
    /// Elements of the type would not fit the bytes.
    #[error("{bytes} bytes are no whole number of elements of a {kind}")]
    NotWhole {
        /// How many there are.
        bytes: usize,
        /// The type.
        kind: &'static str,
    },
}

impl BytesKind {
    const ALL: [(Self, &'static str, usize); 14] = [
        (Self::ArrayBuffer, "ArrayBuffer", 1),
        (Self::DataView, "DataView", 1),
        (Self::Int8Array, "Int8Array", 1),
        (Self::Uint8Array, "Uint8Array", 1),
        (Self::Uint8ClampedArray, "Uint8ClampedArray", 1),
        (Self::Int16Array, "Int16Array", 2),
        (Self::Uint16Array, "Uint16Array", 2),
        (Self::Int32Array, "Int32Array", 4),
        (Self::Uint32Array, "Uint32Array", 4),
        (Self::Float16Array, "Float16Array", 2),
        (Self::Float32Array, "Float32Array", 4),
        (Self::Float64Array, "Float64Array", 8),
        (Self::BigInt64Array, "BigInt64Array", 8),
        (Self::BigUint64Array, "BigUint64Array", 8),
    ];

    /// Its name in JavaScript.
    pub fn name(self) -> &'static str {
        self.described().1
    }

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    /// The bytes of one element.
    pub fn element_bytes(self) -> usize {
        self.described().2
    }

    fn described(self) -> (Self, &'static str, usize) {
        let found = Self::ALL.into_iter().find(|(kind, ..)| *kind == self);
        found.unwrap_or((self, "ArrayBuffer", 1))
    }
}

impl ScriptValue {
    /// Bytes that the script gets as a `Uint8Array`.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(Bytes { kind: BytesKind::Uint8Array, bytes: bytes.into() })
    }

    /// Reads extended JSON.
    ///
    /// # Errors
    /// [`ValueError`], if it has no meaning.
    pub fn from_json(text: &JsonText) -> Result<Self, ValueError> {
        // The text's depth is bounded, and so is the recursion.
        Self::read(text.to_value().map_err(|_| ValueError::NotJson)?)
    }

    /// The value as extended JSON.
    pub fn to_json(&self) -> JsonText {
        JsonText::from_value(&self.written())
    }

    /// The value as plain JSON: undefined is null, and bytes are their base64.
    pub fn into_plain(self) -> Value {
        match self {
            Self::Undefined | Self::Null => Value::Null,
            Self::Bool(flag) => flag.into(),
            Self::Number(number) => number.into(),
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => BASE64_STANDARD.encode(bytes.bytes).into(),
            Self::List(list) => list.into_iter().map(Self::into_plain).collect(),
            Self::Object(members) => {
                members.into_iter().map(|(name, value)| (name, value.into_plain())).collect::<Map<_, _>>().into()
            }
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    fn read(value: Value) -> Result<Self, ValueError> {
        match value {
            Value::Object(members) => match marked(members) {
                Ok(content) => Self::read_marked(content),
                Err(members) => Self::read_members(members),
            },
            Value::Array(list) => list.into_iter().map(Self::read).collect::<Result<_, _>>().map(Self::List),
            Value::Null => Ok(Self::Null),
            Value::Bool(flag) => Ok(Self::Bool(flag)),
            Value::Number(number) => Ok(Self::Number(number)),
            Value::String(text) => Ok(Self::Text(text)),
        }
    }

    fn read_members(members: Map<String, Value>) -> Result<Self, ValueError> {
        let read = |(name, value)| Ok((name, Self::read(value)?));
        members.into_iter().map(read).collect::<Result<_, _>>().map(Self::Object)
    }

    fn read_marked(content: Value) -> Result<Self, ValueError> {
        let mut content = match content {
            Value::String(text) if text == UNDEFINED => return Ok(Self::Undefined),
            Value::Object(content) => content,
            _ => return Err(ValueError::UnknownMark),
        };
        let (items, first) = (content.len(), content.remove("bytes"));
        match (items, first, content.remove("type"), content.remove("object")) {
            (2, Some(Value::String(bytes)), Some(Value::String(name)), None) => {
                let kind = BytesKind::from_name(&name).ok_or(ValueError::UnknownType)?;
                let bytes = BASE64_STANDARD.decode(bytes).map_err(|_| ValueError::NotBase64)?;
                if bytes.len() % kind.element_bytes() != 0 {
                    return Err(ValueError::NotWhole { bytes: bytes.len(), kind: kind.name() });
                }
                Ok(Self::Bytes(Bytes { kind, bytes }))
            }
            (1, None, None, Some(Value::Object(members))) => match marked(members) {
                Ok(inner) => Ok(Self::Object(vec![(MARK.to_owned(), Self::read(inner)?)])),
                Err(_) => Err(ValueError::UnknownMark),
            },
            _ => Err(ValueError::UnknownMark),
        }
    }

    fn written(&self) -> Value {
        match self {
            Self::Undefined => json!({ MARK: UNDEFINED }),
            Self::Null => Value::Null,
            Self::Bool(flag) => (*flag).into(),
            Self::Number(number) => number.clone().into(),
            Self::Text(text) => text.as_str().into(),
            Self::Bytes(Bytes { kind, bytes }) => {
                json!({ MARK: { "bytes": BASE64_STANDARD.encode(bytes), "type": kind.name() } })
            }
            Self::List(list) => list.iter().map(Self::written).collect(),
            Self::Object(members) => {
                let written: Map<String, Value> =
                    members.iter().map(|(name, value)| (name.clone(), value.written())).collect();
                let is_marked = written.len() == 1 && written.contains_key(MARK);
                if is_marked { json!({ MARK: { "object": written } }) } else { written.into() }
            }
        }
    }
}

/// The content of an object whose only member is the mark. For any other object, its members as the
/// error.
fn marked(mut members: Map<String, Value>) -> Result<Value, Map<String, Value>> {
    if members.len() != 1 {
        return Err(members);
    }
    members.remove(MARK).ok_or(members)
}

impl From<Value> for ScriptValue {
    /// The value unchanged: in plain JSON, no object is special.
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl From<&str> for ScriptValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ScriptValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<()> for ScriptValue {
    fn from((): ()) -> Self {
        Self::Undefined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonBounds;

    fn read(text: &str) -> Result<ScriptValue, ValueError> {
        ScriptValue::from_json(&JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(1 << 20)).expect("JSON"))
    }

    #[test]
    fn each_value_is_read_as_it_was_written() {
        let inner = || ScriptValue::Object(vec![(MARK.to_owned(), "undefined".into())]);
        for value in [
            ScriptValue::Undefined,
            ScriptValue::Null,
            ScriptValue::bytes([0, 255, 7]),
            ScriptValue::Bytes(Bytes { kind: BytesKind::Float64Array, bytes: vec![0; 16] }),
            inner(),
            ScriptValue::Object(vec![(MARK.to_owned(), inner())]),
            ScriptValue::Object(vec![(MARK.to_owned(), ScriptValue::Undefined), ("a".to_owned(), inner())]),
            ScriptValue::List(vec![ScriptValue::Undefined, json!({ "a": [1, "3", null, true] }).into()]),
            json!({ MARK: { "bytes": "!", "type": "Nothing" } }).into(),
        ] {
            assert_eq!(ScriptValue::from_json(&value.to_json()), Ok(value));
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for (text, error) in [
            (r#"{"$belljar":1}"#, ValueError::UnknownMark),
            (r#"{"$belljar":"null"}"#, ValueError::UnknownMark),
            (r#"{"$belljar":{}}"#, ValueError::UnknownMark),
            (r#"{"$belljar":{"object":{}}}"#, ValueError::UnknownMark),
            (r#"{"$belljar":{"object":{"a":1}}}"#, ValueError::UnknownMark),
            (r#"{"$belljar":{"bytes":"","type":"Uint8Array","object":{}}}"#, ValueError::UnknownMark),
            (r#"{"$belljar":{"bytes":"AA=="}}"#, ValueError::UnknownMark),
            (r#"[{"$belljar":{"bytes":"AA==","type":"Blob"}}]"#, ValueError::UnknownType),
            (r#"{"$belljar":{"bytes":"AA","type":"Uint8Array"}}"#, ValueError::NotBase64),
            (r#"{"$belljar":{"bytes":"A_-=","type":"Uint8Array"}}"#, ValueError::NotBase64),
            (
                r#"{"$belljar":{"bytes":"AAAA","type":"Int16Array"}}"#,
                ValueError::NotWhole { bytes: 3, kind: "Int16Array" },
            ),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
        assert_eq!(read(r#"{"$belljar":1,"a":2}"#).map(ScriptValue::into_plain), Ok(json!({ "$belljar": 1, "a": 2 })));
    }
}
