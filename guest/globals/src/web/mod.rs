//! What every web runtime has beside the language and needs no outside world: `structuredClone`,
//! `URL`, `TextEncoder` and the like.
//!
//! Made once, before the snapshot. Nothing here reads a clock or draws a random number until a
//! script asks for it.

mod abort;
mod base64;
mod clone;
mod crypto;
mod digest;
mod encoded_bytes;
mod events;
mod exception;
mod performance;
mod search_params;
mod text;
mod url;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction,
    builtins::array_buffer::AlignedVec,
    class::ClassBuilder,
    js_string,
    object::{
        NativeObject,
        builtins::{JsArray, JsArrayBuffer, JsDataView, JsTypedArray, JsUint8Array},
    },
    property::Attribute,
};

use belljar_guest_engine::objects::{self, Native};

pub use performance::start_of_run;
pub(crate) use search_params::SearchParams;
pub(crate) use url::UrlObject;

/// Makes these globals. Part of the snapshot.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    exception::install(context)?;
    context.register_global_class::<SearchParams>()?;
    context.register_global_class::<UrlObject>()?;
    context.register_global_class::<text::TextEncoder>()?;
    context.register_global_class::<text::TextDecoder>()?;
    context.register_global_class::<abort::AbortSignal>()?;
    context.register_global_class::<abort::AbortController>()?;
    for name in ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "AbortSignal", "AbortController"] {
        // The engine lists the classes that it is given; the web does not.
        let class = context.global_object().get(JsString::from(name), context)?;
        objects::define(name, class, context)?;
    }
    let functions: [(&str, usize, Native); 3] =
        [("structuredClone", 1, clone::structured_clone), ("btoa", 1, base64::btoa), ("atob", 1, base64::atob)];
    for (name, length, native) in functions {
        let function = objects::function(name, length, NativeFunction::from_fn_ptr(native), context);
        objects::define(name, function, context)?;
    }
    crypto::install(context)?;
    encoded_bytes::install(context)?;
    performance::install(context)?;
    events::install(context)
}

/// An object with these methods that is no class of its own, as `crypto` is.
fn singleton(tag: &str, methods: &[(&str, usize, Native)], context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_object_proto(context.intrinsics());
    for (name, length, native) in methods {
        let method = objects::function(name, *length, NativeFunction::from_fn_ptr(*native), context);
        objects::put(&object, name, method, context)?;
    }
    let descriptor = boa_engine::property::PropertyDescriptor::builder()
        .value(JsString::from(tag))
        .writable(false)
        .enumerable(false)
        .configurable(true);
    object.define_property_or_throw(JsSymbol::to_string_tag(), descriptor.build(), context)?;
    Ok(object)
}

/// Gives a class its methods and its tag.
fn methods(class: &mut ClassBuilder<'_>, tag: &str, methods: &[(&str, usize, Native)]) {
    for (name, length, native) in methods {
        class.method(JsString::from(*name), *length, NativeFunction::from_fn_ptr(*native));
    }
    class.property(JsSymbol::to_string_tag(), JsString::from(tag), Attribute::CONFIGURABLE);
}

/// Gives a class an accessor.
pub(super) fn accessor(class: &mut ClassBuilder<'_>, name: &str, get: Native, set: Option<Native>) {
    let context = class.context();
    let get = objects::function(&format!("get {name}"), 0, NativeFunction::from_fn_ptr(get), context);
    let set = set.map(|set| objects::function(&format!("set {name}"), 1, NativeFunction::from_fn_ptr(set), context));
    class.accessor(JsString::from(name), Some(get), set, Attribute::CONFIGURABLE | Attribute::ENUMERABLE);
}

/// Looks at what an object of a class holds. `what` is called in the meantime; it must not run a
/// script.
fn with<T: NativeObject, R>(this: &JsValue, name: &str, look: impl FnOnce(&mut T) -> R) -> JsResult<R> {
    this.as_object()
        .and_then(|object| object.downcast_mut::<T>().map(|mut data| look(&mut data)))
        .ok_or_else(|| JsNativeError::typ().with_message(format!("this is no {name}")).into())
}

