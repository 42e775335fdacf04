//! Images and other media in a run's value, which become separate blocks of the answer.

use belljar_model::{JsonText, Limits, Outcome, may_hold_media, take_media};
use belljar_sandbox::value_too_large;

/// Takes the media out of the value. The rest is text for a model, within its limit.
pub(crate) fn take_out(outcome: &mut Outcome, limits: &Limits) {
    let Ok(text) = &outcome.result else { return };
    let (text, max) = (text.as_str(), limits.max_output.as_u64());
    let is_within = |bytes: usize| bytes as u64 <= max;
    if is_within(text.len()) && !may_hold_media(text) {
        return;
    }
    // Such a tree has no more nodes than one without media: the rest is within `max_output`, which
    // the sandbox enforces.
    let Ok(mut value) = serde_json::from_str(text) else { return };
    let media = take_media(&mut value);
    if media.is_empty() && is_within(text.len()) {
        return;
    }
    let rest = JsonText::from_value(&value);
    let texts: usize = media.iter().map(belljar_model::Media::text_bytes).sum();
    let used = rest.as_str().len().saturating_add(texts);
    if is_within(used) {
        outcome.usage.output_bytes = rest.as_str().len() as u64;
        outcome.media = media;
        outcome.result = Ok(rest);
    } else {
        outcome.usage.output_bytes = 0;
        outcome.result = Err(value_too_large(used as u64, limits));
    }
}
