//! The same script with the same answers uses the same fuel: the host hands over one answer at a
//! time, in an order that it records.

use std::{sync::Arc, time::Duration};

use belljar_model::{Effect, Limits, Outcome};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support;

const CALLS: u64 = 40;

/// Forty calls at once that answer at random times, and some work on their answers.
pub(crate) const SCRIPT: &str = "
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => box.answer({ i })));
    const names = answers.map(each => each.name).sort();
    return JSON.stringify(names).length + answers.reduce((sum, each) => sum + each.i, 0);
";

/// Some computing, without tools.
pub(crate) const WORDS: &str = "
    const words = 'the quick brown fox jumps over the lazy dog'.split(' ');
    const counts = new Map();
    for (let i = 0; i < 2000; i++) counts.set(words[i % words.length] + (i % 7), i);
    return [...counts].filter(([word]) => /o/.test(word)).sort(([a], [b]) => a < b ? -1 : 1).length;
";

/// Three calls that end in another order than they began in: each ends when its turn has come.
pub(crate) const ORDER: &str = "
    const order = [];
    await Promise.all(['third', 'first', 'second'].map(async name => {
        order.push(await box[name]({}));
        await box.next({});
    }));
    return order;
";

/// The tools of [`ORDER`], for one run.
pub(crate) fn in_turn() -> ToolSet {
    let (next, _) = watch::channel(0);
    let mut tools = ToolSet::new();
    for (place, name) in ["first", "second", "third"].into_iter().enumerate() {
        let turn = next.subscribe();
        tools = tools.with("box", name, Effect::ReadOnly, move |_| {
            let mut turn = turn.clone();
            async move {
                turn.wait_for(|turn| *turn == place).await.expect("the tool that gives turns is here too");
                Ok(json!(name))
            }
        });
    }
    tools.with("box", "next", Effect::Mutating, move |_| {
        next.send_modify(|turn| *turn += 1);
        async { Ok(Value::Null) }
    })
}

/// A dozen workers with two calls each, one of which fails between them.
pub(crate) const WORKERS: &str = "
    const got = [];
    const workers = Array.from({ length: 12 }, async (_, i) => {
        const answer = await box.answer({ i });
        got.push(answer.name);
        if (i === 7) throw new Error(got.length + ' came before');
        await box.answer({ i: i + 20 });
    });
    const ended = await Promise.allSettled(workers);
    return null[ended.length];
";

