//! Where a script is, as its guest says it.

/// A place in the source, as the guest says it: both from 1, and whether the source has it is still
/// to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}
