//! The entries after the first one: each is something that crossed between host and script.

use std::{convert::Infallible, str::FromStr as _, sync::LazyLock};

use belljar_model::{CallRecord, Effect, JsonText, LogEntry, RunError};
use minicbor::{Decoder, Encoder, data::Type, decode, encode};

use serde::Serialize;

use crate::format::{self, kind};

/// Writing to memory does not fail, but the encoder's interface needs a result.
pub(crate) type Encoded = Result<(), encode::Error<Infallible>>;

/// What crossed. Texts are slices of the recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry<'a> {
    /// A clock was read, once or several times with the same result.
    Clock {
        /// Which clock.
        clock: Clock,
        /// Its value, in milliseconds.
        milliseconds: u64,
        /// How often it was read.
        count: u64,
    },
    /// The script looked into a namespace.
    Directory {
        /// The position of its server.
        namespace: u32,
        /// Its tools, or why there are none.
        listing: Result<Listing<'a>, &'a str>,
    },
    /// The script asked the catalogue.
    Catalog {
        /// The question.
        question: Question<'a>,
        /// The answer. A search is never refused.
        answer: Result<&'a str, &'a str>,
    },
    /// The script began a call.
    Call {
        /// Its number among the calls and timers.
        number: u64,
        /// The server's name.
        server: &'a str,
        /// The tool's exact name.
        tool: &'a str,
        /// Its arguments, as JSON.
        arguments: &'a str,
        /// The fuel that had been used by then.
        fuel: u64,
    },
    /// The script began a timer.
    Timer {
        /// Its number among the calls and timers.
        number: u64,
        /// Its duration.
        milliseconds: u32,
    },
    /// The script got the answer to a call.
    Answer {
        /// The call's number.
        number: u64,
        /// The answer.
        answer: Answer<'a>,
        /// What the outcome says about the call. `None` for one that was never made.
        kept: Option<Kept<'a>>,
    },
    /// The script got the end of a timer.
    Elapsed {
        /// The timer's number.
        number: u64,
    },
    /// The run ended before the script got the answer to a call.
    Unanswered {
        /// The call's number.
        number: u64,
        /// What the outcome says about the call. `None` for one that was never made.
        kept: Option<Kept<'a>>,
    },
    /// The run ended.
    End(End<'a>),
}

/// A clock that a script can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The time since 1970.
    Wall,
    /// The time since the run began.
    Monotonic,
}

/// A question to the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// `tools.list`, of one server or of all.
    List(Option<&'a str>),
    /// `tools.search`.
    Search {
        /// The words.
        query: &'a str,
        /// How many results at most.
        limit: u32,
    },
    /// `tools.describe`.
    Describe(&'a str),
    /// `tools.route`, and what a call of all projects asks.
    Route {
        /// The server, or one of its tools.
        server: &'a str,
        /// The request; `None` if all projects are asked for.
        words: Option<&'a str>,
    },
    /// What is known about the script's calls before it runs. The question is the calls that the
    /// guest has found, as JSON. The answer is JSON too.
    Plan(&'a str),
    /// A question of `artifacts`, as JSON. The answer is JSON, and so is the reason if there is
    /// none.
    Artifacts(&'a str),
    /// The same for `keep`.
    Keep(&'a str),
    /// A component asked which of its timers and streams are ready. The answer is their positions,
    /// as JSON.
    Poll {
        /// How many it asked about.
        pollables: u32,
        /// Whether it waited until one was.
        waits: bool,
    },
}

/// The answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The tool's result, as JSON.
    Result(&'a str),
    /// Why there is none.
    Fault {
        /// What happened.
        message: &'a str,
        /// What to try.
        hint: Option<&'a str>,
        /// The call was never made, because its arguments do not fit the tool's schema.
        is_refusal: bool,
        /// The verdict of the owner's rules, if they prevented the call: a JSON object.
        denial: Option<&'a str>,
        /// The name of the error that the script got, if its host gave one.
        name: Option<&'a str>,
    },
}

/// What an outcome says about a call, apart from the tool's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept<'a> {
    /// Whether it succeeded.
    pub ok: bool,
    /// How long it took.
    pub ms: f64,
    /// Why it failed, shortened.
    pub error: Option<&'a str>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End<'a> {
    /// What ended it.
    pub cause: Cause<'a>,
    /// The fuel that it used.
    pub fuel: u64,
    /// The digests of its outcome.
    pub digests: Digests,
}

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause<'a> {
    /// The script, or a limit that the same script would reach again.
    Script,
    /// A time limit. The same script would reach it at another point.
    Time {
        /// The limit's name.
        limit: &'a str,
        /// Its milliseconds.
        max: u64,
        /// The milliseconds that had passed.
        used: u64,
    },
    /// The caller.
    Cancelled,
    /// The run waited for people alone, and was put aside, to be resumed from here later.
    Rested(Spent),
}

/// The time that a run had used when it was put aside, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Since the run began to execute, without the time in which it waited for people alone.
    pub wall: u64,
    /// The time inside the guest.
    pub computed: u64,
    /// The time spent waiting for the host.
    pub waited: u64,
}

/// The SHA-256 of each part of an outcome, so that a difference can be located.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digests {
    /// Of the value or the error.
    pub result: [u8; 32],
    /// Of the logs.
    pub logs: [u8; 32],
    /// Of the calls, without the time that they took.
    pub calls: [u8; 32],
}

/// The tools of a namespace, read one by one and not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing<'a> {
    bytes: &'a [u8],
    count: u64,
}

