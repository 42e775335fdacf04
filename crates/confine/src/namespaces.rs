//! Namespaces of a child's own.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    unistd::{getegid, geteuid},
};

use crate::ConfineFault;

/// The folder that is private to the child, and in which it keeps temporary files: in memory, and gone with it.
pub(crate) const TEMPORARY: &str = "/dev/shm";
/// What fits into it.
const TEMPORARY_BYTES: &str = "256m";

/// Enters namespaces for mounts and System V IPC, and for the network where it is to be without one, in which [`TEMPORARY`] is private and
/// `hidden` folders are empty.
pub(crate) fn enter(without_network: bool, hidden: &[PathBuf]) -> Result<(), ConfineFault> {
    let mut own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if without_network {
        own |= CloneFlags::CLONE_NEWNET;
    }
    within_a_user_namespace(own).map_err(|error| fault("unshare", &error))?;
    let none: Option<&str> = None;
    // What is mounted from here on is mounted here alone.
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| fault("mount /", &error.into()))?;
    cover(Path::new(TEMPORARY), &format!("size={TEMPORARY_BYTES},mode=0700"), MsFlags::empty())?;
    for folder in hidden {
        // One that is made later would not be covered. Where it cannot be made by this user, nothing of the user's comes to be in it.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        // Behind a link there is something else.
        if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        cover(folder, "size=4k,mode=0500", MsFlags::MS_RDONLY)?;
    }
    Ok(())
}

/// Enters them in a user namespace of its own, in which the user and the group are the ones they are outside. The superuser is so over its
/// own files and nothing else: its rights over the machine (loading modules, reading the memory of others) end here.
fn within_a_user_namespace(own: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | own)?;
    // Without this, the kernel lets nobody map a group.
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))
}

/// The kernel takes each of these files in one write.
fn write(path: &str, text: &str) -> io::Result<()> {
    fs::File::options().write(true).open(path)?.write_all(text.as_bytes())
}

fn cover(folder: &Path, options: &str, flags: MsFlags) -> Result<(), ConfineFault> {
    let flags = flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some(options))
        .map_err(|error| fault(&format!("mount {}", folder.display()), &error.into()))
}

fn fault(what: &str, error: &io::Error) -> ConfineFault {
    ConfineFault::Namespaces(format!("{what}: {error}"))
}
