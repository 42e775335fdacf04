//! The catalogue as a table: compared with SECURITY.md, and printed with the results of each
//! attack.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    panic,
    time::{Duration, Instant},
};

use super::{
    arena,
    catalogue::{Entry, entries},
};
use crate::support::repository;

/// The lines of the catalogue.
const LINES: u8 = 124;
/// The widest cell of a table in a document.
const WIDTH: usize = 200;
/// The mark before the table in SECURITY.md.
const BEGIN: &str = "<!-- the catalogue: BELLJAR_ACCEPT=1 writes it anew -->\n";
const END: &str = "<!-- the end of the catalogue -->\n";

#[test]
pub(crate) fn every_line_of_the_catalogue_has_its_tests() {
    let lines: Vec<u8> = entries().iter().map(|entry| entry.line).collect();
    assert_eq!(lines, (1..=LINES).collect::<Vec<_>>());
}

#[test]
pub(crate) fn security_md_names_each_attack_with_its_tests() {
    let path = repository().join("SECURITY.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("SECURITY.md says where the catalogue begins");
    let (table, after) = rest.split_once(END).expect("and where it ends");
    let expected = markdown(&entries());
    if std::env::var_os("BELLJAR_ACCEPT").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(table == expected, "SECURITY.md differs from the catalogue: BELLJAR_ACCEPT=1 writes it anew");
}

fn markdown(entries: &[Entry]) -> String {
    let mut table = "| line | attack | what becomes of it | tests |\n|---|---|---|---|\n".to_owned();
    for Entry { line, attack, expected, tests } in entries {
        let mut rows = vec![String::new()];
        for test in tests {
            let name = format!("`{}`", short(test.name));
            match rows.last_mut() {
                Some(row) if row.is_empty() => *row = name,
                Some(row) if row.len() + name.len() + 2 <= WIDTH => *row = format!("{row}, {name}"),
                _ => rows.push(name),
            }
        }
        let _ = writeln!(table, "| {line} | {attack} | {expected} | {} |", rows[0]);
        for more in &rows[1..] {
            let _ = writeln!(table, "| | | | {more} |");
        }
    }
    table
}

/// A test's own name, which is unique.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// Runs every test of the catalogue, and prints the results of each attack:
/// `scripts/hostile-table`.
#[test]
#[ignore = "prints a table, of what the other tests do anyway"]
fn prints_attack_expected_got_and_milliseconds() {
    let entries = entries();
    let mut ends: BTreeMap<&str, (Result<(), String>, Duration)> = BTreeMap::new();
    for test in entries.iter().flat_map(|entry| &entry.tests) {
        ends.entry(test.name).or_insert_with(|| {
            let begun = Instant::now();
            let run = test.run;
            let end = panic::catch_unwind(run).map_err(|cause| {
                let text = cause.downcast_ref::<String>().cloned();
                text.or_else(|| cause.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
            });
            (end, begun.elapsed())
        });
    }
    let seen = arena::seen();
    let mut failed = BTreeSet::new();
    println!("| line | attack | expected | got | ms |\n|---|---|---|---|---|");
    for Entry { line, attack, expected, tests } in &entries {
        let of_tests = || tests.iter().map(|test| (test.name, &ends[test.name]));
        let broken: Vec<&str> = of_tests().filter(|(_, (end, _))| end.is_err()).map(|(name, _)| name).collect();
        failed.extend(broken.iter().copied());
        let (got, time) = match seen.get(line) {
            _ if !broken.is_empty() => (format!("**failed**: {}", broken.join(", ")), Duration::ZERO),
            // What was observed of runs, and their own durations.
            Some(seen) => {
                let got: Vec<String> = seen.got.iter().map(|(got, count)| format!("{got} × {count}")).collect();
                (got.join(", "), seen.time / u32::try_from(seen.got.values().sum::<usize>()).unwrap_or(1).max(1))
            }
            // The test asserts its result, and stores none.
            None => ("as expected".to_owned(), of_tests().map(|(_, (_, time))| *time).sum()),
        };
        println!("| {line} | {attack} | {expected} | {got} | {:.1} |", time.as_secs_f64() * 1e3);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
