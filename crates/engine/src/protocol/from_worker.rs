//! The messages from the engine's process to the gateway, which trusts none of them.

use belljar_model::{
    ErrorKind, FailedIn, JsonBounds, JsonText, LimitHit, LimitName, Limits, LogEntry, LogLevel, MissingTool, Outcome,
    Recorded, RunError, RunStep, Thrown, Usage, text_exceeds,
};

use belljar_foreign::Imports;
use belljar_sandbox::MAX_ARTIFACT_BYTES;

use super::{
    Malformed,
    bytes::{Reader, Writer},
};

/// The engine and the walls are ready.
pub(crate) const READY: u8 = 1;
/// They are not ready, and why.
pub(crate) const FAILED: u8 = 2;
/// Which tools does this namespace have?
pub(crate) const DIRECTORY: u8 = 3;
/// `tools.list`, `tools.search`, `tools.describe` and `tools.route`.
pub(crate) const LIST: u8 = 4;
pub(crate) const SEARCH: u8 = 5;
pub(crate) const DESCRIBE: u8 = 6;
/// A tool is called.
pub(crate) const CALL: u8 = 7;
/// A run has ended.
pub(crate) const OUTCOME: u8 = 8;
/// A dropped run is gone.
pub(crate) const GONE: u8 = 9;
/// There is room for an answer that waits: it may be sent.
pub(crate) const TAKE: u8 = 10;
/// The script no longer wants an answer that waits.
pub(crate) const FORGET: u8 = 11;
/// What a run took in. Its end follows.
pub(crate) const RECORDING: u8 = 12;
/// The result of a replay. Its outcome follows.
pub(crate) const REPLAYED: u8 = 13;
/// A step of a run with listeners.
pub(crate) const STEP: u8 = 14;
/// Is any of these calls certain to fail?
pub(crate) const PLAN: u8 = 15;
pub(crate) const ROUTE: u8 = 16;
/// A question of `artifacts`.
pub(crate) const ARTIFACTS: u8 = 17;
/// A question of `keep`.
pub(crate) const KEEP: u8 = 18;

/// What a component imports and exports.
pub(crate) const IMPORTS: u8 = 19;
/// The run goes on without the answer to a call. The answer may not exist yet.
pub(crate) const GIVE_UP: u8 = 20;

/// The most bytes of a component's imports, as JSON: ten thousand functions with long names.
pub(crate) const MAX_IMPORTS: u64 = 4 * 1024 * 1024;
/// The most bytes of the reason in a [`FAILED`].
pub(crate) const MAX_REASON: u64 = 64 * 1024;
/// The most bytes of a query, a name or a path: the sandbox cuts them to much less.
pub(super) const MAX_QUESTION: u64 = 64 * 1024;
/// The most bytes of a question of `artifacts` or `keep`, which may contain a whole value.
pub(super) const MAX_ARTIFACTS_QUESTION: u64 = (MAX_ARTIFACT_BYTES + 64 * 1024) as u64;
/// The most bytes of one of an error's texts: the sandbox cuts those of the script to 8 KiB.
pub(super) const MAX_ERROR_TEXT: u64 = 64 * 1024;
/// The most bytes of a run's usage, which is some twenty numbers as JSON.
pub(super) const MAX_USAGE: u64 = 8 * 1024;
/// The most calls and timers in the order of a run. A longer order is left out, and the run cannot
/// be repeated from it.
pub(crate) const MAX_ORDER: u64 = 1_000_000;
/// The most bytes that one of them takes.
pub(super) const ORDER_ENTRY: u64 = 10;
/// The most bytes of all fields of fixed size, in any frame.
pub(super) const FIXED: u64 = 1024;
/// The bytes and lines of the entry that says that logs were cut, which is not counted in their
/// limits.
pub(crate) const CUT: (u64, u64) = (1024, 1);
/// A log entry's level and length.
pub(super) const LOG_HEADER: u64 = 9;

pub(crate) fn ready() -> Vec<u8> {
    Writer::frame(READY, 0, 0).finish_frame()
}

