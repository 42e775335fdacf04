//! Converts one server of a client's file to a table of belljar.toml.

use std::{fmt::Write as _, path::Path};

use serde_json::{Map, Value as Json};
use toml_edit::{Array, InlineTable, Item, Table, Value as Toml};

use crate::{
    error::shown,
    expand::is_folder,
    tree::{Entry, Node, Value, check_unique},
};

/// The most omitted keys, and the most notes, that are reported for one server. People write a
/// handful; a stranger's file could have millions, and a person has to read the report.
const MOST_TOLD: usize = 20;

/// A server in the form of belljar.toml.
pub(super) struct Converted {
    pub(super) table: Table,
    /// What was changed or left out during the conversion.
    pub(super) notes: Vec<String>,
}

/// Converts the server that `entries` describe, in a file in the folder `directory`.
///
/// # Errors
/// The reason why it cannot be imported.
pub(super) fn convert(entries: &[Entry], directory: &Path) -> Result<Converted, String> {
    // Clients differ in which of two equal keys they use.
    unique(entries)?;
    let get = |key: &str| entries.iter().find(|entry| entry.key == key && !matches!(entry.node.value, Value::Null));
    if let Some(Entry { node: Node { value: Value::Boolean(true), .. }, .. }) = get("disabled") {
        return Err("it is disabled there".to_owned());
    }
    if let Some(Entry { node: Node { value: Value::String(command), .. }, .. }) = get("command")
        && Path::new(command).file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("belljar"))
    {
        return Err("it is belljar itself".to_owned());
    }
    let mut conversion = Conversion { directory, table: Table::new(), notes: Vec::new(), left_out: Vec::new() };
    for entry in entries {
        conversion.add(entry)?;
    }
    let mut notes = conversion.notes;
    notes.dedup();
    let mut notes = told(notes);
    if !conversion.left_out.is_empty() {
        notes.push(format!("left out: {}", told(conversion.left_out).join(", ")));
    }
    Ok(Converted { table: conversion.table, notes })
}

fn unique(entries: &[Entry]) -> Result<(), String> {
    check_unique(entries).map_err(|located| located.fault.to_string())
}

/// The first entries of a list, and how many more there are.
fn told(mut list: Vec<String>) -> Vec<String> {
    let more = list.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        list.truncate(MOST_TOLD);
        list.push(format!("{more} more"));
    }
    list
}

struct Conversion<'a> {
    directory: &'a Path,
    table: Table,
    notes: Vec<String>,
    left_out: Vec<String>,
}

impl Conversion<'_> {
    fn add(&mut self, Entry { key, node, .. }: &Entry) -> Result<(), String> {
        match (key.as_str(), &node.value) {
            (_, Value::Null) | ("disabled", Value::Boolean(false)) => {}
            ("command" | "url" | "start_timeout" | "era" | "builtin", Value::String(text)) => {
                let text = self.rewritten(text);
                self.set(key, text);
            }
            // A value that follows from the other keys is not written.
            ("type", Value::String(kind)) if kind == "sse" => self.set("type", "sse"),
            ("type", Value::String(_)) => {}
            ("cwd", Value::String(path)) => self.set_path("cwd", path),
            ("envFile" | "env_file", Value::String(_)) if self.table.contains_key("env_file") => {
                return Err("it has both 'envFile' and 'env_file'".to_owned());
            }
            ("envFile" | "env_file", Value::String(path)) => self.set_path("env_file", path),
            ("args", Value::List(list)) => {
                let args = list.iter().map(|node| self.text(node, key)).collect::<Result<Array, _>>()?;
                self.set(key, args);
            }
            ("env" | "headers", Value::Table(entries)) => {
                unique(entries)?;
                let mut table = InlineTable::new();
                for Entry { key: name, node, .. } in entries {
                    if !matches!(node.value, Value::Null) {
                        table.insert(name, self.text(node, key)?.into());
                    }
                }
                if !table.is_empty() {
                    self.set(key, table);
                }
            }
            // Cursor's name for it.
            ("oauth" | "auth", Value::Table(entries)) => self.add_oauth(entries)?,
            ("command" | "url" | "type" | "cwd" | "envFile" | "args" | "env" | "headers", _) => {
                return Err(format!("its '{}' is of a type that belljar does not understand", shown(key)));
            }
            _ => self.left_out.push(format!("'{}'", shown(key))),
        }
        Ok(())
    }

    fn add_oauth(&mut self, entries: &[Entry]) -> Result<(), String> {
        unique(entries)?;
        let mut table = InlineTable::new();
        for Entry { key, node, .. } in entries {
            match (key.as_str(), &node.value) {
                ("client_id" | "clientId" | "CLIENT_ID", _) => {
                    table.insert("client_id", self.text(node, key)?.into());
                }
                ("client_secret" | "clientSecret" | "CLIENT_SECRET", _) => {
                    table.insert("client_secret", self.text(node, key)?.into());
                }
                ("scopes", Value::List(list)) => {
                    let scopes = list.iter().map(|node| self.text(node, key)).collect::<Result<Array, _>>()?;
                    table.insert("scopes", scopes.into());
                }
                ("port" | "callbackPort", Value::Number(port)) => match port.parse::<u16>() {
                    Ok(port) => drop(table.insert("port", i64::from(port).into())),
                    Err(_) => self.left_out.push("'oauth.port'".to_owned()),
                },
                _ => self.left_out.push(format!("'oauth.{}'", shown(key))),
            }
        }
        if !table.is_empty() {
            self.set("oauth", table);
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: impl Into<Toml>) {
        self.table.insert(key, Item::Value(value.into()));
    }

    /// Sets a path so that it means the same wherever belljar.toml is stored.
    fn set_path(&mut self, key: &str, path: &str) {
        let path = self.rewritten(path);
        // A path that begins with a variable is resolved when it is read.
        if path.starts_with("${") || Path::new(&path).is_absolute() {
            return self.set(key, path);
        }
        // A `${` in the folder's own name is not a reference.
        let directory = self.directory.display().to_string().replace("${", "$${");
        self.set(key, Path::new(&directory).join(path).display().to_string());
    }

    fn text(&mut self, node: &Node, key: &str) -> Result<String, String> {
        match &node.value {
            Value::String(text) => Ok(self.rewritten(text)),
            Value::Number(number) => Ok(number.clone()),
            _ => Err(format!("its '{}' has values that are not texts", shown(key))),
        }
    }

    /// Rewrites references that only editors understand as environment variables.
    fn rewritten(&mut self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            let reference = after.split_once('}').map(|(reference, _)| reference);
            let input = reference.and_then(|reference| reference.strip_prefix("input:"));
            match (input, reference.and_then(|reference| reference.strip_prefix("env:"))) {
                (Some(input), _) if !before.ends_with('$') && is_short_name(input) => {
                    let variable = variable_of(input);
                    self.notes.push(format!("asks for '{}' there: written as ${{{variable}}}", shown(input)));
                    let _ = write!(result, "${{{variable}}}");
                    rest = after.get(input.len() + "input:}".len()..).unwrap_or_default();
                }
                // `${env:userHome}` is an environment variable, but `${userHome}` is a folder.
                (None, Some(name)) if !before.ends_with('$') && is_short_name(name) && !is_folder(name) => {
                    let _ = write!(result, "${{{name}}}");
                    rest = after.get(name.len() + "env:}".len()..).unwrap_or_default();
                }
                _ => {
                    result.push_str("${");
                    rest = after;
                }
            }
        }
        result.push_str(rest);
        result
    }
}

