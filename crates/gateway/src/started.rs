//! Where a server works, according to its configuration: the folders and files among its start
//! arguments.
//!
//! `mcp-server-git --repository /data/site` takes a path in each call, and nothing else tells a
//! script which path. An argument counts if it is an existing folder, or an existing file after an
//! option. A program to run does not count.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use belljar_model::{StdioCommand, Transport};
use tokio::{task::spawn_blocking, time::timeout};

/// A path, and the option before it if there is one.
pub(crate) type Argument = (Option<String>, PathBuf);

/// Arguments that are looked at.
const ARGUMENTS: usize = 64;
/// The longest option or path, in bytes.
const LONGEST: usize = 1_024;
/// How long to wait for the file system. If it has not answered by then, it is ignored.
const PATIENCE: Duration = Duration::from_millis(500);
/// Options of programs that start other programs. They say where to find those programs, not where
/// those work.
const OF_STARTERS: [&str; 14] = [
    "--config",
    "--cwd",
    "--directory",
    "--env-file",
    "--from",
    "--import",
    "--loader",
    "--mount",
    "--prefix",
    "--project",
    "--python",
    "--require",
    "--volume",
    "--with",
];
/// Extensions of program files.
const PROGRAMS: [&str; 12] = ["cjs", "dll", "exe", "jar", "js", "json", "mjs", "py", "rb", "sh", "ts", "wasm"];

/// The start arguments of a server that say where it works.
///
/// # Cancellation
/// Nothing is changed.
pub(crate) async fn arguments(transport: &Transport) -> Vec<Argument> {
    let Transport::Stdio(command) = transport else { return Vec::new() };
    let candidates = candidates(command);
    if candidates.is_empty() {
        return candidates;
    }
    // It asks the file system, which may be slow.
    let asked = spawn_blocking(move || candidates.into_iter().filter(is_there).collect());
    timeout(PATIENCE, asked).await.ok().and_then(Result::ok).unwrap_or_default()
}

fn is_there((option, path): &Argument) -> bool {
    match path.metadata() {
        Ok(found) => found.is_dir() || (option.is_some() && found.is_file()),
        Err(_) => false,
    }
}

/// Arguments that may be such paths, judging by their text.
fn candidates(command: &StdioCommand) -> Vec<Argument> {
    let mut found: Vec<Argument> = Vec::new();
    let mut option: Option<&str> = None;
    for argument in command.args.iter().take(ARGUMENTS).map(String::as_str) {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with('-') => (Some(name), value),
            _ if argument.starts_with('-') => {
                option = Some(argument);
                continue;
            }
            _ => (option.take(), argument),
        };
        let is_taken = name.is_none_or(|name| name.len() <= LONGEST && !OF_STARTERS.contains(&name));
        if let Some(path) = placed(value, command.cwd.as_deref()).filter(|path| is_taken && !is_program(path)) {
            found.push((name.map(str::to_owned), path));
        }
    }
    found
}

/// The path of an argument that looks like one.
fn placed(value: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(value);
    let is_relative = value == "." || value.starts_with("./") || value.starts_with("../");
    if value.len() > LONGEST || !(path.is_absolute() || is_relative) {
        return None;
    }
    let path = if path.is_absolute() { path.to_owned() } else { cwd?.join(path) };
    Some(path.components().filter(|part| *part != Component::CurDir).collect())
}

fn is_program(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| PROGRAMS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    async fn told(args: &[&str], cwd: Option<&Path>) -> Vec<String> {
        let command = StdioCommand {
            command: "server".to_owned(),
            args: args.iter().map(|argument| (*argument).to_owned()).collect(),
            env: Default::default(),
            cwd: cwd.map(Path::to_owned),
            sandbox: None,
        };
        let told = arguments(&Transport::Stdio(command)).await;
        let text = |(option, path): Argument| format!("{} {}", option.unwrap_or_default(), path.display());
        told.into_iter().map(text).collect()
    }

    #[tokio::test]
    async fn folders_and_files_behind_options_are_told_and_programs_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        fs::create_dir(at("docs")).expect("a folder");
        for file in ["shop.db", "index.js", "notes.txt"] {
            fs::write(at(file), "").expect("a file");
        }
        let (docs, shop) = (at("docs"), at("shop.db"));
        assert_eq!(told(&[&at("index.js"), &docs], None).await, [format!(" {docs}")]);
        assert_eq!(told(&["-m", "git", "--repository", &docs], None).await, [format!("--repository {docs}")]);
        assert_eq!(told(&[&format!("--db={shop}"), "-v"], None).await, [format!("--db {shop}")]);
        assert_eq!(told(&["./docs"], Some(folder.path())).await, [format!(" {docs}")]);
        let nothing: &[&[&str]] = &[
            &[&at("notes.txt")],
            &[&at("absent")],
            &["--directory", &docs],
            &["--script", &at("index.js")],
            &["./docs"],
            &["docs"],
            &["--key", "s3cret"],
            &["--flag", "--other=x"],
        ];
        for args in nothing {
            assert_eq!(told(args, None).await, Vec::<String>::new(), "{args:?}");
        }
    }
}