pub(crate) fn imports(imports: &str) -> Vec<u8> {
    Writer::frame(IMPORTS, 0, imports.len() + 8).text(imports).finish_frame()
}

pub(crate) fn parse_imports(body: &[u8]) -> Result<Imports, Malformed> {
    let text = Reader::new(body).text(MAX_IMPORTS)?;
    serde_json::from_str(text).map_err(|_| Malformed::Json)
}

pub(crate) fn failed(reason: &str) -> Vec<u8> {
    Writer::frame(FAILED, 0, reason.len() + 8).text(reason).finish_frame()
}

pub(crate) fn parse_failed(body: &[u8]) -> Result<String, Malformed> {
    Reader::new(body).text(MAX_REASON).map(str::to_owned)
}

pub(crate) fn gone(run: u64) -> Vec<u8> {
    Writer::frame(GONE, run, 0).finish_frame()
}

/// A question about the tools. A run has at most one at a time: the script does not continue until
/// it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    Directory(u32),
    List(Option<String>),
    Search(String, u32),
    Describe(String),
    Route(String, Option<String>),
    /// The calls of the script, as JSON.
    Plan(String),
    /// As JSON.
    Artifacts(String),
    /// As JSON.
    Keep(String),
}

pub(crate) fn question(run: u64, question: &Question) -> Vec<u8> {
    let of_kind = |kind| Writer::frame(kind, run, 64);
    match question {
        Question::Directory(namespace) => of_kind(DIRECTORY).u32(*namespace).finish_frame(),
        Question::List(server) => of_kind(LIST).option_text(server.as_deref()).finish_frame(),
        Question::Search(query, limit) => of_kind(SEARCH).text(query).u32(*limit).finish_frame(),
        Question::Describe(path) => of_kind(DESCRIBE).text(path).finish_frame(),
        Question::Route(server, words) => of_kind(ROUTE).text(server).option_text(words.as_deref()).finish_frame(),
        Question::Plan(calls) => of_kind(PLAN).text(calls).finish_frame(),
        Question::Keep(question) => Writer::frame(KEEP, run, question.len() + 16).text(question).finish_frame(),
        Question::Artifacts(question) => {
            Writer::frame(ARTIFACTS, run, question.len() + 16).text(question).finish_frame()
        }
    }
}

pub(crate) fn parse_question(kind: u8, body: &[u8]) -> Result<Question, Malformed> {
    let mut reader = Reader::new(body);
    let question = match kind {
        DIRECTORY => Question::Directory(reader.u32()?),
        LIST => Question::List(reader.option_text(MAX_QUESTION)?),
        SEARCH => Question::Search(reader.text(MAX_QUESTION)?.to_owned(), reader.u32()?),
        DESCRIBE => Question::Describe(reader.text(MAX_QUESTION)?.to_owned()),
        ROUTE => Question::Route(reader.text(MAX_QUESTION)?.to_owned(), reader.option_text(MAX_QUESTION)?),
        PLAN => Question::Plan(reader.text(MAX_QUESTION)?.to_owned()),
        KEEP => Question::Keep(reader.text(MAX_ARTIFACTS_QUESTION)?.to_owned()),
        ARTIFACTS => Question::Artifacts(reader.text(MAX_ARTIFACTS_QUESTION)?.to_owned()),
        _ => return Err(Malformed::Tag),
    };
    reader.end()?;
    Ok(question)
}

/// A call that begins. The tool is given by its index among the run's granted tools.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The call's number among the calls and timers of the run.
    pub(crate) number: u64,
    pub(crate) namespace: u32,
    pub(crate) entry: u32,
    /// How many bytes of the unasked answers have found room so far, in total.
    pub(crate) admitted: u64,
    /// JSON, not parsed yet.
    pub(crate) arguments: String,
}

