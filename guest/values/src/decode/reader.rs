//! The tokens of a JSON text, read from its bytes.

use std::ops::Range;

use boa_engine::{JsStr, JsString};

use super::{Fault, FaultKind};
use crate::plain_bytes::plain_run;

/// How the text's bytes stand for characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// A byte for each character.
    Latin1,
    /// UTF-8, in which a lone surrogate may stand as if it were a character.
    Utf8,
}

/// Reads a text from its start to its end.
pub(super) struct Reader<'text> {
    text: &'text [u8],
    at: usize,
    encoding: Encoding,
}

/// A number of the text.
pub(super) enum Number<'text> {
    Integer(i32),
    Float(f64),
    /// A whole number, without fraction and exponent, that a double need not hold.
    Large(&'text str),
}

/// A string of the text.
pub(super) enum Text<'text> {
    /// Nothing but ASCII and no escapes, or a byte for each character.
    Plain(&'text [u8]),
    Units(Vec<u16>),
}

impl<'text> Reader<'text> {
    pub(super) fn new(text: &'text [u8], encoding: Encoding) -> Self {
        Self { text, at: 0, encoding }
    }

    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kind, at: self.at }
    }

    /// The character here is not what JSON has in this place.
    pub(super) fn unexpected(&self) -> Fault {
        self.fault(if self.at < self.text.len() { FaultKind::Unexpected } else { FaultKind::End })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next byte that is no white space.
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        Ok(())
    }

    pub(super) fn number(&mut self) -> Result<Number<'text>, Fault> {
        let start = self.at;
        let is_negative = self.peek() == Some(b'-');
        if is_negative {
            self.at += 1;
        }
        let first = self.at;
        let mut magnitude = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 {
            return Err(self.unexpected());
        }
        if digits > 1 && self.text.get(first) == Some(&b'0') {
            self.at = first + 1;
            return Err(self.unexpected());
        }
        let is_whole = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if is_whole && digits <= 9 {
            let value = i32::try_from(magnitude).unwrap_or_default();
            // Minus zero is no integer.
            return Ok(match (is_negative, value) {
                (true, 0) => Number::Float(-0.0),
                (true, value) => Number::Integer(-value),
                (false, value) => Number::Integer(value),
            });
        }
        if is_whole && digits <= 15 {
            let value = magnitude as f64;
            return Ok(Number::Float(if is_negative { -value } else { value }));
        }
        if !is_whole {
            self.fraction()?;
        }
        let literal =
            self.text.get(start..self.at).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        Ok(if is_whole { Number::Large(literal) } else { Number::Float(literal.parse().unwrap_or(f64::NAN)) })
    }

    fn fraction(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(()) }
    }

    /// Where a value stands, which is not looked into: it ends where its last bracket closes. That
    /// is enough to find what stands beside it; whether it is JSON is for whoever decodes it.
    pub(super) fn raw_value(&mut self) -> Result<Range<usize>, Fault> {
        self.next();
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.fault(FaultKind::End)),
                Some(b'"') => {
                    self.skip();
                    self.skip_string()?;
                }
                Some(b'{' | b'[') => {
                    open += 1;
                    self.skip();
                }
                Some(b'}' | b']') if open > 0 => {
                    open -= 1;
                    self.skip();
                }
                Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') if open == 0 => break,
                Some(_) => self.skip(),
            }
            let is_whole = open == 0 && matches!(self.text.get(self.at.wrapping_sub(1)), Some(b'"' | b'}' | b']'));
            if is_whole {
                break;
            }
        }
        Ok(start..self.at)
    }

    /// Skips a byte of the grammar, if it comes next, and says whether it did.
    pub(super) fn skip_if(&mut self, byte: u8) -> bool {
        let is_next = self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// The text of a value that is no array and no object, as it stands there.
    pub(super) fn literal(&mut self) -> Result<JsString, Fault> {
        self.next();
        let start = self.at;
        if self.peek() == Some(b'"') {
            self.skip();
            self.skip_string()?;
        } else {
            while self
                .peek()
                .is_some_and(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'))
            {
                self.skip();
            }
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if text.is_ascii() || self.encoding == Encoding::Latin1 {
            return Ok(Text::Plain(text).make());
        }
        let mut units = Vec::new();
        self.decode(text, &mut units);
        Ok(Text::Units(units).make())
    }

    /// Goes on to the next byte that does not stand for itself in a string.
    fn skip_plain(&mut self) {
        self.at += plain_run(self.text.get(self.at..).unwrap_or_default());
    }

    /// Passes over a string, from behind its first quotation mark to behind its last.
    fn skip_string(&mut self) -> Result<(), Fault> {
        loop {
            self.skip_plain();
            match self.peek() {
                None => return Err(self.fault(FaultKind::End)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                // Whatever is escaped, it is no quotation mark that ends the string.
                Some(b'\\') => self.at += 2,
                Some(byte) if byte < b' ' => return Err(self.fault(FaultKind::ControlCharacter)),
                Some(_) => self.at += 1,
            }
        }
    }

    /// A string, from behind its first quotation mark to behind its last.
    pub(super) fn string(&mut self) -> Result<Text<'text>, Fault> {
        let start = self.at;
        let mut is_ascii = true;
        loop {
            self.skip_plain();
            match self.peek() {
                None => return Err(self.fault(FaultKind::End)),
                Some(b'"') => {
                    let run = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    if is_ascii || self.encoding == Encoding::Latin1 {
                        return Ok(Text::Plain(run));
                    }
                    let mut units = Vec::new();
                    self.decode(run, &mut units);
                    return Ok(Text::Units(units));
                }
                Some(b'\\') => return self.string_with_escapes(start),
                Some(byte) if byte < b' ' => return Err(self.fault(FaultKind::ControlCharacter)),
                Some(_) => {
                    is_ascii = false;
                    self.at += 1;
                }
            }
        }
    }

    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Result<Text<'text>, Fault> {
        let mut units = Vec::new();
        let mut run_start = start;
        loop {
            self.skip_plain();
            match self.peek() {
                None => return Err(self.fault(FaultKind::End)),
                Some(b'"') => {
                    self.decode(self.text.get(run_start..self.at).unwrap_or_default(), &mut units);
                    self.at += 1;
                    return Ok(Text::Units(units));
                }
                Some(b'\\') => {
                    self.decode(self.text.get(run_start..self.at).unwrap_or_default(), &mut units);
                    self.at += 1;
                    units.push(self.escape()?);
                    run_start = self.at;
                }
                Some(byte) if byte < b' ' => return Err(self.fault(FaultKind::ControlCharacter)),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<u16, Fault> {
        let unit = match self.peek() {
            None => return Err(self.fault(FaultKind::End)),
            Some(byte @ (b'"' | b'\\' | b'/')) => u16::from(byte),
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => 0x0A,
            Some(b'r') => 0x0D,
            Some(b't') => 0x09,
            Some(b'u') => {
                let mut unit = 0_u16;
                for _ in 0..4 {
                    self.at += 1;
                    let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
                    let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
                        return Err(match self.peek() {
                            None => self.fault(FaultKind::End),
                            Some(_) => self.fault(FaultKind::Escape),
                        });
                    };
                    unit = unit << 4 | digit;
                }
                unit
            }
            Some(_) => return Err(self.fault(FaultKind::Escape)),
        };
        self.at += 1;
        Ok(unit)
    }

    /// Adds what a run of bytes stands for.
    fn decode(&self, run: &[u8], units: &mut Vec<u16>) {
        if self.encoding == Encoding::Latin1 || run.is_ascii() {
            units.extend(run.iter().map(|&byte| u16::from(byte)));
            return;
        }
        let mut bytes = run.iter().map(|&byte| u32::from(byte));
        // The text is UTF-8, but for surrogates: what follows a first byte needs no check.
        while let Some(first) = bytes.next() {
            let mut more = |code: u32| code << 6 | (bytes.next().unwrap_or_default() & 0x3F);
            let code = match first {
                0..0x80 => first,
                0x80..0xE0 => more(first & 0x1F),
                0xE0..0xF0 => {
                    let code = more(first & 0x0F);
                    more(code)
                }
                _ => {
                    let code = more(first & 0x07);
                    let code = more(code);
                    more(code)
                }
            };
            match u16::try_from(code) {
                Ok(unit) => units.push(unit),
                Err(_) => {
                    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                }
            }
        }
    }
}

/// A text as bytes that a [`Reader`] reads.
pub(super) fn wtf8(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len());
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let [high, low] = lone.unpaired_surrogate().to_be_bytes();
                // Three bytes, as UTF-8 would have for any other character of this size.
                bytes.extend([0xE0 | high >> 4, 0x80 | (high & 0x0F) << 2 | low >> 6, 0x80 | low & 0x3F]);
            }
        }
    }
    bytes
}

impl Text<'_> {
    pub(super) fn make(&self) -> JsString {
        match self {
            Text::Plain(bytes) => JsString::from(JsStr::latin1(bytes)),
            Text::Units(units) => match units.iter().map(|&unit| u8::try_from(unit)).collect::<Result<Vec<u8>, _>>() {
                Ok(bytes) => JsString::from(JsStr::latin1(&bytes)),
                Err(_) => JsString::from(units.as_slice()),
            },
        }
    }
}
