//! The lines around a position, for people and models.

use std::fmt::Write as _;

use belljar_model::display::{Glyph, glyphs};

/// Lines shown before the one with the position.
const BEFORE: usize = 2;
/// Lines shown after it.
const AFTER: usize = 1;
/// Characters shown of a line.
const WIDTH: usize = 160;

/// A code frame: the lines around `line` with a marker under `column` (both from 1), or `None` if
/// there is no such line.
pub(crate) fn frame(source: &str, line: u32, column: u32) -> Option<String> {
    // The guest counts lines as the language does.
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let wanted = usize::try_from(line).ok()?.checked_sub(1)?;
    let first = wanted.saturating_sub(BEFORE);
    let mut frame = String::new();
    let mut found = false;
    for (number, text) in source.lines().enumerate().skip(first).take(wanted - first + AFTER + 1) {
        let marker = if number == wanted { '>' } else { ' ' };
        // Cut first: whether a joiner belongs to its neighbours depends on the visible ones.
        let text: String = text.chars().take(WIDTH).collect();
        let shown: String = glyphs(&text).map(visible).collect();
        let _ = writeln!(frame, "{marker} {:>4} | {shown}", number + 1);
        if number == wanted {
            found = true;
            let offset = usize::try_from(column).ok()?.saturating_sub(1);
            if offset < WIDTH {
                let _ = writeln!(frame, "       | {}^", " ".repeat(offset));
            }
        }
    }
    frame.truncate(frame.trim_end().len());
    found.then_some(frame)
}

/// Whether a line of the source has such a column, or ends just before it. Both from 1, the column
/// in UTF-16 code units.
pub(crate) fn has_column(source: &str, line: u32, column: u32) -> bool {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let text = usize::try_from(line).ok().and_then(|line| source.lines().nth(line.checked_sub(1)?));
    let (Some(text), Ok(column)) = (text, usize::try_from(column)) else { return false };
    (1..=text.encode_utf16().count() + 1).contains(&column)
}

/// One character for each: an escape or a tab would move the marker.
fn visible(glyph: Glyph) -> char {
    match glyph {
        Glyph::Plain(character) => character,
        Glyph::Hidden('\t') => ' ',
        Glyph::Hidden(_) => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_shows_the_place() {
        let source = "const a = 1;\nconst b = 2;\nconst c = a.b.c;\nreturn c;\nmore";
        let shown = frame(source, 3, 15).expect("line 3 is there");
        assert_eq!(
            shown,
            "     1 | const a = 1;\n     2 | const b = 2;\n>    3 | const c = a.b.c;\n       |               ^\n     4 | return c;"
        );
        assert_eq!(frame(source, 9, 1), None);
        assert_eq!(frame("", 0, 0), None);
    }

    #[test]
    fn a_line_has_the_columns_of_its_text_and_one_behind_it() {
        let has = |line, column| has_column("ab\r\n\u{1f514}\r", line, column);
        assert!(has(1, 1) && has(1, 3) && !has(1, 4) && !has(1, 0));
        assert!(has(2, 3) && !has(2, 4) && !has(3, 1) && !has(0, 1) && !has(u32::MAX, u32::MAX));
    }
}
