//! One tool's schema, ready to check arguments.

use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;

use crate::{
    cost,
    gaps::{Gaps, Weight},
    parts::{self, Parts, Size, Unbounded},
    problems,
};

/// The longest schema that is compiled, as JSON text: four times the largest one known from a
/// published server.
pub const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The longest one that is compiled in this process, which takes tens of milliseconds on a blocking
/// thread.
const MAX_SCHEMA_BYTES_HERE: usize = 64 * 1024;
/// The further limits of what is compiled in this process. Each pattern keeps up to two caches of
/// [`MAX_PATTERN_CACHE_BYTES`].
const MAX_SIZE_HERE: Size = Size { patterns: 64, states: 8_192, unfolded: 20_000 };
/// The most bytes of one compiled pattern.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// The most bytes of the cache of one compiled pattern.
const MAX_PATTERN_CACHE_BYTES: usize = 64 * 1024;
/// What a check may cost on a thread that others wait for, in estimated nanoseconds. The estimate
/// and the search for the names that were meant take the rest of a millisecond at most.
pub const MAX_COST_IN_PLACE: u64 = 700_000;

/// Why a schema is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// It is too long.
    #[error("the schema has more than {limit} bytes")]
    TooLong {
        /// The most bytes that it may have.
        limit: usize,
    },
    /// Its cost has no bound.
    #[error(transparent)]
    Cost(#[from] Unbounded),
    /// It cannot be written as JSON.
    #[error("the schema has no JSON text: {0}")]
    NoText(serde_json::Error),
    /// It is not a JSON Schema.
    #[error("the schema does not compile: {0}")]
    Invalid(Box<jsonschema::ValidationError<'static>>),
}

/// What is known about a schema before it is compiled.
#[derive(Debug)]
pub struct Plan {
    pub(crate) parts: Parts,
    /// Whether a process with other waiting work may compile it.
    pub is_small: bool,
}

impl Plan {
    /// Analyses a schema.
    ///
    /// # Errors
    /// [`Unfit`], if the schema must not be compiled anywhere.
    pub fn of(schema: &Value) -> Result<Self, Unfit> {
        let used = parts::bytes_of(schema, MAX_SCHEMA_BYTES).ok_or(Unfit::TooLong { limit: MAX_SCHEMA_BYTES })?;
        let parts = Parts::of(schema)?;
        let (size, most) = (parts.size, MAX_SIZE_HERE);
        let is_small = used <= MAX_SCHEMA_BYTES_HERE
            && size.patterns <= most.patterns
            && size.states <= most.states
            && size.unfolded <= most.unfolded;
        Ok(Self { parts, is_small })
    }

    /// Whether checking `arguments` is quick enough to do at once.
    pub fn fits_in_place(&self, arguments: &Value) -> bool {
        self.cost_within(MAX_COST_IN_PLACE, arguments).is_some()
    }

    /// The highest cost of a check of `arguments`, in estimated nanoseconds, or `None` if that is
    /// more than `limit`.
    pub fn cost_within(&self, limit: u64, arguments: &Value) -> Option<u64> {
        cost::within(limit, &self.parts, arguments)
    }
}

/// A compiled schema.
#[derive(Debug)]
pub struct Compiled {
    schema: Value,
    validator: Validator,
}

/// A schema may not refer to other documents.
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
    /// Compiles a schema. Make its [`Plan`] first.
    ///
    /// # Errors
    /// [`Unfit::Invalid`], which says where the schema is wrong.
    pub fn new(schema: Value) -> Result<Self, Unfit> {
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_CACHE_BYTES);
        let validator = jsonschema::options()
            .with_retriever(NothingIsFetched)
            .with_pattern_options(patterns)
            // The meaning of a format differs from child to child, so the child checks it.
            .should_validate_formats(false)
            .build(&schema)
            .map_err(|error| Unfit::Invalid(Box::new(error)))?;
        Ok(Self { schema, validator })
    }

    /// The problems of these arguments in words, or `None` if there are none.
    pub fn problems(&self, arguments: &Value) -> Option<String> {
        if self.fits(arguments) {
            return None;
        }
        let problems = problems::list(&self.schema, self.validator.iter_errors(arguments), arguments);
        (!problems.is_empty()).then(|| problems.to_string())
    }

    /// The certain and the likely problems of arguments with gaps, in words.
    pub fn foreseen(&self, arguments: &Value, gaps: &Gaps) -> (Option<String>, Option<String>) {
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

    /// Whether the arguments have no problem.
    pub fn fits(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments)
    }
}
