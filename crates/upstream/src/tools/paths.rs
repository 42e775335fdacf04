//! Path arguments: resolved, and confined to where the owner wants them.
//!
//! The resolved path is passed on, so that the child opens what was checked. A link that is made
//! afterwards can still lead elsewhere: this guards against mistakes and misled scripts, not
//! against somebody who can write to the folders.

use std::{
    io::ErrorKind,
    path::{Component, Path, PathBuf},
};

use belljar_model::PathRules;
use serde_json::{Map, Value};

use crate::{error::CallError, limits::PATHS_BYTES, text::one_line, tools::key_places::Place};

/// The longest path that Linux accepts, in bytes.
pub const PATH_BYTES: usize = 4096;

/// Folders that a refusal names.
const FOLDERS_SHOWN: usize = 5;

/// Resolves each argument that `rules` name, or refuses the call. Relative paths are resolved
/// against the first root, else `base`.
///
/// # Cancellation
/// Nothing is changed but `arguments`.
pub(crate) async fn admit(
    rules: &PathRules,
    base: Option<&Path>,
    arguments: &mut Map<String, Value>,
) -> Result<(), CallError> {
    if !rules.arguments.iter().any(|name| arguments.get(name).is_some_and(|value| !value.is_null())) {
        return Ok(());
    }
    let (rules, base, taken) = (rules.clone(), base.map(Path::to_owned), std::mem::take(arguments));
    // Resolving uses the file system, which may be slow.
    let judged = tokio::task::spawn_blocking(move || judge(&rules, base.as_deref(), taken));
    *arguments = match judged.await {
        Ok(judged) => judged?,
        Err(_) => return Err(refusal("", "it could not be resolved".to_owned(), None)),
    };
    Ok(())
}

/// The arguments with those that `rules` name as paths resolved, like [`admit`]. Blocks.
///
/// # Errors
/// A path that is not allowed, or cannot be resolved; too many of them.
pub(crate) fn resolve_all(
    rules: &PathRules,
    base: Option<&Path>,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, CallError> {
    let used = rules.arguments.iter().filter_map(|name| arguments.get(name)).map(bytes).sum();
    refuse_too_many(rules, used)?;
    judge(rules, base, arguments)
}

/// Refuses paths whose total size is above the limit for one call.
pub(crate) fn refuse_too_many(rules: &PathRules, used: usize) -> Result<(), CallError> {
    if used <= PATHS_BYTES {
        return Ok(());
    }
    let problem = format!("all paths together have {used} bytes; the limit is {PATHS_BYTES}");
    Err(refusal(&rules.arguments.join(", "), problem, rules.guidance.clone()))
}

/// The bytes of a path, or of a list of them.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(path) => path.len(),
        Value::Array(paths) => paths.iter().filter_map(Value::as_str).map(str::len).sum(),
        // Any other value is refused elsewhere.
        _ => 0,
    }
}

/// The path `text`, resolved, if it is allowed. `name` describes it in errors.
pub(crate) async fn resolve(
    rules: &PathRules,
    base: Option<&Path>,
    name: &str,
    text: String,
) -> Result<String, CallError> {
    let (rules, base, guidance) = (rules.clone(), base.map(Path::to_owned), rules.guidance.clone());
    let judged = tokio::task::spawn_blocking(move || resolved(&rules, base.as_deref(), &text)).await;
    judged
        .unwrap_or_else(|_| Err("it could not be resolved".to_owned()))
        .map_err(|problem| refusal(name, problem, guidance))
}

/// Checks that each of `places` is in its folder, or where `rules` let paths lead. `name` describes
/// the paths' source.
pub(crate) async fn keep_within(rules: Option<&PathRules>, places: Vec<Place>, name: &str) -> Result<(), CallError> {
    if places.is_empty() {
        return Ok(());
    }
    let rules = rules.cloned().unwrap_or_default();
    let guidance = rules.guidance.clone();
    let judged =
        tokio::task::spawn_blocking(move || places.iter().try_for_each(|place| leads_within(&rules, place))).await;
    judged
        .unwrap_or_else(|_| Err("it could not be resolved".to_owned()))
        .map_err(|problem| refusal(name, problem, guidance))
}

