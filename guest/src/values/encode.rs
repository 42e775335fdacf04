//! JavaScript values to JSON text, by the rules of `JSON.stringify`, with errors that name the place.
//!
//! What `JSON.stringify` makes a surprise of is settled so: a `Map` becomes an object if all its keys are strings, else an
//! array of pairs; a `Set` becomes an array; `undefined` as the whole value becomes `null`. A BigInt, a cycle, and nesting
//! beyond [`MAX_DEPTH`] are errors. Recursion is bounded by that depth.

use std::fmt::Write as _;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsString, JsValue, JsVariant, js_string,
    object::builtins::{JsArray, JsMap, JsSet},
    property::PropertyKey,
};

use crate::{failure::Failing, globals::enumerable_keys};

/// The host accepts no deeper value.
const MAX_DEPTH: usize = 127;

/// The run's value as JSON, within `max_output` bytes.
pub(crate) fn output(value: &JsValue, max_output: u32, context: &mut Context) -> Result<String, Failing> {
    let mut encoder = Encoder::new("the value", context);
    let written = encoder.top(value);
    let text = encoder.text;
    written.map_err(|error| Failing::of(error, context))?;
    if text.len() > max_output as usize {
        return Err(Failing::Output { used: text.len() as u64, max: max_output });
    }
    Ok(text)
}

/// The arguments of a call as a JSON object.
pub(crate) fn arguments(value: &JsValue, context: &mut Context) -> Result<String, JsError> {
    let mut encoder = Encoder::new("the arguments", context);
    encoder.top(value)?;
    Ok(encoder.text)
}

struct Encoder<'context> {
    text: String,
    /// The objects that are being written, to see cycles.
    open: Vec<JsObject>,
    /// The keys that lead to the current value, for messages.
    path: Vec<PathStep>,
    what: &'static str,
    context: &'context mut Context,
}

enum PathStep {
    Key(JsString),
    Index(u64),
}

impl<'context> Encoder<'context> {
    fn new(what: &'static str, context: &'context mut Context) -> Self {
        Self { text: String::new(), open: Vec::new(), path: Vec::new(), what, context }
    }

    fn top(&mut self, value: &JsValue) -> Result<(), JsError> {
        if !self.value(value, &js_string!())? {
            self.text.push_str("null");
        }
        Ok(())
    }

    /// Writes a value. False, and nothing written, where `JSON.stringify` would leave it out.
    fn value(&mut self, value: &JsValue, key: &JsString) -> Result<bool, JsError> {
        let converted = match value.as_object() {
            Some(object) => {
                let to_json = object.get(js_string!("toJSON"), self.context)?;
                match to_json.as_callable() {
                    Some(to_json) => Some(to_json.call(value, &[key.clone().into()], self.context)?),
                    None => None,
                }
            }
            None => None,
        };
        let value = converted.as_ref().unwrap_or(value);
        match value.variant() {
            JsVariant::Undefined | JsVariant::Symbol(_) => return Ok(false),
            JsVariant::Null => self.text.push_str("null"),
            JsVariant::Boolean(value) => self.text.push_str(if value { "true" } else { "false" }),
            JsVariant::Integer32(value) => {
                let _ = write!(self.text, "{value}");
            }
            JsVariant::Float64(value) => self.number(value),
            JsVariant::String(value) => quote(&value, &mut self.text),
            JsVariant::BigInt(_) => {
                return Err(self.error("is a BigInt, which JSON cannot hold: convert it with String(x) or Number(x)"));
            }
            JsVariant::Object(object) => return self.object(&object),
        }
        Ok(true)
    }

    fn number(&mut self, value: f64) {
        if value.is_finite() {
            let text = JsValue::from(value).to_string(self.context).unwrap_or_else(|_| js_string!("null"));
            self.text.push_str(&text.to_std_string_lossy());
        } else {
            self.text.push_str("null");
        }
    }

