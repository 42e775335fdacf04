//! Removes artifacts: those that are too old, those that are gone, and those that must leave no
//! trace in the file.

use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension as _, Transaction, params, params_from_iter, types::Value};

use super::{
    index::unmake,
    tables::{IN_STATE, IS_THERE, OVERHEAD, State, ids, index_names, step},
};
use crate::query::{Purge, milliseconds};

/// Pieces that are removed in one transaction.
const PIECES: i64 = 16;
/// Passages that are removed in one transaction.
const PASSAGES: i64 = 64;
/// The most unused pages that stay in the file for later use: 4 MiB.
const UNUSED: i64 = 1024;
/// Pages that are returned to the system at a time.
const SHRUNK: i64 = 256;
/// How many artifacts, and how many bytes of them, may be gone but still in the file while more is
/// stored.
const UNSWEPT: i64 = 1000;
const UNSWEPT_BYTES: f64 = if cfg!(test) { 1024.0 * 1024.0 } else { 64.0 * 1024.0 * 1024.0 };
const DAY_MS: i64 = 24 * 3600 * 1000;
/// How long an artifact may take to be stored. After that, its process is taken to be dead.
const COMING: Duration = Duration::from_secs(3600);

/// Marks artifacts as gone that have not been used for too long, as defined for each by the
/// configuration that stored it.
pub(in crate::sqlite) fn expire(connection: &Connection) -> rusqlite::Result<()> {
    let now = SystemTime::now();
    let begun = now.checked_sub(COMING).map_or(0, milliseconds);
    let expired =
        format!("UPDATE artifacts SET state = ?2, name = NULL WHERE {IS_THERE} AND used_ms < ?1 - days * {DAY_MS}");
    connection.prepare_cached(&expired)?.execute(params![milliseconds(now), State::Gone.number()])?;
    connection
        .prepare_cached(&format!("UPDATE artifacts SET state = ?2 WHERE {IN_STATE} AND at_ms < ?3"))?
        .execute(params![State::Coming.number(), State::Gone.number(), begun])
        .map(drop)
}

/// Removes artifacts on request, with everything that the file has of them. The caller makes sure
/// that the removed data is overwritten. Returns whether there was anything to remove.
pub(in crate::sqlite) fn purge(connection: &mut Connection, what: &Purge) -> rusqlite::Result<bool> {
    let gone = State::Gone.number();
    match what {
        Purge::Kept => {}
        Purge::Runs(runs) => {
            for some in runs.chunks(500) {
                let marks = vec!["?"; some.len()].join(",");
                let runs = some.iter().map(|run| Value::Integer(run.bits().cast_signed()));
                connection.execute(
                    &format!("UPDATE artifacts SET state = {gone}, name = NULL WHERE run IN ({marks}) AND {IS_THERE}"),
                    params_from_iter(runs),
                )?;
            }
        }
        Purge::Before(at) => {
            connection.execute(
                &format!("UPDATE artifacts SET state = ?2, name = NULL WHERE at_ms < ?1 AND {IS_THERE}"),
                params![milliseconds(*at), gone],
            )?;
        }
        Purge::All => {
            connection
                .execute(&format!("UPDATE artifacts SET state = ?1, name = NULL WHERE {IS_THERE}"), params![gone])?;
        }
    }
    let mut holders = Vec::new();
    while let Some(Swept { holder, .. }) = sweep(connection)? {
        if holders.last() != Some(&holder) {
            holders.push(holder);
        }
    }
    holders.sort_unstable();
    holders.dedup();
    for holder in &holders {
        optimise(connection, *holder)?;
    }
    Ok(!holders.is_empty())
}

/// Optimises a holder's index of words, which keeps the words of removed rows until its parts are
/// merged.
fn optimise(connection: &mut Connection, holder: i64) -> rusqlite::Result<()> {
    step(connection, |transaction| {
        let is_indexed = transaction
            .prepare_cached("SELECT 1 FROM artifact_holders WHERE id = ?1 AND is_indexed = 1")?
            .exists(params![holder])?;
        if is_indexed {
            let (words, parts) = index_names(holder);
            for index in [words, parts] {
                transaction.execute_batch(&format!("INSERT INTO {index}({index}) VALUES ('optimize')"))?;
            }
        }
        Ok(())
    })
}

/// What a step removed.
pub(super) struct Swept {
    holder: i64,
    /// The size that was counted for the artifact, if nothing of it is left.
    pub(super) freed: i64,
}

