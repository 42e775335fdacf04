//! What would be taken over from MCP clients, and what not and why.

use std::path::Path;

use belljar_config::import::{Decision, Item, Plan, Written};
use serde_json::{Value, json};

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

/// Says what was written, or how to have it written.
pub(crate) fn show_written(plan: &Plan, target: &Path, written: Option<&Written>) {
    let target = target.display().to_string();
    match written {
        None if plan.is_empty() => {}
        None => {
            let count = servers(plan.len());
            output::say(format_args!("nothing was written: --write puts {count} into {}", visible(&target)));
        }
        Some(written) => {
            output::say(format_args!("added {} to {}", servers(written.servers), visible(&target)));
            if let Some(copy) = &written.copy {
                output::say(format_args!("what was there before is in {}", visible(&copy.display().to_string())));
            }
        }
    }
}

/// The same for programs.
pub(crate) fn as_json(plan: &Plan, target: &Path, written: Option<&Written>) -> Value {
    let of_item = |item: &Item| match &item.decision {
        Decision::Leave { reason } => json!({ "from": item.name, "take": false, "reason": reason }),
        Decision::Take { name, summary, notes, unset } => json!({
            "from": item.name, "take": true, "name": name, "summary": summary, "notes": notes, "unset": unset
        }),
    };
    let found = plan.found.iter().map(|(source, items)| match items {
        Ok(items) => {
            json!({ "client": source.title, "file": source.path, "servers": items.iter().map(of_item).collect::<Vec<_>>() })
        }
        Err(error) => json!({ "client": source.title, "file": source.path, "error": error.fault.to_string() }),
    });
    json!({
        "found": found.collect::<Vec<_>>(),
        "file": target,
        "written": written.map_or(0, |written| written.servers),
        "copy": written.and_then(|written| written.copy.as_deref()),
    })
}

/// A number of servers, in words.
fn servers(count: usize) -> String {
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
