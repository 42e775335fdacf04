//! The top level of a file: the servers and everything else.

use std::path::Path;

use crate::{
    Config, Format, MAX_SERVERS, approvals, artifacts, children, daemon, effects,
    error::{ConfigErrorKind, Field, Located, shown},
    expand::Expander,
    hook, http, keep, ledger, limits, policy,
    server::Reader,
    skills,
    tree::{Entry, Node, Value, check_unique, kind},
};

pub(crate) const TOML_KEYS: [&str; 14] = [
    "limits",
    "runs",
    "effects",
    "children",
    "artifacts",
    "daemon",
    "ledger",
    "keep",
    "policy",
    "approvals",
    "http",
    "hook",
    "skills",
    "servers",
];
const JSON_KEYS: [&str; 2] = ["mcpServers", "servers"];

/// Reads the configuration from its tree.
pub(crate) fn read(root: &Node, format: Format, directory: &Path, expander: Expander<'_>) -> Result<Config, Located> {
    let (settings, servers) = match format {
        Format::Toml => toml(root, directory, &expander)?,
        Format::Json => (Config::default(), Some(json(root)?)),
    };
    let by_effect = match format {
        Format::Toml => find(self::entries(root), "effects").map(|entry| effects::read(&entry.node)).transpose()?,
        Format::Json => None,
    };
    let Some(list) = servers else { return Ok(settings) };
    let Value::Table(entries) = &list.node.value else {
        let (field, found) = (Field::of_file(&list.key), kind(&list.node, format));
        let expected = match format {
            Format::Toml => "a table of servers",
            Format::Json => "an object of servers",
        };
        return Err(ConfigErrorKind::Expected { field, expected, found }.at(list.node.offset));
    };
    check_unique(entries)?;
    if entries.len() > MAX_SERVERS {
        return Err(ConfigErrorKind::TooManyServers { limit: MAX_SERVERS, used: entries.len() }.at(list.offset));
    }
    if let Some(taken) = entries.iter().find(|entry| entry.key == skills::NAME) {
        return Err(ConfigErrorKind::NameOfSkills.at(taken.offset));
    }
    let reader = Reader { format, directory, expander, by_effect: by_effect.unwrap_or_default() };
    let servers = entries.iter().filter_map(|entry| reader.read(entry).transpose()).collect::<Result<_, _>>()?;
    Ok(Config { servers, ..settings })
}

/// The servers, and everything else.
fn toml<'n>(root: &'n Node, directory: &Path, expander: &Expander<'_>) -> Result<(Config, Option<&'n Entry>), Located> {
    let entries = entries(root);
    if let Some(entry) = entries.iter().find(|entry| !TOML_KEYS.contains(&entry.key.as_str())) {
        return Err(ConfigErrorKind::unknown_key("", &entry.key, &TOML_KEYS).at(entry.offset));
    }
    let limits = find(entries, "limits").map(|entry| limits::read(&entry.node)).transpose()?;
    let runs = find(entries, "runs").map(|entry| limits::runs(&entry.node)).transpose()?;
    let children = find(entries, "children").map(|entry| children::read(&entry.node)).transpose()?;
    let artifacts = find(entries, "artifacts").map(|entry| artifacts::read(&entry.node)).transpose()?;
    let daemon = find(entries, "daemon").map(|entry| daemon::read(&entry.node)).transpose()?;
    let ledger = find(entries, "ledger").map(|entry| ledger::read(&entry.node)).transpose()?;
    let keep = find(entries, "keep").map(|entry| keep::read(&entry.node)).transpose()?;
    let policy = find(entries, "policy").map(|entry| policy::read(&entry.node, directory, expander)).transpose()?;
    let approvals = find(entries, "approvals").map(|entry| approvals::read(&entry.node, expander)).transpose()?;
    let http = find(entries, "http").map(|entry| http::read(&entry.node, expander)).transpose()?;
    let hooks = find(entries, "hook").map(|entry| hook::read(&entry.node, &server_names(root))).transpose()?;
    let skills = find(entries, "skills").map(|entry| skills::read(&entry.node, directory, expander)).transpose()?;
    let settings = Config {
        servers: Vec::new(),
        limits: limits.unwrap_or_default(),
        runs: runs.unwrap_or_default(),
        children: children.unwrap_or_default(),
        artifacts: artifacts.unwrap_or_default(),
        daemon: daemon.unwrap_or_default(),
        ledger: ledger.unwrap_or_default(),
        keep: keep.unwrap_or_default(),
        policy: policy.flatten(),
        approvals: approvals.unwrap_or_default(),
        http: http.unwrap_or_default(),
        hooks: hooks.unwrap_or_default(),
        skills: skills.unwrap_or_default(),
    };
    Ok((settings, find(entries, "servers")))
}

