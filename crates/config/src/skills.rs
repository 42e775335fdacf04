//! The `[skills]` of belljar.toml: the folders with named scripts, in addition to the one next to
//! the file. Their contents are handled elsewhere.

use std::path::{Path, PathBuf};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    expand::Expander,
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["folders"];
/// The name of the namespace that named scripts have in scripts. No server may have this name.
pub(crate) const NAME: &str = "skills";
/// The most folders.
const MOST: usize = 16;

/// Reads the folders, resolved against `directory`.
pub(crate) fn read(node: &Node, directory: &Path, expander: &Expander<'_>) -> Result<Vec<PathBuf>, Located> {
    let expected = |field, expected, node: &Node| {
        ConfigErrorKind::Expected { field: Field::of_file(field), expected, found: node.kind() }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("skills", "a table", node)) };
    check_unique(entries)?;
    let mut folders = Vec::new();
    for entry in entries {
        if entry.key != "folders" {
            return Err(ConfigErrorKind::unknown_key("skills", &entry.key, KEYS).at(entry.offset));
        }
        let Value::List(list) = &entry.node.value else {
            return Err(expected("skills.folders", "an array of folders", &entry.node));
        };
        if list.len() > MOST {
            return Err(expected("skills.folders", "an array of at most 16 folders", &entry.node));
        }
        for node in list {
            match &node.value {
                Value::String(text) if !text.is_empty() => {
                    let field = Field::of_file("skills.folders");
                    let path = expander.expand(text, &field).map_err(|fault| fault.at(node.offset))?;
                    folders.push(directory.join(path));
                }
                _ => return Err(expected("skills.folders", "an array of paths of folders", node)),
            }
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use crate::testing::{json, toml};

    #[test]
    fn the_folders_of_scripts_are_seen_from_the_file_that_names_them() {
        assert!(toml("").expect("a config").skills.is_empty());
        let named = toml("[skills]\nfolders = ['team/scripts', '/srv/scripts']\n").expect("a config").skills;
        assert!(named[0].ends_with("team/scripts") && named[1].ends_with("srv/scripts"), "{named:?}");
        for (text, message) in [
            ("skills = 'x'", "line 1, column 10: 'skills' must be a table, not a string"),
            ("[skills]\nfolder = ['x']", "line 2, column 1: unknown key 'folder' in skills: did you mean 'folders'?"),
            ("[skills]\nfolders = 'x'", "line 2, column 11: 'skills.folders' must be an array of folders"),
            ("[skills]\nfolders = ['']", "line 2, column 12: 'skills.folders' must be an array of paths of folders"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn no_server_takes_the_name_of_the_scripts() {
        let message = "no server may be called 'skills', which is the name for your own named scripts: give the server another name";
        for error in [
            toml("[servers.skills]\ncommand = 'x'\n").expect_err("the name is taken"),
            json("{\"mcpServers\": {\"skills\": {\"command\": \"x\"}}}").expect_err("the name is taken"),
        ] {
            assert!(error.contains(message), "{error}");
        }
    }
}
