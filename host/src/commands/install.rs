//! `belljar install`: belljar's entry in a client's configuration.
//!
//! The file is the client's. What is in it, comments included, stays as it is; one that cannot be read is not touched.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use belljar_model::{ErrorKind, RunError};
use clap::ValueEnum;
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::json;

use crate::{
    arguments::InstallArguments,
    environment,
    failure::Failure,
    output::{self, GOOD, visible_line},
};

/// The name of the entry.
const NAME: &str = "belljar";
/// What the copies of a changed file are called.
const SUFFIX: &str = "before-belljar";

/// An MCP client.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallClient {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
}

impl InstallClient {
    /// Where it keeps the user's own servers.
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
        }
    }

    /// The key under which the servers stand.
    fn key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }
}

pub(crate) fn install(arguments: &InstallArguments) -> Result<ExitCode, Failure> {
    let path = arguments.client.path().ok_or_else(|| Failure::usage("there is no home folder", "set HOME"))?;
    let before = belljar_config::text(&path)?;
    let key = arguments.client.key();
    let changed = if arguments.undo {
        without(before.as_deref().unwrap_or_default(), key)
    } else {
        with(before.as_deref().unwrap_or_default(), key, &entry(arguments)?)
    };
    let changed = changed.map_err(|problem| {
        let message = format!("{} is left as it is: {problem}", path.display());
        Failure::from(RunError::new(ErrorKind::Config, message).with_hint("mend the file, or change it by hand"))
    })?;
    let before_text = before.as_deref().unwrap_or_default();
    let lines = difference(before_text, &changed);
    if !arguments.json {
        show(&path, &lines);
    }
    let is_wanted = lines.is_empty() || arguments.yes || (!arguments.json && agreed());
    let is_written = is_wanted && !lines.is_empty();
    let copy = if is_written { replace(&path, before.as_deref(), &changed)? } else { None };
    if arguments.json {
        output::print_json(&json!({ "file": path, "changes": lines, "written": is_written, "copy": copy }));
    } else if is_written {
        output::print(format_args!("{GOOD}written{GOOD:#}; the client reads it when it starts anew"));
        if let Some(copy) = copy {
            output::note(format_args!("what it was before is in {}", visible_line(&copy.display().to_string())));
        }
    } else if !is_wanted {
        output::remark("nothing was written; --yes writes it");
    }
    Ok(if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn replace(path: &Path, before: Option<&str>, changed: &str) -> Result<Option<PathBuf>, Failure> {
    belljar_config::replace(path, before, changed, SUFFIX).map_err(|error| {
        RunError::new(ErrorKind::Config, format!("{} cannot be written: {error}", path.display())).into()
    })
}

/// How the client is to start belljar: by its whole path, since clients that no shell has started do not find it otherwise.
fn entry(arguments: &InstallArguments) -> Result<CstInputValue, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("belljar's own program cannot be found: {error}")))?;
    let text = |path: &Path| path.to_str().map(|text| CstInputValue::String(text.to_owned()));
    let no_text = || Failure::usage("the path is not UTF-8, as JSON has to be", "move it to another folder");
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

/// The text with the entry in it.
fn with(text: &str, key: &str, entry: &CstInputValue) -> Result<String, String> {
    let (root, top) = parsed(if text.trim().is_empty() { "{}\n" } else { text })?;
    let servers = match top.get(key) {
        Some(servers) => servers.object_value().ok_or_else(|| format!("its '{key}' is no object"))?,
        None => top.object_value_or_create(key).ok_or_else(|| format!("'{key}' cannot be added to it"))?,
    };
    match servers.get(NAME) {
        Some(there) => there.set_value(entry.clone()),
        None => {
            servers.append(NAME, entry.clone());
        }
    }
    Ok(root.to_string())
}

/// The text without the entry.
fn without(text: &str, key: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let (root, top) = parsed(text)?;
    if let Some(entry) = top.object_value(key).and_then(|servers| servers.get(NAME)) {
        entry.remove();
    }
    Ok(root.to_string())
}

fn parsed(text: &str) -> Result<(CstRootNode, CstObject), String> {
    // Depth is bounded before a parser recurses into it.
    const DEPTH: usize = 64;
    if depth(text) > DEPTH {
        return Err(format!("it nests deeper than {DEPTH} levels"));
    }
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("it is no JSON: {error}"))?;
    let top = root.object_value().ok_or("it is no JSON object")?;
    Ok((root, top))
}

/// How many brackets are open at once at most, those in texts and comments counted too.
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

/// The lines that go (`- …`) and that come (`+ …`).
fn difference(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let tail = tail.min(old.len().min(new.len()) - head);
    let changed = |sign, lines: &[&str]| {
        let lines = lines.iter().take(lines.len() - tail).skip(head);
        lines.map(|line| format!("{sign} {line}")).collect::<Vec<_>>()
    };
    [changed('-', &old), changed('+', &new)].concat()
}

fn show(path: &Path, lines: &[String]) {
    let path = visible_line(&path.display().to_string()).into_owned();
    if lines.is_empty() {
        output::print(format_args!("{path}: nothing to change"));
        return;
    }
    output::print(format_args!("{path}:"));
    for line in lines {
        output::print(format_args!("  {}", visible_line(line)));
    }
}

/// Whether a person at the terminal says yes.
fn agreed() -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let mut stderr = anstream::stderr();
    // Whoever cannot be asked has not agreed.
    let asked = write!(stderr, "write it? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    asked.is_ok()
        && io::stdin().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
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
        let longer = with(text, "mcpServers", &some()).expect("a text");
        assert!(longer.contains("// mine") && longer.contains("// odd") && longer.contains("\"belljar\""), "{longer}");
        assert_eq!(with(&longer, "mcpServers", &some()).expect("a text"), longer);
        let back = without(&longer, "mcpServers").expect("a text");
        assert!(back.contains("\"fs\": { \"command\": \"x\" }") && !back.contains("belljar"), "{back}");
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "3", "{\"mcpServers\": []}", "{} {}", deep.as_str()] {
            assert!(with(text, "mcpServers", &some()).is_err(), "{}", &text[..text.len().min(40)]);
        }
    }
}
