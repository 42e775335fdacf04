//! `match`.

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, js_string, object::builtins::JsArray};

use super::{
    argument, array,
    exec::{Outcome, each_match, regexp_exec, step_over_nothing},
    object,
    originals::Originals,
    pattern::Pattern,
};
use crate::string::cut;

/// `RegExp.prototype[Symbol.match]`.
pub(super) fn r#match(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "[Symbol.match]")?;
    let text = argument(arguments, 0).to_string(context)?;
    let pattern = match originals.plain(&regexp) {
        true => Pattern::of(&regexp),
        false => None,
    };
    let texts = match pattern {
        Some(pattern) if pattern.has(b'g') => {
            let mut texts = Vec::new();
            each_match(&regexp, &pattern, &text, context, |found| {
                texts.push(JsValue::from(cut(&text, found.start(), found.end())));
            })?;
            texts
        }
        Some(_) => return first(&regexp, &text, originals, context),
        None => {
            let flags = regexp.get(js_string!("flags"), context)?.to_string(context)?;
            if !flags.contains(b'g') {
                return first(&regexp, &text, originals, context);
            }
            observed(&regexp, &text, &flags, originals, context)?
        }
    };
    Ok(if texts.is_empty() { JsValue::null() } else { JsArray::from_iter(texts, context).into() })
}

fn first(regexp: &JsObject, text: &JsString, originals: &Originals, context: &mut Context) -> JsResult<JsValue> {
    match regexp_exec(regexp, text, originals, context)? {
        Outcome::None => Ok(JsValue::null()),
        Outcome::Found(pattern, found) => Ok(array::of_match(&found, text, &pattern, context).into()),
        Outcome::Array(array) => Ok(array.into()),
    }
}

/// The texts of all matches, step by step as the specification has it.
fn observed(
    regexp: &JsObject,
    text: &JsString,
    flags: &JsString,
    originals: &Originals,
    context: &mut Context,
) -> JsResult<Vec<JsValue>> {
    let is_full_unicode = flags.contains(b'u') || flags.contains(b'v');
    regexp.set(js_string!("lastIndex"), 0, true, context)?;
    let mut texts = Vec::new();
    loop {
        let found = match regexp_exec(regexp, text, originals, context)? {
            Outcome::None => return Ok(texts),
            Outcome::Found(_, found) => cut(text, found.start(), found.end()),
            Outcome::Array(array) => array.get(0, context)?.to_string(context)?,
        };
        if found.is_empty() {
            step_over_nothing(regexp, text, is_full_unicode, context)?;
        }
        texts.push(found.into());
    }
}
