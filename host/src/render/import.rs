//! What would be imported from MCP clients, and what not and why.

use std::path::Path;

use belljar_config::{
    ConfigError, ConfigErrorKind,
    import::{Decision, Found, Item, Plan, Written},
};
use serde_json::{Value, json};

use crate::{
    output::{self, DIM, ERROR, GOOD, STRONG, WARNING, visible_line},
    render::count::counted,
};

/// Whether a file's servers are imported by default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Taken,
    Offered,
}

/// Shows a file whose servers are imported.
pub(crate) fn show(found: &Found) {
    show_file(found, Standing::Taken);
}

/// Shows a file of the current folder, whose servers are imported only on request.
pub(crate) fn show_offered(found: &Found) {
    show_file(found, Standing::Offered);
}

/// The question about a file of the current folder, after it was shown.
pub(crate) fn question(found: &Found) -> String {
    let path = found.source.path.display().to_string();
    format!(
        "{} was written by the author of this folder; take {} from it?",
        visible_line(&path),
        counted(found.len(), "server")
    )
}

/// Whether a file was only examined, and has no servers.
fn is_without_servers(items: &Result<Vec<Item>, ConfigError>) -> bool {
    match items {
        Ok(items) => items.is_empty(),
        Err(error) => matches!(*error.fault, ConfigErrorKind::NoServers { .. }),
    }
}

fn show_file(found: &Found, standing: Standing) {
    let Found { source, items, .. } = found;
    let path = source.path.display().to_string();
    let title = if source.title == path {
        visible_line(&path).into_owned()
    } else {
        format!("{}: {}", source.title, visible_line(&path))
    };
    let of_this_folder = if standing == Standing::Offered { "  of the current folder" } else { "" };
    let note = if is_without_servers(items) { "  no servers in it" } else { of_this_folder };
    output::print(format_args!("{STRONG}{title}{STRONG:#}{DIM}{note}{DIM:#}"));
    match items {
        _ if is_without_servers(items) => {}
        Err(error) => output::print(format_args!("  {ERROR}{}{ERROR:#}", visible_line(&error.fault.to_string()))),
        Ok(items) => {
            for item in items {
                show_item(&item.name, &item.decision, standing);
            }
        }
    }
}

fn show_item(from: &str, decision: &Decision, standing: Standing) {
    match decision {
        Decision::Leave { reason } => {
            output::print(format_args!("  {DIM}leave{DIM:#} {}: {}", visible_line(from), visible_line(reason)));
        }
        Decision::Take { name, shown, notes, unset } => {
            let renamed = if name == from { String::new() } else { format!(" as {}", visible_line(name)) };
            let (style, verb) = match standing {
                Standing::Taken => (GOOD, "take "),
                Standing::Offered => (WARNING, "offer"),
            };
            let what = visible_line(&shown.what);
            output::print(format_args!("  {style}{verb}{style:#} {}{renamed}: {what}", visible_line(from)));
            for detail in &shown.details {
                output::print(format_args!("        {}", visible_line(detail)));
            }
            for note in notes {
                output::print(format_args!("        {DIM}{}{DIM:#}", visible_line(note)));
            }
            for variable in unset {
                output::print(format_args!("        {WARNING}set the variable {}{WARNING:#}", visible_line(variable)));
            }
        }
    }
}

/// Says what was written, or how to write it.
pub(crate) fn show_written(plan: &Plan, target: &Path, written: Option<&Written>) {
    if plan.found.is_empty() && plan.left.is_empty() {
        output::say("no configuration of an MCP client was found; --from FILE names one");
    }
    for left in plan.left.iter().filter(|left| !left.is_empty()) {
        output::note(format_args!(
            "nothing was taken from {}, because the author of this folder wrote it; to take {}: {}",
            visible_line(&left.source.path.display().to_string()),
            counted(left.len(), "server"),
            command_for(left),
        ));
    }
    let target = target.display().to_string();
    match written {
        None if plan.is_empty() => {}
        None => {
            let count = counted(plan.len(), "server");
            output::say(format_args!("nothing was written: --write puts {count} into {}", visible_line(&target)));
        }
        Some(written) => {
            output::say(format_args!("added {} to {}", counted(written.servers, "server"), visible_line(&target)));
            if let Some(copy) = &written.copy {
                output::say(format_args!("the previous content is in {}", visible_line(&copy.display().to_string())));
            }
        }
    }
}

/// The command that imports a file of the current folder.
fn command_for(found: &Found) -> String {
    format!("belljar import --from {} --write", found.source.path.display())
}

/// The same for programs.
pub(crate) fn as_json(plan: &Plan, target: &Path, written: Option<&Written>) -> Value {
    let taken = plan.found.iter().map(|found| of_file(found, Standing::Taken));
    let left = plan.left.iter().map(|found| of_file(found, Standing::Offered));
    json!({
        "found": taken.chain(left).collect::<Vec<_>>(),
        "file": target,
        "written": written.map_or(0, |written| written.servers),
        "copy": written.and_then(|written| written.copy.as_deref()),
    })
}

fn of_file(found: &Found, standing: Standing) -> Value {
    let is_offered = standing == Standing::Offered;
    let of_item = |item: &Item| match &item.decision {
        Decision::Leave { reason } => json!({ "from": item.name, "take": false, "reason": reason }),
        Decision::Take { name, shown, notes, unset } => {
            let mut value = json!({
                "from": item.name, "take": !is_offered, "name": name, "summary": shown.what, "details": shown.details,
                "notes": notes, "unset": unset
            });
            if is_offered {
                value["reason"] = json!("the file is in the current folder, and is taken only when it is named");
            }
            value
        }
    };
    let mut value = json!({ "client": found.source.title, "file": found.source.path });
    match &found.items {
        Ok(items) => value["servers"] = items.iter().map(of_item).collect(),
        Err(error) => value["error"] = json!(error.fault.to_string()),
    }
    if is_offered && !found.is_empty() {
        value["take_with"] = json!(command_for(found));
    }
    value
}
