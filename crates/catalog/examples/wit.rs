//! Prints the WIT packages of tool lists:
//! `cargo run -p belljar-catalog --example wit -- crates/catalog/testdata`
//!
//! Each `NAME.json` in the folder is the `tools/list` answer of a server called `NAME`. With
//! `--time`, it prints instead the median time from the definitions to the text, over fifty runs,
//! and how many tools have typed arguments.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::{error::Error, fs, path::PathBuf, sync::Arc, time::Instant};

use belljar_catalog::{
    Catalog, ServerCatalog, namespaces,
    wit::{Mapping, Package, Selection, Worlds, packages},
};
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::Value;

/// How many times it is measured.
const TIMES: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let (options, folders): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let folder = PathBuf::from(folders.first().ok_or("give a folder of tool lists")?);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let names: Vec<String> =
        files.iter().filter_map(|file| file.file_stem()).map(|stem| stem.to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut servers = Vec::new();
    for (names, file) in namespaces(&names).into_iter().zip(&files) {
        let answer: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
        let tools = answer.get("tools").and_then(Value::as_array).ok_or("no list of tools")?;
        let definitions = tools.iter().cloned().map(ToolDefinition::from_json).collect::<Result<_, _>>()?;
        servers.push(Arc::new(ServerCatalog::ready(names, definitions, &EffectRules::default())));
    }
    let catalog = Catalog::new(servers);
    if !options.iter().any(|option| option == "--time") {
        print!("{}", text(&mappings(&names, &catalog)));
        return Ok(());
    }
    let mut times: Vec<_> = (0..TIMES)
        .map(|_| {
            let start = Instant::now();
            let text = text(&mappings(&names, &catalog));
            (start.elapsed(), text.len())
        })
        .collect();
    times.sort();
    let (median, bytes) = times[TIMES / 2];
    let mappings = mappings(&names, &catalog);
    let functions = || mappings.iter().flat_map(|mapping| mapping.functions().iter().map(move |of| (mapping, of)));
    let typed = functions().filter(|(mapping, function)| mapping.is_typed(&function.arguments)).count();
    println!("{} tools, {typed} with typed arguments: {bytes} bytes in {median:?}", functions().count());
    Ok(())
}

fn mappings(names: &[&str], catalog: &Catalog) -> Vec<Mapping> {
    packages(names).iter().zip(catalog.servers()).map(|(package, server)| Mapping::new(package, server)).collect()
}

fn text(mappings: &[Mapping]) -> String {
    let selections: Vec<Selection<'_>> = mappings.iter().map(Selection::all).collect();
    Package::new(&selections, Worlds::Guest).text()
}
