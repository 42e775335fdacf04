//! A user's own programs call the servers' tools through a client whose types are made from the
//! tools: `belljar typescript`.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::json;

use crate::{
    daemon::Shell,
    real_servers::{everything, filesystem, installed, node},
    support::{Answer, Terminal, belljar},
};

/// The output of the TypeScript compiler for a program in a folder, where it also writes its
/// result.
fn compiled(folder: &Path, program: &str) -> Output {
    fs::write(folder.join("program.mts"), program).unwrap();
    let options = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "", "--pretty", "false"];
    let mut compiler = Command::new(node());
    compiler.arg(installed("typescript/bin/tsc")).args(options).arg("program.mts").current_dir(folder);
    compiler.output().unwrap()
}

const PROGRAM: &str = r#"
import { connect, ToolError, type servers } from './client.mjs';

declare const process: { argv: string[] };
declare const console: { log(text: string): void };
const [, , program, config, file] = process.argv;
const belljar = await connect({ belljar: program, config });
const { fs, everything } = belljar.servers;

const [{ content }, sum] = await Promise.all([
  fs.read_text_file({ path: file! }),
  belljar.servers.everything['get-sum']({ a: 2, b: 40 }),
]);
const weather: Awaited<ReturnType<typeof everything.get_structured_content>> =
  await everything.get_structured_content({ location: 'New York' });
const whole = await belljar.raw('fs.read_text_file', { path: file! });
const outcome = await belljar.run('return 6 * 7', { limits: { timeout: '5s' } });
const failed = await fs.read_text_file({ path: '/etc/nowhere' }).catch((error: unknown) => error);
const wrong = await belljar.call('fs.read_txt_file').catch((error: Error) => error.message);
console.log(JSON.stringify({
  content,
  sum,
  kinds: Object.keys(weather).sort(),
  whole: Object.keys(whole).includes('content'),
  value: outcome.value,
  failed: failed instanceof ToolError && [failed.server, failed.tool, failed.kind, Array.isArray(failed.content)],
  wrong,
}));
belljar.close();
await belljar.call('fs.x').catch((error: Error) => console.log(error.message));
"#;

#[test]
fn a_program_that_the_compiler_accepts_calls_real_servers_through_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let file = folder.join("note.txt");
    fs::write(&file, "a note").unwrap();
    let shell = Shell::new(&json!({ "fs": filesystem(&folder), "everything": everything() }));
    let written = shell.belljar(&["typescript", "--out", folder.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{written:#?}");
    let answer = Answer::of(compiled(&folder, PROGRAM));
    assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{answer:#?}");
    let config = shell.terminal.folder.path().join("mcp.json");
    let mut program = Command::new(node());
    program.arg(folder.join("program.mjs")).args([belljar(), &config, &file]);
    // The daemon is that of this terminal.
    for (name, value) in shell.terminal.command(&[]).get_envs() {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    let ran = Answer::of(program.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let (said, closed) = ran.stdout.split_once('\n').unwrap();
    let said: serde_json::Value = serde_json::from_str(said).unwrap();
    let wrong = said["wrong"].as_str().unwrap();
    assert!(wrong.contains("read_txt_file") && wrong.contains("read_text_file"), "{wrong}");
    let expected = json!({
        "content": "a note",
        "sum": "The sum of 2 and 40 is 42.",
        "kinds": ["conditions", "humidity", "temperature"],
        "whole": true,
        "value": 42,
        "failed": ["fs", "read_text_file", "tool", true],
        "wrong": wrong,
    });
    assert_eq!(said, expected);
    assert_eq!(closed.trim(), "the connection was closed");
    // The servers are those of the daemon, and stay.
    let status = shell.server("fs");
    assert_eq!((&status["restarts"], status["calls"].as_u64() >= Some(3)), (&json!(0), true), "{status:#}");
    // The compiler finds mistakes.
    let refused = Answer::of(compiled(&folder, &PROGRAM.replace("{ a: 2, b: 40 }", "{ a: '2', b: 40 }")));
    assert!(refused.code != 0 && refused.stdout.contains("TS2322"), "{refused:#?}");
}

#[test]
fn declarations_are_printed_for_some_servers_or_tools_and_nothing_is_called() {
    let terminal = Terminal::new();
    let printed = terminal.belljar(&["typescript", "demo.get_issue"]);
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{printed:#?}");
    assert!(printed.stdout.contains("    function get_issue(args: "), "{printed:#?}");
    assert!(printed.stdout.contains("\"demo\": typeof servers.demo;"), "{printed:#?}");
    assert!(!printed.stdout.contains("list_issues("), "only what was asked for: {printed:#?}");
    let all = terminal.belljar(&["typescript", "--json"]).json();
    assert_eq!(all["tools"].as_array().unwrap().len(), 7, "{all:#}");
    assert_eq!(all["files"][0]["path"], "client.mjs");
    for (names, said) in [("demo.get_isue", "did you mean demo.get_issue?"), ("dem", "did you mean demo?")] {
        let wrong = terminal.belljar(&["typescript", names]);
        assert!(wrong.code == 2 && wrong.stderr.contains(said), "{wrong:#?}");
    }
}

#[test]
fn a_client_says_what_is_wrong_where_there_is_no_program_or_no_daemon() {
    let terminal = Terminal::new();
    terminal.belljar(&["typescript", "demo", "--out", "."]);
    let script = "import { connect } from './client.mjs';
        for (const options of [{ belljar: './none' }, { socket: './none.sock' }])
            await connect(options).catch(({ name, message }) => console.log(`${name}: ${message}`));";
    terminal.file("program.mjs", script);
    let mut program = Command::new(node());
    let ran = Answer::of(program.arg("program.mjs").current_dir(terminal.folder.path()).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "BelljarError: there is no program './none' (name it: connect({ belljar }))");
    assert!(lines[1].starts_with("BelljarError: the daemon cannot be reached at ./none.sock: "), "{ran:#?}");
}
