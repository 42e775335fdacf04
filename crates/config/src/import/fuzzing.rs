//! The fuzzed functions for clients' files, and their invariants.

use std::{collections::HashSet, path::Path};

use belljar_model::{ServerSpec, Transport, display};
use serde_json::{Map, Value, json};
use toml_edit::Table;

use super::{Decision, Found, Plan, Source, convert::as_json, plan::name_of, text::document_of, write::joined};
use crate::{
    Format, Variables, document,
    fuzzing::{FOLDER, PART, WORKSPACE, variables},
    masked::{Author, names::loads_code},
    parse, tree,
};

/// The most bytes of output for each byte of a file: a server of six bytes is skipped with a reason
/// of some hundred bytes.
const SAID_PER_BYTE: usize = 100;

/// A client's file, and the belljar.toml to which its servers are added. The output must contain no
/// secret and be readable, and the written file must say what the client's file says.
pub fn client_files(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (file, existing) = text.split_once(PART).unwrap_or((text, ""));
    let names = tree::parse(existing.strip_prefix('\u{feff}').unwrap_or(existing), Format::Toml);
    let names = names.map_or_else(|_| Vec::new(), |root| document::server_names(&root));
    for author in [Author::User, Author::Stranger] {
        let found = looked_at(file, &names, author);
        let said = format!("{:?}", found.items);
        assert!(said.len() <= SAID_PER_BYTE * (text.len() + 10), "{} bytes: {said}", said.len());
        fit_to_show(&found, &names);
        let mut plan = Plan::beside(&names);
        plan.take(found);
        added_to(existing, &plan);
        let Ok(file) = serde_json::from_str::<Value>(file) else { continue };
        tells_no_secret(&file, &names, author);
        says_no_more(&file, &names, author);
    }
}

fn looked_at(text: &str, names: &[String], author: Author) -> Found {
    let path = Path::new(FOLDER).join("mcp.json");
    let source = Source { title: "the client".to_owned(), path, author };
    let environment = |name: &str| (!name.starts_with('U')).then(|| format!("https://v.invalid/{name}"));
    let variables = Variables { environment: &environment, ..variables() };
    Plan::beside(names).look_at(source, Ok(text.to_owned()), Path::new(FOLDER), &variables)
}

/// Checks that each server has a unique valid name, and is shown to the user on one line.
fn fit_to_show(found: &Found, existing: &[String]) {
    let items = match &found.items {
        Ok(items) => items,
        Err(error) => return one_line(&error.to_string()),
    };
    let mut names: HashSet<&str> = existing.iter().map(String::as_str).collect();
    for item in items {
        one_line(&item.name);
        let Decision::Take { name, .. } = &item.decision else { continue };
        assert!((1..=ServerSpec::NAME_BYTES).contains(&name.len()), "{name:?}");
        assert!(!name.contains(|character: char| character == '.' || character.is_control()), "{name:?}");
        assert!(names.insert(name), "{name:?} is there twice");
    }
    let taken = items.iter().filter(|item| matches!(item.decision, Decision::Take { .. })).count();
    assert_eq!(found.len(), taken);
}

fn one_line(text: &str) {
    assert_eq!(display::line(text), text);
}

/// Checks that belljar.toml says what it said before, and has the imported servers.
fn added_to(existing: &str, plan: &Plan) {
    let read = |text: &str| parse(text, Format::Toml, Path::new(FOLDER), &variables());
    let Ok(before) = read(existing) else { return };
    let text = joined(existing, plan).expect("it is a belljar.toml, and the names are free");
    let mut after = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let added: HashSet<&str> = plan.tables().map(|(name, _)| name).collect();
    assert_eq!(after.servers.len(), before.servers.len() + added.len(), "{text}");
    after.servers.retain(|server| !added.contains(server.name.as_str()));
    assert_eq!(after, before, "{text}");
}

/// Checks that the output about a file does not depend on its secrets: it must be the same with
/// other secrets.
fn tells_no_secret(file: &Value, names: &[String], author: Author) {
    let said = |file: &Value| format!("{:?}", looked_at(&file.to_string(), names, author).items);
    let other = with_other_secrets(file, author);
    assert_eq!(said(file), said(&other), "{file} and {other}");
}

