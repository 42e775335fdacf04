//! The `[policy]` of belljar.toml: the path of the owner's rules. Their contents are handled
//! elsewhere.

use std::path::{Path, PathBuf};

use crate::{
    Variables,
    error::{ConfigErrorKind, Field, Located},
    expand::Expander,
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["file"];

/// Reads the path of the file, resolved against `directory`.
pub(crate) fn read(node: &Node, directory: &Path, expander: &Expander<'_>) -> Result<Option<PathBuf>, Located> {
    let expected = |field, expected, node: &Node| {
        ConfigErrorKind::Expected { field: Field::of_file(field), expected, found: node.kind() }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("policy", "a table", node)) };
    check_unique(entries)?;
    let mut file = None;
    for entry in entries {
        if entry.key != "file" {
            return Err(ConfigErrorKind::unknown_key("policy", &entry.key, KEYS).at(entry.offset));
        }
        match &entry.node.value {
            Value::String(text) if !text.is_empty() => {
                let field = Field::of_file("policy.file");
                let path = expander.expand(text, &field).map_err(|fault| fault.at(entry.node.offset))?;
                file = Some(directory.join(path));
            }
            _ => return Err(expected("policy.file", "the path of a file", &entry.node)),
        }
    }
    Ok(file)
}

/// The folder that a text in another file of the owner's refers to, with variables expanded, and
/// resolved against that file's `directory`.
///
/// # Errors
/// The reason why it is not a folder.
pub fn folder(text: &str, directory: &Path, variables: &Variables<'_>) -> Result<PathBuf, String> {
    let expanded =
        Expander::new(variables).expand(text, &Field::of_file("folder")).map_err(|fault| fault.to_string())?;
    if expanded.is_empty() {
        return Err("it is empty".to_owned());
    }
    let folder = directory.join(expanded);
    if folder.is_absolute() { Ok(folder) } else { std::path::absolute(folder).map_err(|error| error.to_string()) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::testing::toml;

    #[test]
    fn the_file_of_the_rules_is_seen_from_the_file_that_names_it() {
        assert_eq!(toml("").expect("a config").policy, None);
        let named = toml("[policy]\nfile = 'rules/mine.toml'\n").expect("a config").policy.expect("a file");
        assert!(named.ends_with(Path::new("rules/mine.toml")), "{named:?}");
        for (text, message) in [
            ("policy = 'x'", "line 1, column 10: 'policy' must be a table, not a string"),
            ("[policy]\nfile = ''", "line 2, column 8: 'policy.file' must be the path of a file, not a string"),
            ("[policy]\nfiles = 'x'", "line 2, column 1: unknown key 'files' in policy: did you mean 'file'?"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