pub(crate) fn call(run: u64, number: u64, (namespace, entry): (u32, u32), admitted: u64, arguments: &str) -> Vec<u8> {
    let mut frame = Writer::frame(CALL, run, arguments.len() + 32);
    frame.u64(number).u32(namespace).u32(entry).u64(admitted).text(arguments).finish_frame()
}

pub(crate) fn parse_call(body: &[u8], limits: &Limits) -> Result<Call, Malformed> {
    let mut reader = Reader::new(body);
    let call = Call {
        number: reader.u64()?,
        namespace: reader.u32()?,
        entry: reader.u32()?,
        admitted: reader.u64()?,
        arguments: reader.text(limits.max_arguments.as_u64())?.to_owned(),
    };
    reader.end()?;
    Ok(call)
}

/// A request for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Take {
    /// The number of its call.
    pub(crate) number: u64,
    /// As in [`Call`].
    pub(crate) admitted: u64,
}

pub(crate) fn take(run: u64, Take { number, admitted }: Take) -> Vec<u8> {
    Writer::frame(TAKE, run, 16).u64(number).u64(admitted).finish_frame()
}

pub(crate) fn parse_take(body: &[u8]) -> Result<Take, Malformed> {
    let mut reader = Reader::new(body);
    let take = Take { number: reader.u64()?, admitted: reader.u64()? };
    reader.end()?;
    Ok(take)
}

pub(crate) fn forget(run: u64, number: u64) -> Vec<u8> {
    Writer::frame(FORGET, run, 8).u64(number).finish_frame()
}

pub(crate) fn give_up(run: u64, number: u64) -> Vec<u8> {
    Writer::frame(GIVE_UP, run, 8).u64(number).finish_frame()
}

/// The number of the call of a [`FORGET`] or a [`GIVE_UP`].
pub(crate) fn parse_number(body: &[u8]) -> Result<u64, Malformed> {
    let mut reader = Reader::new(body);
    let number = reader.u64()?;
    reader.end()?;
    Ok(number)
}

const QUEUED: u8 = 0;
const ADMITTED: u8 = 1;
const STARTED: u8 = 2;
const LOG: u8 = 3;
const HANDED_OVER: u8 = 4;

/// A step of a run, or `None` for a step that only the gateway knows.
pub(crate) fn step(run: u64, step: &RunStep) -> Option<Vec<u8>> {
    let mut body = Writer::frame(STEP, run, 16);
    match step {
        RunStep::Queued => body.byte(QUEUED),
        RunStep::Admitted => body.byte(ADMITTED),
        RunStep::Started => body.byte(STARTED),
        RunStep::Log { level, text } => body.byte(LOG).byte(number_of(*level)).text(text),
        RunStep::HandedOver { call } => body.byte(HANDED_OVER).u64(*call),
        _ => return None,
    };
    Some(body.finish_frame())
}

pub(crate) fn parse_step(body: &[u8]) -> Result<RunStep, Malformed> {
    let mut reader = Reader::new(body);
    let step = match reader.byte()? {
        QUEUED => RunStep::Queued,
        ADMITTED => RunStep::Admitted,
        STARTED => RunStep::Started,
        LOG => {
            let level = level(&mut reader)?;
            RunStep::Log { level, text: reader.text(RunStep::MAX_TEXT as u64)?.to_owned() }
        }
        HANDED_OVER => RunStep::HandedOver { call: reader.u64()? },
        _ => return Err(Malformed::Tag),
    };
    reader.end()?;
    Ok(step)
}

/// The recording of a run, if there is one.
pub(crate) fn recording(run: u64, recorded: &Recorded) -> Vec<u8> {
    match recorded {
        Recorded::Whole(bytes) => Writer::frame(RECORDING, run, bytes.len() + 1).flag(true).raw(bytes).finish_frame(),
        Recorded::NotReplayable { reason } => {
            Writer::frame(RECORDING, run, reason.len() + 16).flag(false).text(reason).finish_frame()
        }
    }
}

