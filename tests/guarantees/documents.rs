//! The tests and pages that the documents refer to exist, and the documents' tables are readable.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::support::repository;

/// The widest cell of a table, in characters: longer text belongs into a paragraph.
const CELL: usize = 200;
/// A name in backticks with more words than this is a test's, not that of a key or a function.
const WORDS_OF_A_KEY: usize = 5;

#[test]
fn every_test_that_a_document_names_is_in_the_code() {
    let mut known = BTreeSet::new();
    for folder in ["crates", "guest", "host", "tests", "fuzz", "benches"] {
        for_each_file(&repository().join(folder), &mut |path| {
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let after = text.split("fn ").skip(1);
                known.extend(after.map(|rest| rest.chars().take_while(|part| is_of_name(*part)).collect::<String>()));
            }
        });
    }
    // A script of the corpus, good or wrong, is a test too.
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

/// The specification names the modules that prove a promise in parentheses, or in the last column
/// of a table.
#[test]
fn every_proof_that_the_specification_names_exists_and_every_module_is_named() {
    let text = fs::read_to_string(repository().join("SPECIFICATION.md")).unwrap();
    let guarantees = repository().join("tests/guarantees");
    let module = |name: &str| {
        let path = guarantees.join(name.replace("::", "/"));
        path.with_extension("rs").is_file() || path.join("mod.rs").is_file()
    };
    let (mut named, mut unknown) = (BTreeSet::new(), Vec::new());
    for line in text.lines().filter(|line| line.starts_with("- ")) {
        assert!(line.contains('('), "no proof: {line}");
        let proofs = line.split('(').skip(1).filter_map(|rest| rest.split(')').next());
        for name in proofs.flat_map(|proofs| proofs.split('`').skip(1).step_by(2)) {
            named.insert(name.split("::").next().unwrap().to_owned());
            let is_folder = name.contains('/') || ["host", "guest"].contains(&name);
            let exists = if is_folder { repository().join(name).exists() } else { module(name) };
            if !exists && !line.contains("bench `") {
                unknown.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    let mut unnamed = Vec::new();
    for entry in fs::read_dir(guarantees).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // Modules that only serve others.
        if !["main", "support", "stub_server"].contains(&name.as_str()) && !named.contains(&name) {
            unnamed.push(name);
        }
    }
    assert!(unnamed.is_empty(), "no promise rests on these: {unnamed:#?}");
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

#[test]
fn no_cell_of_a_table_is_a_paragraph() {
    let mut wide = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for (line, row) in text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            // A bar within the text of a cell is written `\|`.
            let cells = row.replace("\\|", "/");
            let widest = cells.split('|').map(|cell| cell.trim().chars().count()).max().unwrap_or_default();
            if widest > CELL {
                wide.push(format!("{}:{}: {widest} characters", path.display(), line + 1));
            }
        }
    }
    assert!(wide.is_empty(), "a cell has at most {CELL} characters: {wide:#?}");
}

/// A heading as the anchor of a link.
fn anchor(line: &str) -> String {
    let heading = line.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|part| part.is_alphanumeric() || matches!(part, ' ' | '-' | '_'));
    kept.map(|part| if part == ' ' { '-' } else { part }).collect()
}

/// The documents of the repository: those at its root, in docs, and beside the code.
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
    for folder in ["docs", "crates", "benches", "examples", "fuzz", "guest", "host", "scripts", "wit"] {
        for_each_file(&repository().join(folder), &mut add);
    }
    assert!(found.len() > 15, "{found:?}");
    found
}

fn for_each_file(folder: &Path, visit: &mut impl FnMut(&Path)) {
    // Build output, downloads and findings are not part of the repository.
    const FOREIGN: [&str; 6] = ["target", "node_modules", ".venv", ".crates", "corpus", "artifacts"];
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
