//! How long runs are kept, and what happens to those whose process is gone.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use belljar_model::LedgerKeep;
use rusqlite::{Connection, TransactionBehavior, named_params, params};

use super::{
    artifacts, kept,
    live::{Living, Presence},
    questions, resting,
};
use crate::query::{Purge, milliseconds};

/// Runs that are forgotten at a time. The file is locked meanwhile, but other processes need to
/// write too.
const AT_ONCE: u32 = 1000;
/// The size of the file after tidying, in percent of its limit, so that not every run has to tidy
/// up.
const LEFT: u64 = 90;
/// How many times unused pages are returned to the system while nothing else is written: 16 MiB in
/// all, with one transaction for each MiB.
const RETURNED: usize = 16;

/// Forgets runs that are too old or too many, and returns how many. Marks runs whose process is
/// gone as interrupted.
pub(super) fn tidy(
    connection: &mut Connection,
    path: &Path,
    presence: &Presence,
    keep: &LedgerKeep,
) -> rusqlite::Result<u64> {
    interrupted(connection, path, presence)?;
    questions::withdraw(connection, path, presence)?;
    let age = Duration::from_secs(u64::from(keep.days) * 24 * 3600);
    let oldest = SystemTime::now().checked_sub(age).map_or(0, milliseconds);
    questions::forget(connection, oldest)?;
    let mut forgotten = forget_all(connection, oldest)?;
    if used(connection)? > keep.bytes.as_u64() {
        let enough = keep.bytes.as_u64() / 100 * LEFT;
        while used(connection)? > enough {
            match forget_for_size(connection)? {
                // The remaining runs wait: the file stays larger until they end or expire.
                0 => break,
                some => forgotten += some as u64,
            }
        }
    }
    // Some unused pages are returned to the system now; the others follow between the entries of
    // runs.
    for _ in 0..RETURNED {
        if artifacts::return_pages(connection)? == 0 {
            break;
        }
    }
    Ok(forgotten)
}

fn vacuum(connection: &Connection) -> rusqlite::Result<()> {
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = vacuum.query([])?;
    while freed.next()?.is_some() {}
    Ok(())
}

/// Forgets runs on request, leaving nothing of them in the file. Returns how many there were.
pub(super) fn purge(connection: &mut Connection, what: &Purge) -> rusqlite::Result<u64> {
    connection.pragma_update(None, "secure_delete", true)?;
    let forgotten = match what {
        Purge::Kept => 0,
        Purge::Runs(runs) => {
            let runs: Vec<i64> = runs.iter().map(|run| run.bits().cast_signed()).collect();
            forget_these(connection, &runs)? as u64
        }
        Purge::Before(at) => {
            questions::forget(connection, milliseconds(*at))?;
            forget_all(connection, milliseconds(*at))?
        }
        Purge::All => {
            questions::forget(connection, i64::MAX)?;
            forget_all(connection, i64::MAX)?
        }
    };
    let some = artifacts::purge(connection, what)?;
    vacuum(connection)?;
    connection.pragma_update(None, "secure_delete", false)?;
    // Their data stays in the log beside the file until that is restarted.
    let mut is_empty = begin_the_log_anew(connection)?;
    if forgotten > 0 || some {
        // SQLite moves rows between pages, and the remains are only overwritten when the whole file
        // is rewritten.
        match rewrite(connection) {
            Ok(whole) => is_empty = whole,
            Err(error) => tracing::warn!(
                "parts of what was forgotten may remain in the ledger's file, which could not be rewritten: {error}"
            ),
        }
    }
    if !is_empty {
        tracing::warn!(
            "what was forgotten may stay in the log beside the ledger's file (ledger.db-wal), where another process reads, until that is emptied"
        );
    }
    Ok(forgotten)
}

