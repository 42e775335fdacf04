//! A child's own mounts, read-only except for the folders that its owner lets it write to.
//!
//! landlock protects the contents of files, but not their modes, owners, times and extended
//! attributes. A read-only mount protects these too, whichever way leads to the file: its path, a
//! descriptor, `/proc/self`.

use std::{
    ffi::OsStr,
    fs, io,
    os::{fd::AsRawFd as _, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use nix::mount::{MsFlags, mount};
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use crate::ConfineError;

/// `MS_NOSYMFOLLOW`, which nix does not define.
const NOSYMFOLLOW: MsFlags = MsFlags::from_bits_retain(256);

/// A mount as it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    id: u64,
    place: PathBuf,
    /// Its restrictions. Without privileges on the machine, a process can only add to them, and
    /// must repeat the existing ones.
    forbids: MsFlags,
}

/// All mounts of this process.
pub(crate) fn all() -> Result<Vec<Mount>, ConfineError> {
    let fault = |error: &dyn std::fmt::Display| ConfineError::Namespaces(format!("/proc/self/mountinfo: {error}"));
    let text = fs::read("/proc/self/mountinfo").map_err(|error| fault(&error))?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| parse(line).ok_or_else(|| fault(&"a line is not as expected"))).collect()
}

/// Files and folders with links resolved, without those that are inside another one.
pub(crate) fn outermost(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ConfineError> {
    let resolved =
        |path: &PathBuf| fs::canonicalize(path).map_err(|source| ConfineError::Path { path: path.clone(), source });
    let mut paths = paths.iter().map(resolved).collect::<Result<Vec<_>, _>>()?;
    // A folder comes before its contents.
    paths.sort();
    paths.dedup_by(|inner, outer| inner.starts_with(outer));
    Ok(paths)
}

/// Bind-mounts a file or a folder onto itself, so that it stays unchanged when its surroundings
/// become read-only.
pub(crate) fn keep(path: &Path) -> Result<(), ConfineError> {
    let none: Option<&str> = None;
    mount(Some(path), path, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
        .map_err(|error| fault("mount", path, error.into()))
}

/// Makes those of `mounts` read-only that can still be reached, because no other mount covers them.
pub(crate) fn make_read_only(mounts: &[Mount]) -> Result<(), ConfineError> {
    for mount in mounts {
        // Only the path is opened, so that a file system that may not answer is not asked anything.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(&mount.place, flags, Mode::empty()) {
            Ok(opened) => opened,
            // Whatever this user cannot reach, the child cannot reach either.
            Err(Errno::ACCESS | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            Err(error) => return Err(fault("open", &mount.place, error.into())),
        };
        let own = format!("/proc/self/fd/{}", opened.as_raw_fd());
        let id = mount_of(opened.as_raw_fd()).map_err(|error| fault("look at", &mount.place, error))?;
        if id == mount.id {
            forbid_writing(&own, mount.forbids).map_err(|error| fault("remount", &mount.place, error))?;
        }
    }
    Ok(())
}

fn forbid_writing(place: &str, forbids: MsFlags) -> io::Result<()> {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
    Ok(mount(none, place, none, flags | forbids, none)?)
}

/// The mount that a descriptor is on.
fn mount_of(descriptor: i32) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}"))?;
    let id = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    id.ok_or_else(|| io::Error::other("its descriptor does not name its mount"))
}

/// A line of `/proc/self/mountinfo`: number, parent, device, root, place, options, and more.
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let place = PathBuf::from(OsStr::from_bytes(&unescaped(fields.nth(3)?)));
    let known = fields.next()?.split(|byte| *byte == b',').map(|option| match option {
        b"ro" => MsFlags::MS_RDONLY,
        b"nosuid" => MsFlags::MS_NOSUID,
        b"nodev" => MsFlags::MS_NODEV,
        b"noexec" => MsFlags::MS_NOEXEC,
        b"nosymfollow" => NOSYMFOLLOW,
        // The setting for access times stays unchanged if none is given.
        _ => MsFlags::empty(),
    });
    Some(Mount { id, place, forbids: known.collect() })
}

/// Spaces, tabs, line feeds and backslashes are written as three octal digits each.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) if byte == b'\\' => {
                text.push(escaped);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                text.push(byte);
                rest = after;
            }
        }
    }
    text
}

fn fault(what: &str, place: &Path, error: io::Error) -> ConfineError {
    ConfineError::Namespaces(format!("{what} {}: {error}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_what_its_mount_forbids() {
        let line = br"36 35 98:0 /mnt1 /mnt\040two\134x rw,nosuid,nodev,noexec,relatime shared:1 - ext3 /dev/root rw";
        let forbids = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        assert_eq!(parse(line), Some(Mount { id: 36, place: PathBuf::from(r"/mnt two\x"), forbids }));
        let line = b"1 1 0:2 / / ro,nosymfollow - rootfs rootfs rw";
        assert_eq!(
            parse(line),
            Some(Mount { id: 1, place: PathBuf::from("/"), forbids: MsFlags::MS_RDONLY | NOSYMFOLLOW })
        );
        for line in [&b""[..], b"36 35 98:0 /mnt1", b"x 35 98:0 / / rw"] {
            assert_eq!(parse(line), None);
        }
    }
}
