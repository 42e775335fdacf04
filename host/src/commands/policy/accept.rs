//! `belljar policy accept`: the owner accepts the current definitions of tools. No server is
//! started.

use std::{collections::BTreeMap, process::ExitCode};

use belljar_ledger::{Ledger as _, Pins};
use belljar_model::{ServerSpec, nearest};
use belljar_policy::laid_out;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::arguments::PolicyAcceptArguments;
use crate::{
    consent,
    failure::Failure,
    output::{self, ERROR, GOOD, WARNING, visible_line},
    policy::{Changed, changed, unusable},
    render::count::counted,
    setup,
};

/// Lines around a difference.
const CONTEXT: usize = 2;

pub(crate) async fn accept(arguments: PolicyAcceptArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let allow_yes = loaded.config.approvals.allow_yes;
    let servers = &loaded.config.servers;
    let Some(rules) =
        loaded.policy.as_ref().filter(|rules| servers.iter().any(|spec| rules.policy.pins_server(&spec.name)))
    else {
        return Err(Failure::usage("nothing is pinned", "pin = true in the file of the rules pins every tool"));
    };
    if let Some(name) = &arguments.tool {
        known_server(name, servers)?;
    }
    let ledger = setup::ledger_of(&loaded.config.ledger);
    let (changed, unknown) = changed(rules, servers, arguments.tool.as_deref(), &ledger).await?;
    if !arguments.json {
        changed.iter().for_each(show);
        for server in &unknown {
            output::note(format_args!(
                "the tools of {} are not known yet: `belljar servers` lists them",
                visible_line(server)
            ));
        }
    }
    let is_accepted = if changed.is_empty() {
        if !arguments.json {
            output::print("no pinned tool has changed");
        }
        false
    } else if arguments.yes {
        if !allow_yes {
            let hint = "--yes needs [approvals] allow_yes = true in your belljar.toml";
            return Err(Failure::usage("--yes is not allowed here: a person has to confirm", hint));
        }
        true
    } else if arguments.json {
        false
    } else {
        let code = consent::code()?;
        consent::types(&code, &format!("type {code} to accept {}: ", counted(changed.len(), "definition")))?;
        true
    };
    if is_accepted {
        // Exactly what was shown.
        let mut all: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for Changed { tool, now, .. } in &changed {
            all.entry(tool.server()).or_default().insert(tool.tool().to_owned(), now.clone());
        }
        for (server, tools) in all {
            let pins = Pins { rules: rules.name(), server: server.to_owned(), tools };
            ledger.accept_pins(pins).await.map_err(unusable)?;
        }
        if !arguments.json {
            output::say("accepted");
        }
    }
    if arguments.json {
        let changed: Vec<Value> = changed.iter().map(as_json).collect();
        output::print_json(&json!({ "accepted": is_accepted, "changed": changed, "unknown": unknown }));
    }
    Ok(if changed.is_empty() || is_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What has changed, line by line, with nothing that could act on a terminal or pass for belljar's
/// own words.
fn show(changed: &Changed) {
    let Changed { tool, before, now, warnings } = changed;
    let what = if before.is_some() { "has changed" } else { "is new" };
    output::print(format_args!("{} {what}", visible_line(&tool.to_string())));
    let before = before.as_deref().map(laid_out).unwrap_or_default();
    let now = laid_out(now);
    let difference = TextDiff::from_lines(&before, &now);
    for (at, group) in difference.grouped_ops(CONTEXT).iter().enumerate() {
        if at > 0 {
            output::print("    …");
        }
        for change in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let line = change.value();
            let line = visible_line(line.strip_suffix('\n').unwrap_or(line));
            match change.tag() {
                ChangeTag::Delete => output::print(format_args!("  {ERROR}- {line}{ERROR:#}")),
                ChangeTag::Insert => output::print(format_args!("  {GOOD}+ {line}{GOOD:#}")),
                ChangeTag::Equal => output::print(format_args!("    {line}")),
            }
        }
    }
    for warning in warnings {
        output::print(format_args!("  {WARNING}warning:{WARNING:#} {}", visible_line(warning)));
    }
}

fn as_json(changed: &Changed) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "tool": changed.tool.to_string(),
        "before": changed.before.as_deref().map(parsed),
        "now": parsed(&changed.now),
        "warnings": changed.warnings,
    })
}

fn known_server(name: &str, servers: &[ServerSpec]) -> Result<(), Failure> {
    let server = name.split('.').next().unwrap_or(name);
    if servers.iter().any(|spec| spec.name == server) {
        return Ok(());
    }
    let names = || servers.iter().map(|spec| spec.name.as_str());
    let hint = match nearest(server, names()) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("the servers are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::usage(format!("no server is called '{server}'"), hint))
}
