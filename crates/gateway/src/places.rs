//! Decides whether a path leads into a folder, for rules: by the file system, never by the path's
//! prefix.
//!
//! A path that could mean something else to the server is not resolved. Then the answer is
//! "unknown", which allows nothing. A link that is made later can still lead elsewhere, and so can
//! a hard link or a mount: this guards against mistakes and misled scripts, not against somebody
//! who can write to the folders.

use std::path::{Component, Path, PathBuf};

use belljar_model::display::is_hidden;
use belljar_upstream::{PATH_BYTES, real_path};

/// The most links on one path, as on Linux.
const LINKS: usize = 40;

/// Whether `text`, resolved against `base` if it is relative, certainly leads into one of
/// `folders`, or certainly into none.
pub(crate) fn is_under(base: Option<&Path>, text: &str, folders: &[PathBuf]) -> Option<bool> {
    if !is_plain(text) {
        return None;
    }
    let path = Path::new(text);
    let path = if path.is_absolute() { path.to_owned() } else { base?.join(path) };
    if is_of_process(&path) {
        return None;
    }
    let path = real_path(&path).ok()?;
    let mut is_certain = true;
    for folder in folders {
        // A folder that does not exist yet is taken by its name.
        let Ok(folder) = real_path(folder) else {
            is_certain = false;
            continue;
        };
        match relation(&path, &folder) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_certain = false,
        }
    }
    is_certain.then_some(false)
}

/// Whether every reader of the path reads it the same way.
fn is_plain(text: &str) -> bool {
    // Many servers strip white space around a text.
    let is_blank = |end: Option<char>| end.is_some_and(|end| end.is_whitespace() || is_hidden(end));
    let is_odd = |part: &str| {
        let has_blanks = is_blank(part.chars().next()) || is_blank(part.chars().next_back());
        part == ".." || (part != "." && part.ends_with('.')) || has_blanks
    };
    !(text.is_empty()
        || text.len() > PATH_BYTES
        || text.chars().any(char::is_control)
        // Some programs read a home folder or a variable.
        || text.starts_with('~')
        || text.contains('$')
        // Some programs read a separator.
        || (text.contains('\\') && !cfg!(windows))
        || has_escapes(text)
        || is_url(text)
        || text.split(['/', '\\']).any(is_odd)
        || Path::new(text).components().any(|component| component == Component::ParentDir))
}

/// Whether part of it could be decoded to another character: `%2e%2e`.
fn has_escapes(text: &str) -> bool {
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| *byte == b'%' && is_hex(bytes.get(at + 1)) && is_hex(bytes.get(at + 2)))
}

/// Whether it begins like a URL: `file:///etc`.
fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    // A single letter is a drive.
    scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'))
}

/// Whether the path goes through a link that leads each process elsewhere, such as `/proc/self/cwd`
/// and `/dev/fd/3`, or through a loop.
fn is_of_process(path: &Path) -> bool {
    let parts = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut real, mut left, mut links) = (PathBuf::new(), parts(path), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(part);
        let Ok(target) = real.read_link() else { continue };
        links += 1;
        if real.starts_with("/proc") || links > LINKS {
            return true;
        }
        real.pop();
        left.extend(parts(&target));
    }
    // Other systems do not have these links.
    real.starts_with("/dev/fd")
}

