//! Methods of strings whose cost grows with the text, not with its square.
//!
//! The engine's `indexOf` walks to where it should start, which makes `split` and `replaceAll`
//! quadratic, and what `slice` gives keeps hold of the text that it is cut from, link by link.

mod builder;
mod case;
mod cut;
mod repeat;
mod replace;
mod search;
mod slices;
mod split;
mod template;

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsSymbol, JsValue, NativeFunction, builtins::regexp::RegExp,
    object::builtins::JsFunction,
};

use belljar_guest_engine::objects;

use super::replace;

pub(super) use builder::Builder;
pub(super) use cut::{cut, is_same};
pub(super) use template::{Captured, Template};

/// Puts the methods in the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = context.intrinsics().constructors().string().prototype();
    let methods: [(&str, usize, objects::Native); 17] = [
        ("indexOf", 1, search::index_of),
        ("lastIndexOf", 1, search::last_index_of),
        ("includes", 1, search::includes),
        ("split", 2, split::split),
        ("replace", 2, replace::replace),
        ("replaceAll", 2, replace::replace_all),
        ("repeat", 1, repeat::repeat),
        ("slice", 2, slices::slice),
        ("substring", 2, slices::substring),
        ("substr", 2, slices::substr),
        ("trim", 0, slices::trim),
        ("trimStart", 0, slices::trim_start),
        ("trimEnd", 0, slices::trim_end),
        ("toLowerCase", 0, case::to_lower_case),
        ("toUpperCase", 0, case::to_upper_case),
        ("toLocaleLowerCase", 0, case::to_lower_case),
        ("toLocaleUpperCase", 0, case::to_upper_case),
    ];
    for (name, length, native) in methods {
        replace(&prototype, name, length, NativeFunction::from_fn_ptr(native), context)?;
    }
    // Two names of one function each.
    for (alias, name) in [("trimLeft", "trimStart"), ("trimRight", "trimEnd")] {
        let function = prototype.get(JsString::from(name), context)?;
        super::put_method(&prototype, alias, function, context)?;
    }
    Ok(())
}

/// The text that a method was called on, before it is asked to be one.
fn coercible(this: &JsValue) -> JsResult<&JsValue> {
    if this.is_null_or_undefined() {
        return Err(JsNativeError::typ().with_message("cannot convert null or undefined to a string").into());
    }
    Ok(this)
}

fn argument(arguments: &[JsValue], index: usize) -> JsValue {
    arguments.get(index).cloned().unwrap_or_default()
}

/// A position given by a script, brought between 0 and the length of the text.
fn position(value: &JsValue, length: usize, context: &mut Context) -> JsResult<usize> {
    Ok(clamped(value.to_integer_or_infinity(context)?, length))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a length")]
fn clamped(value: boa_engine::value::IntegerOrInfinity, length: usize) -> usize {
    value.clamp_finite(0, length as i64) as usize
}

fn is_regexp(value: &JsValue, context: &mut Context) -> JsResult<bool> {
    let Some(object) = value.as_object() else { return Ok(false) };
    let matcher = object.get(JsSymbol::r#match(), context)?;
    if !matcher.is_undefined() {
        return Ok(matcher.to_boolean());
    }
    Ok(object.is::<RegExp>())
}

/// What an object brings along to be searched for.
fn method_of(value: &JsValue, symbol: JsSymbol, context: &mut Context) -> JsResult<Option<JsFunction>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    let method = object.get(symbol, context)?;
    if method.is_null_or_undefined() {
        return Ok(None);
    }
    match method.as_function() {
        Some(method) => Ok(Some(method)),
        None => Err(JsNativeError::typ().with_message("the value is not a function").into()),
    }
}
