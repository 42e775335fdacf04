//! How long runs are kept, and what is done with those whose process is gone.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use belljar_model::LedgerKeep;
use rusqlite::{Connection, TransactionBehavior, params};

use super::live::{Living, Presence};
use crate::query::milliseconds;

/// Runs that are forgotten at a time. The file is locked meanwhile, and other processes write too.
const AT_ONCE: u32 = 1000;
/// Of the bytes that it may have, how many hundredths the file has after some were too much: not each run is to forget another.
const LEFT: u64 = 90;

/// Forgets what is too old or too much, and says of runs whose process is gone that they were interrupted.
pub(super) fn tidy(
    connection: &mut Connection,
    path: &Path,
    presence: &Presence,
    keep: &LedgerKeep,
) -> rusqlite::Result<()> {
    interrupted(connection, path, presence)?;
    let age = Duration::from_secs(u64::from(keep.days) * 24 * 3600);
    let oldest = SystemTime::now().checked_sub(age).map_or(0, milliseconds);
    while forget(connection, oldest)? > 0 {}
    if used(connection)? > keep.bytes.as_u64() {
        let enough = keep.bytes.as_u64() / 100 * LEFT;
        while used(connection)? > enough && forget(connection, i64::MAX)? > 0 {}
    }
    // Pages that nothing is on go back to the system.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = vacuum.query([])?;
    while freed.next()?.is_some() {}
    Ok(())
}

/// Forgets the oldest runs that began before a time, some at once. How many they were.
pub(super) fn forget(connection: &mut Connection, before_ms: i64) -> rusqlite::Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut statement =
        transaction.prepare_cached("SELECT id FROM runs WHERE started_ms < ?1 ORDER BY started_ms LIMIT ?2")?;
    let runs = statement.query_map(params![before_ms, AT_ONCE], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    drop(statement);
    for run in &runs {
        for statement in [
            "DELETE FROM calls WHERE run = ?1",
            "DELETE FROM recordings WHERE run = ?1",
            "DELETE FROM runs WHERE id = ?1",
        ] {
            transaction.prepare_cached(statement)?.execute(params![run])?;
        }
    }
    transaction.commit()?;
    Ok(runs.len())
}

/// Bytes of the file that something is on.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(pages.saturating_mul(number("page_size")?).max(0).cast_unsigned())
}

fn interrupted(connection: &Connection, path: &Path, presence: &Presence) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT DISTINCT process FROM runs WHERE state = 0")?;
    let open = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut living = Living::beside(path);
    for process in open.into_iter().filter(|process| *process != presence.token()) {
        if !living.has(process) {
            let mut statement =
                connection.prepare_cached("UPDATE runs SET state = 3 WHERE state = 0 AND process = ?1")?;
            statement.execute(params![process])?;
            presence.forget(process);
        }
    }
    Ok(())
}
