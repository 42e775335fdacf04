//! A text in the form in which a pattern is matched against it, made once for each text.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{JsString, string::JsStrVariant};

use crate::string::is_same;

/// Shorter texts are prepared at each use: that costs less than to remember them would.
const REMEMBERED_UNITS: usize = 512;

thread_local! {
    /// The text that was matched last. It is held, so that no other can take its place in memory.
    static LAST: RefCell<Option<(JsString, Subject)>> = const { RefCell::new(None) };
}

/// A text, prepared.
#[derive(Clone)]
pub(super) enum Subject {
    Ascii(Ascii),
    /// Of a text in bytes that are not all ASCII.
    Units(Rc<[u16]>),
    Utf16(Utf16),
}

impl Subject {
    pub(super) fn of(text: &JsString) -> Self {
        if matches!(text.variant(), JsStrVariant::Utf16(_)) {
            return Self::Utf16(Utf16(text.clone()));
        }
        if text.len() < REMEMBERED_UNITS {
            return Self::prepare(text);
        }
        LAST.with_borrow_mut(|last| match last {
            Some((known, subject)) if is_same(known, text) => subject.clone(),
            _ => {
                let subject = Self::prepare(text);
                *last = Some((text.clone(), subject.clone()));
                subject
            }
        })
    }

    fn prepare(text: &JsString) -> Self {
        match text.variant() {
            JsStrVariant::Latin1(bytes) if bytes.is_ascii() => Self::Ascii(Ascii(text.clone())),
            _ => Self::Units(text.iter().collect()),
        }
    }
}

/// A string of ASCII bytes.
#[derive(Clone)]
pub(super) struct Ascii(JsString);

impl Ascii {
    #[allow(unsafe_code, reason = "to look through the text each time would make a loop over its matches quadratic")]
    pub(super) fn as_str(&self) -> &str {
        match self.0.variant() {
            // SAFETY: `prepare` alone makes these, of bytes that are all ASCII, and strings do not
            // change.
            JsStrVariant::Latin1(bytes) => unsafe { std::str::from_utf8_unchecked(bytes) },
            JsStrVariant::Utf16(_) => "",
        }
    }
}

/// A string of 16-bit units.
#[derive(Clone)]
pub(super) struct Utf16(JsString);

impl Utf16 {
    pub(super) fn units(&self) -> &[u16] {
        match self.0.variant() {
            JsStrVariant::Utf16(units) => units,
            JsStrVariant::Latin1(_) => &[],
        }
    }
}
