//! No test is forgotten.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_test_file_is_a_module_of_the_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guarantees");
    assert_all_declared(&folder, "main.rs");
}

/// Every file of a folder is a module of the folder's declaring file, and so are the files of its
/// subfolders.
fn assert_all_declared(folder: &Path, declaring: &str) {
    let text = fs::read_to_string(folder.join(declaring)).unwrap();
    let declared: BTreeSet<String> =
        text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).map(str::to_owned).collect();
    let mut modules = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_all_declared(&path, "mod.rs");
        }
        if !path.ends_with(declaring) {
            modules.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(modules, declared, "{}", folder.display());
}

/// The findings of a target are kept as seeds, and only an ordinary test ensures that they do not
/// come back.
#[test]
fn every_fuzz_target_is_built_seeded_replayed_and_told_of() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let named = |text: &str, mark: &str| -> BTreeSet<String> {
        let rests = text.split(mark).skip(1);
        rests.map(|rest| rest.chars().take_while(|character| is_of_name(*character)).collect()).collect()
    };
    let built = named(&read("fuzz/Cargo.toml"), "[[bin]]\nname = \"");
    assert!(built.len() > 10, "{built:?}");
    for folder in ["fuzz/fuzz_targets", "fuzz/seeds"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let there: BTreeSet<String> =
            entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        assert_eq!(there, built, "{folder}");
    }
    let mut texts = String::new();
    for folder in ["crates", "guest/testing"] {
        append_fuzzing(&root.join(folder), &mut texts);
    }
    assert_eq!(named(&texts, "replay(\""), built, "replayed");
    assert_eq!(named(&read("fuzz/README.md"), "\n| `"), built, "fuzz/README.md");
    assert_eq!(named(&read("docs/FUZZING.md"), "\n| `"), built, "docs/FUZZING.md");
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_lowercase() || character == '_'
}

/// Appends the text of every `fuzzing.rs` below a folder.
fn append_fuzzing(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            append_fuzzing(&path, texts);
        } else if path.ends_with("fuzzing.rs") {
            texts.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn no_package_but_this_and_the_testkit_has_integration_tests_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let package = entry.unwrap().path();
        let is_testkit = package.file_name().unwrap() == "testkit";
        assert!(is_testkit || !package.join("tests").exists(), "{} has tests/, which belong here", package.display());
    }
    assert!(!root.join("host/tests").exists(), "host/tests belongs here");
}
