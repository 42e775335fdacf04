//! The process's report on a replayed run, or on another script over recorded answers.
//!
//! It consists of two frames: first the result and the calls, then the outcome, as for any run. A
//! recording may come from anywhere, with texts of any length: the process cuts them in its report,
//! so that no recording makes it break a rule.

use belljar_model::{CallRecord, Effect, ErrorKind, MissingTool, Outcome, RunError, Thrown};
use belljar_sandbox::ReplayError;

use super::{
    Malformed,
    bytes::{Reader, Writer},
    from_worker::{self, REPLAYED},
};

/// The most bytes of the names and errors of all calls. Recorded runs have some hundred bytes per
/// call.
const MAX_CALLS_BYTES: u64 = 64 << 20;
/// The most bytes of one text from a recording.
const MAX_TEXT: usize = 32 * 1024;
/// The most bytes of all fields of fixed size.
const FIXED: u64 = 1024;

/// The most bytes of a body.
pub(crate) const MAX_BODY: u64 = MAX_CALLS_BYTES + MAX_TEXT as u64 + FIXED;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Replayed {
    pub(crate) verdict: Verdict,
    /// The calls of the outcome.
    pub(crate) calls: Vec<CallRecord>,
}

/// Which outcome follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The replay's outcome.
    Ended,
    /// An error that says why there is none.
    Refused,
    /// An error with the time limit that the replay reached.
    Overdue,
    /// The first difference was found. If the calls were those of the recording, the outcome that
    /// follows is that of the replay.
    Diverged { text: String, has_outcome: bool },
}

const ENDED: u8 = 0;
const REFUSED: u8 = 1;
const OVERDUE: u8 = 2;
const DIVERGED: u8 = 3;

/// Both frames.
pub(crate) fn frames(run: u64, replayed: Result<Outcome, ReplayError>) -> [Vec<u8>; 2] {
    let error = |error| (Verdict::Refused, Outcome::refused(error));
    let (verdict, outcome) = match replayed {
        Ok(outcome) => (Verdict::Ended, outcome),
        Err(ReplayError::Time(hit)) => {
            let overdue = RunError::new(ErrorKind::Timeout, "the replay met a limit").with_limit(hit);
            (Verdict::Overdue, Outcome::refused(overdue))
        }
        Err(ReplayError::Diverged(divergence)) => {
            let text = cut(divergence.to_string());
            let found = divergence.outcome().cloned();
            let verdict = Verdict::Diverged { text, has_outcome: found.is_some() };
            let nothing = || Outcome::refused(RunError::new(ErrorKind::Diverged, ""));
            (verdict, found.unwrap_or_else(nothing))
        }
        Err(ReplayError::Run(reason)) => error(reason),
        // The other side has checked the recording against the limits.
        Err(reason) => error(RunError::new(ErrorKind::Internal, reason.to_string())),
    };
    let bytes = |call: &CallRecord| {
        let texts = call.server.len() + call.tool.len() + call.error.as_ref().map_or(0, String::len);
        (texts as u64).saturating_add(64)
    };
    let all = outcome.calls.iter().map(bytes).fold(0_u64, u64::saturating_add);
    let (verdict, outcome) = if all <= MAX_CALLS_BYTES {
        (verdict, outcome)
    } else {
        let text =
            format!("the calls of the replay have {all} bytes of names and errors, of at most {MAX_CALLS_BYTES}");
        let hint = "replay with a configuration without [runs] process = true";
        error(RunError::new(ErrorKind::Output, text).with_hint(hint))
    };
    let outcome = Outcome { result: outcome.result.map_err(cut_error), ..outcome };
    [frame(run, &verdict, &outcome.calls), from_worker::outcome(run, &outcome)]
}

fn frame(run: u64, verdict: &Verdict, calls: &[CallRecord]) -> Vec<u8> {
    let mut body = Writer::frame(REPLAYED, run, 1024);
    match verdict {
        Verdict::Ended => body.byte(ENDED),
        Verdict::Refused => body.byte(REFUSED),
        Verdict::Overdue => body.byte(OVERDUE),
        Verdict::Diverged { text, has_outcome } => body.byte(DIVERGED).text(text).flag(*has_outcome),
    };
    body.u64(calls.len() as u64);
    // The owner's rules do not judge the calls of a replay.
    for CallRecord { server, tool, effect, ok, ms, error, verdict: _, rule: _ } in calls {
        let effect = Effect::ALL.iter().position(|known| known == effect).and_then(|at| u8::try_from(at).ok());
        body.text(server).text(tool).byte(effect.unwrap_or(u8::MAX)).flag(*ok).u64(ms.to_bits());
        body.option_text(error.as_deref());
    }
    body.finish_frame()
}

