//! `belljar install CLIENT --hooks`: what a client runs before a tool call, and when a session
//! begins.
//!
//! Hooks of others stay as they are, even those that share a group with one of belljar's.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use belljar_hooks::{Event, Speaker};
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use serde_json::{Value, json};

use super::{
    arguments::{InstallArguments, InstallClient},
    left_as_it_is, parsed, replace,
};
use crate::{
    consent, environment,
    failure::Failure,
    output::{self, GOOD, visible_line},
};

/// The key of the hooks in every client's file.
const KEY: &str = "hooks";
/// How long a client waits for a hook, in seconds. belljar takes milliseconds, or up to two seconds
/// if the beginning of a session starts the daemon.
const TIMEOUT: u32 = 5;

/// How a client's file stores its hooks.
struct Form {
    path: PathBuf,
    /// The client's name in the hook's command.
    speaker: &'static str,
    events: [&'static str; 2],
    shape: Shape,
}

/// The shape of one hook.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// In a group with others: `{"hooks": [{"type": "command", …}]}`.
    Grouped,
    /// The same, with a name and a timeout in milliseconds.
    Named,
    /// `{"type": "command", "bash": …}`, in a file with a version.
    Bash,
    /// `{"command": …}`, in a file with a version.
    Plain,
}

impl Form {
    fn of(client: InstallClient) -> Result<Self, Failure> {
        let home = environment::home().ok_or_else(|| Failure::usage("there is no home folder", "set HOME"))?;
        let form = |path: &[&str], speaker, events, shape| {
            let path = path.iter().fold(home.clone(), |path, part| path.join(part));
            Ok(Self { path, speaker, events, shape })
        };
        let usual = ["PreToolUse", "SessionStart"];
        match client {
            InstallClient::ClaudeCode => form(&[".claude", "settings.json"], "claude-code", usual, Shape::Grouped),
            InstallClient::Codex => form(&[".codex", "hooks.json"], "codex", usual, Shape::Grouped),
            InstallClient::Gemini => {
                form(&[".gemini", "settings.json"], "gemini", ["BeforeTool", "SessionStart"], Shape::Named)
            }
            InstallClient::Cursor => {
                form(&[".cursor", "hooks.json"], "cursor", ["preToolUse", "sessionStart"], Shape::Plain)
            }
            // Both read this folder, and each sends its own form of input.
            InstallClient::Copilot | InstallClient::VsCode => {
                form(&[".copilot", "hooks", "belljar.json"], "auto", ["preToolUse", "sessionStart"], Shape::Bash)
            }
            InstallClient::ClaudeDesktop => {
                let message = "Claude Desktop has no hooks";
                Err(Failure::usage(
                    message,
                    "the clients with hooks are claude-code, codex, vscode, copilot, cursor and gemini",
                ))
            }
        }
    }
}

impl Shape {
    fn has_version(self) -> bool {
        matches!(self, Self::Bash | Self::Plain)
    }

    fn entry(self, command: &str) -> CstInputValue {
        let text = |text: &str| CstInputValue::String(text.to_owned());
        let number = |number: u32| CstInputValue::Number(number.to_string());
        let object = |pairs: Vec<(&str, CstInputValue)>| {
            CstInputValue::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let group = |hook| object(vec![("hooks", CstInputValue::Array(vec![hook]))]);
        let kind = ("type", text("command"));
        match self {
            // Without a matcher, the group applies to every tool.
            Self::Grouped => group(object(vec![kind, ("command", text(command)), ("timeout", number(TIMEOUT))])),
            Self::Named => group(object(vec![
                ("name", text("belljar")),
                kind,
                ("command", text(command)),
                ("timeout", number(TIMEOUT * 1000)),
            ])),
            Self::Bash => object(vec![kind, ("bash", text(command)), ("timeoutSec", number(TIMEOUT))]),
            Self::Plain => object(vec![("command", text(command)), ("timeout", number(TIMEOUT))]),
        }
    }
}

/// A changed file, and what has changed in it.
struct Change {
    text: String,
    changes: Vec<EventChange>,
}

/// The commands of one event, before and after. Nothing else in the file is shown.
struct EventChange {
    event: &'static str,
    from: Vec<String>,
    to: Option<String>,
}

pub(super) fn install(arguments: &InstallArguments) -> Result<ExitCode, Failure> {
    let form = Form::of(arguments.client)?;
    let before = belljar_config::text(&form.path)?;
    let text = before.as_deref().unwrap_or_default();
    let commands = if arguments.undo { None } else { Some(commands(&form, arguments)?) };
    let changed = changed(text, &form, commands.as_ref()).map_err(|problem| left_as_it_is(&form.path, &problem))?;
    if !arguments.json {
        show(&form.path, changed.as_ref());
    }
    let is_wanted = changed.is_none() || arguments.yes || (!arguments.json && consent::agreed("write it?"));
    let copy = match &changed {
        Some(change) if is_wanted => replace(&form.path, before.as_deref(), &change.text)?,
        _ => None,
    };
    let is_written = is_wanted && changed.is_some();
    if arguments.json {
        let changes: Vec<Value> = changed.iter().flat_map(|change| change.changes.iter().map(as_json)).collect();
        output::print_json(&json!({ "file": form.path, "changes": changes, "written": is_written, "copy": copy }));
    } else if is_written {
        output::print(format_args!("{GOOD}written{GOOD:#}; the client reads it when it starts again"));
        if arguments.client == InstallClient::Codex && !arguments.undo {
            output::note("Codex runs only hooks that you have trusted: type /hooks in a Codex session");
        }
        if !arguments.undo {
            output::note("hooks ask the daemon, whose servers an entry with 'serve --daemon' uses too");
        }
        if let Some(copy) = copy {
            output::note(format_args!("the previous content is in {}", visible_line(&copy.display().to_string())));
        }
    } else if !is_wanted {
        output::remark("nothing was written; --yes writes it");
    }
    Ok(if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What is run at each event.
fn commands(form: &Form, arguments: &InstallArguments) -> Result<[String; 2], Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("belljar's own program cannot be found: {error}")))?;
    let mut config = String::new();
    if let Some(path) = &arguments.config.config {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        config = format!(" --config {}", quoted(&path)?);
    }
    let program = quoted(&program)?;
    Ok(form.events.map(|event| format!("{program} hook {} {event}{config}", form.speaker)))
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path
        .to_str()
        .ok_or_else(|| Failure::usage("the path is not UTF-8, which JSON requires", "move it to another folder"))?;
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@".contains(character);
    Ok(if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) })
}

