//! `split` by a text. (By a regular expression: see `regexp::split`.)

use boa_engine::{Context, JsResult, JsString, JsSymbol, JsValue, object::builtins::JsArray, string::JsStr};

use super::{argument, coercible, cut, method_of, search};

pub(super) fn split(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = coercible(this)?;
    let (separator, limit) = (argument(arguments, 0), argument(arguments, 1));
    if let Some(splitter) = method_of(&separator, JsSymbol::split(), context)? {
        return splitter.call(&separator, &[this.clone(), limit], context);
    }
    let text = this.to_string(context)?;
    let limit = if limit.is_undefined() { u32::MAX } else { limit.to_u32(context)? } as usize;
    let wanted = separator.to_string(context)?;
    let parts = if limit == 0 {
        Vec::new()
    } else if separator.is_undefined() {
        vec![text.into()]
    } else if wanted.is_empty() {
        text.iter().take(limit).map(|unit| JsString::from(JsStr::utf16(&[unit])).into()).collect()
    } else {
        parts(&text, &wanted, limit)
    };
    Ok(JsArray::from_iter(parts, context).into())
}

fn parts(text: &JsString, separator: &JsString, limit: usize) -> Vec<JsValue> {
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(found) = search::find(text.as_str(), separator.as_str(), start) {
        parts.push(cut(text, start, found).into());
        if parts.len() == limit {
            return parts;
        }
        start = found + separator.len();
    }
    parts.push(cut(text, start, text.len()).into());
    parts
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::{same_as_node, same_as_stock};

    #[test]
    fn splits_as_node_does() {
        let mut scripts: Vec<String> = Vec::new();
        for text in ["'a,b,,c'", "''", "','", "'λ,é,😀'", "'a😀b'", "'a, b, c'", "12"] {
            let text = format!("String({text})");
            for separator in ["','", "', '", "''", "", "undefined", "null", "'😀'", "'abcdefgh'", "1"] {
                scripts.extend([format!("JSON.stringify({text}.split({separator}))")]);
                for limit in ["0", "1", "2", "-1", "2 ** 32", "undefined", "NaN", "'2'"] {
                    let separator = if separator.is_empty() { "undefined" } else { separator };
                    scripts.extend([format!("JSON.stringify({text}.split({separator}, {limit}))")]);
                }
            }
        }
        same_as_node(&scripts);
        same_as_node(&[
            "''.split.call(null, ',')",
            "'a-b'.split({ [Symbol.split]: (...a) => a.join() }, 3)",
            "'a-b'.split({ [Symbol.split]: 1 })",
            "'a[object Object]b'.split({ [Symbol.split]: null }).join()",
            "'x'.split(Symbol())",
            "const log = []; const o = (n, v) => ({ toString() { log.push(n); return v }, valueOf() { log.push(n); return v } }); \
             ''.split.call(o('this', 'a-b'), o('separator', '-'), o('limit', 1)).join() + log.join()",
            "'x'.repeat(300).split('y')[0].length",
            "('x'.repeat(300) + '\\n').repeat(3).split('\\n').map(l => l.length).join()",
        ]);
        // Node 20 asks primitive values for the method too.
        same_as_stock(&[
            "Symbol.prototype[Symbol.split] = String.prototype[Symbol.split] = () => 'no'; 'a-b'.split('-').join()",
        ]);
    }
}
