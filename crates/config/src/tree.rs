//! The tree that both formats are parsed into.

mod json;
mod toml;

use std::collections::HashSet;

use belljar_tree::TooDeep;
pub(crate) use belljar_tree::{Entry, Node, Value};

use crate::{
    Format,
    error::{ConfigErrorKind, Field, Located, shown},
};

/// The deepest nesting of tables and lists, including dotted keys. A client's settings around the
/// servers may nest deeper than the four levels that we read. There is a limit because the parsers
/// recurse, and so do their trees when they are dropped.
pub const DEPTH: usize = 64;

/// Parses `text`, whose length is bounded, after checking its depth.
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, Located> {
    match format {
        Format::Toml => toml::parse(text),
        Format::Json => json::parse(text),
    }
}

/// The value's type, in the words of its format.
pub(crate) fn kind(node: &Node, format: Format) -> &'static str {
    match (&node.value, format) {
        (Value::Table(_), Format::Json) => "an object",
        _ => node.kind(),
    }
}

/// Refuses a second entry with the same key. TOML's parser has refused it already; JSON's keeps
/// both.
pub(crate) fn check_unique(entries: &[Entry]) -> Result<(), Located> {
    let mut keys = HashSet::with_capacity(entries.len());
    match entries.iter().find(|entry| !keys.insert(entry.key.as_str())) {
        Some(entry) => Err(ConfigErrorKind::DuplicateKey { key: shown(&entry.key) }.at(entry.offset)),
        None => Ok(()),
    }
}

/// The error for a value that a field of belljar.toml cannot have.
pub(crate) fn expected(field: &str, expected: &'static str, node: &Node) -> Located {
    let found = match node.value {
        Value::String(_) => "another string",
        _ => node.kind(),
    };
    ConfigErrorKind::Expected { field: Field::of_file(field), expected, found }.at(node.offset)
}

impl From<TooDeep> for Located {
    fn from(TooDeep { offset, limit }: TooDeep) -> Self {
        ConfigErrorKind::TooDeep { limit }.at(offset)
    }
}
