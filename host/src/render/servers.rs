//! The state of each child, as a table.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    failure::Failure,
    output::{self, DIM, ERROR, GOOD, HINT, STRONG, WARNING, visible},
};

/// The states as they are shown, be they of this process or the daemon's.
#[derive(Deserialize)]
struct Seen {
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    name: String,
    state: String,
    transport: String,
    tools: Option<usize>,
    pid: Option<u32>,
    last_error: Option<String>,
    hint: Option<String>,
}

pub(crate) fn show(status: &RawValue) -> Result<(), Failure> {
    let Seen { servers } = serde_json::from_str(status.get())
        .map_err(|error| Failure::internal(format!("the status cannot be understood: {error}")))?;
    if servers.is_empty() {
        output::say("no servers are configured");
        return Ok(());
    }
    let widest = servers.iter().map(|server| server.name.len()).max().unwrap_or(0).max(4);
    output::print(format_args!(
        "{STRONG}{:widest$}  {:<9} {:<9} {:>5}  {:>7}{STRONG:#}",
        "NAME", "STATE", "TRANSPORT", "TOOLS", "PID"
    ));
    for server in &servers {
        let style = match server.state.as_str() {
            "ready" | "busy" => GOOD,
            "failing" | "failed" | "open" => ERROR,
            "starting" | "stopping" => WARNING,
            _ => DIM,
        };
        let number = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        output::print(format_args!(
            "{:widest$}  {style}{:<9}{style:#} {:<9} {:>5}  {:>7}",
            visible(&server.name),
            visible(&server.state),
            visible(&server.transport),
            number(server.tools.map(|tools| tools.to_string())),
            number(server.pid.map(|pid| pid.to_string())),
        ));
        if let Some(error) = &server.last_error {
            output::print(format_args!("{:widest$}  {ERROR}{}{ERROR:#}", "", visible(error)));
        }
        if let Some(hint) = &server.hint {
            output::print(format_args!("{:widest$}  {HINT}hint:{HINT:#} {}", "", visible(hint)));
        }
    }
    Ok(())
}
