//! What an array must be so that nobody sees in which steps it is read or changed.

use boa_engine::{
    Context, JsObject, JsResult, JsSymbol, JsValue,
    builtins::object::OrdinaryObject,
    js_string,
    object::{IndexPropertyValues, Object, builtins::JsArray},
    property::PropertyKey,
};
use boa_gc::{Finalize, Trace};

use crate::{iteration::own, missing};

/// What was there before any script ran.
#[derive(Clone, Trace, Finalize)]
pub(super) struct Kept {
    /// Has the shape of an array without properties of its own; it is held, so that the address
    /// stays that of this shape.
    sample: JsObject,
    array: JsObject,
    array_prototype: JsObject,
    object_prototype: JsObject,
    species: JsObject,
}

impl Kept {
    pub(super) fn keep(context: &mut Context) -> JsResult<Self> {
        let constructors = context.intrinsics().constructors();
        let (array, array_prototype) = (constructors.array().constructor(), constructors.array().prototype());
        let object_prototype = constructors.object().prototype();
        let species = own(&array, JsSymbol::species()).and_then(|species| species.get().and_then(JsValue::as_object));
        let species = species.ok_or_else(missing)?;
        let sample = JsArray::new(context)?.into();
        Ok(Self { sample, array, array_prototype, object_prototype, species })
    }

    /// A value, if it is an array that is its elements alone: all are there, all are data, and no
    /// property is its own.
    pub(super) fn plain(&self, value: &JsValue) -> Option<JsObject> {
        let (array, length) = self.bare(value)?;
        (dense_length(&array)? as f64 == length).then_some(array)
    }

    /// A plain array that may become longer and shorter, with no setter in the way of a new
    /// element.
    pub(super) fn changeable(&self, value: &JsValue, context: &mut Context) -> Option<JsObject> {
        self.plain(value).filter(|array| self.takes_elements(array, context))
    }

    /// An array that has room for elements and none yet, as `new Array(n)` is, and for how many.
    pub(super) fn empty(&self, value: &JsValue, context: &mut Context) -> Option<(JsObject, usize)> {
        let (array, length) = self.bare(value)?;
        let is_empty = dense_length(&array)? == 0 && length > 0.0 && self.takes_elements(&array, context);
        is_empty.then_some((array, length as usize))
    }

    /// A value, if it is an array that has no properties but elements, and its length.
    pub(super) fn bare(&self, value: &JsValue) -> Option<(JsObject, f64)> {
        let object = value.as_object().filter(JsObject::is_array)?;
        let length = {
            let array = object.borrow();
            // The shape says which properties there are, with which attributes, and what the
            // prototype is.
            let is_bare = array.shape().to_addr_usize() == self.sample.borrow().shape().to_addr_usize();
            let length = array.properties().get(&js_string!("length").into()).filter(|_| is_bare)?;
            length.value().and_then(JsValue::as_number)?
        };
        Some((object, length))
    }

    fn takes_elements(&self, array: &JsObject, context: &mut Context) -> bool {
        let has_no_elements = |object: &JsObject| object.borrow().properties().index_property_keys().next().is_none();
        array.is_extensible(context).unwrap_or(false)
            && self.has_usual_prototypes()
            && has_no_elements(&self.array_prototype)
            && has_no_elements(&self.object_prototype)
    }

    /// Whether a method that makes a new array of a plain one makes a plain one, and asks nobody.
    pub(super) fn makes_arrays(&self) -> bool {
        let constructor = own(&self.array_prototype, js_string!("constructor"));
        let species = own(&self.array, JsSymbol::species());
        constructor.is_some_and(|property| is(property.value(), &self.array))
            && species.is_some_and(|property| is(property.get(), &self.species))
    }

    /// Whether `concat` spreads plain arrays, and asks nobody.
    pub(super) fn spreads_arrays(&self) -> bool {
        let key = PropertyKey::from(JsSymbol::is_concat_spreadable());
        let lacks = |object: &JsObject| !object.borrow().properties().contains_key(&key);
        self.has_usual_prototypes() && lacks(&self.array_prototype) && lacks(&self.object_prototype)
    }

    fn has_usual_prototypes(&self) -> bool {
        self.array_prototype.prototype().is_some_and(|above| JsObject::equals(&above, &self.object_prototype))
    }
}

fn is(value: Option<&JsValue>, object: &JsObject) -> bool {
    value.and_then(JsValue::as_object).is_some_and(|value| JsObject::equals(&value, object))
}

fn dense_length(object: &JsObject) -> Option<usize> {
    match object.borrow().properties().index_property_values() {
        IndexPropertyValues::DenseI32(values) => Some(values.len()),
        IndexPropertyValues::DenseF64(values) => Some(values.len()),
        IndexPropertyValues::DenseElement(values) => Some(values.len()),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => None,
    }
}

/// The elements of a plain array.
pub(super) fn elements(array: &JsObject) -> Vec<JsValue> {
    match array.borrow().properties().index_property_values() {
        IndexPropertyValues::DenseI32(values) => values.copied().map(JsValue::from).collect(),
        IndexPropertyValues::DenseF64(values) => values.copied().map(JsValue::from).collect(),
        IndexPropertyValues::DenseElement(values) => values.cloned().collect(),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => Vec::new(),
    }
}

/// Gives a plain array other elements.
pub(super) fn put_elements(array: &JsObject, elements: impl IntoIterator<Item = JsValue>, context: &mut Context) {
    let fresh: JsObject = JsArray::from_iter(elements, context).into();
    // Two plain arrays differ in nothing else.
    exchange(array, &fresh);
    // The old elements would else stay until the collector comes, which does not see how many they
    // are.
    let left = JsObject::new(context.root_shape(), None, OrdinaryObject);
    exchange(&fresh, &left.clone().upcast());
    *left.borrow_mut() = Object::default();
}

fn exchange(one: &JsObject, other: &JsObject) {
    std::mem::swap(&mut *one.borrow_mut(), &mut *other.borrow_mut());
}

/// The index that an argument means, from the start or from the end; none if to know it may run a
/// script.
pub(super) fn index(argument: Option<&JsValue>, length: usize, absent: usize) -> Option<usize> {
    let Some(argument) = argument.filter(|argument| !argument.is_undefined()) else { return Some(absent) };
    let number = argument.as_number()?.trunc();
    let length = length as f64;
    Some(match number {
        // What is no number counts as nothing.
        number if number.is_nan() => 0,
        number if number < 0.0 => (length + number).max(0.0) as usize,
        number => number.min(length) as usize,
    })
}
