//! The reference pages are generated from the code: limits, keys of the configuration, and the
//! command line.
//!
//! Each test generates its page again and compares it with the one in docs; `BELLJAR_ACCEPT=1`
//! writes it.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use belljar_config::{Format, Variables, parse};
use belljar_model::{LimitSpec, RunsPatch};
use belljar_sandbox::SandboxOptions;
use serde_json::{Map, Value};

use crate::support::{Terminal, repository};

const NO_VARIABLES: Variables<'_> = Variables { environment: &|_| None, home: None, workspace: None };

/// Compares the part of a page between its marks with the expected one, or writes it.
fn held(page: &str, expected: &str) {
    const BEGIN: &str = "<!-- made of the code: BELLJAR_ACCEPT=1 writes it anew -->\n";
    const END: &str = "<!-- the end of what is made of the code -->\n";
    let path: PathBuf = repository().join("docs").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("docs/{page} says where it begins"));
    let (found, after) = rest.split_once(END).unwrap_or_else(|| panic!("docs/{page} says where it ends"));
    if std::env::var_os("BELLJAR_ACCEPT").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(found == expected, "docs/{page} differs from the code: BELLJAR_ACCEPT=1 writes it anew");
}

#[test]
fn the_page_of_limits_is_made_of_the_table_in_the_code() {
    let mut expected = "| key | option | default | may be | what it bounds |\n|---|---|---|---|---|\n".to_owned();
    for spec in LimitSpec::ALL {
        let range = spec.kind.range();
        let (name, option) = (spec.name.as_str(), spec.name.as_str().replace('_', "-"));
        let reason = spec.reason.trim();
        let _ = writeln!(expected, "| `{name}` | `--{option}` | {} | {range} | {reason} |", spec.default_text());
    }
    held("LIMITS.md", &expected);
}

#[test]
fn the_page_of_keys_is_made_of_the_schema_of_the_configuration() {
    let schema = schema();
    let mut expected = String::new();
    for (name, table) in properties(&schema) {
        let (heading, table) = match name.as_str() {
            // LIMITS.md has them, with their reasons.
            "limits" => continue,
            "servers" => ("servers.NAME".to_owned(), resolved(&schema, &table["additionalProperties"])),
            _ => (name.clone(), table),
        };
        // A key that may occur several times has two brackets.
        let (heading, keys) = match &table["items"] {
            Value::Null => (format!("[{heading}]"), table),
            one => (format!("[[{heading}]]"), one),
        };
        let _ = write!(expected, "## `{heading}`\n\n");
        if let Some(description) = table["description"].as_str() {
            let _ = write!(expected, "{description}\n\n");
        }
        expected += "| key | type | default | meaning |\n|---|---|---|---|\n";
        rows(keys, "", &mut expected);
        expected += "\n";
    }
    held("KEYS.md", &expected);
}

#[test]
fn the_defaults_in_the_schema_are_those_of_the_reader() {
    /// Tables that are left out as a whole if not set; and `runs`, which has no defaults: the next
    /// test covers it.
    const OPTIONAL: [&str; 6] = ["limits", "runs", "http", "webhook", "sandbox", "oauth"];
    fn defaults(prefix: &str, table: &Value, text: &mut String) {
        for (name, property) in properties(table).filter(|(name, _)| !OPTIONAL.contains(&name.as_str())) {
            // `instances` is only valid with a `key`.
            if let Some(default) = property.get("default").filter(|_| name != "instances") {
                let _ = writeln!(text, "{prefix}{name} = {default}");
            }
            defaults(&format!("{prefix}{name}."), property, text);
        }
    }
    let schema = schema();
    let mut text = String::new();
    defaults("", &schema, &mut text);
    defaults("servers.x.", &schema["definitions"]["server"], &mut text);
    assert!(text.lines().count() > 20, "{text}");
    let read = |text: &str| {
        let text = format!("{text}servers.x.command = 'x'\n");
        parse(&text, Format::Toml, Path::new("/"), &NO_VARIABLES).expect("belljar reads its defaults")
    };
    assert_eq!(format!("{:#?}", read(&text)), format!("{:#?}", read("")), "with and without:\n{text}");
}