fn leads_within(rules: &PathRules, place: &Place) -> Result<(), String> {
    // A missing folder contains no link.
    let Ok(folder) = place.folder.canonicalize() else { return Ok(()) };
    let shown = one_line(&place.path.to_string_lossy(), 200);
    let path = real_path(&place.path).map_err(|error| format!("'{shown}' cannot be resolved: {error}"))?;
    let is_in = |folder: &PathBuf| real_path(folder).is_ok_and(|folder| path.starts_with(folder));
    if !path.starts_with(&folder) && !rules.roots.iter().any(is_in) {
        return Err(format!("'{shown}' leads out of its folder, and 'paths.roots' does not allow that"));
    }
    if rules.denied.iter().any(is_in) {
        return Err(format!("'{shown}' is in a place that the owner has closed"));
    }
    Ok(())
}

fn judge(
    rules: &PathRules,
    base: Option<&Path>,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, CallError> {
    for name in &rules.arguments {
        let refused = |problem| refusal(name, problem, rules.guidance.clone());
        match arguments.get_mut(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(path)) => *path = resolved(rules, base, path).map_err(refused)?,
            Some(Value::Array(paths)) => {
                for path in paths {
                    let Value::String(path) = path else { return Err(refused("it is not a text".to_owned())) };
                    *path = resolved(rules, base, path).map_err(refused)?;
                }
            }
            Some(_) => return Err(refused("it is not a text".to_owned())),
        }
    }
    Ok(arguments)
}

fn refusal(argument: &str, problem: String, guidance: Option<String>) -> CallError {
    CallError::Path { argument: argument.to_owned(), problem, guidance }
}

/// The resolved path, if it is allowed.
fn resolved(rules: &PathRules, base: Option<&Path>, text: &str) -> Result<String, String> {
    let path = plain(text)?;
    let shown = one_line(text, 200);
    let path = match rules.roots.first().map(PathBuf::as_path).or(base) {
        Some(base) => base.join(path),
        None if path.is_absolute() => path.to_owned(),
        None => {
            return Err(format!("'{shown}' is relative, and no root or 'cwd' is configured that it could start at"));
        }
    };
    let path = real_path(&path).map_err(|error| format!("'{shown}' cannot be resolved: {error}"))?;
    let is_in = |folder: &PathBuf| real_path(folder).is_ok_and(|folder| path.starts_with(folder));
    if !rules.roots.is_empty() && !rules.roots.iter().any(is_in) {
        let folders = rules.roots.iter().take(FOLDERS_SHOWN).map(|folder| one_line(&folder.to_string_lossy(), 200));
        let folders: Vec<String> = folders.collect();
        return Err(format!("'{shown}' is outside of what the owner allows: {}", folders.join(", ")));
    }
    if rules.denied.iter().any(is_in) {
        return Err(format!("'{shown}' is in a place that the owner has closed"));
    }
    path.into_os_string().into_string().map_err(|_| format!("'{shown}' leads to a name that is not a text"))
}

