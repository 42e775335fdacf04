//! `belljar install`: belljar's entry in a client's configuration.
//!
//! The file is the client's. Its contents, comments included, stay as they are, and a file that
//! cannot be read is not touched. `remote` is the entry for a server that is already running, with
//! a token of its own, `hooks` writes the hooks that lead an agent to belljar, and `arguments` has
//! the command's arguments.

mod arguments;
mod hooks;
mod remote;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use belljar_config::masked::{self, Author};
use belljar_model::{ErrorKind, RunError};
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::{Value, json};

use crate::{
    consent, environment,
    failure::Failure,
    output::{self, GOOD, visible_line},
};
pub(crate) use arguments::InstallArguments;
use arguments::InstallClient;
use remote::Remote;

/// The name of the entry.
const NAME: &str = "belljar";
/// The suffix of copies of a changed file.
const SUFFIX: &str = "before-belljar";

impl InstallClient {
    /// Where the client keeps the user's own servers.
    fn path(self) -> Option<PathBuf> {
        match self {
            Self::ClaudeCode => environment::home().map(|home| home.join(".claude.json")),
            Self::Cursor => environment::home().map(|home| home.join(".cursor").join("mcp.json")),
            Self::ClaudeDesktop => {
                environment::settings_folder().map(|folder| folder.join("Claude").join("claude_desktop_config.json"))
            }
            Self::VsCode => {
                environment::settings_folder().map(|folder| folder.join("Code").join("User").join("mcp.json"))
            }
            Self::Codex | Self::Copilot | Self::Gemini => None,
        }
    }

    /// The client's own way to add belljar, if belljar writes no entry for it.
    fn own_way(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some("codex mcp add belljar -- belljar serve"),
            Self::Copilot => Some("/mcp add, in a session"),
            Self::Gemini => Some("gemini mcp add belljar belljar serve"),
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor | Self::VsCode => None,
        }
    }

    /// The key of the servers.
    fn key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }
}

pub(crate) fn install(arguments: &InstallArguments) -> Result<ExitCode, Failure> {
    if arguments.hooks {
        return hooks::install(arguments);
    }
    if let Some(own_way) = arguments.client.own_way() {
        let message = "for this client, belljar writes only hooks (--hooks) and no entry";
        return Err(Failure::usage(message, format!("use the client's own command instead: {own_way}")));
    }
    let path = arguments.client.path().ok_or_else(|| Failure::usage("there is no home folder", "set HOME"))?;
    let before = belljar_config::text(&path)?;
    let key = arguments.client.key();
    let text = before.as_deref().unwrap_or_default();
    let remote = Remote::wanted(arguments)?;
    let changed = match &remote {
        _ if arguments.undo => without(text, key),
        Some(remote) => remote.change(text, key),
        None => with(text, key, &entry(arguments)?),
    };
    let changed = changed.map_err(|problem| left_as_it_is(&path, &problem))?;
    if let (Some(remote), Some(_)) = (&remote, &changed) {
        remote.check_name()?;
    }
    let name = format!("{key}.{NAME}");
    if !arguments.json {
        show(&path, &name, changed.as_ref());
    }
    let is_wanted = match &remote {
        _ if changed.is_none() => true,
        Some(_) if arguments.json && !arguments.yes => false,
        Some(remote) => remote.agreed(arguments).map(|()| true)?,
        None => arguments.yes || (!arguments.json && consent::agreed("write it?")),
    };
    let is_written = is_wanted && changed.is_some();
    let copy = match (&changed, &remote) {
        (Some(_), Some(remote)) if is_wanted => remote.write(&path, before.as_deref(), key)?,
        (Some(change), None) if is_wanted => replace(&path, before.as_deref(), &change.text)?,
        _ => None,
    };
    if arguments.json {
        let changes: Vec<Value> = changed.iter().map(|change| change.as_json(&name)).collect();
        output::print_json(&json!({ "file": path, "changes": changes, "written": is_written, "copy": copy }));
    } else if is_written {
        output::print(format_args!("{GOOD}written{GOOD:#}; the client reads it when it starts again"));
        if let Some(remote) = &remote {
            remote.tell();
        }
        if let Some(copy) = copy {
            output::note(format_args!("the previous content is in {}", visible_line(&copy.display().to_string())));
        }
    } else if !is_wanted {
        output::remark("nothing was written; --yes writes it");
    }
    Ok(if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn replace(path: &Path, before: Option<&str>, changed: &str) -> Result<Option<PathBuf>, Failure> {
    belljar_config::replace(path, before, changed, SUFFIX).map_err(|error| not_written(path, &error))
}

fn left_as_it_is(path: &Path, problem: &str) -> Failure {
    let message = format!("{} is left as it is: {problem}", path.display());
    RunError::new(ErrorKind::Config, message).with_hint("fix the file, or change it by hand").into()
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    RunError::new(ErrorKind::Config, format!("{} cannot be written: {error}", path.display())).into()
}

/// How the client starts belljar: by its full path, since clients that were not started from a
/// shell do not find it otherwise.
fn entry(arguments: &InstallArguments) -> Result<CstInputValue, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("belljar's own program cannot be found: {error}")))?;
    let text = |path: &Path| path.to_str().map(|text| CstInputValue::String(text.to_owned()));
    let no_text = || Failure::usage("the path is not UTF-8, which JSON requires", "move it to another folder");
    let mut args = vec![CstInputValue::String("serve".to_owned())];
    if let Some(config) = &arguments.config.config {
        let config = std::path::absolute(config).unwrap_or_else(|_| config.clone());
        args.push(CstInputValue::String("--config".to_owned()));
        args.push(text(&config).ok_or_else(no_text)?);
    }
    let mut entry = vec![
        ("command".to_owned(), text(&program).ok_or_else(no_text)?),
        ("args".to_owned(), CstInputValue::Array(args)),
    ];
    if arguments.client == InstallClient::VsCode {
        entry.insert(0, ("type".to_owned(), CstInputValue::String("stdio".to_owned())));
    }
    Ok(CstInputValue::Object(entry))
}

