//! A position of a script, as reported by its guest.

/// A position in the source, as reported by the guest: both from 1, and not yet checked against the
/// source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}
