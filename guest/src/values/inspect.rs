//! Values as text for people, as Node's `util.inspect` shows them.
//!
//! Bounded in depth, breadth and size; what is cut is said. Getters are not called, and recursion ends at [`MAX_DEPTH`].

use std::fmt::Write as _;

use boa_engine::{
    Context, JsObject, JsString, JsValue, JsVariant,
    builtins::promise::PromiseState,
    js_string,
    object::builtins::{JsDate, JsMap, JsPromise, JsRegExp, JsSet},
    property::PropertyKey,
};

use crate::globals::{enumerable_keys, own_data_property};

/// Objects inside each other that are shown; deeper ones are `[Object]`.
const MAX_DEPTH: usize = 4;
/// Elements or members of one object that are shown.
const MAX_MEMBERS: usize = 100;
/// Bytes of one text; the host's own limit on logs is above it.
const MAX_BYTES: usize = 64 * 1024;
/// A line longer than this is broken, member by member.
const LINE_WIDTH: usize = 72;

/// One argument of `console.log`: a string as it is, anything else inspected.
pub(crate) fn text(value: &JsValue, context: &mut Context) -> String {
    match value.as_string() {
        Some(string) => string.to_std_string_lossy(),
        None => nested(value, context),
    }
}

/// A value as it is shown inside another: strings are quoted.
pub(crate) fn nested(value: &JsValue, context: &mut Context) -> String {
    let mut inspector = Inspector { open: Vec::new(), written: 0, context };
    inspector.value(value)
}

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
        'j' => super::encode::arguments(value, context).unwrap_or_else(|_| "[Circular]".to_owned()),
        'o' | 'O' => nested(value, context),
        _ => text(value, context),
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

struct Inspector<'context> {
    open: Vec<JsObject>,
    written: usize,
    context: &'context mut Context,
}

