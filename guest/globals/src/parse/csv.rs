//! CSV: a list of objects, whose values are texts.

use boa_engine::{Context, JsObject, JsString, JsValue, object::builtins::JsArray, property::PropertyKey};

use belljar_guest_algorithms::csv;
use belljar_guest_engine::plain;
use belljar_guest_values::decode::Described;

/// `is_asked_for` where the author says that it is CSV.
pub(super) fn read(text: &str, is_asked_for: bool, context: &mut Context) -> Result<JsValue, Described> {
    let table =
        csv::read(text, is_asked_for).map_err(|csv::Error { what, line }| Described { what, line, column: 1 })?;
    let keys: Vec<PropertyKey> = table.names.into_iter().map(|name| JsString::from(name).into()).collect();
    let mut rows = Vec::new();
    for values in table.rows {
        let row = JsObject::with_object_proto(context.intrinsics());
        for (key, value) in keys.iter().zip(values) {
            row.insert_property(key.clone(), plain::property(JsString::from(value).into()));
        }
        rows.push(JsValue::from(row));
    }
    Ok(JsArray::from_iter(rows, context).into())
}
