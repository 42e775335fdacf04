//! `Map` and `Set`.
//!
//! The engine hashes a text unit by unit, with a hash that is slow and made for other threats, and
//! locks a map while it is iterated. Here are tables of our own (see [`table`]) behind the same
//! constructors and prototypes: the engine's function objects stay where they are, with all their
//! properties, and do something else.

mod algebra;
mod iterator;
mod map;
mod set;

use boa_engine::{
    Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, js_string, property::PropertyKey,
};

use belljar_guest_engine::{
    collections::{Collection, Cursor, Table},
    objects::Native,
};

use super::{iteration::own, supplant};

/// Puts the methods into the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    map::install(context)?;
    set::install(context)?;
    algebra::install(context)?;
    iterator::install(context)
}

fn missing(name: &str, method: &str) -> JsNativeError {
    let message = format!("{name}.prototype.{method} was called on something that is not a {name}");
    JsNativeError::typ().with_message(message)
}

fn read<C: Collection, R>(this: &JsValue, method: &str, work: impl FnOnce(&Table) -> R) -> JsResult<R> {
    match this.as_object().as_ref().and_then(JsObject::downcast_ref::<C>) {
        Some(collection) => Ok(work(collection.table())),
        None => Err(missing(C::NAME, method).into()),
    }
}

fn change<C: Collection, R>(this: &JsValue, method: &str, work: impl FnOnce(&mut Table) -> R) -> JsResult<R> {
    match this.as_object().as_ref().and_then(JsObject::downcast_mut::<C>) {
        Some(mut collection) => Ok(work(collection.table_mut())),
        None => Err(missing(C::NAME, method).into()),
    }
}

fn has<C: Collection>(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    read::<C, _>(this, "has", |table| table.has(arguments.get_or_undefined(0)).into())
}

fn delete<C: Collection>(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    change::<C, _>(this, "delete", |table| table.remove(arguments.get_or_undefined(0)).into())
}

fn clear<C: Collection>(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    change::<C, _>(this, "clear", Table::clear)?;
    Ok(JsValue::undefined())
}

fn size<C: Collection>(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    read::<C, _>(this, "size", |table| table.len().into())
}

fn for_each<C: Collection>(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    read::<C, _>(this, "forEach", |_| ())?;
    let Some(callback) = arguments.get_or_undefined(0).as_callable() else {
        let message = format!("{}.prototype.forEach takes a function", C::NAME);
        return Err(JsNativeError::typ().with_message(message).into());
    };
    let mut cursor = Cursor::default();
    while let Some((key, value)) = step::<C>(this, &mut cursor)? {
        callback.call(arguments.get_or_undefined(1), &[value, key, this.clone()], context)?;
    }
    Ok(JsValue::undefined())
}

/// The next entry, copied: a script may run before the one after that is asked for.
fn step<C: Collection>(this: &JsValue, cursor: &mut Cursor) -> JsResult<Option<(JsValue, JsValue)>> {
    read::<C, _>(this, "forEach", |table| table.step(cursor).map(|(key, value)| (key.clone(), value.clone())))
}

/// The object that `new` makes, before anything is put into it.
fn constructed<C: Collection>(new_target: &JsValue, empty: C, context: &mut Context) -> JsResult<JsObject> {
    let Some(new_target) = new_target.as_object() else {
        let message = format!("{} is a class: put `new` before it", C::NAME);
        return Err(JsNativeError::typ().with_message(message).into());
    };
    let prototype = new_target.get(js_string!("prototype"), context)?.as_object();
    let prototype = prototype.unwrap_or_else(|| C::prototype(context));
    Ok(JsObject::new(context.root_shape(), prototype, empty).upcast())
}

/// Lets the engine's own function under a key do something else.
fn put(object: &JsObject, key: impl Into<PropertyKey>, native: Native, context: &Context) -> JsResult<()> {
    let native = NativeFunction::from_fn_ptr(native);
    let function = own(object, key).and_then(|property| {
        let value = property.value().or_else(|| property.get());
        value.and_then(JsValue::as_object)
    });
    match function {
        Some(function) => supplant(&function, native, context),
        None => Err(super::missing().into()),
    }
}

fn put_common<C: Collection>(prototype: &JsObject, context: &Context) -> JsResult<()> {
    put(prototype, js_string!("has"), has::<C>, context)?;
    put(prototype, js_string!("delete"), delete::<C>, context)?;
    put(prototype, js_string!("clear"), clear::<C>, context)?;
    put(prototype, js_string!("size"), size::<C>, context)?;
    put(prototype, js_string!("forEach"), for_each::<C>, context)
}

#[cfg(test)]
mod tests;
