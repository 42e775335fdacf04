//! No test is forgotten.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_test_file_is_a_module_of_the_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guarantees");
    assert_all_declared(&folder, "main.rs");
}

/// Every file of a folder is a module of the file in it that declares them, and so are those of its folders.
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
