//! Runs a changed script against the answers of a recorded run, without effects.
//!
//! A call gets the answer of a recorded call of the same tool with the same arguments, in any
//! order. Time is simulated: a call takes as long as it did, a timer as long as it should, and
//! nobody actually waits. So the same script and the same recording always end in the same outcome.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use belljar_model::{Effect, ToolPath};
use belljar_recording::{Answer, Clock, Entry, Kept, Question, Recording};
use serde_json::value::RawValue;

use crate::{
    CallError, Directory,
    plan::NO_FINDINGS,
    replay::{CallEnd, HandOver, Stop, described_call, directory, result},
};

/// How long reading a clock takes in simulated time, so that a script that polls a clock in a loop
/// ends.
const READING: Duration = Duration::from_micros(10);

/// A running rehearsal.
pub(crate) struct Rehearsal {
    recording: Recording,
    /// The recorded calls that are left, by tool and arguments.
    calls: HashMap<Call, VecDeque<u64>>,
    /// The last recorded call that was used, for calls that may be answered twice.
    taken: HashMap<Call, u64>,
    /// The position of the answer to a recorded call.
    answers: BTreeMap<u64, usize>,
    /// Tools that change nothing: their answers may be reused.
    read_only: HashSet<(String, String)>,
    /// The values of the clocks when the run began.
    began: [Duration; 2],
    /// The time that has passed since then.
    now: Duration,
    /// The next completions, by time and number.
    coming: BTreeMap<(Duration, u64), Coming>,
    timers: HashMap<u64, Duration>,
}

#[derive(PartialEq, Eq, Hash, Clone)]
struct Call {
    server: String,
    tool: String,
    /// As JSON with sorted keys.
    arguments: String,
}

enum Coming {
    /// The answer to the recorded call of this number.
    Recorded(u64),
    /// The recording has no answer to this call.
    Missing(String),
    Timer,
}

impl Rehearsal {
    pub(crate) fn new(recording: Recording) -> Self {
        let max_arguments = recording.start().limits.max_arguments.as_u64();
        let wall = Duration::from_millis(recording.start().begun_ms);
        let mut rehearsal = Self {
            calls: HashMap::new(),
            taken: HashMap::new(),
            answers: BTreeMap::new(),
            read_only: HashSet::new(),
            began: [wall, Duration::ZERO],
            now: Duration::ZERO,
            coming: BTreeMap::new(),
            timers: HashMap::new(),
            recording: recording.clone(),
        };
        let mut entries = recording.entries();
        loop {
            let position = entries.position();
            let Some(entry) = entries.next() else { break };
            match entry {
                // A larger one was refused before it was read, and is refused again.
                Entry::Call { number, server, tool, arguments, .. } if arguments.len() as u64 <= max_arguments => {
                    let call = Call::new(server, tool, arguments);
                    rehearsal.calls.entry(call).or_default().push_back(number);
                }
                Entry::Answer { number, .. } => {
                    rehearsal.answers.insert(number, position);
                }
                Entry::Directory { listing: Ok(listing), .. } => {
                    let read_only = listing.properties().filter(|property| property.effect == Effect::ReadOnly);
                    let names = read_only.map(|property| (property.server.to_owned(), property.tool.to_owned()));
                    rehearsal.read_only.extend(names);
                }
                _ => {}
            }
        }
        rehearsal
    }

