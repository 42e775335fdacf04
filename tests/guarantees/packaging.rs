//! What is published contains everything that it is built from, and what is installed works alone.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
};

use serde_json::Value;

use crate::support::{belljar, cargo, repository};

/// The output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// The files of a crate's package.
fn packaged(name: &str) -> BTreeSet<String> {
    let listed =
        output(cargo().args(["package", "--list", "--locked", "--offline", "--allow-dirty", "--package", name]));
    listed.lines().map(|line| line.replace('\\', "/")).collect()
}

#[test]
fn the_package_of_the_interpreter_has_all_of_its_sources() {
    let files = packaged("belljar-component");
    let sources: BTreeSet<String> = files
        .iter()
        .filter_map(|path| path.strip_prefix("packed/"))
        .map(|path| path.replace("manifest.toml", "Cargo.toml"))
        .collect();
    let committed = output(Command::new("git").current_dir(repository()).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "guest",
        "wit",
    ]));
    let committed: BTreeSet<String> = committed.lines().map(str::to_owned).collect();
    assert!(committed.len() > 300, "{}", committed.len());
    assert_eq!(sources.symmetric_difference(&committed).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_packages_that_speak_the_contract_have_it() {
    for name in ["belljar-sandbox", "belljar-measures"] {
        let files = packaged(name);
        assert!(files.contains("wit/sandbox.wit"), "{name}: {files:?}");
    }
}

/// crates.io accepts a crate only if it has all its dependencies: each is named with a version, and
/// all of them are published. (Dependencies of tests only are left out of a package.)
#[test]
fn every_crate_that_is_published_depends_on_published_versions() {
    let metadata = output(cargo().args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]));
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let is_published = |package: &&Value| package["publish"].is_null();
    let mut published: BTreeSet<&str> =
        packages.iter().filter(is_published).map(|package| package["name"].as_str().unwrap()).collect();
    // Of the guest's workspace, and published first.
    let notation = fs::read_to_string(repository().join("guest/notation/Cargo.toml")).unwrap();
    assert!(notation.contains("name = \"belljar-notation\"") && !notation.contains("publish"), "{notation}");
    published.insert("belljar-notation");
    assert!(published.contains("belljar") && published.contains("belljar-sandbox"), "{published:?}");
    for package in packages.iter().filter(is_published) {
        let name = package["name"].as_str().unwrap();
        for key in ["description", "license", "repository"] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() || dependency["kind"] == "dev" {
                continue;
            }
            let needed = dependency["name"].as_str().unwrap();
            assert_ne!(dependency["req"], "*", "{name} names no version of {needed}");
            assert!(published.contains(needed), "{name} needs {needed}, which is not published");
        }
    }
}

