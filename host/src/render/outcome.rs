//! The outcome of a run for people: the value on stdout; logs, calls, usage and the error on
//! stderr.

use std::fmt::Write as _;

use belljar_model::{ByteSize, CallRecord, ErrorKind, LimitName, LimitSpec, LogEntry, LogLevel, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::value;
use crate::{
    failure::Failure,
    output::{self, DIM, ERROR, GOOD, HINT, STRONG, WARNING, visible, visible_line, visible_text},
};

/// Calls that are shown one by one; more are counted.
const SHOWN_CALLS: usize = 20;

/// The shown parts of an outcome, from this process or the daemon.
#[derive(Deserialize)]
pub(crate) struct Seen {
    value: Value,
    logs: Vec<LogEntry>,
    pub(crate) error: Option<SeenError>,
    calls: Vec<CallRecord>,
    usage: Usage,
}

/// The shown parts of an error.
#[derive(Deserialize)]
pub(crate) struct SeenError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    line: Option<u32>,
    column: Option<u32>,
    frame: Option<String>,
    pub(crate) hint: Option<String>,
    limit: Option<SeenLimit>,
}

/// The limit that was reached.
#[derive(Deserialize)]
struct SeenLimit {
    name: String,
}

impl Seen {
    pub(crate) fn parse(outcome: &RawValue) -> Result<Self, Failure> {
        serde_json::from_str(outcome.get())
            .map_err(|error| Failure::internal(format!("the outcome cannot be understood: {error}")))
    }
}

pub(crate) fn show(outcome: &Seen) {
    outcome.logs.iter().for_each(log);
    match &outcome.error {
        None => output::print(value::text(&outcome.value)),
        Some(error) => failure(error),
    }
    if !output::is_quiet() {
        calls(&outcome.calls);
        usage(&outcome.usage);
    }
}

fn log(entry: &LogEntry) {
    let style = match entry.level {
        LogLevel::Debug => DIM,
        LogLevel::Warn => WARNING,
        LogLevel::Error => ERROR,
        _ => HINT,
    };
    let level = entry.level.as_str();
    for line in visible_text(&entry.text).split('\n') {
        output::say(format_args!("{style}{level:>5}{style:#} {line}"));
    }
}

fn failure(error: &SeenError) {
    output::say(format_args!("{ERROR}{}:{ERROR:#} {STRONG}{}{STRONG:#}", error.kind, visible(&error.message)));
    if let Some(line) = error.line.filter(|_| error.kind.is_from_outside()) {
        output::say(format_args!("last seen at line {line}:"));
    }
    if let Some(frame) = &error.frame {
        // Each of its lines begins with a number or a bar.
        output::say(visible_text(frame));
    } else if let Some(line) = error.line {
        output::say(format_args!("at line {line}, column {}", error.column.unwrap_or(1)));
    }
    if let Some(hint) = &error.hint {
        output::say(format_args!("{HINT}hint:{HINT:#} {}", visible(hint)));
    }
    // The user of a command is the owner, who may raise a limit; a client is not told that.
    let limit = error.limit.as_ref().and_then(|limit| LimitName::from_name(&limit.name));
    if let Some(limit) = limit.and_then(LimitSpec::of) {
        let option = limit.name.as_str().replace('_', "-");
        output::say(format_args!(
            "{HINT}hint:{HINT:#} --{option} sets this limit, and so does `{}` in [limits]",
            limit.name
        ));
    }
}

fn calls(calls: &[CallRecord]) {
    let widest = calls.iter().take(SHOWN_CALLS).map(|call| call.server.len() + call.tool.len() + 1).max().unwrap_or(0);
    for call in calls.iter().take(SHOWN_CALLS) {
        let path = format!("{}.{}", call.server, call.tool);
        let (style, mark) = if call.ok { (GOOD, "ok") } else { (ERROR, "failed") };
        let error = call.error.as_ref().map(|error| format!(": {}", visible_line(error))).unwrap_or_default();
        let effect = call.effect.as_str();
        let path = visible_line(&path);
        output::say(format_args!(
            "{DIM} call {path:widest$}  {effect:<9}  {:>8.1} ms{DIM:#}  {style}{mark}{style:#}{error}",
            call.ms
        ));
    }
    if calls.len() > SHOWN_CALLS {
        output::say(format_args!("{DIM} call … and {} more{DIM:#}", calls.len() - SHOWN_CALLS));
    }
}

fn usage(usage: &Usage) {
    let mut line = String::new();
    let mut part = |name: &str, text: Option<String>| {
        if let Some(text) = text {
            let separator = if line.is_empty() { "" } else { " · " };
            let _ = write!(line, "{separator}{name} {text}");
        }
    };
    part("wall", usage.wall_ms.map(|ms| format!("{ms:.1} ms")));
    part("script", usage.guest_ms.map(|ms| format!("{ms:.1} ms")));
    part("waited", usage.wait_ms.map(|ms| format!("{ms:.1} ms")));
    part("memory", usage.peak_memory_bytes.map(|bytes| ByteSize::b(bytes).display().iec().to_string()));
    part("fuel", usage.fuel.map(|fuel| fuel.to_string()));
    if !line.is_empty() {
        output::say(format_args!("{DIM}usage {line}{DIM:#}"));
    }
}