/// The variable that replaces an input that a client asks its user for.
fn variable_of(input: &str) -> String {
    input
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' })
        .collect()
}

fn is_short_name(name: &str) -> bool {
    const LONGEST: usize = 100;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ');
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(allowed)
}

/// A converted server, with its secrets.
pub(super) fn as_json(table: &Table) -> Map<String, Json> {
    let of_pairs = |(key, value): (&str, &Toml)| (key.to_owned(), value_as_json(value));
    table.iter().filter_map(|(key, item)| Some((key, item.as_value()?))).map(of_pairs).collect()
}

fn value_as_json(value: &Toml) -> Json {
    match value {
        Toml::String(text) => Json::from(text.value().as_str()),
        Toml::Integer(number) => Json::from(*number.value()),
        Toml::Float(number) => Json::from(*number.value()),
        Toml::Boolean(is_so) => Json::from(*is_so.value()),
        Toml::Datetime(time) => Json::from(time.to_string()),
        Toml::Array(values) => values.iter().map(value_as_json).collect(),
        Toml::InlineTable(table) => table.iter().map(|(key, value)| (key.to_owned(), value_as_json(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        masked::{Author, Shown},
        tree,
    };

    fn converting(json: &str) -> Result<(String, Shown, Vec<String>), String> {
        let Ok(root) = tree::parse(json, Format::Json) else { panic!("no JSON: {json}") };
        let Value::Table(entries) = &root.value else { panic!("no object: {json}") };
        convert(entries, Path::new("/project"))
            .map(|Converted { table, notes }| (table.to_string(), Shown::of(&as_json(&table), Author::User), notes))
    }

    #[test]
    fn a_program_is_taken_with_its_references() {
        let json = r#"{"type": "stdio", "command": "npx", "args": ["-y", "x ${workspaceFolder}"], "cwd": "sub", "envFile": "${userHome}/.env",
            "env": {"A": "${env:A}", "B": "${input:api-key}", "C": 3, "D": null, "E": "$${env:A}"}, "autoApprove": ["x"], "timeout": 5}"#;
        let (table, shown, notes) = converting(json).expect("a table");
        assert_eq!(
            table,
            "command = \"npx\"\nargs = [\"-y\", \"x ${workspaceFolder}\"]\ncwd = \"/project/sub\"\nenv_file = \"${userHome}/.env\"\n\
             env = { A = \"${A}\", B = \"${API_KEY}\", C = \"3\", E = \"$${env:A}\" }\n"
        );
        assert_eq!(shown.what, "npx -y 'x ${workspaceFolder}'");
        assert_eq!(
            shown.details,
            [
                "cwd: /project/sub",
                "env_file: '${userHome}/.env'",
                "env: A='${A}' B='${API_KEY}' C=[redacted] E=[redacted]"
            ]
        );
        assert_eq!(notes, ["asks for 'api-key' there: written as ${API_KEY}", "left out: 'autoApprove', 'timeout'"]);
    }

    #[test]
    fn a_remote_server_is_taken_and_its_secrets_are_not_said() {
        let json = r#"{"type": "sse", "url": "https://me:sesame@example.com:8/mcp?key=sesame#sesame",
            "headers": {"Authorization": "Bearer sesame"}, "auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "sesame", "scopes": ["r"], "x": 1}}"#;
        let (table, shown, notes) = converting(json).expect("a table");
        assert_eq!(
            table,
            "type = \"sse\"\nurl = \"https://me:sesame@example.com:8/mcp?key=sesame#sesame\"\nheaders = { Authorization = \"Bearer sesame\" }\n\
             oauth = { client_id = \"id\", client_secret = \"sesame\", scopes = [\"r\"] }\n"
        );
        assert_eq!(shown.what, "https://[redacted]@example.com:8/mcp?key=[redacted]#[redacted]");
        assert_eq!(
            shown.details,
            ["type: sse", "headers: Authorization=[redacted]", "oauth: client_id=id client_secret=[redacted] scopes=r"]
        );
        assert_eq!(notes, ["left out: 'oauth.x'"]);
    }

    #[test]
    fn what_a_clients_file_grants_its_servers_is_left_to_the_owner() {
        let json = r#"{"url": "https://x", "effects": {"drop": "read_only"}, "idempotent": ["drop"], "trust_hints": true,
            "asks": ["sampling"], "repeat": "idempotent", "oauth": {"allow_private": true}}"#;
        let (table, _, notes) = converting(json).expect("a table");
        assert_eq!(table, "url = \"https://x\"\n");
        let left_out = "left out: 'effects', 'idempotent', 'trust_hints', 'asks', 'repeat', 'oauth.allow_private'";
        assert_eq!(notes, [left_out]);
    }

    #[test]
    fn what_cannot_or_should_not_be_taken_has_a_reason() {
        for (json, reason) in [
            (r#"{"command": "x", "disabled": true}"#, "it is disabled there"),
            (r#"{"command": "/usr/bin/belljar", "args": ["serve"]}"#, "it is belljar itself"),
            (r#"{"command": ["npx"]}"#, "its 'command' is of a type that belljar does not understand"),
            (r#"{"command": "x", "env": {"A": ["sesame"]}}"#, "its 'env' has values that are not texts"),
            (r#"{"command": "x", "envFile": "a", "env_file": "b"}"#, "it has both 'envFile' and 'env_file'"),
        ] {
            assert_eq!(converting(json).expect_err(json), reason);
        }
    }

    #[test]
    fn what_stands_there_twice_is_not_taken_as_either() {
        for (json, key) in [
            (r#"{"command": "shown", "command": "started"}"#, "command"),
            (r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#, "A"),
            (r#"{"url": "https://x", "headers": {"A": "1", "A": "2"}}"#, "A"),
            (r#"{"url": "https://x", "oauth": {"scopes": [], "scopes": []}}"#, "scopes"),
        ] {
            let reason = format!("'{key}' is defined twice: rename one, or remove it");
            assert_eq!(converting(json).expect_err(json), reason);
        }
    }

    #[test]
    fn what_is_told_of_one_server_can_be_read() {
        let keys: String = (0..500).map(|number| format!(", \"k{number}\": 1")).collect();
        let inputs: String = (0..500).map(|number| format!("${{input:i{number}}}")).collect();
        let (_, _, notes) = converting(&format!(r#"{{"command": "{inputs}"{keys}}}"#)).expect("a table");
        assert_eq!(notes.len(), MOST_TOLD + 2, "{notes:?}");
        assert_eq!(notes[MOST_TOLD], "480 more");
        assert!(notes[MOST_TOLD + 1].ends_with("'k19', 480 more"), "{notes:?}");
    }

    #[test]
    fn references_mean_what_they_mean_in_the_clients_file() {
        let taken = |folder: &str, json: &str| {
            let Ok(root) = tree::parse(json, Format::Json) else { panic!("no JSON: {json}") };
            let Value::Table(entries) = &root.value else { panic!("no object: {json}") };
            convert(entries, Path::new(folder)).expect("a table").table.to_string()
        };
        // A variable of the environment is not a folder of the same name.
        assert_eq!(taken("/", r#"{"command": "${env:userHome}"}"#), "command = \"${env:userHome}\"\n");
        // Nor is part of a folder's name a reference.
        let json = r#"{"cwd": "${A}/sub", "env_file": "sub/${A}"}"#;
        assert_eq!(taken("/${B}$${", json), "cwd = \"${A}/sub\"\nenv_file = \"/$${B}$$${/sub/${A}\"\n");
    }
}
