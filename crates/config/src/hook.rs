//! The `[[hook]]` of belljar.toml: where the tool calls of an agent are redirected.

use belljar_model::{HookMode, HookRule};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    tree::{Entry, Node, Value, check_unique},
};

/// The keys of a rule.
pub(crate) const KEYS: &[&str] = &["tools", "files", "paths", "patterns", "say", "mode", "server"];
/// The most rules. Each is compared with each call of an agent.
pub(crate) const MAX_RULES: usize = 64;
/// The most names, paths or patterns of one rule.
const MAX_ITEMS: usize = 64;
/// The longest name, path or pattern, in bytes.
const ITEM_BYTES: usize = 200;
/// The longest text of a rule, in bytes: an agent reads it with each call that the rule matches.
const SAY_BYTES: usize = 1000;

/// Reads the rules. `servers` are the names of all servers in the file.
pub(crate) fn read(node: &Node, servers: &[String]) -> Result<Vec<HookRule>, Located> {
    let Value::List(rules) = &node.value else {
        return Err(expected("hook", "a list of tables, each written as [[hook]]", node));
    };
    if rules.len() > MAX_RULES {
        return Err(expected("hook", "a list of at most 64 rules", node));
    }
    rules.iter().enumerate().map(|(index, node)| rule(index, node, servers)).collect()
}

fn rule(index: usize, node: &Node, servers: &[String]) -> Result<HookRule, Located> {
    let place = format!("hook[{index}]");
    let Value::Table(entries) = &node.value else { return Err(expected(&place, "a table", node)) };
    check_unique(entries)?;
    if let Some(entry) = entries.iter().find(|entry| !KEYS.contains(&entry.key.as_str())) {
        return Err(ConfigErrorKind::unknown_key(&place, &entry.key, KEYS).at(entry.offset));
    }
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let field = |key: &str| format!("{place}.{key}");
    let list = |key: &str| find(key).map_or_else(|| Ok(Vec::new()), |entry| texts(&field(key), entry));

    let tools = match find("tools") {
        Some(entry) => names(&field("tools"), &entry.node)?,
        None => return Err(expected(&place, "a table with 'tools', the names of the client's own tools", node)),
    };
    let say = match find("say") {
        Some(entry) => say(&field("say"), &entry.node)?,
        None => return Err(expected(&place, "a table with 'say', the call to make instead", node)),
    };
    let mode = find("mode").map(|entry| mode(&field("mode"), &entry.node)).transpose()?.unwrap_or_default();
    let server = match find("server") {
        None => None,
        Some(entry) => match &entry.node.value {
            Value::String(name) if servers.contains(name) => Some(name.clone()),
            _ => return Err(expected(&field("server"), "the name of a server of this file", &entry.node)),
        },
    };
    let mut rule = HookRule {
        tools,
        files: list("files")?,
        paths: list("paths")?,
        patterns: list("patterns")?,
        say,
        mode,
        server,
    };
    // The text before a dot need not be the name of a server.
    rule.server = rule.leads_to().filter(|name| servers.iter().any(|server| server == name)).map(str::to_owned);
    // Otherwise nobody could tell whether the server that the rule points to is usable.
    if mode == HookMode::Enforce && rule.server.is_none() {
        let node = find("say").map_or(node, |entry| &entry.node);
        return Err(expected(&field("say"), "a call of a server of this file, since 'mode' is enforce", node));
    }
    Ok(rule)
}

/// Reads names such as `"Grep|Search"`.
fn names(field: &str, node: &Node) -> Result<Vec<String>, Located> {
    let wrong = || expected(field, "the names of tools, as in \"Grep|Search\"", node);
    let Value::String(text) = &node.value else { return Err(wrong()) };
    let names: Vec<String> = text.split('|').map(str::to_owned).collect();
    let are_names = names.iter().all(|name| !name.is_empty() && name.len() <= ITEM_BYTES);
    if are_names && names.len() <= MAX_ITEMS { Ok(names) } else { Err(wrong()) }
}

fn texts(field: &str, entry: &Entry) -> Result<Vec<String>, Located> {
    let wrong = |node| expected(field, "a list of 1 to 64 strings, of 1 to 200 bytes each", node);
    let Value::List(list) = &entry.node.value else { return Err(wrong(&entry.node)) };
    if list.is_empty() || list.len() > MAX_ITEMS {
        return Err(wrong(&entry.node));
    }
    let text = |node| match &Node::text(node) {
        Some(text) if !text.is_empty() && text.len() <= ITEM_BYTES => Ok((*text).to_owned()),
        _ => Err(wrong(node)),
    };
    list.iter().map(text).collect()
}

