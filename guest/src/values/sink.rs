//! Where a JSON text is written: within a limit on memory, but counted beyond it.

/// Bytes that are counted beyond the limit, so that an author learns how much too large a value is. What is larger yet is not
/// measured to its end: a few shared arrays can stand for more bytes than there is time.
const MAX_COUNTED: u64 = 64 * 1024 * 1024;

/// A text that grows up to a limit.
pub(super) struct Sink {
    text: String,
    max: usize,
    used: u64,
}

/// Nothing more is even counted.
pub(super) struct Full;

impl Sink {
    pub(super) fn new(max: usize) -> Self {
        Self { text: String::new(), max, used: 0 }
    }

    /// Adds `text`, or only counts it once the limit is passed.
    pub(super) fn put(&mut self, text: &str) -> Result<(), Full> {
        self.used += text.len() as u64;
        if self.used <= self.max as u64 {
            self.text.push_str(text);
        } else if self.used > self.max as u64 + MAX_COUNTED {
            return Err(Full);
        }
        Ok(())
    }

    /// Bytes that were put.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// The text, or how long it would have been.
    pub(super) fn finish(self) -> Result<String, u64> {
        if self.used <= self.max as u64 { Ok(self.text) } else { Err(self.used) }
    }
}
