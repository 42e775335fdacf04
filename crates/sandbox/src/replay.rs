//! Answers a guest from a recording, in place of tools, timers and clocks.
//!
//! Each kind of question has its own position in the recording, from which its next answer is
//! searched. A question that the recording does not have next, or has with other arguments, is a
//! divergence: it ends the replay before anything else happens.

use std::fmt::Write as _;

use belljar_model::{CallRecord, Effect, JsonBounds, JsonText, ToolPath};
use belljar_recording::{Answer, Cause, Clock, End, Entry, Kept, Listing, Question, Recording, Spent};

use crate::{
    CallError, Directory, Divergence, GrantedTool,
    plan::{NO_FINDINGS, PlannedCalls},
};

/// Characters of arguments in a message.
const SHOWN: usize = 200;
/// The recording had nothing more for the guest: the run was ended from outside at this point, or
/// the replay has diverged.
#[derive(Debug)]
pub struct Stop;

/// What the guest gets next.
pub enum HandOver {
    /// The answer to a call.
    Answer {
        /// The call's number.
        number: u64,
        /// The answer.
        result: Result<JsonText, CallError>,
        /// What the outcome says about the call.
        kept: Option<CallEnd>,
    },
    /// The end of a timer.
    Elapsed {
        /// The timer's number.
        number: u64,
    },
    /// Nothing more: the run was put aside here, having used this much, and goes on.
    Live(Recording, Spent),
    /// Nothing more: the run was put aside here, and the replay ends here.
    PutAside,
}

/// What the outcome says about the call, apart from its tool.
pub struct CallEnd {
    pub(crate) ok: bool,
    pub(crate) ms: f64,
    pub(crate) error: Option<String>,
}

/// A running replay.
pub struct Replay {
    recording: Recording,
    /// Whether the fuel must be equal.
    is_exact: bool,
    /// Whether the run goes on where the recording of a suspended run ends.
    goes_on: bool,
    clocks: [Readings; 2],
    directories: usize,
    questions: usize,
    begun: usize,
    handed: usize,
    divergence: Option<Divergence>,
    /// The guest asked for something that the recorded run did not get because it was ended from
    /// outside.
    pub(crate) is_at_end: bool,
}

/// The readings of one clock.
struct Readings {
    position: usize,
    milliseconds: u64,
    left: u64,
}

impl Replay {
    /// A replay of this recording. `is_exact` is true for the engine that made it; the fuel must
    /// then be equal.
    pub fn new(recording: Recording, is_exact: bool) -> Self {
        let first = recording.first();
        let readings = || Readings { position: first, milliseconds: 0, left: 0 };
        Self {
            recording,
            is_exact,
            goes_on: false,
            clocks: [readings(), readings()],
            directories: first,
            questions: first,
            begun: first,
            handed: first,
            divergence: None,
            is_at_end: false,
        }
    }

