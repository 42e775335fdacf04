//! The maximum size of a frame from the engine's process, known before anything is allocated for
//! it.

use belljar_model::{ByteSize, Limits, RunStep};

use super::{
    from_worker::{
        ARTIFACTS, CALL, CUT, DESCRIBE, DIRECTORY, FIXED, FORGET, GIVE_UP, GONE, KEEP, LIST, LOG_HEADER,
        MAX_ARTIFACTS_QUESTION, MAX_ERROR_TEXT, MAX_ORDER, MAX_QUESTION, MAX_USAGE, ORDER_ENTRY, OUTCOME, PLAN,
        RECORDING, REPLAYED, ROUTE, SEARCH, STEP, TAKE,
    },
    replayed,
};

/// The most bytes of a body of this kind, for a run with these limits and this bound on its
/// recording. `None` if the kind does not belong to a run.
pub(crate) fn bound(kind: u8, limits: &Limits, max_recording: Option<ByteSize>) -> Option<u64> {
    Some(match kind {
        REPLAYED => replayed::MAX_BODY,
        RECORDING => max_recording?.as_u64().saturating_add(FIXED),
        DIRECTORY | TAKE | FORGET | GIVE_UP => FIXED,
        STEP => RunStep::MAX_TEXT as u64 + FIXED,
        LIST | SEARCH | DESCRIBE | ROUTE | PLAN => MAX_QUESTION + FIXED,
        // A question comes from the script's memory.
        ARTIFACTS | KEEP => limits.memory.as_u64().min(MAX_ARTIFACTS_QUESTION).saturating_add(FIXED),
        CALL => limits.max_arguments.as_u64().saturating_add(FIXED),
        OUTCOME => {
            let (logs, lines) = (limits.max_logs.as_u64(), limits.max_log_lines);
            let logs =
                logs.saturating_add(CUT.0).saturating_add(lines.saturating_add(CUT.1).saturating_mul(LOG_HEADER));
            let rest = 6 * MAX_ERROR_TEXT + MAX_USAGE + MAX_ORDER * ORDER_ENTRY + FIXED;
            limits.max_value_bytes().saturating_add(logs).saturating_add(rest)
        }
        GONE => 0,
        _ => return None,
    })
}
