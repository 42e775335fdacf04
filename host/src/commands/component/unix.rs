//! Runs, replays and plans a component, in a process of its own.

use std::{path::Path, process::ExitCode};

use belljar_gateway::{CallPlan, ComponentJob, ComponentPlan, Gateway};
use belljar_ledger::Asker;
use belljar_model::{LimitsPatch, Outcome};
use belljar_sandbox::Recording;
use belljar_upstream::Caller;
use futures::FutureExt as _;
use serde_json::{Value, json, value::to_raw_value};

use crate::{
    approvals::{self, TerminalDesk},
    backend,
    commands::{
        recording::RecordingFile,
        run::{RunArguments, show},
        source,
    },
    environment,
    failure::Failure,
    output::{self, ERROR, visible, visible_line},
    render,
    setup::{self, Loaded, Setup},
    signals,
};

/// The largest file, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The most bytes of an input.
const MAX_INPUT: usize = 1 << 20;
/// The origin of its runs in the ledger.
const ORIGIN: &str = "run";

pub(in crate::commands) async fn run(file: &Path, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    if arguments.workspace.workspace.is_some() {
        return Err(Failure::usage(
            "--workspace is for scripts: a component has no artifacts and keeps nothing",
            "leave it out",
        ));
    }
    let recording = arguments.record.as_deref().map(RecordingFile::new).transpose()?;
    let input = arguments.input.as_deref().map(checked).transpose()?;
    let loaded = setup::read_to_call(&arguments.config)?;
    let job = job(file, input)?;
    if arguments.plan {
        plan(loaded, &job, arguments).await
    } else {
        executed(loaded, (file, &job), arguments, recording).await
    }
}

/// Repeats a recorded run of a component.
pub(in crate::commands) async fn replay(
    file: &Path,
    loaded: Loaded,
    recording: &Recording,
) -> Result<Outcome, Failure> {
    let job = job(file, None)?;
    let gateway = Setup::of(loaded).gateway().await?;
    Ok(gateway.replay_component(&job, recording).await?)
}

fn job(file: &Path, input: Option<String>) -> Result<ComponentJob, Failure> {
    let file = source::read_bytes(file, "a component", MAX_BYTES)?;
    let program = environment::own_worker(setup::COMPONENT).ok_or_else(|| {
        Failure::internal("belljar's own program cannot be found, but it is needed to start the component's process")
    })?;
    Ok(ComponentJob { program, file, input })
}

async fn executed(
    loaded: Loaded,
    (file, job): (&Path, &ComponentJob),
    arguments: &RunArguments,
    recording: Option<RecordingFile>,
) -> Result<ExitCode, Failure> {
    let max_recording = loaded.config.ledger.max_recording;
    let told_to_end = signals::told_to_end();
    let desk = TerminalDesk::open(&loaded)?;
    let limits = backend::raised(&arguments.limits.patch, &loaded.limits());
    let setup = Setup::of(loaded);
    let at_terminal = approvals::at_terminal(desk.as_ref().map(TerminalDesk::id));
    // Such a run is never put aside.
    let asked = approvals::asked(&setup.approvals, at_terminal, false);
    let mut gateway = setup.gateway().await?.with_limits(limits).with_approvals(asked);
    gateway = gateway.with_origin(ORIGIN).with_asker(Asker::default());
    if let Some(level) = arguments.ledger {
        gateway = gateway.with_ledger_level(level);
    }
    if recording.is_some() {
        gateway = gateway.with_recording(max_recording);
    }
    let progress = render::progress::show(setup.toolbox.upstream());
    let unchanged = LimitsPatch::default();
    let outcome = gateway.run_component(job, &unchanged, Caller::default(), told_to_end.boxed()).await;
    progress.end().await;
    let shown = to_raw_value(&outcome).map_err(|error| Failure::internal(error.to_string()));
    let code = shown.and_then(|shown| show(&shown, arguments.json));
    let code = code.and_then(|code| match &recording {
        Some(recording) => recording.write(outcome.recording.as_ref(), Some(file)).map(|()| code),
        None => Ok(code),
    });
    futures::join!(setup.toolbox.shutdown(), setup.told.close());
    code
}

async fn plan(loaded: Loaded, job: &ComponentJob, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::of(loaded);
    let gateway: Gateway = setup.gateway().await?;
    let plan = gateway.plan_component(job).await;
    setup.toolbox.shutdown().await;
    let plan = plan?;
    if arguments.json {
        output::print_json(&as_json(&plan));
    } else {
        print(&plan);
    }
    Ok(ExitCode::SUCCESS)
}

/// An input that is JSON.
fn checked(input: &str) -> Result<String, Failure> {
    if input.len() > MAX_INPUT {
        let text = format!("the input has {} bytes; the limit is {MAX_INPUT}", input.len());
        return Err(Failure::usage(text, "pass data through tools instead"));
    }
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(input);
    parsed.map_err(|error| Failure::usage(format!("the input is not JSON: {error}"), r#"as in --input '{"n": 1}'"#))?;
    Ok(input.to_owned())
}

fn as_json(plan: &ComponentPlan) -> Value {
    let tool = |each: &CallPlan| {
        json!({
            "tool": each.tool,
            "effect": each.effect,
            "verdict": each.verdict,
            "rule": each.rule,
            "problem": each.problem,
            "hint": each.hint,
        })
    };
    let unavailable = |(server, reason): &(String, String)| json!({ "server": server, "reason": reason });
    json!({
        "ok": true,
        "interfaces": plan.imports.interfaces,
        "any_tool": !plan.imports.any_tool.is_empty(),
        "takes_input": plan.imports.run.takes_input,
        "tools": plan.tools.iter().map(tool).collect::<Vec<_>>(),
        "unavailable": plan.unavailable.iter().map(unavailable).collect::<Vec<_>>(),
    })
}

fn print(plan: &ComponentPlan) {
    if !plan.imports.any_tool.is_empty() {
        output::print("the component can call any tool, which it chooses while it runs:");
    } else if plan.tools.is_empty() {
        output::print("the component can call no tool");
    }
    let rows: Vec<[String; 3]> = plan.tools.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    for (row, tool) in rows.iter().zip(&plan.tools) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        output::print(cells.collect::<Vec<_>>().join("  ").trim_end());
        if let Some(problem) = &tool.problem {
            output::print(format_args!("    {ERROR}would fail:{ERROR:#} {}", visible(problem)));
        }
    }
    for (server, reason) in &plan.unavailable {
        let (server, reason) = (visible_line(server), visible_line(reason));
        output::print(format_args!("{server}.*: its tools are not known, since it is not available: {reason}"));
    }
}

/// A tool, its effect, and what the owner's rules say.
fn row(plan: &CallPlan) -> [String; 3] {
    let effect = plan.effect.map_or_else(|| "not known".to_owned(), |effect| effect.to_string());
    let verdict = match (plan.verdict, &plan.rule) {
        (Some(verdict), Some(rule)) => format!("{verdict} by '{}'", visible_line(rule)),
        (Some(verdict), None) => verdict.to_string(),
        (None, _) => "decided at the call".to_owned(),
    };
    [visible_line(&plan.tool).to_string(), effect, verdict]
}
