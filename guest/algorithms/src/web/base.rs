//! Bytes as base64 and as hexadecimal digits: how such texts are read, as ECMAScript 2026 says.

/// The digits of base64.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    Standard,
    Url,
}

/// What becomes of a last group of less than four digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LastChunk {
    Loose,
    Strict,
    StopBeforePartial,
}

/// What was read of a text: how much of it, the bytes, and what is wrong after them.
#[derive(Default)]
pub struct Decoded {
    pub read: usize,
    pub bytes: Vec<u8>,
    pub fault: Option<&'static str>,
}

/// The specification's FromBase64.
///
/// Reads UTF-16, and at most as many digits as make `max` bytes.
pub fn base64(
    text: impl ExactSizeIterator<Item = u16>,
    alphabet: Alphabet,
    last_chunk: LastChunk,
    max: usize,
) -> Decoded {
    let length = text.len();
    let is_space = |unit: &u16| matches!(unit, 0x09 | 0x0A | 0x0C | 0x0D | 0x20);
    let mut decoded = Decoded::default();
    if max == 0 {
        return decoded;
    }
    let mut chunk = Chunk::default();
    let mut units = text.enumerate().filter(|(_, unit)| !is_space(unit)).peekable();
    while let Some((index, unit)) = units.next() {
        if unit == u16::from(b'=') {
            if chunk.length < 2 {
                return decoded.wrong("'=' stands where digits of base64 must be");
            }
            if chunk.length == 2 {
                match units.next_if(|(_, unit)| *unit == u16::from(b'=')) {
                    Some(_) => {}
                    None if units.peek().is_some() => return decoded.wrong("something follows the padding of base64"),
                    None if last_chunk == LastChunk::StopBeforePartial => return decoded,
                    None => return decoded.wrong("the padding of base64 is not complete"),
                }
            }
            if units.next().is_some() {
                return decoded.wrong("something follows the padding of base64");
            }
            return decoded.end(&chunk, last_chunk == LastChunk::Strict, length);
        }
        let Some(bits) = digit(unit, alphabet) else { return decoded.wrong("it is not a base64 digit") };
        let room = max - decoded.bytes.len();
        if (room == 1 && chunk.length == 2) || (room == 2 && chunk.length == 3) {
            return decoded;
        }
        chunk.push(bits);
        if chunk.length == 4 {
            decoded.bytes.extend(chunk.bytes());
            chunk = Chunk::default();
            decoded.read = index + 1;
            if decoded.bytes.len() == max {
                return decoded;
            }
        }
    }
    match (chunk.length, last_chunk) {
        (0, _) => decoded.read = length,
        (_, LastChunk::StopBeforePartial) => {}
        (1, _) => return decoded.wrong("the last digit of base64 stands alone"),
        (_, LastChunk::Strict) => return decoded.wrong("the padding of base64 is missing"),
        (_, LastChunk::Loose) => return decoded.end(&chunk, false, length),
    }
    decoded
}

impl Decoded {
    fn wrong(mut self, fault: &'static str) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Adds the last chunk of a text.
    fn end(mut self, chunk: &Chunk, is_strict: bool, length: usize) -> Self {
        if is_strict && chunk.has_extra_bits() {
            return self.wrong("the last digit of base64 has bits that belong to no byte");
        }
        self.bytes.extend(chunk.bytes());
        self.read = length;
        self
    }
}

/// Up to four digits.
#[derive(Default)]
struct Chunk {
    bits: u32,
    length: usize,
}

impl Chunk {
    fn push(&mut self, digit: u32) {
        self.bits = self.bits << 6 | digit;
        self.length += 1;
    }

    /// The bytes that the digits make: one less than there are digits.
    fn bytes(&self) -> impl Iterator<Item = u8> + use<> {
        let missing = 4_usize.saturating_sub(self.length);
        let [_, bytes @ ..] = (self.bits << (6 * missing)).to_be_bytes();
        bytes.into_iter().take(self.length.saturating_sub(1))
    }

    fn has_extra_bits(&self) -> bool {
        match self.length {
            2 => self.bits & 0xF != 0,
            3 => self.bits & 0x3 != 0,
            _ => false,
        }
    }
}

fn digit(unit: u16, alphabet: Alphabet) -> Option<u32> {
    let digit = u8::try_from(unit).ok()?;
    let value = match (digit, alphabet) {
        (b'A'..=b'Z', _) => digit - b'A',
        (b'a'..=b'z', _) => digit - b'a' + 26,
        (b'0'..=b'9', _) => digit - b'0' + 52,
        (b'+', Alphabet::Standard) | (b'-', Alphabet::Url) => 62,
        (b'/', Alphabet::Standard) | (b'_', Alphabet::Url) => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// The specification's FromHex.
///
/// Reads UTF-16, and at most as many digits as make `max` bytes.
pub fn hex(mut units: impl ExactSizeIterator<Item = u16>, max: usize) -> Decoded {
    let mut decoded = Decoded::default();
    if !units.len().is_multiple_of(2) {
        return decoded.wrong("hexadecimal digits must come in pairs");
    }
    let digit = |unit: u16| char::from_u32(u32::from(unit)).and_then(|digit| digit.to_digit(16));
    while let (true, Some(high), Some(low)) = (decoded.bytes.len() < max, units.next(), units.next()) {
        let byte = digit(high).zip(digit(low)).and_then(|(high, low)| u8::try_from(high << 4 | low).ok());
        let Some(byte) = byte else { return decoded.wrong("it is not a hexadecimal digit") };
        decoded.bytes.push(byte);
        decoded.read += 2;
    }
    decoded
}
