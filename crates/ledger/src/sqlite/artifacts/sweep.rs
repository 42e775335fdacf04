//! Removes artifacts: what is too old, what is gone, and what is to leave nothing in the file.

use std::time::{Duration, SystemTime};

use belljar_model::ArtifactSettings;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params, params_from_iter, types::Value};

use super::{
    index::unmake,
    tables::{IS_THERE, State, ids, index_names, step},
};
use crate::query::{Purge, milliseconds};

/// Pieces that are removed in one transaction.
const PIECES: i64 = 16;
/// Passages that are removed in one transaction.
const PASSAGES: i64 = 64;
/// Unused pages that stay in the file for what comes: 4 MiB.
const UNUSED: i64 = 1024;
/// Pages that are returned to the system at a time.
const SHRUNK: i64 = 256;
/// How long something may be coming: afterwards its process is gone.
const COMING: Duration = Duration::from_secs(3600);

/// From now on, what was not used for too long is not there.
pub(in crate::sqlite) fn expire(connection: &Connection, settings: &ArtifactSettings) -> rusqlite::Result<()> {
    let now = SystemTime::now();
    let age = Duration::from_secs(u64::from(settings.days) * 24 * 3600);
    let (oldest, begun) =
        (now.checked_sub(age).map_or(0, milliseconds), now.checked_sub(COMING).map_or(0, milliseconds));
    let expired = format!("UPDATE artifacts SET state = ?2, name = NULL WHERE {IS_THERE} AND used_ms < ?1");
    connection.prepare_cached(&expired)?.execute(params![oldest, State::Gone.number()])?;
    connection
        .prepare_cached("UPDATE artifacts SET state = ?2 WHERE state = ?3 AND at_ms < ?1")?
        .execute(params![begun, State::Gone.number(), State::Coming.number()])
        .map(drop)
}

/// Removes artifacts on request, with all that is in the file of them. The caller sees that what is
/// removed is overwritten. Returns whether there was anything.
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
    while let Some(holder) = sweep(connection)? {
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

/// An index of words keeps those of removed rows until its parts are merged.
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

/// Removes some of what is gone. Returns whose it was, or `None` if nothing is left to remove.
pub(super) fn sweep(connection: &mut Connection) -> rusqlite::Result<Option<i64>> {
    let next = connection
        .prepare_cached("SELECT number, holder FROM artifacts WHERE state = ?1 ORDER BY number LIMIT 1")?
        .query_row(params![State::Gone.number()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, holder)) = next else { return Ok(None) };
    step(connection, |transaction| some(transaction, number, holder))?;
    Ok(Some(holder))
}

/// Returns some unused pages to the system, and whether there are more than are worth keeping.
pub(super) fn shrink(connection: &Connection) -> rusqlite::Result<bool> {
    let unused =
        |connection: &Connection| connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let before = unused(connection)?;
    if before <= UNUSED {
        return Ok(false);
    }
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({SHRUNK})"))?;
    let mut freed = vacuum.query([])?;
    while freed.next()?.is_some() {}
    // Another process may hold the file: then the next that tidies up does it.
    Ok(unused(connection)? < before)
}

fn some(transaction: &Transaction<'_>, number: i64, holder: i64) -> rusqlite::Result<()> {
    let all = ids(number);
    let pieces = transaction
        .prepare_cached(
            "DELETE FROM artifact_pieces WHERE id IN (SELECT id FROM artifact_pieces WHERE id >= ?1 AND id < ?2 LIMIT ?3)",
        )?
        .execute(params![all.start, all.end, PIECES])?;
    if pieces > 0 {
        return Ok(());
    }
    let is_indexed = transaction
        .prepare_cached("SELECT is_indexed FROM artifact_holders WHERE id = ?1")?
        .query_row(params![holder], |row| row.get(0))
        .optional()?;
    let mut is_indexed = is_indexed == Some(1_i64);
    if is_indexed {
        // Without any artifact that is there, the whole index goes.
        let others = transaction
            .prepare_cached("SELECT 1 FROM artifacts WHERE holder = ?1 AND state <> ?2")?
            .exists(params![holder, State::Gone.number()])?;
        if !others {
            unmake(transaction, holder)?;
            is_indexed = false;
        }
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
    Ok(())
}
