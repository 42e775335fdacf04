//! Everything in examples/ works as its comments say.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    real_servers::{installed, node},
    support::{Answer, Terminal, belljar, repository},
};

/// Every file in examples/, each of which is used by a test, below or in the module of its subject.
const USED: [&str; 31] = [
    "belljar.toml",
    "claude-desktop.json",
    "components/README.md",
    "components/belljar.toml",
    "components/go/abi.go",
    "components/go/go.mod",
    "components/go/main.go",
    "components/go/requirements.txt",
    "components/javascript/app.js",
    "components/javascript/package-lock.json",
    "components/javascript/package.json",
    "components/python/app.py",
    "components/python/requirements.txt",
    "components/rust/Cargo.lock",
    "components/rust/Cargo.toml",
    "components/rust/src/lib.rs",
    "components/wit/deps/belljar-mcp-archive/package.wit",
    "components/wit/deps/belljar-mcp-tracker/package.wit",
    "components/wit/deps/belljar-mcp/package.wit",
    "components/wit/package.wit",
    "daemon/client.mjs",
    "daemon/client.py",
    "data/people.csv",
    "data/teams.json",
    "embed/Cargo.lock",
    "embed/Cargo.toml",
    "embed/src/main.rs",
    "join-files.toml",
    "join-files.ts",
    "tests/tour.belljar.jsonl",
    "tour.ts",
];

fn example(name: &str) -> String {
    repository().join("examples").join(name).to_str().unwrap().to_owned()
}

