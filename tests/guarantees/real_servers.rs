//! Scripts over real, independent MCP servers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    support::{Terminal, repository},
};

/// A file of an installed npm package. Without it the test fails, since it would test nothing.
pub(crate) fn installed(file: &str) -> PathBuf {
    let path = repository().join("tests/servers/node_modules").join(file);
    assert!(
        path.exists(),
        "{} is missing: scripts/test installs what the tests need, or `npm ci` in tests/servers",
        path.display()
    );
    path
}

/// A program of an installed Python package.
pub(crate) fn python(program: &str, arguments: &[&str]) -> Value {
    let path = repository().join("tests/servers/.venv/bin").join(program);
    assert!(path.exists(), "{} is missing: scripts/test installs what the tests need", path.display());
    json!({ "command": path, "args": arguments })
}

/// Node.js, without which there is nothing to test either.
pub(crate) fn node() -> &'static str {
    let found = std::process::Command::new("node").arg("--version").output();
    assert!(found.is_ok(), "node is missing: install Node.js 20 or later, and run scripts/test, which does the rest");
    "node"
}

/// A server of npm, as it is configured.
fn server(package: &str, arguments: &[&str]) -> Value {
    let script = installed(&format!("@modelcontextprotocol/{package}/dist/index.js"));
    let arguments = [&[script.to_str().unwrap()], arguments].concat();
    json!({ "command": node(), "args": arguments })
}

pub(crate) fn everything() -> Value {
    server("server-everything", &["stdio"])
}

pub(crate) fn filesystem(folder: &Path) -> Value {
    server("server-filesystem", &[folder.to_str().unwrap()])
}

pub(crate) fn memory(file: &Path) -> Value {
    let mut server = server("server-memory", &[]);
    server["env"] = json!({ "MEMORY_FILE_PATH": file });
    server
}

/// The outcome of a script over these servers.
fn outcome(terminal: &Terminal, servers: Value, script: &str) -> Value {
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", script]).json()
}

/// The value of a script over these servers, which must succeed.
fn value(terminal: &Terminal, servers: Value, script: &str) -> Value {
    let mut outcome = outcome(terminal, servers, script);
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    outcome["value"].take()
}

#[test]
fn everything_answers_with_text_structured_content_and_content_blocks() {
    let script = "
        const sum = await everything['get-sum']({ a: 2, b: 40 });
        const [echo, weather, image, raw] = await Promise.all([
            everything.echo({ message: 'hi' }),
            everything.get_structured_content({ location: 'New York' }),
            everything.get_tiny_image({}),
            tools.raw('everything.echo', { message: 'raw' }),
        ]);
        const bad = await everything.echo({ message: 5 }).catch((error) => [error.name, error.tool]);
        return { sum, echo, weather, image: image.map(({ type, mimeType }) => [type, mimeType]), raw: raw.content, bad };";
    let value = value(&Terminal::new(), json!({ "everything": everything() }), script);
    assert!(value["sum"].as_str().unwrap().contains("42"), "{value:#}");
    assert_eq!(value["echo"], "Echo: hi");
    assert!(value["weather"]["temperature"].is_number() && value["weather"]["conditions"].is_string(), "{value:#}");
    assert_eq!(value["image"], json!([["text", null], ["image", "image/png"], ["text", null]]), "{value:#}");
    assert_eq!(value["raw"], json!([{ "type": "text", "text": "Echo: raw" }]));
    assert_eq!(value["bad"], json!(["TypeError", null]));
}

#[test]
fn a_long_call_outlives_its_limit_while_it_reports_progress_and_is_given_up_when_it_is_silent() {
    let terminal = Terminal::new();
    let everything = everything();
    // For a command and its arguments, JSON is valid TOML.
    let (command, args) = (&everything["command"], &everything["args"]);
    let config = format!("[limits]\ncall = '4s'\n[servers.everything]\ncommand = {command}\nargs = {args}\n");
    let config = terminal.file("belljar.toml", config);
    let script = "
        const run = (duration, steps) =>
            everything.trigger_long_running_operation({ duration, steps }).catch((error) => `${error.name}: ${error.message}`);
        const [reporting, silent] = await Promise.all([run(8, 40), run(60, 1)]);
        return { reporting, silent, after: await everything.echo({ message: 'still there' }) };";
    let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", script]);
    let outcome = answer.json();
    let value = &outcome["value"];
    assert!(value["reporting"].as_str().unwrap().contains("completed"), "{outcome:#}");
    let silent = value["silent"].as_str().unwrap();
    assert!(silent.starts_with("ToolError: ") && silent.contains("did not answer within 4s"), "{outcome:#}");
    assert_eq!(value["after"], "Echo: still there");
}