/// The file with these commands in place of belljar's earlier ones, which are only removed if there
/// are no new ones. Returns `None` if nothing changes.
fn changed(text: &str, form: &Form, commands: Option<&[String; 2]>) -> Result<Option<Change>, String> {
    if commands.is_none() && text.trim().is_empty() {
        return Ok(None);
    }
    let (root, top) = parsed(if text.trim().is_empty() { "{}\n" } else { text })?;
    let has_no = |what: &str| format!("its '{what}' is not of the form that the client has");
    let mut changes = Vec::new();
    for (index, event) in form.events.into_iter().enumerate() {
        let wanted = commands.and_then(|commands| commands.get(index));
        let Some(list) = list(&top, event, wanted.is_some()).map_err(|what| has_no(&what))? else { continue };
        let entry = wanted.map(|command| form.shape.entry(command));
        let from = ours(&list);
        if let (Some(command), [one]) = (wanted, from.as_slice())
            && one == command
        {
            continue;
        }
        if from.is_empty() && wanted.is_none() {
            continue;
        }
        take_out(&list);
        match entry {
            Some(entry) => drop(list.append(entry)),
            None if list.elements().is_empty() => {
                // The event was there only for belljar.
                if let Some(event) = top.object_value(KEY).and_then(|hooks| hooks.get(event)) {
                    event.remove();
                }
            }
            None => {}
        }
        changes.push(EventChange { event, from, to: wanted.cloned() });
    }
    if changes.is_empty() {
        return Ok(None);
    }
    if commands.is_some() && form.shape.has_version() && top.get("version").is_none() {
        top.insert(0, "version", CstInputValue::Number("1".to_owned()));
    }
    Ok(Some(Change { text: root.to_string(), changes }))
}

/// The list of an event's hooks, created if it is wanted. The error names what is in the way.
fn list(top: &CstObject, event: &str, is_wanted: bool) -> Result<Option<CstArray>, String> {
    let hooks = match top.get(KEY) {
        Some(hooks) => hooks.object_value().ok_or_else(|| KEY.to_owned())?,
        None if is_wanted => top.object_value_or_create(KEY).ok_or_else(|| KEY.to_owned())?,
        None => return Ok(None),
    };
    let wrong = || format!("{KEY}.{event}");
    match hooks.get(event) {
        Some(list) => list.array_value().ok_or_else(wrong).map(Some),
        None if is_wanted => hooks.array_value_or_create(event).ok_or_else(wrong).map(Some),
        None => Ok(None),
    }
}

/// belljar's own commands in a list of hooks.
fn ours(list: &CstArray) -> Vec<String> {
    let within = |group: &CstNode| hooks_of(group).map(|hooks| hooks.elements()).unwrap_or_default();
    list.elements()
        .iter()
        .flat_map(|hook| {
            own_command(hook).into_iter().chain(within(hook).iter().filter_map(own_command).collect::<Vec<_>>())
        })
        .collect()
}

/// Removes belljar's own hooks from a list, and groups that had no others.
fn take_out(list: &CstArray) {
    for hook in list.elements() {
        if own_command(&hook).is_some() {
            hook.remove();
            continue;
        }
        let Some(within) = hooks_of(&hook) else { continue };
        let (own, others): (Vec<_>, Vec<_>) =
            within.elements().into_iter().partition(|hook| own_command(hook).is_some());
        if own.is_empty() {
            continue;
        }
        if others.is_empty() {
            hook.remove();
        } else {
            own.into_iter().for_each(CstNode::remove);
        }
    }
}