    /// The same, for a run that goes on where the recording ends.
    pub(crate) fn for_going_on(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Whether the run goes on where the recording ends.
    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// The next reading of a clock.
    pub fn clock(&mut self, clock: Clock) -> Result<u64, Stop> {
        let readings = &mut self.clocks[clock as usize];
        if readings.left == 0 {
            let next = next(&self.recording, &mut readings.position, |entry| match entry {
                Entry::Clock { clock: which, milliseconds, count } if which == clock => Some((milliseconds, count)),
                _ => None,
            });
            match next {
                Some((milliseconds, count)) => (readings.milliseconds, readings.left) = (milliseconds, count),
                // Another engine may read the clock more often.
                None if !self.is_exact => readings.left = 1,
                None => return Err(self.is_over(|| "the replay reads a clock once more than was recorded".to_owned())),
            }
        }
        let readings = &mut self.clocks[clock as usize];
        readings.left = readings.left.saturating_sub(1);
        Ok(readings.milliseconds)
    }

    /// What the script found in a namespace.
    pub fn directory(&mut self, namespace: u32) -> Result<Result<Directory, String>, Stop> {
        let next = next(&self.recording, &mut self.directories, |entry| match entry {
            Entry::Directory { namespace, listing } => Some((namespace, listing)),
            _ => None,
        });
        match next {
            Some((recorded, listing)) if recorded == namespace => Ok(listing.map(directory).map_err(str::to_owned)),
            Some((recorded, _)) => Err(self.diverged(format!(
                "the recording has a look into namespace {recorded}, the replay looks into namespace {namespace}"
            ))),
            None => {
                Err(self.is_over(|| format!("the replay looks into namespace {namespace}, which was not recorded")))
            }
        }
    }

    /// The catalogue's answer. A search is never refused: its reason is then the answer.
    pub fn catalog(&mut self, asked: Question<'_>) -> Result<Result<String, String>, Stop> {
        if !self.is_exact && matches!(asked, Question::Plan(_)) {
            // Another engine may be certain of other calls; it learns the rest when it makes them.
            return Ok(Ok(NO_FINDINGS.to_owned()));
        }
        let is_exact = self.is_exact;
        let counts = |question| is_exact || !matches!(question, Question::Plan(_));
        let next = next(&self.recording, &mut self.questions, |entry| match entry {
            Entry::Catalog { question, answer } if counts(question) => Some((question, answer)),
            _ => None,
        });
        match next {
            Some((recorded, answer)) if recorded == asked => Ok(answer.map(str::to_owned).map_err(str::to_owned)),
            Some((recorded, _)) => Err(self.diverged(match (recorded, asked) {
                (Question::Plan(recorded), Question::Plan(asked)) => other_calls(recorded, asked),
                _ => format!("the recording asks {}, the replay asks {}", shown(recorded), shown(asked)),
            })),
            None => Err(self.is_over(|| format!("the replay asks {}, which was not recorded", shown(asked)))),
        }
    }

    /// The script begins a call.
    pub fn call(&mut self, number: u64, path: &ToolPath, arguments: &str, fuel: u64) -> Result<(), Stop> {
        let is_exact = self.is_exact;
        let text = match self.next_begun() {
            Some(Begun::Call { number: recorded, server, tool, arguments: theirs, fuel: used }) => {
                let is_same = (recorded, server, tool) == (number, path.server(), path.tool()) && theirs == arguments;
                if is_same && (!is_exact || used == fuel) {
                    return Ok(());
                }
                if is_same {
                    format!(
                        "call {number}, {path}: {used} fuel was used before it in the recording, {fuel} in the replay"
                    )
                } else {
                    let recorded = described_call(recorded, server, tool, theirs);
                    format!(
                        "the recording has {recorded}, the replay {}",
                        described_call(number, path.server(), path.tool(), arguments)
                    )
                }
            }
            Some(Begun::Timer { number: recorded, milliseconds }) => {
                let replayed = described_call(number, path.server(), path.tool(), arguments);
                format!("the recording has timer {recorded} of {milliseconds} ms, the replay {replayed}")
            }
            None => {
                let replayed = described_call(number, path.server(), path.tool(), arguments);
                return Err(self.is_over(|| format!("the replay has {replayed}, which was not recorded")));
            }
        };
        Err(self.diverged(text))
    }

    /// The script begins a timer.
    pub(crate) fn timer(&mut self, number: u64, milliseconds: u32) -> Result<(), Stop> {
        let replayed = format!("timer {number} of {milliseconds} ms");
        let text = match self.next_begun() {
            Some(Begun::Timer { number: recorded, milliseconds: theirs }) => {
                if (recorded, theirs) == (number, milliseconds) {
                    return Ok(());
                }
                format!("the recording has timer {recorded} of {theirs} ms, the replay {replayed}")
            }
            Some(Begun::Call { number, server, tool, arguments, .. }) => {
                format!("the recording has {}, the replay {replayed}", described_call(number, server, tool, arguments))
            }
            None => return Err(self.is_over(|| format!("the replay has {replayed}, which was not recorded"))),
        };
        Err(self.diverged(text))
    }

    /// What the script gets next.
    pub fn next_completion(&mut self) -> Result<HandOver, Stop> {
        let next = next(&self.recording, &mut self.handed, |entry| match entry {
            Entry::Answer { number, answer, kept } => {
                Some(HandOver::Answer { number, result: result(answer), kept: kept.map(CallEnd::from) })
            }
            Entry::Elapsed { number } => Some(HandOver::Elapsed { number }),
            _ => None,
        });
        if next.is_none()
            && let Some(End { cause: Cause::Rested(spent), .. }) = self.recording.end()
        {
            return match self.left_over().or_else(|| self.not_asked()) {
                Some(divergence) => Err(self.diverged(divergence.to_string())),
                None if self.goes_on => Ok(HandOver::Live(self.recording.clone(), spent)),
                None => {
                    self.is_at_end = true;
                    Ok(HandOver::PutAside)
                }
            };
        }
        next.ok_or_else(|| self.is_over(|| "the replay waits for an answer more than was recorded".to_owned()))
    }

    /// The next completion in the recording is not open in the replay.
    pub fn not_open(&mut self, number: u64) -> Stop {
        self.diverged(format!("the recording hands over number {number}, for which the replay does not wait"))
    }

    /// The calls whose answers the script never got, in the order of the outcome.
    pub fn unanswered(&self) -> Vec<(u64, Option<CallEnd>)> {
        let unanswered = |entry| match entry {
            Entry::Unanswered { number, kept } => Some((number, kept.map(CallEnd::from))),
            _ => None,
        };
        self.recording.entries().filter_map(unanswered).collect()
    }

    /// The first difference, if there was one.
    pub(crate) fn divergence(&mut self) -> Option<Divergence> {
        self.divergence.take()
    }

    /// The first call or timer in the recording that the script did not begin.
    pub(crate) fn left_over(&mut self) -> Option<Divergence> {
        let text = match self.next_begun()? {
            Begun::Call { number, server, tool, arguments, .. } => described_call(number, server, tool, arguments),
            Begun::Timer { number, milliseconds } => format!("timer {number} of {milliseconds} ms"),
        };
        Some(Divergence::new(format!("the recording has {text}, and the replay ended before it")))
    }

    /// Readings and questions in the recording that did not happen in the replay. Another engine
    /// may read clocks less often.
    fn not_asked(&mut self) -> Option<Divergence> {
        let Self { recording, clocks, directories, questions, is_exact, .. } = self;
        let is_other = |entry: Entry<'_>| matches!(entry, Entry::Directory { .. }).then_some(());
        let is_question = |entry: Entry<'_>| matches!(entry, Entry::Catalog { .. }).then_some(());
        let mut is_more = next(recording, directories, is_other).is_some();
        is_more |= next(recording, questions, is_question).is_some();
        for (at, readings) in clocks.iter_mut().enumerate().filter(|_| *is_exact) {
            let is_reading =
                |entry: Entry<'_>| matches!(entry, Entry::Clock { clock, .. } if clock as usize == at).then_some(());
            is_more |= readings.left > 0 || next(recording, &mut readings.position, is_reading).is_some();
        }
        is_more.then(|| Divergence::new("the recorded run had looked at more before it waited"))
    }

    /// The first completion in the recording that the script did not take.
    pub(crate) fn not_taken(&mut self) -> Option<Divergence> {
        let number = next(&self.recording, &mut self.handed, |entry| match entry {
            Entry::Answer { number, .. } | Entry::Elapsed { number } => Some(number),
            _ => None,
        })?;
        Some(Divergence::new(format!("the recording hands over number {number}, and the replay ended before it")))
    }

    fn next_begun(&mut self) -> Option<Begun<'_>> {
        next(&self.recording, &mut self.begun, |entry| match entry {
            Entry::Call { number, server, tool, arguments, fuel } => {
                Some(Begun::Call { number, server, tool, arguments, fuel })
            }
            Entry::Timer { number, milliseconds } => Some(Begun::Timer { number, milliseconds }),
            _ => None,
        })
    }

