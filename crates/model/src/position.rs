//! A position in a text, as people count: lines and columns from one.

use std::fmt;

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl Position {
    /// The position of the byte at `offset`, or of the end of `text` if there is no such byte.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let (lines, last) = match before.rsplit_once('\n') {
            Some((earlier, last)) => (earlier.matches('\n').count() + 1, last),
            None => (0, before),
        };
        let from_one = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
        Self { line: from_one(lines), column: from_one(last.chars().count()) }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "aé\nb\r\n\nd";
        for (offset, line, column) in [(0, 1, 1), (3, 1, 3), (4, 2, 1), (7, 3, 1), (8, 4, 1), (9, 4, 2), (99, 4, 2)] {
            assert_eq!(Position::of(text, offset), Position { line, column }, "{offset}");
        }
    }
}
