//! Foreign text in comments of WIT.
//!
//! It reaches more than WIT: binders copy it unchanged into comments of their language, and
//! componentize-py puts it between `"""`. So no character remains that ends or continues a comment
//! in any language that has bindings.

use crate::text::{comment_lines, one_line};

/// Lines for a comment, at most `lines` with `longest` characters together.
pub(super) fn doc_lines(text: &str, longest: usize, lines: usize) -> Vec<String> {
    comment_lines(text, longest, lines).iter().map(|line| safe(line)).collect()
}

/// One line for a comment.
pub(super) fn doc_line(text: &str, longest: usize) -> String {
    safe(&one_line(text, longest))
}

/// The line without anything that has meaning to a language: quotes that end a Python text,
/// backslashes that continue a line of C, starts and ends of block comments, and the few characters
/// that WIT rejects.
fn safe(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    let mut previous = '\0';
    for character in line.replace("*\\/", "*/").chars() {
        let kept = match (previous, character) {
            // A single quote replaces any run of quotes.
            ('\'', '"' | '\'') => continue,
            (_, '"') => '\'',
            (_, '\\') => '⧵',
            ('*', '/') | ('/', '*') => {
                safe.push(' ');
                character
            }
            (_, '\u{149}' | '\u{673}' | '\u{f77}' | '\u{f79}' | '\u{17a3}' | '\u{17a4}' | '\u{17b4}' | '\u{17b5}') => {
                '\u{FFFD}'
            }
            (_, plain) => plain,
        };
        safe.push(kept);
        previous = kept;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_or_continues_a_comment_of_any_language() {
        for (foreign, kept) in [
            (r#"a """ evil() """ b"#, "a ' evil() ' b"),
            (r#"'"'"'"#, "'"),
            (r"^\d+$ and C:\", "^⧵d+$ and C:⧵"),
            ("a */ b /* c */*/* d", "a * / b / * c * / * / * d"),
            (r"*\/", "* /"),
            ("\u{149}\u{f77}", "\u{FFFD}\u{FFFD}"),
            ("plain `code` (e.g. 'x')", "plain `code` (e.g. 'x')"),
        ] {
            assert_eq!(doc_line(foreign, 100), kept, "{foreign}");
        }
        assert_eq!(doc_lines("one \"\"\"\n\n\\\r*/", 100, 10), ["one '", "⧵", "* /"]);
    }
}
