//! Checks who else can have written a file.
//!
//! A configuration starts programs, so anybody who can write to it can run programs as this user.
//! Both the file and its folder are checked, because the file could be replaced in its folder. Root
//! can do anything anyway.

use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File};

/// Why a file is not trusted, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Distrust {
    /// Others may write to it.
    #[error(
        "other users may write to {} (mode {mode:04o}), and could have it start programs as you: chmod {fix} {}",
        path.display(),
        in_a_shell(path)
    )]
    Writable {
        /// The file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The change that `chmod` must make.
        fix: &'static str,
    },
    /// Somebody else owns it.
    #[error(
        "{} belongs to user {owner}, who could have it start programs as you (user {user}): chown {user} {}, or copy it to a folder of your own",
        path.display(),
        in_a_shell(path)
    )]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The current user.
        user: u32,
    },
    /// Its owner or permissions cannot be determined.
    #[error("it is not known who may write to {}: {problem}", path.display())]
    Unknown {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        problem: String,
    },
}

/// Whether only the user and root may write to an open file.
///
/// # Errors
/// [`Distrust`], with the command that fixes it, in which the file is named `path`.
pub fn check_file(file: &File, path: &Path) -> Result<(), Distrust> {
    #[cfg(unix)]
    {
        let metadata = file.metadata().map_err(|error| unknown(path, &error))?;
        unix::judge(&unix::Standing::of(&metadata), path, &unix::System)?;
    }
    let _ = (file, path);
    Ok(())
}

/// Whether only the user and root may replace a file in an open folder. In a folder with the sticky
/// bit, such as `/tmp`, only a file's owner may.
///
/// # Errors
/// [`Distrust`], with the command that fixes it, in which the folder is named `path`.
pub fn check_folder(folder: &Dir, path: &Path) -> Result<(), Distrust> {
    #[cfg(unix)]
    {
        let metadata = folder.dir_metadata().map_err(|error| unknown(path, &error))?;
        unix::judge(&unix::Standing::of(&metadata), path, &unix::System)?;
    }
    let _ = (folder, path);
    Ok(())
}

#[cfg(unix)]
fn unknown(path: &Path, error: &std::io::Error) -> Distrust {
    Distrust::Unknown { path: path.to_owned(), problem: error.to_string() }
}

/// Whether a link belongs to the user or root, since its creator chose its target. Its folder is
/// checked by [`check_folder`].
///
/// # Errors
/// It belongs to somebody else, or its owner cannot be determined.
pub fn check_link(folder: &Dir, name: &Path, path: &Path) -> Result<(), Distrust> {
    #[cfg(unix)]
    {
        let metadata = folder.symlink_metadata(name).map_err(|error| unknown(path, &error))?;
        // Everybody may write "to" a link, so its mode means nothing.
        let standing = unix::Standing { mode: 0, ..unix::Standing::of(&metadata) };
        unix::judge(&standing, path, &unix::System)?;
    }
    let _ = (folder, name, path);
    Ok(())
}

/// A path, quoted for a shell.
fn in_a_shell(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "-_./+,@".contains(character);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(unix)]
mod unix {
    use std::path::Path;

    use cap_std::fs::{Metadata, MetadataExt as _};
    use nix::unistd::{Gid, Group, Uid, User};

    use super::Distrust;

    const GROUP_WRITES: u32 = 0o020;
    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    const ROOT: u32 = 0;

