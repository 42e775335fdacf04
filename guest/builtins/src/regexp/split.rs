//! `split`.

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, js_string, object::builtins::JsArray};

use super::{
    advanced, argument, array,
    exec::{Outcome, regexp_exec},
    object,
    originals::Originals,
    pattern::Pattern,
    spaces,
    subject::Subject,
};
use crate::string::cut;

/// `RegExp.prototype[Symbol.split]`.
pub(super) fn split(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "[Symbol.split]")?;
    let text = argument(arguments, 0).to_string(context)?;
    let pattern = match originals.plain(&regexp) && originals.copies_plainly() {
        true => Pattern::of(&regexp),
        false => None,
    };
    let parts = match pattern {
        Some(pattern) => {
            let limit = limit(arguments, context)?;
            parts(&pattern, &text, limit)
        }
        None => {
            let constructor = originals.species_of(&regexp, context)?;
            let flags = regexp.get(js_string!("flags"), context)?.to_string(context)?;
            let is_full_unicode = flags.contains(b'u') || flags.contains(b'v');
            let flags = if flags.contains(b'y') { flags } else { js_string!(&flags, &js_string!("y")) };
            let splitter = constructor.construct(&[this.clone(), flags.into()], Some(&constructor), context)?;
            let limit = limit(arguments, context)?;
            observed(&splitter, &text, limit, is_full_unicode, originals, context)?
        }
    };
    Ok(JsArray::from_iter(parts, context).into())
}

fn limit(arguments: &[JsValue], context: &mut Context) -> JsResult<usize> {
    let limit = argument(arguments, 1);
    Ok(if limit.is_undefined() { u32::MAX } else { limit.to_u32(context)? } as usize)
}

/// Looks for each separator from where the last one ended. That finds those which the specification
/// finds by trying each place.
fn parts(pattern: &Pattern, text: &JsString, limit: usize) -> Vec<JsValue> {
    let mut parts = Vec::new();
    if limit == 0 {
        return parts;
    }
    if pattern.is(spaces::SOURCE) && !text.is_empty() {
        let mut start = 0;
        for space in spaces::stretches(text).into_iter().take(limit) {
            parts.push(cut(text, start, space.start).into());
            start = space.end;
        }
        if parts.len() < limit {
            parts.push(cut(text, start, text.len()).into());
        }
        return parts;
    }
    let subject = Subject::of(text);
    if text.is_empty() {
        if pattern.find_at(&subject, 0).is_none() {
            parts.push(text.clone().into());
        }
        return parts;
    }
    let mut start = 0;
    for found in pattern.matches(&subject, 0) {
        if found.start() >= text.len() {
            break;
        }
        // An empty match where the part begins would split off nothing.
        if found.end() == start {
            continue;
        }
        parts.push(cut(text, start, found.start()).into());
        start = found.end();
        if parts.len() == limit {
            return parts;
        }
        for group in array::parts(&found, text).skip(1) {
            parts.push(group);
            if parts.len() == limit {
                return parts;
            }
        }
    }
    parts.push(cut(text, start, text.len()).into());
    parts
}

/// The parts, step by step as the specification has it.
fn observed(
    splitter: &JsObject,
    text: &JsString,
    limit: usize,
    is_full_unicode: bool,
    originals: &Originals,
    context: &mut Context,
) -> JsResult<Vec<JsValue>> {
    let mut parts = Vec::new();
    if limit == 0 {
        return Ok(parts);
    }
    if text.is_empty() {
        if matches!(regexp_exec(splitter, text, originals, context)?, Outcome::None) {
            parts.push(text.clone().into());
        }
        return Ok(parts);
    }
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        splitter.set(js_string!("lastIndex"), at, true, context)?;
        let outcome = regexp_exec(splitter, text, originals, context)?;
        if matches!(outcome, Outcome::None) {
            at = advanced(text, at, is_full_unicode);
            continue;
        }
        let end = splitter.get(js_string!("lastIndex"), context)?.to_length(context)?;
        let end = usize::try_from(end).map_or(text.len(), |end| end.min(text.len()));
        if end == start {
            at = advanced(text, at, is_full_unicode);
            continue;
        }
        parts.push(cut(text, start, at).into());
        if parts.len() == limit {
            return Ok(parts);
        }
        start = end;
        at = end;
        match outcome {
            Outcome::None => {}
            Outcome::Found(_, found) => {
                for group in array::parts(&found, text).skip(1) {
                    parts.push(group);
                    if parts.len() == limit {
                        return Ok(parts);
                    }
                }
            }
            Outcome::Array(array) => {
                let length = array.get(js_string!("length"), context)?.to_length(context)?;
                for index in 1..length {
                    parts.push(array.get(index, context)?);
                    if parts.len() == limit {
                        return Ok(parts);
                    }
                }
            }
        }
    }
    parts.push(cut(text, start, text.len()).into());
    Ok(parts)
}
