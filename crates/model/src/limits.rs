//! Every budget of a run, in one place, each with its default and its reason.
//!
//! One bound is not here, since nobody can set it: the guest's stack. It is part of the interpreter's image, laid out when that is linked
//! (4 MiB; 10,000 calls of JavaScript inside each other, and 400 of native functions), and its machine code is compiled for it. What
//! overruns it is a `RangeError` that a script can catch, or ends as `stack`.

use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::parse_duration;

/// The budgets of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from the moment the run starts to execute, waits included. Two minutes: what clients wait for.
    pub timeout: Duration,
    /// Time inside the guest. Ten seconds: of the scripts in `tests/scripts` none takes more than
    /// 26 ms, and of the 3,352 programs in `tests/differential`, an interpreter of Lisp in
    /// JavaScript among them, none more than 1.7 s.
    pub compute: Duration,
    /// Time spent waiting for tools and timers, all waits together. As long as `timeout`: it decides only where the owner lowers it,
    /// for runs that may compute for long and must not wait for long.
    pub wait: Duration,
    /// Time of one tool call. Thirty seconds, the habit of MCP clients.
    pub call: Duration,
    /// Work, in wasmtime's fuel. Deterministic: the same script with the same answers uses the same. The default takes longer
    /// than `compute` on today's machines, so it decides only where the owner lowers it.
    pub fuel: u64,
    /// The guest's linear memory and tables. 256 MiB: a tool result of 5 MB becomes some 100 MB of objects.
    pub memory: ByteSize,
    /// Tool calls in all. A thousand: a loop over a page of results, not a crawl.
    pub max_calls: u64,
    /// Tool calls under way at the same time. A thousand, as many as there may be in all: `Promise.all` over a page of results is what scripts
    /// are for. Lower it for children that suffer from it.
    pub max_concurrent_calls: u64,
    /// The source text. 1 MiB: models write a few KB.
    pub max_source: ByteSize,
    /// The arguments of one call, as JSON. 1 MiB.
    pub max_arguments: ByteSize,
    /// The result of one call, as JSON. 5 MB, as much as a client accepts of a server.
    pub max_result: ByteSize,
    /// The value of the run, as JSON. 256 KiB: some 60,000 tokens, more than a model should read. The base64 of images and files in it is
    /// not counted here: it may have as many bytes again as `max_result`, since it came as a tool's result.
    pub max_output: ByteSize,
    /// All log texts together. 64 KiB; what is over is cut, and the cut is said.
    pub max_logs: ByteSize,
    /// What the host holds for the run outside of its memory, all together: arguments of calls under way, answers that the script has not
    /// taken yet, logs, records of calls. 64 MiB: sixty calls with the largest arguments at once, or a dozen of the largest answers. A call
    /// whose arguments find no room fails; answers that find none wait in a file, or in the pipe.
    pub max_held: ByteSize,
    /// The lines of all log texts together. 10,000: an empty line costs memory too. What is over is cut, and the cut is said.
    pub max_log_lines: u64,
}

impl Limits {
    /// The most bytes of a run's value, the base64 of images and files included.
    pub fn max_value_bytes(&self) -> u64 {
        self.max_output.as_u64().saturating_add(self.max_result.as_u64())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            compute: Duration::from_secs(10),
            wait: Duration::from_secs(120),
            call: Duration::from_secs(30),
            fuel: 200_000_000_000,
            memory: ByteSize::mib(256),
            max_calls: 1_000,
            max_concurrent_calls: 1_000,
            max_source: ByteSize::mib(1),
            max_arguments: ByteSize::mib(1),
            max_result: ByteSize::mb(5),
            max_output: ByteSize::kib(256),
            max_logs: ByteSize::kib(64),
            max_held: ByteSize::mib(64),
            max_log_lines: 10_000,
        }
    }
}

/// Some of the [`Limits`], as a configuration, a command line or a request names them.
///
/// Durations and sizes are texts with a unit (`"30s"`, `"64MiB"`), counts are numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "each field is documented at Limits")]
pub struct LimitsPatch {
    #[serde(deserialize_with = "duration")]
    pub timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub compute: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub wait: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub call: Option<Duration>,
    pub fuel: Option<u64>,
    pub memory: Option<ByteSize>,
    pub max_calls: Option<u64>,
    pub max_concurrent_calls: Option<u64>,
    pub max_source: Option<ByteSize>,
    pub max_arguments: Option<ByteSize>,
    pub max_result: Option<ByteSize>,
    pub max_output: Option<ByteSize>,
    pub max_logs: Option<ByteSize>,
    pub max_held: Option<ByteSize>,
    pub max_log_lines: Option<u64>,
}

