//! The state of each child, as a table.

use belljar_upstream::{ServerState, ServerStatus};

use crate::output::{self, DIM, ERROR, GOOD, HINT, STRONG, WARNING, visible_line};

pub(crate) fn show(servers: &[ServerStatus]) {
    if servers.is_empty() {
        output::say("no servers are configured");
        return;
    }
    let widest = servers.iter().map(|server| server.name.len()).max().unwrap_or(0).max(4);
    output::print(format_args!(
        "{STRONG}{:widest$}  {:<9} {:<9} {:>5}  {:>7}{STRONG:#}",
        "NAME", "STATE", "TRANSPORT", "TOOLS", "PID"
    ));
    for server in servers {
        let style = match server.state {
            ServerState::Ready => GOOD,
            ServerState::Failed => ERROR,
            ServerState::Starting => WARNING,
            _ => DIM,
        };
        let number = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        output::print(format_args!(
            "{:widest$}  {style}{:<9}{style:#} {:<9} {:>5}  {:>7}",
            visible_line(&server.name),
            server.state.as_str(),
            server.transport,
            number(server.tools.map(|tools| tools.to_string())),
            number(server.pid.map(|pid| pid.to_string())),
        ));
        if let Some(error) = &server.last_error {
            output::print(format_args!("{:widest$}  {ERROR}{}{ERROR:#}", "", visible_line(error)));
        }
        if let Some(hint) = &server.hint {
            output::print(format_args!("{:widest$}  {HINT}hint:{HINT:#} {}", "", visible_line(hint)));
        }
    }
}
