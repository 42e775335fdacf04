//! Converts values of a component's own types to JSON and back, with the mapping from which its
//! interface was printed.
//!
//! The component may have been built when its server had another list of tools. So values are read
//! and created with the *component's* types and the keys of the current mapping: a member that the
//! component does not know is left out, one that is optional for it is `none`, and anything else is
//! a [`Misfit`], which becomes the error of the call and never a trap.

mod arguments;
mod result;
#[cfg(test)]
mod tests;

pub(crate) use arguments::{json_of, json_of_text};
pub(crate) use result::{text_of, val_of};

/// The most steps that the conversion of one value may take. A value with a million members needs
/// that many, and each missing member takes a step, too. Types of a server that need more are not
/// worth it. A step creates at most some hundred bytes.
const MAX_STEPS: u64 = 4_000_000;
/// The largest integer that every JSON parser preserves.
const SAFE: f64 = 9_007_199_254_740_992.0;
/// How many bytes of a text are copied in one step.
const STEP_BYTES: usize = 64;

/// Why a value cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misfit(pub(crate) String);

impl Misfit {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The same error, inside a member.
    fn within(self, name: &str) -> Self {
        // The path stays short, however deep the value is.
        if self.0.len() > 400 { self } else { Self(format!("{name}: {}", self.0)) }
    }
}

/// Counts the steps of one conversion.
pub(crate) struct Steps(u64);

impl Steps {
    pub(crate) fn new() -> Self {
        Self(MAX_STEPS)
    }

    fn take(&mut self) -> Result<(), Misfit> {
        self.take_many(1)
    }

    /// Counts the steps for copying a text.
    fn copy(&mut self, text: &str) -> Result<(), Misfit> {
        self.take_many(text.len() / STEP_BYTES)
    }

    fn take_many(&mut self, steps: usize) -> Result<(), Misfit> {
        match self.0.checked_sub(steps as u64) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => {
                self.0 = 0;
                Err(Misfit::new(format!("to convert the value takes more than {MAX_STEPS} steps")))
            }
        }
    }

    fn is_over(&self) -> bool {
        self.0 == 0
    }
}
