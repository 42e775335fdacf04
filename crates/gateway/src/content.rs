//! The contents of a call, for traces whose owner asks for them.
//!
//! They lack what recordings leave out, by the same rules and schemas. If these are not known, or a
//! text is too large to process, nothing of it is returned.

use std::{collections::BTreeSet, sync::Arc};

use belljar_ledger::Ledger;
use belljar_model::{CallContent, JsonText, ToolPath};
use tokio::task::spawn_blocking;

use crate::{
    Toolbox,
    redacted::{self, Places},
};

/// The most work on one text: its bytes times the places that are looked for in it.
const MAX_WORK: usize = 512 * 1024;

/// Extracts the arguments and the result of a call for a trace.
pub(crate) struct ContentOf {
    places: Places,
    ledger: Arc<dyn Ledger>,
}

/// Removes these places from a text, and returns `None` if the text has none of them.
type TakeOut = fn(&str, &BTreeSet<String>, &dyn Ledger) -> Option<String>;

impl ContentOf {
    /// The extractor for a call of this tool, or `None` if it is not known what to leave out.
    pub(crate) fn call(toolbox: &Toolbox, path: &ToolPath) -> Option<Self> {
        let kept = toolbox.told().ledger.as_ref()?;
        let places = redacted::known_places(&kept.redact, toolbox, path)?;
        Some(Self { places, ledger: kept.ledger.clone() })
    }

    /// The call's arguments.
    pub(crate) async fn arguments(&self, text: &JsonText) -> Option<Arc<CallContent>> {
        self.content(text, &self.places.arguments, redacted::in_text).await
    }

    /// The call's result.
    pub(crate) async fn result(&self, text: &JsonText) -> Option<Arc<CallContent>> {
        self.content(text, &self.places.answer, redacted::in_result).await
    }

    async fn content(&self, text: &JsonText, places: &BTreeSet<String>, out: TakeOut) -> Option<Arc<CallContent>> {
        if places.is_empty() {
            return Some(Arc::new(CallContent::of(text.as_str())));
        }
        if places.len().saturating_mul(text.as_str().len()) > MAX_WORK {
            return None;
        }
        let (text, places, ledger) = (text.clone(), places.clone(), self.ledger.clone());
        let taken_out = move || {
            let redacted = out(text.as_str(), &places, ledger.as_ref());
            CallContent::of(redacted.as_deref().unwrap_or(text.as_str()))
        };
        spawn_blocking(taken_out).await.ok().map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use belljar_ledger::{Options, SqliteLedger};
    use belljar_model::LedgerKeep;
    use serde_json::{Value, json};

    use super::*;

    fn of(pointers: &[String]) -> ContentOf {
        let arguments = pointers.iter().cloned().collect();
        let ledger = SqliteLedger::new(None, Options { fsync: false, keep: LedgerKeep::default() });
        ContentOf { places: Places { arguments, ..Places::default() }, ledger: Arc::new(ledger) }
    }

    async fn taken(pointers: &[String], arguments: &Value) -> Option<(String, Option<u64>)> {
        let content = of(pointers).arguments(&JsonText::from_value(arguments)).await?;
        Some((content.text.clone(), content.cut_from))
    }

    #[tokio::test]
    async fn a_text_is_cut_at_a_character_and_says_how_long_it_was() {
        let (text, cut_from) = taken(&[], &json!({ "ab": "é".repeat(20_000) })).await.expect("a text");
        assert_eq!((text.len(), cut_from), (CallContent::MAX_BYTES - 1, Some(40_009)));
        assert_eq!(taken(&[], &json!({ "a": 1 })).await, Some((r#"{"a":1}"#.to_owned(), None)));
    }

    #[tokio::test]
    async fn a_text_that_is_too_large_to_be_taken_apart_is_left_out_and_not_shown_whole() {
        let pin = "/pin".to_owned();
        let arguments = json!({ "rest": "x".repeat(1000), "pin": 1234 });
        let (text, _) = taken(std::slice::from_ref(&pin), &arguments).await.expect("a text");
        assert!(text.contains("[redacted]") && !text.contains("1234"), "{text}");
        let many: Vec<String> = (0..MAX_WORK / 1000).map(|at| format!("/{at}")).chain([pin.clone()]).collect();
        assert_eq!(taken(&many, &arguments).await, None);
        assert_eq!(taken(&[pin], &json!({ "rest": "x".repeat(MAX_WORK), "pin": 1234 })).await, None);
    }
}
