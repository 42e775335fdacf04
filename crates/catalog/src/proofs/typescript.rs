//! Checks the declarations with the TypeScript compiler, which is pinned in `tests/servers`.

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
/// The seed of the odd tools.
const SEED: u64 = 6;
/// Odd tools in one namespace, so that a file has a reasonable size.
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
    compile_as("esnext", files);
}

/// The same as modules of this kind.
fn compile_as(module: &str, files: &[(String, String)]) {
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
        ["--strict", "--noEmit", "--target", "es2022", "--module", module, "--types", "", "--pretty", "false"];
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

/// The types of the client that `belljar typescript` writes, but for those of the tools.
const CLIENT_TYPES: &str = include_str!("../../../../host/src/typescript/client.d.mts");

/// A client of these servers, and a program that uses it.
fn client_of(catalog: &Catalog, program: &str) -> [(String, String); 2] {
    let servers = catalog.servers().iter().map(AsRef::as_ref);
    let types = format!("{CLIENT_TYPES}{}", crate::typescript::declarations(servers, &|_| true, &|_| None));
    [("client.d.mts".to_owned(), types), ("program.mts".to_owned(), program.to_owned())]
}

#[test]
fn the_compiler_accepts_the_client_of_real_servers_and_a_program_that_calls_every_tool() {
    let catalog = catalog(&lists());
    let names: Vec<&str> = catalog.servers().iter().map(|server| server.names().alias()).collect();
    let calls = examples(&catalog).join(";\n");
    let by_name: Vec<String> = catalog
        .tools()
        .map(|tool| {
            let server = catalog.server(tool.path().server()).expect("its server");
            let path = [server.name(), tool.path().tool()].map(|name| serde_json::to_string(name).unwrap());
            format!("belljar.servers[{}][{}]", path[0], path[1])
        })
        .collect();
    assert!(by_name.len() >= 150, "only {} tools", by_name.len());
    let program = format!(
        "import {{ connect, type Belljar }} from './client.mjs';\n\
         const belljar: Belljar = await connect();\n\
         const {{ {} }} = belljar.servers;\n{calls};\n\
         const all: Function[] = [{}];\nconsole_(all);\nfunction console_(_: unknown) {{}}\n",
        names.join(", "),
        by_name.join(", ")
    );
    compile_as("nodenext", &client_of(&catalog, &program));
}

#[test]
fn the_compiler_refuses_a_program_that_calls_a_tool_wrongly_through_the_client() {
    let catalog = catalog(&lists());
    for (wrong, code) in [
        ("await belljar.servers.filesystem.read_text_file({ path: 1 });", "TS2322"),
        ("await belljar.servers.filesystem.read_text_file();", "TS2554"),
        ("await belljar.servers.filesystem.no_such_tool({});", "TS2339"),
        ("belljar.servers.no_such_server;", "TS2339"),
        ("const n: number = await belljar.call('git.git_status');", "TS2322"),
    ] {
        let program = format!("import {{ connect }} from './client.mjs';\nconst belljar = await connect();\n{wrong}\n");
        let files = client_of(&catalog, &program);
        let refused = std::panic::catch_unwind(|| compile_as("nodenext", &files));
        let message = *refused.expect_err("it compiles").downcast::<String>().unwrap();
        assert!(message.contains(code), "{wrong}: {message}");
    }
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
    // And in the client, under all of their names.
    let tools = (0..TOOLS_PER_FILE).map(|number| odd::tool(number, &mut numbers)).collect();
    let catalog = catalog(&[("odd".to_owned(), tools)]);
    compile_as("nodenext", &client_of(&catalog, "import { connect } from './client.mjs';\nawait connect();\n"));
}

#[test]
fn the_compiler_would_say_what_is_wrong() {
    let wrong =
        "declare namespace x { function f(args: { a: string }): Promise<unknown>; }\nx.f({ a: 1 });\nexport {};\n";
    let refused = std::panic::catch_unwind(|| compile(&[("wrong.ts".to_owned(), wrong.to_owned())]));
    let message = *refused.expect_err("it compiles").downcast::<String>().unwrap();
    assert!(message.contains("TS2322"), "{message}");
}