fn say(field: &str, node: &Node) -> Result<String, Located> {
    match &node.value {
        Value::String(text) if !text.is_empty() && text.len() <= SAY_BYTES => Ok(text.clone()),
        _ => Err(expected(field, "a text of 1 to 1000 bytes", node)),
    }
}

fn mode(field: &str, node: &Node) -> Result<HookMode, Located> {
    let text = node.text();
    HookMode::ALL
        .into_iter()
        .find(|mode| Some(mode.as_str()) == text)
        .ok_or_else(|| expected(field, "one of \"tell\", \"deny\" and \"enforce\"", node))
}

fn expected(field: &str, expected: &'static str, node: &Node) -> Located {
    let found = match node.value {
        Value::String(_) => "another string",
        Value::List(_) => "another list",
        Value::Table(_) => "another table",
        _ => node.kind(),
    };
    ConfigErrorKind::Expected { field: Field::of_file(field), expected, found }.at(node.offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::toml;

    #[test]
    fn a_rule_says_which_calls_are_led_where() {
        let text = "[[hook]]\ntools = 'Grep|Search'\nfiles = ['*.ts']\npaths = ['src/']\npatterns = ['class ']\n\
                    say = 'serena.find_symbol({name_path_pattern: {pattern}})'\nmode = 'enforce'\n\
                    [[hook]]\ntools = 'Read'\nsay = 'fs.read_file({path: {path}})'\nserver = 'serena'\n\
                    [[hook]]\ntools = 'Read'\nsay = 'other.call()'\n\
                    [servers.serena]\nbuiltin = 'demo'\ndisabled = true\n";
        let rules = toml(text).expect("a config").hooks;
        assert_eq!((rules.len(), &rules[2].server), (3, &None));
        assert_eq!(rules[0].tools, ["Grep", "Search"]);
        assert_eq!((rules[0].mode, rules[0].server.as_deref()), (HookMode::Enforce, Some("serena")));
        assert_eq!((rules[1].mode, rules[1].server.as_deref()), (HookMode::Tell, Some("serena")));
        assert!(rules[1].files.is_empty() && rules[1].paths.is_empty() && rules[1].patterns.is_empty());
    }

    #[test]
    fn what_is_not_a_rule_is_refused_with_its_place() {
        let many = format!("hook = [{}]", "{}, ".repeat(MAX_RULES + 1));
        for (text, message) in [
            ("hook = 3", "line 1, column 8: 'hook' must be a list of tables, each written as [[hook]]"),
            (many.as_str(), "'hook' must be a list of at most 64 rules"),
            ("[[hook]]\nsay = 'x'", "'hook[0]' must be a table with 'tools'"),
            ("[[hook]]\ntools = 'x'", "'hook[0]' must be a table with 'say'"),
            ("[[hook]]\ntool = 'x'", "line 2, column 1: unknown key 'tool' in hook[0]: did you mean 'tools'?"),
            ("[[hook]]\ntools = 'a||b'\nsay = 'x'", "line 2, column 9: 'hook[0].tools' must be the names of tools"),
            ("[[hook]]\ntools = 'a'\nsay = ''", "line 3, column 7: 'hook[0].say' must be a text of 1 to 1000 bytes"),
            ("[[hook]]\ntools = 'a'\nsay = 'x'\nfiles = []", "line 4, column 9: 'hook[0].files' must be a list of 1"),
            ("[[hook]]\ntools = 'a'\nsay = 'x'\npaths = ['']", "line 4, column 10: 'hook[0].paths' must be a list"),
            ("[[hook]]\ntools = 'a'\nsay = 'x'\nmode = 'wall'", "line 4, column 8: 'hook[0].mode' must be one of"),
            ("[[hook]]\ntools = 'a'\nsay = 'x'\nserver = 's'", "line 4, column 10: 'hook[0].server' must be the name"),
            (
                "[[hook]]\ntools = 'a'\nsay = 's.t()'\nmode = 'enforce'",
                "line 3, column 7: 'hook[0].say' must be a call",
            ),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
