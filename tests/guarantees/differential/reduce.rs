//! Drops lines of a program as long as the rest still differs.

use std::time::{Duration, Instant};

use super::{all_here, node_says};

/// How long a program is reduced.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rounds of dropping: each makes the program shorter.
const ROUNDS: usize = 40;
/// Shorter programs that are tried in a round.
const TRIED: usize = 800;

/// A shorter program that differs too, with Node's result and the result here.
pub(super) async fn reduced(source: &str, found: &str) -> Option<(String, String, String)> {
    // A run that fails must still fail for the same reason, and other runs must not fail.
    let alike = |other: &str| if found.starts_with("ends: ") { other == found } else { !other.starts_with("ends: ") };
    let mut best = None;
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        if started.elapsed() > PATIENCE {
            break;
        }
        let candidates: Vec<Vec<String>> = shorter(&lines);
        let texts: Vec<String> = candidates.iter().map(|lines| lines.join("\n")).collect();
        let node = node_says("answers.mjs", &[], &serde_json::to_string(&texts).unwrap());
        let node: Vec<String> = serde_json::from_value(node).unwrap();
        let valid: Vec<usize> = (0..texts.len()).filter(|index| is_whole(&node[*index])).collect();
        let sources: Vec<&str> = valid.iter().map(|index| texts[*index].as_str()).collect();
        let here = all_here(&sources).await;
        let differing = valid.iter().zip(here).filter(|(index, here)| node[**index] != *here && alike(here));
        let Some((index, here)) = differing.min_by_key(|(index, _)| texts[**index].len()) else { break };
        lines.clone_from(&candidates[*index]);
        best = Some((texts[*index].clone(), node[*index].clone(), here));
        if lines.len() <= 1 {
            break;
        }
    }
    best
}

/// Node found it to be a valid program that ends.
fn is_whole(result: &str) -> bool {
    !matches!(result, "throws SyntaxError" | "throws ReferenceError" | "never ends" | "is not caught")
}

/// Variants without some of the lines: pieces of all sizes, and blocks with or without their
/// contents.
fn shorter(lines: &[String]) -> Vec<Vec<String>> {
    let without = |from: usize, to: usize| [&lines[..from], &lines[to..]].concat();
    let mut all = Vec::new();
    for (open, line) in lines.iter().enumerate() {
        if line.ends_with(['{', '(']) || line.contains("{ ") {
            for close in (open + 1..lines.len()).filter(|close| lines[*close].starts_with(['}', ')'])).take(4) {
                all.push(without(open, close + 1));
                all.push([&lines[..open], &lines[open + 1..close], &lines[close + 1..]].concat());
            }
        }
    }
    let mut size = lines.len() / 2;
    while size > 0 {
        all.extend((0..lines.len()).step_by(size).map(|from| without(from, (from + size).min(lines.len()))));
        size /= 2;
    }
    all.sort_by_key(|lines| lines.iter().map(String::len).sum::<usize>());
    all.truncate(TRIED);
    all
}
