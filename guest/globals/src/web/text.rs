//! `TextEncoder` and `TextDecoder`.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsString, JsValue, JsVariant,
    class::{Class, ClassBuilder},
    object::builtins::JsUint8Array,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::web::decoder::{Decoder, Encoding, Malformed, Text};
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

/// `TextDecoder`: bytes to text, also in pieces.
#[derive(Debug, Trace, Finalize, JsData)]
pub(super) struct TextDecoder {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    decoder: Decoder,
}

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
        Ok(Self { decoder: Decoder::new(encoding, is_fatal, ignores_mark) })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(class, Self::NAME, &[("decode", 0, decode)]);
        accessor(
            class,
            "encoding",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| text(data.decoder.encoding.name())),
            None,
        );
        accessor(
            class,
            "fatal",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| JsValue::from(data.decoder.is_fatal)),
            None,
        );
        accessor(
            class,
            "ignoreBOM",
            |this, _, _| with(this, Self::NAME, |data: &mut Self| JsValue::from(data.decoder.ignores_mark)),
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
    match with(this, TextDecoder::NAME, |data: &mut TextDecoder| data.decoder.decode(input, is_stream))? {
        Ok(Text::Utf8(decoded)) => Ok(JsString::from(decoded).into()),
        Ok(Text::Utf16(decoded)) => Ok(JsString::from(decoded.as_slice()).into()),
        Err(Malformed) => Err(JsNativeError::typ().with_message("the encoded data was not valid").into()),
    }
}
