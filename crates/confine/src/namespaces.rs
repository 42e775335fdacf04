//! A child's own namespaces.

use std::{
    fs,
    io::{self, Write as _},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Path, PathBuf},
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    unistd::{getegid, geteuid},
};
use rustix::fs::{Mode, OFlags, open, openat};

use crate::{ConfineError, mounts};

/// The folder that is private to the child and has its temporary files: it is in memory, and
/// disappears when the child ends.
pub(crate) const TEMPORARY: &str = "/dev/shm";
/// Its size.
const TEMPORARY_BYTES: &str = "256m";

/// Enters namespaces for mounts and System V IPC, and for the network if the child is to have none.
/// In them [`TEMPORARY`] is private, `hidden` folders are empty, and everything but `write` is
/// mounted read-only. The program that this process becomes cannot undo that, not even as the
/// superuser of its namespace.
pub(crate) fn enter(without_network: bool, hidden: &[PathBuf], write: &[PathBuf]) -> Result<(), ConfineError> {
    // The folder where a process declares its user mappings. The mount at `/proc` will become
    // read-only, but this handle stays on the current one.
    let process = open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| fault("open /proc/self", &error.into()))?;
    // A deleted folder has no path, so the process stays in it, on a mount that will become
    // read-only.
    let current = std::env::current_dir().ok();
    let mut own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if without_network {
        own |= CloneFlags::CLONE_NEWNET;
    }
    within_a_user_namespace(&process, own)?;
    let none: Option<&str> = None;
    // Later mounts are visible here only.
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| fault("mount /", &error.into()))?;
    let found = mounts::all()?;
    cover(Path::new(TEMPORARY), &format!("size={TEMPORARY_BYTES},mode=0700"), MsFlags::empty())?;
    for folder in hidden {
        // A folder that is created later would not be covered. If this user cannot create it, it
        // will not contain anything of this user's.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        // Links are skipped, because they lead elsewhere.
        if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        cover(folder, "size=4k,mode=0500", MsFlags::MS_RDONLY)?;
    }
    let kept = mounts::outermost(write)?;
    // A child that may write everywhere finds everything unchanged.
    if !kept.iter().any(|path| path == Path::new("/")) {
        for path in &kept {
            mounts::keep(path)?;
        }
        mounts::make_read_only(&found)?;
    }
    // In a nested user namespace, the restrictions and positions of the mounts are locked.
    within_a_user_namespace(&process, CloneFlags::CLONE_NEWNS)?;
    // Opened by its path, it is on the topmost mounts.
    match current {
        Some(folder) => {
            std::env::set_current_dir(&folder).map_err(|source| ConfineError::Path { path: folder, source })
        }
        None => Ok(()),
    }
}

/// Enters a new user namespace, in which the user and the group are the same as outside. Its
/// superuser only has rights over its own files, and none over the machine, such as loading modules
/// or reading the memory of others.
fn within_a_user_namespace(process: &OwnedFd, own: CloneFlags) -> Result<(), ConfineError> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | own).map_err(|error| fault("unshare", &error.into()))?;
    // Without the first write, the kernel does not allow a group to be mapped.
    let texts = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (name, text) in texts {
        write(process, name, &text).map_err(|error| fault(&format!("write {name}"), &error))?;
    }
    Ok(())
}

/// Writes the text at once: the kernel accepts only one write for each of these files.
fn write(process: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    let file = openat(process, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    fs::File::from(file).write_all(text.as_bytes())
}

fn cover(folder: &Path, options: &str, flags: MsFlags) -> Result<(), ConfineError> {
    let flags = flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some(options))
        .map_err(|error| fault(&format!("mount {}", folder.display()), &error.into()))
}

fn fault(what: &str, error: &io::Error) -> ConfineError {
    ConfineError::Namespaces(format!("{what}: {error}"))
}
