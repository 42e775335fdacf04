//! The packages that servers are started from without a fixed version.
//!
//! `npx -y x` runs whatever was last published as `x`, with the user's rights. This module only
//! reads commands; the host finds out what is installed.

use belljar_model::StdioCommand;

/// The source from which a package is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageSource {
    /// npm's registry, by npx, bunx, `pnpm dlx` and their like.
    Npm,
    /// The Python package index, by uvx and `pipx run`.
    PyPi,
    /// A git repository.
    Git,
    /// A registry of container images.
    Image,
}

/// A package whose version is chosen when the server starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpinnedPackage {
    /// The source from which it is fetched.
    pub source: PackageSource,
    /// Its name alone.
    pub name: String,
    /// The package as it is written in the arguments.
    pub written: String,
    /// The separator between name and version.
    separator: &'static str,
    /// What follows the name as it is written, such as `[extra]`.
    extras: String,
}

impl UnpinnedPackage {
    /// How to write the package with this version; if it is not known, with a placeholder.
    pub fn pinned(&self, version: Option<&str>) -> String {
        let unknown = match self.source {
            PackageSource::Npm | PackageSource::PyPi => "VERSION",
            PackageSource::Git => "COMMIT",
            PackageSource::Image => "sha256:DIGEST",
        };
        format!("{}{}{}{}", self.name, self.extras, self.separator, version.unwrap_or(unknown))
    }
}

/// The package of a server's command, if its newest version is fetched at each start.
pub fn unpinned(command: &StdioCommand) -> Option<UnpinnedPackage> {
    let mut words: Vec<&str> = std::iter::once(&command.command).chain(&command.args).map(String::as_str).collect();
    if program(words.first()?) == "cmd" && words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("/c")) {
        words.drain(..2);
    }
    let (first, rest) = words.split_first()?;
    let second = rest.first().copied().unwrap_or_default();
    let behind = |count: usize| rest.get(count..).unwrap_or_default();
    match (program(first).as_str(), second) {
        ("npx" | "pnpx" | "bunx", _) => node(rest),
        ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => node(behind(1)),
        ("uvx", _) => uv(rest),
        ("uv", "tool") if rest.get(1) == Some(&"run") => uv(behind(2)),
        ("pipx", "run") => pipx(behind(1)),
        ("docker" | "podman" | "nerdctl", "run") => image(behind(1)),
        ("docker" | "podman" | "nerdctl", "container") if rest.get(1) == Some(&"run") => image(behind(2)),
        _ => None,
    }
}

/// The name of a program without its folder, and without the extensions of Windows.
fn program(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat"];
    endings.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

/// The first word that is not an option, and the value of the first option that is in `package`.
struct Words<'w> {
    first: Option<&'w str>,
    package: Option<&'w str>,
}

/// Reads options up to the first other word. The value of an option in `with_value` is the next
/// word.
fn options<'w>(words: &[&'w str], package: &[&str], with_value: &[&str]) -> Words<'w> {
    let mut found = Words { first: None, package: None };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            found.first = words.next();
            break;
        }
        if !word.starts_with('-') {
            found.first = Some(word);
            break;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if package.contains(&name) {
            let value = value.or_else(|| words.next());
            found.package = found.package.or(value);
        } else if value.is_none() && with_value.contains(&name) {
            words.next();
        }
    }
    found
}

fn node(words: &[&str]) -> Option<UnpinnedPackage> {
    const WITH_VALUE: [&str; 11] = [
        "-c",
        "--call",
        "--registry",
        "--cache",
        "--userconfig",
        "--prefix",
        "-w",
        "--workspace",
        "--loglevel",
        "--node-options",
        "--script-shell",
    ];
    let found = options(words, &["-p", "--package"], &WITH_VALUE);
    let written = found.package.or(found.first)?;
    if is_path(written) {
        return None;
    }
    // A name may have a scope; anything else with a slash is a repository.
    let is_repository = written.contains(':') || (written.contains('/') && !written.starts_with('@'));
    if is_repository {
        return git(written, "#");
    }
    let at = written.char_indices().skip(1).find(|(_, character)| *character == '@').map(|(at, _)| at);
    let (name, version) = match at {
        Some(at) => (written.get(..at)?, written.get(at + 1..)?),
        None => (written, ""),
    };
    let package = || unpinned_package(PackageSource::Npm, name, written, "@", "");
    (!is_exact(version)).then(package)
}

