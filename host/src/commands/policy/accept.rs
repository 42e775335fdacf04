//! `belljar policy accept`: the owner accepts the current definitions of tools. No server is
//! started.

use std::{collections::BTreeMap, process::ExitCode};

use belljar_ledger::{Ledger as _, LedgerError, PinnedServer, Pins};
use belljar_model::{ServerSpec, ToolPath, nearest};
use belljar_policy::{laid_out, pinned, suspicions};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::arguments::PolicyAcceptArguments;
use crate::{
    consent,
    failure::Failure,
    output::{self, ERROR, GOOD, WARNING, visible_line},
    policy::{self, LoadedPolicy},
    render::count::counted,
    setup,
};

/// Lines around a difference.
const CONTEXT: usize = 2;

/// A tool that differs from its pin.
pub(super) struct Changed {
    pub(super) tool: ToolPath,
    before: Option<String>,
    now: String,
    warnings: Vec<String>,
}

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
    let (changed, unknown) = self::changed(rules, servers, arguments.tool.as_deref(), &ledger).await?;
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
            let hint = "your belljar.toml would have to say [approvals] allow_yes = true";
            return Err(Failure::usage("--yes is not allowed here: a person has to type", hint));
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

/// The tools that differ from their pins, and the servers for which that is unknown. A server that
/// is checked for the first time is pinned.
pub(super) async fn changed(
    rules: &LoadedPolicy,
    servers: &[ServerSpec],
    only: Option<&str>,
    ledger: &belljar_ledger::SqliteLedger,
) -> Result<(Vec<Changed>, Vec<String>), Failure> {
    let is_meant = |tool: &ToolPath| {
        only.is_none_or(|only| only == tool.server() || only.parse::<ToolPath>().is_ok_and(|only| only == *tool))
    };
    let is_wanted =
        |name: &str| rules.policy.pins_server(name) && only.is_none_or(|only| only.split('.').next() == Some(name));
    let lists = policy::lists(servers, None, is_wanted);
    let (mut changed, mut unknown) = (Vec::new(), Vec::new());
    for (spec, listed) in servers.iter().zip(lists) {
        let Some(listed) = listed else {
            if is_wanted(&spec.name) {
                unknown.push(spec.name.clone());
            }
            continue;
        };
        let path = |tool: &str| ToolPath::new(&spec.name, tool);
        let of_pins = listed.tools.iter().filter(|tool| rules.policy.is_pinned(&path(&tool.name)));
        let tools: BTreeMap<String, String> = of_pins.map(|tool| (tool.name.clone(), pinned(tool))).collect();
        let pins = Pins { rules: rules.name(), server: spec.name.clone(), tools };
        let PinnedServer { tools: before, .. } = ledger.pins(pins.clone()).await.map_err(unusable)?;
        for (tool, now) in pins.tools {
            let before = before.get(&tool).cloned();
            if before.as_ref() == Some(&now) || !is_meant(&path(&tool)) {
                continue;
            }
            let definition = listed.tools.iter().find(|listed| listed.name == tool);
            let found = definition.map(suspicions).unwrap_or_default();
            let warnings = found.into_iter().map(|found| format!("{}: {}", found.place, found.problem)).collect();
            changed.push(Changed { tool: path(&tool), before, now, warnings });
        }
    }
    Ok((changed, unknown))
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

fn unusable(fault: LedgerError) -> Failure {
    Failure::config(fault.to_string(), fault.hint())
}
