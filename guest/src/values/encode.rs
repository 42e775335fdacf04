//! JavaScript values to JSON text, by the rules of `JSON.stringify`, with errors that name the place.
//!
//! What `JSON.stringify` makes a surprise of is settled so: a `Map` becomes an object if all its keys are strings, else an
//! array of pairs; a `Set` becomes an array; an `Error` becomes an object with its name, its message and its own members;
//! `undefined` as the whole value becomes `null`. A BigInt, a promise that was not awaited, a cycle, and nesting beyond
//! [`MAX_DEPTH`] are errors. Recursion is bounded by that depth, and memory by the largest text that is of use.

use std::fmt::Write as _;

use boa_engine::{
    Context, JsBigInt, JsError, JsNativeError, JsObject, JsString, JsValue, JsVariant,
    builtins::{error::Error, promise::Promise},
    js_string,
    object::builtins::{JsArray, JsMap, JsProxy, JsSet},
    property::PropertyKey,
};

use super::sink::{Full, Sink};
use crate::{
    failure::{self, Failing},
    globals::{self, enumerable_keys},
};

/// The host accepts no deeper value.
const MAX_DEPTH: usize = 127;

/// The run's value as JSON, within `max_output` bytes.
pub(crate) fn output(value: &JsValue, max_output: u32, context: &mut Context) -> Result<String, Failing> {
    let mut encoder = Encoder::new("the value", max_output as usize, context);
    match encoder.top(value) {
        Ok(()) => {}
        Err(Stop::Thrown(error)) => return Err(Failing::of(error, context)),
        Err(Stop::Full) => return Err(Failing::Output { used: encoder.sink.used(), max: max_output }),
    }
    encoder.sink.finish().map_err(|used| Failing::Output { used, max: max_output })
}

/// The arguments of a call as JSON, within `max` bytes. `what` is what messages call them.
pub(crate) fn arguments(value: &JsValue, what: &str, max: usize, context: &mut Context) -> Result<String, JsError> {
    let mut encoder = Encoder::new(what, max, context);
    let used = match encoder.top(value) {
        Ok(()) => match encoder.sink.finish() {
            Ok(text) => return Ok(text),
            Err(used) => used,
        },
        Err(Stop::Thrown(error)) => return Err(error),
        Err(Stop::Full) => encoder.sink.used(),
    };
    let message = format!("{what} have {used} bytes as JSON; the limit is {max}");
    Err(JsNativeError::range().with_message(message).into())
}

struct Encoder<'context> {
    sink: Sink,
    /// The objects that are being written, to see cycles.
    open: Vec<JsObject>,
    /// The keys that lead to the current value, for messages.
    path: Vec<PathStep>,
    what: String,
    context: &'context mut Context,
}

enum PathStep {
    Key(JsString),
    Index(u64),
}

/// Why a value was not written to its end.
enum Stop {
    Thrown(JsError),
    /// It is so large that its exact size is of no interest.
    Full,
}

