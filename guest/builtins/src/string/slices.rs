//! `slice`, `substring`, `substr`, `trim`: parts of a text.

use boa_engine::{Context, JsResult, JsValue, string::JsStrVariant, value::IntegerOrInfinity};

use super::{argument, clamped, coercible, cut, position};

pub(super) fn slice(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let start = relative(&argument(arguments, 0), text.len(), context)?;
    let end = argument(arguments, 1);
    let end = if end.is_undefined() { text.len() } else { relative(&end, text.len(), context)? };
    Ok(cut(&text, start, end.max(start)).into())
}

pub(super) fn substring(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let start = position(&argument(arguments, 0), text.len(), context)?;
    let end = argument(arguments, 1);
    let end = if end.is_undefined() { text.len() } else { position(&end, text.len(), context)? };
    Ok(cut(&text, start.min(end), start.max(end)).into())
}

pub(super) fn substr(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let start = relative(&argument(arguments, 0), text.len(), context)?;
    let length = argument(arguments, 1);
    let rest = text.len() - start;
    let length = if length.is_undefined() { rest } else { position(&length, rest, context)? };
    Ok(cut(&text, start, start + length).into())
}

pub(super) fn trim(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    trimmed(this, true, true, context)
}

pub(super) fn trim_start(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    trimmed(this, true, false, context)
}

pub(super) fn trim_end(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    trimmed(this, false, true, context)
}

fn trimmed(this: &JsValue, at_start: bool, at_end: bool, context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let (start, end) = match text.variant() {
        JsStrVariant::Latin1(bytes) => ink(bytes, |byte| is_space(u16::from(byte))),
        JsStrVariant::Utf16(units) => ink(units, is_space),
    };
    let start = if at_start { start } else { 0 };
    let end = if at_end { end } else { text.len() };
    Ok(cut(&text, start, end.max(start)).into())
}

/// Where the text without its outer white space begins and ends; its length and 0 if there is
/// nothing else.
fn ink<T: Copy>(units: &[T], is_space: impl Fn(T) -> bool) -> (usize, usize) {
    let start = units.iter().position(|unit| !is_space(*unit)).unwrap_or(units.len());
    let end = units.iter().rposition(|unit| !is_space(*unit)).map_or(0, |last| last + 1);
    (start, end)
}

/// White space and line terminators of the language.
fn is_space(unit: u16) -> bool {
    matches!(
        unit,
        0x09..=0x0D | 0x20 | 0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF
    )
}

/// A position that counts from the end if it is negative.
fn relative(value: &JsValue, length: usize, context: &mut Context) -> JsResult<usize> {
    Ok(match value.to_integer_or_infinity(context)? {
        IntegerOrInfinity::Integer(back) if back < 0 => {
            length.saturating_sub(usize::try_from(back.unsigned_abs()).unwrap_or(usize::MAX))
        }
        other => clamped(other, length),
    })
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn cuts_as_node_does() {
        let mut scripts: Vec<String> = Vec::new();
        let ends = [
            "0",
            "1",
            "3",
            "100",
            "-1",
            "-3",
            "-100",
            "NaN",
            "Infinity",
            "-Infinity",
            "undefined",
            "'2'",
            "1.9",
            "-1.9",
        ];
        for text in ["'abcdef'", "''", "'aéλ😀'", "'x'.repeat(300)", "'λ'.repeat(300)"] {
            for method in ["slice", "substring", "substr"] {
                for start in ends {
                    scripts.extend([format!("{text}.{method}({start})")]);
                    for end in ends {
                        scripts.extend([format!("{text}.{method}({start}, {end})")]);
                    }
                }
            }
        }
        same_as_node(&scripts);
        same_as_node(&[
            "''.slice.call(null)",
            "'abc'.slice()",
            "'abc'.substring()",
            "'abc'.substr()",
            "'abc'.slice(1n)",
        ]);
    }

    #[test]
    fn trims_as_node_does() {
        let mut scripts: Vec<String> = Vec::new();
        for text in [
            "'  a b '",
            "''",
            "'   '",
            "'\\n\\tλ\\u3000'",
            "'a'",
            "'\\ufeff\\u2028x\\u2029\\u180e'",
            "'\\x85a\\x85'",
            "'\\xa0a'",
        ] {
            for method in ["trim", "trimStart", "trimEnd", "trimLeft", "trimRight"] {
                scripts.extend([format!("JSON.stringify({text}.{method}())")]);
            }
        }
        same_as_node(&scripts);
        same_as_node(&[
            "''.trimLeft === ''.trimStart && ''.trimRight === ''.trimEnd && ''.trimLeft.name + ''.trimRight.name",
            "''.trim.call(null)",
        ]);
    }
}
