//! What stands where in a JSON text, as a reviver learns it: the source of each value that is no
//! array and no object.

use std::collections::HashMap;

use boa_engine::{JsString, JsValue, property::PropertyKey};

use super::{Fault, plain, reader::Reader};

/// A part of a text, and the value that it became.
pub struct Record {
    value: JsValue,
    part: Part,
}

enum Part {
    Primitive(JsString),
    Array(Vec<Record>),
    Object(HashMap<PropertyKey, Record>),
}

impl Record {
    /// Whether the text still says what `value` is.
    pub fn is_of(&self, value: &JsValue) -> bool {
        JsValue::same_value(&self.value, value)
    }

    pub fn source(&self) -> Option<&JsString> {
        match &self.part {
            Part::Primitive(source) => Some(source),
            Part::Array(_) | Part::Object(_) => None,
        }
    }

    pub fn element(&self, index: u64) -> Option<&Self> {
        match &self.part {
            Part::Array(elements) => elements.get(usize::try_from(index).ok()?),
            Part::Primitive(_) | Part::Object(_) => None,
        }
    }

    pub fn member(&self, key: &PropertyKey) -> Option<&Self> {
        match &self.part {
            Part::Object(members) => members.get(key),
            Part::Primitive(_) | Part::Array(_) => None,
        }
    }
}

/// The record of a text that became `value`. It calls itself: whoever asks has looked how deep the
/// text is.
pub(super) fn record(reader: &mut Reader<'_>, value: JsValue) -> Result<Record, Fault> {
    // Of members of one name, the value is that of the last: so what the text has here need not be
    // what the value is.
    let object = value.as_object();
    let part = match reader.next() {
        Some(b'[') => {
            reader.skip();
            let mut elements = Vec::new();
            while !reader.skip_if(b']') {
                let element = object.as_ref().and_then(|array| plain::element(array, elements.len() as u64));
                elements.push(record(reader, element.unwrap_or_default())?);
                reader.skip_if(b',');
            }
            Part::Array(elements)
        }
        Some(b'{') => {
            reader.skip();
            let mut members = HashMap::new();
            while !reader.skip_if(b'}') {
                reader.skip_if(b'"');
                let key = PropertyKey::from(reader.string()?.make());
                reader.skip_if(b':');
                let member = object.as_ref().and_then(|object| plain::member(object, &key));
                let member = record(reader, member.unwrap_or_default())?;
                members.insert(key, member);
                reader.skip_if(b',');
            }
            Part::Object(members)
        }
        _ => Part::Primitive(reader.literal()?),
    };
    Ok(Record { value, part })
}
