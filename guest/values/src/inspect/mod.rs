//! Values as text for people, as Node's `util.inspect` shows them.
//!
//! Bounded in depth, breadth and size; what is cut is said. Getters are not called, and recursion
//! ends at [`MAX_DEPTH`].

mod errors;
mod foreign;
mod format;
mod head;
mod kinds;

use boa_engine::{
    Context, JsObject, JsString, JsValue, JsVariant,
    builtins::{error::Error, promise::PromiseState},
    js_string,
    object::builtins::JsTypedArray,
    property::PropertyKey,
};

use belljar_guest_algorithms::layout::{self, Entries};
use belljar_guest_engine::originals::{self, OwnProperty, own_data_property, own_property};

use head::{Head, Lists};

pub use foreign::{Foreign, Holds, describe_with};
pub use format::format;

/// Objects inside the outermost that are shown; deeper ones are `[Object]`.
const MAX_DEPTH: usize = 2;
/// The deepest that a script can ask for.
const DEEPEST: usize = 32;
/// Elements of one object that are shown.
const MAX_MEMBERS: usize = 100;
/// Bytes of one text; the host's own limit on logs is above it.
const MAX_BYTES: usize = 64 * 1024;
/// The members of MCP's content blocks that hold base64, and the length from which it is counted
/// and not shown.
const ENCODED_MEMBERS: [&str; 2] = ["data", "blob"];
const LONG_BASE64: usize = 128;
/// Own properties of an object that are looked at.
const MAX_KEYS: usize = 1_000;

/// One argument of `console.log`: a string as it is, anything else inspected.
pub fn text(value: &JsValue, context: &mut Context) -> String {
    match value.as_string() {
        Some(string) => string.to_std_string_lossy(),
        None => nested(value, context),
    }
}

/// A value as it is shown inside another: strings are quoted.
pub fn nested(value: &JsValue, context: &mut Context) -> String {
    to_depth(value, MAX_DEPTH, context)
}

/// A value as a cell of `console.table` shows it: on one line, little of it.
pub fn cell(value: &JsValue, is_closed: bool, context: &mut Context) -> String {
    let style = Style { levels: usize::from(!is_closed), max_elements: 3, break_length: usize::MAX / 2 };
    styled(value, style, context)
}

/// A value to a depth of the script's choice, within reason.
pub fn deep(value: &JsValue, depth: usize, context: &mut Context) -> String {
    to_depth(value, depth.min(DEEPEST), context)
}

/// A member's name as a step of a path: `.name`, or `['a name']`.
pub fn member(name: &str) -> String {
    let key = layout::key(name);
    if key.starts_with(['\'', '"', '`', '[']) {
        format!("[{}]", key.trim_matches(['[', ']']))
    } else {
        format!(".{key}")
    }
}

fn to_depth(value: &JsValue, max_depth: usize, context: &mut Context) -> String {
    let style = Style { levels: max_depth + 1, max_elements: MAX_MEMBERS, break_length: layout::BREAK_LENGTH };
    styled(value, style, context)
}

fn styled(value: &JsValue, style: Style, context: &mut Context) -> String {
    let mut inspector =
        Inspector { open: Vec::new(), circular: Vec::new(), deepest: 0, indentation: 0, written: 0, style, context };
    inspector.value(value)
}

/// How much is shown, and how wide.
#[derive(Clone, Copy)]
struct Style {
    /// Objects inside each other that are shown.
    levels: usize,
    max_elements: usize,
    break_length: usize,
}

struct Inspector<'context> {
    /// The objects that are being shown.
    open: Vec<JsObject>,
    /// Those of them that are met again inside of themselves, in the order of their numbers.
    circular: Vec<JsObject>,
    /// The depth of the object that was shown last: objects are put on one line from the inside
    /// out.
    deepest: usize,
    indentation: usize,
    written: usize,
    style: Style,
    context: &'context mut Context,
}

