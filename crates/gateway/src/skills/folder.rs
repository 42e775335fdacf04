//! The files of the folders. Whoever writes them has scripts run with the owner's tools, so they
//! are trusted like the configuration: only if nobody but the user and root can have written them.
//! Links, and anything else that is not a regular file, are refused.

use std::{
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use belljar_files::{check_file, check_folder, check_link};
use cap_std::{ambient_authority, fs::Dir};

/// The most scripts in all folders. A person keeps a few dozen.
const MAX_FILES: usize = 200;
/// The most bytes of one script. A long one has a few KB.
pub const MAX_FILE_BYTES: usize = 64 * 1024;
/// The most bytes of all scripts.
const MAX_ALL_BYTES: usize = 1024 * 1024;
/// The most bytes of a name.
const MAX_NAME_BYTES: usize = 64;
/// The most entries of a folder that are examined.
const MAX_ENTRIES: usize = 2_000;
/// The most problems that are kept.
const MAX_PROBLEMS: usize = 50;
/// Characters of a foreign name that are shown.
const MAX_SHOWN: usize = 80;

/// A folder with scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder {
    /// The folder.
    pub path: PathBuf,
    /// Whether the owner's configuration names it. Otherwise it is the folder beside the
    /// configuration, which need not exist. A link must not lead out of there.
    pub is_named: bool,
}

/// A file that has the name of a script.
pub(super) struct Found {
    pub(super) name: String,
    /// The file's name in stack traces.
    pub(super) file: String,
    pub(super) path: String,
    pub(super) text: String,
    /// Why it is not used.
    pub(super) refused: Option<String>,
}

#[derive(Default)]
pub(super) struct Scanned {
    /// The files, in the order of the folders and then of their names.
    pub(super) files: Vec<Found>,
    pub(super) problems: Vec<String>,
    bytes: usize,
}

/// Names that a namespace cannot have, since they mean something to the language.
const TAKEN: [&str; 2] = ["constructor", "then"];

/// Whether a script may have this name: a lower-case letter, and then letters, digits, `_` and `-`.
pub fn is_skill_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let is_first = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
    let is_other = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    is_first && name.len() <= MAX_NAME_BYTES && bytes.all(is_other) && !TAKEN.contains(&name)
}

/// Reads the folders.
pub(super) fn scan(folders: &[SkillFolder]) -> Scanned {
    let mut scanned = Scanned::default();
    for folder in folders {
        if let Err(problem) = scanned.read(folder) {
            scanned.tell(format!("{}: {problem}", folder.path.display()));
        }
    }
    scanned
}

impl Scanned {
    fn tell(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn read(&mut self, folder: &SkillFolder) -> Result<(), String> {
        let Some(opened) = open(folder)? else { return Ok(()) };
        check_folder(&opened, &folder.path).map_err(|distrust| distrust.to_string())?;
        let mut names = Vec::new();
        for entry in opened.entries().map_err(|error| error.to_string())?.take(MAX_ENTRIES + 1) {
            let entry = entry.map_err(|error| error.to_string())?;
            names.push(entry.file_name());
        }
        if names.len() > MAX_ENTRIES {
            names.truncate(MAX_ENTRIES);
            self.tell(format!("{}: more than {MAX_ENTRIES} entries; the others are not read", folder.path.display()));
        }
        names.sort();
        for file in names {
            let Some(file) = file.to_str() else { continue };
            let stem = file.strip_suffix(".ts").or_else(|| file.strip_suffix(".js"));
            let Some(name) = stem.filter(|stem| !stem.ends_with(".d")) else { continue };
            let path = folder.path.join(file);
            let shown: String = path.display().to_string().chars().take(MAX_SHOWN * 4).collect();
            if !is_skill_name(name) {
                self.tell(format!(
                    "{shown}: not used: a name has a lower-case letter first, then lower-case letters, digits, _ and -, and at \
                     most {MAX_NAME_BYTES} of them"
                ));
                continue;
            }
            if let Some(other) = self.files.iter().find(|other| other.name == name) {
                let problem = format!("{shown}: not used: {} has this name already", other.path);
                self.tell(problem);
                continue;
            }
            if self.files.len() == MAX_FILES {
                self.tell(format!("{shown}: not used: there may be {MAX_FILES} scripts with names"));
                break;
            }
            let (text, refused) = match self.text(&opened, file, &path) {
                Ok(text) => (text, None),
                Err(refused) => (String::new(), Some(refused)),
            };
            self.files.push(Found {
                name: name.to_owned(),
                file: format!("skills/{file}"),
                path: shown,
                text,
                refused,
            });
        }
        Ok(())
    }

    fn text(&mut self, folder: &Dir, file: &str, path: &Path) -> Result<String, String> {
        let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
        // Opening a pipe would wait for its other end.
        let kind = folder.symlink_metadata(file).map_err(unreadable)?;
        if !kind.is_file() {
            let what = if kind.is_symlink() { "a link" } else { "not a file" };
            return Err(format!("it is {what}: put the script itself into the folder"));
        }
        let opened = folder.open(file).map_err(unreadable)?;
        check_file(&opened, path).map_err(|distrust| distrust.to_string())?;
        let mut bytes = Vec::new();
        let limit = MAX_FILE_BYTES as u64;
        opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(format!("it has more than {MAX_FILE_BYTES} bytes, which is the limit"));
        }
        self.bytes += bytes.len();
        if self.bytes > MAX_ALL_BYTES {
            return Err(format!(
                "all scripts with names together have more than {MAX_ALL_BYTES} bytes, which is the limit"
            ));
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
    }
}

/// The folder, if it exists.
fn open(folder: &SkillFolder) -> Result<Option<Dir>, String> {
    match opened(folder)? {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == ErrorKind::NotFound && !folder.is_named => Ok(None),
        Err(error) => Err(format!("the folder cannot be read: {error}")),
    }
}

fn opened(folder: &SkillFolder) -> Result<std::io::Result<Dir>, String> {
    let (parent, name) = (folder.path.parent(), folder.path.file_name());
    // The root, or a path that ends with `..`, is not a name that could be a link.
    let Some(name) = name else { return Ok(Dir::open_ambient_dir(&folder.path, ambient_authority())) };
    let shown = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = match Dir::open_ambient_dir(shown, ambient_authority()) {
        Ok(parent) => parent,
        Err(error) => return Ok(Err(error)),
    };
    if !folder.is_named {
        return Ok(parent.open_dir(name));
    }
    // A parent folder that others can write to could be replaced, and a link leads wherever its
    // author wanted.
    check_folder(&parent, shown).map_err(|distrust| distrust.to_string())?;
    if parent.symlink_metadata(name).is_ok() {
        check_link(&parent, Path::new(name), &folder.path).map_err(|distrust| distrust.to_string())?;
    }
    Ok(Dir::open_ambient_dir(&folder.path, ambient_authority()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_scripts_can_write() {
        for name in ["a", "triage", "open-issues", "a_1"] {
            assert!(is_skill_name(name), "{name}");
        }
        for name in [
            "",
            "then",
            "constructor",
            "A",
            "1a",
            "_a",
            "-a",
            "a.b",
            "ä",
            "a b",
            "../a",
            &"a".repeat(MAX_NAME_BYTES + 1),
        ] {
            assert!(!is_skill_name(name), "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_a_problem_only_if_it_was_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("skills");
        let scanned = |is_named| scan(&[SkillFolder { path: path.clone(), is_named }]);
        assert!(scanned(false).problems.is_empty());
        assert_eq!(scanned(true).problems.len(), 1);
    }
}
