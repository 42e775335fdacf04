//! Paths that a key forms with a folder in the owner's own texts: `cwd = "/srv/{key}"`, `args =
//! ["--project=/srv/{key}"]`.
//!
//! There the key is a name, and a name can be that of a link. So the path is resolved before each
//! call, and must be in the folder that the owner wrote, or where `paths` allows paths to lead.

use std::path::{Path, PathBuf, is_separator};

use belljar_model::{Affinity, ServerSpec, Transport};
use serde_json::Value;

/// A folder of the owner, and the path in it that the key forms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) path: PathBuf,
}

/// All paths that `key`, which is a name, forms in the texts of a server. A text that is a command
/// of several words may be read in several ways: folders that do not exist are ignored.
pub(crate) fn of(spec: &ServerSpec, key: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let Transport::Stdio(command) = &spec.transport else { return places };
    let cwd = command.cwd.as_deref().and_then(Path::to_str).unwrap_or_default();
    if let Some((head, tail)) = cwd.split_once(Affinity::PLACEHOLDER) {
        places.extend(place(Path::new(""), head, key, tail));
    }
    let base = filled(cwd, key);
    let activations = spec.life.on_start.iter().flat_map(|activation| activation.arguments.values());
    let texts = command.args.iter().chain(command.env.values()).map(String::as_str);
    for text in texts.chain(activations.filter_map(Value::as_str)) {
        let Some((head, tail)) = text.split_once(Affinity::PLACEHOLDER) else { continue };
        let tail = tail.find(ends_path).and_then(|end| tail.get(..end)).unwrap_or(tail);
        for start in starts(head) {
            let head = head.get(start..).unwrap_or_default();
            places.extend(place(Path::new(&base), head, key, tail));
        }
    }
    places
}

/// Where a path may begin in the text before a key: at the start, after anything that ends another
/// one, and at the root behind a one-letter option.
fn starts(head: &str) -> impl Iterator<Item = usize> {
    let words = head.char_indices().filter(|(_, character)| ends_path(*character));
    let words = std::iter::once(0).chain(words.map(|(index, character)| index + character.len_utf8()));
    words.map(|start| {
        let word = head.get(start..).unwrap_or_default();
        if word.starts_with('-') { start + word.find(is_separator).unwrap_or_default() } else { start }
    })
}

/// Whether a character can separate a path from what is next to it. The owner's paths may contain
/// such characters too.
fn ends_path(character: char) -> bool {
    character.is_whitespace() || "'\"`=:,;|&()[]<>".contains(character)
}

/// `None` if no folder precedes the key: then it is not a path, or it is relative to a folder that
/// the server chooses itself.
fn place(base: &Path, head: &str, key: &str, tail: &str) -> Option<Place> {
    let end = head.rfind(is_separator)? + 1;
    let path = format!("{head}{key}{}", filled(tail, key));
    Some(Place { folder: base.join(head.get(..end)?), path: base.join(path) })
}

fn filled(text: &str, key: &str) -> String {
    text.replace(Affinity::PLACEHOLDER, key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use belljar_model::{Activation, StdioCommand};
    use serde_json::json;

    use super::*;

    fn places_of(text: &str) -> Vec<(String, String)> {
        let command = StdioCommand {
            command: "serve".to_owned(),
            args: vec![text.to_owned()],
            env: BTreeMap::new(),
            cwd: Some("/base".into()),
            sandbox: None,
        };
        shown(&ServerSpec::new("s", Transport::Stdio(command)))
    }

    fn shown(spec: &ServerSpec) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        of(spec, "x").into_iter().map(|place| (text(place.folder), text(place.path))).collect()
    }

    #[cfg(unix)]
    #[test]
    fn a_place_is_found_wherever_a_folder_stands_before_the_key() {
        for (written, folder, path) in [
            ("/srv/{key}", "/srv/", "/srv/x"),
            ("/srv/a b/{key}", "/srv/a b/", "/srv/a b/x"),
            ("--project=/srv/{key}", "/srv/", "/srv/x"),
            ("-I/srv/{key}", "/srv/", "/srv/x"),
            ("-v=/srv/{key}/data:/mnt/{key}", "/srv/", "/srv/x/data"),
            ("/srv/p-{key}-{key}/sub", "/srv/", "/srv/p-x-x/sub"),
            ("file:///srv/{key}?a={key}", "///srv/", "///srv/x?a"),
            ("sh -c 'cd /srv/{key}; run'", "/srv/", "/srv/x"),
            ("sub/{key}", "/base/sub/", "/base/sub/x"),
        ] {
            let found = places_of(written);
            assert!(found.contains(&(folder.to_owned(), path.to_owned())), "{written}: {found:?}");
        }
        for none in ["{key}", "--project={key}", "repository:{key}", "/srv/other", "-{key}"] {
            assert_eq!(places_of(none), [], "{none}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn every_text_of_a_server_is_looked_at() {
        let command = StdioCommand {
            command: "serve".to_owned(),
            args: vec!["/args/{key}".to_owned()],
            env: BTreeMap::from([("A".to_owned(), "/env/{key}".to_owned())]),
            cwd: Some("/cwd of it/{key}".into()),
            sandbox: None,
        };
        let mut spec = ServerSpec::new("s", Transport::Stdio(command));
        let arguments = json!({ "p": "/start/{key}", "n": 1 }).as_object().cloned().unwrap_or_default();
        spec.life.on_start = vec![Activation { tool: "activate".into(), arguments }];
        let folders: Vec<_> = shown(&spec).into_iter().map(|(folder, _)| folder).collect();
        assert_eq!(folders, ["/cwd of it/", "/args/", "/env/", "/start/"]);
    }
}
