//! Positions in the author's source.

use std::{cell::RefCell, collections::BTreeMap};

/// A place in a source: line and column from 1, the column in UTF-16 code units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Position {
    /// The position of a byte offset; one past the end counts as the end.
    pub fn of_offset(source: &str, offset: usize) -> Self {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = source.get(..end).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().encode_utf16().count() + 1;
        Self { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
    }

    /// The byte offset of a position, if the source has it.
    pub(super) fn offset(self, source: &str) -> Option<u32> {
        let line = source.split_inclusive('\n').nth(self.line.checked_sub(1)? as usize)?;
        let start = line.as_ptr() as usize - source.as_ptr() as usize;
        let mut units = self.column.checked_sub(1)? as usize;
        let mut offset = start;
        for character in line.chars() {
            if units == 0 {
                break;
            }
            units = units.saturating_sub(character.len_utf16());
            offset += character.len_utf8();
        }
        u32::try_from(offset).ok()
    }
}

/// The way back from the translated code to the author's source.
#[derive(Default)]
pub struct Origin {
    /// `(translated, original)`, in the order of the translated positions, all from 0.
    tokens: Vec<((u32, u32), (u32, u32))>,
    shifted_lines: u32,
    /// The program, each character where its author wrote it.
    source: String,
}

/// Where the lines begin that the map counts, if these are not those that an author sees: to the
/// language, a line or paragraph separator ends one too, and no editor shows it so.
struct SeparatedLines(Vec<(u32, u32)>);

impl SeparatedLines {
    fn of(source: &str) -> Self {
        if !source.contains(['\u{2028}', '\u{2029}']) {
            return Self(Vec::new());
        }
        let mut starts = vec![(0, 0)];
        let (mut line, mut column) = (0, 0);
        for character in source.chars() {
            match character {
                '\n' => (line, column) = (line + 1, 0),
                other => column += if other.len_utf16() == 2 { 2 } else { 1 },
            }
            if matches!(character, '\n' | '\u{2028}' | '\u{2029}') {
                starts.push((line, column));
            }
        }
        Self(starts)
    }

    /// The author's line and column of those of the map, all from 0.
    fn position(&self, line: u32, column: u32) -> (u32, u32) {
        match self.0.get(line as usize) {
            Some((author_line, start)) => (*author_line, start + column),
            None => (line, column),
        }
    }
}

thread_local! {
    /// That of the script that runs. Stacks are read from within the script too, so it cannot be
    /// handed around.
    static ORIGIN: RefCell<Origin> = RefCell::default();
    /// Those of the scripts with names that it has called, by their files.
    static NAMED: RefCell<BTreeMap<String, Origin>> = const { RefCell::new(BTreeMap::new()) };
}

impl Origin {
    pub(super) fn new(map: Option<&oxc_sourcemap::SourceMap<'_>>, shifted_lines: u32, source: &str) -> Self {
        let separated = SeparatedLines::of(source);
        let tokens = map.map_or_else(Vec::new, |map| {
            map.get_tokens()
                .map(|token| {
                    let original = separated.position(token.get_src_line(), token.get_src_col());
                    ((token.get_dst_line(), token.get_dst_col()), original)
                })
                .collect()
        });
        Self { tokens, shifted_lines, source: source.to_owned() }
    }

    /// The program, each character where its author wrote it.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Makes this the origin of all positions from now on.
    pub fn keep(self) {
        ORIGIN.set(self);
    }

    /// Makes this the origin of the positions in a script with a name.
    pub fn keep_of(self, file: &str) {
        NAMED.with_borrow_mut(|named| named.insert(file.to_owned(), self));
    }

    fn original(&self, line: u32, column: u32) -> Option<Position> {
        let line = line.checked_sub(1)?.checked_sub(self.shifted_lines)?;
        let (translated, original) = self.tokens.get(self.after(line, column).checked_sub(1)?)?;
        if translated.0 != line {
            return None;
        }
        Some(author_position(*original))
    }

    /// That of the token at the position or after it: what the translation has made has no place of
    /// its own.
    fn nearest(&self, line: u32, column: u32) -> Option<Position> {
        if let Some(position) = self.original(line, column) {
            return Some(position);
        }
        let line = line.checked_sub(1)?.checked_sub(self.shifted_lines)?;
        let (_, original) = self.tokens.get(self.after(line, column)).or(self.tokens.last())?;
        Some(author_position(*original))
    }

    /// How many tokens begin at or before a column (from 1) of a line (from 0).
    fn after(&self, line: u32, column: u32) -> usize {
        let wanted = (line, column.saturating_sub(1));
        self.tokens.partition_point(|(translated, _)| *translated <= wanted)
    }
}

fn author_position((line, column): (u32, u32)) -> Position {
    Position { line: line + 1, column: column + 1 }
}

/// The author's position of a position that the engine reported (from 1), where there is one.
pub fn original(line: u32, column: u32) -> Option<Position> {
    ORIGIN.with_borrow(|origin| origin.original(line, column))
}

/// The same in the file of a script with a name.
pub fn original_in(file: &str, line: u32, column: u32) -> Option<Position> {
    NAMED.with_borrow(|named| named.get(file)?.original(line, column))
}

/// The same, or of a place that the translation has made, the author's position of what comes next.
pub fn nearest_in(file: &str, line: u32, column: u32) -> Option<Position> {
    NAMED.with_borrow(|named| named.get(file)?.nearest(line, column))
}

/// Where the script is, or of a place that the translation has made, where what comes next is.
pub fn nearest(line: u32, column: u32) -> Option<Position> {
    ORIGIN.with_borrow(|origin| origin.nearest(line, column))
}

/// Looks at the source of the script that runs.
pub(super) fn with_source<T>(look: impl FnOnce(&str) -> T) -> T {
    ORIGIN.with_borrow(|origin| look(&origin.source))
}