/// The archive, the npm packages and the wheel, installed in empty folders by their usual tools;
/// the Debian package, unpacked; and the installer, with a release in a folder.
#[test]
fn every_package_works_in_an_empty_folder_and_home() {
    let dist = tempfile::tempdir().unwrap();
    let package = |arguments: &[&str]| {
        let mut package = Command::new(repository().join("scripts/package"));
        package.args(["--quick", "--program"]).arg(belljar()).arg("--to").arg(dist.path()).args(arguments);
        output(&mut package)
    };
    package(&[]);
    package(&["sums"]);
    let tried = output(Command::new(repository().join("scripts/packaging/try")).arg(dist.path()));
    let of_debian = cfg!(all(target_os = "linux", target_env = "gnu"));
    for kind in ["npm", "pip", "archive"].into_iter().chain(of_debian.then_some("deb")) {
        assert!(tried.lines().any(|line| line.starts_with(kind)), "{kind}: {tried}");
    }

    let version = env!("CARGO_PKG_VERSION");
    let releases = tempfile::tempdir().unwrap();
    fs::rename(dist.path(), releases.path().join(format!("v{version}"))).unwrap();
    let home = tempfile::tempdir().unwrap();
    let install = || {
        let mut install = Command::new(releases.path().join(format!("v{version}/install.sh")));
        install.env("HOME", home.path()).env("BELLJAR_RELEASES", format!("file://{}", releases.path().display()));
        install
    };
    let said = output(&mut install());
    assert!(said.contains("add it to PATH"), "{said}");
    let installed = home.path().join(".local/bin/belljar");
    assert_eq!(fs::metadata(&installed).unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(output(Command::new(&installed).arg("--version")).trim(), format!("belljar {version}"));

    // A file that was changed on its way installs nothing.
    fs::remove_file(&installed).unwrap();
    let sums = releases.path().join(format!("v{version}/SHA256SUMS"));
    let text = fs::read_to_string(&sums).unwrap();
    let line = text.lines().find(|line| line.ends_with(".tar.xz")).unwrap();
    fs::write(&sums, text.replace(&line[..64], &"0".repeat(64))).unwrap();
    let refused = install().output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was installed"), "{refused:?}");
    assert!(!installed.exists());
}

/// Where there is no wheel, pip builds the client from it.
#[test]
fn the_source_distribution_of_pypi_has_the_whole_client_and_no_more() {
    let name = format!("belljar-{}", env!("CARGO_PKG_VERSION"));
    let dist = tempfile::tempdir().unwrap();
    let archive = dist.path().join(format!("{name}.tar.gz"));
    let made = || {
        let mut package = Command::new(repository().join("scripts/package"));
        output(package.arg("--to").arg(dist.path()).arg("sdist"));
        fs::read(&archive).unwrap()
    };
    assert!(made() == made(), "the same sources give another archive");

    output(Command::new("tar").arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(dist.path()));
    let sources = output(Command::new("git").current_dir(repository().join("packages/python")).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "src",
    ]));
    let mut wanted: BTreeSet<String> = sources.lines().map(str::to_owned).collect();
    assert!(wanted.contains("src/belljar/py.typed"), "{wanted:?}");
    wanted.extend(["LICENSE-APACHE", "LICENSE-MIT", "PKG-INFO", "README.md", "pyproject.toml"].map(str::to_owned));
    let listed = output(Command::new("tar").arg("--list").arg("--file").arg(&archive));
    let listed: BTreeSet<String> =
        listed.lines().map(|path| path.strip_prefix(&format!("{name}/")).unwrap().to_owned()).collect();
    assert_eq!(listed, wanted);

    let unpacked = dist.path().join(&name);
    let information = fs::read_to_string(unpacked.join("PKG-INFO")).unwrap();
    let version = format!("\nName: belljar\nVersion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(information.contains(&version), "{information}");
    let client = "import belljar; print(belljar.__file__)";
    let imported = output(Command::new("python3").args(["-B", "-c", client]).env("PYTHONPATH", unpacked.join("src")));
    assert!(imported.contains(&name), "{imported}");
}

/// The npm command passes its arguments to the program, and the program's exit code or signal to
/// its caller.
#[test]
fn the_command_of_npm_passes_on_exit_codes_and_signals() {
    let shim = repository().join("packages/npm/belljar/bin/belljar.js");
    let command = |arguments: &[&str]| {
        let mut command = Command::new("node");
        command.arg(&shim).args(arguments).env("BELLJAR_BINARY", belljar());
        command
    };
    let failed = command(&["run", "--no-daemon", "--code", "throw new Error('no')"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let wrong = command(&["no-such-command"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");

    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/sh\nkill -TERM $$\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = command(&[]).env("BELLJAR_BINARY", &program).output().unwrap();
    assert_eq!(ended.status.code(), Some(128 + 15), "{ended:?}");
}

#[test]
fn the_command_of_npm_says_which_package_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let shim = repository().join("packages/npm/belljar/bin/belljar.js");
    // As `npx` puts it there: the command finds itself on PATH.
    std::os::unix::fs::symlink(&shim, folder.path().join("belljar")).unwrap();
    let node = output(Command::new("node").args(["--print", "process.execPath"]));
    let mut command = Command::new(node.trim());
    let answer = command.arg(&shim).env_remove("BELLJAR_BINARY").env("PATH", folder.path()).output().unwrap();
    assert_eq!(answer.status.code(), Some(1), "{answer:?}");
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(said.contains("is not installed") && said.contains("lock file"), "{said}");
}
