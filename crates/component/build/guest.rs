//! Builds the guest's component with a cargo of its own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const TARGET: &str = "wasm32-wasip2";
/// Names a component to use in place of the repository's guest. It has not been pre-initialised
/// yet.
pub(crate) const COMPONENT_VARIABLE: &str = "BELLJAR_GUEST_COMPONENT";
/// Names a cargo profile of the guest: `release` (the default), or `quick` for work on the guest
/// itself.
pub(crate) const PROFILE_VARIABLE: &str = "BELLJAR_GUEST_PROFILE";

/// The path of the guest's component, built if its sources have changed.
pub(crate) fn component() -> PathBuf {
    if let Some(component) = env::var_os(COMPONENT_VARIABLE) {
        println!("cargo::rerun-if-changed={}", Path::new(&component).display());
        return component.into();
    }
    let repository = sources();
    let guest = repository.join("guest");
    for input in inputs(&guest) {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    println!("cargo::rerun-if-changed={}", repository.join("wit").display());

    require_target(&guest);
    let profile = env::var(PROFILE_VARIABLE).unwrap_or_else(|_| "release".to_owned());
    let program = env::var_os("CARGO").expect("cargo sets CARGO");
    let mut fetch = clean(&program, &guest);
    fetch.args(["fetch", "--locked"]);
    let patched = belljar_prepare::prepare(&repository, &mut fetch)
        .unwrap_or_else(|error| panic!("the guest's dependencies cannot be prepared: {error}"));
    let target_directory = crate::target_directory().join("guest");
    let mut cargo = clean(&program, &guest);
    cargo.args(["build", "--locked", "--package", "belljar-guest", "--profile", &profile, "--target-dir"]);
    cargo.arg(&target_directory);
    cargo.arg("--config").arg(patched);
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot start cargo for the guest: {error}"));
    assert!(status.success(), "the guest does not build: run `scripts/guest build --profile {profile}` to see why");
    target_directory.join(TARGET).join(&profile).join("belljar_guest.wasm")
}

/// The folder that has `guest` and `wit`: the repository, or what a package of this crate carries
/// of it.
fn sources() -> PathBuf {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let repository = manifest.join("../..");
    if repository.join("guest/Cargo.toml").exists() {
        return repository;
    }
    let packed = manifest.join("packed");
    println!("cargo::rerun-if-changed={}", packed.display());
    let laid_out = crate::target_directory().join("guest-sources");
    crate::packed::lay_out(&packed, &laid_out)
        .unwrap_or_else(|error| panic!("the guest's sources cannot be written to {}: {error}", laid_out.display()));
    laid_out
}

/// What the component is made of: all in the guest's folder, but for what is unpacked there and
/// what only its tests need. A crate that is added is seen by the manifest, which names it.
fn inputs(guest: &Path) -> Vec<PathBuf> {
    const OTHERS: [&str; 3] = [".crates", "stock", "testing"];
    let entries = fs::read_dir(guest).unwrap_or_else(|error| panic!("cannot read {}: {error}", guest.display()));
    let entries = entries.map(|entry| entry.unwrap_or_else(|error| panic!("cannot read {}: {error}", guest.display())));
    let inputs = entries.filter(|entry| !OTHERS.iter().any(|other| entry.file_name() == *other));
    let mut inputs: Vec<_> = inputs.map(|entry| entry.path()).collect();
    inputs.sort();
    inputs
}

/// Installs the wasm target where rustup can, and names the command where it cannot.
fn require_target(guest: &Path) {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let printed = clean(rustc, guest).args(["--print", "target-libdir", "--target", TARGET]).output();
    let installed = printed.is_ok_and(|printed| {
        printed.status.success() && Path::new(String::from_utf8_lossy(&printed.stdout).trim()).exists()
    });
    if installed {
        return;
    }
    let added = clean("rustup", guest).args(["target", "add", TARGET]).status();
    assert!(
        added.is_ok_and(|status| status.success()),
        "the guest is compiled for {TARGET}, which this Rust toolchain does not have: install it with\n\n    rustup target add \
         {TARGET}\n"
    );
}

/// A command whose environment is not that of the build around it: neither flags, nor wrappers such
/// as clippy's, nor profiles, nor the job server may reach the guest, or it would be built anew for
/// each of them.
fn clean(program: impl AsRef<std::ffi::OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory);
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let kept = ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_HTTP_CAINFO"].contains(&name)
            || name.starts_with("CARGO_REGISTRIES_")
            || name.starts_with("CARGO_SOURCE_");
        let leaks = name.starts_with("CARGO") || name.starts_with("RUSTC") || name.starts_with("RUSTDOC");
        if (leaks && !kept) || ["RUSTFLAGS", "MAKEFLAGS", "TARGET", "HOST", "PROFILE", "OUT_DIR"].contains(&name) {
            command.env_remove(name);
        }
    }
    command
}
