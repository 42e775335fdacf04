//! Properties that are nothing but data: reading one runs nothing of the script's.

use boa_engine::{
    JsObject, JsValue,
    object::IndexPropertyValues,
    property::{PropertyDescriptor, PropertyKey},
};

/// An own property of an object without exotic behaviour, if it is a plain value.
#[inline]
pub fn member(object: &JsObject, key: &PropertyKey) -> Option<JsValue> {
    object.borrow().properties().get(key)?.value().cloned()
}

/// An element of an array, if it has it itself.
#[inline]
pub fn element(object: &JsObject, index: u64) -> Option<JsValue> {
    let index = u32::try_from(index).ok().filter(|_| object.is_array())?;
    match object.borrow().properties().index_property_values() {
        IndexPropertyValues::DenseElement(mut values) => values.nth(index as usize).cloned(),
        IndexPropertyValues::DenseI32(mut values) => values.nth(index as usize).copied().map(JsValue::from),
        IndexPropertyValues::DenseF64(mut values) => values.nth(index as usize).copied().map(JsValue::from),
        IndexPropertyValues::SparseElement(_) | IndexPropertyValues::SparseProperty(_) => {
            member(object, &PropertyKey::from(index))
        }
    }
}

/// Puts another value in the place of an element that an array has itself, and says whether that
/// could be done so.
#[inline]
pub fn replace_element(object: &JsObject, index: u64, value: &JsValue) -> bool {
    let Ok(index) = u32::try_from(index) else { return false };
    let key = PropertyKey::from(index);
    let is_plain = object.is_array()
        && object.borrow().properties().get(&key).is_some_and(|property| {
            property.value().is_some()
                && property.writable() == Some(true)
                && property.enumerable() == Some(true)
                && property.configurable() == Some(true)
        });
    is_plain && object.insert_property(key, property(value.clone()))
}

/// A property as an assignment makes it.
#[inline]
pub fn property(value: JsValue) -> PropertyDescriptor {
    PropertyDescriptor::builder().value(value).writable(true).enumerable(true).configurable(true).build()
}