/// The text as a path, if it contains nothing that a script's path may not contain.
fn plain(text: &str) -> Result<&Path, String> {
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.len() > PATH_BYTES {
        return Err(format!("it has {} bytes; the limit is {PATH_BYTES}", text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err("it has a control character".to_owned());
    }
    let path = Path::new(text);
    if path.components().any(|component| component == Component::ParentDir) {
        return Err(format!("'{}' has '..' in it", one_line(text, 200)));
    }
    Ok(path)
}

/// A script's absolute path as the file system has it. Blocks.
///
/// # Errors
/// It is not an absolute path, or cannot be resolved.
pub(crate) fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = plain(text)?;
    let shown = one_line(text, 200);
    if !path.is_absolute() {
        return Err(format!("'{shown}' is not an absolute path"));
    }
    real_path(path).map_err(|error| format!("'{shown}' cannot be resolved: {error}"))
}

/// The path with its links followed, as far as it exists.
///
/// # Errors
/// A link on the way leads nowhere or in a circle, or permission is denied.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    for (depth, ancestor) in path.ancestors().enumerate() {
        // A dangling link exists, and a file made through it is created at its target.
        let is_there = match ancestor.symlink_metadata() {
            Ok(_) => true,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            // If permission is denied, it may exist.
            Err(error) => return Err(error),
        };
        if is_there || ancestor.parent().is_none() {
            let missing = path.components().rev().take(depth).collect::<Vec<_>>();
            let mut real = ancestor.canonicalize()?;
            real.extend(missing.into_iter().rev());
            return Ok(real);
        }
    }
    path.canonicalize()
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use serde_json::json;

    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("belljar-paths-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("root/closed")).expect("a folder");
            fs::create_dir_all(folder.join("outside")).expect("a folder");
            fs::write(folder.join("root/file"), "x").expect("a file");
            symlink(folder.join("outside"), folder.join("root/escape")).expect("a link");
            symlink(folder.join("root"), folder.join("way_in")).expect("a link");
            symlink(folder.join("outside/nothing"), folder.join("root/dangling")).expect("a link");
            Self(folder.canonicalize().expect("it is there"))
        }

        fn rules(&self) -> PathRules {
            PathRules {
                arguments: vec!["path".to_owned(), "paths".to_owned()],
                roots: vec![self.0.join("root")],
                denied: vec![self.0.join("root/closed")],
                guidance: Some("Ask ada for the rest.".to_owned()),
            }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    async fn admitted(rules: &PathRules, arguments: Value) -> Result<Value, String> {
        let Value::Object(mut arguments) = arguments else { panic!("an object") };
        admit(rules, None, &mut arguments).await.map_err(|fault| fault.to_string())?;
        Ok(Value::Object(arguments))
    }

    #[tokio::test]
    async fn a_path_inside_is_passed_on_resolved() {
        let scratch = Scratch::new("inside");
        let at = |path: &str| scratch.0.join(path).to_string_lossy().into_owned();
        for (given, expected) in [
            ("file".to_owned(), at("root/file")),
            ("./new/file".to_owned(), at("root/new/file")),
            (at("way_in/file"), at("root/file")),
            (at("root"), at("root")),
        ] {
            let seen = admitted(&scratch.rules(), json!({"path": given, "other": "../x"})).await;
            assert_eq!(seen, Ok(json!({"path": expected, "other": "../x"})));
        }
        let seen = admitted(&scratch.rules(), json!({"paths": ["file", "file"], "path": null})).await.expect("inside");
        assert_eq!(seen["paths"], json!([at("root/file"), at("root/file")]));
    }

    #[tokio::test]
    async fn every_way_out_is_refused_with_the_owners_words() {
        let scratch = Scratch::new("outside");
        let at = |path: &str| scratch.0.join(path).to_string_lossy().into_owned();
        for (given, problem) in [
            (json!("../outside"), "has '..' in it"),
            (json!("a/../../b"), "has '..' in it"),
            (json!(at("outside")), "outside of what the owner allows"),
            (json!("escape/secret"), "outside of what the owner allows"),
            (json!("dangling"), "cannot be resolved"),
            (json!(at("rooted")), "outside of what the owner allows"),
            (json!("closed"), "the owner has closed"),
            (json!("closed/deep/file"), "the owner has closed"),
            (json!("a\u{0}b"), "control character"),
            (json!("a\nb"), "control character"),
            (json!(""), "is empty"),
            (json!("x".repeat(5_000)), "the limit is 4096"),
            (json!(7), "it is not a text"),
            (json!(["file", 7]), "it is not a text"),
            (json!(["file", "/etc/passwd"]), "outside of what the owner allows"),
        ] {
            let refused = admitted(&scratch.rules(), json!({"path": given})).await.expect_err(problem);
            assert!(refused.contains(problem), "{given}: {refused}");
            assert!(refused.ends_with(". Ask ada for the rest."), "{refused}");
        }
    }
}
