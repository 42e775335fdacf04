//! The messages from the gateway to the engine's process, which trusts them.

use std::time::Duration;

use belljar_model::{ByteSize, JsonText, Limits, LimitsPatch, MAX_DURATION};
use belljar_sandbox::{AnswerStyle, CallError, CallStyle, Function, Namespace, Program, SandboxOptions};

use super::{
    Malformed,
    bytes::{Reader, Writer},
};

/// How many runs there may be: the first frame, before anything is set up.
pub(crate) const HELLO: u8 = 1;
/// A run begins.
pub(crate) const RUN: u8 = 2;
/// The run's caller stops waiting, but still wants the outcome.
pub(crate) const CANCEL: u8 = 3;
/// The run's caller is gone, and wants nothing more.
pub(crate) const DROP: u8 = 4;
/// The answer to the run's question about the tools.
pub(crate) const ANSWER: u8 = 5;
/// The answer to one of its calls.
pub(crate) const CALL_ANSWER: u8 = 6;
/// The answer to one of its calls is ready, and is sent when the process reports room.
pub(crate) const ANSWER_WAITS: u8 = 7;

/// Repeats a recorded run, or runs another script over its answers.
pub(crate) const REPLAY: u8 = 8;

/// One of its calls waits for a person, or no longer does. No clock of a run counts that time.
pub(crate) const PARKED: u8 = 9;

/// Whether the run has listeners, to whom its steps are reported.
pub(crate) const WATCH: u8 = 10;

/// The component of this process, which it reads before anything else.
pub(crate) const COMPONENT: u8 = 11;
/// The component is to be compiled.
pub(crate) const COMPILE: u8 = 12;

/// The most bytes of a frame that the process accepts. The gateway enforces its owner's limits;
/// this guards against a pipe that is out of step.
pub(crate) const MAX_BODY: u32 = u32::MAX / 2;

pub(crate) fn hello(options: &SandboxOptions) -> Vec<u8> {
    let SandboxOptions { max_live, live_memory, max_computing, max_queued, queue_timeout } = options;
    let timeout = u64::try_from(queue_timeout.as_millis()).unwrap_or(u64::MAX);
    let mut frame = Writer::frame(HELLO, 0, 32);
    frame.u32(*max_live).u64(live_memory.as_u64()).u32(*max_computing).u32(*max_queued).u64(timeout).finish_frame()
}

pub(crate) fn parse_hello(body: &[u8]) -> Result<SandboxOptions, Malformed> {
    let mut reader = Reader::new(body);
    let options = SandboxOptions {
        max_live: reader.u32()?,
        live_memory: ByteSize(reader.u64()?),
        max_computing: reader.u32()?,
        max_queued: reader.u32()?,
        queue_timeout: Duration::from_millis(reader.u64()?),
    };
    reader.end()?;
    Ok(options)
}

/// A component's file.
pub(crate) fn component(file: &[u8]) -> Vec<u8> {
    Writer::frame(COMPONENT, 0, file.len()).raw(file).finish_frame()
}

pub(crate) fn compile() -> Vec<u8> {
    Writer::frame(COMPILE, 0, 0).finish_frame()
}

/// A run as it begins.
#[derive(Debug)]
pub(crate) struct Begin {
    pub(crate) program: Program,
    pub(crate) limits: Limits,
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) functions: Vec<Function>,
    /// Whether its steps are reported.
    pub(crate) is_watched: bool,
}