/// A limit that was asked for and may not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("limit '{name}' may be at most {max} here, and {asked} was asked for")]
pub struct LimitFault {
    /// The limit's name.
    pub name: &'static str,
    /// The owner's ceiling.
    pub max: String,
    /// What was asked for.
    pub asked: String,
}

impl LimitsPatch {
    /// The names of all limits, for messages.
    pub const NAMES: [&'static str; 15] = [
        "timeout",
        "compute",
        "wait",
        "call",
        "fuel",
        "memory",
        "max_calls",
        "max_concurrent_calls",
        "max_source",
        "max_arguments",
        "max_result",
        "max_output",
        "max_logs",
        "max_held",
        "max_log_lines",
    ];

    /// What was asked for of one limit, and how much there was to be had, where that is more: as both are written.
    pub fn asked_below(&self, name: &str, ceiling: &Limits) -> Option<(String, String)> {
        let written = |patch: &Self| {
            serde_json::to_value(patch).ok()?.get(name).map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            })
        };
        let (asked, most) = (written(self)?, written(&Self::from(ceiling))?);
        (asked != most).then_some((asked, most))
    }

    /// `limits` with what is set here in place of what stood there: for the owner, who may also raise.
    ///
    /// A limit that decides nothing beside a wider one (`wait` beside `timeout`, `max_concurrent_calls` beside `max_calls`) is raised with
    /// it: whoever allows a longer run has not asked for one that may not wait.
    #[must_use]
    pub fn over(&self, limits: &Limits) -> Limits {
        let timeout = self.timeout.unwrap_or(limits.timeout);
        let max_calls = self.max_calls.unwrap_or(limits.max_calls);
        Limits {
            timeout,
            compute: self.compute.unwrap_or(limits.compute),
            wait: self.wait.unwrap_or(beside(limits.wait, limits.timeout, timeout)),
            call: self.call.unwrap_or(limits.call),
            fuel: self.fuel.unwrap_or(limits.fuel),
            memory: self.memory.unwrap_or(limits.memory),
            max_calls,
            max_concurrent_calls: self.max_concurrent_calls.unwrap_or(beside(
                limits.max_concurrent_calls,
                limits.max_calls,
                max_calls,
            )),
            max_source: self.max_source.unwrap_or(limits.max_source),
            max_arguments: self.max_arguments.unwrap_or(limits.max_arguments),
            max_result: self.max_result.unwrap_or(limits.max_result),
            max_output: self.max_output.unwrap_or(limits.max_output),
            max_logs: self.max_logs.unwrap_or(limits.max_logs),
            max_held: self.max_held.unwrap_or(limits.max_held),
            max_log_lines: self.max_log_lines.unwrap_or(limits.max_log_lines),
        }
    }

    /// `ceiling` lowered by what is set here: for a client, who may not raise.
    ///
    /// # Errors
    /// [`LimitFault`] names the first limit that was asked for above its ceiling.
    pub fn within(&self, ceiling: &Limits) -> Result<Limits, LimitFault> {
        let asked = self.over(ceiling);
        let text = |duration: Duration| humantime::format_duration(duration).to_string();
        let bytes = |size: ByteSize| size.display().iec().to_string();
        let durations = [
            ("timeout", asked.timeout, ceiling.timeout),
            ("compute", asked.compute, ceiling.compute),
            ("wait", asked.wait, ceiling.wait),
            ("call", asked.call, ceiling.call),
        ];
        for (name, asked, max) in durations {
            if asked > max {
                return Err(LimitFault { name, max: text(max), asked: text(asked) });
            }
        }
        let counts = [
            ("fuel", asked.fuel, ceiling.fuel),
            ("max_calls", asked.max_calls, ceiling.max_calls),
            ("max_concurrent_calls", asked.max_concurrent_calls, ceiling.max_concurrent_calls),
            ("max_log_lines", asked.max_log_lines, ceiling.max_log_lines),
        ];
        for (name, asked, max) in counts {
            if asked > max {
                return Err(LimitFault { name, max: max.to_string(), asked: asked.to_string() });
            }
        }
        let sizes = [
            ("memory", asked.memory, ceiling.memory),
            ("max_source", asked.max_source, ceiling.max_source),
            ("max_arguments", asked.max_arguments, ceiling.max_arguments),
            ("max_result", asked.max_result, ceiling.max_result),
            ("max_output", asked.max_output, ceiling.max_output),
            ("max_logs", asked.max_logs, ceiling.max_logs),
            ("max_held", asked.max_held, ceiling.max_held),
        ];
        for (name, asked, max) in sizes {
            if asked > max {
                return Err(LimitFault { name, max: bytes(max), asked: bytes(asked) });
            }
        }
        Ok(asked)
    }
}

