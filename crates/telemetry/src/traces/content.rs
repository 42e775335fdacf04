//! The content of calls, for their spans. How much of it may wait is bounded.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use belljar_model::CallContent;
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::SpanData;

/// The most bytes of arguments of calls whose answers have not come. More are left out.
const MAX_HELD: usize = 16 << 20;

const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
const RESULT: &str = "gen_ai.tool.call.result";

/// The arguments of open calls.
#[derive(Default)]
pub(super) struct Holding(Arc<AtomicUsize>);

impl Holding {
    /// Holds these arguments, if there is room for them.
    pub(super) fn hold(&self, content: Arc<CallContent>) -> Option<Held> {
        let bytes = content.text.len();
        // Only one task does this, so there is no race.
        let has_room = self.0.load(Relaxed).saturating_add(bytes) <= MAX_HELD;
        has_room.then(|| {
            self.0.fetch_add(bytes, Relaxed);
            Held { content, held: self.0.clone() }
        })
    }
}

/// Arguments that are held.
pub(super) struct Held {
    content: Arc<CallContent>,
    held: Arc<AtomicUsize>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.held.fetch_sub(self.content.text.len(), Relaxed);
    }
}

pub(super) fn arguments(held: &Held) -> impl Iterator<Item = KeyValue> {
    attributes(ARGUMENTS, "belljar.call.arguments_bytes", &held.content)
}

pub(super) fn result(content: &CallContent) -> impl Iterator<Item = KeyValue> {
    attributes(RESULT, "belljar.call.result_bytes", content)
}

fn attributes(name: &'static str, whole: &'static str, content: &CallContent) -> impl Iterator<Item = KeyValue> {
    let cut = content.cut_from.map(|bytes| KeyValue::new(whole, i64::try_from(bytes).unwrap_or(i64::MAX)));
    std::iter::once(KeyValue::new(name, content.text.clone())).chain(cut)
}

fn is_content(attribute: &KeyValue) -> bool {
    [ARGUMENTS, RESULT].contains(&attribute.key.as_str())
}

/// Bytes of the content in a call's span.
pub(super) fn bytes_of(span: &SpanData) -> usize {
    let of = |attribute: &KeyValue| match &attribute.value {
        Value::String(text) if is_content(attribute) => text.as_str().len(),
        _ => 0,
    };
    span.attributes.iter().map(of).sum()
}

/// Removes the content from the span, and notes in the span that something is missing.
pub(super) fn take_out(span: &mut SpanData) {
    let before = span.attributes.len();
    span.attributes.retain(|attribute| !is_content(attribute));
    let dropped = u32::try_from(before - span.attributes.len()).unwrap_or(u32::MAX);
    span.dropped_attributes_count = span.dropped_attributes_count.saturating_add(dropped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_held_up_to_a_bound_and_given_back() {
        let holding = Holding::default();
        let content = Arc::new(CallContent::of(&"x".repeat(CallContent::MAX_BYTES)));
        let most = MAX_HELD / CallContent::MAX_BYTES;
        let mut held: Vec<Held> = (0..most).filter_map(|_| holding.hold(content.clone())).collect();
        assert_eq!(held.len(), most);
        assert!(holding.hold(content.clone()).is_none());
        held.pop();
        assert!(holding.hold(content).is_some());
    }
}
