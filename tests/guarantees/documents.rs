//! What the documents say of the code is there: limits, tests, and the pages that they point to.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use belljar_config::{Format, Variables, parse};
use belljar_model::{LimitSpec, RunsPatch};
use belljar_sandbox::SandboxOptions;

use crate::support::repository;

/// Where the table stands in docs/LIMITS.md.
const BEGIN: &str = "<!-- the limits: BELLJAR_ACCEPT=1 writes them anew -->\n";
const END: &str = "<!-- the end of the limits -->\n";
/// A name in backticks with more words than this is that of a test, not of a key or a function.
const WORDS_OF_A_KEY: usize = 5;

#[test]
fn the_page_of_limits_is_made_of_the_table_in_the_code() {
    let path = repository().join("docs/LIMITS.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/LIMITS.md says where the limits begin");
    let (table, after) = rest.split_once(END).expect("and where they end");
    let mut expected = "| key | option | default | may be | what it bounds |\n|---|---|---|---|---|\n".to_owned();
    for spec in LimitSpec::ALL {
        let range = spec.kind.range();
        let (name, option) = (spec.name.as_str(), spec.name.as_str().replace('_', "-"));
        let reason = spec.reason.trim();
        let _ = writeln!(expected, "| `{name}` | `--{option}` | {} | {range} | {reason} |", spec.default_text());
    }
    if std::env::var_os("BELLJAR_ACCEPT").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(table == expected, "docs/LIMITS.md differs from the table of limits: BELLJAR_ACCEPT=1 writes it anew");
}

#[test]
fn the_page_of_the_configuration_has_each_bound_of_all_runs_with_its_default() {
    let text = fs::read_to_string(repository().join("docs/CONFIGURATION.md")).unwrap();
    let (_, table) = text.split_once("```toml\n[runs]\n").expect("it shows the table");
    let (table, _) = table.split_once("```").expect("which ends");
    let keys: BTreeSet<&str> = table.lines().filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    assert_eq!(keys, BTreeSet::from(RunsPatch::NAMES));
    let nothing = Variables { environment: &|_| None, home: None, workspace: None };
    let read = parse(&format!("[runs]\n{table}"), Format::Toml, Path::new("/"), &nothing);
    let shown = read.expect("as belljar reads it").runs;
    let SandboxOptions { max_live, live_memory, max_computing: _, max_queued, queue_timeout } =
        SandboxOptions::default();
    assert_eq!(shown.max_live.map(u32::from), Some(max_live));
    assert_eq!(
        (shown.live_memory, shown.max_queued, shown.queue_timeout),
        (Some(live_memory), Some(max_queued), Some(queue_timeout))
    );
}

#[test]
fn every_test_that_a_document_names_is_in_the_code() {
    let mut known = BTreeSet::new();
    for folder in ["crates", "guest/src", "guest/notation", "guest/stock", "host", "tests", "fuzz", "benches"] {
        for_each_file(&repository().join(folder), &mut |path| {
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let after = text.split("fn ").skip(1);
                known.extend(after.map(|rest| rest.chars().take_while(|part| is_of_name(*part)).collect::<String>()));
            }
        });
    }
    // A script that must go right, or be answered with a text that helps, is a test too.
    for_each_file(&repository().join("tests/scripts"), &mut |path| {
        known.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
    });
    let mut gone = BTreeSet::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let is_sentence = name.split('_').filter(|word| !word.is_empty()).count() > WORDS_OF_A_KEY;
            let is_test = is_sentence && name.chars().all(is_of_name);
            if is_test && !known.contains(name) {
                gone.insert(format!("{}: {name}", path.file_name().unwrap().display()));
            }
        }
    }
    assert!(gone.is_empty(), "these are in no source: {gone:#?}");
}

#[test]
fn every_link_from_a_document_to_another_leads_somewhere() {
    let mut dead = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let is_elsewhere = link.contains("://") || link.contains(['{', ' ']) || link.is_empty();
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                heading.is_empty() || text.lines().any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            let leads_there = || target.exists() && has_heading();
            if !is_elsewhere && !leads_there() {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

/// A heading, as links name it.
fn anchor(line: &str) -> String {
    let heading = line.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|part| part.is_alphanumeric() || matches!(part, ' ' | '-' | '_'));
    kept.map(|part| if part == ' ' { '-' } else { part }).collect()
}

/// The documents of the repository: those at its root, in docs, and beside what they are about.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |path: &Path| {
        if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path.to_owned());
        }
    };
    for entry in fs::read_dir(repository()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            add(&path);
        }
    }
    for folder in ["docs", "crates", "benches", "examples", "fuzz"] {
        for_each_file(&repository().join(folder), &mut add);
    }
    assert!(found.len() > 15, "{found:?}");
    found
}

fn for_each_file(folder: &Path, visit: &mut impl FnMut(&Path)) {
    // What is built, fetched or found there is not the repository's.
    const FOREIGN: [&str; 5] = ["target", "node_modules", ".venv", "corpus", "artifacts"];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            visit(&path);
        } else if !FOREIGN.iter().any(|foreign| path.ends_with(foreign)) {
            for_each_file(&path, visit);
        }
    }
}

fn is_of_name(part: char) -> bool {
    part.is_ascii_lowercase() || part.is_ascii_digit() || part == '_'
}