/// A limit beside a wider one that changes from `before` to `now`.
fn beside<T: Ord>(limit: T, before: T, now: T) -> T {
    if limit < before { limit } else { limit.max(now) }
}

/// Writes what it reads: only what is set, durations with a unit, sizes in bytes.
/// A patch that sets every limit: applied to any limits, it gives these.
impl From<&Limits> for LimitsPatch {
    fn from(limits: &Limits) -> Self {
        Self {
            timeout: Some(limits.timeout),
            compute: Some(limits.compute),
            wait: Some(limits.wait),
            call: Some(limits.call),
            fuel: Some(limits.fuel),
            memory: Some(limits.memory),
            max_calls: Some(limits.max_calls),
            max_concurrent_calls: Some(limits.max_concurrent_calls),
            max_source: Some(limits.max_source),
            max_arguments: Some(limits.max_arguments),
            max_result: Some(limits.max_result),
            max_output: Some(limits.max_output),
            max_logs: Some(limits.max_logs),
            max_held: Some(limits.max_held),
            max_log_lines: Some(limits.max_log_lines),
        }
    }
}

impl Serialize for LimitsPatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            timeout,
            compute,
            wait,
            call,
            fuel,
            memory,
            max_calls,
            max_concurrent_calls,
            max_source,
            max_arguments,
            max_result,
            max_output,
            max_logs,
            max_held,
            max_log_lines,
        } = self;
        let duration =
            |limit: &Option<Duration>| limit.map(|limit| Value::from(humantime::format_duration(limit).to_string()));
        let count = |limit: &Option<u64>| limit.map(Value::from);
        let size = |limit: &Option<ByteSize>| limit.map(|limit| Value::from(limit.as_u64()));
        let set = [
            ("timeout", duration(timeout)),
            ("compute", duration(compute)),
            ("wait", duration(wait)),
            ("call", duration(call)),
            ("fuel", count(fuel)),
            ("memory", size(memory)),
            ("max_calls", count(max_calls)),
            ("max_concurrent_calls", count(max_concurrent_calls)),
            ("max_source", size(max_source)),
            ("max_arguments", size(max_arguments)),
            ("max_result", size(max_result)),
            ("max_output", size(max_output)),
            ("max_logs", size(max_logs)),
            ("max_held", size(max_held)),
            ("max_log_lines", count(max_log_lines)),
        ];
        serializer.collect_map(set.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

pub(crate) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_duration(&text).map_err(de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_reads_units() {
        let patch: LimitsPatch =
            serde_json::from_str(r#"{"timeout": "5s", "memory": "64MiB", "fuel": 7}"#).expect("a patch");
        assert_eq!(patch.timeout, Some(Duration::from_secs(5)));
        assert_eq!(patch.memory, Some(ByteSize::mib(64)));
        assert_eq!(patch.over(&Limits::default()).fuel, 7);
        let none: LimitsPatch = serde_json::from_str(r#"{"timeout": null, "fuel": null}"#).expect("a patch");
        assert_eq!(none, LimitsPatch::default());
        assert!(serde_json::from_str::<LimitsPatch>(r#"{"timeout": "soon"}"#).is_err());
        assert!(serde_json::from_str::<LimitsPatch>(r#"{"timeuot": "5s"}"#).is_err());
    }

    #[test]
    fn a_limit_that_decides_nothing_is_raised_with_the_wider_one_and_one_that_does_is_not() {
        let longer =
            LimitsPatch { timeout: Some(Duration::from_secs(600)), max_calls: Some(9_000), ..LimitsPatch::default() };
        let raised = longer.over(&Limits::default());
        assert_eq!((raised.wait, raised.max_concurrent_calls), (Duration::from_secs(600), 9_000));
        let owners = Limits { wait: Duration::from_secs(5), max_concurrent_calls: 4, ..Limits::default() };
        let kept = longer.over(&owners);
        assert_eq!((kept.wait, kept.max_concurrent_calls), (Duration::from_secs(5), 4));
        let asked = LimitsPatch { timeout: Some(Duration::from_secs(60)), ..LimitsPatch::default() };
        assert_eq!(asked.within(&owners).expect("lower").wait, Duration::from_secs(5));
    }

    #[test]
    fn a_client_may_lower_a_limit_and_never_raise_it() {
        let ceiling = Limits::default();
        let lower = LimitsPatch { max_calls: Some(3), ..LimitsPatch::default() };
        assert_eq!(lower.within(&ceiling).expect("lower").max_calls, 3);
        let higher = LimitsPatch { memory: Some(ByteSize::gib(4)), ..LimitsPatch::default() };
        let fault = higher.within(&ceiling).expect_err("higher");
        assert_eq!(fault.to_string(), "limit 'memory' may be at most 256.0 MiB here, and 4.0 GiB was asked for");
    }
}
