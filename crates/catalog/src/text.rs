//! Makes foreign text harmless.
//!
//! Names and descriptions come from child servers. Every part of them that reaches a comment, a
//! string or a terminal passes through here, and comes out without control characters, without
//! invisible characters, and without a way to end its context.

use std::fmt::Write as _;

pub(crate) use belljar_model::display::is_hidden;
use belljar_model::display::{Glyph, glyphs};

/// Replaces a character that may not be shown.
const REPLACEMENT: char = '\u{FFFD}';

fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{FEFF}'
}

/// The text on one line: white space collapsed, hidden characters replaced, cut with `…` at
/// `longest` characters.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let (mut characters, mut space) = (0_usize, false);
    for glyph in glyphs(text) {
        let (Glyph::Plain(character) | Glyph::Hidden(character)) = glyph;
        if is_space(character) {
            space = !line.is_empty();
            continue;
        }
        if characters + usize::from(space) >= longest {
            line.push('…');
            break;
        }
        if std::mem::take(&mut space) {
            line.push(' ');
            characters += 1;
        }
        line.push(if glyph == Glyph::Hidden(character) { REPLACEMENT } else { character });
        characters += 1;
    }
    line
}

/// The text as lines of a block comment, at most `lines` with `longest` characters together, blank
/// lines dropped.
pub(crate) fn comment_lines(text: &str, longest: usize, lines: usize) -> Vec<String> {
    let mut left = longest;
    let mut kept: Vec<String> = Vec::new();
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{B}', '\u{C}']) {
        let line = one_line(line, left);
        if line.is_empty() {
            continue;
        }
        if kept.len() == lines || left == 0 {
            match kept.last_mut() {
                Some(last) if !last.ends_with('…') => last.push_str(" …"),
                _ => {}
            }
            break;
        }
        left = left.saturating_sub(line.chars().count());
        kept.push(comment(&line));
    }
    kept
}

/// A line made safe inside `/* */`: nothing in it ends the comment or addresses a compiler
/// (`@ts-ignore`).
pub(crate) fn comment(line: &str) -> String {
    line.replace("*/", "*\\/").replace("@ts-", "@ ts-")
}

/// The text as a string literal of JSON, JavaScript and TypeScript alike, in printable characters
/// only.
pub(crate) fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                for unit in hidden.encode_utf16(&mut [0; 2]) {
                    let _ = write!(literal, "\\u{unit:04x}");
                }
            }
            plain => literal.push(plain),
        }
    }
    literal.push('"');
    literal
}

/// The first sentence on one line, at most `longest` characters: it ends at `.`, `!` or `?` before
/// a space, or with its line.
pub(crate) fn first_sentence(text: &str, longest: usize) -> String {
    let text = text.trim_start();
    let mut end = text.len();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        // White space may be collapsed later, so this reads more than the summary's length, but
        // only up to a bound.
        if at > longest.saturating_mul(8) {
            break;
        }
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '.' => next.is_some_and(char::is_whitespace) && !is_abbreviation(text.get(..at).unwrap_or_default()),
            '!' | '?' => next.is_some_and(char::is_whitespace),
            '。' | '！' | '？' => true,
            // A line that continues in lower case was wrapped.
            '\n' => !text.get(at..).unwrap_or_default().trim_start().starts_with(char::is_lowercase),
            _ => false,
        };
        if ends {
            end = at + character.len_utf8();
            break;
        }
    }
    one_line(text.get(..end).unwrap_or_default(), longest)
}

/// Whether the full stop belongs to `e.g`, `i.e`, `etc`, `vs` or an initial.
fn is_abbreviation(before: &str) -> bool {
    let word =
        before.rsplit(|character: char| character.is_whitespace() || character == '(').next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "eg" | "ie" | "approx" | "no" | "No")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_controls_do_not_survive() {
        assert_eq!(one_line("a\u{1b}[31mred\u{7}\u{9b}2J \r\n\tb\u{202e}c\u{e0041}", 99), "a�[31mred��2J b�c�");
        assert_eq!(quoted("a\u{1b}\"\\\u{2028}\u{9b}\u{e0041}"), "\"a\\u001b\\\"\\\\\\u2028\\u009b\\udb40\\udc41\"");
        assert_eq!(quoted("\n*/`${x}"), "\"\\n*/`${x}\"");
    }

    #[test]
    fn nothing_ends_a_comment_early() {
        let lines = comment_lines("one */ two\r*/\n\n@ts-nocheck\u{2028}**//", 100, 10);
        assert_eq!(lines, ["one *\\/ two", "*\\/", "@ ts-nocheck", "**\\//"]);
        assert!(lines.iter().all(|line| !line.contains("*/")));
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("abc   ", 3), "abc");
        assert_eq!(comment_lines("a\nb\nc", 100, 2), ["a", "b …"]);
        assert_eq!(one_line(&"x".repeat(1_000_000), 10).chars().count(), 11);
    }

    #[test]
    fn the_first_sentence_is_found() {
        assert_eq!(first_sentence("Read a file. Then more.", 99), "Read a file.");
        assert_eq!(first_sentence("Read files, e.g. text. More", 99), "Read files, e.g. text.");
        assert_eq!(first_sentence("Notion | Get a user\nError Responses:", 99), "Notion | Get a user");
        assert_eq!(first_sentence("\n  Read a\nwrapped line\nNext", 99), "Read a wrapped line");
        assert_eq!(first_sentence("version 1.2 of it", 99), "version 1.2 of it");
        assert_eq!(first_sentence("", 99), "");
    }
}