#[test]
fn no_example_is_without_a_test() {
    fn collect(folder: &Path, root: &Path, files: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // What is installed beside an example, and not part of it.
            if ["node_modules", ".venv", "target", "__pycache__"].iter().any(|name| path.ends_with(name)) {
                continue;
            }
            if path.is_dir() {
                collect(&path, root, files);
            } else {
                files.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let (root, mut files) = (repository().join("examples"), BTreeSet::new());
    collect(&root, &root, &mut files);
    assert_eq!(files, USED.map(str::to_owned).into(), "write a test for a new example, and name it in USED");
}

#[test]
fn the_fixture_among_the_examples_passes() {
    let test = Terminal::new().belljar(&["test", &example("tests"), "--json"]);
    assert_eq!((test.code, &test.json()["passed"]), (0, &json!(1)), "{test:#?}");
}

#[test]
fn the_tour_works_at_once_without_any_configuration() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["run", &example("tour.ts"), "--json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
    let outcome = answer.json();
    let value = &outcome["value"];
    let load = json!({ "Ada": 7, "Margaret": 2, "Grace": 4, "Dennis": 6, "Linus": 5, "nobody": 5 });
    assert_eq!(value["load"], load, "{outcome:#}");
    let urgent: Vec<_> =
        value["urgent"].as_array().unwrap().iter().map(|issue| issue["id"].as_u64().unwrap()).collect();
    assert_eq!(urgent, [40, 36, 12, 29]);
    assert_eq!(
        value["urgent"][0],
        json!({
            "id": 40,
            "title": "Memory of the tile server doubles every week",
            "assignee": "Ada",
            "lastWord": "A workaround is to restart the worker."
        })
    );
    assert_eq!(value["urgent"][3]["lastWord"], Value::Null);
    assert_eq!(value["missing"], "there is no issue 4711; issues 1 to 42 exist");
    let log = "looked at 29 open issues of 3 projects; 4 are urgent";
    assert_eq!(outcome["logs"], json!([{ "level": "log", "text": log }]));
    // The nine calls mentioned in its first comment.
    let calls = outcome["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 9, "{outcome:#}");
    assert_eq!(calls.iter().filter(|call| call["ok"] == false).count(), 1);
    assert_eq!(outcome["usage"]["tool_calls"], 9);
}

#[test]
fn files_of_one_server_are_joined_and_stored_in_another() {
    node();
    installed("@modelcontextprotocol/server-filesystem/dist/index.js");
    installed("@modelcontextprotocol/server-memory/dist/index.js");
    let terminal = Terminal::new();
    let run = || {
        let (script, config) = (example("join-files.ts"), example("join-files.toml"));
        let mut command = terminal.command(&["run", &script, "--config", &config, "--json"]);
        let answer =
            Answer::of(command.env("MEMORY_FILE_PATH", terminal.folder.path().join("graph.jsonl")).output().unwrap());
        assert_eq!(answer.code, 0, "{answer:#?}");
        answer.json()
    };
    let first = run();
    let value = &first["value"];
    assert_eq!(value["read"], json!({ "people": 6, "teams": 2 }), "{first:#}");
    assert_eq!(value["added"], json!({ "entities": 7, "relations": 5 }), "{first:#}");
    assert_eq!(value["withoutTeam"], json!(["Edsger"]));
    let entities = value["graph"]["entities"].as_array().unwrap();
    let names: Vec<_> = entities.iter().map(|entity| entity["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Map service", "Notifications", "Ada", "Dennis", "Grace", "Linus", "Margaret"]);
    assert_eq!(entities[0]["observations"], json!(["office: Lisbon"]));
    assert_eq!(entities[4], json!({ "name": "Grace", "entityType": "person", "observations": ["role: lead"] }));
    let relations = value["graph"]["relations"].as_array().unwrap();
    assert_eq!(relations.len(), 5);
    assert_eq!(relations[2], json!({ "from": "Grace", "to": "Notifications", "relationType": "works_in" }));
    let warning = "left out, for their team is unknown: Edsger";
    assert_eq!(first["logs"], json!([{ "level": "warn", "text": warning }]));

    // The server has written it to its file.
    let graph = fs::read_to_string(terminal.folder.path().join("graph.jsonl")).unwrap();
    assert_eq!(graph.lines().count(), 12, "{graph}");
    let second = run();
    assert_eq!(second["value"]["added"], json!({ "entities": 0, "relations": 0 }), "{second:#}");
    assert_eq!(second["value"]["graph"], first["value"]["graph"]);
}

#[test]
fn the_configuration_to_start_from_works_as_it_is_and_with_its_comments_turned_into_settings() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["servers", "--json", "--config", &example("belljar.toml")]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
    let servers = answer.json()["servers"].take();
    assert_eq!((servers[0]["name"].as_str(), servers[0]["state"].as_str()), (Some("demo"), Some("ready")));

    let text = fs::read_to_string(example("belljar.toml")).unwrap();
    let mut settings = 0;
    let lines = text.lines().map(|line| {
        let setting = line.strip_prefix("# ").filter(|line| line.starts_with('[') || line.contains(" = "));
        settings += usize::from(setting.is_some());
        setting.unwrap_or(line)
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    assert!(settings > 5, "there is nothing in its comments:\n{text}");
    let config = terminal.file("belljar.toml", text);
    // Other servers than the demo would be downloaded, so they are only read.
    let arguments = ["call", "demo.list_projects", "--json", "--config", config.to_str().unwrap()];
    let answer = terminal.belljar(&arguments).json();
    assert_eq!(answer["ok"], true, "{answer:#}");
}

#[test]
fn the_entry_for_a_client_starts_belljar_with_its_two_tools() {
    let terminal = Terminal::new();
    let folder = belljar().parent().unwrap();
    let path = std::env::join_paths([folder.to_owned()]).unwrap();
    // belljar is an MCP client as well, so it can be its own.
    let mut command = terminal.command(&["servers", "--json", "--config", &example("claude-desktop.json")]);
    let answer = Answer::of(command.env("PATH", path).output().unwrap());
    assert_eq!(answer.code, 0, "{answer:#?}");
    let servers = answer.json()["servers"].take();
    assert_eq!(servers[0]["name"], "belljar");
    assert_eq!((servers[0]["state"].as_str(), servers[0]["tools"].as_u64()), (Some("ready"), Some(2)), "{servers:#}");
}
