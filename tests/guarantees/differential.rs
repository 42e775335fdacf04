//! Programs give here what they give in Node: some are generated, others collected (`tests/differential/generate.mjs`), and Node 20
//! has written down its results. What differs is on a list, with the reason.

use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};

use crate::support::run;

/// A name, a program, and what Node makes of it.
type Program = (String, String, String);

/// The name of a program, what it gives here, and why that is, or stays, so.
type Known = (String, String, String);

/// Programs under way at the same time.
const AT_ONCE: usize = 4;
/// Characters of a result that a message shows.
const SHOWN: usize = 600;

async fn here(source: &str) -> String {
    let script = format!(
        "try {{ return JSON.stringify(await (async () => {{\n{source}\n}})()) ?? 'undefined' }} catch (e) {{ return 'throws ' + e?.name }}"
    );
    let outcome = run(&script).await;
    match &outcome.result {
        Ok(value) => value.to_value().unwrap().as_str().unwrap_or_default().to_owned(),
        Err(error) => format!("ends: {}", error.message),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_programs_and_more_give_what_node_gives() {
    let programs: Vec<Program> = serde_json::from_str(include_str!("../differential/programs.json")).unwrap();
    let known: Vec<Known> = serde_json::from_str(include_str!("../differential/known.json")).unwrap();
    assert!(known.iter().all(|(_, _, why)| why.len() > 20), "a difference has a reason");
    let count = programs.len();
    let mut known: BTreeMap<String, String> = known.into_iter().map(|(name, here, _)| (name, here)).collect();
    assert!(count - known.len() >= 500, "{count} programs, of which {} are known to differ", known.len());

    let results = stream::iter(programs).map(async |(name, source, node)| {
        let found = here(&source).await;
        (name, source, node, found)
    });
    let results: Vec<_> = results.buffered(AT_ONCE).collect().await;
    let mut differences = Vec::new();
    for (name, source, node, found) in results {
        let expected = known.remove(&name).unwrap_or(node);
        if found != expected {
            let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
            let at = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
            let near = |text: &str| shown(text.get(at.saturating_sub(40)..).unwrap_or(text));
            differences.push(format!(
                "{name}\n{}\n---- expected, from byte {at}\n{}\n---- found\n{}\n",
                shown(&source),
                near(&expected),
                near(&found)
            ));
        }
    }
    assert!(differences.is_empty(), "{} of {count} programs differ\n{}", differences.len(), differences.join("\n"));
    assert!(known.is_empty(), "no such program: {:?}", known.keys());
}
