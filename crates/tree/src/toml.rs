//! Reads TOML into the tree.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml_parser::{Source, lexer::TokenKind};

use crate::{Entry, Nesting, Node, TooDeep, Value};

/// Why a text is not a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomlError {
    /// It nests too deep.
    TooDeep(TooDeep),
    /// It is not TOML.
    Syntax {
        /// The parser's message. It contains nothing of the text, which may hold a secret.
        message: String,
        /// The position in the text, if the parser knows it.
        span: Option<Range<usize>>,
    },
}

impl From<TooDeep> for TomlError {
    fn from(fault: TooDeep) -> Self {
        Self::TooDeep(fault)
    }
}

/// Reads `text`, which is bounded in length, after bounding its depth: at most `depth` brackets and
/// dots of keys may be open at a position. The entries are in the order of the file.
///
/// # Errors
/// It nests too deep, or is not TOML.
pub fn parse(text: &str, depth: usize) -> Result<Vec<Entry>, TomlError> {
    check_depth(text, depth)?;
    match DeTable::parse(text) {
        Ok(document) => Ok(table(document.get_ref())),
        Err(error) => Err(TomlError::Syntax { message: error.message().to_owned(), span: error.span() }),
    }
}

/// Bounds the nesting by the tokens that the parser will see: open brackets, and the dots of the
/// keys that lead into them.
///
/// The parser bounds brackets to 80 and the dots of one key to 80. It does not bound their product,
/// which is how deep its tree can become, and a tree is dropped recursively. (A `[header]` and its
/// contents are counted separately, so a tree has at most some three times the limit.)
fn check_depth(text: &str, limit: usize) -> Result<(), TooDeep> {
    let mut nesting = Nesting::new(limit);
    // The dots that currently count, for the top level and for each open bracket.
    let (mut dots, mut outer_dots) = (0, Vec::new());
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                nesting.open(token.span().start())?;
                outer_dots.push(std::mem::take(&mut dots));
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                if let Some(outer) = outer_dots.pop() {
                    nesting.close(1 + std::mem::replace(&mut dots, outer));
                }
            }
            TokenKind::Dot => {
                nesting.open(token.span().start())?;
                dots += 1;
            }
            TokenKind::Comma => nesting.close(std::mem::take(&mut dots)),
            TokenKind::Newline if outer_dots.is_empty() => nesting.close(std::mem::take(&mut dots)),
            _ => {}
        }
    }
    Ok(())
}

fn node(value: &DeValue<'_>, offset: usize) -> Node {
    let value = match value {
        DeValue::String(string) => Value::String(string.to_string()),
        DeValue::Integer(integer) => Value::Number(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .map_or_else(|_| integer.to_string(), |number| number.to_string()),
        ),
        DeValue::Float(float) => Value::Number(float.as_str().to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTH: usize = 64;

    fn parse(text: &str) -> Result<Vec<Entry>, TomlError> {
        super::parse(text, DEPTH)
    }

    #[test]
    fn entries_keep_the_order_of_the_file_and_numbers_their_value() {
        let entries = parse("z = 0x1F\na.c = 2.5\nm = 1_000\na.b = 1979-05-27\n").expect("a tree");
        assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["z", "a", "m"]);
        assert!(matches!(&entries[0].node.value, Value::Number(text) if text == "31"));
        assert!(matches!(&entries[2].node.value, Value::Number(text) if text == "1000"));
        let Value::Table(inner) = &entries[1].node.value else { panic!("no table") };
        assert!(matches!((&inner[0].key[..], &inner[1].key[..]), ("c", "b")));
    }

    #[test]
    fn a_whole_number_beyond_all_bits_is_not_taken_for_another() {
        for huge in ["9".repeat(60), format!("0x1E{}5", "0".repeat(40)), format!("0o{}", "7".repeat(60))] {
            let entries = parse(&format!("a = {huge}")).expect("a tree");
            assert!(entries[0].node.whole().is_none() && entries[0].node.float().is_none(), "{huge}");
        }
    }

    #[test]
    fn absurd_nesting_is_an_error_and_no_overflow() {
        let key = |dots: usize| format!("a{}", ".a".repeat(dots));
        let lists = |levels: usize| format!("a = {}{}", "[".repeat(levels), "]".repeat(levels));
        let tables = |levels: usize, dots: usize| {
            format!("{}{}{}", format!("{} = {{", key(dots)).repeat(levels), "a = 1", "}".repeat(levels))
        };
        for fine in [lists(DEPTH), format!("{} = 1", key(DEPTH)), tables(DEPTH, 0), tables(8, 7)] {
            assert!(parse(&fine).is_ok(), "{fine}");
        }
        let deep = [
            lists(DEPTH + 1),
            lists(400_000),
            "[".repeat(1_000_000),
            format!("{} = 1", key(DEPTH + 1)),
            format!("{} = 1", key(400_000)),
            format!("[{}]", key(400_000)),
            tables(DEPTH + 1, 0),
            tables(8, 8),
            tables(79, 79),
        ];
        for deep in deep {
            assert!(matches!(parse(&deep), Err(TomlError::TooDeep(TooDeep { limit: DEPTH, .. }))));
        }
    }

    #[test]
    fn nesting_is_counted_along_the_way_and_not_in_all() {
        let mut text = String::from("text = '''\n[[[[ {{{{ ....'''\n# [[[[ ....\n");
        for index in 0..500 {
            text.push_str(&format!("[t{index}.u]\na.b = [1.5, 2.5, {{ c.d = 1, e.f = [1.5] }}]\n"));
        }
        assert!(parse(&text).is_ok());
    }
}