    /// The part of a file's metadata that says who may write to it.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Standing {
        pub(super) owner: u32,
        pub(super) group: u32,
        pub(super) mode: u32,
        pub(super) is_folder: bool,
    }

    impl Standing {
        pub(super) fn of(metadata: &Metadata) -> Self {
            Self {
                owner: metadata.uid(),
                group: metadata.gid(),
                mode: metadata.mode() & 0o7777,
                is_folder: metadata.is_dir(),
            }
        }
    }

    /// What the system knows about users, and about rights that a mode does not show.
    pub(super) trait Knows {
        fn user(&self) -> u32;
        /// Whether a group has only one user: many systems create one for each user, and let it
        /// write to whatever the user creates.
        fn is_of_one(&self, group: u32, user: u32) -> bool;
        /// Whether there is an access list in addition to the group's rights.
        fn has_list(&self, path: &Path) -> bool;
    }

    pub(super) fn judge(standing: &Standing, path: &Path, system: &impl Knows) -> Result<(), Distrust> {
        let Standing { owner, group, mode, is_folder } = *standing;
        let user = system.user();
        if owner != user && owner != ROOT {
            return Err(Distrust::Foreign { path: path.to_owned(), owner, user });
        }
        // Those who may add to such a folder still cannot replace what belongs to others.
        if is_folder && mode & STICKY != 0 {
            return Ok(());
        }
        let is_of_one = |user| system.is_of_one(group, user);
        let group_writes =
            mode & GROUP_WRITES != 0 && (!(is_of_one(owner) || is_of_one(user)) || system.has_list(path));
        match (group_writes, mode & OTHERS_WRITE != 0) {
            (false, false) => Ok(()),
            (false, true) => Err(Distrust::Writable { path: path.to_owned(), mode, fix: "o-w" }),
            (true, _) => Err(Distrust::Writable { path: path.to_owned(), mode, fix: "go-w" }),
        }
    }

    pub(super) struct System;

    impl Knows for System {
        fn user(&self) -> u32 {
            rustix::process::geteuid().as_raw()
        }

        fn is_of_one(&self, group: u32, user: u32) -> bool {
            if group != user {
                return false;
            }
            // If the group or the user cannot be looked up, it is not known to be harmless.
            let (Ok(Some(group)), Ok(Some(user))) =
                (Group::from_gid(Gid::from_raw(group)), User::from_uid(Uid::from_raw(user)))
            else {
                return false;
            };
            group.name == user.name && user.gid == group.gid && group.mem.iter().all(|member| *member == user.name)
        }

        #[cfg(target_os = "linux")]
        fn has_list(&self, path: &Path) -> bool {
            use rustix::io::Errno;
            // A list is longer than a byte, so an existing one does not fit.
            let list = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0_u8; 1][..]);
            !matches!(list, Err(Errno::NODATA | Errno::NOTSUP))
        }

        #[cfg(not(target_os = "linux"))]
        fn has_list(&self, _path: &Path) -> bool {
            false
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// User 1000 and root have groups of their own, and `/listed` has an access list.
        struct Example;

        impl Knows for Example {
            fn user(&self) -> u32 {
                1000
            }

            fn is_of_one(&self, group: u32, user: u32) -> bool {
                group == user && [0, 1000].contains(&group)
            }

            fn has_list(&self, path: &Path) -> bool {
                path == Path::new("/listed")
            }
        }

        fn judged(path: &str, is_folder: bool, owner: u32, group: u32, mode: u32) -> String {
            let standing = Standing { owner, group, mode, is_folder };
            match judge(&standing, Path::new(path), &Example) {
                Ok(()) => "fine".to_owned(),
                Err(Distrust::Writable { fix, .. }) => fix.to_owned(),
                Err(Distrust::Foreign { owner, .. }) => format!("user {owner}"),
                Err(other) => other.to_string(),
            }
        }

        #[test]
        fn what_another_user_may_write_is_not_believed() {
            for (path, is_folder, owner, group, mode, judgement) in [
                ("/x", false, 1000, 1000, 0o600, "fine"),
                ("/x", false, 1000, 100, 0o644, "fine"),
                ("/x", false, 0, 0, 0o644, "fine"),
                // A group of one user, as most systems create for each user.
                ("/x", false, 1000, 1000, 0o664, "fine"),
                ("/x", false, 0, 0, 0o664, "fine"),
                ("/x", false, 0, 1000, 0o664, "fine"),
                ("/x", true, 1000, 1000, 0o775, "fine"),
                // Others.
                ("/x", false, 1000, 1000, 0o666, "o-w"),
                ("/x", false, 1000, 1000, 0o602, "o-w"),
                ("/x", false, 1000, 100, 0o664, "go-w"),
                ("/x", false, 1000, 100, 0o666, "go-w"),
                ("/x", false, 0, 100, 0o664, "go-w"),
                ("/listed", false, 1000, 1000, 0o660, "go-w"),
                ("/x", false, 1001, 1001, 0o600, "user 1001"),
                ("/x", false, 1001, 1000, 0o444, "user 1001"),
                // Folders, with and without the sticky bit.
                ("/x", true, 1000, 1000, 0o777, "o-w"),
                ("/x", true, 0, 0, 0o1777, "fine"),
                ("/x", true, 1000, 100, 0o1775, "fine"),
                ("/x", true, 1001, 1001, 0o1777, "user 1001"),
                // The sticky bit of a file means nothing.
                ("/x", false, 1000, 1000, 0o1666, "o-w"),
            ] {
                assert_eq!(
                    judged(path, is_folder, owner, group, mode),
                    judgement,
                    "{path} {is_folder} {owner}:{group} {mode:o}"
                );
            }
        }

        #[test]
        fn the_complaint_has_the_command_that_fixes_it() {
            let standing = Standing { owner: 1000, group: 100, mode: 0o664, is_folder: false };
            let distrust = judge(&standing, Path::new("/home/ada/my config.toml"), &Example).expect_err("it is wide");
            assert_eq!(
                distrust.to_string(),
                "other users may write to /home/ada/my config.toml (mode 0664), and could have it start programs as you: \
                 chmod go-w '/home/ada/my config.toml'"
            );
        }

        #[test]
        fn a_group_of_one_is_one_that_the_system_knows_as_such() {
            assert!(System.is_of_one(0, 0), "root has a group of its own");
            // No user has such a high number.
            assert!(!System.is_of_one(4_000_000_000, 4_000_000_000));
            assert!(!System.is_of_one(0, 4_000_000_000));
        }
    }
}
