//! What is not plain data: values that would come back from JSON as something else, or not at all.

use boa_engine::{
    Context, JsObject, JsValue,
    builtins::promise::Promise,
    object::builtins::{JsArrayBuffer, JsDataView, JsDate, JsTypedArray},
};

use belljar_guest_engine::collections::{Map, Set};

use super::special::PROMISE;

/// Why a value cannot be kept that JSON has no word for.
pub(super) fn left_out(value: &JsValue) -> &'static str {
    if value.is_callable() {
        "is a function: keep data, and define the function in each script"
    } else if value.is_symbol() {
        "is a symbol, which JSON cannot hold"
    } else {
        "is undefined, which JSON cannot hold: use null, or `delete` to forget a name"
    }
}

/// Why a number cannot be kept.
pub(super) fn not_finite(value: &JsValue) -> String {
    format!("is {}, which JSON cannot hold: use null or a text", value.display())
}

/// Why an object cannot be kept. Plain objects and arrays can.
pub(super) fn fault(object: &JsObject, context: &mut Context) -> Option<&'static str> {
    if object.is_array() {
        return None;
    }
    if object.is_ordinary() {
        let of_all = context.intrinsics().constructors().object().prototype();
        return match object.prototype() {
            None => None,
            Some(prototype) if JsObject::equals(&prototype, &of_all) => None,
            Some(_) => Some("is of a class, which would be lost: keep a plain object, such as {...it}"),
        };
    }
    Some(if Map::entries_of(object).is_some() {
        "is a Map: keep Object.fromEntries(map), or [...map]"
    } else if Set::members_of(object).is_some() {
        "is a Set: keep [...set]"
    } else if JsDate::from_object(object.clone()).is_ok() {
        "is a Date: keep its text, date.toISOString()"
    } else if object.is::<Promise>() {
        PROMISE
    } else if JsTypedArray::from_object(object.clone()).is_ok()
        || JsArrayBuffer::from_object(object.clone()).is_ok()
        || JsDataView::from_object(object.clone()).is_ok()
    {
        "is made of bytes: keep a text, such as their base64"
    } else {
        "is not a plain object or array: keep one with its data, such as {...it}"
    })
}
