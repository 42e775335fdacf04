//! What to run.

/// A script.
#[derive(Debug, Clone)]
pub struct Program {
    /// JavaScript or TypeScript, as its author wrote it.
    pub source: String,
    /// Where the script's random numbers come from. Drawn from the operating system where there is none.
    pub seed: Option<[u8; 32]>,
}

impl Program {
    /// A script with a fresh seed.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), seed: None }
    }

    /// The same script with random numbers that can be repeated.
    #[must_use]
    pub fn with_seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }
}
