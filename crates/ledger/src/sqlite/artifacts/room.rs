//! Bounds what all principals have together, since there may be any number of them.

use belljar_model::ArtifactSettings;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    sweep::sweep,
    tables::{IS_THERE, OVERHEAD, State, pages, step},
};

/// How much of the file all artifacts may take with their indexes, as a multiple of what the
/// contents of one principal may take. The largest index seen for a text was six times as large as
/// the text, so a single principal never reaches this bound.
const ALL: i64 = 8;
/// Further bytes of the file: for artifacts that are gone but not yet removed, and for the tables
/// themselves.
const BESIDE: i64 = if cfg!(test) { 1024 * 1024 } else { 64 * 1024 * 1024 };
/// The most holders of all principals together. Each has its own tables, which everyone who opens
/// the file must read.
const HOLDERS: i64 = if cfg!(test) { 60 } else { 512 };
/// Artifacts that are evicted in one transaction.
const EVICTED: i64 = 64;

/// What exceeds its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excess {
    Bytes,
    Holders,
}

/// Whether there is more than all principals may have together.
pub(super) fn is_over(connection: &Connection, settings: &ArtifactSettings) -> rusqlite::Result<bool> {
    Ok(excess(connection, settings)?.is_some())
}

/// Removes some artifacts that are gone, or evicts some that are too much. Returns how much that
/// freed; `None` if there is nothing to remove.
pub(super) fn reclaim(connection: &mut Connection, settings: &ArtifactSettings) -> rusqlite::Result<Option<i64>> {
    if let Some(swept) = sweep(connection)? {
        return Ok(Some(swept.freed));
    }
    match excess(connection, settings)? {
        Some(excess) if evict(connection, excess)? => Ok(Some(0)),
        _ => Ok(None),
    }
}

fn excess(connection: &Connection, settings: &ArtifactSettings) -> rusqlite::Result<Option<Excess>> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let limit = i64::try_from(settings.max_bytes.as_u64()).unwrap_or(i64::MAX).saturating_mul(ALL);
    if pages(connection)?.saturating_mul(page) > limit.saturating_add(BESIDE) {
        return Ok(Some(Excess::Bytes));
    }
    let holders: i64 =
        connection.prepare_cached("SELECT count(*) FROM artifact_holders")?.query_row([], |row| row.get(0))?;
    Ok((holders > HOLDERS).then_some(Excess::Holders))
}

/// Evicts some artifacts: the least recently used ones of the principal that has most. Returns
/// whether there were any.
fn evict(connection: &mut Connection, excess: Excess) -> rusqlite::Result<bool> {
    let gone = State::Gone.number();
    match excess {
        Excess::Bytes => {
            let fullest = format!(
                "SELECT h.is_owner, h.principal FROM artifacts a JOIN artifact_holders h ON h.id = a.holder
                 WHERE {IS_THERE} GROUP BY 1, 2 ORDER BY total(a.bytes) + {OVERHEAD} * count(*) DESC LIMIT 1"
            );
            let fullest: Option<(i64, String)> =
                connection.prepare(&fullest)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((is_owner, principal)) = fullest else { return Ok(false) };
            // One large artifact is enough for now; of small ones, several are evicted.
            let oldest = format!(
                "SELECT number, bytes FROM artifacts WHERE {IS_THERE}
                 AND holder IN (SELECT id FROM artifact_holders WHERE is_owner = ?1 AND principal = ?2)
                 ORDER BY used_ms, number LIMIT {EVICTED}"
            );
            step(connection, |transaction| {
                let mut oldest = transaction.prepare(&oldest)?;
                let mut oldest = oldest.query(params![is_owner, principal])?;
                let (mut bytes, mut found) = (0_i64, Vec::new());
                while let Some(row) = oldest.next()? {
                    found.push(row.get::<_, i64>(0)?);
                    bytes = bytes.saturating_add(row.get::<_, i64>(1)?.max(0)).saturating_add(OVERHEAD);
                    if bytes >= EVICTED * OVERHEAD {
                        break;
                    }
                }
                for number in &found {
                    super::store::gone(transaction, *number)?;
                }
                Ok(!found.is_empty())
            })
        }
        Excess::Holders => {
            let oldest = format!(
                "SELECT h.id FROM artifact_holders h JOIN artifacts a ON a.holder = h.id WHERE {IS_THERE}
                 GROUP BY h.id ORDER BY (SELECT count(*) FROM artifact_holders o
                     WHERE o.is_owner = h.is_owner AND o.principal = h.principal) DESC, max(a.used_ms), h.id LIMIT 1"
            );
            let oldest: Option<i64> = connection.prepare(&oldest)?.query_row([], |row| row.get(0)).optional()?;
            let Some(holder) = oldest else { return Ok(false) };
            let all = format!("UPDATE artifacts SET state = ?2, name = NULL WHERE holder = ?1 AND {IS_THERE}");
            step(connection, |transaction| Ok(transaction.execute(&all, params![holder, gone])? > 0))
        }
    }
}
