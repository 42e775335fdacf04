//! `matchAll`.

use std::cell::Cell;

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsString, JsValue,
    builtins::iterable::create_iter_result_object, js_string,
};
use boa_gc::{Finalize, Trace};

use super::{
    argument, array,
    exec::{Outcome, regexp_exec, step_over_nothing},
    object,
    originals::Originals,
};

/// The specification's RegExp String Iterator.
#[derive(Trace, Finalize, JsData)]
pub(super) struct Matches {
    regexp: JsObject,
    text: JsString,
    #[unsafe_ignore_trace]
    is_global: bool,
    #[unsafe_ignore_trace]
    is_full_unicode: bool,
    #[unsafe_ignore_trace]
    is_done: Cell<bool>,
}

/// `RegExp.prototype[Symbol.matchAll]`.
pub(super) fn match_all(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "[Symbol.matchAll]")?;
    let text = argument(arguments, 0).to_string(context)?;
    let constructor = originals.species_of(&regexp, context)?;
    let flags = regexp.get(js_string!("flags"), context)?.to_string(context)?;
    let copy = constructor.construct(&[this.clone(), flags.clone().into()], Some(&constructor), context)?;
    let last_index = regexp.get(js_string!("lastIndex"), context)?.to_length(context)?;
    copy.set(js_string!("lastIndex"), last_index, true, context)?;
    let matches = Matches {
        regexp: copy,
        text,
        is_global: flags.contains(b'g'),
        is_full_unicode: flags.contains(b'u') || flags.contains(b'v'),
        is_done: Cell::new(false),
    };
    Ok(JsObject::new(context.root_shape(), originals.iterator_prototype(), matches).upcast().into())
}

/// `%RegExpStringIteratorPrototype%.next`. No borrow is held while a script's `exec` runs: that may
/// ask for the next one, too.
pub(super) fn next(this: &JsValue, _: &[JsValue], originals: &Originals, context: &mut Context) -> JsResult<JsValue> {
    let iterator = this.as_object().and_then(|object| object.downcast::<Matches>().ok()).ok_or_else(|| {
        JsNativeError::typ().with_message("next was called on something that is not an iterator over matches")
    })?;
    let (regexp, text, is_global, is_full_unicode, is_done) = {
        let object = iterator.borrow();
        let matches = object.data();
        let Matches { regexp, text, is_global, is_full_unicode, is_done } = matches;
        (regexp.clone(), text.clone(), *is_global, *is_full_unicode, is_done.get())
    };
    if is_done {
        return Ok(result(None, context));
    }
    let outcome = regexp_exec(&regexp, &text, originals, context)?;
    if !is_global || matches!(outcome, Outcome::None) {
        iterator.borrow().data().is_done.set(true);
    }
    let (found, is_empty) = match outcome {
        Outcome::None => return Ok(result(None, context)),
        Outcome::Found(pattern, found) => (array::of_match(&found, &text, &pattern, context), found.range().is_empty()),
        Outcome::Array(array) => {
            let is_empty = is_global && array.get(0, context)?.to_string(context)?.is_empty();
            (array, is_empty)
        }
    };
    if is_global && is_empty {
        step_over_nothing(&regexp, &text, is_full_unicode, context)?;
    }
    Ok(result(Some(found), context))
}

fn result(value: Option<JsObject>, context: &mut Context) -> JsValue {
    let is_done = value.is_none();
    create_iter_result_object(value.map_or_else(JsValue::undefined, JsValue::from), is_done, context)
}
