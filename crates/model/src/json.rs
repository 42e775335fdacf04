//! JSON that crosses a boundary, checked before anything builds a tree from it.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// How large a JSON text may be, and how deeply nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonBounds {
    /// The longest text, in bytes.
    pub bytes: usize,
    /// The deepest nesting of arrays and objects. At most 127, since consumers that recurse stop at
    /// 128.
    pub depth: usize,
    /// The most values (members and elements count as one each), since a small text can make a
    /// large tree.
    pub values: usize,
}

impl JsonBounds {
    /// The depth that every part of belljar accepts.
    pub const DEPTH: usize = 127;
    /// The values that fit into one text by default: a tree of a million nodes takes some 100 MB.
    pub const VALUES: usize = 1_000_000;

    /// Bounds with the given size, and the common depth and count.
    pub fn with_bytes(bytes: usize) -> Self {
        Self { bytes, depth: Self::DEPTH, values: Self::VALUES }
    }
}

/// The name by which `serde_json` marks its raw values. From a member with this name it would build
/// a tree of the *text* in it, which would be neither bounded nor what its author wrote.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Why a text was not accepted as JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is too long.
    #[error("the JSON text has {used} bytes; the limit is {limit}")]
    TooLong {
        /// The bound.
        limit: usize,
        /// The text's length.
        used: usize,
    },
    /// The text is nested too deeply.
    #[error("the JSON text nests deeper than {limit} levels")]
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// The text has too many values.
    #[error("the JSON text holds more than {limit} values")]
    TooMany {
        /// The bound.
        limit: usize,
    },
    /// A member has the name by which the parser itself marks raw JSON text.
    #[error("the JSON text has a member named \"{RAW_VALUE}\", which means something else to the parser")]
    Reserved,
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Syntax(serde_json::Error),
}

/// A valid JSON text within its [`JsonBounds`].
///
/// It is kept as text: most values only pass through the host, and a tree takes up to seventy times
/// the memory of its text. Clones share the text.
#[derive(Clone)]
pub struct JsonText(Arc<Box<RawValue>>);

impl JsonText {
    /// Checks `text` against `bounds` and for syntax, without recursion and without building a
    /// tree.
    ///
    /// # Errors
    /// [`JsonError`], if the text is too long, nested too deeply, has too many values, or is not
    /// JSON.
    pub fn parse(text: String, bounds: &JsonBounds) -> Result<Self, JsonError> {
        Self::counted(text, bounds).map(|(text, _)| text)
    }

    /// The same, with the count of its values.
    ///
    /// # Errors
    /// [`JsonError`], as for [`parse`](Self::parse).
    pub fn counted(text: String, bounds: &JsonBounds) -> Result<(Self, usize), JsonError> {
        if text.len() > bounds.bytes {
            return Err(JsonError::TooLong { limit: bounds.bytes, used: text.len() });
        }
        let values = check_shape(&text, bounds)?;
        RawValue::from_string(text).map(|text| (Self::shared(text), values)).map_err(JsonError::Syntax)
    }

