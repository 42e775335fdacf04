//! `indexOf`, `lastIndexOf`, `includes`: where a text is within another.

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsValue,
    string::{JsStr, JsStrVariant},
    value::IntegerOrInfinity,
};

use super::{argument, clamped, coercible, is_regexp, position};

pub(super) fn index_of(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let wanted = argument(arguments, 0).to_string(context)?;
    let from = position(&argument(arguments, 1), text.len(), context)?;
    Ok(find(text.as_str(), wanted.as_str(), from).map_or_else(|| JsValue::from(-1), JsValue::from))
}

pub(super) fn last_index_of(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let wanted = argument(arguments, 0).to_string(context)?;
    let from = argument(arguments, 1).to_number(context)?;
    let from = if from.is_nan() { IntegerOrInfinity::PositiveInfinity } else { IntegerOrInfinity::from(from) };
    let from = clamped(from, text.len());
    Ok(find_last(&text, &wanted, from).map_or_else(|| JsValue::from(-1), JsValue::from))
}

pub(super) fn includes(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let wanted = argument(arguments, 0);
    if is_regexp(&wanted, context)? {
        let message = "includes takes a string, not a regular expression: try regexp.test(text)";
        return Err(JsNativeError::typ().with_message(message).into());
    }
    let wanted = wanted.to_string(context)?;
    let from = position(&argument(arguments, 1), text.len(), context)?;
    Ok(find(text.as_str(), wanted.as_str(), from).is_some().into())
}

/// The first place at or after `from` where `wanted` is in `text`.
pub(super) fn find(text: JsStr<'_>, wanted: JsStr<'_>, from: usize) -> Option<usize> {
    if wanted.is_empty() {
        return (from <= text.len()).then_some(from);
    }
    let found = match (text.variant(), wanted.variant()) {
        (JsStrVariant::Latin1(text), JsStrVariant::Latin1(wanted)) => memchr::memmem::find(text.get(from..)?, wanted),
        (JsStrVariant::Utf16(text), JsStrVariant::Utf16(wanted)) => find_units(text.get(from..)?, wanted),
        (JsStrVariant::Utf16(text), JsStrVariant::Latin1(wanted)) => {
            let wanted: Vec<u16> = wanted.iter().copied().map(u16::from).collect();
            find_units(text.get(from..)?, &wanted)
        }
        // Strings may be wider than what they hold.
        (JsStrVariant::Latin1(text), JsStrVariant::Utf16(wanted)) => {
            let narrow: Option<Vec<u8>> = wanted.iter().map(|unit| u8::try_from(*unit).ok()).collect();
            memchr::memmem::find(text.get(from..)?, &narrow?)
        }
    };
    found.map(|index| from + index)
}

fn find_units(text: &[u16], wanted: &[u16]) -> Option<usize> {
    let (first, rest) = wanted.split_first()?;
    let mut from = 0;
    loop {
        from += text.get(from..)?.iter().position(|unit| unit == first)?;
        if text.get(from + 1..)?.starts_with(rest) {
            return Some(from);
        }
        from += 1;
    }
}

/// The last place at or before `from` where `wanted` is in `text`.
fn find_last(text: &JsString, wanted: &JsString, from: usize) -> Option<usize> {
    let from = from.min(text.len().checked_sub(wanted.len())?);
    let (text, wanted) = (text.as_str(), wanted.as_str());
    if let (JsStrVariant::Latin1(text), JsStrVariant::Latin1(wanted)) = (text.variant(), wanted.variant()) {
        return memchr::memmem::rfind(text.get(..from + wanted.len())?, wanted);
    }
    (0..=from).rev().find(|index| text.get(*index..*index + wanted.len()).is_some_and(|part| part == wanted))
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn finds_where_the_engine_does() {
        let mut scripts: Vec<String> = Vec::new();
        for text in ["'abcabc'", "'aéaé'", "'λbcλbc'", "'a😀b😀'", "''", "'\\ud83d\\ude00\\ud83d'"] {
            for wanted in
                ["'b'", "'bc'", "''", "'é'", "'λ'", "'😀'", "'\\ud83d'", "'\\ude00'", "undefined", "'zz'", "/b/"]
            {
                for from in ["", ", 0", ", 1", ", 3", ", 100", ", -1", ", NaN", ", Infinity", ", '2'"] {
                    scripts.extend([
                        format!("{text}.indexOf({wanted}{from})"),
                        format!("{text}.lastIndexOf({wanted}{from})"),
                        format!("{text}.includes({wanted}{from})"),
                    ]);
                }
            }
        }
        same_as_node(&scripts);
        same_as_node(&[
            "''.indexOf.call(null)",
            "''.includes.call(undefined, 'a')",
            "'undefined'.includes()",
            "''.indexOf(Symbol())",
            "const log = []; const o = n => ({ toString() { log.push(n); return n }, valueOf() { log.push(n); return 1 } }); \
             ''.indexOf.call(o('a'), o('b'), o('c')); ''.lastIndexOf.call(o('a'), o('b'), o('c')); log.join()",
        ]);
    }
}
