//! The tests of a checkout of test262.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// A test, ready to run.
pub(crate) struct Test {
    /// Below `test/`.
    pub(crate) path: String,
    /// The source to evaluate, including what it needs before it.
    pub(crate) source: String,
    pub(crate) is_async: bool,
    /// The name of the error that it must end with, if any.
    pub(crate) error: Option<String>,
}

/// Reads a checkout.
pub(crate) struct Suite {
    root: PathBuf,
    includes: HashMap<String, String>,
}

impl Suite {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), includes: HashMap::new() }
    }

    /// The sorted paths of all tests whose path contains `filter`, without internationalisation and
    /// proposals.
    pub(crate) fn paths(&self, filter: &str) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        let mut folders: Vec<PathBuf> = ["annexB", "built-ins", "harness", "language"]
            .iter()
            .map(|name| self.root.join("test").join(name))
            .collect();
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            for entry in entries {
                let path = entry.unwrap().path();
                let text = path.to_string_lossy();
                if path.is_dir() {
                    folders.push(path);
                } else if text.ends_with(".js") && !text.ends_with("_FIXTURE.js") && text.contains(filter) {
                    paths.push(path);
                }
            }
        }
        paths.sort();
        paths
    }

    /// A test, or `None` if it is a module or needs a host that neither engine has here.
    pub(crate) fn read(&mut self, path: &Path) -> Option<Test> {
        let text = fs::read_to_string(path).unwrap();
        let header = text.split_once("/*---")?.1.split_once("---*/")?.0;
        let flags = list(header, "flags:");
        if flags.iter().any(|flag| flag == "module" || flag == "CanBlockIsTrue") {
            return None;
        }
        let is_async = flags.iter().any(|flag| flag == "async");
        let mut source = String::new();
        if flags.iter().any(|flag| flag == "onlyStrict") {
            source.push_str("\"use strict\";\n");
        }
        if !flags.iter().any(|flag| flag == "raw") {
            let mut includes = vec!["assert.js".to_owned(), "sta.js".to_owned()];
            if is_async {
                includes.push("doneprintHandle.js".to_owned());
            }
            includes.extend(list(header, "includes:"));
            for name in includes {
                source.push_str(self.include(&name));
                source.push('\n');
            }
        }
        source.push_str(&text);
        let error = header.split_once("negative:").map(|(_, negative)| {
            let name = negative.split_once("type:").map_or("", |(_, name)| name);
            name.split_whitespace().next().unwrap_or_default().to_owned()
        });
        let path = path.strip_prefix(self.root.join("test")).unwrap().to_string_lossy().into_owned();
        Some(Test { path, source, is_async, error })
    }

    fn include(&mut self, name: &str) -> &str {
        let path = self.root.join("harness").join(name);
        self.includes.entry(name.to_owned()).or_insert_with(|| fs::read_to_string(path).unwrap())
    }
}

/// A list of the header, written on one line or on several.
fn list(header: &str, key: &str) -> Vec<String> {
    let Some((_, rest)) = header.split_once(key) else { return Vec::new() };
    let words =
        |text: &str| text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    match rest.trim_start().strip_prefix('[') {
        Some(inline) => words(inline.split(']').next().unwrap_or_default()),
        None => rest
            .lines()
            .skip(1)
            .map_while(|line| line.trim().strip_prefix("- "))
            .map(|word| word.trim().to_owned())
            .collect(),
    }
}
