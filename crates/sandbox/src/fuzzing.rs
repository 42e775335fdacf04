//! The fuzzed function and its invariants: `fuzz/` feeds it, and the test below replays its corpus.
//!
//! Everything else from the guest is JSON, whose bounds are in `crates/model` and fuzzed there.

use belljar_model::{Effect, ToolPath};

use crate::{Directory, GrantedTool, frame::frame};

/// The separator between parts of a target's input.
const PART: &str = "\n----\n";

/// Arbitrary numbers from the guest: the position of a failure in a source, and the entry of a
/// directory.
pub fn guest_reports(data: &[u8]) {
    let Some((numbers, text)) = data.split_first_chunk::<8>() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let [a, b, c, d, e, f, g, h] = *numbers;
    let (line, column) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    for (line, column) in [(line, column), (line % 8, column % 200)] {
        let frame = frame(text, line, column);
        let lines = text.replace("\r\n", "\n").replace('\r', "\n").lines().count();
        let exists = line > 0 && lines >= line as usize;
        assert_eq!(frame.is_some(), exists, "line {line}");
        let Some(frame) = frame else { continue };
        assert!(frame.lines().count() <= 5 && frame.lines().all(|line| line.chars().count() <= 200), "{frame}");
        assert_eq!(belljar_model::display::block(&frame, ""), frame, "fit to show");
    }

    let named =
        |name: &str| (name.to_owned(), GrantedTool { path: ToolPath::new("server", name), effect: Effect::External });
    let directory = Directory::new(text.split(PART).map(named));
    let names: Vec<&str> = directory.names().split('\n').filter(|name| !name.is_empty()).collect();
    for entry in [line as usize, usize::from(a % 16), names.len()] {
        let tool = directory.tool(entry).map(|tool| tool.path.tool());
        assert_eq!(tool, names.get(entry).copied(), "entry {entry}");
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_guest_reports_holds_still() {
        replay::replay("guest_reports", guest_reports);
    }
}
