//! The end of what the guest wrote to its standard output and error.

use std::collections::VecDeque;

/// Bytes of output kept: only the end of a panic's message matters.
const KEPT_OUTPUT: usize = 8 * 1024;

/// The end of what the guest wrote.
#[derive(Default)]
pub(crate) struct Stderr(VecDeque<u8>);

impl Stderr {
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let bytes = bytes.get(bytes.len().saturating_sub(KEPT_OUTPUT)..).unwrap_or_default();
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(KEPT_OUTPUT);
        self.0.drain(..excess);
    }

    /// The text, safe to show.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        belljar_model::display::block(&String::from_utf8_lossy(&bytes), "").into_owned()
    }
}