pub(crate) fn run(
    run: u64,
    program: &Program,
    limits: &Limits,
    (namespaces, functions): (&[Namespace], &[Function]),
    is_watched: bool,
) -> Vec<u8> {
    let texts = program.source.len() + program.prelude.as_ref().map_or(0, String::len);
    let mut body = Writer::frame(RUN, run, texts + 1024);
    body.text(&program.source).text(&program.client);
    body.option_text(program.prelude.as_deref()).flag(program.builtins);
    body.flag(program.extended_value).flag(program.artifacts).flag(program.keep);
    body.option(program.seed, |writer, seed| {
        writer.raw(&seed);
    });
    body.option(program.order.as_ref(), |writer, order| {
        writer.numbers(order);
    });
    body.option(program.max_recording, |writer, max| {
        writer.u64(max.as_u64());
    });
    body.flag(program.only_plan).flag(program.only_signature);
    body.text(&as_json(limits));
    body.u64(namespaces.len() as u64);
    for Namespace { server, globals, style, answers } in namespaces {
        body.text(server).u64(globals.len() as u64);
        for global in globals {
            body.text(global);
        }
        body.flag(*style == CallStyle::Positional).flag(*answers == AnswerStyle::Plain);
    }
    body.u64(functions.len() as u64);
    for Function { name, namespace, property } in functions {
        body.text(name).u64(*namespace as u64).text(property);
    }
    body.flag(is_watched);
    body.finish_frame()
}

pub(crate) fn parse_run(body: &[u8]) -> Result<Begin, Malformed> {
    let mut reader = Reader::new(body);
    let source = reader.any_text()?;
    let client = reader.any_text()?;
    let prelude = reader.option_text(u64::MAX)?;
    let (builtins, extended_value) = (reader.flag()?, reader.flag()?);
    let (artifacts, keep) = (reader.flag()?, reader.flag()?);
    let seed = reader.option(|reader| reader.raw(32)?.try_into().map_err(|_| Malformed::Short))?;
    let order = reader.option(|reader| reader.numbers(u64::MAX))?;
    let max_recording = reader.option(Reader::u64)?.map(ByteSize::b);
    let (only_plan, only_signature) = (reader.flag()?, reader.flag()?);
    let limits = read_limits(&mut reader)?;
    let mut namespaces = Vec::new();
    for _ in 0..reader.u64()? {
        let server = reader.any_text()?;
        let mut globals = Vec::new();
        for _ in 0..reader.u64()? {
            globals.push(reader.any_text()?);
        }
        let style = if reader.flag()? { CallStyle::Positional } else { CallStyle::Object };
        let answers = if reader.flag()? { AnswerStyle::Plain } else { AnswerStyle::ToolResult };
        namespaces.push(Namespace { server, globals, style, answers });
    }
    let mut functions = Vec::new();
    for _ in 0..reader.u64()? {
        let name = reader.any_text()?;
        let namespace = usize::try_from(reader.u64()?).map_err(|_| Malformed::Limit)?;
        functions.push(Function { name, namespace, property: reader.any_text()? });
    }
    let is_watched = reader.flag()?;
    reader.end()?;
    let program = Program {
        source,
        prelude,
        builtins,
        extended_value,
        artifacts,
        keep,
        client,
        seed,
        order,
        max_recording,
        rest_after: None,
        only_plan,
        only_signature,
        component: None,
    };
    Ok(Begin { program, limits, namespaces, functions, is_watched })
}

/// The limits as a patch that sets each of them: its JSON has the names of the limits, so that none
/// can be confused with another.
fn as_json(limits: &Limits) -> String {
    let mut limits = LimitsPatch::from(limits);
    for duration in [&mut limits.timeout, &mut limits.compute, &mut limits.wait, &mut limits.call] {
        // The process cannot read a longer duration, and nothing waits that long.
        *duration = duration.map(|duration| duration.min(MAX_DURATION));
    }
    serde_json::to_string(&limits).unwrap_or_default()
}

fn read_limits(reader: &mut Reader<'_>) -> Result<Limits, Malformed> {
    let limits: LimitsPatch = serde_json::from_str(&reader.any_text()?).map_err(|_| Malformed::Json)?;
    Ok(limits.over(&Limits::default()))
}

/// The recording to repeat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replay<'a> {
    /// Another script, if the recorded one is not used.
    pub(crate) source: Option<&'a str>,
    /// Its limits.
    pub(crate) ceiling: Limits,
    pub(crate) recording: &'a [u8],
}

pub(crate) fn replay(run: u64, Replay { source, ceiling, recording }: &Replay<'_>) -> Vec<u8> {
    let mut body = Writer::frame(REPLAY, run, recording.len() + source.map_or(0, str::len) + 1024);
    body.option_text(*source).text(&as_json(ceiling)).raw(recording).finish_frame()
}