fn uv(words: &[&str]) -> Option<UnpinnedPackage> {
    const WITH_VALUE: [&str; 34] = [
        "--with",
        "--with-editable",
        "--with-requirements",
        "-w",
        "-p",
        "--python",
        "--index",
        "--default-index",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--index-strategy",
        "--keyring-provider",
        "--resolution",
        "--prerelease",
        "--fork-strategy",
        "--link-mode",
        "--cache-dir",
        "--directory",
        "--project",
        "--config-file",
        "--env-file",
        "-c",
        "--constraints",
        "-b",
        "--build-constraints",
        "--overrides",
        "--refresh-package",
        "-P",
        "--upgrade-package",
        "--color",
        "--allow-insecure-host",
    ];
    // A date fixes all versions.
    if words.iter().any(|word| word.starts_with("--exclude-newer")) {
        return None;
    }
    let found = options(words, &["--from"], &WITH_VALUE);
    match found.package {
        Some(written) => python(written, "=="),
        None => python(found.first?, "@"),
    }
}

fn pipx(words: &[&str]) -> Option<UnpinnedPackage> {
    const WITH_VALUE: [&str; 7] =
        ["--with", "--python", "--pip-args", "--index-url", "-i", "--fetch-missing-python", "--path"];
    let found = options(words, &["--spec"], &WITH_VALUE);
    python(found.package.or(found.first)?, "==")
}

fn python(written: &str, separator: &'static str) -> Option<UnpinnedPackage> {
    if written.contains("git+") {
        return git(written, "@");
    }
    if is_path(written) || written.contains("://") || written.ends_with(".py") || written.ends_with(".whl") {
        return None;
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let end = written.find(|character| !is_name(character)).unwrap_or(written.len());
    let (name, mut rest) = (written.get(..end)?, written.get(end..)?);
    let mut extras = "";
    if rest.starts_with('[')
        && let Some(close) = rest.find(']')
    {
        (extras, rest) = (rest.get(..=close)?, rest.get(close + 1..)?);
    }
    let version = rest.trim_start_matches('=').trim_start_matches('@').trim();
    let is_pinned = (rest.trim_start().starts_with("==") || rest.starts_with('@'))
        && version.starts_with(|first: char| first.is_ascii_digit())
        && !version.contains(['*', ',']);
    let package = || unpinned_package(PackageSource::PyPi, name, written, separator, extras);
    (!is_pinned && !name.is_empty()).then(package)
}

/// A repository, which may be followed by `separator` and a revision. A branch does not fix the
/// version.
fn git(written: &str, separator: &'static str) -> Option<UnpinnedPackage> {
    if written.starts_with("http") {
        // An archive at a URL.
        return None;
    }
    let last = written.rfind('/').map_or(0, |at| at + 1);
    let (name, revision) = match written.get(last..)?.find(separator) {
        Some(at) => (written.get(..last + at)?, written.get(last + at + separator.len()..)?),
        None => (written, ""),
    };
    let is_branch = matches!(revision, "" | "main" | "master" | "HEAD" | "develop" | "dev" | "latest");
    is_branch.then(|| unpinned_package(PackageSource::Git, name, written, separator, ""))
}

fn image(words: &[&str]) -> Option<UnpinnedPackage> {
    const ALONE: [&str; 13] = [
        "--rm",
        "--init",
        "--interactive",
        "--tty",
        "--detach",
        "--privileged",
        "--read-only",
        "--publish-all",
        "--quiet",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--disable-content-trust",
        "--sig-proxy",
    ];
    let mut words = words.iter().copied();
    let written = loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            break word;
        }
        let is_long = word.starts_with("--");
        let has_value = match is_long {
            true => word.contains('=') || ALONE.contains(&word),
            // `-it` is two options without a value, and `-p80:80` contains its value.
            false => word.len() > 2 || word.chars().skip(1).all(|letter| "itdPq".contains(letter)),
        };
        if !has_value {
            words.next();
        }
    };
    if written.contains('@') {
        return None;
    }
    let last = written.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match written.get(last..)?.find(':') {
        Some(at) => (written.get(..last + at)?, written.get(last + at + 1..)?),
        None => (written, "latest"),
    };
    (tag == "latest").then(|| unpinned_package(PackageSource::Image, name, written, "@", ""))
}

