//! Which arguments of a call may be a path, a command, or a search pattern.

use serde_json::{Map, Value};

use crate::ToolUse;

/// Arguments that hold a path, a file's name or a glob in the tools of these clients.
const PATHS: [&str; 15] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "dir_path",
    "directory",
    "target_file",
    "target_directory",
    "notebook_path",
    "files",
    "glob",
    "glob_pattern",
    "include",
    "include_pattern",
    "includePattern",
];
/// Arguments that hold a search pattern or a command.
const PATTERNS: [&str; 5] = ["pattern", "query", "regex", "command", "cmd"];
/// Arguments that hold a command, whose words may be paths.
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// How many words of a command, elements of a list and names within braces are examined.
const MOST: usize = 256;
/// The longest name of a file and the longest path that operating systems accept.
const NAME_BYTES: usize = 255;
const PATH_BYTES: usize = 4_096;

/// A path in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallPath<'call> {
    /// The path, relative to the agent's folder if it is below that.
    pub(crate) text: &'call str,
    folder: Option<&'call str>,
    /// Whether it is a word of a command.
    pub(crate) is_word: bool,
}

impl CallPath<'_> {
    /// Whether it begins with `start`, which may be absolute or relative to the agent's folder.
    pub(crate) fn is_below(self, start: &str) -> bool {
        let begins = |path: &str| path.starts_with(start) || start.strip_suffix('/') == Some(path);
        match self.folder {
            Some(folder) if start.starts_with('/') && !self.text.starts_with('/') => {
                begins(&format!("{folder}/{}", self.text))
            }
            _ => begins(self.text),
        }
    }

    /// Whether its last component matches one of `patterns`. A component such as `*.{ts,tsx}`
    /// stands for each of its forms.
    pub(crate) fn is_named_like(self, patterns: &[String]) -> bool {
        let name = self.text.rsplit(['/', '\\']).next().unwrap_or_default();
        if name.len() > NAME_BYTES {
            return false;
        }
        let is_like_one = |name: &str| patterns.iter().any(|pattern| is_like(pattern, name));
        let braces = name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
        match braces {
            Some((before, (within, after))) => {
                within.split(',').take(MOST).any(|form| is_like_one(&format!("{before}{form}{after}")))
            }
            None => is_like_one(name),
        }
    }
}

/// What may be a path in a call.
pub(crate) fn paths(call: &ToolUse) -> Vec<CallPath<'_>> {
    let words = commands(&call.input)
        .flat_map(|command| command.split_whitespace().take(MOST))
        .map(|word| word.trim_matches(['"', '\'']));
    let folder = call.folder.as_deref().map(|folder| folder.trim_end_matches(['/', '\\']));
    let folder = folder.filter(|folder| !folder.is_empty());
    texts(&call.input, &PATHS)
        .map(|path| (path, false))
        .chain(words.map(|word| (word, true)))
        .filter(|(path, _)| path.len() <= PATH_BYTES)
        .map(|(path, is_word)| {
            let below = folder.and_then(|folder| path.strip_prefix(folder));
            let below = below.and_then(|path| path.strip_prefix(['/', '\\']));
            let text = below.unwrap_or_else(|| path.strip_prefix("./").unwrap_or(path));
            CallPath { text, folder, is_word }
        })
        .collect()
}

/// What is searched for or run.
pub(crate) fn searched(input: &Map<String, Value>) -> impl Iterator<Item = &str> {
    texts(input, &PATTERNS)
}

/// What is run.
pub(crate) fn commands(input: &Map<String, Value>) -> impl Iterator<Item = &str> {
    texts(input, &COMMANDS)
}

/// The commands that are run, with the words of a list joined into one command.
pub(crate) fn whole_commands(input: &Map<String, Value>) -> Vec<String> {
    let whole = |value: &Value| match value {
        Value::Array(words) => words.iter().take(MOST).filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        value => value.as_str().unwrap_or_default().to_owned(),
    };
    COMMANDS.iter().filter_map(|key| input.get(*key)).map(whole).collect()
}

/// The texts under these keys, including those in lists.
fn texts<'call>(input: &'call Map<String, Value>, keys: &'static [&'static str]) -> impl Iterator<Item = &'call str> {
    keys.iter().filter_map(|key| input.get(*key)).flat_map(|value| {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        value.as_str().into_iter().chain(list.iter().take(MOST).filter_map(Value::as_str))
    })
}

/// Whether `text` matches `pattern`, in which `*` stands for any characters. The work is bounded by
/// the product of their lengths.
pub(crate) fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, like) in [
            ("*", "", true),
            ("*.ts", "a.ts", true),
            ("*.ts", "a.tsx", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("ab*b", "ab", false),
            ("", "", true),
            ("x", "xy", false),
        ] {
            assert_eq!(is_like(pattern, text), like, "{pattern} {text}");
        }
    }

    #[test]
    fn a_path_is_compared_from_the_root_or_from_the_agents_folder() {
        let path = |text| CallPath { text, folder: Some("/work/app"), is_word: false };
        for (text, start, below) in [
            ("src/a.ts", "src/", true),
            ("src", "src/", true),
            ("source/a.ts", "src/", false),
            ("src/a.ts", "/work/app/src/", true),
            ("src/a.ts", "/work/", true),
            ("src/a.ts", "/work/other/", false),
            ("/etc/passwd", "/etc/", true),
            ("/etc/passwd", "src/", false),
        ] {
            assert_eq!(path(text).is_below(start), below, "{text} {start}");
        }
        let patterns = ["*.ts".to_owned()];
        for (text, like) in [("src/**/*.{tsx,ts}", true), ("*.{go}", false), ("*.{ts", false), ("a.ts", true)] {
            assert_eq!(path(text).is_named_like(&patterns), like, "{text}");
        }
    }
}
