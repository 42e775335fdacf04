//! Examines the result of one call on its way to the caller.

use std::sync::Arc;

use belljar_catalog::{Notation, Words};
use belljar_model::{JsonText, ToolPath};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{
    observations::Observations,
    tool_result::{Written, may_be_written_so, value, written},
};

/// The largest result whose shape is recorded, in bytes. A larger one would not teach anything
/// more.
const OBSERVED_BYTES: usize = 256 * 1024;
/// The longest result that is examined on a runtime thread, which takes some hundred microseconds.
const IN_PLACE_BYTES: usize = 64 * 1024;

/// One call whose result is examined.
pub(crate) struct Observer {
    pub(crate) observations: Arc<Observations>,
    pub(crate) path: ToolPath,
    pub(crate) words: Words,
}

impl Observer {
    /// The result as the caller gets it. A text in Python's notation becomes JSON, as long as all
    /// data that the tool has written as text was in that notation.
    ///
    /// # Cancellation
    /// If the future is dropped, the thread that examines a large result finishes.
    pub(crate) async fn converted(&self, raw: JsonText) -> JsonText {
        let taken = if !may_be_written_so(&raw) || self.observations.writes_other(&self.path) {
            None
        } else if raw.as_str().len() <= IN_PLACE_BYTES {
            Some(written(&raw))
        } else {
            let raw = raw.clone();
            spawn_blocking(move || written(&raw)).await.ok()
        };
        match taken {
            Some(Written::Python(result)) => {
                self.observations.note(&self.path, Notation::Python);
                result
            }
            Some(Written::Neither) => {
                self.observations.note(&self.path, Notation::Other);
                raw
            }
            Some(Written::Nothing) | None => raw,
        }
    }

    /// Records the shape of the result, as a script gets it, unless the tool failed.
    pub(crate) fn record(&self, raw: &JsonText) {
        if raw.as_str().len() <= OBSERVED_BYTES
            && let Ok(result) = raw.to_value()
            && result.get("isError") != Some(&Value::Bool(true))
        {
            self.observations.record(&self.path, &self.words, &value(&result));
        }
    }
}