/// Checks that everything imported is in the file, and that belljar reads it as it reads the
/// client's file.
fn says_no_more(file: &Value, names: &[String], author: Author) {
    let mut plan = Plan::beside(names);
    plan.take(looked_at(&file.to_string(), names, author));
    for (name, table) in plan.tables() {
        let taken = as_json(table);
        let mut servers = lists(file).into_iter().flatten().filter(|(key, _)| name_of(key) == name);
        let entry = servers.find_map(|(_, entry)| entry.as_object().filter(|entry| stands_in(entry, &taken)));
        let entry = entry.unwrap_or_else(|| panic!("{taken:?} does not stand in {file}"));
        means_the_same(name, entry, table);
    }
}

/// All places where a file may have its servers.
fn lists(file: &Value) -> Vec<&Map<String, Value>> {
    let at = |path: &[&str]| path.iter().try_fold(file, |value, key| value.get(*key)).and_then(Value::as_object);
    let paths: [&[&str]; 4] =
        [&["mcpServers"], &["servers"], &["mcp", "servers"], &["projects", WORKSPACE, "mcpServers"]];
    paths.into_iter().filter_map(at).collect()
}

fn stands_in(entry: &Map<String, Value>, taken: &Map<String, Value>) -> bool {
    let said = |key: &str| entry.get(key).filter(|value| !value.is_null());
    let is_there = |(key, value): (&String, &Value)| match key.as_str() {
        "type" => said(key) == Some(value) && value == "sse",
        "cwd" => said(key).is_some_and(|said| is_path(said, value)),
        "env_file" => said("envFile").or_else(|| said(key)).is_some_and(|said| is_path(said, value)),
        "oauth" => leaves(value).iter().all(|leaf| {
            let leaves = ["oauth", "auth"].into_iter().filter_map(said).flat_map(leaves);
            leaves.into_iter().any(|said| is_same(said, leaf))
        }),
        _ => said(key).is_some_and(|said| is_same(said, value)),
    };
    let whole = ["command", "args", "url"].into_iter().all(|key| said(key).is_some() == taken.contains_key(key));
    whole && taken.iter().all(is_there)
}

/// Compares two values. References may be written differently, and numbers as texts.
fn is_same(said: &Value, taken: &Value) -> bool {
    match (said, taken) {
        (Value::String(said), Value::String(taken)) => said == taken || said.contains("${"),
        (Value::Number(said), Value::String(taken)) => said.to_string() == *taken,
        (Value::Number(said), Value::Number(taken)) => said.as_f64() == taken.as_f64(),
        (Value::Array(said), Value::Array(taken)) => {
            said.len() == taken.len() && said.iter().zip(taken).all(|(said, taken)| is_same(said, taken))
        }
        (Value::Object(said), Value::Object(taken)) => {
            let given = said.iter().filter(|(_, value)| !value.is_null());
            given.clone().count() == taken.len()
                && given.into_iter().all(|(key, said)| taken.get(key).is_some_and(|taken| is_same(said, taken)))
        }
        _ => false,
    }
}

fn is_path(said: &Value, taken: &Value) -> bool {
    let said = said.as_str().unwrap_or_default();
    said.contains("${") || taken.as_str().map(Path::new) == Some(&Path::new(FOLDER).join(said))
}

fn leaves(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(entries) => entries.values().flat_map(leaves).collect(),
        Value::Array(values) => values.iter().flat_map(leaves).collect(),
        leaf => vec![leaf],
    }
}

/// Checks that an imported server is reached in the same way as by its client, as far as belljar
/// can read the client's own entry.
fn means_the_same(name: &str, entry: &Map<String, Value>, table: &Table) {
    let of_client = json!({ "mcpServers": { name: entry } }).to_string();
    let read = |text: &str, format| parse(text, format, Path::new(FOLDER), &variables()).ok()?.servers.pop();
    let ours = read(&document_of([(name, table)]), Format::Toml).unwrap_or_else(|| panic!("{table} was checked"));
    let Some(theirs) = read(&of_client, Format::Json) else { return };
    match (&theirs.transport, &ours.transport) {
        (Transport::Stdio(theirs), Transport::Stdio(ours)) => {
            assert_eq!((&theirs.command, &theirs.args), (&ours.command, &ours.args));
            assert_eq!((&theirs.env, &theirs.cwd), (&ours.env, &ours.cwd));
        }
        (Transport::Http(theirs), Transport::Http(ours)) => {
            assert_eq!((&theirs.url, &theirs.headers), (&ours.url, &ours.headers));
        }
        (theirs, ours) => assert_eq!(theirs, ours),
    }
    assert_eq!((theirs.start_timeout, theirs.era), (ours.start_timeout, ours.era));
}

