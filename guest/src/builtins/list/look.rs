//! Methods that look for an element.

use boa_engine::{Context, JsObject, JsResult, JsValue, object::IndexPropertyValues};

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
    let found = visit(&array, |elements| {
        let length = elements.len();
        elements.rev().position(|element| element.strict_equals(item)).map(|behind| length - 1 - behind)
    });
    Ok(Some(found.map_or(JsValue::from(-1), JsValue::from)))
}

fn search(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    is_same: fn(&JsValue, &JsValue) -> bool,
) -> Option<Option<usize>> {
    let array = kept.plain(this)?;
    let item = arguments.first().cloned().unwrap_or_default();
    let from = arguments.get(1);
    visit(&array, |elements| {
        let from = index(from, elements.len(), 0)?;
        Some(elements.skip(from).position(|element| is_same(&element, &item)).map(|at| from + at))
    })
}

/// Looks at the elements of a plain array in the form in which they are kept.
fn visit<R: Default>(array: &JsObject, look: impl FnOnce(&mut dyn Elements<Item = JsValue>) -> R) -> R {
    match array.borrow().properties().index_property_values() {
        IndexPropertyValues::DenseI32(values) => look(&mut values.copied().map(JsValue::from)),
        IndexPropertyValues::DenseF64(values) => look(&mut values.copied().map(JsValue::from)),
        IndexPropertyValues::DenseElement(values) => look(&mut values.cloned()),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => R::default(),
    }
}

trait Elements: ExactSizeIterator + DoubleEndedIterator {}
impl<T: ExactSizeIterator + DoubleEndedIterator> Elements for T {}