#[test]
fn a_run_ends_at_its_timeout_though_a_tool_goes_on() {
    let terminal = Terminal::new();
    let config = terminal.file("mcp.json", json!({ "mcpServers": { "everything": everything() } }).to_string());
    let code = "await everything.trigger_long_running_operation({ duration: 60, steps: 60 })";
    let run = ["run", "--json", "--timeout", "2s", "--config", config.to_str().unwrap(), "--code", code];
    let answer = terminal.belljar(&run);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let outcome = answer.json();
    assert_eq!(outcome["error"]["kind"], "timeout", "{outcome:#}");
    assert_eq!(outcome["error"]["limit"]["name"], "timeout", "{outcome:#}");
}

#[test]
fn a_file_server_reads_what_it_was_given_and_refuses_the_rest() {
    let terminal = Terminal::new();
    let folder = terminal.folder.path().join("given");
    std::fs::create_dir(&folder).unwrap();
    terminal.file("given/notes.txt", "first\nsecond\n");
    let secret = terminal.file("secret.txt", "not for you");
    let script = format!(
        "const path = {};
         const {{ content }} = await fs.read_text_file({{ path: path + '/notes.txt' }});
         const refused = await fs.read_text_file({{ path: {} }}).catch((error) =>
             [error instanceof ToolError, error.server, error.tool, error.message]);
         return {{ content, refused }};",
        json!(folder),
        json!(secret)
    );
    let value = value(&terminal, json!({ "fs": filesystem(&folder) }), &script);
    assert_eq!(value["content"], "first\nsecond\n");
    assert_eq!(value["refused"][0], true);
    assert_eq!((&value["refused"][1], &value["refused"][2]), (&json!("fs"), &json!("read_text_file")));
    assert!(value["refused"][3].as_str().unwrap().starts_with("Access denied"), "{value:#}");
}

#[test]
fn what_a_script_stores_is_there_later_in_the_run_and_in_the_next_run() {
    let terminal = Terminal::new();
    let servers = || json!({ "memory": memory(&terminal.folder.path().join("memory.jsonl")) });
    let store = "
        const before = await memory.read_graph({});
        await memory.create_entities({ entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote notes'] }] });
        await memory.add_observations({ observations: [{ entityName: 'Ada', contents: ['likes engines'] }] });
        return { before, found: await memory.search_nodes({ query: 'engines' }) };";
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["wrote notes", "likes engines"] });
    let stored = value(&terminal, servers(), store);
    assert_eq!(stored["before"]["entities"], json!([]), "{stored:#}");
    assert_eq!(stored["found"]["entities"], json!([ada]), "{stored:#}");
    let next = value(&terminal, servers(), "(await memory.open_nodes({ names: ['Ada'] })).entities");
    assert_eq!(next, json!([ada]));
}

#[test]
fn one_script_uses_three_servers_at_once() {
    let terminal = Terminal::new();
    let folder = terminal.folder.path().to_owned();
    terminal.file("a.txt", "from a file");
    let servers = json!({
        "everything": everything(),
        "fs": filesystem(&folder),
        "memory": memory(&folder.join("memory.jsonl")),
    });
    let script = format!(
        "const [echo, file, graph] = await Promise.all([
             everything.echo({{ message: 'from everything' }}),
             fs.read_text_file({{ path: {} }}),
             memory.create_entities({{ entities: [{{ name: 'from memory', entityType: 'thing', observations: [] }}] }}),
         ]);
         return [echo, file.content, graph.entities[0].name];",
        json!(folder.join("a.txt"))
    );
    let mut outcome = outcome(&terminal, servers, &script);
    assert_eq!(outcome["value"].take(), json!(["Echo: from everything", "from a file", "from memory"]), "{outcome:#}");
    let mut called: Vec<_> =
        outcome["calls"].as_array().unwrap().iter().map(|call| call["server"].as_str().unwrap()).collect();
    called.sort_unstable();
    assert_eq!(called, ["everything", "fs", "memory"]);
}

