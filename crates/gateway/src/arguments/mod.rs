//! Checks a call's arguments before the call leaves.
//!
//! A child's schema is untrusted: it may be huge, endless or wrong. A schema that cannot be checked
//! within bounds is skipped with a warning, and the child checks its arguments itself, so a bad
//! schema never hides a tool. Nothing is ever fetched for a schema, patterns take time linear in
//! their input, and defaults are not filled in.
//!
//! A check begins with an estimate of its cost. A quick check is done in place. A longer one, or
//! one whose schema is costly to compile, is done by a worker process, which is killed when its
//! time is up or its run has ended. So no schema blocks a thread that others wait for, or uses up
//! the memory of this process.

#[cfg(any(test, fuzzing))]
#[cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzer alone"))]
pub mod fuzzing;
mod setbacks;
mod worker;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_arguments::{Compiled, Gaps, Plan, Undeclared, Unfit};
use belljar_catalog::{ServerCatalog, Tool};
use belljar_sandbox::KnownArguments;
use parking_lot::Mutex;
use serde_json::{Map, Value, value::RawValue};
use tokio::{sync::OnceCell, task::JoinHandle};

use crate::observations::Observations;
use setbacks::{PAUSE, Setbacks};
use worker::Unchecked;

pub(crate) use worker::CheckWorkers;
pub use worker::check_arguments;

/// The schemas of one server's tools, each examined when its tool is first called.
///
/// When the tool list changes, a new one is made, as is a new catalogue. There is at most one entry
/// for each tool.
pub(crate) struct Checks {
    catalog: Arc<ServerCatalog>,
    workers: Option<Arc<CheckWorkers>>,
    /// The observed results, for the line that describes the tool.
    observations: Arc<Observations>,
    known: Mutex<Known>,
}

/// How each tool is checked, by name, once its schema was examined; `None` if it cannot be checked.
type Known = HashMap<String, Arc<OnceCell<Option<Arc<Check>>>>>;

/// How one tool's arguments are checked.
struct Check {
    /// The schema's number, unique in this process.
    number: u64,
    plan: Plan,
    /// The compiled schema, if it is small enough for this process.
    compiled: Option<Compiled>,
    /// The schema for a worker.
    schema: Arc<RawValue>,
    /// Why checks that need a worker are skipped, for a while or for good.
    setbacks: Setbacks,
    /// The tool as a script calls it.
    expression: String,
}

/// Why arguments were refused, for the script's author, who has to fix them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Arguments that may be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) arguments: Map<String, Value>,
    /// A remark that the server most probably ignores some of them.
    pub(crate) warning: Option<String>,
}

impl Checks {
    pub(crate) fn new(
        catalog: Arc<ServerCatalog>,
        workers: Option<Arc<CheckWorkers>>,
        observations: Arc<Observations>,
    ) -> Self {
        Self { catalog, workers, observations, known: Mutex::default() }
    }

    /// Checks whether `arguments` fit the schema of `tool`. Returns them if they do, or if that
    /// cannot be determined.
    ///
    /// # Errors
    /// The [`Refusal`], which names each problem's place, what was expected there and what was
    /// found.
    ///
    /// # Cancellation
    /// A check that is under way in a worker ends with the worker.
    pub(crate) async fn admit(&self, tool: &str, arguments: Map<String, Value>) -> Result<Admitted, Refusal> {
        let Some(check) = self.check_of(tool).await else { return Ok(Admitted { arguments, warning: None }) };
        let arguments = Value::Object(arguments);
        let (arguments, problems) = match check.in_place(&arguments) {
            Some(compiled) => {
                let problems = compiled.problems(&arguments);
                (arguments, problems)
            }
            None => self.checked_elsewhere(&check, arguments).await,
        };
        let Value::Object(arguments) = arguments else {
            return Ok(Admitted { arguments: Map::new(), warning: None });
        };
        let undeclared = match (&problems, self.catalog.tool(tool)) {
            (None, Some(tool)) => Undeclared::of(&tool.definition().input_schema, &arguments, &Gaps::default()),
            _ => Undeclared::default(),
        };
        if let Some(problems) = problems.or_else(|| undeclared.problem()) {
            return Err(Refusal { message: format!("{}: {problems}", check.expression), hint: self.declared(tool) });
        }
        let warning = undeclared.ignored().map(|places| {
            let (expression, declared) = (&check.expression, self.declared(tool));
            format!(
                "{expression} does not list {places}, so the server has probably ignored that: leave it out; {declared}"
            )
        });
        Ok(Admitted { arguments, warning })
    }

    /// What is wrong with the arguments of a call that has not been made yet, and whether that is
    /// certain. A check that would need a worker is made only if all of the arguments are known.
    ///
    /// # Cancellation
    /// As [`Checks::admit`].
    pub(crate) async fn foresee(&self, tool: &str, known: &KnownArguments) -> Option<(Refusal, bool)> {
        if known.is_complete() {
            return self.admit(tool, known.value.clone()).await.err().map(|refusal| (refusal, true));
        }
        let check = self.check_of(tool).await?;
        let definition = self.catalog.tool(tool)?.definition();
        let gaps = Gaps::new(known.unknown.clone(), known.texts.clone(), known.open.clone());
        let arguments = Value::Object(known.value.clone());
        let (certain, likely) = check.in_place(&arguments)?.foreseen(&arguments, &gaps);
        let undeclared = match &certain {
            None => Undeclared::of(&definition.input_schema, &known.value, &gaps),
            Some(_) => Undeclared::default(),
        };
        // Values that are spread into the arguments may bring a `toJSON`, which changes everything.
        let is_whole = !gaps.is_open("");
        let (problems, is_certain) = match certain.or_else(|| undeclared.problem()) {
            Some(certain) => (certain, is_whole),
            None => (likely.or_else(|| undeclared.likely_problem())?, false),
        };
        let message = format!("{}: {problems}", check.expression);
        Some((Refusal { message, hint: self.declared(tool) }, is_certain))
    }