    /// The recording has no more entries of this kind. A run that was ended from outside may have
    /// been about to ask.
    fn is_over(&mut self, text: impl FnOnce() -> String) -> Stop {
        match self.recording.end().map(|end| end.cause) {
            Some(Cause::Time { .. } | Cause::Cancelled) => self.is_at_end = true,
            _ => return self.diverged(text()),
        }
        Stop
    }

    fn diverged(&mut self, text: String) -> Stop {
        self.divergence.get_or_insert(Divergence::new(text));
        Stop
    }
}

impl From<Stop> for wasmtime::Error {
    fn from(_: Stop) -> Self {
        Self::msg("the recording has nothing more for the guest")
    }
}

impl From<Kept<'_>> for CallEnd {
    fn from(Kept { ok, ms, error }: Kept<'_>) -> Self {
        Self { ok, ms, error: error.map(str::to_owned) }
    }
}

impl CallEnd {
    /// The record of a call of this tool.
    pub fn of(self, tool: &GrantedTool) -> CallRecord {
        let Self { ok, ms, error } = self;
        let (server, name) = (tool.path.server().to_owned(), tool.path.tool().to_owned());
        CallRecord { server, tool: name, effect: tool.effect, ok, ms, error, verdict: None, rule: None }
    }
}

/// Something that the script began.
enum Begun<'a> {
    Call { number: u64, server: &'a str, tool: &'a str, arguments: &'a str, fuel: u64 },
    Timer { number: u64, milliseconds: u32 },
}

