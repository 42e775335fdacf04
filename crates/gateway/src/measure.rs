//! `measure` of the owner's rules: a read-only call that is made before another one is decided.
//!
//! It is judged by the rules like any call, except that a rule that would measure for it gets no
//! count. If it is not allowed, fails, or returns no count, the count is unknown and the rule fails
//! closed.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar_model::{Effect, JsonText};
use belljar_policy::Measure;
use belljar_upstream::{CallLimit, Caller};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value};

use crate::{
    Toolbox,
    locks::RunLocks,
    rules::{AsRules, Measuring},
    run_log::{Content, RunLog},
    tool_result::value,
};

/// Calls that are made for the decision about one call.
const MAX_MEASURES: u64 = 4;
/// The upper end of a script's call numbers. Calls made for decisions are numbered above it.
const NUMBERS: u64 = 1 << 32;
/// The longest result that is searched for a count.
const MAX_BYTES: usize = 1024 * 1024;

/// Makes such calls for the decision about one call.
pub(crate) struct CountingCalls {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) caller: Caller,
    pub(crate) limit: CallLimit,
    pub(crate) locks: Arc<RunLocks>,
    /// Where the run is reported, if it has begun.
    pub(crate) log: Option<Arc<RunLog>>,
    /// The number of the call that is being decided.
    pub(crate) number: u64,
    pub(crate) made: AtomicU64,
}

impl fmt::Debug for CountingCalls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CountingCalls").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
enum NoCount {
    #[error("{MAX_MEASURES} calls were made for it already, the limit")]
    TooMany,
    #[error("its tool counts as {0}: a tool to measure with must only read")]
    Acts(Effect),
    #[error("the rules do not allow its call, or it does not fit the tool")]
    NotAllowed,
    #[error("its server is not available: {0}")]
    Locked(String),
    #[error("it failed: {0}")]
    Failed(String),
    #[error("its result has no such count, or is too long to look for one")]
    NotThere,
}

impl Measuring for CountingCalls {
    fn count<'m>(
        &'m self,
        who: &'m AsRules,
        measure: &'m Measure,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'m, Option<u64>> {
        async move {
            let count = self.made_by(who, measure, arguments).await;
            count.inspect_err(|why| tracing::warn!("{} gave no count: {why}", measure.tool())).ok()
        }
        .boxed()
    }
}

impl CountingCalls {
    async fn made_by(&self, who: &AsRules, measure: &Measure, arguments: Map<String, Value>) -> Result<u64, NoCount> {
        let Self { toolbox, caller, limit, locks, log, number, made } = self;
        let before = made.fetch_add(1, Ordering::Relaxed);
        if before >= MAX_MEASURES {
            return Err(NoCount::TooMany);
        }
        let path = measure.tool();
        toolbox.look_again(path.server()).await;
        let trusted = toolbox.trusted_effect_of(path);
        if trusted != Effect::ReadOnly {
            return Err(NoCount::Acts(trusted));
        }
        let arguments = JsonText::from_value(&Value::Object(arguments));
        let checked = toolbox.checked(path, arguments, &who.to_measure()).await.map_err(|_| NoCount::NotAllowed)?;
        let server = toolbox.position_of(path.server()).unwrap_or(usize::MAX);
        let total: Duration = limit.total;
        let entered = locks.enter(server, total, &|server| tracing::info!(server, "waits for the end of another run"));
        let _permit = entered.await.map_err(|fault| NoCount::Locked(fault.to_string()))?;
        let number = number.saturating_add(NUMBERS.saturating_mul(before + 1));
        let sent = match log {
            Some(log) => {
                let (effects, decision) = ((Effect::ReadOnly, trusted, true), checked.decision.as_ref());
                // It may contain what is hidden in the call for which it measures.
                let carried = (&checked.arguments, Content::Hidden);
                let sent = log.sending(number, path, effects, carried, decision).await;
                Some(sent.map_err(|fault| NoCount::Failed(fault.to_string()))?)
            }
            None => None,
        };
        let caller = match log.as_ref().and_then(|log| log.span_of(number)) {
            Some(span) => &caller.with_trace(span),
            None => caller,
        };
        let answer = toolbox.upstream().call_text(path, checked.arguments, *limit, caller).await;
        let has_failed = match sent {
            Some(sent) => sent.ended(answer.as_ref().ok()).await,
            None => false,
        };
        let answer = answer.map_err(|fault| NoCount::Failed(fault.to_string()))?;
        if answer.as_str().len() > MAX_BYTES {
            return Err(NoCount::NotThere);
        }
        let raw = answer.to_value().map_err(|error| NoCount::Failed(error.to_string()))?;
        if has_failed || raw.get("isError") == Some(&Value::Bool(true)) {
            return Err(NoCount::Failed("the tool says so".to_owned()));
        }
        measure.count_in(&value(&raw)).ok_or(NoCount::NotThere)
    }
}
