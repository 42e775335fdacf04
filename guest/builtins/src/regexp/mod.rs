//! Regular expressions over large texts.
//!
//! The engine turns the whole text into UTF-16 at each `exec`, which makes every loop over the
//! matches of a text quadratic. Here a text is prepared once (see [`subject`]), a pattern is
//! compiled once (see [`pattern`]), and where nothing that a script could have put in the way is in
//! the way (see [`originals`]), a method finds all of its matches in one go. Everywhere else the
//! engine's own methods run, which ask for `exec` at each match, and find the one of this module.

mod array;
mod exec;
mod iterator;
mod legacy;
mod matches;
mod originals;
mod pattern;
mod replace;
mod spaces;
mod split;
mod subject;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction,
    builtins::regexp::RegExp,
    js_string,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::{PropertyDescriptor, PropertyKey},
};
use boa_gc::{Gc, Trace};

use originals::{Getters, Originals};

/// Puts the methods in the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    legacy::install(&context.intrinsics().constructors().regexp().constructor(), context)?;
    let prototype = context.intrinsics().constructors().regexp().prototype();
    let getters = Gc::new(Getters::keep(context)?);
    put(&prototype, js_string!("exec"), "exec", 1, exec::exec, &getters, context)?;
    put(&prototype, js_string!("compile"), "compile", 2, exec::compile, &getters, context)?;

    let originals = Gc::new(Originals::keep(getters, context)?);
    put(&prototype, js_string!("test"), "test", 1, exec::test, &originals, context)?;
    put(&prototype, JsSymbol::search(), "[Symbol.search]", 1, exec::search, &originals, context)?;
    put(&prototype, JsSymbol::r#match(), "[Symbol.match]", 1, matches::r#match, &originals, context)?;
    put(&prototype, JsSymbol::match_all(), "[Symbol.matchAll]", 1, iterator::match_all, &originals, context)?;
    put(&prototype, JsSymbol::replace(), "[Symbol.replace]", 2, replace::replace, &originals, context)?;
    put(&prototype, JsSymbol::split(), "[Symbol.split]", 2, split::split, &originals, context)?;
    put(&originals.iterator_prototype(), js_string!("next"), "next", 0, iterator::next, &originals, context)
}

/// A method that knows the originals.
type Method<T> = fn(&JsValue, &[JsValue], &T, &mut Context) -> JsResult<JsValue>;

fn put<T: Trace + 'static>(
    prototype: &JsObject,
    key: impl Into<PropertyKey>,
    name: &str,
    length: usize,
    method: Method<T>,
    originals: &Gc<T>,
    context: &mut Context,
) -> JsResult<()> {
    let native = NativeFunction::from_copy_closure_with_captures(
        move |this, arguments, originals: &Gc<T>, context| method(this, arguments, originals, context),
        originals.clone(),
    );
    let function =
        FunctionObjectBuilder::new(context.realm(), native).name(JsString::from(name)).length(length).build();
    let descriptor =
        PropertyDescriptor::builder().value(function).writable(true).enumerable(false).configurable(true).build();
    prototype.define_property_or_throw(key, descriptor, context).map(|_| ())
}

/// A regular expression, not just any object.
fn regexp(value: &JsValue) -> Option<JsObject> {
    value.as_object().filter(JsObject::is::<RegExp>)
}

fn object(value: &JsValue, method: &str) -> JsResult<JsObject> {
    value.as_object().ok_or_else(|| {
        let message = format!("RegExp.prototype.{method} was called on something that is not an object");
        JsNativeError::typ().with_message(message).into()
    })
}

fn argument(arguments: &[JsValue], index: usize) -> JsValue {
    arguments.get(index).cloned().unwrap_or_default()
}

fn method(object: &JsObject, key: impl Into<PropertyKey>, context: &mut Context) -> JsResult<JsFunction> {
    let function = object.get(key, context)?.as_function();
    function.ok_or_else(|| JsNativeError::typ().with_message("the engine lacks a built-in").into())
}

/// The next position at which an empty match may be tried.
fn advanced(text: &JsString, index: usize, is_full_unicode: bool) -> usize {
    let units = text.as_str();
    let is_pair = is_full_unicode
        && matches!(units.get(index), Some(0xD800..=0xDBFF))
        && matches!(units.get(index + 1), Some(0xDC00..=0xDFFF));
    if is_pair { index + 2 } else { index + 1 }
}

#[cfg(test)]
mod tests;
