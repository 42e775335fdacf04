//! Points between two steps of a write where a test can stop this process to kill it. Outside of
//! tests they do nothing.

/// A point between two steps.
pub(super) fn pass() {
    #[cfg(test)]
    testing::pass();
}

/// Limits the file's size, to simulate a full disk in tests.
pub(super) fn bound(_connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    #[cfg(test)]
    testing::bound(_connection)?;
    Ok(())
}

#[cfg(test)]
pub(super) use testing::{STOPPED, bound_pages, stop_at};

/// The tests' interventions in a writer.
#[cfg(test)]
mod testing {
    use std::{
        path::{Path, PathBuf},
        sync::atomic::{AtomicU64, Ordering::SeqCst},
        thread,
    };

    use parking_lot::Mutex;

    /// The message at the point.
    pub(in super::super) const STOPPED: &str = "stopped at the point";

    static POINTS: AtomicU64 = AtomicU64::new(0);
    static STOP: AtomicU64 = AtomicU64::new(u64::MAX);
    static FULL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    /// Stops at this point, counted from 0, and waits there to be killed.
    pub(in super::super) fn stop_at(point: u64) {
        STOP.store(point, SeqCst);
    }

    pub(super) fn pass() {
        if POINTS.fetch_add(1, SeqCst) == STOP.load(SeqCst) {
            println!("\n{STOPPED}");
            loop {
                thread::park();
            }
        }
    }

    /// Lets this file grow to sixty pages and no further.
    pub(in super::super) fn bound_pages(path: &Path) {
        FULL.lock().push(path.to_owned());
    }

    pub(super) fn bound(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
        let path = connection.path().map(Path::new);
        if path.is_some_and(|path| FULL.lock().iter().any(|full| full == path)) {
            connection.query_row("PRAGMA max_page_count = 60", [], |_| Ok(()))?;
        }
        Ok(())
    }
}
