//! What commands and the page show of a run in the ledger.

use belljar_ledger::{KeptCall, KeptRecording, KeptRun, WholeRun};
use belljar_model::RunId;
use belljar_recording::{Answer, Entry, Recording};
use serde::Serialize;

use crate::{
    failure::Failure,
    render::runs::{Crossing, Difference},
};

/// A whole run: what `belljar runs show --json` prints.
#[derive(Serialize)]
pub(crate) struct Shown<'r> {
    #[serde(flatten)]
    run: &'r KeptRun,
    calls: &'r [KeptCall],
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) crossings: Vec<Crossing<'r>>,
}

impl<'r> Shown<'r> {
    pub(crate) fn new(run: &'r KeptRun, calls: &'r [KeptCall], recording: Option<&'r Recording>) -> Self {
        let source = recording.and_then(|recording| recording.start().script());
        Self { run, calls, source, crossings: recording.map(crossings).unwrap_or_default() }
    }
}

/// The bytes of a recording that can be replayed.
pub(crate) fn replayable(run: RunId, kept: Option<KeptRecording>) -> Result<Vec<u8>, Failure> {
    let missing = |message: String, hint: &str| Failure::usage(message, hint);
    match kept {
        Some(KeptRecording::Whole(bytes)) => Ok(bytes),
        Some(KeptRecording::Redacted(_)) => Err(missing(
            format!("the recording of {run} was redacted: it is verifiable, not replayable"),
            "the rest is in belljar runs show",
        )),
        Some(KeptRecording::NotReplayable { reason }) => Err(missing(
            format!("{run} is not replayable: {reason}"),
            "[ledger] max_recording says how much is kept of one run",
        )),
        None => Err(missing(
            format!("the ledger has no recording of {run}"),
            "belljar run --ledger recordings keeps one, and so does [ledger] level = \"recordings\"",
        )),
    }
}

/// The recording, if there is a readable one.
pub(crate) fn read(run: RunId, kept: Option<&KeptRecording>) -> Result<Option<Recording>, Failure> {
    let recording = kept.and_then(KeptRecording::bytes).map(Recording::read).transpose();
    recording.map_err(|error| Failure::internal(format!("the recording of {run} cannot be read: {error}")))
}

/// What crossed between script and tools, in order.
fn crossings(recording: &Recording) -> Vec<Crossing<'_>> {
    let crossing = |entry| match entry {
        Entry::Call { number, arguments, .. } => Some(Crossing::Arguments { number, text: arguments }),
        Entry::Answer { number, answer: Answer::Result(text), .. } => Some(Crossing::Answer { number, text }),
        Entry::Answer { number, answer: Answer::Fault { message, .. }, .. } => {
            Some(Crossing::Fault { number, text: message })
        }
        _ => None,
    };
    recording.entries().filter_map(crossing).collect()
}

/// Where two runs first differ, in the order in which things happened.
pub(crate) fn first_difference((one, calls): &WholeRun, (other, other_calls): &WholeRun) -> Option<Difference> {
    let differ = |what: &'static str, call: Option<u64>, one: String, other: String| {
        (one != other).then_some(Difference { what, call, one, other })
    };
    let shown = |value: &dyn std::fmt::Debug| format!("{value:?}");
    if one.key != other.key {
        let key = |run: &KeptRun| run.key.map(|key| format!("{key:08x}")).unwrap_or_default();
        // Digests made with two different keys cannot be compared.
        return differ("key of the digests", None, key(one), key(other));
    }
    let digest = |digest: Option<&belljar_ledger::Digest>| {
        digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()).unwrap_or_default()
    };
    let of_call = |(one, other): (&KeptCall, &KeptCall)| {
        let number = Some(one.number);
        differ("tool", number, one.tool.to_string(), other.tool.to_string())
            .or_else(|| differ("number", number, one.number.to_string(), other.number.to_string()))
            .or_else(|| differ("arguments", number, digest(one.arguments.as_ref()), digest(other.arguments.as_ref())))
            .or_else(|| differ("answer", number, digest(one.answer.as_ref()), digest(other.answer.as_ref())))
            .or_else(|| differ("state", number, one.state.as_str().to_owned(), other.state.as_str().to_owned()))
    };
    differ("source", None, digest(one.source.as_ref()), digest(other.source.as_ref()))
        .or_else(|| calls.iter().zip(other_calls).find_map(of_call))
        .or_else(|| differ("calls", None, calls.len().to_string(), other_calls.len().to_string()))
        .or_else(|| differ("state", None, one.state.as_str().to_owned(), other.state.as_str().to_owned()))
        .or_else(|| differ("error", None, shown(&one.error), shown(&other.error)))
        .or_else(|| differ("fuel", None, shown(&one.fuel), shown(&other.fuel)))
}
