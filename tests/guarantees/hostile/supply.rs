//! belljar is built from and tested with reviewed files: each fetched file is identified by its
//! digest.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::support::{Answer, Terminal, repository};

#[test]
pub(crate) fn every_package_that_is_fetched_goes_by_its_digest() {
    for lock in ["Cargo.lock", "guest/Cargo.lock", "fuzz/Cargo.lock"] {
        let text = read(lock);
        let packages: Vec<&str> = text.split("[[package]]").skip(1).collect();
        assert!(packages.len() > 50, "{lock}");
        for package in packages.iter().filter(|package| package.contains("\nsource = ")) {
            assert!(package.contains("\nchecksum = \""), "{lock}: {package}");
        }
    }
    for lock in [
        "tests/servers/package-lock.json",
        "benches/peers/package-lock.json",
        "benches/outputs/package-lock.json",
        "examples/components/javascript/package-lock.json",
    ] {
        let text: Value = serde_json::from_str(&read(lock)).unwrap();
        let packages = text["packages"].as_object().unwrap();
        assert!(packages.len() > 5, "{lock}");
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            let digest = package["integrity"].as_str().unwrap_or_default();
            assert!(digest.starts_with("sha512-"), "{lock}: {name}");
        }
    }
    for lock in [
        "tests/servers/requirements.txt",
        "packages/python/tests/requirements.txt",
        "benches/peers/requirements.txt",
        "benches/outputs/requirements.txt",
        "examples/components/python/requirements.txt",
        "examples/components/go/requirements.txt",
    ] {
        let text = read(lock).replace("\\\n", " ");
        let packages: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
        assert!(!packages.is_empty(), "{lock}");
        for package in packages {
            assert!(package.contains("==") && package.contains("--hash=sha256:"), "{lock}: {package}");
        }
    }
}

/// Cargo names a crate outside of the workspace by its full path, and the compiler puts that name
/// into every symbol. `scripts/same-guest` builds the component twice and compares, which takes
/// minutes.
#[test]
fn no_crate_of_the_interpreter_is_named_by_where_it_was_built() {
    let guest = repository().join("guest");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(&guest);
    let workspace = Answer::of(cargo.output().unwrap()).json();
    let members: Vec<&str> = workspace["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let manifest = package["manifest_path"].as_str().unwrap();
            assert!(Path::new(manifest).starts_with(&guest), "{manifest}");
            package["name"].as_str().unwrap()
        })
        .collect();
    let lock = read("guest/Cargo.lock");
    let here = lock.split("[[package]]").skip(1).filter(|package| !package.contains("\nsource = "));
    let mut count = 0;
    for package in here {
        let name = package.trim_start().strip_prefix("name = \"").and_then(|rest| rest.split('"').next()).unwrap();
        assert!(
            members.contains(&name),
            "{name} lies outside of guest/: the component's digest would depend on the path"
        );
        count += 1;
    }
    assert!(count >= 3, "guest, notation and stock are there");
}

#[test]
pub(crate) fn the_interpreter_is_named_by_its_digest() {
    let found = Terminal::new().belljar(&["doctor", "--json"]).json();
    let checks = found["checks"].as_array().unwrap();
    let image = checks.iter().find(|check| check["what"] == "image").unwrap();
    let (_, digest) = image["found"].as_str().unwrap().split_once("sha256:").unwrap_or_else(|| panic!("{image}"));
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{image}");
}

fn read(path: &str) -> String {
    let path = repository().join(Path::new(path));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
