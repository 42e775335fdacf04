//! `btoa` and `atob`.

use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use boa_engine::{Context, JsResult, JsString, JsValue};

use belljar_guest_bindings::belljar::sandbox::console;
use belljar_guest_engine::{call_site::here, place};
use belljar_guest_values::inspect;

use super::{exception::exception, required};

/// What the web accepts, its padding taken off: the last bits are ignored.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// `btoa(binary)`: each character of the text is a byte.
pub(super) fn btoa(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = required(arguments, 0, "btoa")?;
    let binary = value.to_string(context)?;
    if value.is_null_or_undefined() {
        warn_of_nothing(value, context);
    }
    let bytes: Result<Vec<u8>, _> = binary.iter().map(u8::try_from).collect();
    match bytes {
        Ok(bytes) => Ok(JsString::from(STANDARD.encode(bytes)).into()),
        Err(_) => {
            let message = "btoa takes characters up to U+00FF alone: of other text take the UTF-8 bytes first, as in \
                           btoa(String.fromCharCode(...new TextEncoder().encode(text)))";
            Err(exception("InvalidCharacterError", message, context))
        }
    }
}

/// `atob(base64)`: each byte is a character.
pub(super) fn atob(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = required(arguments, 0, "atob")?;
    let encoded = value.to_string(context)?;
    let is_space = |unit: &u16| matches!(unit, 0x09 | 0x0a | 0x0c | 0x0d | 0x20);
    let digits: Result<Vec<u8>, _> = encoded.iter().filter(|unit| !is_space(unit)).map(u8::try_from).collect();
    let decoded = digits.ok().and_then(|mut digits| {
        if digits.len().is_multiple_of(4) {
            for _ in 0..2 {
                digits.pop_if(|last| *last == b'=');
            }
        }
        FORGIVING.decode(digits).ok()
    });
    match decoded {
        Some(bytes) => {
            let units: Vec<u16> = bytes.into_iter().map(u16::from).collect();
            Ok(JsString::from(units.as_slice()).into())
        }
        None => {
            let message = if value.is_string() {
                "atob takes base64 (A–Z, a–z, 0–9, + and /), and this is not base64; in base64url, replace - with + and _ with / first".to_owned()
            } else {
                format!("atob takes base64 as a text, and was given {}", inspect::cell(value, false, context))
            };
            Err(exception("InvalidCharacterError", &message, context))
        }
    }
}

/// Says that what was encoded is a word for nothing, as the web has it, and not what the script
/// meant.
fn warn_of_nothing(value: &JsValue, context: &mut Context) {
    if !place::has_host() {
        return;
    }
    let line = here(context).map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    let text = format!("btoa was given {0}{line}, and has encoded the word {0}", value.display());
    console::write(console::Level::Warn, &text);
}
