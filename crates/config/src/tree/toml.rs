//! TOML to the tree.

use toml::de::{DeTable, DeValue};
use toml_parser::{Source, lexer::TokenKind};

use super::{Entry, Nesting, Node, Value};
use crate::{
    Format,
    error::{Fault, Located, shown},
};

/// The parser's message for a key that is there twice. It has no other mark.
const DUPLICATE: &str = "duplicate key";

pub(super) fn parse(text: &str) -> Result<Node, Located> {
    check_depth(text)?;
    match DeTable::parse(text) {
        Ok(document) => Ok(Node { offset: 0, value: table(document.get_ref()) }),
        Err(error) => Err(located(&error, text)),
    }
}

/// Bounds the nesting by the tokens that the parser will see: open brackets, and the dots of the keys that lead into them.
///
/// The parser bounds brackets to 80 and the dots of one key to 80. It does not bound their product, which is how deep its
/// tree can become, and a tree is dropped by recursion. (A `[header]` and what stands under it are counted apart, so a tree
/// has at most some three times the limit.)
fn check_depth(text: &str) -> Result<(), Located> {
    let mut nesting = Nesting::default();
    // The dots that count at present, for the top level and for each open bracket.
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

/// The parser's error without its excerpt of the text, which may hold a secret.
fn located(error: &toml::de::Error, text: &str) -> Located {
    let span = error.span();
    let fault = match span.clone().and_then(|span| text.get(span)) {
        Some(key) if error.message() == DUPLICATE => Fault::DuplicateKey { key: shown(key.trim_matches(['"', '\''])) },
        _ => Fault::Syntax { format: Format::Toml, message: error.message().to_owned() },
    };
    Located { offset: span.map(|span| span.start), fault }
}

fn node(value: &DeValue<'_>, offset: usize) -> Node {
    let value = match value {
        DeValue::String(string) => Value::String(string.to_string()),
        DeValue::Integer(integer) => Value::Number(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .map_or_else(|_| integer.as_str().to_owned(), |number| number.to_string()),
        ),
        DeValue::Float(float) => Value::Number(float.as_str().to_owned()),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(array) => {
            Value::List(array.iter().map(|element| node(element.get_ref(), element.span().start)).collect())
        }
        DeValue::Table(entries) => table(entries),
    };
    Node { offset, value }
}

/// The entries in the order of the text; the parser sorts them by name.
fn table(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| Entry {
        offset: key.span().start,
        key: String::from(std::borrow::Cow::<str>::clone(key.get_ref())),
        node: node(value.get_ref(), value.span().start),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.offset);
    Value::Table(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEPTH;

    fn error(text: &str) -> String {
        parse(text).err().expect("an error").into_error(text).to_string()
    }

    #[test]
    fn a_syntax_error_has_its_line_and_column() {
        for (text, expected) in [
            ("[servers.fs\n", "line 1, column 12: not valid TOML: unclosed table, expected `]`"),
            (
                "a = 1\nb = hunter2\n",
                "line 2, column 5: not valid TOML: string values must be quoted, expected literal string",
            ),
            ("a = 1\nkey = 'hunter2\n", "line 2, column 15: not valid TOML: invalid literal string, expected `'`"),
            (
                "[servers.fs]\na = 1\n\n[servers.fs]\n",
                "line 4, column 10: 'fs' is defined twice: rename one, or remove it",
            ),
            ("[servers]\nfs = {}\n'fs' = {}\n", "line 3, column 1: 'fs' is defined twice: rename one, or remove it"),
        ] {
            assert_eq!(error(text), expected, "{text}");
            assert!(!error(text).contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn entries_keep_the_order_of_the_file_and_numbers_their_value() {
        let root = parse("z = 0x1F\na.c = 2.5\nm = 1_000\na.b = 1979-05-27\n").ok().expect("a tree");
        let Value::Table(entries) = root.value else { panic!("no table") };
        assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["z", "a", "m"]);
        assert!(matches!(&entries[0].node.value, Value::Number(text) if text == "31"));
        assert!(matches!(&entries[2].node.value, Value::Number(text) if text == "1000"));
        let Value::Table(inner) = &entries[1].node.value else { panic!("no table") };
        assert!(matches!((&inner[0].key[..], &inner[1].key[..]), ("c", "b")));
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
            assert!(matches!(parse(&deep), Err(Located { fault: Fault::TooDeep { limit: DEPTH }, .. })));
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
