//! A text under construction, in bytes for as long as these can hold it.

use boa_engine::{
    JsString,
    string::{JsStr, JsStrVariant},
};

/// Collects pieces of text.
pub(crate) enum Builder {
    Latin1(Vec<u8>),
    Utf16(Vec<u16>),
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self::Latin1(Vec::new())
    }

    pub(crate) fn push(&mut self, piece: JsStr<'_>) {
        match (&mut *self, piece.variant()) {
            (Self::Latin1(bytes), JsStrVariant::Latin1(piece)) => bytes.extend_from_slice(piece),
            (Self::Utf16(units), JsStrVariant::Latin1(piece)) => units.extend(piece.iter().copied().map(u16::from)),
            (Self::Utf16(units), JsStrVariant::Utf16(piece)) => units.extend_from_slice(piece),
            (Self::Latin1(bytes), JsStrVariant::Utf16(piece)) => {
                let mut units: Vec<u16> = bytes.iter().copied().map(u16::from).collect();
                units.extend_from_slice(piece);
                *self = Self::Utf16(units);
            }
        }
    }

    /// The code units of `text` from `start` to `end`, if it has these.
    pub(crate) fn push_part(&mut self, text: &JsString, start: usize, end: usize) {
        if let Some(part) = text.as_str().get(start..end) {
            self.push(part);
        }
    }

    pub(crate) fn finish(self) -> JsString {
        match self {
            Self::Latin1(bytes) => JsString::from(JsStr::latin1(&bytes)),
            Self::Utf16(units) => JsString::from(JsStr::utf16(&units)),
        }
    }
}