/// A property of a namespace, and its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property<'a> {
    /// The property's name.
    pub name: &'a str,
    /// The server's name.
    pub server: &'a str,
    /// The tool's exact name.
    pub tool: &'a str,
    /// What the tool may change.
    pub effect: Effect,
}

/// An error without the parts that repeat its message, so that recordings from before these parts
/// existed are still replayed.
pub(crate) fn without_new_parts(error: &RunError) -> RunError {
    RunError { failed_in: None, thrown: None, ..error.clone() }
}

impl Digests {
    /// The digests of an outcome.
    pub fn of(result: &Result<JsonText, RunError>, logs: &[LogEntry], calls: &[CallRecord]) -> Self {
        let result = match result {
            Ok(value) => format::digest(value.as_str().as_bytes()),
            // Versions of belljar may differ in how precisely they know where the script was last
            // seen.
            Err(error) if error.kind.is_from_outside() => {
                of_json(&RunError { line: None, column: None, frame: None, ..without_new_parts(error) })
            }
            Err(error) => of_json(&without_new_parts(error)),
        };
        let timeless = |call: &CallRecord| CallRecord { ms: 0.0, ..call.clone() };
        // Most runs log nothing, and many call nothing.
        static NOTHING: LazyLock<[u8; 32]> = LazyLock::new(|| of_json(&[(); 0]));
        let logs = if logs.is_empty() { *NOTHING } else { of_json(&logs) };
        let calls = match calls {
            [] => *NOTHING,
            calls => of_json(&calls.iter().map(timeless).collect::<Vec<_>>()),
        };
        Self { result, logs, calls }
    }
}

fn of_json(part: &impl Serialize) -> [u8; 32] {
    format::digest(json_of(part).as_bytes())
}

/// Something as JSON. If that is impossible (which does not happen for parts of an outcome), it is
/// the empty text.
pub(crate) fn json_of(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}

impl<'a> Listing<'a> {
    /// How many properties there are.
    pub fn count(self) -> u64 {
        self.count
    }

    /// The properties, in their order.
    pub fn properties(self) -> impl Iterator<Item = Property<'a>> {
        let mut input = Decoder::new(self.bytes);
        // They were read once when the recording was checked, so none is missing.
        (0..self.count).map_while(move |_| Property::decode(&mut input).ok())
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        let count = length(input)?;
        let begin = input.position();
        for _ in 0..count {
            Property::decode(input)?;
        }
        let bytes = input.input().get(begin..input.position()).unwrap_or_default();
        Ok(Self { bytes, count })
    }
}

impl<'a> Property<'a> {
    pub(crate) fn encode(self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        out.array(4)?.str(self.name)?.str(self.server)?.str(self.tool)?.str(self.effect.as_str())?.ok()
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        known(input, 4)?;
        let (name, server, tool) = (input.str()?, input.str()?, input.str()?);
        let effect = Effect::from_str(input.str()?).map_err(decode::Error::message)?;
        Ok(Self { name, server, tool, effect })
    }
}

