//! A settings file as a tree in which each key and value knows its position, for error messages.
//!
//! The tree is the same for every format; this crate reads TOML ([`toml::parse`]). A tree may hold
//! secrets, so nothing in it has a `Debug`. Callers know what the keys mean.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod nesting;
pub mod toml;

pub use nesting::{Nesting, TooDeep};

/// A value, and the offset of its first byte.
pub struct Node {
    /// The offset of the value's first byte.
    pub offset: usize,
    /// The value.
    pub value: Value,
}

/// A value of any of the formats.
pub enum Value {
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number as written. Whole numbers of TOML are in decimal if they fit into 128 bits.
    Number(String),
    /// A string, with its escapes decoded.
    String(String),
    /// TOML's dates and times.
    Date,
    /// An array.
    List(Vec<Node>),
    /// A table, or an object: its entries in the order of the file.
    Table(Vec<Entry>),
}

/// A key with its value, and the offset of the key.
pub struct Entry {
    /// The offset of the key's first byte.
    pub offset: usize,
    /// The key, without quotes and escapes.
    pub key: String,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The value's type, in TOML's words.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Boolean(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Date => "a date or a time",
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// The value, if it is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value, if it is a whole number of 64 bits.
    pub fn whole(&self) -> Option<i64> {
        match &self.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The value, if it is a finite number written with a fraction or an exponent.
    pub fn float(&self) -> Option<f64> {
        match &self.value {
            Value::Number(text) if text.contains(['.', 'e', 'E']) => {
                text.parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole_or_finite_or_neither() {
        let node = |text: &str| Node { offset: 0, value: Value::Number(text.to_owned()) };
        for (text, whole, float) in [
            ("7", Some(7), None),
            ("-9223372036854775808", Some(i64::MIN), None),
            ("9223372036854775808", None, None),
            ("7.0", None, Some(7.0)),
            ("1e3", None, Some(1000.0)),
            ("1e999", None, None),
            ("inf", None, None),
            ("nan", None, None),
        ] {
            assert_eq!((node(text).whole(), node(text).float()), (whole, float), "{text}");
        }
    }
}
