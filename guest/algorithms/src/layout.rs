//! Where lines are broken: Node's rules, so that logs look as everyone knows them.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

/// The width of a line.
pub const BREAK_LENGTH: usize = 80;
/// Objects inside each other that may share a line, from the inside out.
const COMPACT: usize = 3;
/// Lists of more elements are set in columns.
const UNGROUPED: usize = 6;
/// A comma and a space.
const SEPARATOR: usize = 2;

/// The place that an object has.
pub struct Room {
    /// Objects inside each other that it holds.
    pub levels_inside: usize,
    pub indentation: usize,
    pub break_length: usize,
}

/// What stands between the braces of an object.
#[derive(Default)]
pub struct Entries {
    pub parts: Vec<String>,
    /// Elements, which may be set in columns.
    pub is_list: bool,
    /// Numbers alone, which are aligned at the right.
    pub is_numeric: bool,
    /// The last part of the elements says how many are not shown.
    has_note: bool,
}

impl Entries {
    /// Says how many are not shown, if any.
    pub fn note_rest(&mut self, rest: usize) {
        if rest > 0 {
            self.parts.push(format!("... {rest} more item{}", if rest == 1 { "" } else { "s" }));
            self.has_note = true;
        }
    }

    /// All of it on one line, if that is short and holds few levels; else each part on its own, or
    /// in columns.
    pub fn laid_out(
        mut self,
        base: &str,
        opening: &str,
        closing: &str,
        Room { levels_inside, indentation, break_length }: Room,
    ) -> String {
        let count = self.parts.len();
        if self.is_list && count > UNGROUPED {
            self.group(indentation);
        }
        let base = if base.is_empty() { String::new() } else { format!("{base} ") };
        if levels_inside < COMPACT && count == self.parts.len() {
            let start = count + indentation + length(opening) + length(base.trim_end()) + 10;
            let total = self.parts.iter().map(|part| length(part)).sum::<usize>() + count + start;
            let is_one_line = !base.contains('\n') && !self.parts.iter().any(|part| part.contains('\n'));
            if total <= break_length && is_one_line {
                return format!("{base}{opening} {} {closing}", self.parts.join(", "));
            }
        }
        let line = format!("\n{}", " ".repeat(indentation));
        format!("{base}{opening}{line}  {}{line}{closing}", self.parts.join(&format!(",{line}  ")))
    }

    /// Sets the elements in columns, if they are short and of similar length.
    fn group(&mut self, indentation: usize) {
        let count = self.parts.len() - usize::from(self.has_note);
        let widths: Vec<usize> = self.parts.iter().take(count).map(|part| width(part)).collect();
        let total: usize = widths.iter().map(|width| width + SEPARATOR).sum();
        let longest = widths.iter().copied().max().unwrap_or_default();
        let cell = longest + SEPARATOR;
        let are_similar = total as f64 / cell as f64 > 5.0 || longest <= 6;
        if cell * 3 + indentation >= BREAK_LENGTH || !are_similar {
            return;
        }
        // A square, if a character is two and a half times as high as wide.
        let bias = (cell as f64 - total as f64 / self.parts.len() as f64).max(0.0).sqrt();
        let biased = (cell as f64 - 3.0 - bias).max(1.0);
        let square = ((2.5 * biased * count as f64).sqrt() / biased).round() as usize;
        let columns = square.min((BREAK_LENGTH - indentation) / cell).min(COMPACT * 4).min(15);
        if columns <= 1 {
            return;
        }
        let column_widths: Vec<usize> = (0..columns)
            .map(|column| widths.iter().skip(column).step_by(columns).copied().max().unwrap_or_default() + SEPARATOR)
            .collect();
        let note = if self.has_note { self.parts.pop() } else { None };
        let rows = self.parts.chunks(columns).map(|row| {
            let mut line = String::new();
            for (index, (part, cell)) in row.iter().zip(&column_widths).enumerate() {
                let is_last = index + 1 == row.len();
                let padded = if is_last { cell - SEPARATOR } else { *cell };
                let part = if is_last { part.clone() } else { format!("{part}, ") };
                let space = " ".repeat(padded.saturating_sub(width(&part)));
                let _ = match (self.is_numeric, is_last) {
                    (true, _) => write!(line, "{space}{part}"),
                    (false, true) => write!(line, "{part}"),
                    (false, false) => write!(line, "{part}{space}"),
                };
            }
            line
        });
        self.parts = rows.chain(note).collect();
    }
}

/// Columns that a text takes on a terminal.
fn width(text: &str) -> usize {
    text.width()
}

/// UTF-16 units, which is what Node goes by where it asks whether something fits on a line.
fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// A member's name: bare if it is an identifier.
pub fn key(text: &str) -> String {
    let is_identifier = text.chars().all(|character| character.is_ascii_alphanumeric() || "_$".contains(character))
        && !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit());
    match text {
        "__proto__" => "['__proto__']".to_owned(),
        text if is_identifier => text.to_owned(),
        text => quoted(text),
    }
}

/// A text in quotes that it does not hold, if there are such.
pub fn quoted(text: &str) -> String {
    quoted_characters(text, text.chars().map(Ok))
}

/// The same of UTF-16, of which a lone surrogate is shown as an escape.
pub fn quoted_units(units: &[u16]) -> String {
    let characters = char::decode_utf16(units.iter().copied()).map(|it| it.map_err(|lone| lone.unpaired_surrogate()));
    quoted_characters(&String::from_utf16_lossy(units), characters)
}

fn quoted_characters(text: &str, characters: impl Iterator<Item = Result<char, u16>>) -> String {
    let quote = if !text.contains('\'') {
        '\''
    } else if !text.contains('"') {
        '"'
    } else if !text.contains('`') && !text.contains("${") {
        '`'
    } else {
        '\''
    };
    let mut quoted = String::new();
    quoted.push(quote);
    for character in characters {
        match character {
            Ok('\n') => quoted.push_str("\\n"),
            Ok('\r') => quoted.push_str("\\r"),
            Ok('\t') => quoted.push_str("\\t"),
            Ok('\u{8}') => quoted.push_str("\\b"),
            Ok('\u{b}') => quoted.push_str("\\v"),
            Ok('\u{c}') => quoted.push_str("\\f"),
            Ok('\\') => quoted.push_str("\\\\"),
            Ok('\'') if quote == '\'' => quoted.push_str("\\'"),
            Ok(control) if control.is_control() => {
                let _ = write!(quoted, "\\x{:02X}", control as u32);
            }
            Ok(other) => quoted.push(other),
            Err(lone) => {
                let _ = write!(quoted, "\\u{lone:x}");
            }
        }
    }
    quoted.push(quote);
    quoted
}