fn json(root: &Node) -> Result<&Entry, Located> {
    let entries = entries(root);
    check_unique(entries)?;
    // VS Code's settings.json contains what is in its mcp.json, one level deeper.
    let settings = find(entries, "mcp").and_then(|entry| match &entry.node.value {
        Value::Table(entries) => find(entries, "servers"),
        _ => None,
    });
    match (find(entries, "mcpServers"), find(entries, "servers"), settings) {
        (Some(servers), None, _) | (None, Some(servers), _) | (None, None, Some(servers)) => Ok(servers),
        (Some(first), Some(second), _) => Err(ConfigErrorKind::TwoServerLists.at(first.offset.max(second.offset))),
        (None, None, None) => {
            let is_near = |entry: &&Entry| belljar_model::nearest(&entry.key, JSON_KEYS).is_some();
            let nearest = entries.iter().find(is_near);
            let fault = ConfigErrorKind::NoServers { nearest: nearest.map(|entry| shown(&entry.key)) };
            Err(fault.at(nearest.map_or(root.offset, |entry| entry.offset)))
        }
    }
}

/// The names of the servers of a belljar.toml.
pub(crate) fn server_names(root: &Node) -> Vec<String> {
    match find(entries(root), "servers").map(|entry| &entry.node.value) {
        Some(Value::Table(entries)) => entries.iter().map(|entry| entry.key.clone()).collect(),
        _ => Vec::new(),
    }
}

/// All lists of servers in a client's file: the one at the top, and the one of the project in
/// `workspace`, which Claude Code keeps beside it. A file that has neither is an error.
pub(crate) fn lists<'t>(root: &'t Node, workspace: Option<&Path>) -> Result<Vec<&'t Entry>, Located> {
    let table = |entry: &'t Entry| match &entry.node.value {
        Value::Table(entries) => Some(entries.as_slice()),
        _ => None,
    };
    let project = workspace.and_then(Path::to_str).and_then(|workspace| {
        let projects = find(entries(root), "projects").and_then(table)?;
        let project = find(projects, workspace).and_then(table)?;
        find(project, "mcpServers")
    });
    match (json(root), project) {
        (Ok(list), project) => Ok([list].into_iter().chain(project).collect()),
        (Err(_), Some(project)) => Ok(vec![project]),
        (Err(fault), None) => Err(fault),
    }
}

/// The entries at the top; empty if the top is not a table, which is only possible in JSON.
fn entries(root: &Node) -> &[Entry] {
    match &root.value {
        Value::Table(entries) => entries,
        _ => &[],
    }
}

