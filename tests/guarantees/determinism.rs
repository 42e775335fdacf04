//! The same script with the same answers uses the same fuel: the host hands over one answer at a time, in an order it records.

use std::{sync::Arc, time::Duration};

use belljar_model::{Effect, Limits, Outcome};
use belljar_sandbox::{Program, ToolSet};
use serde_json::{Value, json};

use crate::support;

const CALLS: u64 = 40;

/// Forty calls at once, of which each answers when it pleases, and some work on what they brought.
const SCRIPT: &str = "
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => box.answer({ i })));
    const names = answers.map(each => each.name).sort();
    return JSON.stringify(names).length + answers.reduce((sum, each) => sum + each.i, 0);
";

/// Answers after a delay of its own choice, which differs for each round; what it answers does not.
fn tools(round: u64, delays: fn(u64, u64) -> Duration) -> ToolSet {
    ToolSet::new().with("box", "answer", Effect::ReadOnly, move |arguments| async move {
        let i = arguments.get("i").and_then(Value::as_u64).unwrap();
        tokio::time::sleep(delays(round, i)).await;
        Ok(json!({ "i": i, "name": format!("name {i:02}") }))
    })
}

async fn run(round: u64, delays: fn(u64, u64) -> Duration) -> Outcome {
    run_program(Program::new(SCRIPT).with_seed([7; 32]), round, delays).await
}

async fn run_program(program: Program, round: u64, delays: fn(u64, u64) -> Duration) -> Outcome {
    let outcome = support::sandbox().run(program, &Limits::default(), Arc::new(tools(round, delays))).await;
    assert!(outcome.is_ok(), "{outcome:#?}");
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_repeated_in_its_recorded_order_uses_the_same_fuel_whatever_order_its_calls_finish_in() {
    // Another permutation of the delays in each round.
    let permuted = |round: u64, i: u64| Duration::from_millis((i * (2 * round + 1) + round * 7) % CALLS);
    let first = run(0, permuted).await;
    assert_eq!(first.order.len() as u64, CALLS);
    for round in 1..8 {
        let program = Program::new(SCRIPT).with_seed([7; 32]).with_order(first.order.clone());
        let repeated = run_program(program, round, permuted).await;
        assert_eq!(repeated.order, first.order);
        assert_eq!(repeated.result, first.result);
        assert_eq!(repeated.usage.fuel, first.usage.fuel, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_value_does_not_depend_on_the_order_in_which_calls_finish() {
    let permuted = |round: u64, i: u64| Duration::from_millis((i * (2 * round + 1) + round * 7) % CALLS);
    let first = run(0, permuted).await;
    for round in 1..5 {
        let other = run(round, permuted).await;
        assert_ne!(other.order, first.order, "the calls were to finish in another order");
        assert_eq!(other.result, first.result);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_come_together_cost_what_answers_that_come_apart_do() {
    let apart = run(0, |_, i| Duration::from_millis(4 * i)).await;
    for _ in 0..5 {
        // All of them are there before the guest has worked off the first.
        let program = Program::new(SCRIPT).with_seed([7; 32]).with_order(apart.order.clone());
        let together = run_program(program, 0, |_, _| Duration::ZERO).await;
        assert_eq!(together.usage.fuel, apart.usage.fuel);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_script_without_tools_uses_the_same_fuel_on_every_run_and_under_load() {
    let source = "
        const words = 'the quick brown fox jumps over the lazy dog'.split(' ');
        const counts = new Map();
        for (let i = 0; i < 2000; i++) counts.set(words[i % words.length] + (i % 7), i);
        return [...counts].filter(([word]) => /o/.test(word)).sort(([a], [b]) => a < b ? -1 : 1).length;
    ";
    let runs = (0..16).map(|_| tokio::spawn(support::run(source)));
    let outcomes = futures::future::join_all(runs).await;
    let fuel: Vec<u64> = outcomes.into_iter().map(|outcome| outcome.unwrap().usage.fuel.unwrap()).collect();
    assert!(fuel.iter().all(|each| *each == fuel[0] && *each > 100_000), "{fuel:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_recorded_in_the_order_in_which_the_script_got_their_answers() {
    let source = "
        const order = [];
        await Promise.all([60, 10, 35].map(ms => box.wait({ ms }).then(waited => order.push(waited))));
        return order;
    ";
    let outcome = support::run(source).await;
    assert_eq!(outcome.result.unwrap().as_str(), "[10,35,60]");
    let waited: Vec<bool> = outcome.calls.windows(2).map(|pair| pair[0].ms <= pair[1].ms).collect();
    assert_eq!(waited, [true, true], "{:?}", outcome.calls);
}
