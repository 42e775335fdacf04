//! Runs in the ledger: a table of many, or one with its calls.

use std::time::{Duration, SystemTime};

use belljar_ledger::{CallState, KeptCall, KeptRun, RunState};
use belljar_model::{ByteSize, RunId};
use serde::Serialize;

use super::count::roughly;
use crate::output::{self, DIM, ERROR, GOOD, STRONG, WARNING, visible, visible_line};

const HEADINGS: [&str; 7] = ["RUN", "STATE", "BEGAN", "TOOK", "CALLS", "BY", "ERROR"];
const STATE: usize = 1;

/// `is_all` means that no run was left out.
pub(crate) fn list(runs: &[KeptRun], is_all: bool) {
    if runs.is_empty() {
        output::remark(if is_all { "the ledger has no runs" } else { "the ledger has no such runs" });
        return;
    }
    let rows: Vec<_> = runs.iter().map(cells).collect();
    let mut widths = HEADINGS.map(|heading| heading.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |(cell, width): (&str, &usize)| format!("{cell:<width$}");
    let heading: Vec<_> = HEADINGS.into_iter().zip(&widths).map(padded).collect();
    output::print(format_args!("{STRONG}{}{STRONG:#}", heading.join("  ").trim_end()));
    for (run, row) in runs.iter().zip(&rows) {
        let style = style(run.state);
        let cells = row.iter().map(String::as_str).zip(&widths).map(padded).enumerate();
        let cells: Vec<_> =
            cells.map(|(at, cell)| if at == STATE { format!("{style}{cell}{style:#}") } else { cell }).collect();
        output::print(cells.join("  ").trim_end());
        may_have_happened(run);
    }
}

/// What crossed between a script and a tool, in the recording of the run.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Crossing<'r> {
    Arguments { number: u64, text: &'r str },
    Answer { number: u64, text: &'r str },
    Fault { number: u64, text: &'r str },
}

/// What ran, as its recording says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran<'r> {
    /// A script, with this source.
    Script(&'r str),
    /// A component, whose file a replay needs.
    Component,
}

/// Where two runs first differ.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    pub(crate) what: &'static str,
    /// The number of the call that differs, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<u64>,
    pub(crate) one: String,
    pub(crate) other: String,
}

pub(crate) fn difference((one, other): (RunId, RunId), difference: Option<&Difference>) {
    let Some(found) = difference else {
        output::print("the runs are equal: script, calls, arguments, answers, end and fuel");
        return;
    };
    let call = found.call.map(|call| format!(" of call {call}")).unwrap_or_default();
    output::print(format_args!("the runs differ first in the {}{call}:", found.what));
    for (run, value) in [(one, &found.one), (other, &found.other)] {
        output::print(format_args!("  {DIM}{run}{DIM:#}  {}", visible_line(value)));
    }
}

pub(crate) fn show(run: &KeptRun, calls: &[KeptCall], ran: Option<Ran<'_>>, crossings: &[Crossing<'_>]) {
    let style = style(run.state);
    output::print(format_args!("{STRONG}{}{STRONG:#}  {style}{}{style:#}", run.run, run.state.as_str()));
    let row = |name: &str, value: String| output::print(format_args!("  {DIM}{name:<9}{DIM:#} {value}"));
    row("began", format!("{} ({})", humantime::format_rfc3339_millis(run.at), ago(run.at)));
    row("by", by(run));
    if let Some(took) = run.took {
        row("took", milliseconds(took));
    }
    if let Some(error) = &run.error {
        let line = run.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        row("error", format!("{}{line}", visible_line(error)));
    }
    if let Some(bytes) = run.source_bytes {
        row("source", size(bytes));
    }
    if let Some(computed) = run.computed {
        row("script", milliseconds(computed));
    }
    if let Some(fuel) = run.fuel {
        row("fuel", fuel.to_string());
    }
    if let Some(bytes) = run.peak_memory {
        row("memory", size(bytes));
    }
    match (run.recording, run.recording_bytes.map(size)) {
        (Some("replayable"), Some(size)) => {
            let with = if ran == Some(Ran::Component) { " --component FILE" } else { "" };
            row("recording", format!("{size}: belljar replay {}{with}", run.run));
        }
        (Some("verifiable"), Some(size)) => row("recording", format!("{size}, redacted: verifiable, not replayable")),
        (Some(_), _) => row("recording", "none: not replayable".to_owned()),
        (None, _) => {}
    }
    if let Some(Ran::Script(source)) = ran {
        output::print(format_args!("{STRONG}source{STRONG:#}\n{DIM}  {DIM:#}{}", visible(source)));
    }
    let widest = calls.iter().map(|call| call.tool.to_string().chars().count()).max().unwrap_or(0);
    for call in calls {
        let path = call.tool.to_string();
        let (style, state) = match call.state {
            CallState::Ok => (GOOD, "ok"),
            CallState::ToolError => (ERROR, "failed"),
            CallState::Fault if call.may_have_happened() => (WARNING, "no answer: it may have taken effect"),
            CallState::Fault => (ERROR, "no answer"),
            CallState::Sent if call.may_have_happened() => (WARNING, "sent, and no answer: it may have taken effect"),
            CallState::Sent => (DIM, "sent, and no answer"),
            CallState::Denied => (ERROR, "denied, and not sent"),
            CallState::AssumedDone => (WARNING, "no answer: assumed to have been done"),
            CallState::AssumedFailed => (WARNING, "no answer: assumed to have failed"),
        };
        let rule = call.rule.as_deref().map(|rule| format!(" by rule '{}'", visible_line(rule))).unwrap_or_default();
        let decided = call.decided_by.as_deref().map(|way| format!(", decided by {}", visible_line(way)));
        let decided = decided.unwrap_or_default();
        output::print(format_args!(
            "{DIM}{:>5}{DIM:#} {:<widest$}  {DIM}{:<9}  {:>9}  {:>9} in  {:>9} out{DIM:#}  {style}{state}{style:#}{DIM}{rule}{decided}{DIM:#}",
            call.number,
            visible_line(&path),
            call.effect.as_str(),
            call.took.map(milliseconds).unwrap_or_default(),
            size(call.arguments_bytes),
            call.answer_bytes.map(size).unwrap_or_default(),
        ));
    }
    for crossing in crossings {
        let (number, what, text) = match crossing {
            Crossing::Arguments { number, text } => (number, "called with", text),
            Crossing::Answer { number, text } => (number, "answered", text),
            Crossing::Fault { number, text } => (number, "failed", text),
        };
        output::print(format_args!("{DIM}{number:>5} {what:<11}{DIM:#} {}", visible_line(&shortened(text))));
    }
    may_have_happened(run);
}

/// The beginning of a text. `--json` prints all of it.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 300;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}… ({})", text.get(..end).unwrap_or_default(), size(text.len() as u64)),
        None => text.to_owned(),
    }
}

