//! How deep a text nests, counted along its tokens before a parser builds a tree of it.

/// The levels that are open at a place in the text.
pub struct Nesting {
    open: usize,
    limit: usize,
}

/// More levels are open at a place than may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// The offset of what opened the first level too many.
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
    /// There is one too many.
    pub fn open(&mut self, offset: usize) -> Result<(), TooDeep> {
        self.open += 1;
        if self.open > self.limit { Err(TooDeep { offset, limit: self.limit }) } else { Ok(()) }
    }

    /// So many levels are closed.
    pub fn close(&mut self, levels: usize) {
        self.open = self.open.saturating_sub(levels);
    }
}
