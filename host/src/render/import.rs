//! What would be taken over from MCP clients, and what not and why.

use belljar_config::import::{Decision, Plan};

use crate::{
    commands::import::is_without_servers,
    output::{self, DIM, ERROR, GOOD, STRONG, WARNING, visible},
};

pub(crate) fn show(plan: &Plan) {
    if plan.found.is_empty() {
        output::say("no configuration of an MCP client was found; --from FILE names one");
        return;
    }
    for (source, items) in &plan.found {
        let path = source.path.display().to_string();
        let title = if source.title == path {
            visible(&path).into_owned()
        } else {
            format!("{}: {}", source.title, visible(&path))
        };
        if is_without_servers(items) {
            output::print(format_args!("{STRONG}{title}{STRONG:#}  {DIM}no servers in it{DIM:#}"));
            continue;
        }
        output::print(format_args!("{STRONG}{title}{STRONG:#}"));
        match items {
            Err(error) => output::print(format_args!("  {ERROR}{}{ERROR:#}", visible(&error.fault.to_string()))),
            Ok(items) => {
                for item in items {
                    show_item(&item.name, &item.decision);
                }
            }
        }
    }
}

/// A number of servers, in words.
pub(crate) fn servers(count: usize) -> String {
    if count == 1 { "1 server".to_owned() } else { format!("{count} servers") }
}

fn show_item(from: &str, decision: &Decision) {
    match decision {
        Decision::Leave { reason } => {
            output::print(format_args!("  {DIM}leave{DIM:#} {}: {}", visible(from), visible(reason)));
        }
        Decision::Take { name, summary, notes, unset } => {
            let renamed = if name == from { String::new() } else { format!(" as {}", visible(name)) };
            output::print(format_args!("  {GOOD}take{GOOD:#}  {}{renamed}: {}", visible(from), visible(summary)));
            for note in notes {
                output::print(format_args!("        {DIM}{}{DIM:#}", visible(note)));
            }
            for variable in unset {
                output::print(format_args!("        {WARNING}set the variable {}{WARNING:#}", visible(variable)));
            }
        }
    }
}