/// Reads the first of the two frames, for a replay with at most this many calls.
pub(crate) fn parse(body: &[u8], max_calls: u64) -> Result<Replayed, Malformed> {
    let mut reader = Reader::new(body);
    let verdict = match reader.byte()? {
        ENDED => Verdict::Ended,
        REFUSED => Verdict::Refused,
        OVERDUE => Verdict::Overdue,
        DIVERGED => Verdict::Diverged { text: reader.text(MAX_TEXT as u64)?.to_owned(), has_outcome: reader.flag()? },
        _ => return Err(Malformed::Tag),
    };
    let mut calls = Vec::new();
    for _ in 0..reader.count(max_calls)? {
        let (server, tool) = (reader.any_text()?, reader.any_text()?);
        let effect = *Effect::ALL.get(usize::from(reader.byte()?)).ok_or(Malformed::Tag)?;
        let (ok, ms) = (reader.flag()?, f64::from_bits(reader.u64()?));
        // JSON cannot express a time that is not a number.
        if !ms.is_finite() {
            return Err(Malformed::Tag);
        }
        let error = reader.option_text(u64::MAX)?;
        calls.push(CallRecord { server, tool, effect, ok, ms, error, verdict: None, rule: None });
    }
    reader.end()?;
    Ok(Replayed { verdict, calls })
}

/// An error whose texts the other side accepts.
fn cut_error(error: RunError) -> RunError {
    RunError {
        message: cut(error.message),
        thrown: error.thrown.map(|thrown| {
            let Thrown { name, message } = *thrown;
            Box::new(Thrown { name: cut(name), message: cut(message) })
        }),
        frame: error.frame.map(cut),
        stack: error.stack.map(cut),
        hint: error.hint.map(cut),
        missing: error.missing.map(|missing| {
            let MissingTool { server, tool, near } = *missing;
            Box::new(MissingTool { server: cut(server), tool: cut(tool), near: near.map(cut) })
        }),
        ..error
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::frame::HEADER_BYTES;

    fn call(error: Option<&str>) -> CallRecord {
        let (server, tool) = ("a".to_owned(), "b".to_owned());
        CallRecord {
            server,
            tool,
            effect: Effect::Mutating,
            ok: error.is_none(),
            ms: 1.5,
            error: error.map(str::to_owned),
            verdict: None,
            rule: None,
        }
    }

    #[test]
    fn what_came_of_a_replay_arrives_as_it_was_said() {
        let calls = vec![call(None), call(Some("no"))];
        for verdict in [
            Verdict::Ended,
            Verdict::Refused,
            Verdict::Overdue,
            Verdict::Diverged { text: "ö".to_owned(), has_outcome: true },
        ] {
            let frame = frame(1, &verdict, &calls);
            let body = frame.get(HEADER_BYTES..).unwrap_or_default();
            assert_eq!(parse(body, 2), Ok(Replayed { verdict, calls: calls.clone() }));
            assert_eq!(parse(body, 1), Err(Malformed::Limit));
            assert_eq!(parse(body.get(..body.len() - 1).unwrap_or_default(), 2), Err(Malformed::Short));
        }
        let endless = CallRecord { ms: f64::INFINITY, ..call(None) };
        let frame = frame(1, &Verdict::Ended, &[endless]);
        assert_eq!(parse(frame.get(HEADER_BYTES..).unwrap_or_default(), 1), Err(Malformed::Tag));
    }

    #[test]
    fn texts_of_a_recording_are_cut_before_they_are_said() {
        let long = RunError::new(ErrorKind::Internal, "ö".repeat(MAX_TEXT)).with_hint("x".repeat(MAX_TEXT * 2));
        let [_, outcome] = frames(1, Err(ReplayError::Run(long)));
        let outcome = from_worker::parse_outcome(outcome.get(HEADER_BYTES..).unwrap_or_default(), &Default::default());
        let error = outcome.expect("it is within its bounds").result.expect_err("an error");
        assert!(error.message.len() == MAX_TEXT && error.hint.is_some_and(|hint| hint.len() == MAX_TEXT));
    }
}
