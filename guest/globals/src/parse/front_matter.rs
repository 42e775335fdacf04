//! Lines of `key: value`, bare or between two lines of `---`, as at the head of a Markdown file: an
//! object.
//!
//! Of YAML this is as much as such heads have: numbers, `true`, `false`, `null`, texts with and
//! without quotes, `[a, b]`, and a list of `- item` lines below a key. What is nested deeper is a
//! fault, and never half understood.

use boa_engine::{Context, JsObject, JsString, JsValue, object::builtins::JsArray, property::PropertyKey};

use belljar_guest_engine::plain;
use belljar_guest_values::decode::{self, Described};

/// The longest key: a sentence with a colon in it is no key.
const MAX_KEY: usize = 60;
/// What the text behind the second line of `---` is called.
const BODY: &str = "body";

/// `is_asked_for` where the author says that it is so: otherwise one line with a colon is a
/// sentence.
pub(super) fn read(text: &str, is_asked_for: bool, context: &mut Context) -> Result<JsValue, Described> {
    let text = text.trim_start_matches('\u{feff}');
    let object = JsObject::with_object_proto(context.intrinsics());
    let mut lines = text.lines().enumerate().peekable();
    let is_fenced = lines.next_if(|(_, line)| line.trim_end() == "---").is_some();
    let mut is_closed = false;
    let mut keys = 0_usize;
    while let Some((index, line)) = lines.next() {
        let fault = |what: &str| Described { what: what.to_owned(), line: index + 1, column: 1 };
        if is_fenced && line.trim_end() == "---" {
            is_closed = true;
            break;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = key_and_value(line) else { return Err(fault("no `key: value`")) };
        let key = PropertyKey::from(JsString::from(name));
        if plain::member(&object, &key).is_some() {
            return Err(fault("a key that was there before"));
        }
        let value = if value.is_empty() {
            let mut items = Vec::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| line.trim_start().starts_with("- ")) {
                items.push(scalar(line.trim_start().trim_start_matches("- ").trim(), context));
            }
            if items.is_empty() { JsValue::null() } else { JsArray::from_iter(items, context).into() }
        } else {
            list(value, context).unwrap_or_else(|| scalar(value, context))
        };
        object.insert_property(key, plain::property(value));
        keys += 1;
    }
    if keys == 0 || (is_fenced && !is_closed) {
        let what = if keys == 0 { "no `key: value`" } else { "the second line of `---` is missing" };
        return Err(Described { what: what.to_owned(), line: 1, column: 1 });
    }
    if keys == 1 && !is_fenced && !is_asked_for {
        return Err(Described { what: "one `key: value` is a sentence".to_owned(), line: 1, column: 1 });
    }
    let body: Vec<&str> = lines.map(|(_, line)| line).collect();
    let key = PropertyKey::from(JsString::from(BODY));
    if body.iter().any(|line| !line.trim().is_empty()) && plain::member(&object, &key).is_none() {
        let body = JsString::from(body.join("\n").trim_matches('\n'));
        object.insert_property(key, plain::property(body.into()));
    }
    Ok(object.into())
}

/// A line that begins with a key, and what stands behind its colon.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ").or_else(|| Some((line.trim_end().strip_suffix(':')?, "")))?;
    let key = key.trim_end();
    let is_key = key.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        && key.len() <= MAX_KEY
        && key.chars().all(|character| character.is_alphanumeric() || " _-./".contains(character));
    is_key.then(|| (key, value.trim()))
}

/// `[a, "b", 3]`, without lists inside.
fn list(value: &str, context: &mut Context) -> Option<JsValue> {
    let inside = value.strip_prefix('[')?.strip_suffix(']')?.trim();
    if inside.contains(['[', ']', '{', '}', '"', '\'']) {
        let json = JsString::from(value);
        return decode::read(&json, context).ok();
    }
    let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
    let items: Vec<JsValue> = items.map(|item| scalar(item, context)).collect();
    Some(JsArray::from_iter(items, context).into())
}

fn scalar(value: &str, context: &mut Context) -> JsValue {
    match value {
        "null" | "~" => return JsValue::null(),
        "true" => return true.into(),
        "false" => return false.into(),
        _ => {}
    }
    if let Some(text) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return JsString::from(text.replace("''", "'")).into();
    }
    let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if (is_number || value.starts_with('"'))
        && let Ok(value) = decode::read(&JsString::from(value), context)
    {
        return value;
    }
    JsString::from(value).into()
}