fn find<'t>(entries: &'t [Entry], key: &str) -> Option<&'t Entry> {
    entries.iter().find(|entry| entry.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{json, names, toml};

    #[test]
    fn servers_come_in_the_order_of_the_file_and_without_the_disabled() {
        let text = "[servers.z]\nurl = 'http://z'\n[servers.b]\ncommand = '${NONE}'\ndisabled = true\n[servers.a]\nbuiltin = 'demo'\n";
        assert_eq!(names(toml(text)), ["z", "a"]);
        let text = r#"{"mcpServers": {"z": {"url": "http://z"}, "b": {"command": "${NONE}", "disabled": true}, "a": {"command": "x", "disabled": false}}}"#;
        assert_eq!(names(json(text)), ["z", "a"]);
    }

    #[test]
    fn a_file_may_have_no_servers() {
        for text in ["", "# nothing\n", "[limits]\n", "[servers]\n"] {
            assert_eq!(toml(text).expect(text), Config::default());
        }
        assert_eq!(json("{\"mcpServers\": {}}").expect("a config"), Config::default());
    }

    #[test]
    fn the_files_of_the_clients_are_read() {
        let claude_desktop = r#"{
            "globalShortcut": "", "preferences": {"a": [1, {"b": null}]},
            "mcpServers": {"fs": {"command": "npx", "args": ["-y", "server", "/data"], "env": {"KEY": "k"}}}
        }"#;
        let claude_code = r#"{"mcpServers": {
            "fs": {"type": "stdio", "command": "npx", "args": [], "env": {}},
            "remote": {"type": "http", "url": "${BASE:-https://example.com}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "old": {"type": "sse", "url": "https://example.com/sse"}
        }}"#;
        let cursor = r#"{"mcpServers": {
            "fs": {"command": "python", "args": ["${workspaceFolder}/server.py"], "env": {"K": "${env:TOKEN}"}, "envFile": null},
            "remote": {"url": "http://localhost:3000/mcp", "autoApprove": ["x"], "alwaysAllow": [], "timeout": 60, "disabledTools": []}
        }}"#;
        let vs_code = r#"{
            // asked for once
            "inputs": [{"type": "promptString", "id": "key", "password": true},],
            "servers": {
                "fs": {"type": "stdio", "command": "npx", "cwd": "${workspaceFolder}", "env": {"PORT": 3000, "GONE": null}, "dev": {"watch": "*"}},
                /* remote */
                "remote": {"type": "streamable-http", "url": "https://example.com/mcp", "headers": {}},
            },
        }"#;
        let settings = r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"fs": {"command": "npx"}}}}"#;
        assert_eq!(names(json(settings)), ["fs"]);
        assert_eq!(names(json(claude_desktop)), ["fs"]);
        assert_eq!(names(json(claude_code)), ["fs", "remote", "old"]);
        assert_eq!(names(json(cursor)), ["fs", "remote"]);
        assert_eq!(names(json(vs_code)), ["fs", "remote"]);
    }

    #[test]
    fn a_json_file_without_servers_says_what_was_expected() {
        let expected = "no servers in it: expected {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}";
        for (text, error) in [
            ("{}", format!("line 1, column 1: {expected}")),
            ("", format!("line 1, column 1: {expected}")),
            ("\n [1]", format!("line 2, column 2: {expected}")),
            ("{\"other\": 1,\n\"mcpservers\": {}}", format!("line 2, column 1: {expected}, and found 'mcpservers'")),
        ] {
            assert_eq!(json(text).expect_err(text), error);
        }
        assert_eq!(
            json("{\"servers\": {}, \"mcpServers\": {}}").expect_err("both"),
            "line 1, column 17: both 'mcpServers' and 'servers' are there: keep one of them"
        );
    }

    #[test]
    fn two_servers_of_one_name_are_an_error_in_both_formats() {
        let twice = "'fs' is defined twice: rename one, or remove it";
        for (text, position) in [
            ("{\"mcpServers\": {\"fs\": {\"command\": \"a\"},\n \"fs\": {\"command\": \"b\"}}}", "line 2, column 2"),
            ("{\"mcpServers\": {\"fs\": {\"command\": \"a\"}, \"\\u0066s\": 1}}", "line 1, column 41"),
        ] {
            assert_eq!(json(text).expect_err(text), format!("{position}: {twice}"));
        }
        for (text, position) in [
            ("[servers.fs]\ncommand = 'a'\n[servers.fs]\ncommand = 'b'\n", "line 3, column 10"),
            ("[servers]\nfs.command = 'a'\n[servers.fs]\nurl = 'b'\n", "line 3, column 10"),
            ("[servers]\nfs = {command = 'a'}\nfs = {command = 'b'}\n", "line 3, column 1"),
        ] {
            assert_eq!(toml(text).expect_err(text), format!("{position}: {twice}"));
        }
        let text = "{\"mcpServers\": {}, \"mcpServers\": {}}";
        assert_eq!(
            json(text).expect_err(text),
            "line 1, column 20: 'mcpServers' is defined twice: rename one, or remove it"
        );
    }

    #[test]
    fn more_servers_than_the_limit_are_an_error() {
        let text = |count: usize| {
            (0..count).map(|index| format!("[servers.s{index}]\nbuiltin = 'demo'\n")).collect::<String>()
        };
        assert_eq!(toml(&text(MAX_SERVERS)).expect("as many as may be").servers.len(), MAX_SERVERS);
        let error = toml(&text(MAX_SERVERS + 1)).expect_err("one more");
        assert_eq!(error, "line 1, column 2: 257 servers; the limit is 256: split the file");
    }

    #[test]
    fn an_unknown_key_at_the_top_is_an_error_in_belljar_toml() {
        for (text, expected) in [
            ("[server.fs]\n", "line 1, column 2: unknown key 'server': did you mean 'servers'?"),
            ("[mcpServers.fs]\n", "line 1, column 2: unknown key 'mcpServers': did you mean 'servers'?"),
            (
                "timeout = '5s'\n",
                "line 1, column 1: unknown key 'timeout': it is one of limits, runs, effects, children, artifacts, daemon, ledger, keep, policy, approvals, http, hook, skills, servers",
            ),
            ("servers = 5\n", "line 1, column 11: 'servers' must be a table of servers, not a number"),
        ] {
            assert_eq!(toml(text).expect_err(text), expected);
        }
        let text = "{\"mcpServers\": [1]}";
        assert_eq!(
            json(text).expect_err(text),
            "line 1, column 16: 'mcpServers' must be an object of servers, not an array"
        );
    }
}