/// An argument that must be there.
fn required<'a>(arguments: &'a [JsValue], index: usize, function: &str) -> JsResult<&'a JsValue> {
    arguments.get(index).ok_or_else(|| {
        let plural = if index == 0 { "" } else { "s" };
        let message = format!("{function} takes {} argument{plural}, and was given {}", index + 1, arguments.len());
        JsNativeError::typ().with_message(message).into()
    })
}

/// An argument as well-formed text: a lone surrogate becomes U+FFFD.
fn string(value: &JsValue, context: &mut Context) -> JsResult<String> {
    Ok(value.to_string(context)?.to_std_string_lossy())
}

fn text(text: &str) -> JsValue {
    JsString::from(text).into()
}

/// A member of a dictionary argument, which may be missing altogether.
fn option(options: Option<&JsValue>, name: &str, context: &mut Context) -> JsResult<JsValue> {
    match options.and_then(JsValue::as_object) {
        Some(options) => options.get(JsString::from(name), context),
        None => Ok(JsValue::undefined()),
    }
}

/// A new `ArrayBuffer` of these bytes.
fn array_buffer(bytes: &[u8], context: &mut Context) -> JsResult<JsArrayBuffer> {
    JsArrayBuffer::from_byte_block(AlignedVec::from_slice(64, bytes), context)
}

/// A new `Uint8Array` of these bytes.
fn byte_array(bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let buffer = array_buffer(bytes, context)?;
    Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
}

/// The buffer behind an `ArrayBuffer`, a typed array or a `DataView`, and the place and number of
/// its bytes.
fn view(value: &JsValue, context: &mut Context) -> JsResult<Option<(JsArrayBuffer, usize, usize)>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    if let Ok(buffer) = JsArrayBuffer::from_object(object.clone()) {
        let length = buffer.byte_length();
        return Ok(Some((buffer, 0, length)));
    }
    let (buffer, offset, length) = if let Ok(array) = JsTypedArray::from_object(object.clone()) {
        (array.buffer(context)?, array.byte_offset(context)?, array.byte_length(context)?)
    } else if let Ok(view) = JsDataView::from_object(object) {
        let (offset, length) = (view.byte_offset(context)?, view.byte_length(context)?);
        (view.buffer(context)?, usize::try_from(offset).unwrap_or(0), usize::try_from(length).unwrap_or(0))
    } else {
        return Ok(None);
    };
    match buffer.as_object() {
        Some(buffer) => Ok(JsArrayBuffer::from_object(buffer).ok().map(|buffer| (buffer, offset, length))),
        None => Ok(None),
    }
}

/// The bytes of an `ArrayBuffer`, a typed array or a `DataView`.
fn bytes(value: &JsValue, function: &str, context: &mut Context) -> JsResult<Vec<u8>> {
    match view(value, context)? {
        Some((buffer, offset, length)) => {
            let bytes = buffer.data().and_then(|data| data.get(offset..offset + length).map(<[u8]>::to_vec));
            Ok(bytes.unwrap_or_default())
        }
        None => {
            let message = format!("{function} takes an ArrayBuffer, a typed array or a DataView");
            Err(JsNativeError::typ().with_message(message).into())
        }
    }
}

/// What an iterable gives.
pub(super) fn items(iterable: &JsValue, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let constructor = context.intrinsics().constructors().array().constructor();
    let from = constructor.get(js_string!("from"), context)?;
    let Some(array) = (match from.as_callable() {
        Some(from) => from.call(&constructor.into(), std::slice::from_ref(iterable), context)?.as_object(),
        None => None,
    }) else {
        return Ok(Vec::new());
    };
    let length = array.get(js_string!("length"), context)?.to_length(context)?;
    let mut items = Vec::new();
    for index in 0..length {
        items.push(array.get(index, context)?);
    }
    Ok(items)
}

/// An iterator over these values, as an array gives it.
pub(super) fn iterator(values: Vec<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    let array = JsArray::from_iter(values, context);
    let prototype = context.intrinsics().constructors().array().prototype();
    let values = prototype.get(js_string!("values"), context)?;
    match values.as_callable() {
        Some(values) => values.call(&array.into(), &[], context),
        None => Ok(array.into()),
    }
}

#[cfg(test)]
mod tests;
