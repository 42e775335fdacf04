//! Methods that change an array.

use std::hint::black_box;

use boa_engine::{Context, JsResult, JsValue, object::builtins::JsArray};

use super::plain::{Kept, elements, index, put_elements};

/// Elements that an array of holes is filled with in one go: those of 1 GiB.
const MAX_FILLED: usize = 1 << 27;

/// `splice(start, count, ...items)`.
pub(super) fn splice(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(array) = kept.changeable(this, context).filter(|_| kept.makes_arrays()) else { return Ok(None) };
    let mut elements = elements(&array);
    let Some((start, count)) = range_of_splice(arguments, elements.len()) else { return Ok(None) };
    let items = arguments.get(2..).unwrap_or_default().iter().cloned();
    let removed: Vec<JsValue> = elements.splice(start..start + count, items).collect();
    put_elements(&array, elements, context);
    Ok(Some(JsArray::from_iter(removed, context).into()))
}

/// Where the arguments of a splice begin, and how many elements they remove.
pub(super) fn range_of_splice(arguments: &[JsValue], length: usize) -> Option<(usize, usize)> {
    let start = index(arguments.first(), length, 0)?;
    let count = match arguments {
        [] => 0,
        [_] => length - start,
        [_, count, ..] if count.is_undefined() => 0,
        // At least none, and of what is no number, none.
        [_, count, ..] => count.as_number()?.max(0.0).min((length - start) as f64) as usize,
    };
    Some((start, count))
}

/// `reverse()`.
pub(super) fn reverse(this: &JsValue, _: &[JsValue], kept: &Kept, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(array) = kept.changeable(this, context) else { return Ok(None) };
    let elements = elements(&array);
    put_elements(&array, elements.into_iter().rev(), context);
    Ok(Some(this.clone()))
}

/// `fill(value, start, end)`.
pub(super) fn fill(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    if let Some((array, length)) = kept.empty(this, context) {
        if !matches!(arguments, [] | [_]) {
            return Ok(None);
        }
        if length > MAX_FILLED {
            // Where there is no room for so many, the memory limit ends the run here, and not when
            // the engine has made one after the other.
            black_box(Vec::<JsValue>::with_capacity(MAX_FILLED));
            return Ok(None);
        }
        let value = arguments.first().cloned().unwrap_or_default();
        put_elements(&array, std::iter::repeat_n(value, length), context);
        return Ok(Some(this.clone()));
    }
    let Some(array) = kept.changeable(this, context) else { return Ok(None) };
    let mut elements = elements(&array);
    let length = elements.len();
    let (start, end) = (index(arguments.get(1), length, 0), index(arguments.get(2), length, length));
    let (Some(start), Some(end)) = (start, end) else { return Ok(None) };
    let value = arguments.first().cloned().unwrap_or_default();
    if let Some(filled) = elements.get_mut(start..end) {
        filled.fill(value);
        put_elements(&array, elements, context);
    }
    Ok(Some(this.clone()))
}
