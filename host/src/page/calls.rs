//! A call that was written on the page: the same as `belljar call`, judged by the same rules.

use std::future::pending;

use belljar_daemon::requests::Call;
use belljar_page::{NotShown, WrittenCall};
use futures::FutureExt as _;
use serde_json::{Value, json, value::RawValue};

use super::{
    kept::on_a_thread,
    rules::read,
    source::{LedgerSource, refused},
};

/// How many bytes of a value or message are shown. `belljar call` prints all of them.
const MAX_SHOWN: usize = 256 * 1024;

pub(super) async fn made(source: &LedgerSource, call: WrittenCall) -> Result<Value, NotShown> {
    let (tool, arguments) = read(source, &call)?;
    let asked = Call { tool, arguments, timeout_ms: None, effect: None };
    let answer = source.backend().await?.call(asked, pending().boxed()).await.map_err(|failure| refused(&failure))?;
    // It may be large.
    on_a_thread(move || told(&answer)).await
}

/// What the page shows of an answer.
fn told(answer: &RawValue) -> Result<Value, NotShown> {
    let mut answer: Value = serde_json::from_str(answer.get())
        .map_err(|error| NotShown::Failed(format!("the answer is not JSON: {error}")))?;
    let value = text_of(&answer["value"].take());
    if let Some(message) = answer["error"]["message"].as_str() {
        answer["error"]["message"] = cut(message).into();
    }
    Ok(json!({
        "ok": answer["ok"],
        "run": answer["run"],
        "error": answer["error"],
        "warning": answer["warning"],
        "ms": answer["ms"],
        "value": cut(&value),
        "value_bytes": value.len(),
    }))
}

/// A value as people read it.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// The beginning of a text.
pub(super) fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_SHOWN)).unwrap_or_default()
}
