//! Foreign text made fit for one line of a message or a log.

use std::iter::Peekable;

use belljar_model::display::{Glyph, glyphs};

/// `text` on one line of at most `limit` characters, without colours and other terminal sequences.
///
/// Line breaks and tabs become spaces, other hidden characters their escapes; a cut is marked with
/// an ellipsis.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut glyphs = glyphs(text.trim()).peekable();
    let mut taken = 0;
    while let Some(glyph) = glyphs.next() {
        let width = match glyph {
            ESCAPE => {
                skip_escape(&mut glyphs);
                continue;
            }
            Glyph::Plain(_) | Glyph::Hidden('\n' | '\r' | '\t') => 1,
            Glyph::Hidden(character) => character.escape_unicode().len(),
        };
        if taken + width > limit {
            line.push('…');
            break;
        }
        taken += width;
        match glyph {
            Glyph::Plain(character) => line.push(character),
            Glyph::Hidden('\n' | '\r' | '\t') => line.push(' '),
            Glyph::Hidden(character) => line.extend(character.escape_unicode()),
        }
    }
    line
}

/// `text` with its line breaks and tabs, without terminal sequences, and with other hidden
/// characters as their escapes.
pub(crate) fn several_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut glyphs = glyphs(text).peekable();
    while let Some(glyph) = glyphs.next() {
        match glyph {
            ESCAPE => skip_escape(&mut glyphs),
            Glyph::Plain(character) | Glyph::Hidden(character @ ('\n' | '\t')) => lines.push(character),
            Glyph::Hidden('\r') => {}
            Glyph::Hidden(character) => lines.extend(character.escape_unicode()),
        }
    }
    lines
}

/// Whether all of a text is visible, and on one line.
pub(crate) fn is_visible(text: &str) -> bool {
    glyphs(text).all(|glyph| matches!(glyph, Glyph::Plain(_)))
}

const ESCAPE: Glyph = Glyph::Hidden('\u{1b}');

/// Skips the rest of a terminal's control sequence, such as the `[31m` of a colour.
fn skip_escape(glyphs: &mut Peekable<impl Iterator<Item = Glyph>>) {
    if glyphs.next_if_eq(&Glyph::Plain('[')).is_some() {
        while glyphs.next_if(|glyph| matches!(glyph, Glyph::Plain('\u{20}'..='\u{3f}'))).is_some() {}
        glyphs.next_if(|glyph| matches!(glyph, Glyph::Plain('\u{40}'..='\u{7e}')));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_removed_what_hides_is_shown_and_the_length_is_bounded() {
        assert_eq!(one_line("\u{1b}[1;31mred\u{1b}[0m\u{7} a\nb\u{202e}c", 100), "red\\u{7} a b\\u{202e}c");
        assert_eq!(one_line(&"\u{202e}".repeat(100), 20).chars().count(), 17);
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("\u{1b}[", 3), "");
    }
}
