//! Making a run's calls where the run is not: for an engine whose scripts run in another process.
//!
//! What a call gives, and what is kept of it, is decided here as the sandbox decides it, so that an outcome is the same in both.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use belljar_model::{CallRecord, JsonBounds, JsonText, Limits};
use futures::{FutureExt as _, future::BoxFuture};

use crate::{CallFault, GrantedTool, Tools, host};

/// What the script gets for a call, and what is kept of it: nothing, of a call that was refused.
pub type CallEnd = (Result<JsonText, CallFault>, Option<CallRecord>);

/// Makes a call for a run with these limits.
pub fn call(
    tools: Arc<dyn Tools>,
    tool: GrantedTool,
    arguments: String,
    limits: &Limits,
) -> BoxFuture<'static, CallEnd> {
    let begun = Instant::now();
    let (max_result, limit) = (limits.max_result.as_u64(), limits.call);
    let bounds = JsonBounds::with_bytes(usize::try_from(limits.max_arguments.as_u64()).unwrap_or(usize::MAX));
    let arguments = JsonText::parse(arguments, &bounds);
    async move {
        let result = match arguments {
            // A tool that panics has failed, and nothing else has: also one that panics before it gives its future.
            Ok(arguments) => {
                let called = async { tools.call(&tool, arguments, limit).await };
                AssertUnwindSafe(called).catch_unwind().await.unwrap_or_else(|_| Err(host::panicked()))
            }
            Err(fault) => Err(host::arguments_fault(&fault)),
        };
        let result = result.and_then(|result| host::bounded(result, max_result));
        let record = host::record(&tool, &result, begun);
        (result, record)
    }
    .boxed()
}

/// What is kept of a call that had no answer when its run ended.
pub fn unanswered(tool: &GrantedTool, begun: Instant) -> CallRecord {
    host::unanswered(tool, begun)
}