impl Inspector<'_> {
    fn value(&mut self, value: &JsValue) -> String {
        let text = match value.variant() {
            JsVariant::String(string) => self.string(&string),
            JsVariant::Object(object) => self.object(&object),
            JsVariant::BigInt(number) => format!("{number}n"),
            JsVariant::Float64(number) if number == 0.0 && number.is_sign_negative() => "-0".to_owned(),
            _ => value.display().to_string(),
        };
        self.written += text.len();
        text
    }

    /// A long text is broken at its line ends.
    fn string(&self, string: &JsString) -> String {
        let units = string.to_vec();
        if units.len() <= 16 || units.len() <= self.style.break_length.saturating_sub(self.indentation + 4) {
            return layout::quoted_units(&units);
        }
        let lines: Vec<String> =
            units.split_inclusive(|unit| *unit == u16::from(b'\n')).map(layout::quoted_units).collect();
        lines.join(&format!(" +\n{}", " ".repeat(self.indentation + 2)))
    }

    /// A value one level further in.
    fn inner(&mut self, value: &JsValue) -> String {
        self.indentation += 2;
        let text = self.value(value);
        self.indentation -= 2;
        text
    }

    fn object(&mut self, object: &JsObject) -> String {
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            let known = self.circular.iter().position(|known| JsObject::equals(known, object));
            let number = known.unwrap_or_else(|| {
                self.circular.push(object.clone());
                self.circular.len() - 1
            });
            return format!("[Circular *{}]", number + 1);
        }
        if self.written > MAX_BYTES {
            return "…".to_owned();
        }
        let head = self.head(object);
        let keys = self.keys(object, &head);
        if keys.is_empty() && head.lists.is_empty() {
            let braces = head.lists.braces();
            return if head.base.is_empty() { format!("{}{}{}", head.prefix, braces.0, braces.1) } else { head.base };
        }
        if self.open.len() >= self.style.levels {
            return head.short();
        }
        self.open.push(object.clone());
        let depth = self.open.len();
        self.deepest = depth;
        let mut entries = self.contents(&head.lists);
        let count = keys.len();
        for (index, key) in keys.into_iter().enumerate() {
            if index == MAX_KEYS || self.written > MAX_BYTES {
                entries.parts.push(format!("... {} more", count - index));
                break;
            }
            entries.parts.push(self.property(object, key));
        }
        self.open.pop();
        let mut base = head.base;
        if let Some(number) = self.circular.iter().position(|known| JsObject::equals(known, object)) {
            let space = if base.is_empty() { "" } else { " " };
            base = format!("<ref *{}>{space}{base}", number + 1);
        }
        let braces = head.lists.braces();
        let opening = format!("{}{}", head.prefix, braces.0);
        let room = layout::Room {
            levels_inside: self.deepest - depth,
            indentation: self.indentation,
            break_length: self.style.break_length,
        };
        entries.laid_out(&base, &opening, braces.1, room)
    }

    /// The own enumerable keys that are shown as members.
    fn keys(&mut self, object: &JsObject, head: &Head) -> Vec<PropertyKey> {
        let is_list = matches!(head.lists, Lists::Elements { .. }) || object.is::<JsString>();
        let is_error = object.is::<Error>();
        let mut shown = Vec::new();
        for key in object.own_property_keys(self.context).unwrap_or_default() {
            if is_list && matches!(key, PropertyKey::Index(_)) {
                continue;
            }
            let is_shown = match is_error {
                true => self.is_shown_of_error(object, &key, &head.base),
                // Those that are only counted are not looked at.
                false => shown.len() >= MAX_KEYS || originals::is_enumerable(object, key.clone(), self.context),
            };
            if is_shown {
                shown.push(key);
            }
        }
        if is_error {
            // What is not listed and shown all the same comes last.
            shown.sort_by_cached_key(|key| !originals::is_enumerable(object, key.clone(), self.context));
        }
        shown
    }

    /// What an object holds beside its members.
    fn contents(&mut self, lists: &Lists) -> Entries {
        let mut entries = Entries::default();
        match lists {
            Lists::Members => {}
            Lists::Elements { object, length } => self.elements(object, *length, &mut entries),
            Lists::Pairs(pairs) => {
                for (key, value) in pairs.iter().take(self.style.max_elements) {
                    let pair = format!("{} => {}", self.inner(key), self.inner(value));
                    entries.parts.push(pair);
                }
                entries.note_rest(pairs.len().saturating_sub(self.style.max_elements));
            }
            Lists::Values(values) => {
                for value in values.iter().take(self.style.max_elements) {
                    let value = self.inner(value);
                    entries.parts.push(value);
                }
                entries.note_rest(values.len().saturating_sub(self.style.max_elements));
            }
            Lists::Named(members) => {
                for (name, value) in members {
                    let member = format!("{name}: {}", self.inner(value));
                    entries.parts.push(member);
                }
            }
            Lists::Parts(parts) => entries.parts.extend_from_slice(parts),
            Lists::State(state) => entries.parts.push(match state {
                PromiseState::Pending => "<pending>".to_owned(),
                PromiseState::Fulfilled(value) => self.inner(value),
                PromiseState::Rejected(reason) => format!("<rejected> {}", self.inner(reason)),
            }),
        }
        entries
    }

    fn elements(&mut self, object: &JsObject, length: usize, entries: &mut Entries) {
        entries.is_list = true;
        entries.is_numeric = true;
        let is_typed = JsTypedArray::from_object(object.clone()).is_ok();
        let mut index = 0;
        while index < length && entries.parts.len() < self.style.max_elements {
            let element = match is_typed {
                true => object.get(index as u64, self.context).ok(),
                false => own_data_property(object, index as u64, self.context),
            };
            let Some(element) = element else {
                let first = index;
                while index < length && !self.has_element(object, index) {
                    index += 1;
                }
                let holes = index - first;
                let plural = if holes == 1 { "" } else { "s" };
                entries.parts.push(format!("<{holes} empty item{plural}>"));
                entries.is_numeric = false;
                continue;
            };
            entries.is_numeric &= element.is_number() || element.is_bigint();
            let element = self.inner(&element);
            entries.parts.push(element);
            index += 1;
        }
        entries.note_rest(length - index);
    }

    fn has_element(&mut self, object: &JsObject, index: usize) -> bool {
        object.has_own_property(index as u64, self.context).unwrap_or_default()
    }

    fn length(&mut self, array: &JsObject) -> usize {
        own_data_property(array, js_string!("length"), self.context)
            .and_then(|length| length.as_number())
            .unwrap_or_default() as usize
    }

    /// The bytes of an image, a sound or a file in a tool's result: their number says more than
    /// thousands of characters of base64.
    fn encoded(&mut self, object: &JsObject, key: &PropertyKey, value: &JsValue) -> Option<String> {
        let text = value.as_string().filter(|text| text.len() >= LONG_BASE64)?;
        if !ENCODED_MEMBERS.iter().any(|name| PropertyKey::from(JsString::from(*name)) == *key) {
            return None;
        }
        own_data_property(object, js_string!("mimeType"), self.context)?.as_string()?;
        let is_base64 = |unit: u16| {
            u8::try_from(unit).is_ok_and(|unit| unit.is_ascii_alphanumeric() || matches!(unit, b'+' | b'/'))
        };
        let is_encoded = text.iter().take(LONG_BASE64 - 2).all(is_base64);
        let padding = text.iter().skip(text.len().saturating_sub(2)).filter(|unit| *unit == u16::from(b'=')).count();
        is_encoded.then(|| format!("<{} bytes as base64>", (text.len() / 4 * 3).saturating_sub(padding)))
    }

    fn property(&mut self, object: &JsObject, key: PropertyKey) -> String {
        let is_enumerable = originals::is_enumerable(object, key.clone(), self.context);
        let value = match own_property(object, key.clone(), self.context) {
            Some(OwnProperty::Value(value)) => match self.encoded(object, &key, &value) {
                Some(shown) => shown,
                None => self.inner(&value),
            },
            Some(OwnProperty::Accessor { get: true, set: true }) => "[Getter/Setter]".to_owned(),
            Some(OwnProperty::Accessor { get: true, .. }) => "[Getter]".to_owned(),
            Some(OwnProperty::Accessor { set: true, .. }) => "[Setter]".to_owned(),
            Some(OwnProperty::Accessor { .. }) | None => "undefined".to_owned(),
        };
        let name = match &key {
            PropertyKey::Symbol(symbol) => format!("[{symbol}]"),
            key => layout::key(&key.to_string()),
        };
        if is_enumerable { format!("{name}: {value}") } else { format!("[{name}]: {value}") }
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::is_logged;

    #[test]
    fn values_are_shown_as_node_shows_them() {
        is_logged(include_str!("../../../../tests/tables/console.json"));
    }
}
