//! The one tree that both formats become: values with their positions, entries in the order of the file.
//!
//! A tree holds secrets, so nothing in it has a `Debug`.

mod json;
mod toml;

use std::collections::HashSet;

use crate::{
    Format,
    error::{Fault, Located, shown},
};

/// The most tables and lists inside each other, dotted keys included. A client's settings around the servers may nest deeper
/// than the four levels that we read; the parsers recurse, and so do their trees when they are dropped.
pub const DEPTH: usize = 64;

/// A value, and the offset of its first byte.
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// As it is written, or in decimal.
    Number(String),
    String(String),
    /// TOML's dates and times, which no key wants.
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key with its value, and the offset of the key.
pub(crate) struct Entry {
    pub(crate) offset: usize,
    pub(crate) key: String,
    pub(crate) node: Node,
}

/// Parses `text`, which is bounded in length, after bounding its depth.
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, Located> {
    match format {
        Format::Toml => toml::parse(text),
        Format::Json => json::parse(text),
    }
}

impl Node {
    /// What the value is, in the words of its format.
    pub(crate) fn kind(&self, format: Format) -> &'static str {
        match (&self.value, format) {
            (Value::Null, _) => "null",
            (Value::Boolean(_), _) => "true or false",
            (Value::Number(_), _) => "a number",
            (Value::String(_), _) => "a string",
            (Value::Date, _) => "a date or a time",
            (Value::List(_), _) => "an array",
            (Value::Table(_), Format::Toml) => "a table",
            (Value::Table(_), Format::Json) => "an object",
        }
    }
}

/// Refuses a second entry of the same key. TOML's parser has refused it already; JSON's keeps both.
pub(crate) fn check_unique(entries: &[Entry]) -> Result<(), Located> {
    let mut keys = HashSet::with_capacity(entries.len());
    match entries.iter().find(|entry| !keys.insert(entry.key.as_str())) {
        Some(entry) => Err(Fault::DuplicateKey { key: shown(&entry.key) }.at(entry.offset)),
        None => Ok(()),
    }
}

/// The levels that are open at a place in the text.
#[derive(Default)]
struct Nesting(usize);

impl Nesting {
    fn open(&mut self, offset: usize) -> Result<(), Located> {
        self.0 += 1;
        if self.0 > DEPTH { Err(Fault::TooDeep { limit: DEPTH }.at(offset)) } else { Ok(()) }
    }

    fn close(&mut self, levels: usize) {
        self.0 = self.0.saturating_sub(levels);
    }
}
