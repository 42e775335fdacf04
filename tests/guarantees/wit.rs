//! Each child server is a typed WIT package, which the tools of every language accept unchanged:
//! `belljar wit`.

use std::{fs, path::Path};

use serde_json::json;
use wit_parser::{PackageId, Resolve};

use crate::{
    dead_children::child,
    support::{Answer, Terminal},
};

/// A child of the testkit beside the built-in demo.
struct Servers {
    terminal: Terminal,
    config: String,
}

impl Servers {
    /// The child records each of its starts in a file.
    fn new() -> Self {
        let terminal = Terminal::new();
        let started = terminal.folder.path().join("started");
        let script = format!("echo started >> '{}'; exec '{}' echo", started.display(), child().display());
        let text = format!(
            "[servers.kid]\ncommand = \"sh\"\nargs = {}\n[servers.demo]\nbuiltin = \"demo\"\n",
            json!(["-c", script])
        );
        let config = terminal.file("belljar.toml", text).to_str().unwrap().to_owned();
        Self { terminal, config }
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        let mut all = arguments.to_vec();
        all.extend(["--config", &self.config]);
        self.terminal.belljar(&all)
    }

    fn printed(&self, arguments: &[&str]) -> String {
        let answer = self.belljar(arguments);
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
        answer.stdout
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.terminal.folder.path().join("started")).unwrap_or_default().lines().count()
    }
}

fn parsed(text: &str) -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let id = resolve.push_str("package.wit", text).unwrap_or_else(|error| panic!("{error:#}\n{text}"));
    (resolve, id)
}

fn of_folder(folder: &Path) -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let (id, _) = resolve.push_dir(folder).unwrap_or_else(|error| panic!("{error:#}"));
    (resolve, id)
}

fn functions(resolve: &Resolve, package: &str, interface: &str) -> Vec<String> {
    let (_, package) = resolve.packages.iter().find(|(_, found)| found.name.to_string() == package).unwrap();
    resolve.interfaces[package.interfaces[interface]].functions.keys().cloned().collect()
}

#[test]
#[cfg(unix)]
fn a_server_is_a_package_on_stdout_and_in_a_folder() {
    let servers = Servers::new();
    let text = servers.printed(&["wit", "demo"]);
    let (resolve, id) = parsed(&text);
    assert_eq!(resolve.packages[id].name.to_string(), "belljar:mcp-demo@0.1.0");
    assert!(text.contains("get-issue: func(args: get-issue-args) -> result<"), "{text}");
    assert!(text.contains("get-issue: async func(args: get-issue-args) -> result<"), "{text}");
    assert_eq!(servers.starts(), 0, "another server was started");

    let said = servers.printed(&["wit", "demo", "--out", "wit"]);
    assert_eq!(said, "the package is in wit\n");
    let (same, id) = of_folder(&servers.terminal.folder.path().join("wit"));
    assert_eq!(same.packages[id].name.to_string(), "belljar:mcp-demo@0.1.0");
    let package = "belljar:mcp-demo@0.1.0";
    assert_eq!(functions(&same, package, "tools"), functions(&resolve, package, "tools"));
}

#[test]
#[cfg(unix)]
fn all_servers_together_have_a_world_and_a_guest_has_run() {
    let servers = Servers::new();
    for (arguments, worlds) in
        [(&["wit"][..], ["imports", "imports-async"]), (&["wit", "--world"], ["guest", "guest-async"])]
    {
        let (resolve, id) = parsed(&servers.printed(arguments));
        assert_eq!(resolve.packages[id].name.to_string(), "belljar:guest@0.1.0");
        let found: Vec<&str> = resolve.packages[id].worlds.keys().map(String::as_str).collect();
        assert_eq!(found, worlds);
        for (name, interface) in worlds.iter().zip(["tools", "tools-async"]) {
            let world = &resolve.worlds[resolve.packages[id].worlds[*name]];
            let imports: Vec<String> = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
            for server in ["kid", "demo"] {
                assert!(imports.contains(&format!("belljar:mcp-{server}/{interface}@0.1.0")), "{imports:?}");
            }
            let exports: Vec<String> = world.exports.keys().map(|key| resolve.name_world_key(key)).collect();
            assert_eq!(exports.concat(), if name.starts_with("guest") { "run" } else { "" });
        }
    }
}

