//! The repository's own rules, as far as a program can check them.

use std::{fs, process::Command};

use crate::support::repository;

/// The widest comment line, in columns.
const COLUMNS: usize = 100;

#[test]
fn every_library_crate_says_in_a_readme_what_it_is() {
    let mut crates = 0;
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        let name = format!("# belljar-{}\n\n", folder.file_name().unwrap().to_string_lossy());
        assert!(readme.starts_with(&name), "{} has no README.md that begins with its name", folder.display());
        crates += 1;
    }
    assert!(crates > 20, "{crates}");
}

/// These libraries are kept when another engine runs the scripts.
#[test]
fn what_is_neutral_to_the_engine_does_not_name_it() {
    let mut read = 0;
    for library in ["algorithms", "notation", "source"] {
        let folder = repository().join("guest").join(library);
        let mut folders = vec![folder.join("src")];
        let mut files = vec![folder.join("Cargo.toml")];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let (inner, own): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
            folders.extend(inner);
            files.extend(own);
        }
        for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs" || kind == "toml")) {
            let text = fs::read_to_string(file).unwrap();
            for name in ["boa_", "guest-engine", "guest_engine"] {
                assert!(!text.contains(name), "{} names {name}", file.display());
            }
            read += 1;
        }
    }
    assert!(read > 40, "{read} files");
}

#[test]
fn no_comment_is_wider_than_a_hundred_columns() {
    let listed = Command::new("git").arg("-C").arg(repository()).args(["ls-files", "-z"]).output().unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let (mut wide, mut read) = (Vec::new(), 0);
    for name in String::from_utf8(listed.stdout).unwrap().split('\0') {
        let mark = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("rs" | "wit") => "//",
            Some("toml" | "sh") => "#",
            _ if name.starts_with("scripts/") || name.starts_with(".ci/") => "#",
            _ => continue,
        };
        // A deleted file whose deletion is not committed yet is still in the list.
        let Ok(text) = fs::read_to_string(repository().join(name)) else { continue };
        read += 1;
        // Its lines are as long as the descriptions of servers.
        if text.starts_with("// Made by `belljar wit`") {
            continue;
        }
        let is_wide = |line: &str| line.trim_start().starts_with(mark) && line.chars().count() > COLUMNS;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| is_wide(line));
        wide.extend(lines.map(|(number, _)| format!("{name}:{number}")));
    }
    assert!(read > 900, "{read} files");
    assert!(wide.is_empty(), "{} comments are wider than {COLUMNS} columns: {wide:#?}", wide.len());
}