fn cells(run: &KeptRun) -> [String; HEADINGS.len()] {
    let error = run.error.as_deref().map(|error| visible_line(error).into_owned());
    [
        run.run.to_string(),
        run.state.as_str().to_owned(),
        ago(run.at),
        run.took.map(milliseconds).unwrap_or_else(|| "-".to_owned()),
        run.calls.to_string(),
        by(run),
        error.unwrap_or_default(),
    ]
}

/// The origin of a run, its principal, and the name of its client.
fn by(run: &KeptRun) -> String {
    let principal = run.principal.as_deref().map(|name| format!(" for {}", visible_line(name)));
    let client = run.client.as_deref().map(|name| format!(" ({})", visible_line(name)));
    format!("{}{}{}", visible_line(&run.origin), principal.unwrap_or_default(), client.unwrap_or_default())
}

/// Warns about calls of an interrupted run that may have taken effect.
fn may_have_happened(run: &KeptRun) {
    if run.state == RunState::Interrupted && run.unanswered > 0 {
        let calls = if run.unanswered == 1 { "call" } else { "calls" };
        output::print(format_args!(
            "    {WARNING}{} {calls} may have taken effect: belljar runs show {}{WARNING:#}",
            run.unanswered, run.run
        ));
    }
}

fn style(state: RunState) -> anstyle::Style {
    match state {
        RunState::Ok => GOOD,
        RunState::Failed => ERROR,
        RunState::Interrupted | RunState::Resting => WARNING,
        RunState::Running => DIM,
    }
}

pub(crate) fn ago(at: SystemTime) -> String {
    format!("{} ago", roughly(at.elapsed().unwrap_or_default()))
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1e3)
}

fn size(bytes: u64) -> String {
    ByteSize::b(bytes).display().iec().to_string()
}
