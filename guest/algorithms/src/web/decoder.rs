//! Bytes as text, in the encodings that scripts meet.

use std::str;

/// How text is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl Encoding {
    /// The encoding of a label, of those that are known in here.
    pub fn of(label: &str) -> Option<Self> {
        match label.trim().to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8" | "x-unicode20utf8" => {
                Some(Self::Utf8)
            }
            "utf-16" | "utf-16le" | "ucs-2" | "unicode" | "unicodefeff" | "iso-10646-ucs-2" | "csunicode" => {
                Some(Self::Utf16Le)
            }
            "utf-16be" | "unicodefffe" => Some(Self::Utf16Be),
            "latin1" | "iso-8859-1" | "iso8859-1" | "iso88591" | "iso_8859-1" | "l1" | "ascii" | "us-ascii"
            | "windows-1252" | "cp1252" | "x-cp1252" | "ansi_x3.4-1968" | "cp819" | "ibm819" | "iso-ir-100"
            | "csisolatin1" => Some(Self::Windows1252),
            _ => None,
        }
    }

    /// The name that a decoder gives.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Windows1252 => "windows-1252",
        }
    }
}

/// What windows-1252 has from 0x80 to 0x9F; the rest is Latin-1.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
    0x17E, 0x178,
];

/// Bytes to text, also in pieces.
#[derive(Debug)]
pub struct Decoder {
    pub encoding: Encoding,
    pub is_fatal: bool,
    pub ignores_mark: bool,
    /// Bytes of a character whose rest is still to come.
    pending: Vec<u8>,
    /// Something was decoded already: a byte order mark can only stand before it.
    is_begun: bool,
}

/// Text as it was decoded.
pub enum Text {
    Utf8(String),
    Utf16(Vec<u16>),
}

impl Text {
    fn is_empty(&self) -> bool {
        match self {
            Self::Utf8(text) => text.is_empty(),
            Self::Utf16(units) => units.is_empty(),
        }
    }
}

/// The bytes are not text.
pub struct Malformed;

impl Decoder {
    /// A decoder that has read nothing yet.
    pub fn new(encoding: Encoding, is_fatal: bool, ignores_mark: bool) -> Self {
        Self { encoding, is_fatal, ignores_mark, pending: Vec::new(), is_begun: false }
    }

    /// The text of the next bytes. With `is_stream`, more will follow.
    ///
    /// # Errors
    /// [`Malformed`], if the decoder is fatal.
    pub fn decode(&mut self, input: Vec<u8>, is_stream: bool) -> Result<Text, Malformed> {
        let mut bytes = std::mem::take(&mut self.pending);
        if bytes.is_empty() {
            bytes = input;
        } else {
            bytes.extend(input);
        }
        let decoded = match self.encoding {
            Encoding::Utf8 => self.utf_8(&bytes, is_stream),
            Encoding::Utf16Le => self.utf_16(&bytes, u16::from_le_bytes, is_stream),
            Encoding::Utf16Be => self.utf_16(&bytes, u16::from_be_bytes, is_stream),
            Encoding::Windows1252 => Ok(Text::Utf16(windows_1252(&bytes))),
        };
        self.is_begun = is_stream && (self.is_begun || decoded.as_ref().is_ok_and(|text| !text.is_empty()));
        decoded
    }

    fn has_mark(&self) -> bool {
        !self.ignores_mark && !self.is_begun
    }

    fn utf_8(&mut self, mut bytes: &[u8], is_stream: bool) -> Result<Text, Malformed> {
        let mut decoded = String::new();
        loop {
            let fault = match str::from_utf8(bytes) {
                Ok(valid) => {
                    decoded.push_str(valid);
                    break;
                }
                Err(fault) => fault,
            };
            let (valid, rest) = bytes.split_at(fault.valid_up_to());
            decoded.push_str(str::from_utf8(valid).unwrap_or_default());
            let Some(length) = fault.error_len() else {
                if is_stream {
                    self.pending = rest.to_vec();
                } else if self.is_fatal {
                    return Err(Malformed);
                } else {
                    decoded.push(char::REPLACEMENT_CHARACTER);
                }
                break;
            };
            if self.is_fatal {
                return Err(Malformed);
            }
            decoded.push(char::REPLACEMENT_CHARACTER);
            bytes = rest.get(length..).unwrap_or_default();
        }
        match decoded.strip_prefix('\u{feff}') {
            Some(rest) if self.has_mark() => Ok(Text::Utf8(rest.to_owned())),
            _ => Ok(Text::Utf8(decoded)),
        }
    }

    fn utf_16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, is_stream: bool) -> Result<Text, Malformed> {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        let mut pending = rest.to_vec();
        if is_stream && units.last().is_some_and(|last| (0xD800..0xDC00).contains(last)) {
            units.pop();
            pending = bytes.get(units.len() * 2..).unwrap_or_default().to_vec();
        }
        let mut is_malformed = false;
        let mut decoded = Vec::new();
        for character in char::decode_utf16(units) {
            is_malformed |= character.is_err();
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            decoded.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        }
        if is_stream {
            self.pending = pending;
        } else if !pending.is_empty() {
            is_malformed = true;
            decoded.push(0xFFFD);
        }
        if is_malformed && self.is_fatal {
            return Err(Malformed);
        }
        if self.has_mark() && decoded.first() == Some(&0xFEFF) {
            decoded.remove(0);
        }
        Ok(Text::Utf16(decoded))
    }
}

fn windows_1252(bytes: &[u8]) -> Vec<u16> {
    let unit = |byte: &u8| match byte.checked_sub(0x80).and_then(|index| WINDOWS_1252.get(usize::from(index))) {
        Some(unit) => *unit,
        None => u16::from(*byte),
    };
    bytes.iter().map(unit).collect()
}
