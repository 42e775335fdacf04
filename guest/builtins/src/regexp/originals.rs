//! The engine's own built-ins, and whether a script has put its own in their places.
//!
//! A script may replace `RegExp.prototype.exec`, the getters of flags, the constructor, or give one
//! expression properties of its own, and the specification says which of these each method asks,
//! and when. Where all are as they were, none of these questions can be observed, and none needs to
//! be asked.

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue,
    builtins::regexp::RegExp,
    js_string,
    object::builtins::JsFunction,
    property::{PropertyDescriptor, PropertyKey},
};
use boa_gc::{Finalize, Trace};

use super::{method, pattern::FLAGS};

/// What reads an expression, and what runs it where belljar does not.
#[derive(Trace, Finalize)]
pub(super) struct Getters {
    /// By name, in the order of [`FLAGS`].
    pub(super) flags: Vec<(JsString, JsFunction)>,
    pub(super) exec: JsFunction,
    pub(super) compile: JsFunction,
}

impl Getters {
    pub(super) fn keep(context: &mut Context) -> JsResult<Self> {
        let prototype = context.intrinsics().constructors().regexp().prototype();
        let mut flags = Vec::new();
        for (_, name) in FLAGS {
            let name = JsString::from(name);
            flags.push((name.clone(), getter(&prototype, name)?));
        }
        Ok(Self {
            flags,
            exec: method(&prototype, js_string!("exec"), context)?,
            compile: method(&prototype, js_string!("compile"), context)?,
        })
    }
}

/// All that methods of regular expressions ask for by name.
#[derive(Trace, Finalize)]
pub(super) struct Originals {
    pub(super) getters: boa_gc::Gc<Getters>,
    constructor: JsObject,
    prototype: JsObject,
    iterator_prototype: JsObject,
    /// Holds the shape of an expression without properties of its own, so that its address stays
    /// that of this shape.
    sample: JsObject,
    /// The `exec` of this module.
    exec: JsFunction,
    flags: JsFunction,
    species: JsFunction,
}

impl Originals {
    /// To be called when `exec` is in place, and before the others are.
    pub(super) fn keep(getters: boa_gc::Gc<Getters>, context: &mut Context) -> JsResult<Self> {
        let constructor = context.intrinsics().constructors().regexp().constructor();
        let prototype = context.intrinsics().constructors().regexp().prototype();
        let sample = constructor.construct(&[js_string!().into()], None, context)?;
        let match_all = method(&prototype, JsSymbol::match_all(), context)?;
        let iterator = match_all.call(&sample.clone().into(), &[js_string!().into()], context)?;
        let iterator_prototype = iterator.as_object().and_then(|iterator| iterator.prototype()).ok_or_else(missing)?;
        Ok(Self {
            getters,
            exec: method(&prototype, js_string!("exec"), context)?,
            flags: getter(&prototype, js_string!("flags"))?,
            species: getter(&constructor, JsSymbol::species())?,
            iterator_prototype,
            constructor,
            prototype,
            sample,
        })
    }

    pub(super) fn iterator_prototype(&self) -> JsObject {
        self.iterator_prototype.clone()
    }

    /// Whether this is the `exec` of this module.
    pub(super) fn is_exec(&self, value: &JsValue) -> bool {
        is(Some(value), &self.exec)
    }

    /// Whether this is an expression of which neither `exec` nor a flag can be anything but the
    /// built-in.
    pub(super) fn plain(&self, object: &JsObject) -> bool {
        // The shape says which properties an object has, with which attributes, and what its
        // prototype is.
        object.is::<RegExp>()
            && shape(object) == shape(&self.sample)
            && self.has_value(js_string!("exec"), &self.exec)
            && self.has_getter(js_string!("flags"), &self.flags)
            && self.getters.flags.iter().all(|(name, getter)| self.has_getter(name.clone(), getter))
    }

    /// Whether a copy of a plain expression, made as the specification says, is one too, and nobody
    /// could know.
    pub(super) fn copies_plainly(&self) -> bool {
        self.has_value(js_string!("constructor"), &self.constructor)
            && own(&self.prototype, JsSymbol::r#match()).is_some_and(|descriptor| descriptor.is_data_descriptor())
            && own(&self.constructor, JsSymbol::species()).is_some_and(|descriptor| is(descriptor.get(), &self.species))
    }

    /// The specification's SpeciesConstructor.
    pub(super) fn species_of(&self, object: &JsObject, context: &mut Context) -> JsResult<JsObject> {
        let constructor = object.get(js_string!("constructor"), context)?;
        if constructor.is_undefined() {
            return Ok(self.constructor.clone());
        }
        let Some(constructor) = constructor.as_object() else {
            return Err(JsNativeError::typ().with_message("the property constructor is not an object").into());
        };
        let species = constructor.get(JsSymbol::species(), context)?;
        if species.is_null_or_undefined() {
            return Ok(self.constructor.clone());
        }
        species
            .as_object()
            .filter(JsObject::is_constructor)
            .ok_or_else(|| JsNativeError::typ().with_message("the property Symbol.species is not a constructor").into())
    }

    fn has_value(&self, key: JsString, value: &JsObject) -> bool {
        own(&self.prototype, key).is_some_and(|descriptor| is(descriptor.value(), value))
    }

    fn has_getter(&self, key: JsString, getter: &JsObject) -> bool {
        own(&self.prototype, key).is_some_and(|descriptor| is(descriptor.get(), getter))
    }
}

fn shape(object: &JsObject) -> usize {
    object.borrow().shape().to_addr_usize()
}

fn own(object: &JsObject, key: impl Into<PropertyKey>) -> Option<PropertyDescriptor> {
    object.borrow().properties().get(&key.into())
}

fn is(value: Option<&JsValue>, object: &JsObject) -> bool {
    value.and_then(JsValue::as_object).is_some_and(|value| JsObject::equals(&value, object))
}

fn getter(object: &JsObject, key: impl Into<PropertyKey>) -> JsResult<JsFunction> {
    let getter = own(object, key).and_then(|descriptor| descriptor.get().and_then(JsValue::as_function));
    getter.ok_or_else(|| missing().into())
}

fn missing() -> JsNativeError {
    JsNativeError::typ().with_message("the engine lacks a built-in")
}
