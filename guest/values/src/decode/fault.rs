//! What is wrong with a text that is not JSON, said as JavaScript says it.

use boa_engine::{JsError, JsNativeError};

use super::reader::Encoding;

/// Bytes of the text that are shown on either side of a fault.
const SHOWN: usize = 16;

/// Why a text is not JSON.
#[derive(Clone, Copy)]
pub(super) enum FaultKind {
    /// It ends too early.
    End,
    /// A character stands where there can be none like it.
    Unexpected,
    ControlCharacter,
    Escape,
}

/// What is wrong, at which byte.
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) at: usize,
}

/// What is wrong with a text, for people.
pub struct Described {
    /// In a few words.
    pub what: String,
    /// From 1.
    pub line: usize,
    /// From 1, in UTF-16 code units.
    pub column: usize,
}

impl Fault {
    #[cold]
    pub(super) fn describe(&self, text: &[u8], encoding: Encoding) -> JsError {
        let Described { what, line, column } = self.in_words(text, encoding);
        let position = units(text.get(..self.at).unwrap_or(text), encoding);
        let from = boundary(text, self.at.saturating_sub(SHOWN));
        let to = boundary(text, (self.at + SHOWN).min(text.len()));
        let shown = decoded(text.get(from..to).unwrap_or_default(), encoding).replace(char::is_control, " ");
        let (left, right) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        let message = format!("{what} at position {position} (line {line} column {column}): {left}{shown}{right}");
        JsNativeError::syntax().with_message(message).into()
    }

    /// What is wrong, and where.
    pub(super) fn in_words(&self, text: &[u8], encoding: Encoding) -> Described {
        let (before, after) = text.split_at(self.at.min(text.len()));
        let last_line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let character = decoded(after.get(..4).unwrap_or(after), encoding).chars().next();
        let what = match (self.kind, character) {
            (FaultKind::End, _) | (_, None) => "Unexpected end of JSON input".to_owned(),
            (FaultKind::Unexpected, Some(character)) => format!("Unexpected token '{character}' in JSON"),
            (FaultKind::ControlCharacter, Some(character)) => {
                format!("Bad control character {} in a string of JSON", character.escape_default())
            }
            (FaultKind::Escape, Some(_)) => "Bad escape in a string of JSON".to_owned(),
        };
        Described { what, line, column: 1 + units(last_line, encoding) }
    }
}

/// The start of the character that a byte is part of.
fn boundary(text: &[u8], at: usize) -> usize {
    (0..=at).rev().take(4).find(|&at| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)).unwrap_or(at)
}

/// How many UTF-16 code units a text has.
fn units(text: &[u8], encoding: Encoding) -> usize {
    match encoding {
        Encoding::Latin1 => text.len(),
        Encoding::Utf8 => text.iter().map(|&byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum(),
    }
}

fn decoded(text: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Latin1 => text.iter().map(|&byte| char::from(byte)).collect(),
        Encoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
    }
}