impl From<JsError> for Stop {
    fn from(error: JsError) -> Self {
        Self::Thrown(error)
    }
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl<'context> Encoder<'context> {
    fn new(what: &str, max: usize, context: &'context mut Context) -> Self {
        Self { sink: Sink::new(max), open: Vec::new(), path: Vec::new(), what: what.to_owned(), context }
    }

    fn top(&mut self, value: &JsValue) -> Result<(), Stop> {
        let key = js_string!();
        match self.resolve(value, &key)? {
            Some(value) => self.write(&value),
            None => Ok(self.sink.put("null")?),
        }
    }

    /// What is to be written for a value, or nothing where `JSON.stringify` would leave it out.
    fn resolve(&mut self, value: &JsValue, key: &JsString) -> Result<Option<JsValue>, Stop> {
        let to_json = match value.variant() {
            JsVariant::Object(object) => object.get(js_string!("toJSON"), self.context)?,
            // Scripts teach BigInts to be JSON by way of their prototype.
            JsVariant::BigInt(_) => value.to_object(self.context)?.get(js_string!("toJSON"), self.context)?,
            _ => JsValue::undefined(),
        };
        let value = match to_json.as_callable() {
            Some(to_json) => to_json.call(value, &[key.clone().into()], self.context)?,
            None => value.clone(),
        };
        let is_left_out = value.is_undefined() || value.is_symbol() || value.is_callable();
        Ok((!is_left_out).then_some(value))
    }

    fn write(&mut self, value: &JsValue) -> Result<(), Stop> {
        match value.variant() {
            JsVariant::Boolean(value) => self.sink.put(if value { "true" } else { "false" })?,
            JsVariant::Integer32(value) => self.sink.put(&value.to_string())?,
            JsVariant::Float64(value) => self.number(value)?,
            JsVariant::String(value) => self.quote(&value)?,
            JsVariant::BigInt(_) => return Err(self.big_integer()),
            JsVariant::Object(object) => return self.object(&object),
            JsVariant::Null | JsVariant::Undefined | JsVariant::Symbol(_) => self.sink.put("null")?,
        }
        Ok(())
    }

    fn number(&mut self, value: f64) -> Result<(), Full> {
        if !value.is_finite() {
            return self.sink.put("null");
        }
        let text = JsValue::from(value).to_string(self.context).unwrap_or(js_string!("null"));
        self.sink.put(&text.to_std_string_lossy())
    }

    fn object(&mut self, object: &JsObject) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(&format!("nests deeper than {MAX_DEPTH} levels")));
        }
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            return Err(self.error("is cyclic: it refers back to an object that holds it"));
        }
        self.open.push(object.clone());
        self.open_object(object)?;
        self.open.pop();
        Ok(())
    }

    fn open_object(&mut self, object: &JsObject) -> Result<(), Stop> {
        if self.is_array(object) {
            return self.array(object);
        }
        if let Ok(map) = JsMap::from_object(object.clone()) {
            return self.map(&map);
        }
        if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut values = Vec::new();
            set.for_each_native(|value| {
                values.push(value);
                Ok(())
            })?;
            return self.elements(&values);
        }
        if object.is::<Promise>() {
            return Err(self.error("is a promise that was not awaited: use await, or await Promise.all([…])"));
        }
        if object.is::<Error>() {
            return self.thrown_error(object);
        }
        if object.is::<JsBigInt>() {
            return Err(self.big_integer());
        }
        match boxed_primitive(object) {
            Some(primitive) => self.write(&primitive),
            None => self.members(object, &[]),
        }
    }

    fn is_array(&mut self, object: &JsObject) -> bool {
        object.is_array() || (JsProxy::from_object(object.clone()).is_ok() && globals::is_array(object, self.context))
    }

    fn array(&mut self, array: &JsObject) -> Result<(), Stop> {
        let length = array.get(js_string!("length"), self.context)?.to_length(self.context)?;
        self.sink.put("[")?;
        for index in 0..length {
            let element = array.get(index, self.context)?;
            self.element(&element, index)?;
        }
        Ok(self.sink.put("]")?)
    }

    fn elements(&mut self, values: &[JsValue]) -> Result<(), Stop> {
        self.sink.put("[")?;
        for (index, value) in (0_u64..).zip(values) {
            self.element(value, index)?;
        }
        Ok(self.sink.put("]")?)
    }

    /// An element that cannot be written is `null`, so that the others keep their places.
    fn element(&mut self, value: &JsValue, index: u64) -> Result<(), Stop> {
        if index > 0 {
            self.sink.put(",")?;
        }
        self.path.push(PathStep::Index(index));
        let key = if value.is_object() { JsString::from(index.to_string()) } else { js_string!() };
        match self.resolve(value, &key)? {
            Some(value) => self.write(&value)?,
            None => self.sink.put("null")?,
        }
        self.path.pop();
        Ok(())
    }

    fn map(&mut self, map: &JsMap) -> Result<(), Stop> {
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
        self.sink.put("{")?;
        let mut is_first = true;
        for (name, (_, value)) in names.into_iter().zip(entries) {
            self.member(name, &value, &mut is_first)?;
        }
        Ok(self.sink.put("}")?)
    }

    /// `{}` is what `JSON.stringify` makes of an error, and what nobody wants to read.
    fn thrown_error(&mut self, error: &JsObject) -> Result<(), Stop> {
        let (name, message) = failure::name_and_message(error, self.context);
        let told = [("name", name), ("message", message)];
        self.members(error, &told.map(|(key, text)| (js_string!(key), JsString::from(text).into())))
    }

    /// The own members, after those that are `told` in their place.
    fn members(&mut self, object: &JsObject, told: &[(JsString, JsValue)]) -> Result<(), Stop> {
        let keys = enumerable_keys(object, self.context)?;
        self.sink.put("{")?;
        let mut is_first = true;
        for (name, value) in told {
            self.member(name.clone(), value, &mut is_first)?;
        }
        for name in keys.into_iter().filter(|name| !told.iter().any(|(told, _)| told == name)) {
            let value = object.get(PropertyKey::from(name.clone()), self.context)?;
            self.member(name, &value, &mut is_first)?;
        }
        Ok(self.sink.put("}")?)
    }

    fn member(&mut self, name: JsString, value: &JsValue, is_first: &mut bool) -> Result<(), Stop> {
        self.path.push(PathStep::Key(name.clone()));
        if let Some(value) = self.resolve(value, &name)? {
            if !std::mem::take(is_first) {
                self.sink.put(",")?;
            }
            self.quote(&name)?;
            self.sink.put(":")?;
            self.write(&value)?;
        }
        self.path.pop();
        Ok(())
    }

    /// Writes a JSON string. A lone surrogate becomes U+FFFD, as in every text that leaves JavaScript.
    fn quote(&mut self, string: &JsString) -> Result<(), Full> {
        self.sink.put("\"")?;
        for character in char::decode_utf16(string.iter()) {
            match character.unwrap_or(char::REPLACEMENT_CHARACTER) {
                '"' => self.sink.put("\\\"")?,
                '\\' => self.sink.put("\\\\")?,
                '\n' => self.sink.put("\\n")?,
                '\r' => self.sink.put("\\r")?,
                '\t' => self.sink.put("\\t")?,
                control if control < ' ' => self.sink.put(&format!("\\u{:04x}", control as u32))?,
                other => self.sink.put(other.encode_utf8(&mut [0; 4]))?,
            }
        }
        self.sink.put("\"")
    }

    fn big_integer(&self) -> Stop {
        self.error("is a BigInt, which JSON cannot hold: convert it with String(x) or Number(x)")
    }

    /// A TypeError that names the place, as in `$.items[3].parent`.
    fn error(&self, fault: &str) -> Stop {
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
        let message = format!("{} cannot be JSON: {place} {fault}", self.what);
        Stop::Thrown(JsNativeError::typ().with_message(message).into())
    }
}

/// The primitive inside a `Number`, `String` or `Boolean` object.
pub(crate) fn boxed_primitive(object: &JsObject) -> Option<JsValue> {
    if let Some(number) = object.downcast_ref::<f64>() {
        return Some(JsValue::from(*number));
    }
    if let Some(boolean) = object.downcast_ref::<bool>() {
        return Some(JsValue::from(*boolean));
    }
    object.downcast_ref::<JsString>().map(|string| JsValue::from(string.clone()))
}
