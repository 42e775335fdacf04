//! Prints the TypeScript declarations of tool lists:
//! `cargo run -p belljar-catalog --example declarations -- crates/catalog/testdata`
//!
//! Each `NAME.json` in the folder is the `tools/list` answer of a server called `NAME`. The output
//! is one valid file for `tsc --strict --noEmit`; with `--brief`, it is the answer to a search
//! without words at detail `brief`.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::{error::Error, fs, path::PathBuf, sync::Arc};

use belljar_catalog::{Catalog, Detail, Query, ServerCatalog, namespaces};
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let (options, folders): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let folder = PathBuf::from(folders.first().ok_or("give a folder of tool lists")?);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let servers: Vec<String> =
        files.iter().filter_map(|file| file.file_stem()).map(|stem| stem.to_string_lossy().into_owned()).collect();
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    let mut ready = Vec::new();
    for (names, file) in namespaces(&servers).into_iter().zip(&files) {
        let answer: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
        let tools = answer.get("tools").and_then(Value::as_array).ok_or("no list of tools")?;
        let definitions = tools.iter().cloned().map(ToolDefinition::from_json).collect::<Result<_, _>>()?;
        ready.push(Arc::new(ServerCatalog::ready(names, definitions, &EffectRules::default())));
    }
    let catalog = Catalog::new(ready);
    if options.iter().any(|option| option == "--brief") {
        let query = Query { detail: Some(Detail::Brief), budget: Some(usize::MAX), ..Query::default() };
        print!("{}", catalog.search(&query).to_text());
        return Ok(());
    }
    for tool in catalog.tools() {
        println!("{}\n", tool.declaration());
    }
    Ok(())
}