/// Rewrites the whole file. Returns whether the log beside it is empty afterwards.
fn rewrite(connection: &Connection) -> rusqlite::Result<bool> {
    let before = artifacts::used_pages(connection)?;
    connection.execute_batch("VACUUM")?;
    artifacts::rewritten(connection, before)?;
    begin_the_log_anew(connection)
}

/// Empties the log beside the file. Returns whether it is empty: it is not if another process reads
/// it for longer than we wait.
pub(super) fn begin_the_log_anew(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

fn forget_all(connection: &mut Connection, before_ms: i64) -> rusqlite::Result<u64> {
    let mut forgotten = 0;
    loop {
        match forget(connection, before_ms)? {
            0 => return Ok(forgotten),
            some => forgotten += some as u64,
        }
    }
}

/// Forgets some of the oldest runs that began before a time. Returns how many there were.
fn forget(connection: &mut Connection, before_ms: i64) -> rusqlite::Result<usize> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM runs WHERE started_ms < ?1 ORDER BY started_ms LIMIT ?2")?;
    let runs = statement.query_map(params![before_ms, AT_ONCE], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    drop(statement);
    forget_these(connection, &runs)
}

/// Forgets some of the oldest runs, but none whose questions the owner can still decide: otherwise
/// a busy principal could end the runs of others. Returns how many there were.
fn forget_for_size(connection: &mut Connection) -> rusqlite::Result<usize> {
    let is_held = resting::IS_HELD;
    let mut statement = connection
        .prepare_cached(&format!("SELECT id FROM runs WHERE NOT {is_held} ORDER BY started_ms LIMIT :at_once"))?;
    let now = milliseconds(SystemTime::now());
    let found = statement.query_map(named_params! { ":now": now, ":at_once": AT_ONCE }, |row| row.get(0))?;
    let runs = found.collect::<Result<Vec<i64>, _>>()?;
    drop(statement);
    forget_these(connection, &runs)
}

/// Forgets these runs, and returns how many of them existed.
fn forget_these(connection: &mut Connection, runs: &[i64]) -> rusqlite::Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut forgotten = 0;
    for run in runs {
        let called = "DELETE FROM called WHERE run = ?1 AND started_ms = (SELECT started_ms FROM runs WHERE id = ?1)
             AND tool IN (SELECT tool FROM calls WHERE run = ?1)";
        transaction.prepare_cached(called)?.execute(params![run])?;
        transaction.prepare_cached("DELETE FROM calls WHERE run = ?1")?.execute(params![run])?;
        transaction.prepare_cached("DELETE FROM recordings WHERE run = ?1")?.execute(params![run])?;
        resting::end(&transaction, *run)?;
        questions::end(&transaction, *run)?;
        // An open question is deleted with its run; without the question, its call is not sent.
        transaction.prepare_cached("DELETE FROM questions WHERE run = ?1")?.execute(params![run])?;
        forgotten += transaction.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute(params![run])?;
    }
    transaction.commit()?;
    Ok(forgotten)
}

/// Bytes of the file that are in use, except for kept values and artifacts, which have their own
/// bounds.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    let pages = pages.saturating_sub(artifacts::pages(connection)?);
    let all = pages.saturating_mul(number("page_size")?).max(0).cast_unsigned();
    Ok(all.saturating_sub(kept::bytes(connection)?))
}

fn interrupted(connection: &Connection, path: &Path, presence: &Presence) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT DISTINCT process FROM runs WHERE state = 0")?;
    let open = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut living = Living::beside(path);
    for process in open.into_iter().filter(|process| *process != presence.token()) {
        if !living.has(process) {
            // A suspended run keeps waiting if nothing has been sent since.
            let can_go_on = resting::can_go_on();
            let sql = format!(
                "UPDATE runs AS r SET state = CASE WHEN {can_go_on} THEN 4 ELSE 3 END WHERE state = 0 AND process = ?1"
            );
            connection.prepare_cached(&sql)?.execute(params![process])?;
            presence.forget(process);
        }
    }
    Ok(())
}
