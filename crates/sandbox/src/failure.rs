//! Converts what stopped a run to the error that the script's author reads.

use belljar_model::{CallRecord, ErrorKind, LimitHit, LimitName, Limits, MissingTool, RunError, Thrown};
use wasmtime::Trap;

use crate::{
    NameError,
    bindings::{Failure, FailureKind},
    calls::UNANSWERED,
    frame,
    place::Place,
};

/// Characters kept of a text that the guest wrote.
const MAX_TEXT: usize = 8 * 1024;

/// What a run was doing when a limit ended it.
#[derive(Debug, Default)]
pub(crate) struct Doing {
    /// Tool calls that it had begun.
    calls: u64,
    /// The tools that had not answered.
    awaited: Vec<String>,
}

impl Doing {
    /// How many tools are named. Further ones are only counted.
    const NAMED: usize = 3;

    /// What a run with these calls was doing once it had begun `begun` calls. It is the same when
    /// the run is repeated.
    pub(crate) fn of(calls: &[CallRecord], begun: u64) -> Self {
        let open = calls.iter().filter(|call| call.error.as_deref() == Some(UNANSWERED));
        let mut awaited: Vec<String> = open.map(|call| format!("{}.{}", call.server, call.tool)).collect();
        awaited.dedup();
        Self { calls: begun, awaited }
    }

    /// The unanswered calls, as the end of a sentence.
    fn waiting(&self) -> String {
        let named = self.awaited.get(..Self::NAMED.min(self.awaited.len())).unwrap_or_default().join(", ");
        match self.awaited.len().saturating_sub(Self::NAMED) {
            _ if named.is_empty() => String::new(),
            0 => format!(", and had no answer of {named}"),
            more => format!(", and had no answer of {named} and {more} more"),
        }
    }

    /// What the author of a slow run can do.
    fn faster(&self) -> &'static str {
        match (self.calls, self.awaited.is_empty()) {
            // A run that waits for no tool computes, or waits for a timer.
            (_, true) => "is there a loop that never ends, or a timer that is too long?",
            (0 | 1, false) => "ask this tool for less at once",
            (_, false) => "call tools in parallel with Promise.all, or ask for less",
        }
    }
}

/// The error for a limit. The hint says what the script's author can do; callers add who may raise
/// the limit.
pub fn limit(hit: LimitHit) -> RunError {
    limit_of(hit, &Doing::default())
}

/// The same, with what the run was doing.
pub(crate) fn limit_of(hit: LimitHit, doing: &Doing) -> RunError {
    let (kind, message, hint) = match hit.name {
        LimitName::Timeout => (
            ErrorKind::Timeout,
            format!("the run took longer than its timeout of {} ms{}", hit.max, doing.waiting()),
            doing.faster(),
        ),
        LimitName::Compute => (
            ErrorKind::Timeout,
            format!("the script computed for longer than {} ms", hit.max),
            "is there a loop that never ends? Work on less at a time",
        ),
        LimitName::Wait => (
            ErrorKind::Timeout,
            format!("the script waited for longer than {} ms in all{}", hit.max, doing.waiting()),
            doing.faster(),
        ),
        LimitName::Fuel => (
            ErrorKind::Fuel,
            format!("the script used up its fuel of {}", hit.max),
            "is there a loop that never ends? Work on less at a time",
        ),
        LimitName::Memory => (
            ErrorKind::Memory,
            format!("the script needs more memory than its limit of {} bytes", hit.max),
            "keep less at once: filter and slice early",
        ),
        LimitName::Stack => (
            ErrorKind::Stack,
            "the script, or a text that it parses, nests too deeply".to_owned(),
            "use a loop in place of recursion, and flatter data",
        ),
        LimitName::MaxCalls => (
            ErrorKind::Calls,
            format!("the script made more than {} tool calls", hit.max),
            "look for a tool that takes many items at once, or do less in one run",
        ),
        LimitName::MaxConcurrentCalls => (
            ErrorKind::Calls,
            format!("the script made more than {} tool calls at once", hit.max),
            "await them in smaller groups",
        ),
        LimitName::MaxOutput => (
            ErrorKind::Output,
            format!("the value has {} bytes as JSON; the limit is {}", hit.used, hit.max),
            "return less: filter, slice or count in the script",
        ),
        LimitName::MaxSource => (
            ErrorKind::Usage,
            format!("the source has {} bytes; the limit is {}", hit.used, hit.max),
            "pass data through tools instead of writing it into the script",
        ),
        LimitName::UnderWay => (
            ErrorKind::Calls,
            format!("the script had more than {} {} at once", hit.max, hit.name.unit()),
            "await them in smaller groups",
        ),
        // Exceeding these cuts, delays, or causes an error that can be caught.
        LimitName::Call
        | LimitName::MaxArguments
        | LimitName::MaxResult
        | LimitName::MaxLogs
        | LimitName::MaxLogLines
        | LimitName::MaxHeld
        | LimitName::MaxQueued
        | LimitName::QueueTimeout
        | LimitName::RequestsInFlight
        | LimitName::RequestBytesInFlight => (
            ErrorKind::Internal,
            format!("the run was ended by the limit '{}', which ends no run", hit.name),
            "this is a fault in belljar, not in the script",
        ),
    };
    RunError::new(kind, message).with_hint(hint).with_limit(hit)
}

