//! What the host of a run provides for its script: functions, plain values, a prelude, names.
//!
//! Each script runs in this process and in a separate process, and is repeated from its recording.
//! All outcomes must be the same.

mod ended;
mod functions;
mod names;
mod preludes;
mod values;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use belljar_engine::{Engine, ProcessEngine};
use belljar_model::{ByteSize, Effect, Limits, Outcome, Recorded, RunError};
use belljar_recording::Recording;
use belljar_sandbox::{CallStyle, Program, SandboxOptions, ScriptValue, Thrown, Tool, ToolSet, Tools};
use belljar_worker::WorkerProgram;
use serde_json::Value;

use crate::support::{belljar, sandbox};

/// One engine in this process, and one in a process of its own.
async fn engines() -> [Engine; 2] {
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] };
    let apart = ProcessEngine::start(program, SandboxOptions::default()).await.unwrap();
    [sandbox().clone().into(), Arc::new(apart).into()]
}

/// The outcome of a program, the same wherever it runs and when it is repeated.
async fn outcome(program: Program, tools: ToolSet) -> Outcome {
    outcome_within(program, tools, &Limits::default()).await
}

async fn outcome_within(program: Program, tools: ToolSet, limits: &Limits) -> Outcome {
    let program = Program { seed: Some([5; 32]), ..program }.with_recording(ByteSize::mib(32));
    let tools: Arc<dyn Tools> = Arc::new(tools);
    let mut outcomes = Vec::new();
    for engine in engines().await {
        let mut outcome = engine.run(program.clone()).limits(limits).tools(tools.clone()).await;
        let Some(Recorded::Whole(bytes)) = outcome.recording.take() else { panic!("{outcome:#?}") };
        let recording = Recording::read(bytes).unwrap();
        let again = engine.replay(&recording, limits).await.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}"));
        assert_eq!(again.order, outcome.order);
        assert_same(&again, &outcome);
        outcomes.push(outcome);
    }
    let apart = outcomes.pop().unwrap();
    let here = outcomes.pop().unwrap();
    assert_same(&apart, &here);
    here
}

fn assert_same(one: &Outcome, other: &Outcome) {
    assert_eq!(one.result, other.result);
    assert_eq!(one.logs, other.logs);
    // Concurrent calls may be answered in another order, and then other work is done.
    if one.order == other.order {
        assert_eq!(one.usage.fuel, other.usage.fuel);
    }
    let calls = |outcome: &Outcome| -> Vec<(String, bool, Option<String>)> {
        outcome.calls.iter().map(|call| (call.tool.clone(), call.ok, call.error.clone())).collect()
    };
    assert_eq!(calls(one), calls(other));
}

/// The value of a program that must succeed.
async fn value(program: impl Into<Program>, tools: ToolSet) -> Value {
    let outcome = outcome(program.into(), tools).await;
    match &outcome.result {
        Ok(value) => value.to_value().unwrap(),
        Err(error) => panic!("it failed: {error:#?}"),
    }
}

/// The error of a program that must fail.
async fn error(program: impl Into<Program>, tools: ToolSet) -> RunError {
    outcome(program.into(), tools).await.result.expect_err("it must fail")
}

/// A host `host` with a function `give` that returns the next of these values, and a function
/// `take` that returns its argument, both called by position.
fn host(gives: Vec<ScriptValue>) -> ToolSet {
    let next = Arc::new(AtomicUsize::new(0));
    let give = move |_: Vec<ScriptValue>| {
        let at = next.fetch_add(1, Relaxed) % gives.len().max(1);
        let given = gives.get(at).cloned();
        async move { given.ok_or_else(|| Thrown::new("there is nothing to give")) }
    };
    ToolSet::new().with_plain("host", CallStyle::Positional, Tool::new("give", Effect::ReadOnly), give).with_plain(
        "host",
        CallStyle::Positional,
        Tool::new("take", Effect::Mutating),
        async |given| Ok(ScriptValue::List(given)),
    )
}
