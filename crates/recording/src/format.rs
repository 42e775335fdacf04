//! The frame of a recording: what comes before its entries, and after them.

use sha2::{Digest as _, Sha256};

/// The first bytes of every recording. The byte above 127, the line ends and the end-of-file
/// character reveal a file that was sent or saved as text.
pub(crate) const MAGIC: [u8; 8] = *b"\x89BJR\r\n\x1a\n";
/// The version of the format, as two bytes in big-endian order. It is raised by every change after
/// which earlier recordings cannot be read, or would mean something else.
pub(crate) const VERSION: u16 = 2;
/// Bytes before the first entry.
pub(crate) const HEADER: usize = MAGIC.len() + size_of::<u16>();
/// Bytes after the last entry: the SHA-256 of everything before.
pub(crate) const TRAILER: usize = 32;

/// The kinds of entries. Each entry is an array of CBOR whose first item is its kind.
pub(crate) mod kind {
    pub(crate) const START: u8 = 0;
    pub(crate) const CLOCK: u8 = 1;
    pub(crate) const DIRECTORY: u8 = 2;
    pub(crate) const CATALOG: u8 = 3;
    pub(crate) const CALL: u8 = 4;
    pub(crate) const TIMER: u8 = 5;
    pub(crate) const ANSWER: u8 = 6;
    pub(crate) const ELAPSED: u8 = 7;
    pub(crate) const UNANSWERED: u8 = 8;
    pub(crate) const END: u8 = 9;
    pub(crate) const REMARKS: u8 = 10;
}

/// The SHA-256 of these bytes.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
