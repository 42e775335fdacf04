//! What was measured of each server, as a table.

use belljar_model::{MEASURED_DAYS, ServerFigures, TargetFigure, Timing};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::count::counted;
use crate::{
    failure::Failure,
    output::{self, DIM, GOOD, STRONG, WARNING, visible_line},
};

#[derive(Deserialize)]
struct Seen {
    days: u32,
    servers: Vec<ServerFigures>,
}

const HEADINGS: [&str; 6] = ["NAME", "", "COUNT", "P50", "P95", "MAX"];
/// The columns from here on are numbers, aligned to the right.
const FIRST_NUMBER: usize = 2;

pub(crate) fn show(figures: &RawValue) -> Result<(), Failure> {
    let Seen { days, servers } = serde_json::from_str(figures.get())
        .map_err(|error| Failure::internal(format!("the figures cannot be understood: {error}")))?;
    if servers.is_empty() {
        output::remark("no servers are configured");
        return Ok(());
    }
    table(&servers);
    output::remark(format_args!("of the last {days} days"));
    Ok(())
}

/// The table of all servers, and below each of them its counts and targets.
pub(crate) fn table(servers: &[ServerFigures]) {
    let rows: Vec<[[String; HEADINGS.len()]; 3]> = servers.iter().map(rows_of).collect();
    let mut widths = HEADINGS.map(|heading| heading.chars().count());
    for row in rows.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column < FIRST_NUMBER {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ")
    };
    output::print(format_args!("{STRONG}{}{STRONG:#}", line(&HEADINGS.map(str::to_owned))));
    for (server, rows) in servers.iter().zip(&rows) {
        rows.iter().for_each(|row| output::print(line(row)));
        let counts = counts_of(server);
        if !counts.is_empty() {
            output::print(format_args!("    {DIM}{counts}{DIM:#}"));
        }
        for target in &server.targets {
            let (style, verdict) = match target.met {
                Some(true) => (GOOD, "met"),
                Some(false) => (WARNING, "missed"),
                None => (DIM, "not measured yet"),
            };
            output::print(format_args!("    {style}{verdict}{style:#}: {}", visible_line(&of_target(target))));
        }
    }
}

fn rows_of(server: &ServerFigures) -> [[String; HEADINGS.len()]; 3] {
    let row = |name: &str, what: &str, timing: &Timing| {
        let time = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), milliseconds);
        let [p50, p95, max] = [timing.p50_ms, timing.p95_ms, timing.max_ms].map(time);
        [visible_line(name).into_owned(), what.to_owned(), timing.count.to_string(), p50, p95, max]
    };
    [
        row(&server.name, "starts", &server.starts),
        row("", "first calls", &server.first_calls),
        row("", "warm calls", &server.warm_calls),
    ]
}

/// Counts of events that should never happen, or rarely; empty if there were none.
fn counts_of(server: &ServerFigures) -> String {
    let counts = [
        (server.failed_starts, "failed start"),
        (server.errors, "call without a result"),
        (server.tool_errors, "error of a tool"),
        (server.deaths, "death"),
        (server.restarts, "restart"),
        (server.breaker_trips, "breaker trip"),
        (server.switches, "instance switch"),
        (server.displaced, "displaced instance"),
    ];
    let told = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "call without a result") => format!("{count} calls without a result"),
        (count, "error of a tool") => format!("{count} errors of tools"),
        (count, "instance switch") => format!("{count} instance switches"),
        (count, what) => format!("{count} {what}s"),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A target and what was measured, in words.
pub(crate) fn of_target(target: &TargetFigure) -> String {
    let shown = |figure: f64| match target.unit.as_str() {
        "ms" => milliseconds(figure),
        unit => format!("{figure}{unit}"),
    };
    let TargetFigure { name, samples, .. } = target;
    let samples = usize::try_from(*samples).unwrap_or(usize::MAX);
    let (of, what) = match name.as_str() {
        "start" => ("95 of 100 starts within", "start"),
        "first" => ("95 of 100 first calls within", "first call"),
        "warm" => ("95 of 100 warm calls within", "warm call"),
        _ => ("calls without a result at most", "call"),
    };
    let wanted = format!("{name}: {of} {}", shown(target.target));
    match target.measured {
        Some(measured) => {
            format!("{wanted}, measured {} over {} in {MEASURED_DAYS} days", shown(measured), counted(samples, what))
        }
        None => wanted,
    }
}

/// A time, to three digits or a whole number.
fn milliseconds(time: f64) -> String {
    match time {
        0.0..10.0 => format!("{time:.2} ms"),
        10.0..100.0 => format!("{time:.1} ms"),
        100.0..10_000.0 => format!("{time:.0} ms"),
        _ => format!("{:.1} s", time / 1_000.0),
    }
}