/// The error for a value that is too large.
pub fn value_too_large(used: u64, limits: &Limits) -> RunError {
    limit(LimitHit { name: LimitName::MaxOutput, max: limits.max_output.as_u64(), used })
}

/// The error for a prelude that is too long.
pub(crate) fn prelude_too_long(used: u64, max: u64) -> RunError {
    RunError::new(ErrorKind::Usage, format!("the prelude has {used} bytes; the limit is {max}, as of a script"))
        .with_hint("raise max_source, or define less in it")
}

/// The error for a name that a host cannot use.
pub(crate) fn of_names(error: &NameError) -> RunError {
    RunError::new(ErrorKind::Usage, format!("what this run adds for its script cannot be defined: {error}"))
}

/// The error for a run that its caller cancelled.
pub fn cancelled() -> RunError {
    RunError::new(ErrorKind::Cancelled, "the run was cancelled")
}

/// The error for a run that waits for people and is put aside.
pub(crate) fn put_aside() -> RunError {
    RunError::new(ErrorKind::Approval, "the run waits for the decision of a person")
}

/// The interpreter reported a failure of the script.
pub(crate) fn reported(failure: Failure, source: &str, limits: &Limits) -> RunError {
    if failure.kind == FailureKind::Output {
        return value_too_large(failure.used.unwrap_or(limits.max_value_bytes()), limits);
    }
    let kind = match failure.kind {
        FailureKind::Syntax => ErrorKind::Syntax,
        FailureKind::Exception => ErrorKind::Exception,
        FailureKind::Tool => ErrorKind::Tool,
        FailureKind::Denied => ErrorKind::Denied,
        FailureKind::Plan => ErrorKind::Plan,
        FailureKind::Stack => ErrorKind::Stack,
        FailureKind::Deadlock => ErrorKind::Deadlock,
        FailureKind::Output => ErrorKind::Output,
    };
    let mut error = RunError::new(kind, bounded(failure.message));
    error.thrown =
        failure.thrown.map(|thrown| Box::new(Thrown { name: bounded(thrown.name), message: bounded(thrown.message) }));
    error.line = failure.line.filter(|line| *line > 0);
    error.column = failure.column.filter(|column| *column > 0);
    error.frame = error.line.and_then(|line| frame::frame(source, line, error.column.unwrap_or(1)));
    error.stack = failure.stack.map(bounded);
    error.hint = failure.hint.map(bounded);
    error.missing = failure.missing.map(|missing| {
        let (server, tool) = (bounded(missing.server), bounded(missing.tool));
        Box::new(MissingTool { server, tool, near: missing.near.map(bounded) })
    });
    error
}

/// Adds that a script that was stopped before it began had no effect.
pub(crate) fn with_nothing_called(mut error: RunError) -> RunError {
    if error.kind == ErrorKind::Plan {
        error.message.push_str("\nThe script was not run: nothing was called.");
    }
    error
}

/// Adds where the script was last seen to an error that ended it from outside, if the guest
/// reported a position that exists in the source.
pub(crate) fn last_seen(mut error: RunError, place: Option<Place>, source: &str) -> RunError {
    if let Some(Place { line, column }) = place.filter(|_| error.kind.is_from_outside())
        && let Some(frame) = frame::frame(source, line, column)
    {
        error.line = Some(line);
        error.column = Some(column).filter(|column| frame::has_column(source, line, *column));
        error.frame = Some(frame);
    }
    error
}

/// Adds the last seen place in a named script to an error that ended the run from outside.
pub(crate) fn in_named(mut error: RunError, frame: Option<String>) -> RunError {
    if let Some(frame) = frame.filter(|_| error.kind.is_from_outside()) {
        error.message.push_str(&format!(" ({frame})"));
        error.stack.get_or_insert(frame);
    }
    error
}

/// Adds the position of another error that ended the same run.
pub(crate) fn seen_where(mut error: RunError, other: &RunError) -> RunError {
    if other.kind.is_from_outside() {
        (error.line, error.column, error.frame) = (other.line, other.column, other.frame.clone());
    }
    error
}

