//! A JSON text in each line. Empty lines count for nothing.

use boa_engine::{Context, JsString, JsValue, object::builtins::JsArray};

use belljar_guest_values::decode::{self, Described};

pub(super) fn read(text: &str, context: &mut Context) -> Result<JsValue, Described> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value =
            decode::read(&JsString::from(line), context).map_err(|fault| Described { line: index + 1, ..fault })?;
        values.push(value);
    }
    if values.is_empty() {
        return Err(Described { what: "there is no line with anything in it".to_owned(), line: 1, column: 1 });
    }
    Ok(JsArray::from_iter(values, context).into())
}
