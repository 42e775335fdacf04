//! Methods that make a new array.

use boa_engine::{Context, JsResult, JsValue, object::builtins::JsArray};

use super::{
    change::range_of_splice,
    plain::{Kept, elements, index},
};

/// `slice(start, end)`.
pub(super) fn slice(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(array) = kept.plain(this).filter(|_| kept.makes_arrays()) else { return Ok(None) };
    let elements = elements(&array);
    let length = elements.len();
    let (start, end) = (index(arguments.first(), length, 0), index(arguments.get(1), length, length));
    let (Some(start), Some(end)) = (start, end) else { return Ok(None) };
    let part = elements.into_iter().take(end).skip(start);
    Ok(Some(JsArray::from_iter(part, context).into()))
}

/// `concat(...items)`.
pub(super) fn concat(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    if !kept.makes_arrays() || !kept.spreads_arrays() {
        return Ok(None);
    }
    let Some(array) = kept.plain(this) else { return Ok(None) };
    let mut all = elements(&array);
    for argument in arguments {
        if !argument.is_object() {
            all.push(argument.clone());
            continue;
        }
        let Some(other) = kept.plain(argument) else { return Ok(None) };
        all.extend(elements(&other));
    }
    Ok(Some(JsArray::from_iter(all, context).into()))
}

/// `toSpliced(start, count, ...items)`.
pub(super) fn to_spliced(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(array) = kept.plain(this) else { return Ok(None) };
    let mut elements = elements(&array);
    let Some((start, count)) = range_of_splice(arguments, elements.len()) else { return Ok(None) };
    let items = arguments.get(2..).unwrap_or_default().iter().cloned();
    elements.splice(start..start + count, items);
    Ok(Some(JsArray::from_iter(elements, context).into()))
}

/// `toReversed()`.
pub(super) fn to_reversed(
    this: &JsValue,
    _: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(array) = kept.plain(this) else { return Ok(None) };
    Ok(Some(JsArray::from_iter(elements(&array).into_iter().rev(), context).into()))
}