    /// The tool's signature on one line.
    fn declared(&self, tool: &str) -> String {
        let signature =
            self.catalog.tool(tool).map(|tool| tool.signature_with(self.observations.of(tool.path()).as_deref()));
        format!("the tool is {}", signature.unwrap_or_default())
    }

    /// Has a worker check the arguments, and returns them with their problems.
    async fn checked_elsewhere(&self, check: &Check, arguments: Value) -> (Value, Option<String>) {
        if check.setbacks.is_given_up() {
            return (arguments, None);
        }
        let Some(workers) = &self.workers else {
            check.give_up("it would take more than a millisecond, and no worker process is available");
            return (arguments, None);
        };
        let arguments = Arc::new(arguments);
        let problems = match workers.problems(check.number, &check.schema, &arguments).await {
            Ok(problems) => problems,
            // The schema is not to blame, so the next call is checked again.
            Err(unchecked @ (Unchecked::Busy | Unchecked::TooLong { .. } | Unchecked::NotStarted(_))) => {
                check.pass_over(&unchecked.to_string());
                None
            }
            // The schema cannot be used, whatever the arguments are.
            Err(Unchecked::Unfit(reason)) => {
                check.give_up(&reason);
                None
            }
            Err(unchecked) => {
                check.pause(&unchecked.to_string());
                None
            }
        };
        (Arc::unwrap_or_clone(arguments), problems)
    }

    /// How the tool's arguments are checked, if they can be.
    async fn check_of(&self, tool: &str) -> Option<Arc<Check>> {
        let cell = self.known.lock().get(tool).cloned();
        let cell = match cell {
            Some(cell) => cell,
            None => {
                self.catalog.tool(tool)?;
                self.known.lock().entry(tool.to_owned()).or_default().clone()
            }
        };
        // The first caller examines the schema, and the others wait for it.
        let check = cell.get_or_init(async || {
            let (catalog, name) = (self.catalog.clone(), tool.to_owned());
            let look = move || Check::of(catalog.tool(&name)?);
            Aborted(tokio::task::spawn_blocking(look)).ended().await.flatten().map(Arc::new)
        });
        check.await.clone()
    }
}

impl Check {
    /// Examines a tool's schema, or logs why it is skipped.
    fn of(tool: &Tool) -> Option<Self> {
        let look = || {
            let schema = Value::Object(tool.definition().input_schema.clone());
            let plan = Plan::of(&schema)?;
            let text = serde_json::value::to_raw_value(&schema).map_err(Unfit::NoText)?;
            let compiled = if plan.is_small { Some(Compiled::new(schema)?) } else { None };
            Ok((plan, compiled, text))
        };
        match look() {
            Ok((plan, compiled, text)) => {
                static NUMBERS: AtomicU64 = AtomicU64::new(0);
                Some(Self {
                    number: NUMBERS.fetch_add(1, Ordering::Relaxed),
                    plan,
                    compiled,
                    schema: text.into(),
                    setbacks: Setbacks::default(),
                    expression: tool.expression().to_owned(),
                })
            }
            Err(unfit) => {
                let unfit: Unfit = unfit;
                let tool = tool.path().to_string();
                tracing::warn!(tool, reason = %unfit, "the arguments of this tool are not checked before its calls");
                None
            }
        }
    }

    /// The compiled schema, if these arguments can be checked right here.
    fn in_place(&self, arguments: &Value) -> Option<&Compiled> {
        self.compiled.as_ref().filter(|_| self.plan.fits_in_place(arguments))
    }

    /// Skips large checks from now on, and logs that once.
    fn give_up(&self, reason: &str) {
        if self.setbacks.give_up() {
            let tool = self.expression.as_str();
            tracing::warn!(tool, reason, "large arguments of this tool are no longer checked before its calls");
        }
    }

    /// Skips large checks for a while, and logs that.
    fn pause(&self, reason: &str) {
        if self.setbacks.pause() {
            let tool = self.expression.as_str();
            let seconds = PAUSE.as_secs();
            tracing::warn!(
                tool,
                reason,
                "large arguments of this tool are not checked before its calls for {seconds} s"
            );
        }
    }

    /// Skips one check, and logs that now and then.
    fn pass_over(&self, reason: &str) {
        if let Some(count) = self.setbacks.pass_over() {
            let tool = self.expression.as_str();
            tracing::warn!(
                tool,
                reason,
                "large arguments of this tool were not checked before its call ({count} since this was last said)"
            );
        }
    }
}

/// Blocking work that is not started once nobody waits for it.
struct Aborted<T>(JoinHandle<T>);

impl<T> Aborted<T> {
    /// Its result, or `None` if it panicked.
    async fn ended(mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for Aborted<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests;
