//! `console.log` and its directives.

use std::fmt::Write as _;

use boa_engine::{Context, JsObject, JsValue, builtins::function::OrdinaryFunction, js_string};

use belljar_guest_engine::originals::{is_class, own_data_property};

use super::{MAX_BYTES, nested, text, to_depth};
use crate::encode;

/// Depth to which `%o` shows an object.
const MAX_DEPTH_OF_O: usize = 4;

/// The arguments of `console.log`, with `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%c` and `%%` in
/// the first replaced.
pub fn format(arguments: &[JsValue], context: &mut Context) -> String {
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
        'd' | 'i' | 'f' => number(directive, value, context),
        'j' if value.is_undefined() => "undefined".to_owned(),
        'j' => encode::arguments(value, "the value", MAX_BYTES, false, context)
            .map_or_else(|_| "[Circular]".to_owned(), |(text, _)| text),
        's' => plain(value, context),
        'o' => to_depth(value, MAX_DEPTH_OF_O, context),
        _ => nested(value, context),
    }
}

/// `%d`, `%i` and `%f`: a number, as `Number`, `parseInt` and `parseFloat` read it.
fn number(directive: char, value: &JsValue, context: &mut Context) -> String {
    if value.is_symbol() || (directive == 'd' && value.is_object()) {
        return "NaN".to_owned();
    }
    if value.is_bigint() && directive != 'f' {
        return nested(value, context);
    }
    let number = if directive == 'd' {
        value.to_number(context)
    } else {
        let name = if directive == 'i' { js_string!("parseInt") } else { js_string!("parseFloat") };
        let parse = context.global_object().get(name, context).ok().and_then(|parse| parse.as_callable());
        match parse {
            Some(parse) => parse
                .call(&JsValue::undefined(), std::slice::from_ref(value), context)
                .and_then(|parsed| parsed.to_number(context)),
            None => Ok(f64::NAN),
        }
    };
    nested(&JsValue::from(number.unwrap_or(f64::NAN)), context)
}

/// `%s`: what `String` makes of it, unless that says nothing of an object.
fn plain(value: &JsValue, context: &mut Context) -> String {
    match value.as_object() {
        None => text(value, context),
        Some(object)
            if (object.is_callable() && !is_class(&object, context)) || has_own_way_to_say_it(&object, context) =>
        {
            value.to_string(context).map_or_else(|_| to_depth(value, 0, context), |text| text.to_std_string_lossy())
        }
        Some(_) => to_depth(value, 0, context),
    }
}

/// Whether a `toString` of the script's is at work.
fn has_own_way_to_say_it(object: &JsObject, context: &mut Context) -> bool {
    let mut holder = Some(object.clone());
    for _ in 0..16 {
        let Some(current) = holder else { return false };
        if let Some(method) = own_data_property(&current, js_string!("toString"), context) {
            return method.as_object().is_some_and(|method| method.is::<OrdinaryFunction>());
        }
        holder = current.prototype();
    }
    false
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
