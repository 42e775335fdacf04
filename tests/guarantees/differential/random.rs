//! Seeded random programs, judged by Node while the test runs.

use futures::{StreamExt as _, stream};
use serde_json::Value;

use super::{Judged, all_here, difference, here, node_says, reduce::reduced};

/// The number of programs that one call of Node makes.
const PORTION: u32 = 500;
/// The result of a program that the engine cannot read. Its author is told, so nothing differs
/// silently.
const REFUSED: &str = "ends: SyntaxError";
/// At most one in this many may be refused.
const REFUSED_OF: usize = 1_000;
/// How many differing programs are reduced: reducing one takes seconds.
const REDUCED: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_random_programs_give_what_node_gives() {
    hunt("belljar", 5_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "as many programs as one likes: tests/differential/hunt SEED COUNT"]
async fn a_hunt_for_programs_that_differ() {
    let seed = std::env::var("BELLJAR_HUNT_SEED").expect("tests/differential/hunt sets a seed");
    let count = std::env::var("BELLJAR_HUNT_COUNT").expect("tests/differential/hunt sets a count");
    hunt(&seed, count.parse().expect("a count")).await;
}

/// Asserts that none of these programs differs silently, and hardly any is refused. The same seed
/// makes the same programs.
async fn hunt(seed: &str, count: u32) {
    let portions = (0..count).step_by(PORTION as usize).map(|from| {
        let arguments = [seed.to_owned(), from.to_string(), PORTION.min(count - from).to_string()];
        tokio::task::spawn_blocking(move || made(&arguments))
    });
    // Node makes the next portion while this one runs.
    let mut portions = stream::iter(portions).buffered(2);
    let (mut judged, mut refused, mut differences) = (0, 0, Vec::new());
    while let Some(portion) = portions.next().await {
        let portion = portion.unwrap();
        judged += portion.len();
        let sources: Vec<&str> = portion.iter().map(|program| program.source.as_str()).collect();
        let results = all_here(&sources).await;
        for (program, found) in portion.iter().zip(results) {
            if found.starts_with(REFUSED) {
                refused += 1;
            } else if found != program.node {
                differences.push(told(program, &found, differences.len() < REDUCED).await);
            }
        }
    }
    assert_eq!(judged, count as usize);
    assert!(refused <= judged / REFUSED_OF, "{refused} of {count} programs are refused");
    assert!(differences.is_empty(), "{} of {count} programs differ\n{}", differences.len(), differences.join("\n"));
}

/// Some of a seed's programs.
fn made(arguments: &[String]) -> Vec<Judged> {
    let rows = node_says("made.mjs", arguments, "");
    let text = |row: &Value, index: usize| row[index].as_str().unwrap().to_owned();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| Judged { name: text(row, 0), source: text(row, 1), node: text(row, 2) }).collect()
}

async fn told(program: &Judged, found: &str, reduce: bool) -> String {
    let Judged { name, source, node } = program;
    let alone = here(source).await;
    if alone == *node {
        return difference(&format!("{name}, in a run with others and not alone"), source, node, found);
    }
    if !reduce {
        return difference(name, source, node, &alone);
    }
    let (source, node, found) = reduced(source, &alone).await.unwrap_or_else(|| (source.clone(), node.clone(), alone));
    difference(name, &source, &node, &found)
}
