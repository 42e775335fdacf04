//! Unified diffs, applied exactly.
//!
//! A hunk fits where all of its context and all that it removes are found, character by character.
//! It may have moved: then it must fit in one place alone. There is no fuzz: a hunk that almost
//! fits is one that somebody has to look at.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Why a patch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The text is not a unified diff.
    #[error("line {line} is not part of a unified diff: {reason}")]
    Malformed {
        /// The line of the patch, from one.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A hunk's context is not in the file.
    #[error("the hunk at line {line} does not fit {}: its context is not there", path.display())]
    DoesNotFit {
        /// The line of the patch, from one.
        line: usize,
        /// The file that it changes.
        path: PathBuf,
    },
    /// A hunk's context is in the file more than once, and not where the hunk says.
    #[error("the hunk at line {line} fits {} in {places} places: give it more context", path.display())]
    Ambiguous {
        /// The line of the patch, from one.
        line: usize,
        /// The file that it changes.
        path: PathBuf,
        /// How often its context is found.
        places: usize,
    },
    /// A file could not be read or written.
    #[error("cannot change {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Applies the unified diff `patch` to the files below `folder`. What stands before the first `---`
/// is a header for people.
///
/// # Errors
/// When the patch is malformed, or one hunk of it does not fit. Files before that one are then
/// changed already.
pub fn apply(patch: &str, folder: &Path) -> Result<(), PatchError> {
    let files = parse(patch)?;
    for file in files {
        let path = folder.join(&file.path);
        let failed = |source| PatchError::File { path: path.clone(), source };
        let before = fs::read_to_string(&path).map_err(failed)?;
        let after = file.applied_to(&before)?;
        fs::write(&path, after).map_err(failed)?;
    }
    Ok(())
}

/// What a patch does to one file.
struct FilePatch<'p> {
    path: PathBuf,
    hunks: Vec<Hunk<'p>>,
}

/// Lines to find, and lines to put in their place.
struct Hunk<'p> {
    /// The line of the patch that it begins at, from one.
    line: usize,
    /// Where the lines to find begin in the file before, from zero.
    position: usize,
    before: Vec<&'p str>,
    after: Vec<&'p str>,
}

impl FilePatch<'_> {
    fn applied_to(&self, text: &str) -> Result<String, PatchError> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut result = String::with_capacity(text.len());
        let mut taken = 0;
        for hunk in &self.hunks {
            let start = hunk.place(&lines, taken, &self.path)?;
            result.extend(lines[taken..start].iter().copied());
            result.extend(hunk.after.iter().flat_map(|line| [line, "\n"]));
            taken = start + hunk.before.len();
        }
        result.extend(lines[taken..].iter().copied());
        Ok(result)
    }
}

impl Hunk<'_> {
    /// Where the hunk fits, at `first` or after it.
    fn place(&self, lines: &[&str], first: usize, path: &Path) -> Result<usize, PatchError> {
        let fits = |start: usize| {
            let found = lines.get(start..start + self.before.len());
            found.is_some_and(|found| {
                found.iter().zip(&self.before).all(|(line, wanted)| line.trim_end_matches('\n') == *wanted)
            })
        };
        if self.position >= first && fits(self.position) {
            return Ok(self.position);
        }
        let places: Vec<usize> = (first..lines.len()).filter(|&start| fits(start)).collect();
        match places[..] {
            [place] => Ok(place),
            [] => Err(PatchError::DoesNotFit { line: self.line, path: path.to_owned() }),
            _ => Err(PatchError::Ambiguous { line: self.line, path: path.to_owned(), places: places.len() }),
        }
    }
}

fn parse(patch: &str) -> Result<Vec<FilePatch<'_>>, PatchError> {
    let mut lines = patch.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    while let Some((number, line)) = lines.next() {
        let malformed = |reason| PatchError::Malformed { line: number, reason };
        if line.starts_with("--- ") {
            let Some((_, target)) = lines.next_if(|(_, line)| line.starts_with("+++ ")) else {
                // The header may use such a line too.
                continue;
            };
            files.push(FilePatch {
                path: path_below(target).ok_or_else(|| malformed("its path leaves the crate"))?,
                hunks: Vec::new(),
            });
        } else if let Some(range) = line.strip_prefix("@@ -") {
            let file = files.last_mut().ok_or_else(|| malformed("a hunk before any file"))?;
            let (position, mut removed, mut added) =
                counts(range).ok_or_else(|| malformed("a hunk without its range"))?;
            let mut hunk = Hunk { line: number, position, before: Vec::new(), after: Vec::new() };
            while removed > 0 || added > 0 {
                let (number, line) = lines.next().ok_or_else(|| malformed("the hunk is cut short"))?;
                let reason = "the hunk holds other lines than its range says";
                let wrong = || PatchError::Malformed { line: number, reason };
                let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                if kind != "+" {
                    removed = removed.checked_sub(1).ok_or_else(wrong)?;
                    hunk.before.push(text);
                }
                if kind != "-" {
                    added = added.checked_sub(1).ok_or_else(wrong)?;
                    hunk.after.push(text);
                }
                if ![" ", "+", "-"].contains(&kind) {
                    return Err(wrong());
                }
            }
            if hunk.before.is_empty() {
                return Err(malformed("a hunk without context"));
            }
            file.hunks.push(hunk);
        }
    }
    if files.iter().all(|file| file.hunks.is_empty()) {
        return Err(PatchError::Malformed { line: 1, reason: "the patch changes nothing" });
    }
    Ok(files)
}

