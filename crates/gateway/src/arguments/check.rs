//! One tool's schema, ready to check arguments.

use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;

use super::{
    cost,
    gaps::{Gaps, Weight},
    parts::{self, Parts, Size, Unbounded},
    problems,
};

/// The longest schema that is compiled, as JSON text: four times the largest that is known of a published server.
pub(super) const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The longest one that is compiled in this process: tens of milliseconds, on a thread for such work.
const MAX_SCHEMA_BYTES_HERE: usize = 64 * 1024;
/// What else is compiled in this process. Each pattern keeps up to two caches of [`MAX_PATTERN_CACHE_BYTES`].
const MAX_SIZE_HERE: Size = Size { patterns: 64, states: 8_192, unfolded: 20_000 };
/// Bytes of one compiled pattern.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// Bytes that one compiled pattern keeps of what it has seen.
const MAX_PATTERN_CACHE_BYTES: usize = 64 * 1024;
/// What a check may cost on a thread that others wait for, in estimated nanoseconds. To make the estimate, and to look for the names
/// that were meant, takes the rest of a millisecond at most.
pub(super) const MAX_COST_IN_PLACE: u64 = 700_000;

/// Why a schema is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("the schema has more than {limit} bytes")]
    TooLong { limit: usize },
    #[error(transparent)]
    Cost(#[from] Unbounded),
    #[error("the schema has no JSON text: {0}")]
    NoText(serde_json::Error),
    #[error("the schema does not compile: {0}")]
    Invalid(Box<jsonschema::ValidationError<'static>>),
}

/// What is known of a schema before it is compiled.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) parts: Parts,
    /// Whether this process may compile it.
    pub(super) is_small: bool,
}

impl Plan {
    pub(super) fn of(schema: &Value) -> Result<Self, Unfit> {
        let used = parts::bytes_of(schema, MAX_SCHEMA_BYTES).ok_or(Unfit::TooLong { limit: MAX_SCHEMA_BYTES })?;
        let parts = Parts::of(schema)?;
        let (size, most) = (parts.size, MAX_SIZE_HERE);
        let is_small = used <= MAX_SCHEMA_BYTES_HERE
            && size.patterns <= most.patterns
            && size.states <= most.states
            && size.unfolded <= most.unfolded;
        Ok(Self { parts, is_small })
    }

    /// Whether a check of `arguments` is over at once.
    pub(super) fn fits_in_place(&self, arguments: &Value) -> bool {
        cost::within(MAX_COST_IN_PLACE, &self.parts, arguments).is_some()
    }
}

/// A compiled schema.
pub(super) struct Compiled {
    schema: Value,
    validator: Validator,
}

/// Every schema is complete in itself.
struct NothingIsFetched;

#[derive(Debug, thiserror::Error)]
#[error("a schema may refer to nothing outside of itself")]
struct Outside;

impl Retrieve for NothingIsFetched {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(Box::new(Outside))
    }
}

impl Compiled {
    /// Compiles a schema whose [`Plan`] was made.
    pub(super) fn new(schema: Value) -> Result<Self, Unfit> {
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_CACHE_BYTES);
        let validator = jsonschema::options()
            .with_retriever(NothingIsFetched)
            .with_pattern_options(patterns)
            // What a format means differs from child to child; they know best.
            .should_validate_formats(false)
            .build(&schema)
            .map_err(|error| Unfit::Invalid(Box::new(error)))?;
        Ok(Self { schema, validator })
    }

    /// What is wrong with arguments, in words; `None` if nothing is.
    pub(super) fn problems(&self, arguments: &Value) -> Option<String> {
        if self.fits(arguments) {
            return None;
        }
        let problems = problems::list(&self.schema, self.validator.iter_errors(arguments), arguments);
        (!problems.is_empty()).then(|| problems.to_string())
    }

    /// What is certainly wrong with arguments that have gaps, and what is likely to be, in words.
    pub(super) fn foreseen(&self, arguments: &Value, gaps: &Gaps) -> (Option<String>, Option<String>) {
        if self.fits(arguments) {
            return (None, None);
        }
        let of_weight = |weight: Weight| {
            let errors = self.validator.iter_errors(arguments).filter(|error| gaps.weigh(error) == weight);
            let problems = problems::list(&self.schema, errors, arguments);
            (!problems.is_empty()).then(|| problems.to_string())
        };
        match of_weight(Weight::Certain) {
            None => (None, of_weight(Weight::Likely)),
            certain => (certain, None),
        }
    }

    pub(super) fn fits(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments)
    }
}