/// The client's file with another entry. Only the entry is ever shown: the rest of the file is not
/// ours, and may contain secrets.
struct Change {
    text: String,
    /// The entry before and after, its secrets masked.
    from: Option<Value>,
    to: Option<Value>,
}

impl Change {
    fn as_json(&self, name: &str) -> Value {
        json!({ "entry": name, "from": self.from, "to": self.to })
    }
}

/// The file with the entry in it; `None` if it is there already.
fn with(text: &str, key: &str, entry: &CstInputValue) -> Result<Option<Change>, String> {
    let (root, top) = parsed(if text.trim().is_empty() { "{}\n" } else { text })?;
    let servers = match top.get(key) {
        Some(servers) => servers.object_value().ok_or_else(|| format!("its '{key}' is not an object"))?,
        None => top.object_value_or_create(key).ok_or_else(|| format!("'{key}' cannot be added to it"))?,
    };
    let (from, property) = match servers.get(NAME) {
        Some(there) => {
            let from = value_of(&there);
            there.set_value(entry.clone());
            (from, there)
        }
        None => (None, servers.append(NAME, entry.clone())),
    };
    let to = value_of(&property);
    if from.is_some() && from == to {
        return Ok(None);
    }
    Ok(Some(Change { text: root.to_string(), from: from.map(masked_entry), to: to.map(masked_entry) }))
}

/// The file without the entry; `None` if there is none.
fn without(text: &str, key: &str) -> Result<Option<Change>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let (root, top) = parsed(text)?;
    let Some(entry) = top.object_value(key).and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    let from = value_of(&entry);
    entry.remove();
    Ok(Some(Change { text: root.to_string(), from: from.map(masked_entry), to: None }))
}

fn value_of(property: &CstObjectProp) -> Option<Value> {
    property.value().and_then(|value| value.to_serde_value())
}

fn masked_entry(entry: Value) -> Value {
    match entry {
        Value::Object(entry) => Value::Object(masked::entry(&entry, Author::User)),
        // Something else has belljar's name: only its existence matters.
        _ => Value::from(masked::MASK),
    }
}

fn parsed(text: &str) -> Result<(CstRootNode, CstObject), String> {
    // Depth is bounded before a parser recurses into it.
    const DEPTH: usize = 64;
    if depth(text) > DEPTH {
        return Err(format!("it nests deeper than {DEPTH} levels"));
    }
    let root =
        CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("it is not JSON: {error}"))?;
    let top = root.object_value().ok_or("it is not a JSON object")?;
    Ok((root, top))
}

/// The most brackets that are open at once, including those in texts and comments.
fn depth(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for character in text.chars() {
        match character {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn show(path: &Path, name: &str, change: Option<&Change>) {
    let path = visible_line(&path.display().to_string()).into_owned();
    let Some(Change { from, to, .. }) = change else {
        output::print(format_args!("{path}: nothing to change"));
        return;
    };
    output::print(format_args!("{path}:"));
    for (sign, entry) in [('-', from), ('+', to)] {
        if let Some(entry) = entry {
            output::print(format_args!("  {sign} {name}: {}", visible_line(&entry.to_string())));
        }
    }
    output::print("  everything else in the file stays as it is");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> CstInputValue {
        CstInputValue::Object(vec![("command".to_owned(), CstInputValue::String("b".to_owned()))])
    }

    #[test]
    fn what_is_in_the_file_stays_and_can_be_had_back() {
        let text = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"x\" }, // odd\n  },\n}\n";
        let longer = with(text, "mcpServers", &some()).expect("a text").expect("a change");
        assert_eq!((&longer.from, &longer.to), (&None, &Some(json!({ "command": "b" }))));
        let longer = longer.text;
        assert!(longer.contains("// mine") && longer.contains("// odd") && longer.contains("\"belljar\""), "{longer}");
        assert!(with(&longer, "mcpServers", &some()).expect("a text").is_none());
        let back = without(&longer, "mcpServers").expect("a text").expect("a change").text;
        assert!(back.contains("\"fs\": { \"command\": \"x\" }") && !back.contains("belljar"), "{back}");
        assert!(without(&back, "mcpServers").expect("a text").is_none());
    }

    #[test]
    fn an_entry_that_was_there_is_shown_without_its_secrets() {
        let text =
            r#"{"mcpServers": {"belljar": {"command": "b", "env": {"A": "sesame"}, "args": ["--token", "sesame"]}}}"#;
        let change = with(text, "mcpServers", &some()).expect("a text").expect("a change");
        let from = json!({ "command": "b", "env": { "A": "[redacted]" }, "args": ["--token", "[redacted]"] });
        assert_eq!((change.from, change.to), (Some(from), Some(json!({ "command": "b" }))));
        let odd = with(r#"{"mcpServers": {"belljar": "sesame"}}"#, "mcpServers", &some());
        assert_eq!(odd.expect("a text").expect("a change").from, Some(json!("[redacted]")));
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "3", "{\"mcpServers\": []}", "{} {}", deep.as_str()] {
            assert!(with(text, "mcpServers", &some()).is_err(), "{}", &text[..text.len().min(40)]);
        }
    }
}
