//! Everything behaves as in Node: the expected results in the tables were written by Node
//! (`tests/tables/regenerate.mjs`).

use crate::support::run;

/// Rows of a source and its expected result, without the reasons of exceptions.
fn rows(table: &str) -> Vec<(String, String)> {
    let rows: Vec<Vec<String>> = serde_json::from_str(table).unwrap();
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// Checks each row with a script, and lists what differs.
async fn check(table: &str, at_least: usize, script: impl Fn(&str) -> String, logs: bool) {
    let rows = rows(table);
    assert!(rows.len() >= at_least, "{} rows", rows.len());
    let mut differences = Vec::new();
    for (source, expected) in rows {
        let outcome = run(&script(&source)).await;
        let found = match &outcome.result {
            Err(error) => format!("{error:#?}"),
            Ok(_) if logs => outcome.logs.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>().join("\n"),
            Ok(value) => value.to_value().unwrap().as_str().unwrap_or_default().to_owned(),
        };
        if found != expected {
            differences.push(format!("{source}\n---- expected\n{expected}\n---- found\n{found}\n"));
        }
    }
    assert!(differences.is_empty(), "{} rows differ\n{}", differences.len(), differences.join("\n"));
}

fn value_as_json(source: &str) -> String {
    format!(
        "try {{ return JSON.stringify(await (async () => ({source}))()) ?? 'undefined' }} catch (e) {{ return 'throws ' + e?.name }}"
    )
}

#[tokio::test]
async fn the_console_prints_what_node_prints() {
    check(include_str!("../tables/console.json"), 280, |arguments| format!("console.log({arguments})"), true).await;
    check(include_str!("../tables/console_calls.json"), 25, str::to_owned, true).await;
}

#[tokio::test]
async fn the_globals_of_the_web_do_as_in_node() {
    check(include_str!("../tables/web.json"), 240, value_as_json, false).await;
}

#[tokio::test]
async fn dates_are_read_as_node_reads_them() {
    check(include_str!("../tables/dates.json"), 600, value_as_json, false).await;
}

#[tokio::test]
async fn english_is_written_as_node_writes_it() {
    check(include_str!("../tables/intl.json"), 400, value_as_json, false).await;
}