impl Inspector<'_> {
    fn value(&mut self, value: &JsValue) -> String {
        let text = match value.variant() {
            JsVariant::String(string) => quoted(&string),
            JsVariant::Object(object) => self.object(&object),
            JsVariant::BigInt(number) => format!("{number}n"),
            JsVariant::Float64(number) if number == 0.0 && number.is_sign_negative() => "-0".to_owned(),
            _ => value.display().to_string(),
        };
        self.written += text.len();
        text
    }

    fn object(&mut self, object: &JsObject) -> String {
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            return "[Circular]".to_owned();
        }
        if self.open.len() > MAX_DEPTH {
            return if object.is_array() { "[Array]" } else { "[Object]" }.to_owned();
        }
        if self.written > MAX_BYTES {
            return "…".to_owned();
        }
        self.open.push(object.clone());
        let text = self.open_object(object);
        self.open.pop();
        text
    }

    fn open_object(&mut self, object: &JsObject) -> String {
        let value = JsValue::from(object.clone());
        if object.is_callable() {
            let name = own_data_property(object, js_string!("name"), self.context).and_then(|name| name.as_string());
            return match name {
                Some(name) if !name.is_empty() => format!("[Function: {}]", name.to_std_string_lossy()),
                _ => "[Function (anonymous)]".to_owned(),
            };
        }
        if object.is::<boa_engine::builtins::error::Error>() {
            return self.error(object);
        }
        if object.is_array() {
            return self.array(object);
        }
        if let Ok(date) = JsDate::from_object(object.clone()) {
            return match date.to_iso_string(self.context) {
                Ok(iso) => iso.as_string().map_or_else(|| "Invalid Date".to_owned(), |iso| iso.to_std_string_lossy()),
                Err(_) => "Invalid Date".to_owned(),
            };
        }
        if JsRegExp::from_object(object.clone()).is_ok() {
            return value
                .to_string(self.context)
                .map_or_else(|_| "[RegExp]".to_owned(), |text| text.to_std_string_lossy());
        }
        if let Ok(map) = JsMap::from_object(object.clone()) {
            let mut entries = Vec::new();
            let _ = map.for_each_native(|key, value| {
                entries.push((key, value));
                Ok(())
            });
            let size = entries.len();
            let mut shown: Vec<String> = entries
                .iter()
                .take(MAX_MEMBERS)
                .map(|(key, value)| format!("{} => {}", self.value(key), self.value(value)))
                .collect();
            note_rest(&mut shown, size);
            return enclosed(&format!("Map({size}) {{"), &shown, "}");
        }
        if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut values = Vec::new();
            let _ = set.for_each_native(|value| {
                values.push(value);
                Ok(())
            });
            let size = values.len();
            let mut shown: Vec<String> = values.iter().take(MAX_MEMBERS).map(|value| self.value(value)).collect();
            note_rest(&mut shown, size);
            return enclosed(&format!("Set({size}) {{"), &shown, "}");
        }
        if let Ok(promise) = JsPromise::from_object(object.clone()) {
            return match promise.state() {
                PromiseState::Pending => "Promise { <pending> }".to_owned(),
                PromiseState::Fulfilled(value) => format!("Promise {{ {} }}", self.value(&value)),
                PromiseState::Rejected(reason) => format!("Promise {{ <rejected> {} }}", self.value(&reason)),
            };
        }
        let members = self.members(object);
        enclosed(&format!("{}{{", self.class_prefix(object)), &members, "}")
    }

    fn array(&mut self, array: &JsObject) -> String {
        let length = own_data_property(array, js_string!("length"), self.context)
            .and_then(|length| length.as_number())
            .unwrap_or_default() as usize;
        let mut shown = Vec::new();
        for index in 0..length.min(MAX_MEMBERS) {
            shown.push(match own_data_property(array, index as u64, self.context) {
                Some(element) => self.value(&element),
                None => "<empty>".to_owned(),
            });
        }
        note_rest(&mut shown, length);
        enclosed("[", &shown, "]")
    }

    fn members(&mut self, object: &JsObject) -> Vec<String> {
        let Ok(keys) = enumerable_keys(object, self.context) else { return Vec::new() };
        let count = keys.len();
        let mut shown = Vec::new();
        for key in keys.into_iter().take(MAX_MEMBERS) {
            let value = match own_data_property(object, PropertyKey::from(key.clone()), self.context) {
                Some(value) => self.value(&value),
                None => "[Getter]".to_owned(),
            };
            shown.push(format!("{}: {value}", shown_key(&key)));
        }
        note_rest(&mut shown, count);
        shown
    }

    /// `ClassName ` before the members of an instance, nothing before those of a plain object.
    fn class_prefix(&mut self, object: &JsObject) -> String {
        let Some(prototype) = object.prototype() else { return "[Object: null prototype] ".to_owned() };
        let constructor = own_data_property(&prototype, js_string!("constructor"), self.context);
        let name = constructor
            .and_then(|constructor| constructor.as_object())
            .and_then(|constructor| own_data_property(&constructor, js_string!("name"), self.context))
            .and_then(|name| name.as_string())
            .map(|name| name.to_std_string_lossy())
            .unwrap_or_default();
        if name.is_empty() || name == "Object" { String::new() } else { format!("{name} ") }
    }

    fn error(&mut self, error: &JsObject) -> String {
        let mut text = crate::failure::headline(error, self.context);
        let members = self.members(error);
        if !members.is_empty() {
            let _ = write!(text, " {}", enclosed("{", &members, "}"));
        }
        text
    }
}

fn note_rest(shown: &mut Vec<String>, total: usize) {
    if total > MAX_MEMBERS {
        shown.push(format!("... {} more items", total - MAX_MEMBERS));
    }
}

fn enclosed(open: &str, parts: &[String], close: &str) -> String {
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let width: usize = parts.iter().map(|part| part.len() + 2).sum();
    if width <= LINE_WIDTH && !parts.iter().any(|part| part.contains('\n')) {
        return format!("{open} {} {close}", parts.join(", "));
    }
    let mut text = format!("{open}\n");
    for (index, part) in parts.iter().enumerate() {
        let _ = write!(text, "  {}", part.replace('\n', "\n  "));
        text.push_str(if index + 1 < parts.len() { ",\n" } else { "\n" });
    }
    text.push_str(close);
    text
}

fn shown_key(key: &JsString) -> String {
    let text = key.to_std_string_lossy();
    let is_identifier = text.chars().all(|character| character.is_alphanumeric() || "_$".contains(character))
        && !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit());
    if is_identifier { text } else { quoted(key) }
}

fn quoted(string: &JsString) -> String {
    let text = string.to_std_string_lossy();
    let quote = if !text.contains('\'') {
        '\''
    } else if !text.contains('"') {
        '"'
    } else {
        '`'
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(quote);
    for character in text.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' => quoted.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\x{:02X}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push(quote);
    quoted
}