    /// The text of a value that belljar itself has built.
    ///
    /// # Panics
    /// Never: a [`serde_json::Value`] always has a text.
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self::shared(serde_json::value::to_raw_value(value).expect("a JSON value serialises to JSON"))
    }

    /// The text of something that belljar itself has built, and that is within the bounds of its
    /// input.
    ///
    /// # Panics
    /// If `value` cannot be written as JSON, such as a map whose keys are not texts.
    pub fn from_serializable(value: &impl Serialize) -> Self {
        Self::shared(serde_json::value::to_raw_value(value).expect("it has a form as JSON"))
    }

    /// `null`.
    pub fn null() -> Self {
        Self::shared(RawValue::NULL.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The text, without a copy if this is the only owner.
    pub fn into_string(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(text) => Box::<str>::from(text).into_string(),
            Err(shared) => shared.get().to_owned(),
        }
    }

    /// The tree. Its depth is bounded by [`JsonBounds::depth`], so recursion over it is.
    ///
    /// # Errors
    /// A number that no [`serde_json::Value`] can hold, such as `1e400`.
    pub fn to_value(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    fn shared(text: Box<RawValue>) -> Self {
        Self(Arc::new(text))
    }
}

/// It is serialised as the JSON that it is.
impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// Bounds depth and count by looking at brackets and separators outside of strings, and returns the
/// count. Syntax is checked afterwards.
fn check_shape(text: &str, bounds: &JsonBounds) -> Result<usize, JsonError> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0_usize, 1_usize, false, false);
    let mut string_at = 0;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_string = false;
                    let is_name = || text.get(at + 1..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                    if text.get(string_at..=at).is_some_and(is_reserved) && is_name() {
                        return Err(JsonError::Reserved);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => (in_string, string_at) = (true, at),
            b'[' | b'{' => {
                depth += 1;
                values += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => continue,
        }
        if depth > bounds.depth {
            return Err(JsonError::TooDeep { limit: bounds.depth });
        }
        if values > bounds.values {
            return Err(JsonError::TooMany { limit: bounds.values });
        }
    }
    Ok(values)
}

/// Whether a string, including its quotes, is the reserved name. Each of its characters may be
/// written as `\u0024`; no other string is decoded.
fn is_reserved(quoted: &str) -> bool {
    const LONGEST: usize = 2 + RAW_VALUE.len() * r"\u0024".len();
    let may_be = quoted.len() >= RAW_VALUE.len() + 2 && quoted.len() <= LONGEST;
    may_be
        && matches!(quoted.as_bytes().get(1), Some(b'$' | b'\\'))
        && serde_json::from_str::<String>(quoted).is_ok_and(|name| name == RAW_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<JsonText, JsonError> {
        JsonText::parse(text.to_owned(), &JsonBounds { bytes: 1_000_000, depth: 3, values: 5 })
    }

    #[test]
    fn bounds_are_checked_before_a_tree_is_built() {
        assert!(parse("[[[1]]]").is_ok());
        assert!(matches!(parse("[[[[1]]]]"), Err(JsonError::TooDeep { limit: 3 })));
        let bounds = JsonBounds::with_bytes(100);
        assert_eq!(JsonText::counted(r#"{"a":[1,",["]}"#.to_owned(), &bounds).map(|(_, values)| values).ok(), Some(4));
        assert!(matches!(parse("[1,2,3,4,5,6]"), Err(JsonError::TooMany { limit: 5 })));
        assert!(matches!(parse(&"[".repeat(900_000)), Err(JsonError::TooDeep { .. })));
        assert!(matches!(parse(&" ".repeat(1_000_001)), Err(JsonError::TooLong { used: 1_000_001, .. })));
        assert!(matches!(parse("{oops"), Err(JsonError::Syntax(_))));
    }

    #[test]
    fn a_text_that_the_parser_would_read_as_json_a_second_time_is_refused() {
        let escaped: String = RAW_VALUE.chars().map(|part| format!("\\u{:04x}", u32::from(part))).collect();
        for name in [RAW_VALUE, &RAW_VALUE.replace('$', "\\u0024"), &RAW_VALUE.replace('w', "\\u0077"), &escaped] {
            for text in [format!(r#"{{"{name}":"[[[[[1]]]]]"}}"#), format!(r#"[{{"{name}" : "0"}}]"#)] {
                assert!(matches!(parse(&text), Err(JsonError::Reserved)), "{text}");
            }
        }
        // The name as a value is ordinary text.
        for text in [
            r#"["$serde_json::private::RawValue",1]"#,
            r#"{"$serde_json::private::RawValues":"[1]"}"#,
            r#""about $serde_json::private::RawValue""#,
        ] {
            let parsed = parse(text).expect("JSON");
            assert_eq!(parsed.to_value().expect("a tree").to_string(), text);
        }
    }

    #[test]
    fn brackets_inside_strings_do_not_count() {
        assert_eq!(parse(r#""[[[[[\"[[[[""#).expect("a string").as_str(), r#""[[[[[\"[[[[""#);
    }
}
