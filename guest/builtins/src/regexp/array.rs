//! The array that describes a match.

use boa_engine::{
    Context, JsObject, JsString, JsValue, js_string, object::builtins::JsArray, property::PropertyDescriptor,
};
use regress::{Match, Range};

use super::pattern::Pattern;
use crate::string::cut;

/// The array as the specification has it, with its properties in that order.
pub(super) fn of_match(found: &Match, text: &JsString, pattern: &Pattern, context: &mut Context) -> JsObject {
    let array: JsObject = JsArray::from_iter(parts(found, text), context).into();
    put(&array, js_string!("index"), found.start());
    put(&array, js_string!("input"), text.clone());
    put(&array, js_string!("groups"), groups(found, |range| captured(range, text)));
    if pattern.has(b'd') {
        let mut pair = |range: Option<Range>| {
            range.map_or_else(JsValue::undefined, |range| {
                JsArray::from_iter([range.start.into(), range.end.into()], context).into()
            })
        };
        let pairs: Vec<JsValue> = found.groups().map(&mut pair).collect();
        let groups = groups(found, pair);
        let indices: JsObject = JsArray::from_iter(pairs, context).into();
        put(&indices, js_string!("groups"), groups);
        put(&array, js_string!("indices"), indices);
    }
    array
}

/// The text of the match and those of its groups.
pub(super) fn parts<'a>(found: &'a Match, text: &'a JsString) -> impl Iterator<Item = JsValue> + 'a {
    found.groups().map(|range| captured(range, text))
}

/// An object with what the named groups have captured; `undefined` if there are none.
pub(super) fn named(found: &Match, text: &JsString) -> JsValue {
    groups(found, |range| captured(range, text))
}

fn captured(range: Option<Range>, text: &JsString) -> JsValue {
    range.map_or_else(JsValue::undefined, |range| cut(text, range.start, range.end).into())
}

fn groups(found: &Match, mut value: impl FnMut(Option<Range>) -> JsValue) -> JsValue {
    let mut names = found.named_groups().peekable();
    if names.peek().is_none() {
        return JsValue::undefined();
    }
    let groups = JsObject::with_null_proto();
    for (name, range) in names {
        put(&groups, JsString::from(name), value(range));
    }
    groups.into()
}

/// Defines a property of an object that no script has seen yet.
pub(super) fn put(object: &JsObject, key: JsString, value: impl Into<JsValue>) {
    let descriptor =
        PropertyDescriptor::builder().value(value.into()).writable(true).enumerable(true).configurable(true).build();
    object.insert_property(key, descriptor);
}
