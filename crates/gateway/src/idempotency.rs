//! The key by which a server recognises a repeated call, if the owner has named an argument for it.
//!
//! It is derived from the run and the call's number, so sending the same call again sends the same
//! key. belljar never repeats a call by itself.

use belljar_model::{JsonBounds, JsonText, RunId};
use sha2::{Digest as _, Sha256};

/// Bytes of a key that are shown, in hexadecimal digits: 128 bits.
const BYTES: usize = 16;

/// The key of a call.
pub(crate) fn key(run: RunId, call: u64) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("{run}/{call}")).into();
    digest.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The arguments with a key in this member, replacing what the script had put there. What is not an
/// object stays unchanged, and is refused later.
pub(crate) fn with_key(arguments: JsonText, member: &str, key: &str) -> JsonText {
    let text = arguments.as_str();
    let Some(members) = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else { return arguments };
    let comma = if members.trim().is_empty() { "" } else { "," };
    // Of two members of one name, the last one counts: see `checked.rs`.
    let member = serde_json::Value::from(member);
    let text = format!("{{{members}{comma}{member}:\"{key}\"}}");
    let bounds = JsonBounds { bytes: text.len(), depth: JsonBounds::DEPTH, values: usize::MAX };
    JsonText::parse(text, &bounds).unwrap_or(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_its_run_and_call_and_stands_last() {
        let run = RunId::from_bits(5);
        assert_eq!(key(run, 1), key(run, 1));
        assert_ne!(key(run, 1), key(run, 2));
        assert_ne!(key(run, 1), key(RunId::from_bits(6), 1));
        assert_eq!(key(run, 1).len(), 2 * BYTES);
        let with = |text: &str| {
            let text = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(100)).expect("JSON");
            with_key(text, "the \"key\"", "00ff").as_str().to_owned()
        };
        assert_eq!(with("{}"), r#"{"the \"key\"":"00ff"}"#);
        assert_eq!(with(r#" {"a": 1} "#), r#"{"a": 1,"the \"key\"":"00ff"}"#);
        assert_eq!(with("[1]"), "[1]");
    }
}
