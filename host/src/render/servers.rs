//! The state of each child, as a table.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    failure::Failure,
    output::{self, DIM, ERROR, GOOD, HINT, STRONG, WARNING, visible_line},
};

/// The shown parts of the states, from this process or the daemon.
#[derive(Deserialize)]
struct Seen {
    servers: Vec<SeenServer>,
    /// A daemon of an earlier version has none.
    #[serde(default)]
    warnings: Vec<Warning>,
}

/// A finding in a server's definition of a tool.
#[derive(Deserialize)]
struct Warning {
    server: String,
    tool: String,
    place: String,
    message: String,
}

#[derive(Deserialize)]
struct SeenServer {
    name: String,
    key: Option<String>,
    state: String,
    transport: String,
    era: Option<String>,
    tools: Option<usize>,
    pid: Option<u32>,
    uptime_ms: Option<u64>,
    calls: u64,
    restarts: u32,
    last_error: Option<String>,
    hint: Option<String>,
}

const HEADINGS: [&str; 9] = ["NAME", "STATE", "TRANSPORT", "ERA", "TOOLS", "PID", "UP", "CALLS", "RESTARTS"];
/// The columns from here on are numbers, aligned to the right.
const FIRST_NUMBER: usize = 4;
const STATE: usize = 1;

impl SeenServer {
    fn cells(&self) -> [String; HEADINGS.len()] {
        let name = match &self.key {
            Some(key) => format!("{} [{key}]", self.name),
            None => self.name.clone(),
        };
        // Whole seconds, since times keep changing.
        let uptime = self.uptime_ms.map(|ms| humantime::format_duration(Duration::from_secs(ms / 1000)).to_string());
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            visible_line(&name).into_owned(),
            visible_line(&self.state).into_owned(),
            visible_line(&self.transport).into_owned(),
            or_dash(self.era.as_deref().map(|era| visible_line(era).into_owned())),
            or_dash(self.tools.map(|tools| tools.to_string())),
            or_dash(self.pid.map(|pid| pid.to_string())),
            or_dash(uptime),
            self.calls.to_string(),
            self.restarts.to_string(),
        ]
    }
}

pub(crate) fn show(status: &RawValue) -> Result<(), Failure> {
    let Seen { servers, warnings } = serde_json::from_str(status.get())
        .map_err(|error| Failure::internal(format!("the status cannot be understood: {error}")))?;
    if servers.is_empty() {
        output::remark("no servers are configured");
        return Ok(());
    }
    let rows: Vec<_> = servers.iter().map(SeenServer::cells).collect();
    let mut widths = HEADINGS.map(|heading| heading.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |column: usize, cell: &str| {
        let width = widths.get(column).copied().unwrap_or(0);
        if column < FIRST_NUMBER { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    let heading = HEADINGS.iter().enumerate().map(|(column, cell)| padded(column, cell)).collect::<Vec<_>>().join("  ");
    output::print(format_args!("{STRONG}{heading}{STRONG:#}"));
    for (server, row) in servers.iter().zip(&rows) {
        let style = match server.state.as_str() {
            "ready" | "busy" => GOOD,
            "failing" | "open" => ERROR,
            "starting" | "stopping" => WARNING,
            _ => DIM,
        };
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            STATE => format!("{style}{}{style:#}", padded(column, cell)),
            _ => padded(column, cell),
        });
        output::print(cells.collect::<Vec<_>>().join("  "));
        if let Some(error) = &server.last_error {
            output::print(format_args!("    {ERROR}{}{ERROR:#}", visible_line(error)));
        }
        if let Some(hint) = &server.hint {
            output::print(format_args!("    {HINT}hint:{HINT:#} {}", visible_line(hint)));
        }
    }
    for Warning { server, tool, place, message } in &warnings {
        let text = format!("{server}.{tool}: {place}: {message}");
        output::print(format_args!("{WARNING}warning:{WARNING:#} {}", visible_line(&text)));
    }
    Ok(())
}