impl<'a> Entry<'a> {
    /// Reads one entry, of any kind but the first.
    pub(crate) fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        let items = length(input)?;
        let kind = input.u8()?;
        let expected = match kind {
            kind::ELAPSED => 2,
            kind::DIRECTORY | kind::TIMER | kind::UNANSWERED => 3,
            kind::CLOCK | kind::CATALOG | kind::ANSWER | kind::END => 4,
            kind::CALL => 6,
            other => return Err(decode::Error::message(format!("an entry of the unknown kind {other}"))),
        };
        if items != expected {
            return Err(decode::Error::message(format!("an entry of kind {kind} has {items} items, not {expected}")));
        }
        Ok(match kind {
            kind::CLOCK => Self::Clock {
                clock: if input.bool()? { Clock::Monotonic } else { Clock::Wall },
                milliseconds: input.u64()?,
                count: input.u64()?,
            },
            kind::DIRECTORY => {
                let namespace = input.u32()?;
                let listing = match input.datatype()? {
                    Type::String => Err(input.str()?),
                    _ => Ok(Listing::decode(input)?),
                };
                Self::Directory { namespace, listing }
            }
            kind::CATALOG => {
                let question = Question::decode(input)?;
                let is_answered = input.bool()?;
                let text = input.str()?;
                Self::Catalog { question, answer: if is_answered { Ok(text) } else { Err(text) } }
            }
            kind::CALL => Self::Call {
                number: input.u64()?,
                server: input.str()?,
                tool: input.str()?,
                arguments: input.str()?,
                fuel: input.u64()?,
            },
            kind::TIMER => Self::Timer { number: input.u64()?, milliseconds: input.u32()? },
            kind::ANSWER => {
                Self::Answer { number: input.u64()?, answer: Answer::decode(input)?, kept: Kept::decode(input)? }
            }
            kind::ELAPSED => Self::Elapsed { number: input.u64()? },
            kind::UNANSWERED => Self::Unanswered { number: input.u64()?, kept: Kept::decode(input)? },
            _ => Self::End(End::decode(input)?),
        })
    }
}

impl<'a> Question<'a> {
    pub(crate) fn encode(self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        match self {
            Self::List(server) => text_or_null(out.array(2)?.u8(0)?, server),
            Self::Search { query, limit } => out.array(3)?.u8(1)?.str(query)?.u32(limit)?.ok(),
            Self::Describe(path) => out.array(2)?.u8(2)?.str(path)?.ok(),
            Self::Route { server, words } => text_or_null(out.array(3)?.u8(5)?.str(server)?, words),
            Self::Plan(calls) => out.array(2)?.u8(4)?.str(calls)?.ok(),
            Self::Keep(question) => out.array(2)?.u8(6)?.str(question)?.ok(),
            Self::Artifacts(question) => out.array(2)?.u8(7)?.str(question)?.ok(),
            Self::Poll { pollables, waits } => out.array(3)?.u8(8)?.u32(pollables)?.bool(waits)?.ok(),
        }
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        Ok(match (length(input)?, input.u8()?) {
            (2, 0) => Self::List(optional_text(input)?),
            (3, 1) => Self::Search { query: input.str()?, limit: input.u32()? },
            (2, 2) => Self::Describe(input.str()?),
            (2, 4) => Self::Plan(input.str()?),
            (2, 6) => Self::Keep(input.str()?),
            (2, 7) => Self::Artifacts(input.str()?),
            (3, 5) => Self::Route { server: input.str()?, words: optional_text(input)? },
            (3, 8) => Self::Poll { pollables: input.u32()?, waits: input.bool()? },
            _ => return Err(decode::Error::message("an unknown question to the catalogue")),
        })
    }
}

