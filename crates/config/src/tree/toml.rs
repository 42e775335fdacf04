//! Reads TOML into the tree.

use belljar_tree::toml::{self, TomlError};

use super::{DEPTH, Node, Value};
use crate::{
    Format,
    error::{ConfigErrorKind, Located, shown},
};

/// The parser's message for a duplicate key, which cannot be recognised in any other way.
const DUPLICATE: &str = "duplicate key";

pub(super) fn parse(text: &str) -> Result<Node, Located> {
    match toml::parse(text, DEPTH) {
        Ok(entries) => Ok(Node { offset: 0, value: Value::Table(entries) }),
        Err(TomlError::TooDeep(fault)) => Err(fault.into()),
        Err(TomlError::Syntax { message, span }) => {
            let fault = match span.clone().and_then(|span| text.get(span)) {
                Some(key) if message == DUPLICATE => {
                    ConfigErrorKind::DuplicateKey { key: shown(key.trim_matches(['"', '\''])) }
                }
                _ => ConfigErrorKind::Syntax { format: Format::Toml, message },
            };
            Err(Located { offset: span.map(|span| span.start), fault })
        }
    }
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
}
