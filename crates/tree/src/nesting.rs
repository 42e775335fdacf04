//! How deep a text nests, counted along its tokens before a parser builds a tree of it.

/// The open levels at a position in the text.
pub struct Nesting {
    open: usize,
    limit: usize,
}

/// Too many levels are open at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// The position where the first level too many opens.
    pub offset: usize,
    /// How many levels may be open.
    pub limit: usize,
}

impl Nesting {
    /// Nothing is open yet, and `limit` levels may be.
    pub fn new(limit: usize) -> Self {
        Self { open: 0, limit }
    }

    /// A level is opened at this place.
    ///
    /// # Errors
    /// There are too many.
    pub fn open(&mut self, offset: usize) -> Result<(), TooDeep> {
        self.open += 1;
        if self.open > self.limit { Err(TooDeep { offset, limit: self.limit }) } else { Ok(()) }
    }

    /// Closes so many levels.
    pub fn close(&mut self, levels: usize) {
        self.open = self.open.saturating_sub(levels);
    }
}