pub(crate) fn parse_replay(body: &[u8]) -> Result<Replay<'_>, Malformed> {
    let mut reader = Reader::new(body);
    let source = reader.option(|reader| reader.text(u64::MAX))?;
    let ceiling = read_limits(&mut reader)?;
    Ok(Replay { source, ceiling, recording: reader.rest() })
}

pub(crate) fn cancel(run: u64) -> Vec<u8> {
    Writer::frame(CANCEL, run, 0).finish_frame()
}

pub(crate) fn drop_run(run: u64) -> Vec<u8> {
    Writer::frame(DROP, run, 0).finish_frame()
}

/// The answer to a question: a text (names of tools, or JSON), or why there is none.
pub(crate) fn answer(run: u64, answer: Result<&str, &str>) -> Vec<u8> {
    let mut frame = Writer::frame(ANSWER, run, answer.map_or_else(str::len, str::len) + 16);
    match answer {
        Ok(text) => frame.flag(true).text(text),
        Err(reason) => frame.flag(false).text(reason),
    };
    frame.finish_frame()
}

pub(crate) fn parse_answer(body: &[u8]) -> Result<Result<String, String>, Malformed> {
    let mut reader = Reader::new(body);
    let is_ok = reader.flag()?;
    let text = reader.any_text()?;
    reader.end()?;
    Ok(if is_ok { Ok(text) } else { Err(text) })
}

pub(crate) fn call_answer(run: u64, number: u64, answer: &Result<JsonText, CallError>) -> Vec<u8> {
    let mut frame = Writer::frame(CALL_ANSWER, run, answer.as_ref().map_or(256, |result| result.as_str().len()) + 32);
    frame.u64(number);
    match answer {
        Ok(result) => frame.flag(true).text(result.as_str()),
        Err(fault) => frame
            .flag(false)
            .text(&fault.message)
            .option_text(fault.hint.as_deref())
            .flag(fault.is_refusal)
            .option_text(fault.denial.as_deref())
            .option_text(fault.name.as_deref()),
    };
    frame.finish_frame()
}

/// The bytes that an answer takes on its way. Even an empty answer has some.
pub(crate) fn answer_weight(bytes: usize) -> u64 {
    const FRAME_BYTES: u64 = 100;
    FRAME_BYTES.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
}

pub(crate) fn answer_waits(run: u64, number: u64, bytes: usize) -> Vec<u8> {
    Writer::frame(ANSWER_WAITS, run, 16).u64(number).u64(bytes as u64).finish_frame()
}

/// The number of a call, and the length of its answer.
pub(crate) fn parse_answer_waits(body: &[u8]) -> Result<(u64, usize), Malformed> {
    let mut reader = Reader::new(body);
    let waits = (reader.u64()?, usize::try_from(reader.u64()?).map_err(|_| Malformed::Limit)?);
    reader.end()?;
    Ok(waits)
}

pub(crate) fn parked(run: u64, number: u64, is_parked: bool) -> Vec<u8> {
    Writer::frame(PARKED, run, 16).u64(number).flag(is_parked).finish_frame()
}

/// The number of a call, and whether it waits for a person.
pub(crate) fn parse_parked(body: &[u8]) -> Result<(u64, bool), Malformed> {
    let mut reader = Reader::new(body);
    let parked = (reader.u64()?, reader.flag()?);
    reader.end()?;
    Ok(parked)
}

pub(crate) fn watch(run: u64, is_watched: bool) -> Vec<u8> {
    Writer::frame(WATCH, run, 1).flag(is_watched).finish_frame()
}

pub(crate) fn parse_watch(body: &[u8]) -> Result<bool, Malformed> {
    let mut reader = Reader::new(body);
    let is_watched = reader.flag()?;
    reader.end()?;
    Ok(is_watched)
}

/// An answer as it came: JSON that has not been parsed yet, or a fault.
pub(crate) type CallAnswer = Result<String, CallError>;

