//! What the compiler of TypeScript itself says of the declarations. It is pinned in
//! `tests/servers`.

use std::{fs, path::Path, process::Command};

use crate::{
    Catalog,
    measures::{
        catalog, lists,
        odd::{self, Numbers},
    },
};

/// Odd tools that are declared. Each has an input schema, and every other one an output schema.
const ODD_TOOLS: usize = 4_000;
/// Where the odd ones begin. Another number gives others.
const SEED: u64 = 6;
/// Odd tools in one namespace: as many as a file should have.
const TOOLS_PER_FILE: usize = 500;

/// The declarations of some tools.
fn declarations(catalog: &Catalog) -> String {
    catalog.tools().map(|tool| format!("{}\n", tool.declaration())).collect()
}

/// Their example calls.
fn examples(catalog: &Catalog) -> Vec<&str> {
    catalog
        .tools()
        .filter_map(|tool| tool.declaration().lines().find_map(|line| line.trim_start().strip_prefix("* Example: ")))
        .collect()
}

/// Compiles files in one process.
fn compile(files: &[(String, String)]) {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers");
    let compiler = servers.join("node_modules/typescript/bin/tsc");
    assert!(compiler.exists(), "TypeScript is missing: cd tests/servers && npm ci");
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|(name, source)| {
            let path = folder.path().join(name);
            fs::write(&path, source).unwrap();
            path
        })
        .collect();
    let options =
        ["--strict", "--noEmit", "--target", "es2022", "--module", "esnext", "--types", "", "--pretty", "false"];
    let output = Command::new("node").arg(compiler).args(options).args(paths).current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let first: Vec<&str> = said.lines().take(20).collect();
    assert!(output.status.success(), "{}\n{}", first.join("\n"), String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_compiler_accepts_every_declaration_and_example_of_real_servers() {
    let catalog = catalog(&lists());
    let examples = examples(&catalog);
    assert!(examples.len() >= 150, "only {} examples", examples.len());
    let calls = examples.join(";\n  ");
    let source = format!("{}async function examples() {{\n  {calls};\n}}\nexport {{}};\n", declarations(&catalog));
    compile(&[("real.ts".to_owned(), source)]);
}

#[test]
fn the_compiler_accepts_whatever_fuzzing_makes() {
    let mut numbers = Numbers::new(SEED);
    let files: Vec<(String, String)> = (0..ODD_TOOLS / TOOLS_PER_FILE)
        .map(|file| {
            let tools = (0..TOOLS_PER_FILE).map(|number| odd::tool(number, &mut numbers)).collect();
            let catalog = catalog(&[(format!("odd{file}"), tools)]);
            assert_eq!(catalog.tools().count(), TOOLS_PER_FILE);
            (format!("odd{file}.ts"), declarations(&catalog))
        })
        .collect();
    compile(&files);
}

#[test]
fn the_compiler_would_say_what_is_wrong() {
    let wrong =
        "declare namespace x { function f(args: { a: string }): Promise<unknown>; }\nx.f({ a: 1 });\nexport {};\n";
    let refused = std::panic::catch_unwind(|| compile(&[("wrong.ts".to_owned(), wrong.to_owned())]));
    let message = *refused.expect_err("it compiles").downcast::<String>().unwrap();
    assert!(message.contains("TS2322"), "{message}");
}
