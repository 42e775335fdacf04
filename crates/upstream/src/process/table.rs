//! The processes of the system, as far as it shows them: Linux does, and elsewhere the table is
//! empty.

use std::{fs, io};

use nix::unistd::Pid;

/// A process, at the moment when the table was read.
pub(crate) struct Entry {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) session: Pid,
    /// When it was started, in ticks of the system's clock.
    pub(crate) started: u64,
    /// It has ended, and its parent has not waited for it yet.
    pub(crate) is_dead: bool,
}

/// All processes.
pub(crate) struct Table(Vec<Entry>);

impl Table {
    /// Reads the table. It takes some 10 µs for each process of the system, and blocks its thread.
    pub(crate) fn read() -> Self {
        let Ok(entries) = fs::read_dir("/proc") else { return Self(Vec::new()) };
        let pid = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok().map(Pid::from_raw);
        // One that ends meanwhile is not there.
        Self(entries.filter_map(pid).filter_map(Self::entry).collect())
    }

    /// The children of `parent`.
    pub(crate) fn children(&self, parent: Pid) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter(move |entry| entry.parent == parent)
    }

    /// Everything below `top` that is not dead.
    pub(crate) fn living_below(&self, top: Pid) -> Vec<Pid> {
        let mut found = vec![top];
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            found.extend(self.children(parent).filter(|child| !child.is_dead).map(|child| child.pid));
            next += 1;
        }
        found.remove(0);
        found
    }

    /// One process, read by itself.
    pub(crate) fn entry(pid: Pid) -> Option<Entry> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything, so the rest follows the last closing one.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let mut number = || fields.next()?.parse().ok().map(Pid::from_raw);
        let (parent, _group, session) = (number()?, number()?, number()?);
        // Fields are numbered from one, and the state is the third.
        const STARTED: usize = 22 - 7;
        let started = fields.nth(STARTED)?.parse().ok()?;
        Some(Entry { pid, parent, session, started, is_dead })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_found_below_its_parent_until_it_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let (own, pid) = (Pid::this(), Pid::from_raw(i32::try_from(child.id()).unwrap()));
        assert!(Table::read().living_below(own).contains(&pid));
        let (parent, entry) = (Table::entry(own).unwrap(), Table::entry(pid).unwrap());
        assert_eq!((entry.parent, entry.session), (own, parent.session));
        assert!(entry.started >= parent.started && !entry.is_dead);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!Table::read().living_below(own).contains(&pid));
    }
}
