//! `exec`, and the methods that are one call of it.

use std::rc::Rc;

use boa_engine::{Context, JsNativeError, JsObject, JsResult, JsString, JsValue, js_string};
use regress::Match;

use belljar_guest_engine::place;

use super::{
    argument, array, legacy, object,
    originals::{Getters, Originals},
    pattern::{self, Pattern},
    regexp,
    subject::Subject,
};

/// `RegExp.prototype.exec`.
pub(super) fn exec(
    this: &JsValue,
    arguments: &[JsValue],
    getters: &Getters,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = regexp(this).ok_or_else(|| {
        JsNativeError::typ()
            .with_message("RegExp.prototype.exec was called on something that is not a regular expression")
    })?;
    let text = argument(arguments, 0).to_string(context)?;
    match builtin_exec(&regexp, &text, getters, context)? {
        Outcome::None => Ok(JsValue::null()),
        Outcome::Found(pattern, found) => Ok(array::of_match(&found, &text, &pattern, context).into()),
        Outcome::Array(array) => Ok(array.into()),
    }
}

/// `RegExp.prototype.compile`.
pub(super) fn compile(
    this: &JsValue,
    arguments: &[JsValue],
    getters: &Getters,
    context: &mut Context,
) -> JsResult<JsValue> {
    let result = getters.compile.call(this, arguments, context);
    // Also where it has failed: that may have been after it has compiled.
    if let Some(regexp) = regexp(this) {
        pattern::forget(&regexp);
    }
    result
}

/// `RegExp.prototype.test`.
pub(super) fn test(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "test")?;
    let text = argument(arguments, 0).to_string(context)?;
    Ok((!matches!(regexp_exec(&regexp, &text, originals, context)?, Outcome::None)).into())
}

/// `RegExp.prototype[Symbol.search]`.
pub(super) fn search(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "[Symbol.search]")?;
    let text = argument(arguments, 0).to_string(context)?;
    let previous = regexp.get(js_string!("lastIndex"), context)?;
    if !JsValue::same_value(&previous, &JsValue::from(0)) {
        regexp.set(js_string!("lastIndex"), 0, true, context)?;
    }
    let outcome = regexp_exec(&regexp, &text, originals, context)?;
    let current = regexp.get(js_string!("lastIndex"), context)?;
    if !JsValue::same_value(&current, &previous) {
        regexp.set(js_string!("lastIndex"), previous, true, context)?;
    }
    match outcome {
        Outcome::None => Ok((-1).into()),
        Outcome::Found(_, found) => Ok(found.start().into()),
        Outcome::Array(array) => array.get(js_string!("index"), context),
    }
}

/// What became of one search.
pub(super) enum Outcome {
    None,
    /// A match whose array nobody has asked for yet.
    Found(Rc<Pattern>, Match),
    /// The array of the engine, or of an `exec` that is a script's.
    Array(JsObject),
}

/// The specification's RegExpExec.
pub(super) fn regexp_exec(
    object: &JsObject,
    text: &JsString,
    originals: &Originals,
    context: &mut Context,
) -> JsResult<Outcome> {
    let exec = object.get(js_string!("exec"), context)?;
    let this = JsValue::from(object.clone());
    if let Some(exec) = exec.as_callable().filter(|_| !originals.is_exec(&exec) || regexp(&this).is_none()) {
        let result = exec.call(&this, &[text.clone().into()], context)?;
        return match result.as_object() {
            Some(array) => Ok(Outcome::Array(array)),
            None if result.is_null() => Ok(Outcome::None),
            None => Err(JsNativeError::typ().with_message("exec gave neither an object nor null").into()),
        };
    }
    let regexp = regexp(&this).ok_or_else(|| {
        JsNativeError::typ().with_message("a method of RegExp was called on something that is not a regular expression")
    })?;
    builtin_exec(&regexp, text, &originals.getters, context)
}

/// The specification's RegExpBuiltinExec.
pub(super) fn builtin_exec(
    regexp: &JsObject,
    text: &JsString,
    getters: &Getters,
    context: &mut Context,
) -> JsResult<Outcome> {
    if Pattern::of(regexp).is_none() {
        let result = getters.exec.call(&regexp.clone().into(), &[text.clone().into()], context)?;
        return Ok(result.as_object().map_or(Outcome::None, Outcome::Array));
    }
    let last_index = regexp.get(js_string!("lastIndex"), context)?.to_length(context)?;
    // Asked again: to read the index may have run a script, and that may have compiled another
    // pattern.
    let Some(pattern) = Pattern::of(regexp) else { return Ok(Outcome::None) };
    let (is_sticky, is_stateful) = (pattern.has(b'y'), pattern.has(b'g') || pattern.has(b'y'));
    let from = if is_stateful { last_index } else { 0 };

    place::before_long_work(context);
    let found = match usize::try_from(from) {
        Ok(from) if from <= text.len() => {
            let subject = Subject::of(text);
            if is_sticky { pattern.find_at(&subject, from) } else { pattern.find(&subject, from) }
        }
        _ => None,
    };
    if is_stateful {
        let next = found.as_ref().map_or(0, Match::end);
        regexp.set(js_string!("lastIndex"), next, true, context)?;
    }
    Ok(match found {
        Some(found) => {
            legacy::remember(text, &found);
            Outcome::Found(pattern, found)
        }
        None => Outcome::None,
    })
}

/// All matches of a plain expression with the flag `g`, as a loop over `exec` from the start finds
/// them.
pub(super) fn each_match(
    regexp: &JsObject,
    pattern: &Pattern,
    text: &JsString,
    context: &mut Context,
    mut visit: impl FnMut(Match),
) -> JsResult<()> {
    // What a plain expression's index is in between, nobody sees; at the end, it is 0.
    regexp.set(js_string!("lastIndex"), 0, true, context)?;
    place::before_long_work(context);
    let subject = Subject::of(text);
    let mut last = None;
    let mut see = |found: Match| {
        last.get_or_insert_with(legacy::Places::default).note(&found);
        visit(found);
    };
    if pattern.has(b'y') {
        let mut at = 0;
        while let Some(found) = pattern.find_at(&subject, at) {
            at = if found.end() == at { super::advanced(text, at, pattern.is_full_unicode()) } else { found.end() };
            see(found);
        }
    } else {
        pattern.matches(&subject, 0).for_each(see);
    }
    if let Some(last) = last {
        legacy::remember_places(text, last);
    }
    Ok(())
}

/// After a match of nothing, the next one is looked for a character further on.
pub(super) fn step_over_nothing(
    regexp: &JsObject,
    text: &JsString,
    is_full_unicode: bool,
    context: &mut Context,
) -> JsResult<()> {
    let index = regexp.get(js_string!("lastIndex"), context)?.to_length(context)?;
    let next = match usize::try_from(index) {
        Ok(index) if index < text.len() => super::advanced(text, index, is_full_unicode) as u64,
        _ => index + 1,
    };
    regexp.set(js_string!("lastIndex"), next, true, context).map(|_| ())
}
