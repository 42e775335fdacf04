//! The walls around a child server whose owner has asked for them.
//!
//! A process builds them and then becomes the child: [`execute`] does not return unless it fails.
//! The steps are in this order, because each takes away something that the previous one needed:
//!
//! 1. Namespaces of its own: users, mounts, System V IPC, and, without network, the network. The
//!    child keeps its own user and group, and has no rights over the machine, whoever its user is.
//! 2. In the mount namespace, `/dev/shm` becomes a private folder in memory, which is also the
//!    folder for temporary files. belljar's own folders are covered with empty ones, and everything
//!    but the writable folders becomes read-only: landlock does not govern modes, owners, times and
//!    extended attributes.
//! 3. landlock allows only the folders of the system, read-only, those that the owner named, and
//!    the child's own program.
//! 4. Without network, seccomp denies sockets of all kinds, except pairs that are connected from
//!    the start.
//!
//! SECURITY.md lists what remains open.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub use linux::execute;

#[cfg(not(target_os = "linux"))]
use crate::ConfineError;

/// What a child may reach besides the system's own folders and its own program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildWalls {
    /// Whether it has a network, and sockets at all.
    pub network: bool,
    /// Files and folders that it may read, and programs there that it may execute.
    pub read: Vec<PathBuf>,
    /// Files and folders to which it has all access.
    pub write: Vec<PathBuf>,
    /// Folders that appear empty to it, whatever they contain now or later. Missing ones are
    /// created.
    pub hidden: Vec<PathBuf>,
}

/// What [`execute`] writes to stderr before the reason when it fails. The process then ends with
/// [`EXIT_CODE`].
pub const FAILED: &str = "belljar: sandbox: ";
/// The exit code of a process that could not build its walls.
pub const EXIT_CODE: u8 = 125;

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        convert::Infallible,
        ffi::{OsStr, OsString},
        io,
        os::unix::process::CommandExt as _,
        path::{Path, PathBuf},
        process::Command,
    };

    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
    };

    use super::ChildWalls;
    use crate::{ConfineError, namespaces, system_calls};

    /// Folders of the system, in which a child may read and execute files, if they exist.
    const SYSTEM: &[&str] = &[
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/opt",
        "/etc",
        "/nix/store",
        "/proc",
        "/sys/devices/system/cpu",
        "/sys/fs/cgroup",
        "/run/systemd/resolve",
    ];
    /// Devices, which it may also write to.
    const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    /// The oldest landlock that prevents all ways of writing files (Linux 6.2: also truncating
    /// them).
    const FILES: ABI = ABI::V3;
    /// The one that also restricts abstract sockets and signals (Linux 6.12).
    const SCOPES: ABI = ABI::V6;

    /// Builds the walls around this process and becomes `program`. The process must have one
    /// thread.
    ///
    /// # Errors
    /// [`ConfineError`], if a wall cannot be built or the program cannot be executed. The process
    /// must then end.
    pub fn execute(
        walls: &ChildWalls,
        program: &OsStr,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Infallible, ConfineError> {
        let command = |source| ConfineError::Command { command: program.to_string_lossy().into_owned(), source };
        let found = find(program).map_err(command)?;
        namespaces::enter(!walls.network, &walls.hidden, &walls.write)?;
        restrict(walls, &found)?;
        if !walls.network {
            system_calls::deny_sockets()?;
        }
        let mut child = Command::new(&found);
        // The name by which it was called, because a program with several names checks it.
        child.arg0(program).args(arguments);
        for name in ["TMPDIR", "TMP", "TEMP"] {
            child.env(name, namespaces::TEMPORARY);
        }
        Err(command(child.exec()))
    }

    /// The program's file, as a shell finds it.
    fn find(program: &OsStr) -> io::Result<PathBuf> {
        let path = Path::new(program);
        if path.components().count() > 1 {
            return std::path::absolute(path);
        }
        let folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let found = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file());
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Restricts this process, and the program that it becomes, to the allowed files.
    fn restrict(walls: &ChildWalls, program: &Path) -> Result<(), ConfineError> {
        let read = AccessFs::from_read(FILES);
        let all = AccessFs::from_all(FILES);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(all)
            .map_err(fault)?
            .set_compatibility(CompatLevel::BestEffort)
            .scope(Scope::from_all(SCOPES))
            .map_err(fault)?
            .create()
            .map_err(fault)?;
        for path in SYSTEM.iter().map(Path::new).filter(|path| path.exists()) {
            rules = allow(rules, path, read)?;
        }
        for path in DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
            rules = allow(rules, path, AccessFs::ReadFile | AccessFs::WriteFile)?;
        }
        rules = allow(rules, Path::new(namespaces::TEMPORARY), all)?;
        // If the path of the program is a link, the rule applies to its target.
        rules = allow(rules, program, read)?;
        for path in &walls.read {
            rules = allow(rules, path, read)?;
        }
        for path in &walls.write {
            rules = allow(rules, path, all)?;
        }
        let status = rules.restrict_self().map_err(fault)?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err(ConfineError::Landlock("the kernel did not enforce it".to_owned())),
            _ => Ok(()),
        }
    }

    fn allow(
        rules: RulesetCreated,
        path: &Path,
        access: landlock::BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, ConfineError> {
        let at = |source| ConfineError::Path { path: path.to_owned(), source };
        let is_folder = std::fs::metadata(path).map_err(at)?.is_dir();
        let opened = PathFd::new(path).map_err(|error| at(io::Error::other(error)))?;
        // Rights that only apply to folders cannot be granted for a file.
        let access = if is_folder { access } else { access & AccessFs::from_file(FILES) };
        rules.add_rule(PathBeneath::new(opened, access)).map_err(fault)
    }

    fn fault(error: impl std::fmt::Display) -> ConfineError {
        ConfineError::Landlock(error.to_string())
    }
}

/// Fails, because this system has no such walls.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn execute(
    _walls: &ChildWalls,
    _program: &std::ffi::OsStr,
    _arguments: impl IntoIterator<Item = std::ffi::OsString>,
) -> Result<std::convert::Infallible, ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}