#[test]
fn a_script_starts_the_servers_that_it_uses_and_no_others() {
    let terminal = Terminal::new();
    let started = |name: &str| terminal.folder.path().join(name);
    let marked =
        |name: &str| json!({ "command": "sh", "args": ["-c", ": > \"$1\"; exec \"$0\" echo", child(), started(name)] });
    let servers = json!({ "memory": memory(&started("memory.jsonl")), "used": marked("used"), "idle": marked("idle") });
    let script = "return [await used.echo({ n: 1 }), typeof memory.read_graph, (await tools.list('used')).length]";
    assert_eq!(value(&terminal, servers, script), json!([{ "n": 1 }, "function", 3]));
    assert!(started("used").exists());
    assert!(!started("idle").exists(), "a server was started that the script does not use");
}

/// Runs git in a folder.
fn git(folder: &Path, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"];
    let done = git.current_dir(folder).args(identity).args(arguments).output().unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_repository_is_read_and_committed_to() {
    let terminal = Terminal::new();
    let folder = terminal.folder.path().join("repository");
    std::fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    std::fs::write(folder.join("notes.txt"), "first\n").unwrap();
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "the first notes"]);
    git(&folder, &["config", "user.name", "Ada"]);
    git(&folder, &["config", "user.email", "ada@example.org"]);
    std::fs::write(folder.join("notes.txt"), "first\nsecond\n").unwrap();
    let servers = json!({ "git": python("mcp-server-git", &["--repository", folder.to_str().unwrap()]) });
    let script = format!(
        "const repo_path = {};
         const diff = await git.git_diff_unstaged({{ repo_path }});
         await git.git_add({{ repo_path, files: ['notes.txt'] }});
         await git.git_commit({{ repo_path, message: 'more notes' }});
         return {{ diff, log: await git.git_log({{ repo_path, max_count: 5 }}) }};",
        json!(folder)
    );
    let value = value(&terminal, servers, &script);
    assert!(value["diff"].to_string().contains("+second"), "{value:#}");
    let log = value["log"].to_string();
    assert!(log.contains("more notes") && log.contains("the first notes"), "{value:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn servers_of_npm_and_pypi_work_within_walls() {
    let terminal = Terminal::new();
    let folder = terminal.folder.path().join("repository");
    std::fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["config", "user.name", "Ada"]);
    git(&folder, &["config", "user.email", "ada@example.org"]);
    git(&folder, &["commit", "--quiet", "--allow-empty", "--message", "nothing yet"]);
    let venv = repository().join("tests/servers/.venv").canonicalize().unwrap();
    let base = std::process::Command::new(venv.join("bin/python3"))
        .args(["-c", "import sys; print(sys.base_prefix)"])
        .output()
        .unwrap();
    let base = String::from_utf8(base.stdout).unwrap();
    let packages = repository().join("tests/servers/node_modules").canonicalize().unwrap();
    let (fs, versions) = (filesystem(&folder), python("mcp-server-git", &["--repository", folder.to_str().unwrap()]));
    // For these, JSON is valid TOML.
    let config = format!(
        "[servers.fs]\ncommand = {}\nargs = {}\nsandbox = {{ network = false, read = [{packages:?}], write = [{folder:?}] }}\n\
         [servers.git]\ncommand = {}\nargs = {}\nsandbox = {{ network = false, read = [{venv:?}, {:?}], write = [{folder:?}] }}\n",
        fs["command"],
        fs["args"],
        versions["command"],
        versions["args"],
        base.trim(),
    );
    let config = terminal.file("belljar.toml", config);
    let script = format!(
        "const repo_path = {};
         await fs.write_file({{ path: repo_path + '/notes.txt', content: 'first' }});
         await fs.create_directory({{ path: repo_path + '/folder' }});
         await fs.move_file({{ source: repo_path + '/notes.txt', destination: repo_path + '/folder/notes.txt' }});
         const {{ content }} = await fs.read_text_file({{ path: repo_path + '/folder/notes.txt' }});
         await git.git_add({{ repo_path, files: ['folder/notes.txt'] }});
         await git.git_commit({{ repo_path, message: 'the first notes' }});
         return [content, await git.git_log({{ repo_path, max_count: 1 }})];",
        json!(folder)
    );
    let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", &script]);
    let outcome = answer.json();
    assert_eq!(outcome["ok"], true, "{outcome:#}\n{}", answer.stderr);
    assert_eq!(outcome["value"][0], "first");
    assert!(outcome["value"][1].to_string().contains("the first notes"), "{outcome:#}");
}