/// Adds the limit that refused a call to the resulting error, if the script did not catch that.
pub(crate) fn with_refusal(error: RunError, refusal: Option<(String, LimitHit)>) -> RunError {
    match refusal {
        Some((message, hit)) if error.kind == ErrorKind::Tool && error.message.contains(&message) => {
            error.with_limit(hit)
        }
        _ => error,
    }
}

/// What is known about a stopped instance.
pub(crate) struct Stopped {
    /// The limit that the host found exceeded.
    pub(crate) hit: Option<LimitHit>,
    /// The memory that the instance requested and did not get.
    pub(crate) denied: Option<u64>,
    /// The most memory that it had.
    pub(crate) peak: u64,
    /// What it wrote to its standard error.
    pub(crate) stderr: String,
    /// Whether it was answered from a recording.
    pub(crate) is_replay: bool,
}

/// The error for an instance that was stopped, by a limit or by its own fault.
pub(crate) fn trapped(error: &wasmtime::Error, stopped: Stopped, limits: &Limits, doing: &Doing) -> RunError {
    let Stopped { hit, denied, peak, stderr: said, is_replay } = stopped;
    if let Some(hit) = hit {
        return limit_of(hit, doing);
    }
    let memory = limits.memory.as_u64();
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => limit(LimitHit { name: LimitName::Fuel, max: limits.fuel, used: limits.fuel }),
        Some(Trap::StackOverflow) => stack_overflow(),
        _ if denied.is_some() => {
            let used = denied.unwrap_or(memory);
            limit(LimitHit { name: LimitName::Memory, max: memory, used })
        }
        _ if refused_allocation(&said).is_some() => {
            let wanted = refused_allocation(&said).unwrap_or_default();
            let used = wanted.saturating_add(peak);
            limit(LimitHit { name: LimitName::Memory, max: memory, used: used.max(memory) })
        }
        // The guest's own stack is at the bottom of its memory; overflowing it is an access out of
        // bounds.
        Some(Trap::MemoryOutOfBounds) => stack_overflow(),
        _ => {
            let error = format!("{error:#}");
            if is_replay {
                // A replay that differs from its recording also ends like this, and reports the
                // difference itself.
                tracing::debug!(error, stderr = said, "the replay was stopped, or the interpreter failed");
            } else {
                tracing::error!(error, stderr = said, "the interpreter failed");
            }
            // The line before the message names a place in belljar's own build, which is not shown.
            let is_message = |line: &&str| !line.trim().is_empty() && !line.contains("panicked at");
            let said = said.lines().find(is_message).map(|line| format!(": {line}")).unwrap_or_default();
            RunError::new(ErrorKind::Internal, bounded(format!("the interpreter failed{said}"))).with_hint(
                "this is a fault in belljar, not in the script; a different way to write it may get around it",
            )
        }
    }
}

/// The size of a block for which the guest's allocator did not even ask the host, since no memory
/// could hold it. A guest that lies about this only gets this error instead of another.
fn refused_allocation(said: &str) -> Option<u64> {
    /// Rust allocates no block of this size or more on a 32-bit machine.
    const LARGEST: u64 = 1 << 31;
    if said.contains("capacity overflow") {
        return Some(LARGEST);
    }
    let (_, rest) = said.rsplit_once("memory allocation of ")?;
    rest.split_once(" bytes failed")?.0.parse().ok()
}

fn stack_overflow() -> RunError {
    let mut error = limit(LimitHit { name: LimitName::Stack, max: 0, used: 0 });
    // The depth cannot be measured.
    error.limit = None;
    error
}

fn bounded(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let mut end = MAX_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: u32, column: u32) -> RunError {
        let error = RunError::new(ErrorKind::Fuel, "over");
        last_seen(error, Some(Place { line, column }), "let a\nwhile (a) {}")
    }

    #[test]
    fn a_place_that_the_source_has_not_is_ignored() {
        let error = seen(2, 8);
        assert_eq!((error.line, error.column), (Some(2), Some(8)));
        assert!(error.frame.is_some_and(|frame| frame.contains("while")));
        for line in [0, 3, u32::MAX] {
            assert_eq!(seen(line, 1), RunError::new(ErrorKind::Fuel, "over"), "line {line}");
        }
        for column in [0, 14, u32::MAX] {
            assert_eq!((seen(2, column).line, seen(2, column).column), (Some(2), None), "column {column}");
        }
        let thrown = RunError::new(ErrorKind::Exception, "no");
        assert_eq!(last_seen(thrown.clone(), Some(Place { line: 1, column: 1 }), "x"), thrown);
    }
}