impl<'a> Answer<'a> {
    pub(crate) fn encode(self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        match self {
            Self::Result(text) => out.str(text)?.ok(),
            Self::Fault { message, hint, is_refusal, denial, name } => {
                text_or_null(out.array(3 + u64::from(name.is_some()))?.str(message)?, hint)?;
                match denial {
                    Some(denial) => out.str(denial)?,
                    None => out.bool(is_refusal)?,
                };
                name.map_or(Ok(()), |name| out.str(name)?.ok())
            }
        }
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        if input.datatype()? == Type::String {
            return Ok(Self::Result(input.str()?));
        }
        let items = length(input)?;
        if items != 3 && items != 4 {
            return Err(decode::Error::message(format!("a fault has {items} items")));
        }
        let (message, hint) = (input.str()?, optional_text(input)?);
        let (is_refusal, denial) = match input.datatype()? {
            Type::String => (false, Some(input.str()?)),
            _ => (input.bool()?, None),
        };
        let name = if items == 4 { Some(input.str()?) } else { None };
        Ok(Self::Fault { message, hint, is_refusal, denial, name })
    }
}

impl<'a> Kept<'a> {
    pub(crate) fn encode(kept: Option<Self>, out: &mut Encoder<Vec<u8>>) -> Encoded {
        match kept {
            None => out.null()?.ok(),
            Some(Self { ok, ms, error }) => text_or_null(out.array(3)?.bool(ok)?.f64(ms)?, error),
        }
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Option<Self>, decode::Error> {
        if input.datatype()? == Type::Null {
            input.null()?;
            return Ok(None);
        }
        known(input, 3)?;
        let (ok, ms, error) = (input.bool()?, input.f64()?, optional_text(input)?);
        if !(ms >= 0.0 && ms.is_finite()) {
            return Err(decode::Error::message("the time of a call is not a valid number"));
        }
        Ok(Some(Self { ok, ms, error }))
    }
}

impl<'a> End<'a> {
    pub(crate) fn encode(self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        out.array(4)?.u8(kind::END)?;
        match self.cause {
            Cause::Script => out.array(1)?.u8(0)?,
            Cause::Time { limit, max, used } => out.array(4)?.u8(1)?.str(limit)?.u64(max)?.u64(used)?,
            Cause::Cancelled => out.array(1)?.u8(2)?,
            Cause::Rested(Spent { wall, computed, waited }) => {
                out.array(4)?.u8(3)?.u64(wall)?.u64(computed)?.u64(waited)?
            }
        };
        let Digests { result, logs, calls } = self.digests;
        out.u64(self.fuel)?.array(3)?.bytes(&result)?.bytes(&logs)?.bytes(&calls)?.ok()
    }

    fn decode(input: &mut Decoder<'a>) -> Result<Self, decode::Error> {
        let cause = match (length(input)?, input.u8()?) {
            (1, 0) => Cause::Script,
            (4, 1) => Cause::Time { limit: input.str()?, max: input.u64()?, used: input.u64()? },
            (1, 2) => Cause::Cancelled,
            (4, 3) => Cause::Rested(Spent { wall: input.u64()?, computed: input.u64()?, waited: input.u64()? }),
            _ => return Err(decode::Error::message("an unknown cause of the end")),
        };
        let fuel = input.u64()?;
        known(input, 3)?;
        let digests = Digests { result: digest(input)?, logs: digest(input)?, calls: digest(input)? };
        Ok(Self { cause, fuel, digests })
    }
}

pub(crate) fn text_or_null(out: &mut Encoder<Vec<u8>>, text: Option<&str>) -> Encoded {
    match text {
        Some(text) => out.str(text)?.ok(),
        None => out.null()?.ok(),
    }
}

pub(crate) fn optional_text<'a>(input: &mut Decoder<'a>) -> Result<Option<&'a str>, decode::Error> {
    if input.datatype()? == Type::Null {
        input.null()?;
        return Ok(None);
    }
    input.str().map(Some)
}

/// The number of items in the array that begins here.
pub(crate) fn length(input: &mut Decoder<'_>) -> Result<u64, decode::Error> {
    input.array()?.ok_or_else(|| decode::Error::message("an array does not say how many items it has"))
}

pub(crate) fn digest(input: &mut Decoder<'_>) -> Result<[u8; 32], decode::Error> {
    input.bytes()?.try_into().map_err(|_| decode::Error::message("a digest does not have 32 bytes"))
}

/// Checks that an array of this many items begins here.
pub(crate) fn known(input: &mut Decoder<'_>, items: u64) -> Result<(), decode::Error> {
    match length(input)? {
        found if found == items => Ok(()),
        found => Err(decode::Error::message(format!("an array has {found} items, not {items}"))),
    }
}
