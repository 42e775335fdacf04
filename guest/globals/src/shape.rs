//! What a value is, in a line. Nothing of the script's is called for it.

use boa_engine::{
    Context, JsObject, JsString, JsValue, JsVariant,
    builtins::promise::Promise,
    js_string,
    object::builtins::{JsDate, JsProxy},
};

use belljar_guest_engine::{
    collections::{Map, Set},
    originals::enumerable_keys,
    plain,
};
use belljar_guest_values::inspect;

/// Members of an object that are shown.
pub(super) const MAX_MEMBERS: usize = 8;
/// Characters of a text that are shown.
const MAX_TEXT: usize = 40;

/// What a value is, in a line: `{ issues: Array(14), total: number }`.
pub(super) fn shape(value: &JsValue, context: &mut Context) -> String {
    match value.variant() {
        JsVariant::String(text) => {
            let text = text.to_std_string_lossy();
            let shown: String = text.chars().take(MAX_TEXT).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("the text {:?}", format!("{shown}{more}"))
        }
        JsVariant::Object(object) if object.is_array() => match plain::element(&object, 0) {
            Some(first) if first.is_object() && !is_list(&first) => {
                format!("{} of {}", kind(value), shape(&first, context))
            }
            Some(first) => format!("{} of {}", kind(value), kind(&first)),
            None => "an empty array".to_owned(),
        },
        JsVariant::Object(object) if has_members(&object) => members(&object, context),
        JsVariant::Object(_) => format!("a {}", kind(value)),
        _ => format!("the {} {}", kind(value), value.display()),
    }
}

fn members(object: &JsObject, context: &mut Context) -> String {
    let names = names(object, context);
    if names.is_empty() {
        return "{} without members".to_owned();
    }
    let shown = names.iter().take(MAX_MEMBERS).map(|name| {
        let value = plain::member(object, &JsString::from(name.as_str()).into()).unwrap_or_default();
        let name = inspect::member(name);
        format!("{}: {}", name.strip_prefix('.').unwrap_or(&name), kind(&value))
    });
    let mut shown: Vec<String> = shown.collect();
    if names.len() > MAX_MEMBERS {
        shown.push(format!("… {} more", names.len() - MAX_MEMBERS));
    }
    format!("{{ {} }}", shown.join(", "))
}

/// The names of what an object has, if it is one that says it by its members.
pub(super) fn names(object: &JsObject, context: &mut Context) -> Vec<String> {
    if !has_members(object) {
        return Vec::new();
    }
    let names = enumerable_keys(object, context).unwrap_or_default();
    names.iter().map(JsString::to_std_string_lossy).collect()
}

/// Whether an object is nothing but its members.
fn has_members(object: &JsObject) -> bool {
    !object.is_callable()
        && !object.is::<Map>()
        && !object.is::<Set>()
        && !object.is::<Promise>()
        && JsDate::from_object(object.clone()).is_err()
        && JsProxy::from_object(object.clone()).is_err()
}

pub(super) fn is_list(value: &JsValue) -> bool {
    value.as_object().is_some_and(|object| object.is_array())
}

/// What a value is, in a word.
fn kind(value: &JsValue) -> String {
    match value.variant() {
        JsVariant::Object(object) if object.is_array() => {
            let length = plain::member(&object, &js_string!("length").into());
            let length = length.and_then(|length| length.as_number()).unwrap_or_default();
            format!("Array({length})")
        }
        JsVariant::Object(object) if object.is_callable() => "function".to_owned(),
        JsVariant::Object(object) if object.is::<Promise>() => "promise".to_owned(),
        JsVariant::Object(object) if JsDate::from_object(object.clone()).is_ok() => "Date".to_owned(),
        JsVariant::Object(object) if object.is::<Map>() => "Map".to_owned(),
        JsVariant::Object(object) if object.is::<Set>() => "Set".to_owned(),
        JsVariant::Object(_) => "object".to_owned(),
        JsVariant::Null => "null".to_owned(),
        _ => value.type_of().to_owned(),
    }
}
