//! The fuzzed function and its invariants: `fuzz/` feeds it, and the test below replays its corpus.

use belljar_model::{JsonBounds, JsonText};

use crate::{
    host_calls::call_of,
    message::{CallAnswer, Greet, Incoming, params, run_params},
};

/// The longest error for a message that is refused.
const SHOWN_BYTES: usize = 1_000;

/// The lines of a client, whatever they contain: each is a message or is refused, and what is kept
/// of it or said about it is bounded.
pub fn host_messages(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    for line in text.lines() {
        match Incoming::parse(line) {
            Ok(Incoming::Request { params: given, .. } | Incoming::Notification { params: given, .. }) => {
                for refused in [
                    run_params(given, JsonBounds::VALUES).map(drop).err(),
                    params::<Greet>("hello", given).map(drop).err(),
                ] {
                    assert!(refused.is_none_or(|error| error.message.len() <= SHOWN_BYTES));
                }
            }
            Ok(Incoming::Answer { id, answer }) => {
                // An id that belljar would not have given belongs to no call.
                let _ = call_of(&id);
                assert!(answer.bytes() <= line.len().max(SHOWN_BYTES));
                if let CallAnswer::Value(Some(value)) = answer {
                    let bounds = JsonBounds::with_bytes(line.len());
                    // What is refused here is refused before a tree is built from it.
                    let _ = JsonText::parse(value.get().to_owned(), &bounds).map(|value| value.to_value());
                }
            }
            Err(error) => assert!(error.message.len() <= SHOWN_BYTES),
        }
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_host_messages_holds_still() {
        replay::replay("host_messages", host_messages);
    }
}
