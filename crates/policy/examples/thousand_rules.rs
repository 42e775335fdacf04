//! Measures a decision among a thousand rules: `cargo run --release -p belljar-policy --example
//! thousand_rules`.

use std::{
    hint::black_box,
    io::{self, Write as _},
    sync::Arc,
    time::Instant,
};

use belljar_model::{EffectRules, ToolDefinition, ToolPath};
use belljar_policy::{Call, Caller, Policy, absolute_folder};
use serde_json::json;

const RULES: usize = 1_000;
const ROUNDS: u32 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // All for one tool, on four arguments; none of them matches, so each is evaluated.
    let of_one_tool = (0..RULES).map(|at| {
        let condition = match at % 4 {
            0 => format!("args.amount = {{ min = {} }}", 1_000 + at),
            1 => format!("args.currency = {{ is = 'c{at}' }}"),
            2 => format!("args.customer = {{ in = ['a{at}', 'b{at}', 'd{at}'] }}"),
            _ => format!("args.count = {{ max = -{at} }}"),
        };
        rule(at, "s.pay", &condition)
    });
    // Ten for each of a hundred tools.
    let of_many_tools = (0..RULES)
        .map(|at| rule(at, &format!("s.t{}", at % 100), &format!("args.amount = {{ min = {} }}", 1_000 + at)));
    let mut out = io::stdout().lock();
    for (name, rules, tool) in [
        ("1,000 rules on scalars of one tool", of_one_tool.collect::<String>(), "pay"),
        ("1,000 rules over 100 tools", of_many_tools.collect::<String>(), "t7"),
    ] {
        let policy = Arc::new(Policy::parse(&format!("default = 'allow'\n{rules}"), &absolute_folder)?);
        let definition = ToolDefinition::from_json(json!({ "name": tool }))?;
        let tool = policy.for_tool(&ToolPath::new("s", tool), EffectRules::default().trusted(&definition));
        let arguments = json!({ "amount": 12.5, "currency": "usd", "customer": "c", "count": 3 });
        let Some(arguments) = arguments.as_object() else { continue };
        let call = Call { caller: Caller::default(), arguments, places: &(), history: &(), at: None };
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let begun = Instant::now();
            for _ in 0..ROUNDS {
                black_box(tool.decide(black_box(&call)));
            }
            best = best.min(begun.elapsed().as_secs_f64() / f64::from(ROUNDS));
        }
        writeln!(out, "{name}: {:.2} µs a decision", best * 1e6)?;
    }
    Ok(())
}

fn rule(at: usize, tool: &str, condition: &str) -> String {
    format!("[[rule]]\nid = 'r{at}'\ntools = '{tool}'\n{condition}\nthen = 'deny'\n")
}
