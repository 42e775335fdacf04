//! Whether a call's arguments are what the tool asks for, before the call leaves.
//!
//! A child's schema is a stranger's text: it may be huge, endless or wrong. One that cannot be checked, or not within bounds, is
//! left aside with a warning, and the child judges its arguments itself: a bad schema never hides a tool. Nothing is ever fetched
//! for a schema, patterns take time linear in what they look at, and defaults are not filled in.

mod cost;
#[cfg(any(test, fuzzing))]
#[cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzer alone"))]
pub mod fuzzing;
mod names;
mod problems;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_catalog::{ServerCatalog, Tool};
use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::{Map, Value};

use cost::Cost;

/// The longest schema that is compiled, as JSON text: four times the largest that is known of a published server.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Bytes of one compiled pattern.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// Visits of a value by a part of a schema that one check may take: about half a second.
const MAX_VISITS: u64 = 10_000_000;
/// A check that may take more visits than this does not hold up the runtime's own threads.
const MAX_VISITS_IN_PLACE: u64 = 20_000;

/// The compiled schemas of one server's tools, each made at its tool's first call.
///
/// A changed tool list makes a new one, as it makes a new catalogue; there are at most as many as there are tools.
pub(crate) struct Checks {
    catalog: Arc<ServerCatalog>,
    compiled: Mutex<HashMap<String, Option<Arc<Check>>>>,
}

/// One tool's compiled schema.
struct Check {
    schema: Value,
    validator: Validator,
    cost: Cost,
    /// The tool as a script calls it, and its declaration on one line.
    expression: String,
    signature: String,
}

/// Why arguments were refused: for the script's author, who has to mend them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Why a schema is not used.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("the schema has {used} bytes; the limit is {limit}")]
    TooLong { used: usize, limit: usize },
    #[error(transparent)]
    Cost(#[from] cost::Unbounded),
    #[error("the schema does not compile: {0}")]
    Invalid(Box<jsonschema::ValidationError<'static>>),
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

impl Checks {
    pub(crate) fn new(catalog: Arc<ServerCatalog>) -> Self {
        Self { catalog, compiled: Mutex::default() }
    }

    /// Whether `arguments` are what `tool` asks for. Gives them back if they are, or if nobody can tell.
    ///
    /// # Errors
    /// The [`Refusal`], which names each problem's place, what was expected there and what was found.
    pub(crate) async fn admit(&self, tool: &str, arguments: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        let Some(check) = self.check_of(tool).await else { return Ok(arguments) };
        let arguments = Value::Object(arguments);
        let visits = check.cost.of(&arguments);
        let judged = if visits > MAX_VISITS {
            tracing::debug!(tool = check.expression, visits, "the arguments are too many to be checked");
            (arguments, None)
        } else if visits > MAX_VISITS_IN_PLACE {
            let judge = move || check.judge(arguments);
            tokio::task::spawn_blocking(judge)
                .await
                .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
        } else {
            check.judge(arguments)
        };
        match judged {
            (Value::Object(arguments), None) => Ok(arguments),
            (_, Some(refusal)) => Err(refusal),
            (_, None) => Ok(Map::new()),
        }
    }

    /// The tool's compiled schema, if it has one that can be used.
    async fn check_of(&self, tool: &str) -> Option<Arc<Check>> {
        if let Some(known) = self.lock().get(tool) {
            return known.clone();
        }
        let catalog = self.catalog.clone();
        let name = tool.to_owned();
        // Compiling may take milliseconds. Two calls that come at once may both do it, and do no harm.
        let compile = move || catalog.tool(&name).map(|tool| Check::compile(tool).ok().map(Arc::new));
        let compiled = tokio::task::spawn_blocking(compile).await.ok()??;
        self.lock().insert(tool.to_owned(), compiled.clone());
        compiled
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Arc<Check>>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Check {
    /// Compiles a tool's schema, or says in the log why it is left aside.
    fn compile(tool: &Tool) -> Result<Self, Unfit> {
        let compiled = Self::try_compile(tool);
        if let Err(unfit) = &compiled {
            let (tool, reason) = (tool.path().to_string(), unfit.to_string());
            tracing::warn!(tool, reason, "the arguments of this tool are not checked before its calls");
        }
        compiled
    }

    fn try_compile(tool: &Tool) -> Result<Self, Unfit> {
        let schema = Value::Object(tool.definition().input_schema.clone());
        let used = schema.to_string().len();
        if used > MAX_SCHEMA_BYTES {
            return Err(Unfit::TooLong { used, limit: MAX_SCHEMA_BYTES });
        }
        let cost = Cost::of_schema(&schema)?;
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
        let validator = jsonschema::options()
            .with_retriever(NothingIsFetched)
            .with_pattern_options(patterns)
            // What a format means differs from child to child; they know best.
            .should_validate_formats(false)
            .build(&schema)
            .map_err(|error| Unfit::Invalid(Box::new(error)))?;
        let (expression, signature) = (tool.expression().to_owned(), tool.signature().to_owned());
        Ok(Self { schema, validator, cost, expression, signature })
    }

    /// Judges arguments, and gives them back.
    fn judge(&self, arguments: Value) -> (Value, Option<Refusal>) {
        if self.validator.is_valid(&arguments) {
            return (arguments, None);
        }
        let problems = problems::list(&self.schema, self.validator.iter_errors(&arguments), &arguments);
        let refusal = (!problems.is_empty()).then(|| Refusal {
            message: format!("{}: {problems}", self.expression),
            hint: format!("the tool is {}", self.signature),
        });
        (arguments, refusal)
    }
}

#[cfg(test)]
mod tests;
