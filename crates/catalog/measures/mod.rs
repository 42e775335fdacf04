//! What the examples print and the tests check: figures over the tool lists in `testdata`.

#![allow(dead_code, unreachable_pub, reason = "a part of several programs, each of which uses its part")]

pub mod baselines;
pub mod context;
pub mod odd;
pub mod retrieval;
pub mod tokens;

use std::{fs, path::Path, sync::Arc};

use belljar_catalog::{Catalog, ServerCatalog, namespaces};
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::Value;

/// A server's name and the entries of its `tools/list`.
pub type List = (String, Vec<Value>);

/// The file or folder in `testdata`.
pub fn testdata(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Every tool list in `testdata`, by the server's name.
pub fn lists() -> Vec<List> {
    let folder = fs::read_dir(testdata("")).expect("testdata is beside the measures");
    let mut files: Vec<_> = folder.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: std::path::PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a readable file");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        (name, answer["tools"].as_array().expect("a list").clone())
    };
    files.into_iter().map(read).collect()
}

/// The catalogue of some lists.
pub fn catalog(lists: &[List]) -> Catalog {
    let names: Vec<&str> = lists.iter().map(|(name, _)| name.as_str()).collect();
    let servers = namespaces(&names).into_iter().zip(lists).map(|(names, (_, tools))| {
        let definitions = tools.iter().map(|tool| ToolDefinition::from_json(tool.clone()).expect("a tool")).collect();
        Arc::new(ServerCatalog::ready(names, definitions, &EffectRules::default()))
    });
    Catalog::new(servers.collect())
}