/// Answers after a delay that differs for each round; the answer itself is the same.
pub(crate) fn tools(round: u64, delays: fn(u64, u64) -> Duration) -> ToolSet {
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
    let outcome = support::sandbox().run(program).tools(Arc::new(tools(round, delays))).await;
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
        // All answers are there before the guest has handled the first.
        let program = Program::new(SCRIPT).with_seed([7; 32]).with_order(apart.order.clone());
        let together = run_program(program, 0, |_, _| Duration::ZERO).await;
        assert_eq!(together.usage.fuel, apart.usage.fuel);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_script_without_tools_uses_the_same_fuel_on_every_run_and_under_load() {
    let runs = (0..16).map(|_| tokio::spawn(support::run(WORDS)));
    let outcomes = futures::future::join_all(runs).await;
    let fuel: Vec<u64> = outcomes.into_iter().map(|outcome| outcome.unwrap().usage.fuel.unwrap()).collect();
    assert!(fuel.iter().all(|each| *each == fuel[0] && *each > 100_000), "{fuel:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_recorded_in_the_order_in_which_the_script_got_their_answers() {
    let outcome = support::run_with(ORDER, &Limits::default(), Arc::new(in_turn())).await;
    assert_eq!(outcome.result.unwrap().as_str(), r#"["first","second","third"]"#);
    let calls: Vec<_> = outcome.calls.iter().map(|call| call.tool.as_str()).filter(|tool| *tool != "next").collect();
    assert_eq!(calls, ["first", "second", "third"], "{:?}", outcome.calls);
}

/// Scripts of several kinds: only their fuel matters here, not their results.
pub(crate) const KINDS: [(&str, &str); 8] = [
    ("a sum", "1 + 1"),
    (
        "TypeScript",
        "enum E { A = 1, B } class C<T> { constructor(private readonly x: T) {} get y(): T { return this.x } } new C(E.B).y",
    ),
    (
        "tables",
        "const m = new Map(); for (let i = 0; i < 3000; i++) m.set('k' + (i * 7919) % 3001, { i }); [...m.values()].filter(({ i }) => i % 3).length",
    ),
    (
        "text",
        "'the quick brown fox '.repeat(200).split(' ').sort().join('-').replace(/[aeiou]/g, (v) => v.toUpperCase()).length",
    ),
    (
        "JSON",
        "JSON.parse(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, tags: ['a', 'b'], n: { x: null } })))).length",
    ),
    (
        "promises",
        "let n = 0; await Promise.all(Array.from({ length: 200 }, async (_, i) => { for (let k = 0; k < i % 5; k++) await null; n += i; })); n",
    ),
    (
        "randomness",
        "const s = []; for (let i = 0; i < 200; i++) s.push(Math.random()); s.sort((a, b) => a - b); crypto.randomUUID().length + s.length",
    ),
    ("a failure", "const deep = (n) => { if (n === 0) return null.property; return deep(n - 1) + 1 }; deep(50)"),
];

/// The fuel of one of these scripts, with a seed of its own.
async fn fuel_of(sandbox: &Sandbox, source: &str) -> u64 {
    let program = Program::new(source).with_seed([3; 32]);
    let outcome = sandbox.run(program).tools(Arc::new(support::tools())).await;
    outcome.usage.fuel.unwrap()
}

/// One slot, so that every run reuses the memory of the previous one.
fn one_slot() -> Sandbox {
    Sandbox::new(&Image::embedded(), SandboxOptions { max_live: 1, ..SandboxOptions::default() }).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ran_in_the_slot_before_does_not_change_the_fuel_of_a_script() {
    let dirt = [
        "const all = []; for (let i = 0; i < 40; i++) all.push(new Array(10000).fill(i)); all.length",
        "null.property",
        "const f = () => f() + 1; f()",
        "for (let i = 0; i < 20; i++) await box.echo({ i, text: 'x'.repeat(1000) })",
        "Object.prototype.polluted = 1; Array.prototype.map = null; globalThis.JSON = null; 1",
    ];
    let fresh = one_slot();
    let mut first = Vec::new();
    for (_, source) in KINDS {
        first.push(fuel_of(&fresh, source).await);
    }
    let used = one_slot();
    for (round, dirt) in dirt.iter().enumerate() {
        for ((kind, source), fuel) in KINDS.iter().zip(&first) {
            let outcome = used.run(Program::new(*dirt)).tools(Arc::new(support::tools())).await;
            assert!(outcome.usage.fuel.unwrap() > 0, "{outcome:?}");
            assert_eq!(fuel_of(&used, source).await, *fuel, "{kind}, after dirt {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_script_uses_the_same_fuel_beside_others() {
    let alone = one_slot();
    let mut first = Vec::new();
    for (_, source) in KINDS {
        first.push(fuel_of(&alone, source).await);
    }
    // Endless runs beside them, which yield at every tick and are dropped at the end.
    let mut load = tokio::task::JoinSet::new();
    for _ in 0..4 {
        load.spawn(support::run("while (true) {}"));
    }
    for _ in 0..3 {
        let runs = KINDS.map(|(_, source)| tokio::spawn(fuel_of(support::sandbox(), source)));
        for (((kind, _), fuel), run) in KINDS.iter().zip(&first).zip(runs) {
            assert_eq!(run.await.unwrap(), *fuel, "{kind}");
        }
    }
}

#[test]
fn every_process_uses_the_same_fuel_for_a_script() {
    let terminal = support::Terminal::new();
    // Without randomness, since a process on the command line draws its own seed.
    for (kind, source) in KINDS.iter().filter(|(kind, _)| *kind != "randomness") {
        let fuel = || {
            let answer = terminal.belljar(&["run", "--json", "--code", source]);
            answer.json()["usage"]["fuel"].as_u64().unwrap_or_else(|| panic!("{kind}: {answer:?}"))
        };
        let first = fuel();
        for _ in 0..2 {
            assert_eq!(fuel(), first, "{kind}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_in_the_midst_of_its_calls_uses_the_same_fuel_in_its_recorded_order() {
    let permuted = |round: u64, i: u64| Duration::from_millis((i * (2 * round + 1) + round * 7) % CALLS);
    let run = async |round: u64, order: Option<Vec<u64>>| {
        let program = Program { order, ..Program::new(WORKERS).with_seed([7; 32]) };
        support::sandbox().run(program).tools(Arc::new(tools(round, permuted))).await
    };
    let first = run(0, None).await;
    let message = first.result.as_ref().unwrap_err().message.clone();
    for round in 1..6 {
        let repeated = run(round, Some(first.order.clone())).await;
        assert_eq!(repeated.result.unwrap_err().message, message);
        assert_eq!(repeated.usage.fuel, first.usage.fuel, "round {round}");
    }
}