/// The next entry of a kind, from a position that is then moved past it.
fn next<'a, T>(recording: &'a Recording, position: &mut usize, wanted: impl Fn(Entry<'a>) -> Option<T>) -> Option<T> {
    let mut entries = recording.entries_from(*position);
    let found = entries.find_map(wanted);
    *position = entries.position();
    found
}

/// An answer, as the script got it. Text that is not JSON is not handed over as a result.
pub(crate) fn result(answer: Answer<'_>) -> Result<JsonText, CallError> {
    match answer {
        Answer::Result(text) => JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(text.len()))
            .map_err(|fault| CallError::new(format!("the recorded answer is not the result of a tool: {fault}"))),
        Answer::Fault { message, hint, is_refusal, denial, name } => {
            let [hint, denial, name] = [hint, denial, name].map(|text| text.map(str::to_owned));
            Err(CallError { message: message.to_owned(), hint, is_refusal, denial, name })
        }
    }
}

/// The tools of a namespace, as they were granted.
pub(crate) fn directory(listing: Listing<'_>) -> Directory {
    Directory::new(
        listing
            .properties()
            .map(|property| (property.name.to_owned(), granted(property.server, property.tool, property.effect))),
    )
}

fn granted(server: &str, tool: &str, effect: Effect) -> GrantedTool {
    GrantedTool { path: ToolPath::new(server, tool), effect }
}

pub(crate) fn described_call(number: u64, server: &str, tool: &str, arguments: &str) -> String {
    let mut text = format!("call {number}, {server}.{tool} ");
    let mut rest = arguments.chars();
    text.extend(rest.by_ref().take(SHOWN));
    if rest.next().is_some() {
        let _ = write!(text, "… ({} bytes)", arguments.len());
    }
    text
}

fn shown(question: Question<'_>) -> String {
    match question {
        Question::List(None) => "tools.list()".to_owned(),
        Question::List(Some(server)) => format!("tools.list({server:?})"),
        Question::Search { query, limit } => format!("tools.search({query:?}, {limit})"),
        Question::Describe(path) => format!("tools.describe({path:?})"),
        Question::Route { server, words: None } => format!("tools.route({server:?})"),
        Question::Route { server, words: Some(words) } => format!("tools.route({server:?}, {words:?})"),
        Question::Plan(_) => "about the calls in the source".to_owned(),
        Question::Artifacts(question) => described_question("artifacts", question),
        Question::Keep(question) => described_question("keep", question),
        Question::Poll { pollables, waits: true } => format!("which of {pollables} timers and streams is ready first"),
        Question::Poll { pollables, waits: false } => format!("which of {pollables} timers and streams are ready"),
    }
}

fn described_question(of: &str, question: &str) -> String {
    let mut rest = question.chars();
    let begin: String = rest.by_ref().take(SHOWN).collect();
    let cut = if rest.next().is_some() { format!("… ({} bytes)", question.len()) } else { String::new() };
    format!("{of} {begin}{cut}")
}

/// Where the calls of two sources first differ.
fn other_calls(recorded: &str, asked: &str) -> String {
    let calls = |text: &str| PlannedCalls::parse(text).map(|planned| planned.calls).unwrap_or_default();
    let (recorded, asked) = (calls(recorded), calls(asked));
    let at = recorded.iter().zip(&asked).take_while(|(one, other)| one == other).count();
    let place = asked.get(at).or_else(|| recorded.get(at)).map(|call| (call.line, call.column));
    let from = place.map(|(line, column)| format!(", from line {line}, column {column} on")).unwrap_or_default();
    format!("the calls in the source differ from the recorded ones{from}")
}
