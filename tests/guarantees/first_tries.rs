//! Tasks over six real servers, each with the script that an agent wrote for it first, knowing only
//! what `search_docs` had said.
//!
//! `tests/scripts/tasks` has the scripts as they were first written, with the task in their first
//! line, and their results beside them. Two of the fifteen have a second script: one first looks at
//! a database whose tables it cannot know, and one needs annotations, which only the raw answer
//! has. `/world` stands for the folder that is made from `tests/scripts/tasks/world`.
//! `BELLJAR_ACCEPT=1` accepts the results.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    real_servers::{everything, filesystem, memory, python},
    support::{Terminal, copy_folder, repository},
};

/// The number of scripts: fifteen tasks, and the second tries of two.
const SCRIPTS: usize = 17;
/// What differs in each run: hashes of new commits, and the time of day in other places, which
/// changes with the seasons.
const PASSING: [&str; 3] = ["hash ", "\"local\":\"", "\"difference\":\""];

fn corpus() -> PathBuf {
    repository().join("tests/scripts/tasks")
}

/// Runs a program with this input.
fn run(program: &mut Command, input: &Path) {
    let input = fs::File::open(input).unwrap();
    let status = program.stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{program:?}");
}

/// The folder in which the tasks work, and its servers.
fn world(place: &Path) -> Value {
    let from = corpus().join("world");
    copy_folder(&from.join("docs"), &place.join("docs"));
    fs::copy(from.join("memory.jsonl"), place.join("memory.jsonl")).unwrap();
    let (database, repo) = (place.join("library.db"), place.join("repo"));
    let interpreter = python("python", &[])["command"].as_str().unwrap().to_owned();
    let fill = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())";
    run(Command::new(interpreter).args(["-c", fill]).arg(&database), &from.join("library.sql"));
    fs::create_dir(&repo).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(&repo).args(arguments);
        git
    };
    for arguments in [&["init", "-q"][..], &["config", "user.name", "t"], &["config", "user.email", "t@example.com"]] {
        assert!(git(arguments).status().unwrap().success());
    }
    run(&mut git(&["fast-import", "--quiet"]), &from.join("repository.fast-export"));
    assert!(git(&["checkout", "-q", "-f", BRANCH]).status().unwrap().success());
    let mut files = filesystem(&place.join("docs"));
    files["args"].as_array_mut().unwrap().push(json!(repo));
    json!({
        "fs": files,
        "memory": memory(&place.join("memory.jsonl")),
        "git": python("mcp-server-git", &["--repository", repo.to_str().unwrap()]),
        "time": python("mcp-server-time", &["--local-timezone", "UTC"]),
        "sqlite": python("mcp-server-sqlite", &["--db-path", database.to_str().unwrap()]),
        "everything": everything(),
    })
}

/// The current branch of the repository.
const BRANCH: &str = "trunk";

/// The text without what differs each time: what follows one of [`PASSING`], up to the next quote.
fn lasting(text: &str) -> String {
    PASSING.iter().fold(text.to_owned(), |text, mark| {
        let mut parts = text.split(mark);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |kept, part| {
            let rest = part.find(['"', '\\']).map_or("", |end| &part[end..]);
            format!("{kept}{mark}…{rest}")
        })
    })
}

#[test]
fn what_an_agent_writes_first_for_a_task_is_right() {
    let mut scripts: Vec<PathBuf> = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "js"));
    scripts.sort();
    assert_eq!(scripts.len(), SCRIPTS);
    let mut failures = Vec::new();
    for script in &scripts {
        let terminal = Terminal::new();
        let place = terminal.folder.path().canonicalize().unwrap().join("world");
        fs::create_dir(&place).unwrap();
        let config = terminal.file("mcp.json", json!({ "mcpServers": world(&place) }).to_string());
        let source = fs::read_to_string(script).unwrap().replace("/world/", &format!("{}/", place.display()));
        let config = config.to_str().unwrap();
        let answer = terminal.belljar(&["run", "--json", "--no-daemon", "--config", config, "--code", &source]).json();
        let logs: Vec<&Value> = answer["logs"].as_array().into_iter().flatten().map(|entry| &entry["text"]).collect();
        let essence = json!({ "value": answer["value"], "error": answer["error"], "logs": logs }).to_string();
        let essence: Value =
            serde_json::from_str(&lasting(&essence.replace(place.to_str().unwrap(), "/world"))).unwrap();
        let given = format!("{essence:#}\n");
        let expected = script.with_extension("expected.json");
        if std::env::var_os("BELLJAR_ACCEPT").is_some() {
            fs::write(&expected, &given).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if answer["ok"] != true || given != expected {
            failures.push(format!("--- {}\nexpected {expected}given {given}", script.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {} scripts\n{}", failures.len(), scripts.len(), failures.join("\n"));
}