#[test]
fn a_time_is_converted() {
    let servers = json!({ "time": python("mcp-server-time", &["--local-timezone", "UTC"]) });
    let script = "await time.convert_time({ source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' })";
    let value = value(&Terminal::new(), servers, script);
    assert!(value["target"]["datetime"].as_str().unwrap().contains("T21:00:00"), "{value:#}");
}

#[test]
fn a_table_is_made_filled_and_asked() {
    let terminal = Terminal::new();
    let file = terminal.folder.path().join("data.db");
    let servers = json!({ "sqlite": python("mcp-server-sqlite", &["--db-path", file.to_str().unwrap()]) });
    let script = "
        await sqlite.create_table({ query: 'CREATE TABLE engines (name TEXT, year INTEGER)' });
        await sqlite.write_query({ query: \"INSERT INTO engines VALUES ('difference', 1822), ('analytical', 1837)\" });
        const none = await sqlite.read_query({ query: 'SELECT * FROM engines WHERE year > 2000' });
        const rows = await sqlite.read_query({ query: 'SELECT name, year, NULL AS built FROM engines ORDER BY year DESC' });
        const raw = await tools.raw('sqlite.read_query', { query: \"SELECT 'it''s' AS name, 1 AS year, NULL AS built\" });
        return { none, names: rows.map((row) => row.name), first: rows[0], raw };";
    let first = value(&terminal, servers.clone(), script);
    assert_eq!(first["none"], json!([]));
    assert_eq!(first["names"], json!(["analytical", "difference"]));
    assert_eq!(first["first"], json!({ "name": "analytical", "year": 1837, "built": null }));
    assert_eq!(
        first["raw"]["content"],
        json!([{ "type": "text", "text": r#"[{"name":"it's","year":1,"built":null}]"# }])
    );
    assert_eq!(first["raw"]["_meta"]["belljar/notation"], "python");
    // A failing query is answered with text, and does not affect later ones. The observed shape is
    // declared.
    let script = "
        const failed = await sqlite.read_query({ query: 'SELECT * FROM missing' });
        const rows = await sqlite.read_query({ query: 'SELECT name, year, NULL AS built FROM engines WHERE year < 1830' });
        return { failed, rows, declaration: tools.describe('sqlite.read_query').declaration };";
    let then = value(&terminal, servers, script);
    assert!(then["failed"].as_str().unwrap().contains("no such table"), "{then:#}");
    assert_eq!(then["rows"], json!([{ "name": "difference", "year": 1822, "built": null }]));
    let declaration = then["declaration"].as_str().unwrap();
    for says in [
        "What comes varies: a text in some calls, an array in others.",
        "Its text is in Python's notation, and comes parsed.",
        "Its names and types are those that a call's arguments ask for.",
    ] {
        assert!(declaration.contains(says), "{declaration}");
    }
    // The columns belong to a query: those of another query are not shown as the tool's own.
    assert!(!declaration.contains("built") && !declaration.contains("year"), "{declaration}");
}

#[test]
fn a_replay_sees_what_was_made_of_pythons_notation() {
    let terminal = Terminal::new();
    let file = terminal.folder.path().join("data.db");
    let servers = json!({ "sqlite": python("mcp-server-sqlite", &["--db-path", file.to_str().unwrap()]) });
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    let script = "(await sqlite.read_query({ query: \"SELECT 1 AS one, 'x' AS text\" }))[0].text";
    let run = [
        "run",
        "--json",
        "--no-daemon",
        "--record",
        "run.belljar",
        "--config",
        config.to_str().unwrap(),
        "--code",
        script,
    ];
    let run = terminal.belljar(&run).json();
    assert_eq!(run["value"], "x", "{run:#}");
    let replay = terminal.belljar(&["replay", "run.belljar", "--json"]).json();
    assert_eq!((&replay["value"], &replay["usage"]["fuel"]), (&run["value"], &run["usage"]["fuel"]), "{replay:#}");
}
