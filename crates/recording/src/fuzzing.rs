//! The fuzzed functions and their invariants: `fuzz/` feeds them, and the test below replays its
//! corpus.

use std::sync::OnceLock;

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, RunError};

use crate::{
    Cause, Digests, End, EngineId, Entry, ReadError, Recording, Start, Surroundings, Writer,
    fixture::{Fixture, Match},
    format::{HEADER, MAGIC, TRAILER, VERSION, digest},
};

/// A forged recording with a matching frame and digest is refused, or can be read to its end.
pub fn recording(data: &[u8]) {
    let mut bytes = Vec::with_capacity(HEADER + data.len() + TRAILER);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(data);
    let trailer = digest(&bytes);
    bytes.extend(trailer);
    let recording = match Recording::read(bytes) {
        Ok(recording) => recording,
        Err(ReadError::Invalid { at, .. }) => return assert!(at <= HEADER + data.len()),
        Err(other) => panic!("the frame is that of a recording: {other}"),
    };
    let entries: Vec<Entry<'_>> = recording.entries().collect();
    let Some(Entry::End(end)) = entries.last() else { panic!("it does not end") };
    assert_eq!(Some(*end), recording.end());
    assert_eq!(entries.iter().filter(|entry| matches!(entry, Entry::End(_))).count(), 1);
    for entry in &entries {
        if let Entry::Directory { listing: Ok(listing), .. } = entry {
            assert!(listing.properties().count() <= data.len(), "each property takes bytes");
        }
    }
    // From each position that an iterator returned, the next entry is the same.
    let mut all = recording.entries();
    for entry in &entries {
        let position = all.position();
        assert_eq!(all.next().as_ref(), Some(entry));
        assert_eq!(recording.entries_from(position).next().as_ref(), Some(entry));
    }
}

/// A foreign fixture: a text as it is, and as a run's input between a valid head and end.
pub fn fixtures(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    fixture(text);
    let (head, end) = frame();
    fixture(&format!("{head}{text}\n{end}"));
}

/// What is read is within its bounds, and the same when it is written and read again.
fn fixture(text: &str) {
    const MAX: ByteSize = ByteSize::kib(64);
    let Ok(read) = Fixture::read(text, MAX) else { return };
    assert!(read.recording.bytes().len() as u64 <= MAX.as_u64());
    let written = read.to_text();
    // Writing adds only space and names.
    assert!(written.len() < 64 * 1024 + 100 * text.len(), "{} bytes of {}", written.len(), text.len());
    let again = Fixture::read(&written, MAX).expect("what was written is a fixture");
    assert_eq!(again.recording.bytes(), read.recording.bytes());
    assert_eq!((again.matching, &again.script, &again.expected), (read.matching, &read.script, &read.expected));
    assert_eq!(again.to_text(), written);
    // Whatever the fixture expects, it can be compared with a run's results.
    let outcome = Outcome::refused(RunError::new(ErrorKind::Internal, "another end"));
    if let Some(difference) = read.difference(&outcome) {
        assert!(difference.to_string().len() < 10_000 + text.len(), "{difference}");
    }
}

/// The part of a fixture before the run's input, and the end after it.
fn frame() -> &'static (String, String) {
    static FRAME: OnceLock<(String, String)> = OnceLock::new();
    FRAME.get_or_init(|| {
        let start = Start {
            engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
            source: "1".to_owned(),
            begun_ms: 0,
            seed: [2; 32],
            limits: Limits::default(),
            servers: Vec::new(),
            surroundings: Surroundings::default(),
        };
        let digests = Digests { result: [3; 32], logs: [4; 32], calls: [5; 32] };
        let end = End { cause: Cause::Script, fuel: 1, digests };
        let bytes = Writer::new(&start, ByteSize::kib(64)).end(end).expect("there is room");
        let recording = Recording::read(bytes).expect("it was written here");
        let outcome = Outcome::refused(RunError::new(ErrorKind::Internal, "its end"));
        let text = Fixture::new(Match::Loose, recording, &outcome).to_text();
        let (head, end) = text.split_once("\"end\"").expect("it has an end");
        let head = head.trim_end().strip_suffix('{').expect("an object begins there");
        (head.to_owned(), format!("{{\"end\"{end}"))
    })
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_recordings_holds_still() {
        replay::replay("recording", recording);
    }

    #[test]
    fn what_was_fuzzed_of_fixtures_holds_still() {
        replay::replay("fixtures", fixtures);
    }
}