    fn object(&mut self, object: &JsObject) -> Result<bool, JsError> {
        if object.is_callable() {
            return Ok(false);
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(&format!("nests deeper than {MAX_DEPTH} levels")));
        }
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            return Err(self.error("is cyclic: it refers back to an object that holds it"));
        }
        self.open.push(object.clone());
        let written = self.open_object(object)?;
        self.open.pop();
        Ok(written)
    }

    fn open_object(&mut self, object: &JsObject) -> Result<bool, JsError> {
        if object.is_array() {
            self.array(object)?;
        } else if let Ok(map) = JsMap::from_object(object.clone()) {
            self.map(&map)?;
        } else if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut values = Vec::new();
            set.for_each_native(|value| {
                values.push(value);
                Ok(())
            })?;
            self.elements(&values)?;
        } else if let Some(primitive) = boxed_primitive(object) {
            return self.value(&primitive, &js_string!());
        } else {
            self.members(object)?;
        }
        Ok(true)
    }

    fn array(&mut self, array: &JsObject) -> Result<(), JsError> {
        let length = array.get(js_string!("length"), self.context)?.to_length(self.context)?;
        self.text.push('[');
        for index in 0..length {
            if index > 0 {
                self.text.push(',');
            }
            let element = array.get(index, self.context)?;
            self.path.push(PathStep::Index(index));
            self.element(&element, index)?;
            self.path.pop();
        }
        self.text.push(']');
        Ok(())
    }

    fn elements(&mut self, values: &[JsValue]) -> Result<(), JsError> {
        self.text.push('[');
        for (index, value) in (0_u64..).zip(values) {
            if index > 0 {
                self.text.push(',');
            }
            self.path.push(PathStep::Index(index));
            self.element(value, index)?;
            self.path.pop();
        }
        self.text.push(']');
        Ok(())
    }

    /// An element that cannot be written is `null`, so that the others keep their places.
    fn element(&mut self, value: &JsValue, index: u64) -> Result<(), JsError> {
        let key = if value.is_object() { JsString::from(index.to_string()) } else { js_string!() };
        if !self.value(value, &key)? {
            self.text.push_str("null");
        }
        Ok(())
    }

    fn map(&mut self, map: &JsMap) -> Result<(), JsError> {
        let mut entries = Vec::new();
        map.for_each_native(|key, value| {
            entries.push((key, value));
            Ok(())
        })?;
        let names: Option<Vec<JsString>> = entries.iter().map(|(key, _)| key.as_string()).collect();
        let Some(names) = names else {
            let pairs: Vec<JsValue> =
                entries.into_iter().map(|(key, value)| JsArray::from_iter([key, value], self.context).into()).collect();
            return self.elements(&pairs);
        };
        self.text.push('{');
        let mut first = true;
        for (name, (_, value)) in names.into_iter().zip(entries) {
            self.member(name, &value, &mut first)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn members(&mut self, object: &JsObject) -> Result<(), JsError> {
        let keys = enumerable_keys(object, self.context)?;
        self.text.push('{');
        let mut first = true;
        for name in keys {
            let value = object.get(PropertyKey::from(name.clone()), self.context)?;
            self.member(name, &value, &mut first)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn member(&mut self, name: JsString, value: &JsValue, first: &mut bool) -> Result<(), JsError> {
        let before = self.text.len();
        if !*first {
            self.text.push(',');
        }
        quote(&name, &mut self.text);
        self.text.push(':');
        self.path.push(PathStep::Key(name.clone()));
        let written = self.value(value, &name)?;
        self.path.pop();
        if written {
            *first = false;
        } else {
            self.text.truncate(before);
        }
        Ok(())
    }

    /// A TypeError that names the place, as in `$.items[3].parent`.
    fn error(&self, fault: &str) -> JsError {
        let mut place = String::from("$");
        for step in &self.path {
            match step {
                PathStep::Index(index) => {
                    let _ = write!(place, "[{index}]");
                }
                PathStep::Key(key) => {
                    let key = key.to_std_string_lossy();
                    let is_name = key.chars().all(|character| character.is_alphanumeric() || "_$".contains(character))
                        && !key.starts_with(|first: char| first.is_ascii_digit())
                        && !key.is_empty();
                    let _ = if is_name { write!(place, ".{key}") } else { write!(place, "[{key:?}]") };
                }
            }
        }
        JsNativeError::typ().with_message(format!("{} cannot be JSON: {place} {fault}", self.what)).into()
    }
}

/// The primitive inside a `Number`, `String` or `Boolean` object.
fn boxed_primitive(object: &JsObject) -> Option<JsValue> {
    if let Some(number) = object.downcast_ref::<f64>() {
        return Some(JsValue::from(*number));
    }
    if let Some(boolean) = object.downcast_ref::<bool>() {
        return Some(JsValue::from(*boolean));
    }
    object.downcast_ref::<JsString>().map(|string| JsValue::from(string.clone()))
}

/// Writes a JSON string. A lone surrogate becomes U+FFFD, as in every text that leaves JavaScript.
fn quote(string: &JsString, text: &mut String) {
    text.push('"');
    for character in char::decode_utf16(string.iter()) {
        match character.unwrap_or(char::REPLACEMENT_CHARACTER) {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", control as u32);
            }
            other => text.push(other),
        }
    }
    text.push('"');
}
