//! A memory cgroup for a worker, if the system lets this process create one.
//!
//! Limits of a process (`RLIMIT_DATA`) count what it maps; a cgroup counts what it uses. Creating
//! one needs no privileges if a part of the tree was delegated: a systemd unit with
//! `Delegate=memory` and `DelegateSubgroup=`, or a user's own session. Groups that belong to others
//! are left alone.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The prefix of our groups, followed by the worker's pid.
const PREFIX: &str = "belljar-worker-";

/// A memory cgroup with one worker in it. It is removed when this is dropped, if the worker has
/// ended by then; else when the next one is created.
#[derive(Debug)]
pub struct MemoryGroup {
    folder: PathBuf,
}

/// Why there is no memory cgroup.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoMemoryGroup {
    /// The system has no cgroups of version 2, or shows none to this process.
    #[error("this process has no cgroup v2: {0}")]
    NoTree(io::Error),
    /// The memory controller was not delegated.
    #[error("the memory controller is not delegated to {}", .0.display())]
    NoController(PathBuf),
    /// The system refuses.
    #[error("the system refuses a cgroup below {}: {source}", .parent.display())]
    Refused {
        /// Where it was to be.
        parent: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl MemoryGroup {
    /// Puts a process into its own memory cgroup, in which it can use at most `max` bytes and no
    /// swap. If it exceeds that, the system ends it.
    ///
    /// It reads and writes small files of the kernel.
    ///
    /// # Errors
    /// [`NoMemoryGroup`], if the system does not let this process create one.
    pub fn join(worker: u32, max: u64) -> Result<Self, NoMemoryGroup> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(NoMemoryGroup::NoTree)?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).ok_or_else(missing)?;
        // Beside the trees of version 1 it has a folder of its own.
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
        let root = roots.into_iter().find(|root| root.join("cgroup.controllers").exists()).ok_or_else(missing)?;
        Self::join_below(&root.join(own), worker, max)
    }

    /// Below the group of this process, or beside it if that has the same owner.
    fn join_below(own: &Path, worker: u32, max: u64) -> Result<Self, NoMemoryGroup> {
        match Self::make(own, worker, max) {
            Ok(made) => Ok(made),
            // A group with processes in it can have no groups with controllers below it. systemd
            // puts those of a delegated unit into their own group (`DelegateSubgroup=`), so that
            // there is a place for ours beside it.
            Err(reason) => match own.parent().filter(|parent| is_ours(parent)) {
                Some(parent) => Self::make(parent, worker, max),
                None => Err(reason),
            },
        }
    }

    fn make(parent: &Path, worker: u32, max: u64) -> Result<Self, NoMemoryGroup> {
        let refused = |source| NoMemoryGroup::Refused { parent: parent.to_owned(), source };
        let has_memory = |file: &str| -> io::Result<bool> {
            Ok(fs::read_to_string(parent.join(file))?.split_whitespace().any(|controller| controller == "memory"))
        };
        if !has_memory("cgroup.controllers").map_err(NoMemoryGroup::NoTree)? {
            return Err(NoMemoryGroup::NoController(parent.to_owned()));
        }
        if !has_memory("cgroup.subtree_control").map_err(refused)? {
            write(&parent.join("cgroup.subtree_control"), "+memory").map_err(refused)?;
        }
        remove_empty(parent);
        let group = Self { folder: parent.join(format!("{PREFIX}{worker}")) };
        match fs::create_dir(&group.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(refused(error)),
            _ => {}
        }
        group.fill(worker, max).map_err(refused)?;
        Ok(group)
    }

    fn fill(&self, worker: u32, max: u64) -> io::Result<()> {
        write(&self.folder.join("memory.max"), &max.to_string())?;
        match write(&self.folder.join("memory.swap.max"), "0") {
            // A system without swap.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            written => written?,
        }
        write(&self.folder.join("cgroup.procs"), &worker.to_string())
    }

    /// Its place in the tree.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // It stays while the process is still ending.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes groups that earlier workers have left empty. The system refuses it for all others.
fn remove_empty(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether a group was delegated to the user of this process. Groups of root belong to the system,
/// even for root.
fn is_ours(group: &Path) -> bool {
    let user = nix::unistd::Uid::effective();
    !user.is_root() && fs::metadata(group).is_ok_and(|metadata| metadata.uid() == user.as_raw())
}

/// Writes to a file that is there.
fn write(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

fn missing() -> NoMemoryGroup {
    NoMemoryGroup::NoTree(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files that the kernel would show in a group.
    fn group(folder: &Path, controllers: &str, enabled: &str) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("cgroup.controllers"), controllers).expect("a file");
        fs::write(folder.join("cgroup.subtree_control"), enabled).expect("a file");
    }

    /// The kernel fills a new group with its files; here they exist before.
    fn with_files_of_worker(parent: &Path, worker: u32) -> PathBuf {
        let folder = parent.join(format!("{PREFIX}{worker}"));
        fs::create_dir(&folder).expect("a folder");
        for file in ["memory.max", "cgroup.procs"] {
            fs::write(folder.join(file), "").expect("a file");
        }
        folder
    }

    #[test]
    fn a_worker_is_put_into_a_group_of_its_own_with_the_limit_set_before() {
        let tree = tempfile::tempdir().expect("a folder");
        group(tree.path(), "cpu memory pids", "");
        let folder = with_files_of_worker(tree.path(), 77);
        let empty = tree.path().join(format!("{PREFIX}12"));
        fs::create_dir(&empty).expect("a folder");
        let made = MemoryGroup::join_below(tree.path(), 77, 1_000_000).expect("a group");
        assert_eq!(made.folder(), folder);
        let read = |file: &str| fs::read_to_string(folder.join(file)).expect("a file");
        assert_eq!((read("memory.max").as_str(), read("cgroup.procs").as_str()), ("1000000", "77"));
        let enabled = fs::read_to_string(tree.path().join("cgroup.subtree_control")).expect("a file");
        assert_eq!(enabled, "+memory");
        assert!(!empty.exists(), "what an earlier one left is removed");
    }

    #[test]
    fn where_the_memory_controller_is_not_delegated_there_is_no_group() {
        let tree = tempfile::tempdir().expect("a folder");
        group(&tree.path().join("own"), "cpu pids", "cpu");
        group(tree.path(), "cpu pids", "cpu pids");
        let own = tree.path().join("own");
        let reason = MemoryGroup::join_below(&own, 77, 1).expect_err("there is no controller");
        assert!(matches!(reason, NoMemoryGroup::NoController(_)), "{reason}");
        assert!(matches!(
            MemoryGroup::join_below(&own.join("none"), 77, 1),
            Err(NoMemoryGroup::NoTree(_) | NoMemoryGroup::NoController(_))
        ));
        let left: Vec<_> = fs::read_dir(&own).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 2, "nothing is left behind: {left:?}");
    }
}