pub(crate) fn parse_call_answer(body: &[u8]) -> Result<(u64, CallAnswer), Malformed> {
    let mut reader = Reader::new(body);
    let number = reader.u64()?;
    let answer = if reader.flag()? {
        Ok(reader.any_text()?)
    } else {
        Err(CallError {
            message: reader.any_text()?,
            hint: reader.option_text(u64::MAX)?,
            is_refusal: reader.flag()?,
            denial: reader.option_text(u64::MAX)?,
            name: reader.option_text(u64::MAX)?,
        })
    };
    reader.end()?;
    Ok((number, answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::frame::HEADER_BYTES;

    fn body(frame: &[u8]) -> &[u8] {
        frame.get(HEADER_BYTES..).unwrap_or_default()
    }

    #[test]
    fn a_run_arrives_as_it_was_sent() {
        let program = Program::new("return 1")
            .with_prelude("globalThis.a = 1")
            .without_builtins()
            .with_extended_value()
            .with_artifacts()
            .with_keep()
            .with_client("c")
            .with_seed([7; 32])
            .with_order(vec![3, 1, 2])
            .with_recording(ByteSize::mib(3))
            .only_planned();
        let limits = Limits {
            timeout: Duration::from_nanos(1_234_567_891),
            fuel: 17,
            memory: ByteSize(123_456_789),
            max_calls: 3,
            ..Limits::default()
        };
        let object = Namespace::new("a-b", vec!["a-b".into(), "a_b".into()]);
        let (style, answers) = (CallStyle::Positional, AnswerStyle::Plain);
        let namespaces = [object, Namespace { style, answers, ..Namespace::new("c", Vec::new()) }];
        let functions = [Function { name: "f".into(), namespace: 1, property: "g".into() }];
        let sent = run(5, &program, &limits, (&namespaces, &functions), true);
        let arrived = parse_run(body(&sent)).expect("a run");
        assert_eq!(arrived.functions, functions);
        assert_eq!((arrived.limits, arrived.is_watched), (limits, true));
        assert_eq!(arrived.namespaces, namespaces);
        let Program { source, client, seed, order, max_recording, rest_after: _, only_plan, .. } = arrived.program;
        assert!(only_plan && !arrived.program.builtins && arrived.program.extended_value);
        assert!(arrived.program.artifacts && arrived.program.keep);
        assert_eq!(arrived.program.prelude.as_deref(), Some("globalThis.a = 1"));
        assert_eq!((source.as_str(), client.as_str()), ("return 1", "c"));
        assert_eq!((seed, order), (Some([7; 32]), Some(vec![3, 1, 2])));
        assert_eq!(max_recording, Some(ByteSize::mib(3)));
    }

    #[test]
    fn a_replay_arrives_as_it_was_sent() {
        let ceiling = Limits { fuel: 17, timeout: Duration::from_nanos(1_234_567_891), ..Limits::default() };
        for source in [None, Some("return 1")] {
            let sent = Replay { source, ceiling: ceiling.clone(), recording: &[1, 2, 3] };
            assert_eq!(parse_replay(body(&replay(5, &sent))), Ok(sent));
        }
    }

    #[test]
    fn options_and_answers_arrive_as_they_were_sent() {
        let options = SandboxOptions { max_live: 3, queue_timeout: Duration::from_millis(7), ..Default::default() };
        assert_eq!(parse_hello(body(&hello(&options))), Ok(options));
        assert_eq!(parse_answer(body(&answer(1, Err("no")))), Ok(Err("no".to_owned())));
        let fault = CallError::refused("no").with_hint("yes").with_name("RangeError");
        let (number, arrived) = parse_call_answer(body(&call_answer(1, 9, &Err(fault)))).expect("an answer");
        let arrived = arrived.expect_err("a fault");
        assert_eq!((number, arrived.message.as_str(), arrived.is_refusal), (9, "no", true));
        assert_eq!((arrived.hint.as_deref(), arrived.name.as_deref()), (Some("yes"), Some("RangeError")));
        assert_eq!(parse_answer_waits(body(&answer_waits(1, 9, 17))), Ok((9, 17)));
        assert_eq!(parse_parked(body(&parked(1, 9, true))), Ok((9, true)));
        assert_eq!(parse_watch(body(&watch(1, true))), Ok(true));
    }
}
