//! `console.log` and its directives.

use std::fmt::Write as _;

use boa_engine::{Context, JsValue, JsVariant};

use super::{MAX_BYTES, nested, text, to_depth};
use crate::values::encode;

/// The arguments of `console.log`, with `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%c` and `%%` in the first replaced.
pub(crate) fn format(arguments: &[JsValue], context: &mut Context) -> String {
    let mut rest = arguments.iter();
    let mut line = String::new();
    if let Some(template) = arguments.first().and_then(JsValue::as_string)
        && arguments.len() > 1
    {
        rest.next();
        let template = template.to_std_string_lossy();
        let mut characters = template.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '%' {
                line.push(character);
                continue;
            }
            match characters.peek().copied() {
                Some('%') => line.push('%'),
                Some(directive @ ('s' | 'd' | 'i' | 'f' | 'j' | 'o' | 'O' | 'c')) => match rest.next() {
                    Some(value) => line.push_str(&directed(directive, value, context)),
                    None => {
                        line.push('%');
                        line.push(directive);
                    }
                },
                _ => {
                    line.push('%');
                    continue;
                }
            }
            characters.next();
        }
        if rest.len() > 0 {
            line.push(' ');
        }
    }
    let others: Vec<String> = rest.map(|value| text(value, context)).collect();
    line.push_str(&others.join(" "));
    cut(line)
}

fn directed(directive: char, value: &JsValue, context: &mut Context) -> String {
    match directive {
        'c' => String::new(),
        'd' | 'i' | 'f' => match value.to_number(context) {
            Ok(number) if directive == 'i' => nested(&JsValue::from(number.trunc()), context),
            Ok(number) => nested(&JsValue::from(number), context),
            Err(_) => "NaN".to_owned(),
        },
        'j' => encode::arguments(value, "the value", MAX_BYTES, context).unwrap_or_else(|_| "[Circular]".to_owned()),
        's' => match value.variant() {
            JsVariant::Object(_) => to_depth(value, 0, context),
            _ => text(value, context),
        },
        _ => nested(value, context),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let total = text.len();
        let mut end = MAX_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        let _ = write!(text, "… [{} bytes cut]", total - end);
    }
    text
}
