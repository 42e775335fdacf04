//! Methods that look for an element.

use boa_engine::{Context, JsResult, JsValue, object::IndexPropertyValues};

use super::plain::{Kept, index};

/// `indexOf(item, from)`.
pub(super) fn index_of(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    _: &mut Context,
) -> JsResult<Option<JsValue>> {
    Ok(search(this, arguments, kept, JsValue::strict_equals).map(|found| match found {
        Some(at) => JsValue::from(at),
        None => JsValue::from(-1),
    }))
}

/// `includes(item, from)`.
pub(super) fn includes(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    _: &mut Context,
) -> JsResult<Option<JsValue>> {
    Ok(search(this, arguments, kept, JsValue::same_value_zero).map(|found| found.is_some().into()))
}

/// `lastIndexOf(item)`.
pub(super) fn last_index_of(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    _: &mut Context,
) -> JsResult<Option<JsValue>> {
    let ([item], Some(array)) = (arguments, kept.plain(this)) else { return Ok(None) };
    let array = array.borrow();
    let found = match array.properties().index_property_values() {
        IndexPropertyValues::DenseI32(mut values) => {
            item.as_number().and_then(|item| values.rposition(|value| f64::from(*value) == item))
        }
        IndexPropertyValues::DenseF64(mut values) => {
            item.as_number().and_then(|item| values.rposition(|value| *value == item))
        }
        IndexPropertyValues::DenseElement(mut values) => values.rposition(|value| value.strict_equals(item)),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => return Ok(None),
    };
    Ok(Some(found.map_or(JsValue::from(-1), JsValue::from)))
}

/// The index of an item at or after another, in the form in which the elements are kept.
fn search(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    is_same: fn(&JsValue, &JsValue) -> bool,
) -> Option<Option<usize>> {
    let array = kept.plain(this)?;
    let item = arguments.first().cloned().unwrap_or_default();
    let number = item.as_number();
    let array = array.borrow();
    let from = |length| index(arguments.get(1), length, 0);
    let (from, found) = match array.properties().index_property_values() {
        IndexPropertyValues::DenseI32(values) => {
            let from = from(values.len())?;
            (from, number.and_then(|item| values.skip(from).position(|value| f64::from(*value) == item)))
        }
        IndexPropertyValues::DenseF64(values) => {
            let from = from(values.len())?;
            let is_same =
                |value: &f64, item: f64| *value == item || is_same(&JsValue::from(*value), &JsValue::from(item));
            (from, number.and_then(|item| values.skip(from).position(|value| is_same(value, item))))
        }
        IndexPropertyValues::DenseElement(values) => {
            let from = from(values.len())?;
            (from, values.skip(from).position(|value| is_same(value, &item)))
        }
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => return None,
    };
    Some(found.map(|at| from + at))
}
