//! The iteration protocol, as native code goes through it.
//!
//! An array whose iteration no script has changed is walked through by its indices: nobody could know.

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsSymbol, JsValue, js_string,
    object::builtins::JsFunction,
    property::{PropertyDescriptor, PropertyKey},
};

use crate::{globals, values::plain};

/// An iteration that has begun.
pub(super) enum Walk {
    Elements { array: JsObject, next: u64 },
    Protocol { iterator: JsObject, next: JsValue },
}

impl Walk {
    /// The specification's GetIterator.
    pub(super) fn over(iterable: &JsValue, context: &mut Context) -> JsResult<Self> {
        if let Some(array) = iterable.as_object().filter(|object| is_plain(object, context)) {
            return Ok(Self::Elements { array, next: 0 });
        }
        let method = globals::get_of(iterable, JsSymbol::iterator().into(), context)?;
        let Some(method) = method.as_callable() else {
            let message = format!("a value of the type {} cannot be iterated", iterable.type_of());
            return Err(JsNativeError::typ().with_message(message).into());
        };
        Self::by(&method, iterable, context)
    }

    /// The specification's GetIteratorFromMethod.
    pub(super) fn by(method: &JsObject, iterable: &JsValue, context: &mut Context) -> JsResult<Self> {
        let iterator = method.call(iterable, &[], context)?;
        let Some(iterator) = iterator.as_object() else {
            return Err(JsNativeError::typ().with_message("the iterator is not an object").into());
        };
        let next = iterator.get(js_string!("next"), context)?;
        Ok(Self::Protocol { iterator, next })
    }

    /// The specification's IteratorStepValue.
    pub(super) fn step(&mut self, context: &mut Context) -> JsResult<Option<JsValue>> {
        match self {
            Self::Elements { array, next } => {
                let index = *next;
                let length = array.get(js_string!("length"), context)?.to_length(context)?;
                if index >= length {
                    return Ok(None);
                }
                *next += 1;
                match plain::element(array, index) {
                    Some(value) => Ok(Some(value)),
                    None => array.get(index, context).map(Some),
                }
            }
            Self::Protocol { iterator, next } => {
                let Some(next) = next.as_callable() else {
                    return Err(JsNativeError::typ().with_message("the iterator has no function next").into());
                };
                let result = next.call(&iterator.clone().into(), &[], context)?;
                let Some(result) = result.as_object() else {
                    return Err(JsNativeError::typ().with_message("the iterator's result is not an object").into());
                };
                if result.get(js_string!("done"), context)?.to_boolean() {
                    return Ok(None);
                }
                result.get(js_string!("value"), context).map(Some)
            }
        }
    }

    /// The specification's IteratorClose, where nothing has failed.
    pub(super) fn close(&self, context: &mut Context) -> JsResult<()> {
        let Self::Protocol { iterator, .. } = self else { return Ok(()) };
        let method = iterator.get(js_string!("return"), context)?;
        if method.is_null_or_undefined() {
            return Ok(());
        }
        let Some(method) = method.as_callable() else {
            return Err(JsNativeError::typ().with_message("the iterator's return is not a function").into());
        };
        if method.call(&iterator.clone().into(), &[], context)?.is_object() {
            return Ok(());
        }
        Err(JsNativeError::typ().with_message("the iterator's return gave no object").into())
    }

    /// The specification's IteratorClose, where something has failed: that is what is told.
    pub(super) fn close_after(&self, error: JsError, context: &mut Context) -> JsError {
        let _ = self.close(context);
        error
    }
}

/// Whether to iterate an object is to read its elements, one by one, up to its length.
pub(crate) fn is_plain(object: &JsObject, context: &mut Context) -> bool {
    if !object.is_array() {
        return false;
    }
    let intrinsics = context.intrinsics();
    let prototype = intrinsics.constructors().array().prototype();
    let values = intrinsics.objects().array_prototype_values();
    let iterator = intrinsics.objects().iterator_prototypes().array();
    let above = [intrinsics.constructors().iterator().prototype(), intrinsics.constructors().object().prototype()];
    object.prototype().is_some_and(|own| JsObject::equals(&own, &prototype))
        && own(object, JsSymbol::iterator()).is_none()
        && own(&prototype, JsSymbol::iterator()).is_some_and(|method| is(method.value(), &values))
        && own(&iterator, js_string!("next")).is_some_and(|method| globals::is_array_next(method.value()))
        && std::iter::once(&iterator).chain(&above).all(|object| own(object, js_string!("return")).is_none())
        && iterator
            .prototype()
            .is_some_and(|above_it| above.first().is_some_and(|first| JsObject::equals(&above_it, first)))
}

/// An own property of an object without exotic behaviour.
pub(super) fn own(object: &JsObject, key: impl Into<PropertyKey>) -> Option<PropertyDescriptor> {
    object.borrow().properties().get(&key.into())
}

fn is(value: Option<&JsValue>, function: &JsFunction) -> bool {
    value.and_then(JsValue::as_object).is_some_and(|value| JsObject::equals(&value, function))
}
