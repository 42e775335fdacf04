//! What is fuzzed here, with what must hold: `fuzz/` feeds it, and the test below replays what was found.

use crate::{
    Entry, ReadError, Recording,
    format::{HEADER, MAGIC, TRAILER, VERSION, digest},
};

/// What a forger writes into a recording, frame and digest around it: it is refused, or read whole and to its end.
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
    let Some(Entry::End(end)) = entries.last() else { panic!("it has no end") };
    assert_eq!(Some(*end), recording.end());
    assert_eq!(entries.iter().filter(|entry| matches!(entry, Entry::End(_))).count(), 1);
    for entry in &entries {
        if let Entry::Directory { listing: Ok(listing), .. } = entry {
            assert!(listing.properties().count() <= data.len(), "each property takes bytes");
        }
    }
    // From each position that an iterator gives, the next entry is what it was.
    let mut all = recording.entries();
    for entry in &entries {
        let position = all.position();
        assert_eq!(all.next().as_ref(), Some(entry));
        assert_eq!(recording.entries_from(position).next().as_ref(), Some(entry));
    }
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
}
