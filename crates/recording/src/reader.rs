//! Reads a recording, which may come from anywhere.

use std::sync::Arc;

use minicbor::{Decoder, decode};

use crate::{
    End, Entry, Remarks, Start,
    entry::length,
    format::{HEADER, MAGIC, TRAILER, VERSION, digest, kind},
};

/// A recording that has been checked as a whole.
///
/// It keeps the bytes and reads entries in place, so it takes little more memory than they do.
/// Cloning it is cheap.
#[derive(Clone)]
pub struct Recording {
    bytes: Arc<[u8]>,
    start: Arc<Start>,
    /// The position of the second entry.
    first: usize,
    /// The end of the last entry, where the remarks begin if there are any.
    last: usize,
}

/// Why bytes are not a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// They do not begin like a recording.
    #[error("this is not a recording of belljar: it does not begin like one")]
    Foreign,
    /// The recording has another version of the format.
    #[error("the recording has format version {found}, and this belljar reads version {VERSION}")]
    Version {
        /// The version that was found.
        found: u16,
    },
    /// Bytes are missing, or were changed.
    #[error("the recording is damaged: its SHA-256 is not the one at its end; was it cut off or edited?")]
    Damaged,
    /// An entry does not follow the format.
    #[error("the recording is not valid at byte {at}: {reason}")]
    Invalid {
        /// Where.
        at: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Recording {
    /// Reads a recording, and checks all of it.
    ///
    /// # Errors
    /// [`ReadError`], if the bytes are not a recording, have another version, or were changed.
    pub fn read(bytes: impl Into<Arc<[u8]>>) -> Result<Self, ReadError> {
        let bytes = bytes.into();
        let (magic, rest) = bytes.split_first_chunk::<{ MAGIC.len() }>().ok_or(ReadError::Foreign)?;
        if *magic != MAGIC {
            return Err(ReadError::Foreign);
        }
        let (version, _) = rest.split_first_chunk().ok_or(ReadError::Damaged)?;
        let found = u16::from_be_bytes(*version);
        if found != VERSION {
            return Err(ReadError::Version { found });
        }
        let (body, trailer) = bytes.split_last_chunk::<TRAILER>().ok_or(ReadError::Damaged)?;
        if body.len() < HEADER || digest(body) != *trailer {
            return Err(ReadError::Damaged);
        }

        let mut input = Decoder::new(body);
        input.set_position(HEADER);
        let start = read_start(&mut input).map_err(|error| invalid(&input, &error))?;
        let first = input.position();
        loop {
            let entry = Entry::decode(&mut input).map_err(|error| invalid(&input, &error))?;
            if matches!(entry, Entry::End(_)) {
                break;
            }
        }
        let last = input.position();
        if last != body.len() {
            Remarks::decode(&mut input).map_err(|error| ReadError::Invalid {
                at: input.position(),
                reason: format!("something follows the end: {error}"),
            })?;
        }
        if input.position() != body.len() {
            return Err(ReadError::Invalid { at: input.position(), reason: "something follows the end".to_owned() });
        }
        Ok(Self { start: Arc::new(start), first, last, bytes })
    }

    /// How the run began.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// How it ended.
    pub fn end(&self) -> Option<End<'_>> {
        self.entries().find_map(|entry| match entry {
            Entry::End(end) => Some(end),
            _ => None,
        })
    }

    /// What crossed, in order. (Readings of clocks are at the place where a clock's time changed.)
    pub fn entries(&self) -> Entries<'_> {
        self.entries_from(self.first)
    }

    /// The same, from a position that [`Entries::position`] returned.
    pub fn entries_from(&self, position: usize) -> Entries<'_> {
        let body = self.bytes.get(..self.last).unwrap_or_default();
        let mut input = Decoder::new(body);
        input.set_position(position.min(body.len()));
        Entries { input }
    }

    /// What was added to the outcome when the run had ended.
    pub fn remarks(&self) -> Option<Remarks> {
        let body = self.bytes.get(..self.bytes.len().saturating_sub(TRAILER))?;
        if self.last == body.len() {
            return None;
        }
        let mut input = Decoder::new(body);
        input.set_position(self.last);
        Remarks::decode(&mut input).ok()
    }

    /// The position of the first entry after the start.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The bytes up to the end of the run.
    pub(crate) fn without_remarks(&self) -> &[u8] {
        self.bytes.get(..self.last).unwrap_or_default()
    }

    /// The bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recording").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// The entries of a recording, one by one.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    input: Decoder<'a>,
}

impl Entries<'_> {
    /// The position of the next entry.
    pub fn position(&self) -> usize {
        self.input.position()
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.input.position() >= self.input.input().len() {
            return None;
        }
        // All entries were read once before, so decoding fails only if the position came from
        // elsewhere and is not at the beginning of an entry.
        Entry::decode(&mut self.input).ok()
    }
}

fn read_start(input: &mut Decoder<'_>) -> Result<Start, decode::Error> {
    let items = length(input)?;
    match input.u8()? {
        kind::START => Start::decode(input, items),
        _ => Err(decode::Error::message("it does not begin with a start entry")),
    }
}

fn invalid(input: &Decoder<'_>, error: &decode::Error) -> ReadError {
    ReadError::Invalid { at: input.position(), reason: error.to_string() }
}
