//! `TextEncoder` and `TextDecoder`.

use std::str;

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsString, JsValue, JsVariant,
    class::{Class, ClassBuilder},
    object::builtins::JsUint8Array,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::objects::put;

use super::{accessor, byte_array, bytes, methods, option, string, text, view, with};

/// `TextEncoder`: text to UTF-8.
#[derive(Debug, Trace, Finalize, JsData)]
pub(super) struct TextEncoder;

impl Class for TextEncoder {
    const NAME: &'static str = "TextEncoder";

    fn data_constructor(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<Self> {
        Ok(Self)
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(class, Self::NAME, &[("encode", 0, encode), ("encodeInto", 2, encode_into)]);
        accessor(class, "encoding", |_, _, _| Ok(text("utf-8")), None);
        Ok(())
    }
}

fn encode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let encoded = match arguments.first().filter(|value| !value.is_undefined()) {
        Some(value) => string(value, context)?,
        None => String::new(),
    };
    byte_array(encoded.as_bytes(), context)
}

fn encode_into(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let source = string(arguments.first().unwrap_or(&JsValue::undefined()), context)?;
    let target = arguments.get(1).cloned().unwrap_or_default();
    let is_bytes = target.as_object().is_some_and(|target| JsUint8Array::from_object(target).is_ok());
    let view = if is_bytes { view(&target, context)? } else { None };
    let Some((buffer, offset, length)) = view else {
        return Err(JsNativeError::typ().with_message("TextEncoder.encodeInto takes a text and a Uint8Array").into());
    };
    let (mut read, mut written) = (0, 0);
    for character in source.chars() {
        if written + character.len_utf8() > length {
            break;
        }
        written += character.len_utf8();
        read += character.len_utf16();
    }
    if let Some(mut data) = buffer.data_mut()
        && let Some(target) = data.get_mut(offset..offset + written)
        && let Some(source) = source.as_bytes().get(..written)
    {
        target.copy_from_slice(source);
    }
    let result = JsObject::with_object_proto(context.intrinsics());
    put(&result, "read", read, context)?;
    put(&result, "written", written, context)?;
    Ok(result.into())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl Encoding {
    /// The encoding of a label, of those that are known in here.
    fn of(label: &str) -> Option<Self> {
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

    fn name(self) -> &'static str {
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

/// `TextDecoder`: bytes to text, also in pieces.
#[derive(Debug, Trace, Finalize, JsData)]
pub(super) struct TextDecoder {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    encoding: Encoding,
    is_fatal: bool,
    ignores_mark: bool,
    /// Bytes of a character whose rest is still to come.
    pending: Vec<u8>,
    /// Something was decoded already: a byte order mark can only stand before it.
    is_begun: bool,
}

/// The bytes are no text.
struct Malformed;

impl Class for TextDecoder {
    const NAME: &'static str = "TextDecoder";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let label = match arguments.first().filter(|label| !label.is_undefined()) {
            Some(label) => string(label, context)?,
            None => "utf-8".to_owned(),
        };
        let Some(encoding) = Encoding::of(&label) else {
            let label: String = label.chars().take(40).collect();
            let message = format!("the encoding '{label}' is not known in here: utf-8, utf-16le, utf-16be, latin1 are");
            return Err(JsNativeError::range().with_message(message).into());
        };
        let is_fatal = option(arguments.get(1), "fatal", context)?.to_boolean();
        let ignores_mark = option(arguments.get(1), "ignoreBOM", context)?.to_boolean();
        Ok(Self { encoding, is_fatal, ignores_mark, pending: Vec::new(), is_begun: false })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(class, Self::NAME, &[("decode", 0, decode)]);
        accessor(
            class,
            "encoding",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| text(data.encoding.name())),
            None,
        );
        accessor(
            class,
            "fatal",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| JsValue::from(data.is_fatal)),
            None,
        );
        accessor(
            class,
            "ignoreBOM",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| JsValue::from(data.ignores_mark)),
            None,
        );
        Ok(())
    }
}

fn decode(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let input = match arguments.first().map(JsValue::variant) {
        None | Some(JsVariant::Undefined) => Vec::new(),
        Some(_) => bytes(&arguments[0], "TextDecoder.decode", context)?,
    };
    let is_stream = option(arguments.get(1), "stream", context)?.to_boolean();
    match with(this, TextDecoder::NAME, |decoder: &mut TextDecoder| decoder.decode(input, is_stream))? {
        Ok(decoded) => Ok(decoded.into()),
        Err(Malformed) => Err(JsNativeError::typ().with_message("the encoded data was not valid").into()),
    }
}

impl TextDecoder {
    fn decode(&mut self, input: Vec<u8>, is_stream: bool) -> Result<JsString, Malformed> {
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
            Encoding::Windows1252 => Ok(windows_1252(&bytes)),
        };
        self.is_begun = is_stream && (self.is_begun || decoded.as_ref().is_ok_and(|text| !text.is_empty()));
        decoded
    }

    fn has_mark(&self) -> bool {
        !self.ignores_mark && !self.is_begun
    }

    fn utf_8(&mut self, mut bytes: &[u8], is_stream: bool) -> Result<JsString, Malformed> {
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
        let decoded = match decoded.strip_prefix('\u{feff}') {
            Some(rest) if self.has_mark() => rest,
            _ => &decoded,
        };
        Ok(JsString::from(decoded))
    }

    fn utf_16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, is_stream: bool) -> Result<JsString, Malformed> {
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
        let decoded = match decoded.as_slice() {
            [0xFEFF, rest @ ..] if self.has_mark() => rest,
            all => all,
        };
        Ok(JsString::from(decoded))
    }
}

fn windows_1252(bytes: &[u8]) -> JsString {
    let unit = |byte: &u8| match byte.checked_sub(0x80).and_then(|index| WINDOWS_1252.get(usize::from(index))) {
        Some(unit) => *unit,
        None => u16::from(*byte),
    };
    let units: Vec<u16> = bytes.iter().map(unit).collect();
    JsString::from(units.as_slice())
}
