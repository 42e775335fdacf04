//! `belljar check`: judges the calls in a script. The script is not run, and no server is started.

use std::{path::PathBuf, process::ExitCode};

use belljar_gateway::{CallPlan, ScriptPlan};
use belljar_sandbox::{KnownArguments, Reach};
use clap::Args;
use serde_json::{Value, json};

use super::source;
use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    output::{self, ERROR, visible, visible_line},
    setup::{self, Setup},
};

#[derive(Args)]
pub(crate) struct CheckArguments {
    /// The script; without a file, or with -, it is read from stdin.
    #[arg(value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
    /// The script itself.
    #[arg(long, value_name = "TEXT")]
    pub(crate) code: Option<String>,
    /// The profile that rules see, as given to belljar serve --profile.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Characters of arguments that are shown.
const MAX_SHOWN: usize = 100;
/// Stands for values that are not known before the script runs.
const GAP: &str = "…";

pub(crate) async fn check(arguments: CheckArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read_to_call(&arguments.config)?;
    let script = match arguments.code {
        Some(code) => code,
        None => source::read(arguments.file.as_deref(), "a script", loaded.limits().max_source.as_u64())?,
    };
    if script.trim().is_empty() {
        return Err(Failure::usage("the script is empty", "belljar check --help shows how to name one"));
    }
    let setup = Setup::of(loaded);
    let mut gateway = setup.gateway().await?;
    if let Some(profile) = &arguments.profile {
        gateway = gateway.with_profile(profile);
    }
    let plan = gateway.plan(script).await;
    setup.toolbox.shutdown().await;
    let fails = |call: &CallPlan| call.call.fatal && call.is_certain && call.problem.is_some();
    let is_ok = plan.error.is_none() && !plan.calls.iter().any(fails);
    if arguments.json {
        output::print_json(&as_json(&plan, is_ok));
    } else {
        show(&plan);
    }
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_json(plan: &ScriptPlan, is_ok: bool) -> Value {
    let call = |each: &CallPlan| {
        json!({
            "tool": each.tool,
            "line": each.call.line,
            "column": each.call.column,
            "reach": each.call.reach,
            "loop": each.call.in_loop,
            "effect": each.effect,
            "verdict": each.verdict,
            "rule": each.rule,
            "arguments": each.call.arguments,
            "problem": each.problem,
            "certain": each.is_certain,
            "hint": each.hint,
        })
    };
    json!({
        "ok": is_ok,
        "calls": plan.calls.iter().map(call).collect::<Vec<_>>(),
        "more": plan.more,
        "others": plan.others,
        "error": plan.error,
    })
}

fn show(plan: &ScriptPlan) {
    let rows: Vec<[String; 5]> = plan.calls.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2), width(3), width(4)];
    for (row, call) in rows.iter().zip(&plan.calls) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.chain(arguments(call)).collect::<Vec<_>>().join("  ");
        output::print(line.trim_end());
        if let Some(problem) = &call.problem {
            let word = if call.is_certain { "would fail" } else { "may fail" };
            output::print(format_args!("    {ERROR}{word}:{ERROR:#} {}", visible(problem)));
        }
        if let Some(hint) = &call.hint {
            output::print(format_args!("    hint: {}", visible(hint)));
        }
    }
    match (plan.more, plan.others) {
        (0, _) => {}
        (more, _) => output::print(format_args!("and {more} more")),
    }
    if plan.others {
        output::print("and calls that the script chooses while it runs");
    } else if plan.calls.is_empty() && plan.error.is_none() {
        output::print("the script calls no tool");
    }
    if let Some(error) = &plan.error {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!("{line}:{column}: "),
            _ => String::new(),
        };
        output::print(format_args!("{place}{ERROR}{}{ERROR:#}: {}", error.kind, visible(&error.message)));
        if let Some(frame) = &error.frame {
            output::print(visible(frame));
        }
        if let Some(hint) = &error.hint {
            output::print(format_args!("hint: {}", visible(hint)));
        }
    }
}

/// A call as a row: its position, certainty, tool, effect and verdict.
fn row(plan: &CallPlan) -> [String; 5] {
    let call = &plan.call;
    let reach = match call.reach {
        Reach::Certain => "always",
        Reach::Possible => "maybe",
        Reach::Guarded => "guarded",
    };
    let effect = plan.effect.map_or_else(|| "not known".to_owned(), |effect| effect.to_string());
    let verdict = match (plan.verdict, &plan.rule) {
        (Some(verdict), Some(rule)) => format!("{verdict} by '{}'", visible_line(rule)),
        (Some(verdict), None) => verdict.to_string(),
        (None, _) if plan.effect.is_none() => String::new(),
        (None, _) => "decided at the call".to_owned(),
    };
    let many = if call.in_loop { ", loop" } else { "" };
    [
        format!("{}:{}", call.line, call.column),
        format!("{reach}{many}"),
        visible_line(&plan.tool).to_string(),
        effect,
        verdict,
    ]
}

fn arguments(plan: &CallPlan) -> Option<String> {
    let Some(known) = &plan.call.arguments else { return Some(GAP.to_owned()) };
    let shown = object(known, &known.value, "");
    let mut short: String = shown.chars().take(MAX_SHOWN).collect();
    if short.len() < shown.len() {
        short.push_str(GAP);
    }
    Some(visible_line(&short).to_string())
}

/// Arguments on one line, with the gaps in them.
fn shown(known: &KnownArguments, value: &Value, place: &str) -> String {
    let is_at = |places: &[String]| places.iter().any(|other| other == place);
    match value {
        _ if is_at(&known.unknown) => GAP.to_owned(),
        _ if is_at(&known.texts) => format!("\"{GAP}\""),
        Value::Object(members) => object(known, members, place),
        Value::Array(elements) => {
            let element = |(at, element)| shown(known, element, &format!("{place}/{at}"));
            format!("[{}]", elements.iter().enumerate().map(element).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

fn object(known: &KnownArguments, members: &serde_json::Map<String, Value>, place: &str) -> String {
    let member = |(name, value): (&String, &Value)| {
        let pointer = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        format!("{}: {}", Value::from(name.as_str()), shown(known, value, &pointer))
    };
    let mut all: Vec<String> = members.iter().map(member).collect();
    if known.open.iter().any(|open| open == place) {
        all.push(GAP.to_owned());
    }
    format!("{{{}}}", all.join(", "))
}
