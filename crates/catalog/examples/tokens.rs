//! Prints what tools cost of a model's context:
//! `cargo run -p belljar-catalog --example tokens --release`
//!
//! It compares the definitions of all tools with belljar's two definitions plus what a task looks
//! up, over the tool lists in `testdata`. A task that needs `k` tools searches `k` times. It
//! assumes that nobody knows a tool's name, or finds two tools with one search.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../measures/mod.rs"]
mod measures;

use measures::{
    List,
    context::{direct, float, look_up, own_definitions},
    lists,
};

/// Tools that a task needs.
const NEEDED: [f64; 3] = [1.0, 3.0, 10.0];

fn main() {
    let own = own_definitions();
    let all = lists();
    let three = ["notion", "playwright", "chrome-devtools"];
    let three: Vec<List> = all.iter().filter(|(name, _)| three.contains(&name.as_str())).cloned().collect();
    println!("belljar's two definitions: {own} tokens (names, descriptions, input schemas; o200k)\n");
    println!(
        "| servers | definitions of all tools | tools needed | belljar, by signatures | saved | belljar, by declarations | saved |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, lists) in [("Notion, Playwright, Chrome DevTools", &three), ("all ten", &all)] {
        let tools: usize = lists.iter().map(|(_, tools)| tools.len()).sum();
        let (direct, look_up) = (float(direct(lists)), look_up(lists));
        for needed in NEEDED {
            let brief = float(own) + needed * look_up.brief;
            let full = brief + needed * look_up.full;
            let saved = |used: f64| 100.0 * (1.0 - used / direct);
            println!(
                "| {name} ({tools} tools) | {direct} | {needed} | {brief:.0} | {:.1} % | {full:.0} | {:.1} % |",
                saved(brief),
                saved(full)
            );
        }
        let even = (direct - float(own)) / (look_up.brief + look_up.full);
        println!("| {name} | | {even:.0} | | | as much as all definitions | 0 % |");
    }
    println!("\nOne server alone, and a task that needs one tool of it:\n");
    println!("| server | tools | definitions of all tools | belljar, by declarations | cheaper |");
    println!("|---|---|---|---|---|");
    for list in &all {
        let alone = std::slice::from_ref(list);
        let (direct, look_up) = (float(direct(alone)), look_up(alone));
        let used = float(own) + look_up.brief + look_up.full;
        let cheaper = if direct < used { "all definitions" } else { "belljar" };
        println!("| {} | {} | {direct} | {used:.0} | {cheaper} |", list.0, list.1.len());
    }
}
