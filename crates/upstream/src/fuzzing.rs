//! The fuzzed functions and their invariants: `fuzz/` feeds them, and the tests below replay its
//! corpus.

use std::{
    collections::HashSet,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use belljar_model::{Framing, JsonBounds, JsonText};
use futures::FutureExt as _;
use rmcp::{
    model::{CustomResult, JsonRpcMessage, RequestId, ServerResult},
    transport::Transport as _,
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::mpsc,
};

use crate::{
    connection::listing::Collection,
    framing::{
        lines::{Line, Lines},
        wire::Wire,
    },
    limits,
    text::one_line,
};

/// The separator between parts of a target's input.
const PART: &str = "\n----\n";

/// The pages of a tool list, whatever they contain: tools with unique names, and an end.
pub fn tool_list(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut collection = Collection::default();
    let mut pages = 0;
    for page in text.split(PART).cycle().take(limits::LIST_PAGES + 1) {
        pages += 1;
        match collection.add_page(page.to_owned()) {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(message) => return assert!(!message.is_empty()),
        }
    }
    assert!(pages <= limits::LIST_PAGES, "a list without an end");
    let listing = collection.finish();
    let names: HashSet<_> = listing.tools.iter().map(|tool| &tool.name).collect();
    assert_eq!(names.len(), listing.tools.len());
    assert!(names.len() <= limits::LIST_TOOLS && names.iter().all(|name| !name.is_empty()));
}

/// A child's output, in pieces of any size: lines within their limit, and correctly read messages.
pub fn child_lines(data: &[u8]) {
    let Some((&piece, text)) = data.split_first() else { return };
    let piece = usize::from(piece) + 1;
    same_as_split(text, piece, usize::from(text.first().copied().unwrap_or(40)) + 1);

    let (outgoing, mut sent) = mpsc::channel(4);
    let mut wire = Wire::new(Pieces::of(text, piece), outgoing, Framing::Lines, limits::LINE_BYTES);
    let mut messages = 0;
    // A stream in memory is always ready.
    while let Some(message) = wire.receive().now_or_never().expect("nothing to wait for") {
        messages += 1;
        if let JsonRpcMessage::Error(error) = &message {
            let shown = &error.error.message;
            assert_eq!(
                one_line(shown, limits::MESSAGE_CHARS + belljar_model::Redactor::REACH + 1),
                shown.trim(),
                "fit for one line"
            );
        }
        let Some((ServerResult::CustomResult(CustomResult(Value::String(result))), _)) = message.into_response() else {
            continue;
        };
        assert!(text.windows(result.len()).any(|window| window == result.as_bytes()) || result == "null");
        // What is refused here is refused before a tree is built from it.
        let _ = JsonText::parse(result, &JsonBounds::with_bytes(64)).map(|result| result.to_value());
    }
    assert!(messages <= text.iter().filter(|byte| **byte == b'\n').count() + 1);
    assert!(sent.try_recv().is_err(), "nothing is sent unasked");
}

/// [`Lines`] gives the same as splitting the whole text, whatever the size of its pieces.
fn same_as_split(text: &[u8], piece: usize, limit: usize) {
    let mut expected: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if expected.last().is_some_and(|last| last.is_empty()) {
        expected.pop();
    }
    let mut lines = Lines::new(Pieces::of(text, piece), limit);
    for expected in expected {
        let line = lines.next().now_or_never().expect("nothing to wait for").expect("memory can be read");
        match line.expect("as many lines as there are") {
            Line::Whole => assert_eq!(lines.text(), expected),
            Line::TooLong(id) => {
                assert!(expected.len() > limit && lines.text().is_empty());
                let Ok(Value::Object(whole)) = serde_json::from_slice(expected) else { continue };
                answers(&whole, id, expected.len());
            }
        }
    }
    assert!(lines.next().now_or_never().expect("nothing to wait for").expect("memory can be read").is_none());
}

/// The request that an overlong line answers is found, if its members are short enough to be kept.
fn answers(whole: &serde_json::Map<String, Value>, found: Option<RequestId>, length: usize) {
    // An id that occurs twice, or with escapes in its key, does not count.
    if length < 128 && whole.contains_key("method") {
        assert_eq!(found, None, "a request answers nothing");
    }
}

/// A text that is read piece by piece.
struct Pieces {
    text: Vec<u8>,
    piece: usize,
}

impl Pieces {
    fn of(text: &[u8], piece: usize) -> Self {
        Self { text: text.to_owned(), piece }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let length = self.piece.min(self.text.len()).min(buffer.remaining());
        buffer.put_slice(&self.text[..length]);
        self.text.drain(..length);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_tool_lists_holds_still() {
        replay::replay("tool_list", tool_list);
    }

    #[test]
    fn what_was_fuzzed_of_child_lines_holds_still() {
        replay::replay("child_lines", child_lines);
    }
}
