//! Where a JSON text is written: within a limit on memory, but counted beyond it.

use boa_engine::{JsString, string::JsStrVariant};

use super::extended::{ESCAPE, MARKED};
use crate::plain_bytes::plain_run;

/// Bytes that are counted beyond the limit, so that an author learns how much too large a value is.
/// What is larger yet is not measured to its end: a few shared arrays can stand for more bytes than
/// there is time.
const MAX_COUNTED: u64 = 64 * 1024 * 1024;

/// A text that grows up to a limit.
pub(super) struct Sink {
    /// Nothing but whole characters in UTF-8: looked at once, in the end.
    text: Vec<u8>,
    max: usize,
    used: u64,
    escapes: Escapes,
}

/// Nothing more is even counted.
pub(super) struct Full;

/// What becomes of half a surrogate pair, which no UTF-8 can hold.
#[derive(Clone, Copy)]
pub(super) enum Escapes {
    /// `\udXXX`, as `JSON.stringify` has it.
    LoneSurrogates,
    /// U+FFFD, as in every text that leaves JavaScript.
    None,
}

impl Sink {
    pub(super) fn new(max: usize, escapes: Escapes) -> Self {
        Self { text: Vec::new(), max, used: 0, escapes }
    }

    /// Adds `text`, or only counts it once the limit is passed.
    #[inline]
    pub(super) fn put(&mut self, text: &str) -> Result<(), Full> {
        if self.has_room(text.len())? {
            self.text.extend_from_slice(text.as_bytes());
        }
        Ok(())
    }

    /// How long the text is.
    pub(super) fn length(&self) -> usize {
        self.text.len()
    }

    /// Escapes what begins there, if it is an object whose first member is `$belljar`. It has no
    /// other one.
    pub(super) fn escape(&mut self, start: usize) -> Result<(), Full> {
        let is_marked = self.text.get(start..).is_some_and(|object| object.starts_with(MARKED));
        let [before, after] = ESCAPE;
        if is_marked && self.has_room(before.len() + after.len())? {
            self.text.splice(start..start, before.bytes());
            self.text.extend_from_slice(after.as_bytes());
        }
        Ok(())
    }

    /// Counts so many bytes, and says whether they are below the limit.
    #[inline]
    fn has_room(&mut self, bytes: usize) -> Result<bool, Full> {
        self.used += bytes as u64;
        if self.used <= self.max as u64 {
            return Ok(true);
        }
        if self.used > (self.max as u64).saturating_add(MAX_COUNTED) { Err(Full) } else { Ok(false) }
    }

    pub(super) fn integer(&mut self, value: i32) -> Result<(), Full> {
        self.put(itoa::Buffer::new().format(value))
    }

    pub(super) fn float(&mut self, value: f64) -> Result<(), Full> {
        if value.is_finite() { self.put(ryu_js::Buffer::new().format_finite(value)) } else { self.put("null") }
    }

    /// Writes a string of JSON.
    pub(super) fn quote(&mut self, string: &JsString) -> Result<(), Full> {
        match string.variant() {
            JsStrVariant::Latin1(bytes) => self.latin1(bytes),
            JsStrVariant::Utf16(units) => {
                self.put("\"")?;
                self.utf16(units)?;
                self.put("\"")
            }
        }
    }

    fn latin1(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let (run, mut rest) = bytes.split_at(plain_run(bytes));
        let is_whole = rest.is_empty();
        if self.has_room(run.len() + 1 + usize::from(is_whole))? {
            self.text.reserve(run.len() + 2);
            self.text.push(b'"');
            self.text.extend_from_slice(run);
            if is_whole {
                self.text.push(b'"');
            }
        }
        while let Some((&byte, others)) = rest.split_first() {
            self.character(char::from(byte))?;
            let (run, others) = others.split_at(plain_run(others));
            if self.has_room(run.len())? {
                self.text.extend_from_slice(run);
            }
            rest = others;
        }
        if is_whole { Ok(()) } else { self.put("\"") }
    }

    fn utf16(&mut self, units: &[u16]) -> Result<(), Full> {
        for character in char::decode_utf16(units.iter().copied()) {
            match (character, self.escapes) {
                (Ok(character), _) => self.character(character)?,
                (Err(lone), Escapes::LoneSurrogates) => self.put(&format!("\\u{:04x}", lone.unpaired_surrogate()))?,
                (Err(_), Escapes::None) => self.character(char::REPLACEMENT_CHARACTER)?,
            }
        }
        Ok(())
    }

    fn character(&mut self, character: char) -> Result<(), Full> {
        match character {
            '"' => self.put("\\\""),
            '\\' => self.put("\\\\"),
            '\n' => self.put("\\n"),
            '\r' => self.put("\\r"),
            '\t' => self.put("\\t"),
            '\u{8}' => self.put("\\b"),
            '\u{C}' => self.put("\\f"),
            control if control < ' ' => self.put(&format!("\\u{:04x}", control as u32)),
            other => self.put(other.encode_utf8(&mut [0; 4])),
        }
    }

    /// Bytes that were put.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// The text, or how long it would have been.
    pub(super) fn finish(self) -> Result<String, u64> {
        if self.used > self.max as u64 {
            return Err(self.used);
        }
        Ok(String::from_utf8(self.text).expect("nothing but whole characters was put"))
    }
}

/// A string as JSON, with lone surrogates escaped.
pub(super) fn quoted(string: &JsString) -> String {
    let mut sink = Sink::new(usize::MAX, Escapes::LoneSurrogates);
    let _ = sink.quote(string);
    sink.finish().unwrap_or_default()
}