    /// The value of a clock.
    pub(crate) fn clock(&mut self, clock: Clock) -> u64 {
        self.now = self.now.saturating_add(READING);
        let now = self.began[clock as usize].saturating_add(self.now);
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    /// What the recorded script found in a namespace.
    pub(crate) fn directory(&self, wanted: u32) -> Result<Directory, String> {
        let found = self.recording.entries().find_map(|entry| match entry {
            Entry::Directory { namespace, listing } if namespace == wanted => Some(listing),
            _ => None,
        });
        let not_recorded = || "the recorded run did not use this server, so the recording has no answer".to_owned();
        found.ok_or_else(not_recorded)?.map(directory).map_err(str::to_owned)
    }

    /// What the catalogue told the recorded script.
    pub(crate) fn catalog(&self, asked: Question<'_>) -> Result<String, String> {
        let found = self.recording.entries().find_map(|entry| match entry {
            Entry::Catalog { question, answer } if question == asked => Some(answer),
            _ => None,
        });
        if found.is_none() && matches!(asked, Question::Plan(_)) {
            // Problems show when the calls are made.
            return Ok(NO_FINDINGS.to_owned());
        }
        if let Question::Keep(changed) = asked
            && (changed.starts_with("{\"set\":") || changed.starts_with("{\"delete\":"))
        {
            // Nothing is written in any case.
            return Ok("{}".to_owned());
        }
        let not_recorded = || "the recorded run did not ask this, so the recording has no answer".to_owned();
        found.ok_or_else(not_recorded)?.map(str::to_owned).map_err(str::to_owned)
    }

    /// The script begins a call.
    pub(crate) fn call(&mut self, number: u64, path: &ToolPath, arguments: &str) {
        let call = Call::new(path.server(), path.tool(), arguments);
        let next = self.calls.get_mut(&call).and_then(VecDeque::pop_front);
        let may_repeat = || self.read_only.contains(&(call.server.clone(), call.tool.clone()));
        let recorded = next.or_else(|| self.taken.get(&call).copied().filter(|_| may_repeat()));
        let (takes, coming) = match recorded {
            Some(recorded) => {
                self.taken.insert(call, recorded);
                let kept = self.kept_of(recorded);
                (kept.map_or(Duration::ZERO, took), Coming::Recorded(recorded))
            }
            None => (Duration::ZERO, Coming::Missing(described_call(number, path.server(), path.tool(), arguments))),
        };
        self.coming.insert((self.now.saturating_add(takes), number), coming);
    }

    /// The script begins a timer.
    pub(crate) fn timer(&mut self, number: u64, milliseconds: u32) {
        let ends = self.now.saturating_add(Duration::from_millis(milliseconds.into()));
        self.timers.insert(number, ends);
        self.coming.insert((ends, number), Coming::Timer);
    }

    /// The script cancels a timer.
    pub(crate) fn cancel_timer(&mut self, number: u64) {
        if let Some(ends) = self.timers.remove(&number) {
            self.coming.remove(&(ends, number));
        }
    }

    /// What the script gets next.
    pub(crate) fn next(&mut self) -> Result<HandOver, Stop> {
        let ((ends, number), coming) = self.coming.pop_first().ok_or(Stop)?;
        self.now = self.now.max(ends);
        Ok(match coming {
            Coming::Timer => {
                self.timers.remove(&number);
                HandOver::Elapsed { number }
            }
            Coming::Recorded(recorded) => match self.answer_of(recorded) {
                Some((answer, kept)) => {
                    HandOver::Answer { number, result: result(answer), kept: kept.map(CallEnd::from) }
                }
                None => missing(number, "the recorded run ended before the answer to this call came".to_owned()),
            },
            Coming::Missing(call) => missing(number, format!("the recording has no answer to {call}")),
        })
    }

    fn answer_of(&self, recorded: u64) -> Option<(Answer<'_>, Option<Kept<'_>>)> {
        match self.recording.entries_from(*self.answers.get(&recorded)?).next()? {
            Entry::Answer { answer, kept, .. } => Some((answer, kept)),
            _ => None,
        }
    }

    fn kept_of(&self, recorded: u64) -> Option<Kept<'_>> {
        self.answer_of(recorded).and_then(|(_, kept)| kept)
    }
}

impl Call {
    fn new(server: &str, tool: &str, arguments: &str) -> Self {
        let arguments = sorted(arguments).unwrap_or_else(|| arguments.to_owned());
        Self { server: server.to_owned(), tool: tool.to_owned(), arguments }
    }
}

/// The same JSON with each object's keys sorted. Numbers stay text: two long ones that are equal as
/// floating-point numbers stay different. JSON that is nested more deeply than arguments may be is
/// not sorted.
fn sorted(json: &str) -> Option<String> {
    const MAX_DEPTH: usize = 32;

    fn write(json: &str, depth: usize, out: &mut String) -> Option<()> {
        match json.as_bytes().first()? {
            b'{' | b'[' if depth == MAX_DEPTH => return None,
            b'{' => {
                let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(json).ok()?;
                out.push('{');
                for (key, value) in members {
                    out.push_str(&serde_json::to_string(&key).ok()?);
                    out.push(':');
                    write(value.get(), depth + 1, out)?;
                    out.push(',');
                }
                out.push('}');
            }
            b'[' => {
                let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                out.push('[');
                for element in elements {
                    write(element.get(), depth + 1, out)?;
                    out.push(',');
                }
                out.push(']');
            }
            b'"' => {
                let text: String = serde_json::from_str(json).ok()?;
                out.push_str(&serde_json::to_string(&text).ok()?);
            }
            _ => out.push_str(json),
        }
        Some(())
    }

    let json: &RawValue = serde_json::from_str(json).ok()?;
    let mut out = String::new();
    write(json.get(), 0, &mut out)?;
    Some(out)
}

/// How long a recorded call took.
fn took(kept: Kept<'_>) -> Duration {
    Duration::try_from_secs_f64(kept.ms / 1e3).unwrap_or_default()
}

fn missing(number: u64, message: String) -> HandOver {
    let fault = CallError::new(message.clone())
        .with_hint("a call is answered where its tool and its arguments are those of a recorded call");
    let kept = CallEnd { ok: false, ms: 0.0, error: Some(message) };
    HandOver::Answer { number, result: Err(fault), kept: Some(kept) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_same_whatever_the_order_of_their_keys_and_no_others_are() {
        let one = sorted(r#"{"b":[1,{"d":"\u0041","c":null}],"a":12345678901234567890123}"#);
        assert!(one.is_some());
        assert_eq!(one, sorted(r#"{ "a": 12345678901234567890123, "b": [1, {"c": null, "d": "A"}] }"#));
        // They are equal as floating-point numbers.
        assert_ne!(one, sorted(r#"{"b":[1,{"d":"A","c":null}],"a":12345678901234567890124}"#));
        assert_ne!(sorted("[1,23]"), sorted("[12,3]"));
        assert_eq!(sorted(&"[".repeat(100_000)), None);
        assert_eq!(sorted(&format!("{}{}", "[".repeat(100), "]".repeat(100))), None, "it is compared as it is");
    }
}