fn unpinned_package(
    source: PackageSource,
    name: &str,
    written: &str,
    separator: &'static str,
    extras: &str,
) -> UnpinnedPackage {
    UnpinnedPackage { source, name: name.to_owned(), written: written.to_owned(), separator, extras: extras.to_owned() }
}

fn is_path(written: &str) -> bool {
    written.is_empty() || written.starts_with(['.', '/', '~', '\\']) || written.starts_with("file:")
}

/// Whether this is a single version, and not a range or a tag.
fn is_exact(version: &str) -> bool {
    let version = version.trim_start_matches(['v', '=']);
    let main = version.split(['-', '+']).next().unwrap_or_default();
    let mut numbers = 0;
    let are_numbers = main.split('.').all(|part| {
        numbers += 1;
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    });
    are_numbers && numbers == 3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn pinned_form(line: &str) -> Option<String> {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().expect("a command");
        let command = StdioCommand { command, args: words.collect(), env: BTreeMap::new(), cwd: None, sandbox: None };
        unpinned(&command).map(|package| package.pinned(None))
    }

    #[test]
    fn a_package_without_a_version_is_named_with_its_pinned_form() {
        for (line, form) in [
            ("npx -y @scope/server /data", "@scope/server@VERSION"),
            ("npx server", "server@VERSION"),
            ("/usr/bin/npx --yes --registry https://r server@latest", "server@VERSION"),
            ("npx -y server@^1.2.0", "server@VERSION"),
            ("npx -y server@1", "server@VERSION"),
            ("npx -p @s/pkg@next cmd", "@s/pkg@VERSION"),
            ("npx --package=pkg cmd", "pkg@VERSION"),
            ("npx -y github:ada/server", "github:ada/server#COMMIT"),
            ("npx -y ada/server#main", "ada/server#COMMIT"),
            ("cmd /c npx -y server", "server@VERSION"),
            ("npm exec -y -- server", "server@VERSION"),
            ("pnpm dlx server", "server@VERSION"),
            ("bunx server@latest", "server@VERSION"),
            ("uvx mcp-server-git --repository x", "mcp-server-git@VERSION"),
            ("uvx --python 3.12 server@latest", "server@VERSION"),
            ("uvx server[cli]>=2", "server[cli]@VERSION"),
            ("uvx --from serena-agent serena start", "serena-agent==VERSION"),
            ("uvx --from git+https://github.com/oraios/serena serena", "git+https://github.com/oraios/serena@COMMIT"),
            (
                "uvx --from git+https://github.com/oraios/serena@main serena",
                "git+https://github.com/oraios/serena@COMMIT",
            ),
            ("uv tool run server", "server@VERSION"),
            ("pipx run server", "server==VERSION"),
            ("docker run -i --rm -e TOKEN mcp/github", "mcp/github@sha256:DIGEST"),
            ("docker run -it --name x -p 1:1 host:5000/mcp/github:latest", "host:5000/mcp/github@sha256:DIGEST"),
            ("podman run --env=A=b -v /a:/b image", "image@sha256:DIGEST"),
        ] {
            assert_eq!(pinned_form(line).as_deref(), Some(form), "{line}");
        }
    }

    #[test]
    fn what_has_a_version_or_is_no_package_is_not_named() {
        for line in [
            "npx -y @scope/server@1.2.3 /data",
            "npx -y server@1.2.3-beta.1",
            "npx ./server",
            "npx",
            "npx -p",
            "npx -y github:ada/server#4f2c1d9",
            "uvx server@1.2",
            "uvx server==1.2.3",
            "uvx --from serena-agent[x]==1.2 serena",
            "uvx --exclude-newer 2026-01-01 server",
            "uvx --from git+https://github.com/oraios/serena@v1.0 serena",
            "uvx --from . server",
            "uvx ./server.whl",
            "pipx run --spec server==1 server",
            "docker run -i mcp/github:1.2",
            "docker run -i mcp/github@sha256:0123",
            "docker mcp gateway run",
            "docker run",
            "node server.js",
            "server",
            "npm start",
        ] {
            assert_eq!(pinned_form(line), None, "{line}");
        }
    }
}