pub(crate) fn parse_recording(body: &[u8]) -> Result<Recorded, Malformed> {
    let mut reader = Reader::new(body);
    if reader.flag()? {
        return Ok(Recorded::Whole(reader.rest().to_vec()));
    }
    let reason = reader.text(FIXED)?.to_owned();
    reader.end()?;
    Ok(Recorded::NotReplayable { reason })
}

/// An outcome without its calls, which the gateway has made itself.
pub(crate) fn outcome(run: u64, outcome: &Outcome) -> Vec<u8> {
    let value = outcome.result.as_ref().map_or(0, |value| value.as_str().len());
    let mut body = Writer::frame(OUTCOME, run, value + 1024);
    match &outcome.result {
        Ok(value) => body.flag(true).text(value.as_str()),
        Err(error) => write_error(body.flag(false), error),
    };
    body.u64(outcome.logs.len() as u64);
    for LogEntry { level, text } in &outcome.logs {
        body.byte(number_of(*level)).text(text);
    }
    body.text(&serde_json::to_string(&outcome.usage).unwrap_or_default());
    let order = if outcome.order.len() as u64 <= MAX_ORDER { outcome.order.as_slice() } else { &[] };
    body.numbers(order);
    body.finish_frame()
}

/// An outcome without its calls.
pub(crate) fn parse_outcome(body: &[u8], limits: &Limits) -> Result<Outcome, Malformed> {
    let mut reader = Reader::new(body);
    let result = if reader.flag()? {
        let max = limits.max_value_bytes();
        let text = reader.text(max)?.to_owned();
        let bounds = JsonBounds::with_bytes(usize::try_from(max).unwrap_or(usize::MAX));
        let value = JsonText::parse(text, &bounds).map_err(|_| Malformed::Json)?;
        if text_exceeds(&value, limits.max_output.as_u64()) {
            return Err(Malformed::Limit);
        }
        Ok(value)
    } else {
        Err(read_error(&mut reader)?)
    };
    let count = reader.count(limits.max_log_lines.saturating_add(CUT.1))?;
    let mut logs = Vec::new();
    let mut left = limits.max_logs.as_u64().saturating_add(CUT.0);
    for _ in 0..count {
        let level = level(&mut reader)?;
        let text = reader.text(left)?.to_owned();
        left -= text.len() as u64;
        logs.push(LogEntry { level, text });
    }
    let usage: Usage = serde_json::from_str(reader.text(MAX_USAGE)?).map_err(|_| Malformed::Json)?;
    let order = reader.numbers(MAX_ORDER)?;
    reader.end()?;
    Ok(Outcome {
        result,
        media: Vec::new(),
        kept: Vec::new(),
        logs,
        calls: Vec::new(),
        usage,
        order,
        recording: None,
        run: None,
    })
}

const LEVELS: [LogLevel; 5] = [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error];

fn number_of(level: LogLevel) -> u8 {
    LEVELS.iter().position(|known| *known == level).and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn level(reader: &mut Reader<'_>) -> Result<LogLevel, Malformed> {
    LEVELS.get(usize::from(reader.byte()?)).copied().ok_or(Malformed::Tag)
}

fn write_error<'writer>(body: &'writer mut Writer, error: &RunError) -> &'writer mut Writer {
    // Whether the error is recoverable follows from its kind, so it is not sent.
    let RunError {
        kind,
        message,
        failed_in,
        thrown,
        line,
        column,
        frame,
        stack,
        hint,
        missing,
        recoverable: _,
        retry_after_ms,
        limit,
        waits: _,
    } = error;
    body.text(kind.as_str()).text(message).flag(*failed_in == Some(FailedIn::Prelude));
    for number in [line, column] {
        body.option(*number, |writer, number| {
            writer.u32(number);
        });
    }
    for text in [frame, stack, hint] {
        body.option_text(text.as_deref());
    }
    body.option(thrown.as_deref(), |writer, Thrown { name, message }| {
        writer.text(name).text(message);
    });
    body.option(missing.as_deref(), |writer, MissingTool { server, tool, near }| {
        writer.text(server).text(tool).option_text(near.as_deref());
    });
    body.option(*retry_after_ms, |writer, number| {
        writer.u64(number);
    });
    body.option(limit.as_ref(), |writer, limit| {
        writer.text(limit.name.as_str()).u64(limit.max).u64(limit.used);
    })
}

