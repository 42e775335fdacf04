//! `replace`.

use std::ops::Range;

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, js_string, object::builtins::JsFunction, value::IntegerOrInfinity,
};
use regress::Match;

use super::{
    argument, array,
    exec::{Outcome, each_match, regexp_exec, step_over_nothing},
    object,
    originals::Originals,
    pattern::Pattern,
};
use crate::string::{Builder, Captured, Template};

/// What is put in the place of a match.
enum Replacement {
    Function(JsFunction),
    Text(JsString),
}

/// `RegExp.prototype[Symbol.replace]`.
pub(super) fn replace(
    this: &JsValue,
    arguments: &[JsValue],
    originals: &Originals,
    context: &mut Context,
) -> JsResult<JsValue> {
    let regexp = object(this, "[Symbol.replace]")?;
    let text = argument(arguments, 0).to_string(context)?;
    let replacement = argument(arguments, 1);
    let replacement = match replacement.as_function() {
        Some(function) => Replacement::Function(function),
        None => Replacement::Text(replacement.to_string(context)?),
    };
    let pattern = match originals.plain(&regexp) {
        true => Pattern::of(&regexp),
        false => None,
    };
    let mut found = Vec::new();
    match pattern {
        Some(pattern) if pattern.has(b'g') => {
            if let Replacement::Text(template) = &replacement {
                return by_template(&regexp, &pattern, &text, template, context);
            }
            each_match(&regexp, &pattern, &text, context, |one| found.push(Found::Match(one)))?;
        }
        Some(_) => found.extend(Found::of(regexp_exec(&regexp, &text, originals, context)?)),
        None => {
            let flags = regexp.get(js_string!("flags"), context)?.to_string(context)?;
            if flags.contains(b'g') {
                found = observed(&regexp, &text, &flags, originals, context)?;
            } else {
                found.extend(Found::of(regexp_exec(&regexp, &text, originals, context)?));
            }
        }
    }
    if found.is_empty() {
        return Ok(text.into());
    }
    replace_each(&text, found, &replacement, context)
}

/// One match, whose array may be a script's.
enum Found {
    Match(Match),
    Array(JsObject),
}

impl Found {
    fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::None => None,
            Outcome::Found(_, found) => Some(Self::Match(found)),
            Outcome::Array(array) => Some(Self::Array(array)),
        }
    }
}

/// All matches, step by step as the specification has it.
fn observed(
    regexp: &JsObject,
    text: &JsString,
    flags: &JsString,
    originals: &Originals,
    context: &mut Context,
) -> JsResult<Vec<Found>> {
    let is_full_unicode = flags.contains(b'u') || flags.contains(b'v');
    regexp.set(js_string!("lastIndex"), 0, true, context)?;
    let mut results = Vec::new();
    while let Some(found) = Found::of(regexp_exec(regexp, text, originals, context)?) {
        let is_empty = match &found {
            Found::Match(found) => found.range().is_empty(),
            Found::Array(array) => array.get(0, context)?.to_string(context)?.is_empty(),
        };
        results.push(found);
        if is_empty {
            step_over_nothing(regexp, text, is_full_unicode, context)?;
        }
    }
    Ok(results)
}

/// Replaces all matches of a plain expression: as none of a script's code can run, each is dealt
/// with as it is found.
fn by_template(
    regexp: &JsObject,
    pattern: &Pattern,
    text: &JsString,
    template: &JsString,
    context: &mut Context,
) -> JsResult<JsValue> {
    let mut result = Builder::new();
    let mut parsed = None;
    let mut end = 0;
    each_match(regexp, pattern, text, context, |found| {
        let template = parsed.get_or_insert_with(|| template_for(&found, template));
        result.push_part(text, end, found.start());
        end = found.end();
        template.expand(&mut result, &InText { text, found });
    })?;
    if parsed.is_none() {
        return Ok(text.clone().into());
    }
    result.push_part(text, end, text.len());
    Ok(result.finish().into())
}

