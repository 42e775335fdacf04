//! JSON text to JavaScript values, built directly.

use std::borrow::Cow;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsString, JsValue, object::builtins::JsArray, property::PropertyKey,
};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

/// The value of a JSON text from the host. Depth is bounded by serde_json (128).
pub(crate) fn decode(text: &str, context: &mut Context) -> Result<JsValue, JsError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Seed(context)
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| JsNativeError::syntax().with_message(format!("not JSON: {error}")))?;
    Ok(value)
}

struct Seed<'context>(&'context mut Context);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = JsValue;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<JsValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = JsValue;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsValue, E> {
        Ok(JsValue::null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsValue, E> {
        Ok(JsValue::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::from(value as f64), JsValue::from))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::from(value as f64), JsValue::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsValue, E> {
        Ok(JsValue::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsValue, E> {
        Ok(JsString::from(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<JsValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(Seed(&mut *self.0))? {
            values.push(value);
        }
        Ok(JsArray::from_iter(values, self.0).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<JsValue, A::Error> {
        let object = JsObject::with_object_proto(self.0.intrinsics());
        while let Some(key) = members.next_key::<Key<'de>>()? {
            let value = members.next_value_seed(Seed(&mut *self.0))?;
            // An own property, also for `__proto__`, and never a setter's call.
            object
                .create_data_property_or_throw(PropertyKey::from(JsString::from(key.0.as_ref())), value, self.0)
                .map_err(|error| A::Error::custom(error.to_string()))?;
        }
        Ok(object.into())
    }
}

/// A key, borrowed from the text where it holds no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}
