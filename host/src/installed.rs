//! Which version of a package a server would run now: the one in its package manager's cache. No
//! program is started, and nothing is requested over the network.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use belljar_config::packages::{PackageSource, UnpinnedPackage};
use serde::Deserialize;

/// How many entries of a folder are examined. A cache that was used for years has a few hundred.
const ENTRIES: usize = 4_096;
/// The most that is read of a package.json, in bytes.
const MANIFEST_BYTES: u64 = 1 << 20;

/// The version in the cache of the package's manager, as a child with this environment finds it;
/// the newest if there are several. `None` if it cannot be known.
pub(crate) fn version(package: &UnpinnedPackage, environment: &BTreeMap<String, String>) -> Option<String> {
    let folders = Folders(environment);
    let version = match package.source {
        PackageSource::Npm => of_npm(&folders.npm()?, &package.name),
        PackageSource::PyPi => of_uv(&folders.uv()?, &package.name),
        // No cache lists a commit or a digest under a name that a person would recognise.
        PackageSource::Git | PackageSource::Image => None,
    };
    version.filter(|version| is_version(version))
}

/// Where package managers keep things, by the variables that they read.
struct Folders<'e>(&'e BTreeMap<String, String>);

impl Folders<'_> {
    fn of(&self, variable: &str) -> Option<PathBuf> {
        self.0.get(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn npm(&self) -> Option<PathBuf> {
        let named = self.of("npm_config_cache").or_else(|| self.of("NPM_CONFIG_CACHE"));
        named.or_else(|| Some(self.of("HOME")?.join(".npm")))
    }

    fn uv(&self) -> Option<PathBuf> {
        let cache = || self.of("XDG_CACHE_HOME").or_else(|| Some(self.of("HOME")?.join(".cache")));
        self.of("UV_CACHE_DIR").or_else(|| Some(cache()?.join("uv")))
    }
}

/// npx installs each set of packages in a folder of its own, and reuses it later.
fn of_npm(cache: &Path, name: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    let is_name = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0']);
    if !name.split('/').all(is_name) {
        return None;
    }
    let manifests =
        entries(&cache.join("_npx")).map(|folder| folder.join("node_modules").join(name).join("package.json"));
    let newest = newest(manifests.filter(|path| path.is_file()))?;
    let mut text = String::new();
    fs::File::open(newest).ok()?.take(MANIFEST_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str::<Manifest>(&text).ok().map(|manifest| manifest.version)
}

/// uv has a folder for each package, with an entry for each version that it has unpacked:
/// `wheels-v8/pypi/NAME/VERSION-TAGS.http`.
fn of_uv(cache: &Path, name: &str) -> Option<String> {
    let name: String = name.to_ascii_lowercase().replace(['_', '.'], "-");
    let wheels = entries(cache).filter(|path| file_name(path).starts_with("wheels-v"));
    let unpacked = wheels
        .flat_map(|wheels| entries(&wheels.join("pypi").join(&name)).collect::<Vec<_>>())
        .filter(|path| file_name(path).ends_with(".http"));
    let newest = newest(unpacked)?;
    file_name(&newest).split_once('-').map(|(version, _)| version.to_owned())
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(ENTRIES);
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// The path that was written last.
fn newest(paths: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let time = |path: &PathBuf| {
        fs::symlink_metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    paths.max_by_key(time)
}

/// The version is shown to a person who may copy it, so it must look like one.
fn is_version(version: &str) -> bool {
    version.len() <= 64
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-!_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use belljar_config::packages::unpinned;
    use belljar_model::StdioCommand;

    use super::*;

    fn package(command: &str, args: &[&str]) -> UnpinnedPackage {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let command =
            StdioCommand { command: command.to_owned(), args, env: BTreeMap::new(), cwd: None, sandbox: None };
        unpinned(&command).expect("a package")
    }

    fn write(home: &Path, path: &str, text: &str) {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn the_version_is_what_the_caches_of_npx_and_uvx_hold() {
        let home = tempfile::tempdir().expect("a folder");
        let environment = BTreeMap::from([("HOME".to_owned(), home.path().to_str().expect("a path").to_owned())]);
        let npm = package("npx", &["-y", "@scope/server"]);
        let python = package("uvx", &["My_Server"]);
        assert_eq!((version(&npm, &environment), version(&python, &environment)), (None, None));

        let manifest = |version: &str| format!("{{\"name\": \"x\", \"version\": \"{version}\"}}");
        write(home.path(), ".npm/_npx/0a1b/node_modules/@scope/server/package.json", &manifest("1.2.3"));
        write(home.path(), ".npm/_npx/0a1b/node_modules/other/package.json", &manifest("9.9.9"));
        write(home.path(), ".cache/uv/wheels-v8/pypi/my-server/0.4.1-py3-none-any.http", "");
        write(home.path(), ".cache/uv/wheels-v8/pypi/my-server/0.5.0-py3-none-any.msgpack", "");
        assert_eq!(version(&npm, &environment).as_deref(), Some("1.2.3"));
        assert_eq!(version(&python, &environment).as_deref(), Some("0.4.1"));

        write(home.path(), ".npm/_npx/0a1b/node_modules/@scope/server/package.json", &manifest("1 && rm"));
        assert_eq!(version(&npm, &environment), None);
        assert_eq!(version(&package("npx", &["a/../../x"]), &environment), None);
    }
}
