//! The file as a tree with places: each key and value knows where it stands, for errors.

use toml::de::{DeTable, DeValue};
use toml_parser::{Source, lexer::TokenKind};

use crate::fault::{Fault, Located};

/// The most brackets and dots that may be open at a place. Rules need six; a tree is dropped by recursion.
const DEPTH: usize = 32;

/// A value, and the offset of its first byte.
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    /// A number that is larger than any that can be compared.
    HugeNumber,
    Text(String),
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

impl Node {
    /// What the value is, in TOML's words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Boolean(_) => "true or false",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::HugeNumber => "a number that is too large",
            Value::Text(_) => "a string",
            Value::Date => "a date or a time",
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The entries of the file, in its order.
pub(crate) fn parse(text: &str) -> Result<Vec<Entry>, Located> {
    check_depth(text)?;
    match DeTable::parse(text) {
        Ok(document) => Ok(table(document.get_ref())),
        Err(error) => {
            let offset = error.span().map_or(text.len(), |span| span.start);
            Err(Located { offset, fault: Fault::Syntax { message: error.message().to_owned() } })
        }
    }
}

/// Bounds the nesting by the tokens that the parser will see: open brackets, and the dots of keys that lead into them.
fn check_depth(text: &str) -> Result<(), Located> {
    // The dots that count at present, for the top level and for each open bracket.
    let (mut levels, mut dots, mut outer_dots) = (0_usize, 0, Vec::new());
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                levels += 1;
                outer_dots.push(std::mem::take(&mut dots));
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                if let Some(outer) = outer_dots.pop() {
                    levels = levels.saturating_sub(1 + std::mem::replace(&mut dots, outer));
                }
            }
            TokenKind::Dot => {
                levels += 1;
                dots += 1;
            }
            TokenKind::Comma => levels = levels.saturating_sub(std::mem::take(&mut dots)),
            TokenKind::Newline if outer_dots.is_empty() => levels = levels.saturating_sub(std::mem::take(&mut dots)),
            _ => {}
        }
        if levels > DEPTH {
            return Err(Located { offset: token.span().start(), fault: Fault::TooDeep { limit: DEPTH } });
        }
    }
    Ok(())
}

fn node(value: &DeValue<'_>, offset: usize) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(Value::HugeNumber, Value::Integer)
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => Value::HugeNumber,
        },
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(array) => {
            Value::List(array.iter().map(|element| node(element.get_ref(), element.span().start)).collect())
        }
        DeValue::Table(entries) => Value::Table(table(entries)),
    };
    Node { offset, value }
}

/// The entries in the order of the text; the parser sorts them by name.
fn table(table: &DeTable<'_>) -> Vec<Entry> {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| Entry {
        offset: key.span().start,
        key: String::from(std::borrow::Cow::<str>::clone(key.get_ref())),
        node: node(value.get_ref(), value.span().start),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.offset);
    entries
}