/// Of `+++ b/src/lib.rs`, the path below the crate's folder.
fn path_below(target: &str) -> Option<PathBuf> {
    let path = target.strip_prefix("+++ ")?.split('\t').next()?;
    let path = Path::new(path.strip_prefix("b/")?);
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| path.to_owned())
}

/// Of `12,3 +12,5 @@`, the first line before (from zero), and how many lines there are before and
/// after.
fn counts(range: &str) -> Option<(usize, usize, usize)> {
    let (before, rest) = range.split_once(" +")?;
    let after = rest.split(" @@").next()?;
    let pair = |text: &str| -> Option<(usize, usize)> {
        let (line, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((line.parse().ok()?, count.parse().ok()?))
    };
    let ((line, removed), (_, added)) = (pair(before)?, pair(after)?);
    Some((line.saturating_sub(1), removed, added))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";
    const PATCH: &str =
        "What it is for.\n\n--- a/list\n+++ b/list\n@@ -2,3 +2,3 @@ a heading\n two\n-three\n+THREE\n four\n";

    fn applied(patch: &str, before: &str) -> Result<String, PatchError> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("list"), before).expect("a file");
        apply(patch, folder.path())?;
        Ok(fs::read_to_string(folder.path().join("list")).expect("a file"))
    }

    #[test]
    fn a_hunk_replaces_the_lines_that_it_names() {
        assert_eq!(applied(PATCH, BEFORE).expect("it fits"), "one\ntwo\nTHREE\nfour\nfive\n");
    }

    #[test]
    fn a_hunk_that_has_moved_is_found() {
        let moved = format!("zero\nzero\n{BEFORE}");
        assert_eq!(applied(PATCH, &moved).expect("it fits"), "zero\nzero\none\ntwo\nTHREE\nfour\nfive\n");
    }

    #[test]
    fn a_hunk_whose_context_has_changed_is_refused() {
        for before in ["one\ntwo\nthree\nFOUR\nfive\n", "one\ntwo\nthree \nfour\nfive\n", "one\ntwo\n", ""] {
            let refused = applied(PATCH, before).expect_err("it does not fit");
            assert!(matches!(refused, PatchError::DoesNotFit { line: 5, .. }), "{refused}");
        }
    }

    #[test]
    fn a_hunk_that_fits_in_two_places_is_refused() {
        let refused = applied(PATCH, &format!("zero\n{BEFORE}{BEFORE}")).expect_err("it could go to either");
        assert!(matches!(refused, PatchError::Ambiguous { places: 2, .. }), "{refused}");
    }

    #[test]
    fn hunks_follow_each_other() {
        let patch = "--- a/list\n+++ b/list\n@@ -1,2 +1,1 @@\n one\n-two\n@@ -4,2 +3,3 @@\n four\n+and a half\n five\n";
        assert_eq!(applied(patch, BEFORE).expect("they fit"), "one\nthree\nfour\nand a half\nfive\n");
    }

    #[test]
    fn a_patch_changes_no_file_outside_of_its_crate() {
        for path in ["b/../list", "/etc/list", "list", "b//etc/list"] {
            let patch = PATCH.replace("b/list", path);
            let refused = applied(&patch, BEFORE).expect_err("it leaves the crate");
            assert!(matches!(refused, PatchError::Malformed { .. }), "{path}: {refused}");
        }
    }

    #[test]
    fn a_patch_that_is_cut_or_changes_nothing_is_refused() {
        for patch in
            ["", "words alone\n", "--- a/list\n+++ b/list\n", &PATCH[..PATCH.len() - 6], "@@ -1,1 +1,1 @@\n-one\n+1\n"]
        {
            let refused = applied(patch, BEFORE).expect_err("it is no patch");
            assert!(matches!(refused, PatchError::Malformed { .. }), "{patch}: {refused}");
        }
    }
}
