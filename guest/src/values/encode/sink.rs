//! Where a JSON text is written: within a limit on memory, but counted beyond it.

use boa_engine::{JsString, string::JsStrVariant};

use crate::values::plain_bytes::plain_run;

/// Bytes that are counted beyond the limit, so that an author learns how much too large a value is. What is larger yet is not
/// measured to its end: a few shared arrays can stand for more bytes than there is time.
const MAX_COUNTED: u64 = 64 * 1024 * 1024;

/// A text that grows up to a limit.
pub(super) struct Sink {
    text: String,
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
        Self { text: String::new(), max, used: 0, escapes }
    }

    /// Adds `text`, or only counts it once the limit is passed.
    #[inline]
    pub(super) fn put(&mut self, text: &str) -> Result<(), Full> {
        self.used += text.len() as u64;
        if self.used <= self.max as u64 {
            self.text.push_str(text);
        } else if self.used > (self.max as u64).saturating_add(MAX_COUNTED) {
            return Err(Full);
        }
        Ok(())
    }

    pub(super) fn integer(&mut self, value: i32) -> Result<(), Full> {
        self.put(itoa::Buffer::new().format(value))
    }

    pub(super) fn float(&mut self, value: f64) -> Result<(), Full> {
        if value.is_finite() { self.put(ryu_js::Buffer::new().format_finite(value)) } else { self.put("null") }
    }

    /// Writes a string of JSON.
    pub(super) fn quote(&mut self, string: &JsString) -> Result<(), Full> {
        self.put("\"")?;
        match string.variant() {
            JsStrVariant::Latin1(bytes) => self.latin1(bytes)?,
            JsStrVariant::Utf16(units) => self.utf16(units)?,
        }
        self.put("\"")
    }

    fn latin1(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let mut rest = bytes;
        loop {
            let (run, others) = rest.split_at(plain_run(rest));
            // ASCII, as every plain byte.
            self.put(std::str::from_utf8(run).unwrap_or_default())?;
            let Some((&byte, others)) = others.split_first() else { return Ok(()) };
            self.character(char::from(byte))?;
            rest = others;
        }
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
        if self.used <= self.max as u64 { Ok(self.text) } else { Err(self.used) }
    }
}

/// A string as JSON, with lone surrogates escaped.
pub(super) fn quoted(string: &JsString) -> String {
    let mut sink = Sink::new(usize::MAX, Escapes::LoneSurrogates);
    let _ = sink.quote(string);
    sink.finish().unwrap_or_default()
}
