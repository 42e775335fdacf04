//! Which rule matches a tool call, and what it says.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use belljar_model::{HookMode, HookRule, display};
use serde_json::{Map, Value};

use crate::{
    Decision, ToolUse,
    paths::{CallPath, is_like, paths, searched},
};

/// The longest part of a call that a rule's text may repeat. If a part is longer the rule does not
/// match, since the shortened text would name a different call.
const QUOTED_BYTES: usize = 500;
/// Arguments that an agent words differently when it repeats a call. They do not identify the call.
const ASIDE: [&str; 4] = ["description", "explanation", "timeout", "run_in_background"];

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit<'rules> {
    /// The index of the rule, from 0.
    pub index: usize,
    /// The rule.
    pub rule: &'rules HookRule,
    /// What it says of this call.
    pub says: String,
    /// The key under which it is remembered that this was said, or `None` if it is said every time.
    pub key: Option<u64>,
}

impl Fit<'_> {
    /// The answer if the rule has something to say.
    pub fn decision(&self) -> Decision {
        let says = &self.says;
        match self.rule.mode {
            HookMode::Tell => Decision::Tell(format!("In place of this call, belljar's execute_code can run: {says}")),
            HookMode::Deny => Decision::Deny(format!(
                "Not called yet. In its place, run in belljar's execute_code: {says} If that cannot do it, repeat \
                 the same call, which then passes."
            )),
            HookMode::Enforce => {
                Decision::Deny(format!("Not called. In its place, run in belljar's execute_code: {says}"))
            }
        }
    }
}

/// The rules that match the call and that its client has a form for. The first one counts.
pub fn fitting<'rules>(rules: &'rules [HookRule], call: &ToolUse) -> impl Iterator<Item = Fit<'rules>> {
    let has_form = |rule: &HookRule| rule.mode != HookMode::Tell || call.client.can_be_told();
    rules.iter().enumerate().filter(move |(_, rule)| has_form(rule)).filter_map(move |(index, rule)| {
        let says = says(rule, call)?;
        Some(Fit { index, rule, says, key: key(rule, call) })
    })
}

/// What `rule` says of `call`, or `None` if it does not match.
fn says(rule: &HookRule, call: &ToolUse) -> Option<String> {
    if !rule.tools.iter().any(|tool| is_like(tool, &call.tool)) {
        return None;
    }
    let paths = paths(call);
    let is_named = |path: &&CallPath<'_>| path.is_named_like(&rule.files);
    let is_below = |path: &&CallPath<'_>| rule.paths.iter().any(|start| path.is_below(start));
    let (named, below) = (paths.iter().find(is_named), paths.iter().find(is_below));
    if (!rule.files.is_empty() && named.is_none()) || (!rule.paths.is_empty() && below.is_none()) {
        return None;
    }
    let both = paths.iter().filter(is_named).find(is_below);
    // A word of a command counts as a path only if the rule names a path.
    let path = both.or(below).or(named).or_else(|| paths.iter().find(|path| !path.is_word));
    let mut searched = searched(&call.input);
    let pattern = if rule.patterns.is_empty() {
        searched.next().map(|text| (text, name_in(text)))
    } else {
        let found = searched.find_map(|text| {
            let pattern = rule.patterns.iter().find(|pattern| text.contains(pattern.as_str()))?;
            let after = text.split_once(pattern.as_str()).map_or("", |(_, after)| after);
            Some((text, name_in(after)))
        });
        Some(found?)
    };
    let parts = [
        ("{pattern}", pattern.map(|(text, _)| text)),
        ("{name}", pattern.map(|(_, name)| name).filter(|name| !name.is_empty())),
        ("{path}", path.map(|path| path.text)),
    ];
    filled(&rule.say, &parts)
}

/// The text with each part filled in, quoted as JSON, or `None` if the call lacks the part or the
/// part is too long.
fn filled(text: &str, parts: &[(&str, Option<&str>)]) -> Option<String> {
    let (mut filled, mut rest) = (String::new(), text);
    loop {
        let next =
            parts.iter().filter_map(|(mark, part)| Some((rest.find(mark)?, *mark, *part))).min_by_key(|next| next.0);
        let Some((at, mark, part)) = next else { break };
        let part = part.filter(|part| part.len() <= QUOTED_BYTES)?;
        let quoted = serde_json::to_string(part).ok()?;
        filled.push_str(rest.get(..at)?);
        filled.push_str(&display::json(&quoted));
        rest = rest.get(at + mark.len()..)?;
    }
    filled.push_str(rest);
    Some(filled)
}

/// The first name in a text.
fn name_in(text: &str) -> &str {
    let is_of_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let text = text.trim_start_matches(|character| !is_of_name(character));
    text.split(|character| !is_of_name(character)).next().unwrap_or_default()
}