#[test]
fn the_page_of_the_configuration_has_each_bound_of_all_runs_with_its_default() {
    let text = fs::read_to_string(repository().join("docs/CONFIGURATION.md")).unwrap();
    let (_, table) = text.split_once("```toml\n[runs]\n").expect("it shows the table");
    let (table, _) = table.split_once("```").expect("which ends");
    let keys: BTreeSet<&str> = table.lines().filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    assert_eq!(keys, BTreeSet::from(RunsPatch::NAMES));
    let SandboxOptions { max_live, live_memory, max_computing: _, max_queued, queue_timeout } =
        SandboxOptions::default();
    let defaults: String = properties(&schema()["properties"]["runs"])
        .filter_map(|(name, property)| Some(format!("{name} = {}\n", property.get("default")?)))
        .collect();
    for table in [table, &defaults] {
        let read = parse(&format!("[runs]\n{table}"), Format::Toml, Path::new("/"), &NO_VARIABLES);
        let shown = read.expect("as belljar reads it").runs;
        assert_eq!(shown.max_live.map(u32::from), Some(max_live));
        assert_eq!(
            (shown.live_memory, shown.max_queued, shown.queue_timeout),
            (Some(live_memory), Some(max_queued), Some(queue_timeout))
        );
    }
}

#[test]
fn the_page_of_the_command_line_is_what_help_says_of_each_command() {
    /// The help of a command and of all its subcommands.
    fn help(terminal: &Terminal, command: &[&str], page: &mut String) {
        let answer = terminal.belljar(&[command, &["--help"]].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{command:?}: {answer:#?}");
        let level = "#".repeat(command.len().min(2) + 1);
        let name = [&["belljar"], command].concat().join(" ");
        let _ = write!(page, "{level} {name}\n\n```text\n{}\n```\n\n", answer.stdout.trim_end());
        let (_, list) = answer.stdout.split_once("\nCommands:\n").unwrap_or_default();
        let below = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
        // A line with more indentation continues the previous one.
        for name in below.filter_map(|line| line.split(' ').next()).filter(|name| !["", "help"].contains(name)) {
            help(terminal, &[command, &[name]].concat(), page);
        }
    }
    let mut expected = String::new();
    help(&Terminal::new(), &[], &mut expected);
    assert!(
        expected.contains("\n### belljar policy explain\n") && expected.contains("\n## belljar run\n"),
        "{expected}"
    );
    held("CLI.md", &expected);
}

fn schema() -> Value {
    let text = fs::read_to_string(repository().join("crates/config/belljar.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn properties(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    table.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// The target of a reference within the schema.
fn resolved<'s>(schema: &'s Value, place: &'s Value) -> &'s Value {
    match place["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).expect("a place of the schema"),
        None => place,
    }
}

/// A row for each key of a table, and for those below it.
fn rows(table: &Value, prefix: &str, page: &mut String) {
    for (name, property) in properties(table) {
        let default = property.get("default").map(|default| format!("`{default}`")).unwrap_or_default();
        let meaning = property["description"].as_str().unwrap_or_else(|| panic!("{prefix}{name} is not described"));
        let kind = kind(property);
        let _ = writeln!(page, "| `{prefix}{name}` | {kind} | {default} | {} |", meaning.replace('|', "\\|"));
        rows(property, &format!("{prefix}{name}."), page);
        rows(&property["items"], &format!("{prefix}{name}[]."), page);
        rows(&property["additionalProperties"], &format!("{prefix}{name}.NAME."), page);
    }
}

/// The allowed values, in words.
fn kind(property: &Value) -> String {
    if let Some(reference) = property["$ref"].as_str() {
        return match reference.rsplit('/').next() {
            Some("count") => "whole number, at least 1".to_owned(),
            other => other.unwrap_or_default().to_owned(),
        };
    }
    let either = |list: &[Value], of: &dyn Fn(&Value) -> String| list.iter().map(of).collect::<Vec<_>>().join(" or ");
    if let Some(list) = property["enum"].as_array() {
        return either(list, &|value| format!("`{value}`"));
    }
    if let Some(value) = property.get("const") {
        return format!("`{value}`");
    }
    if let Some(list) = property["anyOf"].as_array().or(property["allOf"].as_array()) {
        return either(list, &kind);
    }
    if let Some(list) = property["type"].as_array() {
        return either(list, &|value| in_words(value.as_str().unwrap_or_default()).to_owned());
    }
    match property["type"].as_str().unwrap_or_default() {
        "array" => format!("list of {}", kind(&property["items"])),
        "object" if property["additionalProperties"].is_object() => {
            format!("table of {}", kind(&property["additionalProperties"]))
        }
        other => in_words(other).to_owned(),
    }
}

fn in_words(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "true or false",
        "object" => "table",
        other => other,
    }
}
