//! `replace` and `replaceAll` of a text. (Of a regular expression: see `regexp::replace`.)

use boa_engine::{Context, JsNativeError, JsResult, JsString, JsSymbol, JsValue, js_string};

use super::{Builder, Captured, Template, argument, coercible, is_regexp, method_of, search};

pub(super) fn replace(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = coercible(this)?;
    let (wanted, replacement) = (argument(arguments, 0), argument(arguments, 1));
    if let Some(replacer) = method_of(&wanted, JsSymbol::replace(), context)? {
        return replacer.call(&wanted, &[this.clone(), replacement], context);
    }
    replace_text(this, &wanted, &replacement, false, context)
}

pub(super) fn replace_all(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = coercible(this)?;
    let (wanted, replacement) = (argument(arguments, 0), argument(arguments, 1));
    if is_regexp(&wanted, context)? {
        let Some(regexp) = wanted.as_object() else { return Ok(JsValue::undefined()) };
        let flags = regexp.get(js_string!("flags"), context)?;
        if !coercible(&flags)?.to_string(context)?.contains(b'g') {
            let message = "replaceAll takes a regular expression with the flag g, as in /a/g";
            return Err(JsNativeError::typ().with_message(message).into());
        }
    }
    if let Some(replacer) = method_of(&wanted, JsSymbol::replace(), context)? {
        return replacer.call(&wanted, &[this.clone(), replacement], context);
    }
    replace_text(this, &wanted, &replacement, true, context)
}

fn replace_text(
    this: &JsValue,
    wanted: &JsValue,
    replacement: &JsValue,
    is_all: bool,
    context: &mut Context,
) -> JsResult<JsValue> {
    let text = this.to_string(context)?;
    let wanted = wanted.to_string(context)?;
    let function = replacement.as_function();
    let template = match function {
        Some(_) => None,
        None => Some(Template::parse(&replacement.to_string(context)?, 0, false)),
    };

    // All places are found before the first call.
    let step = wanted.len().max(1);
    let mut places = Vec::new();
    let mut next = search::find(text.as_str(), wanted.as_str(), 0);
    while let Some(place) = next {
        places.push(place);
        next = if is_all { search::find(text.as_str(), wanted.as_str(), place + step) } else { None };
    }
    if places.is_empty() {
        return Ok(text.into());
    }

    let mut result = Builder::new();
    let mut end = 0;
    for place in places {
        result.push_part(&text, end, place);
        end = place + wanted.len();
        if let Some(template) = &template {
            template.expand(&mut result, &Matched { text: &text, start: place, end });
        } else if let Some(function) = &function {
            let arguments = [wanted.clone().into(), place.into(), text.clone().into()];
            let piece = function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)?;
            result.push(piece.as_str());
        }
    }
    result.push_part(&text, end, text.len());
    Ok(result.finish().into())
}

struct Matched<'a> {
    text: &'a JsString,
    start: usize,
    end: usize,
}

impl Captured for Matched<'_> {
    fn text(&self) -> &JsString {
        self.text
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }

    fn group(&self, _: usize) -> Option<std::ops::Range<usize>> {
        None
    }

    fn named(&self, _: &JsString) -> Option<std::ops::Range<usize>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn replaces_as_node_does() {
        let mut scripts: Vec<String> = Vec::new();
        let replacements = [
            "'x'",
            "''",
            "'[$&]'",
            "'$$'",
            "'$`|'",
            "\"|$'\"",
            "'$1$01$<a>$'",
            "'😀$&'",
            "undefined",
            "null",
            "() => '$&'",
            "(...a) => a.join('|')",
            "() => undefined",
            "{}",
        ];
        for text in ["'abcabc'", "''", "'aéaé'", "'λbλb'", "'a😀b😀'", "'null undefined'"] {
            for wanted in ["'b'", "''", "'bc'", "'é'", "'λ'", "'😀'", "'\\ud83d'", "undefined", "null", "'zzzzzzzzzz'"]
            {
                for replacement in replacements {
                    scripts.extend([
                        format!("{text}.replace({wanted}, {replacement})"),
                        format!("{text}.replaceAll({wanted}, {replacement})"),
                    ]);
                }
            }
        }
        same_as_node(&scripts);
        same_as_node(&[
            "''.replace.call(null)",
            "'a'.replaceAll(/a/, 'b')",
            "'aa'.replaceAll(/a/g, 'b')",
            "'a'.replaceAll({ [Symbol.match]: true, flags: undefined })",
            "'a'.replaceAll({ [Symbol.match]: true, flags: 'g', [Symbol.replace]: (...a) => a.join() }, 'q')",
            "'a'.replace({ [Symbol.replace]: 1 })",
            "'aa'.replace('a', () => { throw new RangeError() })",
            "const log = []; const o = (n, v) => ({ toString() { log.push(n); return v } }); \
             ''.replaceAll.call(o('this', 'a-b'), o('wanted', '-'), o('replacement', '+')) + log.join()",
        ]);
    }
}