fn read_error(reader: &mut Reader<'_>) -> Result<RunError, Malformed> {
    let kind = reader.text(FIXED)?;
    let kind = serde_json::from_value::<ErrorKind>(kind.into()).map_err(|_| Malformed::Tag)?;
    let mut error = RunError::new(kind, reader.text(MAX_ERROR_TEXT)?);
    error.failed_in = reader.flag()?.then_some(FailedIn::Prelude);
    error.line = reader.option(Reader::u32)?;
    error.column = reader.option(Reader::u32)?;
    error.frame = reader.option_text(MAX_ERROR_TEXT)?;
    error.stack = reader.option_text(MAX_ERROR_TEXT)?;
    error.hint = reader.option_text(MAX_ERROR_TEXT)?;
    error.thrown = reader.option(|reader| {
        let (name, message) = (reader.text(MAX_ERROR_TEXT)?.to_owned(), reader.text(MAX_ERROR_TEXT)?.to_owned());
        Ok(Box::new(Thrown { name, message }))
    })?;
    error.missing = reader.option(|reader| {
        let (server, tool) = (reader.text(MAX_ERROR_TEXT)?.to_owned(), reader.text(MAX_ERROR_TEXT)?.to_owned());
        Ok(Box::new(MissingTool { server, tool, near: reader.option_text(MAX_ERROR_TEXT)? }))
    })?;
    error.retry_after_ms = reader.option(Reader::u64)?;
    error.limit = reader.option(|reader| {
        let name = LimitName::from_name(reader.text(FIXED)?).ok_or(Malformed::Tag)?;
        Ok(LimitHit { name, max: reader.u64()?, used: reader.u64()? })
    })?;
    Ok(error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::{bounds::bound, frame::HEADER_BYTES};

    fn body(frame: &[u8]) -> &[u8] {
        frame.get(HEADER_BYTES..).unwrap_or_default()
    }

    fn sent(result: Result<JsonText, RunError>) -> Outcome {
        Outcome {
            result,
            media: Vec::new(),
            kept: Vec::new(),
            logs: vec![LogEntry { level: LogLevel::Warn, text: "ö".into() }],
            calls: Vec::new(),
            usage: Usage { fuel: Some(17), wall_ms: Some(1.5), ..Usage::default() },
            order: vec![2, 1],
            run: None,
            recording: None,
        }
    }

    #[test]
    fn an_outcome_arrives_as_it_was_sent() {
        let limits = Limits::default();
        let limit = LimitHit { name: LimitName::UnderWay, max: 1, used: 2 };
        let mut error = RunError::new(ErrorKind::Calls, "m").with_hint("h").with_limit(limit);
        error = error.with_retry_after(Duration::from_millis(5));
        error.missing =
            Some(Box::new(MissingTool { server: "fs".into(), tool: "red".into(), near: Some("read".into()) }));
        error.failed_in = Some(FailedIn::Prelude);
        error.thrown = Some(Box::new(Thrown { name: "TypeError".into(), message: "m".into() }));
        (error.line, error.column, error.stack, error.frame) = (Some(1), Some(2), Some("s".into()), Some("f".into()));
        for result in [Ok(JsonText::from_value(&serde_json::json!({"a": [1]}))), Err(error)] {
            let outcome_sent = sent(result);
            let frame = outcome(1, &outcome_sent);
            assert!((body(&frame).len() as u64) < bound(OUTCOME, &limits, None).expect("a kind of a run"));
            assert_eq!(parse_outcome(body(&frame), &limits), Ok(outcome_sent));
        }
    }

    #[test]
    fn an_outcome_beyond_the_runs_limits_is_refused() {
        let small = Limits { max_output: belljar_model::ByteSize(4), ..Limits::default() };
        let value = sent(Ok(JsonText::from_value(&serde_json::json!("12345"))));
        assert_eq!(parse_outcome(body(&outcome(1, &value)), &small), Err(Malformed::Limit));
        let mut logs = sent(Ok(JsonText::null()));
        let text = "x".repeat(usize::try_from(Limits::default().max_logs.as_u64() + CUT.0 + 1).expect("a size"));
        logs.logs = vec![LogEntry { level: LogLevel::Log, text }];
        assert_eq!(parse_outcome(body(&outcome(1, &logs)), &Limits::default()), Err(Malformed::Limit));
        let few = Limits { max_log_lines: 1, ..Limits::default() };
        logs.logs = vec![LogEntry { level: LogLevel::Log, text: String::new() }; 3];
        assert_eq!(parse_outcome(body(&outcome(1, &logs)), &few), Err(Malformed::Limit));
        let mut invented = RunError::new(ErrorKind::Fuel, "m");
        invented.limit = Some(LimitHit { name: LimitName::MaxLogs, max: 1, used: 1 });
        let frame = outcome(1, &sent(Err(invented)));
        assert!(parse_outcome(body(&frame), &few).is_ok());
        let at = frame.windows(8).position(|window| window == b"max_logs").expect("the name");
        let mut frame = frame;
        frame[at..at + 8].copy_from_slice(b"patience");
        assert_eq!(parse_outcome(body(&frame), &few), Err(Malformed::Tag));
    }

    #[test]
    fn texts_that_are_not_json_are_refused() {
        let frame = Writer::default().flag(true).text("{oops").finish();
        assert_eq!(parse_outcome(&frame, &Limits::default()), Err(Malformed::Json));
    }

    #[test]
    fn questions_and_calls_arrive_as_they_were_sent() {
        for sent in [
            Question::Directory(3),
            Question::List(None),
            Question::List(Some("fs".into())),
            Question::Search("q".into(), 5),
            Question::Describe("fs.read".into()),
            Question::Route("serena".into(), Some("the Go backend".into())),
            Question::Route("serena".into(), None),
            Question::Plan("{}".into()),
            Question::Artifacts("{}".into()),
            Question::Keep("{}".into()),
        ] {
            let frame = question(1, &sent);
            assert_eq!(parse_question(*frame.get(4).expect("a kind"), body(&frame)), Ok(sent));
        }
        let frame = call(1, 9, (2, 3), 4, "{}");
        let arrived = parse_call(body(&frame), &Limits::default()).expect("a call");
        assert_eq!(arrived, Call { number: 9, namespace: 2, entry: 3, admitted: 4, arguments: "{}".into() });
        let asked = Take { number: 7, admitted: 8 };
        assert_eq!(parse_take(body(&take(1, asked))), Ok(asked));
        assert_eq!(parse_number(body(&forget(1, 7))), Ok(7));
        assert_eq!(parse_number(body(&give_up(1, 7))), Ok(7));
        for sent in [
            RunStep::Queued,
            RunStep::Admitted,
            RunStep::Started,
            RunStep::log(LogLevel::Warn, &"ö".repeat(RunStep::MAX_TEXT)),
            RunStep::HandedOver { call: 7 },
        ] {
            let frame = step(1, &sent).expect("a step of the engine's");
            assert!((body(&frame).len() as u64) < bound(STEP, &Limits::default(), None).expect("a kind of a run"));
            assert_eq!(parse_step(body(&frame)), Ok(sent));
        }
        assert_eq!(step(1, &RunStep::Sent { call: 1, arguments: None }), None);
        let long = RunStep::Log { level: LogLevel::Log, text: "x".repeat(RunStep::MAX_TEXT + 1) };
        assert_eq!(parse_step(body(&step(1, &long).expect("a step"))), Err(Malformed::Limit));
        let small = Limits { max_arguments: belljar_model::ByteSize(1), ..Limits::default() };
        assert_eq!(parse_call(body(&frame), &small), Err(Malformed::Limit));
    }
}