#[test]
#[cfg(unix)]
fn a_package_has_the_named_tools_alone() {
    let servers = Servers::new();
    let answer = servers.belljar(&["wit", "demo.get_issue", "demo.list_projects", "--json"]).json();
    let tools: Vec<(&str, &str)> = answer["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["tool"].as_str().unwrap(), tool["function"].as_str().unwrap()))
        .collect();
    let mut sorted = tools.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [("demo.get_issue", "get-issue"), ("demo.list_projects", "list-projects")]);
    let (resolve, _) = parsed(&servers.printed(&["wit", "demo.get_issue", "demo.list_projects"]));
    let mut functions = functions(&resolve, "belljar:mcp-demo@0.1.0", "tools-async");
    functions.sort_unstable();
    assert_eq!(functions, ["get-issue", "list-projects"]);
    let paths: Vec<&str> =
        answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["package.wit", "deps/belljar-mcp/package.wit"]);
    // A server that is named as a whole stays whole.
    let whole = servers.printed(&["wit", "demo"]);
    assert_eq!(servers.printed(&["wit", "demo.get_issue", "demo"]), whole);
}

#[test]
#[cfg(unix)]
fn a_server_is_started_only_if_its_tools_are_not_known() {
    let servers = Servers::new();
    let first = servers.printed(&["wit", "kid"]);
    assert_eq!(servers.starts(), 1);
    assert_eq!(servers.printed(&["wit", "kid"]), first);
    assert_eq!(servers.starts(), 1, "its list was on disk");
}

#[test]
#[cfg(unix)]
fn what_is_not_there_is_named_with_what_was_meant() {
    let servers = Servers::new();
    servers
        .terminal
        .file("broken.toml", "[servers.broken]\ncommand = \"/nowhere/at/all\"\n[servers.demo]\nbuiltin = \"demo\"\n");
    for (name, says, hint) in [
        ("demmo", "there is no server \"demmo\"", "did you mean demo?"),
        ("demo.get_isue", "there is no tool \"demo.get_isue\"", "did you mean demo.get_issue?"),
        ("demo.", "there is no tool \"demo.\"", "belljar search --server demo"),
        ("", "there is no server \"\"", "belljar servers"),
    ] {
        let answer = servers.belljar(&["wit", name]);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{answer:#?}");
        assert!(answer.stderr.contains(says) && answer.stderr.contains(hint), "{answer:#?}");
    }
    let answer = servers.terminal.belljar(&["wit", "broken", "--config", "broken.toml"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{answer:#?}");
    assert!(answer.stderr.contains("broken is not available"), "{answer:#?}");
    // If nobody asked for it by name, the others are printed.
    let answer = servers.terminal.belljar(&["wit", "--config", "broken.toml"]);
    assert!(answer.code == 0 && answer.stderr.contains("broken is left out"), "{answer:#?}");
    parsed(&answer.stdout);
}

#[test]
#[cfg(unix)]
fn no_link_in_the_folder_leads_a_file_out_of_it() {
    let servers = Servers::new();
    let folder = servers.terminal.folder.path();
    for link in ["deps", "package.wit"] {
        let (outside, out) = (folder.join(format!("outside-{link}")), folder.join(format!("out-{link}")));
        fs::create_dir(&out).unwrap();
        if link == "deps" {
            fs::create_dir(&outside).unwrap();
        } else {
            fs::write(&outside, "mine").unwrap();
        }
        std::os::unix::fs::symlink(&outside, out.join(link)).unwrap();
        let answer = servers.belljar(&["wit", "demo", "--out", out.to_str().unwrap()]);
        assert_eq!(answer.code, 2, "{answer:#?}");
        assert!(answer.stderr.contains("cannot be written to"), "{answer:#?}");
        if link == "deps" {
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        } else {
            assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        }
    }
}
