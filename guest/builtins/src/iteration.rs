//! The iteration protocol, as native code goes through it.
//!
//! An array whose iteration no script has changed is walked through by its indices: nobody could
//! know.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsSymbol, JsValue, js_string,
    object::builtins::JsArray,
    property::{PropertyDescriptor, PropertyKey},
    value::JsVariant,
};

use belljar_guest_engine::{originals, plain};

/// An iteration that has begun.
pub(crate) enum Walk {
    Elements { array: JsObject, next: u64 },
    Protocol { iterator: JsObject, next: JsValue },
}

impl Walk {
    /// The specification's GetIterator.
    pub(crate) fn over(iterable: &JsValue, context: &mut Context) -> JsResult<Self> {
        if let Some(array) = iterable.as_object().filter(is_plain) {
            return Ok(Self::Elements { array, next: 0 });
        }
        let method = if iterable.is_null_or_undefined() {
            JsValue::undefined()
        } else {
            originals::get_of(iterable, JsSymbol::iterator().into(), context)?
        };
        let Some(method) = method.as_callable() else {
            return Err(JsNativeError::typ().with_message(not_iterable(iterable)).into());
        };
        Self::by(&method, iterable, context)
    }

    /// The specification's GetIteratorFromMethod.
    pub(crate) fn by(method: &JsObject, iterable: &JsValue, context: &mut Context) -> JsResult<Self> {
        let iterator = method.call(iterable, &[], context)?;
        let Some(iterator) = iterator.as_object() else {
            return Err(JsNativeError::typ()
                .with_message("Result of the Symbol.iterator method is not an object")
                .into());
        };
        let next = iterator.get(js_string!("next"), context)?;
        Ok(Self::Protocol { iterator, next })
    }

    /// The specification's IteratorStepValue.
    pub(crate) fn step(&mut self, context: &mut Context) -> JsResult<Option<JsValue>> {
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
    pub(crate) fn close(&self, context: &mut Context) -> JsResult<()> {
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
    pub(crate) fn close_after(&self, error: JsError, context: &mut Context) -> JsError {
        let _ = self.close(context);
        error
    }
}

/// What the engine says of a value that is not iterable and has no name in the source.
fn not_iterable(value: &JsValue) -> String {
    let text = match value.variant() {
        JsVariant::Undefined => "undefined".to_owned(),
        JsVariant::Null
        | JsVariant::Boolean(_)
        | JsVariant::Integer32(_)
        | JsVariant::Float64(_)
        | JsVariant::String(_) => {
            format!("{} {}", value.type_of(), value.display())
        }
        _ => value.type_of().to_owned(),
    };
    format!("{text} is not iterable (cannot read property Symbol(Symbol.iterator))")
}

/// What was there before any script ran.
struct Kept {
    /// Has the shape of an array without properties of its own; it is held, so that the address
    /// stays that of this shape.
    sample: JsObject,
    prototype: JsObject,
    values: JsObject,
    iterator_prototype: JsObject,
    next: JsObject,
    /// What all arrays and all iterators inherit from, in the end.
    object_prototype: JsObject,
    /// What iterators inherit from.
    above: JsObject,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Keeps what [`is_plain`] compares with.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let sample = JsArray::new(context)?.into();
    let intrinsics = context.intrinsics();
    let iterator_prototype = intrinsics.objects().iterator_prototypes().array();
    let next = own(&iterator_prototype, js_string!("next")).and_then(|next| next.value().and_then(JsValue::as_object));
    let kept = Kept {
        sample,
        prototype: intrinsics.constructors().array().prototype(),
        values: intrinsics.objects().array_prototype_values().into(),
        next: next.ok_or_else(super::missing)?,
        iterator_prototype,
        object_prototype: intrinsics.constructors().object().prototype(),
        above: intrinsics.constructors().iterator().prototype(),
    };
    KEPT.set(Some(kept));
    Ok(())
}

/// Whether to iterate an object is to read its elements, one by one, up to its length.
fn is_plain(object: &JsObject) -> bool {
    // The shape says which properties there are, but for elements, and what the prototype is.
    object.is_array()
        && KEPT.with_borrow(|kept| kept.as_ref().is_some_and(|kept| kept.is_shape_of(object) && kept.holds()))
}

impl Kept {
    fn is_shape_of(&self, object: &JsObject) -> bool {
        object.borrow().shape().to_addr_usize() == self.sample.borrow().shape().to_addr_usize()
    }

    /// Whether no script has changed how arrays are iterated.
    fn holds(&self) -> bool {
        let has_no_return =
            |object: &JsObject| !object.borrow().properties().contains_key(&js_string!("return").into());
        own(&self.prototype, JsSymbol::iterator()).is_some_and(|method| is(method.value(), &self.values))
            && own(&self.iterator_prototype, js_string!("next")).is_some_and(|next| is(next.value(), &self.next))
            && inherits(&self.iterator_prototype, &self.above)
            && inherits(&self.above, &self.object_prototype)
            && [&self.iterator_prototype, &self.above, &self.object_prototype].into_iter().all(has_no_return)
    }
}

fn inherits(object: &JsObject, from: &JsObject) -> bool {
    object.prototype().is_some_and(|prototype| JsObject::equals(&prototype, from))
}

/// An own property of an object without exotic behaviour.
pub(super) fn own(object: &JsObject, key: impl Into<PropertyKey>) -> Option<PropertyDescriptor> {
    object.borrow().properties().get(&key.into())
}

fn is(value: Option<&JsValue>, function: &JsObject) -> bool {
    value.and_then(JsValue::as_object).is_some_and(|value| JsObject::equals(&value, function))
}