fn replace_each(
    text: &JsString,
    found: Vec<Found>,
    replacement: &Replacement,
    context: &mut Context,
) -> JsResult<JsValue> {
    let mut result = Builder::new();
    let mut end = 0;
    for found in found {
        let (range, piece) = match found {
            Found::Match(found) => {
                let range = found.range();
                let piece = of_match(text, found, replacement, context)?;
                (range, piece)
            }
            Found::Array(array) => of_array(text, &array, replacement, context)?,
        };
        // An `exec` of a script's may go backwards.
        if range.start >= end {
            result.push_part(text, end, range.start);
            result.push(piece.as_str());
            end = range.end;
        }
    }
    result.push_part(text, end.min(text.len()), text.len());
    Ok(result.finish().into())
}

fn of_match(text: &JsString, found: Match, replacement: &Replacement, context: &mut Context) -> JsResult<JsString> {
    match replacement {
        Replacement::Function(function) => {
            let mut arguments: Vec<JsValue> = array::parts(&found, text).collect();
            arguments.extend([found.start().into(), text.clone().into()]);
            let named = array::named(&found, text);
            if !named.is_undefined() {
                arguments.push(named);
            }
            function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)
        }
        Replacement::Text(template) => {
            let mut piece = Builder::new();
            template_for(&found, template).expand(&mut piece, &InText { text, found });
            Ok(piece.finish())
        }
    }
}

fn template_for(found: &Match, template: &JsString) -> Template {
    Template::parse(template, found.captures.len(), found.named_groups().next().is_some())
}

struct InText<'a> {
    text: &'a JsString,
    found: Match,
}

impl Captured for InText<'_> {
    fn text(&self) -> &JsString {
        self.text
    }

    fn range(&self) -> Range<usize> {
        self.found.range()
    }

    fn group(&self, number: usize) -> Option<Range<usize>> {
        self.found.captures.get(number.checked_sub(1)?)?.clone()
    }

    fn named(&self, wanted: &JsString) -> Option<Range<usize>> {
        // The engine's own comparison with a `str` is satisfied by the beginning of a text in
        // UTF-16.
        self.found.named_groups().find(|(name, _)| wanted.iter().eq(name.encode_utf16()))?.1
    }
}

/// What replaces a match that is described by an array which may be a script's, and how far it
/// reaches.
fn of_array(
    text: &JsString,
    array: &JsObject,
    replacement: &Replacement,
    context: &mut Context,
) -> JsResult<(Range<usize>, JsString)> {
    let length = array.get(js_string!("length"), context)?.to_length(context)?;
    let matched = array.get(0, context)?.to_string(context)?;
    let position = array.get(js_string!("index"), context)?.to_integer_or_infinity(context)?;
    let position = match position {
        IntegerOrInfinity::Integer(position) => usize::try_from(position).unwrap_or(0).min(text.len()),
        IntegerOrInfinity::PositiveInfinity => text.len(),
        IntegerOrInfinity::NegativeInfinity => 0,
    };
    let mut captures = Vec::new();
    for index in 1..length {
        let capture = array.get(index, context)?;
        captures.push(if capture.is_undefined() { capture } else { capture.to_string(context)?.into() });
    }
    let named = array.get(js_string!("groups"), context)?;
    let range = position..position.saturating_add(matched.len());
    let piece = match replacement {
        Replacement::Function(function) => {
            let mut arguments = vec![matched.into()];
            arguments.extend(captures);
            arguments.extend([position.into(), text.clone().into()]);
            if !named.is_undefined() {
                arguments.push(named);
            }
            function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)?
        }
        Replacement::Text(template) => {
            let named = if named.is_undefined() { None } else { Some(named.to_object(context)?) };
            let template = Template::parse(template, captures.len(), named.is_some());
            template.expand_with(text, position, &matched, &captures, named.as_ref(), context)?
        }
    };
    Ok((range, piece))
}
