//! Namespaces of a child's own.

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

/// The folder that is private to the child, and in which it keeps temporary files: in memory, and
/// gone with it.
pub(crate) const TEMPORARY: &str = "/dev/shm";
/// What fits into it.
const TEMPORARY_BYTES: &str = "256m";

/// Enters namespaces for mounts and System V IPC, and for the network where it is to be without
/// one, in which [`TEMPORARY`] is private, `hidden` folders are empty, and everything else but
/// `write` is mounted read-only. What becomes of this process cannot undo it, not even as the
/// superuser of its namespace.
pub(crate) fn enter(without_network: bool, hidden: &[PathBuf], write: &[PathBuf]) -> Result<(), ConfineError> {
    // Where a process says who its users are. The mount at `/proc` will be read-only, and this
    // stays with the one that is there now.
    let process = open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| fault("open /proc/self", &error.into()))?;
    // One that is gone has no path, and stays where it is: on a mount that will be read-only.
    let current = std::env::current_dir().ok();
    let mut own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if without_network {
        own |= CloneFlags::CLONE_NEWNET;
    }
    within_a_user_namespace(&process, own)?;
    let none: Option<&str> = None;
    // What is mounted from here on is mounted here alone.
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| fault("mount /", &error.into()))?;
    let found = mounts::all()?;
    cover(Path::new(TEMPORARY), &format!("size={TEMPORARY_BYTES},mode=0700"), MsFlags::empty())?;
    for folder in hidden {
        // One that is made later would not be covered. Where it cannot be made by this user,
        // nothing of the user's comes to be in it.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        // Behind a link there is something else.
        if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        cover(folder, "size=4k,mode=0500", MsFlags::MS_RDONLY)?;
    }
    let kept = mounts::outermost(write)?;
    // One that may write everywhere finds everything as it is.
    if !kept.iter().any(|path| path == Path::new("/")) {
        for path in &kept {
            mounts::keep(path)?;
        }
        mounts::make_read_only(&found)?;
    }
    // In a user namespace below, what the mounts forbid is locked, and so is their place.
    within_a_user_namespace(&process, CloneFlags::CLONE_NEWNS)?;
    // By its path it leads to the mounts that are on top now.
    match current {
        Some(folder) => {
            std::env::set_current_dir(&folder).map_err(|source| ConfineError::Path { path: folder, source })
        }
        None => Ok(()),
    }
}

/// Enters them in a user namespace of its own, in which the user and the group are the ones they
/// are outside. The superuser is so over its own files and nothing else: its rights over the
/// machine (loading modules, reading the memory of others) end here.
fn within_a_user_namespace(process: &OwnedFd, own: CloneFlags) -> Result<(), ConfineError> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | own).map_err(|error| fault("unshare", &error.into()))?;
    // Without the first, the kernel lets nobody map a group.
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

/// The kernel takes each of these files in one write.
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