/// The hooks of a group.
fn hooks_of(group: &CstNode) -> Option<CstArray> {
    group.as_object()?.array_value(KEY)
}

/// The command of a hook, if it is belljar's own.
fn own_command(hook: &CstNode) -> Option<String> {
    let hook = hook.as_object()?;
    ["command", "bash"].into_iter().find_map(|key| {
        let command = hook.get(key)?.value()?.as_string_lit()?.decoded_value().ok()?;
        is_own(&command).then_some(command)
    })
}

/// Whether `belljar install` wrote a command: `…belljar hook CLIENT EVENT`, possibly with options
/// of the hook. Any other command belongs to somebody else, even if it runs belljar.
fn is_own(command: &str) -> bool {
    let Some(words) = shlex::split(command) else { return false };
    let [program, hook, client, event, options @ ..] = words.as_slice() else { return false };
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_belljar = name(Path::new(program)).is_some_and(|program| {
        let this = std::env::current_exe().ok().and_then(|path| name(&path));
        program == "belljar" || program == "belljar.exe" || Some(program) == this
    });
    is_belljar
        && hook == "hook"
        && Speaker::named(client).is_some()
        && Event::named(event).is_some()
        && options.chunks(2).all(|option| matches!(option, [name, _] if name == "--config" || name == "--wait"))
}

fn as_json(change: &EventChange) -> Value {
    json!({ "entry": format!("{KEY}.{}", change.event), "from": change.from, "to": change.to })
}

fn show(path: &Path, change: Option<&Change>) {
    let path = visible_line(&path.display().to_string()).into_owned();
    let Some(change) = change else {
        output::print(format_args!("{path}: nothing to change"));
        return;
    };
    output::print(format_args!("{path}:"));
    for EventChange { event, from, to } in &change.changes {
        for (sign, commands) in [('-', from.iter().collect::<Vec<_>>()), ('+', to.iter().collect())] {
            for command in commands {
                output::print(format_args!("  {sign} {KEY}.{event}: {}", visible_line(command)));
            }
        }
    }
    output::print("  everything else in the file stays as it is");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(shape: Shape) -> Form {
        Form { path: PathBuf::new(), speaker: "auto", events: ["PreToolUse", "SessionStart"], shape }
    }

    fn commands() -> [String; 2] {
        ["PreToolUse", "SessionStart"].map(|event| format!("/opt/belljar hook auto {event}"))
    }

    #[test]
    fn hooks_of_others_stay_and_the_file_can_be_had_back() {
        let text = "{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"guard\" }] } // odd\n    ]\n  }\n}\n";
        for shape in [Shape::Grouped, Shape::Named, Shape::Bash, Shape::Plain] {
            let form = form(shape);
            let longer = changed(text, &form, Some(&commands())).expect("a text").expect("a change");
            assert_eq!(longer.changes.len(), 2);
            assert!(longer.text.contains("// odd") && longer.text.contains("\"guard\""), "{}", longer.text);
            assert!(changed(&longer.text, &form, Some(&commands())).expect("a text").is_none());
            let back = changed(&longer.text, &form, None).expect("a text").expect("a change");
            assert!(back.text.contains("// odd") && !back.text.contains("belljar"), "{}", back.text);
            assert!(!back.text.contains("SessionStart"), "{}", back.text);
            assert!(changed(&back.text, &form, None).expect("a text").is_none());
        }
    }

    #[test]
    fn a_hook_that_shares_a_group_goes_alone_and_an_old_one_is_replaced() {
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command", "command": "'/old place/belljar' hook auto PreToolUse"},
            {"type": "command", "command": "echo belljar hook"}]}]}}"#;
        let change = changed(text, &form(Shape::Grouped), Some(&commands())).expect("a text").expect("a change");
        let old = "'/old place/belljar' hook auto PreToolUse";
        assert_eq!(change.changes.first().map(|change| change.from.clone()), Some(vec![old.to_owned()]));
        assert!(!change.text.contains("old place") && change.text.contains("echo belljar hook"), "{}", change.text);
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_refused() {
        for text in ["{", "[]", r#"{"hooks": []}"#, r#"{"hooks": {"PreToolUse": {}}}"#, &"[".repeat(1000)] {
            assert!(changed(text, &form(Shape::Grouped), Some(&commands())).is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_command_that_starts_belljar_as_a_hook_is_ours() {
        for (command, is_ours) in [
            ("belljar hook auto PreToolUse", true),
            ("'/a hook b/belljar' hook gemini BeforeTool --config '/x y'", true),
            ("notbell hook auto PreToolUse", false),
            ("/x/belljar hook claude-code PreToolUse --wait 1s --config y", true),
            ("/opt/mybelljar hook claude-code PreToolUse", false),
            ("/usr/bin/guard --for belljar hook claude-code PreToolUse", false),
            ("belljar hook claude-code PreToolUse && audit", false),
            ("belljar hook claude-code PreToolUse 'open", false),
            ("belljar hook test PreToolUse", false),
            ("belljar serve", false),
        ] {
            assert_eq!(is_own(command), is_ours, "{command}");
        }
    }
}
