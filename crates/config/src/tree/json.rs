//! Reads JSON with comments and trailing commas into the tree.

use jsonc_parser::{
    CollectOptions, ParseOptions, ParseStringErrorKind, Scanner, ScannerOptions, ast, errors::ParseErrorKind,
    parse_to_ast, tokens::Token,
};

use belljar_tree::Nesting;

use super::{DEPTH, Entry, Node, Value};
use crate::{
    Format,
    error::{ConfigErrorKind, Located},
};

/// What editors accept in a file named `.json`, without the rest of JSON5.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The most keys, values and comments in one file. A client's own settings have some thousand; the
/// tree takes some 200 bytes for each, however short the text is.
const MAX_VALUES: usize = 1_000_000;

pub(super) fn parse(text: &str) -> Result<Node, Located> {
    check_size(text)?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| {
        let message = message(error.kind());
        ConfigErrorKind::Syntax { format: Format::Json, message }.at(error.range().start)
    })?;
    // A file with nothing but comments is like `null`.
    Ok(parsed.value.map_or(Node { offset: 0, value: Value::Null }, node))
}

/// Bounds the nesting and the number of values by counting tokens as the parser will. Anything that
/// is not a token is reported by the parser.
fn check_size(text: &str) -> Result<(), Located> {
    let mut scanner = Scanner::new(
        text,
        &ScannerOptions {
            allow_single_quoted_strings: OPTIONS.allow_single_quoted_strings,
            allow_hexadecimal_numbers: OPTIONS.allow_hexadecimal_numbers,
            allow_unary_plus_numbers: OPTIONS.allow_unary_plus_numbers,
            allow_bare_decimal_point_numbers: OPTIONS.allow_bare_decimal_point_numbers,
            allow_non_finite_numbers: OPTIONS.allow_non_finite_numbers,
            allow_extended_string_escapes: OPTIONS.allow_extended_string_escapes,
        },
    );
    let (mut nesting, mut values) = (Nesting::new(DEPTH), 0);
    while let Ok(Some(token)) = scanner.scan() {
        match token {
            Token::OpenBrace | Token::OpenBracket => nesting.open(scanner.token_start())?,
            Token::CloseBrace | Token::CloseBracket => nesting.close(1),
            _ => {}
        }
        if !matches!(token, Token::Comma | Token::Colon | Token::CloseBrace | Token::CloseBracket) {
            values += 1;
            if values > MAX_VALUES {
                return Err(ConfigErrorKind::TooMany { limit: MAX_VALUES }.at(scanner.token_start()));
            }
        }
    }
    Ok(())
}

/// The parser's message, in lower case and without any of the text, which may be a secret.
fn message(kind: &ParseErrorKind) -> String {
    if let ParseErrorKind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) = kind {
        return "a unicode escape that is not a character".to_owned();
    }
    let message = kind.to_string();
    let mut characters = message.chars();
    characters.next().into_iter().flat_map(char::to_lowercase).chain(characters).collect()
}

fn node(value: ast::Value<'_>) -> Node {
    match value {
        ast::Value::NullKeyword(null) => Node { offset: null.range.start, value: Value::Null },
        ast::Value::BooleanLit(boolean) => Node { offset: boolean.range.start, value: Value::Boolean(boolean.value) },
        ast::Value::NumberLit(number) => {
            Node { offset: number.range.start, value: Value::Number(number.value.to_owned()) }
        }
        ast::Value::StringLit(string) => {
            Node { offset: string.range.start, value: Value::String(string.value.into_owned()) }
        }
        ast::Value::Array(array) => {
            Node { offset: array.range.start, value: Value::List(array.elements.into_iter().map(node).collect()) }
        }
        ast::Value::Object(object) => {
            Node { offset: object.range.start, value: Value::Table(object.properties.into_iter().map(entry).collect()) }
        }
    }
}

fn entry(property: ast::ObjectProp<'_>) -> Entry {
    Entry { offset: property.range.start, key: property.name.into_string(), node: node(property.value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).err().expect("an error").into_error(text).to_string()
    }

    #[test]
    fn a_syntax_error_has_its_line_and_column() {
        for (text, expected) in [
            (
                "{\n  \"a\" 1\n}",
                "line 2, column 7: not valid JSON: expected colon after the string or word in object property",
            ),
            ("{\"a\": 1 \"b\": 2}", "line 1, column 8: not valid JSON: expected comma"),
            ("{\"a\": [1, 2", "line 1, column 7: not valid JSON: unterminated array"),
            ("{'a': 1}", "line 1, column 2: not valid JSON: single-quoted strings are not allowed"),
            ("{a: 1}", "line 1, column 2: not valid JSON: expected string for object property"),
            ("{} {}", "line 1, column 4: not valid JSON: text cannot contain more than one JSON value"),
            ("\n/* …", "line 2, column 1: not valid JSON: unterminated comment block"),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
    }

    #[test]
    fn a_syntax_error_quotes_nothing_of_the_text() {
        let message = error("{\"KEY\": \"secret\\ud800hunter2\"}");
        assert!(message.contains("unicode escape") && !message.contains("800"), "{message}");
    }

    #[test]
    fn comments_and_trailing_commas_are_allowed() {
        let root = parse("// one\n{ /* two */ \"a\": [1, true, null,], \"b\": {}, }").ok().expect("a tree");
        let Value::Table(entries) = root.value else { panic!("no table") };
        assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_file_of_more_values_than_a_configuration_has_is_refused_before_a_tree_is_built() {
        let list = |values: usize| format!("[{}0]", "0,".repeat(values - 1));
        assert!(parse(&list(MAX_VALUES - 1)).is_ok());
        assert_eq!(
            error(&format!("\n{}", list(MAX_VALUES))),
            "line 2, column 2000000: more than 1000000 keys and values: is it the right file?"
        );
    }

    #[test]
    fn absurd_nesting_is_an_error_and_no_overflow() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(crate::DEPTH)).is_ok());
        for deep in [nested(crate::DEPTH + 1), nested(400_000), "{\"a\":".repeat(200_000), "[{\"a\":".repeat(100_000)] {
            assert!(matches!(
                parse(&deep),
                Err(Located { fault: ConfigErrorKind::TooDeep { limit: crate::DEPTH }, .. })
            ));
        }
        let deep = format!(
            "[
{}",
            "[".repeat(crate::DEPTH)
        );
        assert_eq!(error(&deep), "line 2, column 64: nested deeper than 64 levels: a configuration needs four");
        assert!(parse(&format!("{{\"a\": \"{}\", /* {} */ \"b\": 1}}", "[".repeat(999), "{".repeat(999))).is_ok());
    }
}