/// The identity of a file or folder, whatever its name. Two names may lead to the same one without
/// a link: on a file system that ignores case, through a second mount, or by a hard link.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Names are resolved to the one that the file system has.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether the path is in the folder. Both are resolved as far as they exist. If names that do not
/// exist yet differ only in ways that some file systems ignore, the answer is unknown.
fn relation(path: &Path, folder: &Path) -> Option<bool> {
    if path.starts_with(folder) {
        return Some(true);
    }
    if let Some(wanted) = identity(folder) {
        return Some(path.ancestors().any(|part| identity(part) == Some(wanted)));
    }
    let mut parts = path.components();
    for wanted in folder.components() {
        let Some(part) = parts.next() else { return Some(false) };
        if part == wanted {
            continue;
        }
        let (part, wanted) = (part.as_os_str().to_string_lossy(), wanted.as_os_str().to_string_lossy());
        let may_be_one = part.eq_ignore_ascii_case(&wanted) || !part.is_ascii() || !wanted.is_ascii();
        // For a folder that exists, every other name was resolved to it.
        return if may_be_one && !folder.exists() { None } else { Some(false) };
    }
    Some(false)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("out/deep")).expect("a folder");
        fs::create_dir_all(root.join("other")).expect("a folder");
        fs::create_dir_all(root.join("outside")).expect("a folder");
        symlink(root.join("other"), root.join("out/escape")).expect("a link");
        symlink(root.join("out"), root.join("other/way_in")).expect("a link");
        symlink(root.join("out/loop"), root.join("out/loop")).expect("a link");
        symlink(root.join("other/nothing"), root.join("out/dangling")).expect("a link");
        (folder, root)
    }

    #[test]
    fn a_path_is_under_a_folder_by_where_it_leads_and_never_by_how_it_begins() {
        let (_folder, root) = scratch();
        let at = |path: &str| root.join(path).to_string_lossy().into_owned();
        for (path, expected) in [
            (at("out"), Some(true)),
            (at("out/"), Some(true)),
            (at("out/deep/new/file"), Some(true)),
            (at("out//deep/./file"), Some(true)),
            (at("other/way_in/file"), Some(true)),
            (at("outside/file"), Some(false)),
            (at("out/escape/file"), Some(false)),
            (at("out/escape"), Some(false)),
            (at("other"), Some(false)),
            (at("Out/file"), Some(false)),
            (at("out/deep/../../other/file"), None),
            (at("out/.."), None),
            (at("out/loop/file"), None),
            (at("out/dangling"), None),
            (at("out/dangling/file"), None),
            (at("out/file\0/../../../etc"), None),
            (at("out/a\nb"), None),
            (at("out/file."), None),
            (at("out/... /file"), None),
            (at("out/file "), None),
            (at("out/ file"), None),
            (at("out/\u{a0}file"), None),
            (at("out/file\u{feff}"), None),
            (at("out/a\u{a0}b"), Some(true)),
            (at(&format!("out/{}", "n".repeat(300))), None),
            (at("out/%2e%2e/etc"), None),
            (at("out/%2F"), None),
            (at("out/100%"), Some(true)),
            (at("out/$HOME"), None),
            (at(r"out\..\etc"), None),
            (at(&"x".repeat(5_000)), None),
            (format!("file://{}", at("out")), None),
            ("~/out".to_owned(), None),
            ("~root/out".to_owned(), None),
            (String::new(), None),
            // Without a base, the starting point is unknown.
            ("out/file".to_owned(), None),
        ] {
            assert_eq!(is_under(None, &path, &[root.join("out")]), expected, "{path:?}");
        }
        assert_eq!(is_under(Some(&root), "out/file", &[root.join("out")]), Some(true));
        assert_eq!(is_under(Some(&root.join("out")), "escape/x", &[root.join("out")]), Some(false));
        assert_eq!(is_under(Some(&root), "other/x", &[root.join("out"), root.join("other")]), Some(true));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_known_of_a_path_that_leads_each_process_elsewhere() {
        let (_folder, root) = scratch();
        symlink("/proc/self/cwd", root.join("out/here")).expect("a link");
        symlink("../../../../../../../proc/thread-self/cwd/..", root.join("out/deep/here")).expect("a link");
        let linked = |path: &str| root.join(path).to_string_lossy().into_owned();
        for path in [
            "/proc/self/cwd/x",
            "/proc/self/root/etc",
            "/proc/thread-self/cwd",
            "/proc/self/fd/0",
            "/dev/fd/0",
            "/dev/stdin",
            &linked("out/here/x"),
            &linked("out/deep/here/x"),
        ] {
            assert_eq!(is_under(None, path, &[root.join("out")]), None, "{path}");
            assert_eq!(is_under(None, path, &[PathBuf::from("/")]), None, "{path}");
        }
        assert_eq!(is_under(None, "/proc/cpuinfo", &[PathBuf::from("/proc")]), Some(true));
    }

    #[test]
    fn another_name_of_the_same_file_is_that_file() {
        let (_folder, root) = scratch();
        fs::write(root.join("other/key"), "").expect("a file");
        fs::hard_link(root.join("other/key"), root.join("out/plain")).expect("a link");
        let at = |path: &str| root.join(path).to_string_lossy().into_owned();
        assert_eq!(is_under(None, &at("out/plain"), &[root.join("other/key")]), Some(true));
        assert_eq!(is_under(None, &at("out/plain"), &[root.join("other/nothing")]), Some(false));
    }

    #[test]
    fn names_that_some_file_systems_take_for_one_are_told_apart_only_where_they_exist() {
        let (_folder, root) = scratch();
        let at = |path: &str| root.join(path).to_string_lossy().into_owned();
        let missing = [root.join("new/caf\u{e9}")];
        assert_eq!(is_under(None, &at("new/caf\u{e9}/x"), &missing), Some(true));
        // The same name in another Unicode composition.
        assert_eq!(is_under(None, &at("new/cafe\u{301}/x"), &missing), None);
        assert_eq!(is_under(None, &at("NEW/caf\u{e9}/x"), &missing), None);
        assert_eq!(is_under(None, &at("elsewhere/x"), &missing), Some(false));
        fs::create_dir_all(&missing[0]).expect("a folder");
        assert_eq!(is_under(None, &at("new/cafe\u{301}/x"), &missing), Some(false));
        // If a folder of the rules cannot be resolved, the answer is unknown.
        assert_eq!(is_under(None, &at("other"), &[root.join("out/loop")]), None);
    }
}