fn key(rule: &HookRule, call: &ToolUse) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    call.session.hash(&mut hasher);
    rule.hash(&mut hasher);
    match rule.mode {
        HookMode::Tell => {}
        HookMode::Deny => {
            call.tool.hash(&mut hasher);
            let input = call.input.iter().filter(|(name, _)| !ASIDE.contains(&name.as_str()));
            let input: Map<String, Value> = input.map(|(name, value)| (name.clone(), value.clone())).collect();
            Value::Object(input).to_string().hash(&mut hasher);
        }
        HookMode::Enforce => return None,
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Client;

    fn rule() -> HookRule {
        HookRule {
            tools: vec!["Grep".to_owned(), "mcp__*__search".to_owned()],
            files: vec!["*.ts".to_owned()],
            paths: vec!["src/".to_owned()],
            patterns: vec!["class ".to_owned()],
            say: "serena.find_symbol({name_path_pattern: {name}, relative_path: {path}})".to_owned(),
            mode: HookMode::Deny,
            server: None,
        }
    }

    fn call(tool: &str, input: Value) -> ToolUse {
        let Value::Object(input) = input else { panic!("no object") };
        let folder = Some("/work/app".to_owned());
        ToolUse { client: Client::ClaudeCode, tool: tool.to_owned(), input, folder, session: "one".to_owned() }
    }

    fn said(rule: &HookRule, tool: &str, input: Value) -> Option<String> {
        fitting(std::slice::from_ref(rule), &call(tool, input)).next().map(|fit| fit.says)
    }

    #[test]
    fn a_rule_fits_where_all_that_it_names_is_there_and_names_the_call() {
        let fits = json!({ "pattern": "class Asset", "path": "/work/app/src/", "glob": "**/*.ts" });
        let expected = r#"serena.find_symbol({name_path_pattern: "Asset", relative_path: "src/"})"#;
        assert_eq!(said(&rule(), "Grep", fits.clone()).as_deref(), Some(expected));
        assert_eq!(said(&rule(), "mcp__x__search", fits.clone()).as_deref(), Some(expected));
        assert_eq!(rule().leads_to(), Some("serena"));
        for (tool, key, value) in [
            ("Grep2", "pattern", "class Asset"),
            ("Grep", "pattern", "func Asset"),
            ("Grep", "path", "/work/apple/src/"),
            ("Grep", "path", "docs"),
            ("Grep", "glob", "*.go"),
            // There is no name to fill in.
            ("Grep", "pattern", "class "),
        ] {
            let mut other = fits.clone();
            other[key] = value.into();
            assert_eq!(said(&rule(), tool, other), None, "{tool} {key} {value}");
        }
        let command = json!({ "command": "grep -rn 'class Asset' src/asset.ts" });
        let shell = HookRule { tools: vec!["Bash".to_owned()], ..rule() };
        // A program is not a path.
        let bare = HookRule { files: vec![], paths: vec![], patterns: vec![], ..shell.clone() };
        assert_eq!(said(&bare, "Bash", command.clone()), None);
        let typed = HookRule { paths: vec![], ..shell.clone() };
        assert!(said(&typed, "Bash", command.clone()).expect("it fits").contains("\"src/asset.ts\""));
        assert!(said(&shell, "Bash", command).expect("it fits").contains("\"src/asset.ts\""));
    }

    #[test]
    fn what_is_repeated_is_quoted_and_bounded() {
        let rule = HookRule { files: vec![], paths: vec![], say: "x.y({pattern}) {pattern".to_owned(), ..rule() };
        let hostile = "class \"}); {path} \u{202e}\n\u{1b}[2J";
        let said_of = |text: &str| said(&rule, "Grep", json!({ "pattern": text }));
        let text = said_of(hostile).expect("it fits");
        assert_eq!(text, r#"x.y("class \"}); {path} \u202e\n\u001b[2J") {pattern"#);
        assert_eq!(said_of(&format!("class {}", "x".repeat(QUOTED_BYTES))), None);
    }

    #[test]
    fn what_was_said_is_remembered_by_session_and_rule_and_a_denial_by_its_input_too() {
        let key_of = |mode, session: &str, pattern: &str| {
            let rule = HookRule { mode, ..rule() };
            let call = call("Grep", json!({ "pattern": pattern, "path": "src/", "glob": "*.ts" }));
            fitting(&[rule], &ToolUse { session: session.to_owned(), ..call }).next().expect("it fits").key
        };
        assert_eq!(key_of(HookMode::Tell, "one", "class A"), key_of(HookMode::Tell, "one", "class B"));
        assert_ne!(key_of(HookMode::Tell, "one", "class A"), key_of(HookMode::Tell, "two", "class A"));
        assert_eq!(key_of(HookMode::Deny, "one", "class A"), key_of(HookMode::Deny, "one", "class A"));
        assert_ne!(key_of(HookMode::Deny, "one", "class A"), key_of(HookMode::Deny, "one", "class B"));
        assert_eq!(key_of(HookMode::Enforce, "one", "class A"), None);
        let described = |text: &str| {
            let shell = HookRule { tools: vec!["Bash".to_owned()], paths: vec![], ..rule() };
            let input = json!({ "command": "grep 'class A' src/a.ts", "description": text });
            fitting(&[shell], &call("Bash", input)).next().expect("it fits").key
        };
        assert_eq!(described("look for A"), described("search A again"));
    }
}