/// Whether so many artifacts are gone but still in the file that they must be removed before more
/// is stored.
pub(super) fn is_overdue(connection: &Connection) -> rusqlite::Result<bool> {
    let gone =
        format!("SELECT count(*), total(bytes) FROM (SELECT bytes FROM artifacts WHERE {IN_STATE} LIMIT {UNSWEPT})");
    let (count, bytes): (i64, f64) = connection
        .prepare_cached(&gone)?
        .query_row(params![State::Gone.number()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(count >= UNSWEPT || bytes > UNSWEPT_BYTES)
}

/// Removes some of the artifacts that are gone. Returns what was removed, or `None` if nothing is
/// left to remove.
pub(super) fn sweep(connection: &mut Connection) -> rusqlite::Result<Option<Swept>> {
    let next = connection
        .prepare_cached(&format!(
            "SELECT number, holder, bytes FROM artifacts WHERE {IN_STATE} ORDER BY number LIMIT 1"
        ))?
        .query_row(params![State::Gone.number()], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?)))
        .optional()?;
    let Some((number, holder, bytes)) = next else { return Ok(None) };
    let is_removed = step(connection, |transaction| some(transaction, number, holder))?;
    let freed = if is_removed { bytes.max(0).saturating_add(OVERHEAD) } else { 0 };
    Ok(Some(Swept { holder, freed }))
}

/// Returns some unused pages to the system. Returns how many are left.
pub(in crate::sqlite) fn return_pages(connection: &Connection) -> rusqlite::Result<i64> {
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({SHRUNK})"))?;
    let mut freed = vacuum.query([])?;
    while freed.next()?.is_some() {}
    unused(connection)
}

fn unused(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "freelist_count", |row| row.get(0))
}

/// Returns some unused pages to the system. Returns whether there are more than are worth keeping.
pub(super) fn shrink(connection: &Connection) -> rusqlite::Result<bool> {
    let before = unused(connection)?;
    if before <= UNUSED {
        return Ok(false);
    }
    // Another process may be using the file: then the next process that tidies up does it.
    Ok(return_pages(connection)? < before)
}

/// Removes some of an artifact. Returns whether that was the last of it.
fn some(transaction: &Transaction<'_>, number: i64, holder: i64) -> rusqlite::Result<bool> {
    let all = ids(number);
    let pieces = transaction
        .prepare_cached(
            "DELETE FROM artifact_pieces WHERE id IN (SELECT id FROM artifact_pieces WHERE id >= ?1 AND id < ?2 LIMIT ?3)",
        )?
        .execute(params![all.start, all.end, PIECES])?;
    if pieces > 0 {
        return Ok(false);
    }
    let index: Option<i64> = transaction
        .prepare_cached("SELECT is_indexed FROM artifact_holders WHERE id = ?1")?
        .query_row(params![holder], |row| row.get(0))
        .optional()?;
    let mut is_indexed = index == Some(1);
    // If no artifact exists any more, the whole index is removed.
    let goes = index == Some(2)
        || is_indexed
            && !transaction
                .prepare_cached("SELECT 1 FROM artifacts WHERE holder = ?1 AND state <> ?2")?
                .exists(params![holder, State::Gone.number()])?;
    if goes {
        if !unmake(transaction, holder)? {
            return Ok(false);
        }
        is_indexed = false;
    }
    let passages = transaction
        .prepare_cached("SELECT id, part FROM artifact_passages WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3")?
        .query_map(params![all.start, all.end, PASSAGES], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(i64, i64)>, _>>()?;
    let (words, parts) = index_names(holder);
    for (id, part) in &passages {
        if is_indexed {
            transaction.prepare_cached(&format!("DELETE FROM {words} WHERE rowid = ?1"))?.execute(params![id])?;
            if id == part {
                transaction.prepare_cached(&format!("DELETE FROM {parts} WHERE rowid = ?1"))?.execute(params![id])?;
            }
        }
        transaction.prepare_cached("DELETE FROM artifact_passages WHERE id = ?1")?.execute(params![id])?;
    }
    if passages.is_empty() {
        transaction.prepare_cached("DELETE FROM artifacts WHERE number = ?1")?.execute(params![number])?;
        transaction
            .prepare_cached(
                "DELETE FROM artifact_holders WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM artifacts WHERE holder = ?1)",
            )?
            .execute(params![holder])?;
    }
    Ok(passages.is_empty())
}
