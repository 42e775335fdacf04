//! The state of each child, as a table.

use std::time::Duration;

use belljar_upstream::{ServerState, ServerStatus};

use crate::output::{self, DIM, ERROR, GOOD, HINT, STRONG, WARNING, visible};

pub(crate) fn show(servers: &[ServerStatus]) {
    if servers.is_empty() {
        output::say("no servers are configured");
        return;
    }
    let widest = servers.iter().map(|server| server.name.len()).max().unwrap_or(0).max(4);
    output::print(format_args!(
        "{STRONG}{:widest$}  {:<9} {:<9} {:<10} {:>5}  {:>7}  {:>8}  {:>6}  {:>8}{STRONG:#}",
        "NAME", "STATE", "TRANSPORT", "ERA", "TOOLS", "PID", "UPTIME", "CALLS", "RESTARTS"
    ));
    for server in servers {
        let style = match server.state {
            ServerState::Ready | ServerState::Busy => GOOD,
            ServerState::Failing | ServerState::Open => ERROR,
            ServerState::Starting | ServerState::Stopping => WARNING,
            ServerState::Cold => DIM,
        };
        let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let uptime = server.uptime_ms.map(|ms| Duration::from_secs(ms / 1000));
        output::print(format_args!(
            "{:widest$}  {style}{:<9}{style:#} {:<9} {:<10} {:>5}  {:>7}  {:>8}  {:>6}  {:>8}",
            visible(&server.name),
            server.state.as_str(),
            server.transport,
            visible(&known(server.era.clone())),
            known(server.tools.map(|tools| tools.to_string())),
            known(server.pid.map(|pid| pid.to_string())),
            known(uptime.map(|uptime| humantime::format_duration(uptime).to_string().replace(' ', ""))),
            server.calls,
            server.restarts,
        ));
        if let Some(key) = &server.key {
            output::print(format_args!("{:widest$}  for {}", "", visible(key)));
        }
        if let Some(error) = &server.last_error {
            output::print(format_args!("{:widest$}  {ERROR}{}{ERROR:#}", "", visible(error)));
        }
        if let Some(hint) = &server.hint {
            output::print(format_args!("{:widest$}  {HINT}hint:{HINT:#} {}", "", visible(hint)));
        }
    }
}