/// The file with each letter of its secrets, and of everything that belljar does not import,
/// replaced by the next one.
fn with_other_secrets(file: &Value, author: Author) -> Value {
    let servers = |value: &Value| members(value, |_, entry| members(entry, |key, value| of_entry(key, value, author)));
    members(file, |key, value| match key {
        "mcpServers" | "servers" => servers(value),
        "mcp" => members(value, |key, value| if key == "servers" { servers(value) } else { next(value) }),
        "projects" => members(value, |key, project| {
            let of_project = |key: &str, value: &Value| if key == "mcpServers" { servers(value) } else { next(value) };
            if key == WORKSPACE { members(project, of_project) } else { next(project) }
        }),
        _ => next(value),
    })
}

fn members(value: &Value, change: impl Fn(&str, &Value) -> Value) -> Value {
    match value {
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), change(key, value))).collect(),
        other => other.clone(),
    }
}

fn of_entry(key: &str, value: &Value, author: Author) -> Value {
    match key {
        "env" => members(value, |name, value| match author {
            Author::User if !loads_code(name) => next_unless(value, |text| text.contains('$')),
            Author::Stranger if name == "TOKEN" || name == "API_KEY" => next_unless(value, |text| !is_word(text)),
            _ => value.clone(),
        }),
        "headers" => members(value, |_, value| next_unless(value, |text| text.contains('$'))),
        "oauth" | "auth" => members(value, |key, value| match key {
            "client_secret" | "clientSecret" | "CLIENT_SECRET" => next_unless(value, |text| text.contains('$')),
            "client_id" | "clientId" | "CLIENT_ID" | "scopes" | "port" | "callbackPort" => value.clone(),
            _ => next(value),
        }),
        "args" => of_arguments(value),
        "url" => value.as_str().map_or_else(|| value.clone(), |url| of_url(url).into()),
        "command" | "start_timeout" | "era" | "builtin" | "type" | "cwd" | "envFile" | "env_file" | "disabled" => {
            value.clone()
        }
        _ => next(value),
    }
}

/// Replaces the secrets in `--token WORD` and `--token=WORD`.
fn of_arguments(value: &Value) -> Value {
    let Value::Array(arguments) = value else { return value.clone() };
    let mut is_secret = false;
    let changed = arguments.iter().map(|argument| {
        let was_secret = std::mem::replace(&mut is_secret, argument == "--token");
        match argument.as_str().map(|text| (text, text.strip_prefix("--token="))) {
            Some((_, Some(word))) if is_word(word) => format!("--token={}", next_letters(word)).into(),
            Some((word, None)) if was_secret && is_word(word) => next_letters(word).into(),
            _ => argument.clone(),
        }
    });
    changed.collect()
}

/// Replaces the name, the password, and the values of the query.
fn of_url(url: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || ":/?&=#@._-".contains(character);
    let Some((scheme, rest)) = url.split_once("://").filter(|_| url.chars().all(is_plain)) else {
        return url.to_owned();
    };
    let (rest, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if !user.contains(['?', '&']) => format!("{}@{host}", next_letters(user)),
        _ => authority.to_owned(),
    };
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if is_word(value) => format!("{name}={}", next_letters(value)),
        _ => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(pair).collect();
    format!("{scheme}://{authority}{path}{}{fragment}", query.join("&"))
}

/// Whether a text is too long to be `Bearer`, and has no characters of shells or references.
fn is_word(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn next_unless(value: &Value, is_kept: impl Fn(&str) -> bool) -> Value {
    if value.as_str().is_some_and(is_kept) { value.clone() } else { next(value) }
}

fn next(value: &Value) -> Value {
    match value {
        // A text that could be a number is left alone, because it may be compared with a number.
        Value::String(text) if text.parse::<f64>().is_err() => next_letters(text).into(),
        Value::Array(values) => values.iter().map(next).collect(),
        Value::Object(_) => members(value, |_, value| next(value)),
        other => other.clone(),
    }
}

fn next_letters(text: &str) -> String {
    let next = |character: char| match character {
        'z' => 'a',
        'Z' => 'A',
        'a'..='y' | 'A'..='Y' => char::from_u32(u32::from(character) + 1).unwrap_or(character),
        other => other,
    };
    text.chars().map(next).collect()
}
