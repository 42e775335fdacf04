//! Values that live on between runs: for all processes of a user together.
//!
//! Each writing of a value is a new row with a number that no row had before: a version is that
//! number. What is read and then written is one transaction, so that of two processes that replace
//! the same version one does.

use std::time::{Duration, SystemTime};

use belljar_model::RunId;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::{beside::Beside, keep};
use crate::{
    error::LedgerError,
    holder::Holder,
    keeps::{
        Changed, KeepAuthor, KeepBounds, KeepChange, KeepTotals, KeptEntry, KeptValue, MAX_WORKSPACES, NoRoom,
        Replaces, Swapped,
    },
    query::milliseconds,
};

/// The table: from version 6 to 7 of the file, also for one that is created now. The value comes
/// last, so that the sizes of all can be added up without reading any.
pub(super) const TABLE: &str = "
CREATE TABLE kept(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT NOT NULL,
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    touched_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    labels TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (principal, workspace, name)
) STRICT;
CREATE INDEX kept_by_use ON kept(touched_ms);
";

/// How exactly it is known when a value was last read: a reader that writes each time would make
/// others wait.
const TOUCHING: Duration = Duration::from_secs(60 * 60);

/// Bytes of labels. More is not what belljar has written.
const MAX_LABELS: u64 = 64 * 1024;

/// Of a holder's rows.
const OF_HOLDER: &str = "principal = ?1 AND workspace = ?2";

impl Beside {
    /// A value. Blocks.
    pub(super) fn kept(
        &self,
        holder: &Holder,
        name: &str,
        bounds: &KeepBounds,
    ) -> Result<Option<KeptValue>, LedgerError> {
        self.with(|connection| {
            forget_unused(connection, bounds)?;
            let Some((value, touched)) = find(connection, holder, name, bounds)? else { return Ok(None) };
            let now = SystemTime::now();
            if touched < before(now, TOUCHING) {
                connection
                    .prepare_cached("UPDATE kept SET touched_ms = ?2 WHERE id = ?1")?
                    .execute(params![value.version, milliseconds(now)])?;
            }
            Ok(Some(value))
        })
    }

    /// What there is. Blocks.
    pub(super) fn kept_entries(&self, holder: &Holder, bounds: &KeepBounds) -> Result<Vec<KeptEntry>, LedgerError> {
        self.with(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT name, bytes, labels, changed_ms, touched_ms, run FROM kept
                     WHERE {OF_HOLDER} AND touched_ms >= ?3 AND octet_length(labels) <= ?4 ORDER BY name LIMIT ?5"
                ))?
                .query_map(
                    params![
                        principal(holder),
                        holder.workspace,
                        before(SystemTime::now(), bounds.age),
                        MAX_LABELS.cast_signed(),
                        bounds.max_keys
                    ],
                    |row| {
                        Ok(KeptEntry {
                            name: row.get(0)?,
                            bytes: row.get::<_, i64>(1)?.max(0).cast_unsigned(),
                            labels: labels(row.get(2)?),
                            changed: time(row.get(3)?),
                            touched: time(row.get(4)?),
                            run: RunId::from_bits(row.get::<_, i64>(5)?.cast_unsigned()),
                        })
                    },
                )?
                .collect()
        })
    }

    /// Makes changes. Blocks.
    pub(super) fn change_kept(
        &self,
        author: &KeepAuthor,
        changes: &[KeepChange],
        bounds: &KeepBounds,
    ) -> Result<Vec<Changed>, LedgerError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            forget_unused(&transaction, bounds)?;
            let mut done: Vec<Option<Changed>> = vec![None; changes.len()];
            // What is forgotten makes room for the others, and so does what becomes smaller.
            for pass in [Pass::Forgotten, Pass::Smaller, Pass::Others] {
                for (change, done) in changes.iter().zip(&mut done).filter(|(_, done)| done.is_none()) {
                    *done = made(&transaction, author, change, bounds, pass)?;
                }
            }
            transaction.commit()?;
            Ok(done.into_iter().flatten().collect())
        })
    }

    /// Replaces a value, if it is of this version. Blocks.
    pub(super) fn swap_kept(
        &self,
        author: &KeepAuthor,
        (name, text): (&str, &str),
        version: Option<i64>,
        bounds: &KeepBounds,
    ) -> Result<Swapped, LedgerError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            forget_unused(&transaction, bounds)?;
            let now = find(&transaction, &author.holder, name, bounds)?.map(|(value, _)| value);
            if now.as_ref().map(|value| value.version) != version {
                return Ok(Swapped::Other(now));
            }
            let swapped = match no_room(&transaction, &author.holder, (name, text), bounds)? {
                Some(no_room) => Swapped::NoRoom(no_room),
                None => Swapped::Made(write(&transaction, author, (name, text))?),
            };
            transaction.commit()?;
            Ok(swapped)
        })
    }

    /// Forgets values. Blocks.
    pub(super) fn forget_kept(&self, holder: &Holder, name: Option<&str>) -> Result<u64, LedgerError> {
        self.with(|connection| {
            connection.pragma_update(None, "secure_delete", true)?;
            let forgotten = connection
                .prepare_cached(&format!("DELETE FROM kept WHERE {OF_HOLDER} AND (?3 IS NULL OR name = ?3)"))?
                .execute(params![principal(holder), holder.workspace, name])?;
            connection.pragma_update(None, "secure_delete", false)?;
            if forgotten > 0 {
                // What was overwritten in the file is still in the log beside it.
                keep::begin_the_log_anew(connection)?;
            }
            Ok(forgotten as u64)
        })
    }

    /// The totals. Blocks.
    pub(super) fn kept_totals(&self) -> Result<KeepTotals, LedgerError> {
        self.with(|connection| {
            let sql =
                "SELECT count(*), coalesce(sum(bytes), 0), count(DISTINCT principal || char(0) || workspace) FROM kept";
            connection.query_row(sql, [], |row| {
                let number = |at| Ok::<u64, rusqlite::Error>(row.get::<_, i64>(at)?.max(0).cast_unsigned());
                Ok(KeepTotals { values: number(0)?, bytes: number(1)?, holders: number(2)? })
            })
        })
    }
}

/// The bytes of all values, which the bounds of runs do not count.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let bytes: i64 = connection.query_row("SELECT coalesce(sum(bytes), 0) FROM kept", [], |row| row.get(0))?;
    Ok(bytes.max(0).cast_unsigned())
}

/// Which changes are made in a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forgotten,
    Smaller,
    Others,
}

/// What becomes of a change in a pass; nothing if it is for a later one.
fn made(
    to: &Transaction<'_>,
    author: &KeepAuthor,
    change: &KeepChange,
    bounds: &KeepBounds,
    pass: Pass,
) -> rusqlite::Result<Option<Changed>> {
    let KeepChange { name, text, replaces } = change;
    if text.is_none() != (pass == Pass::Forgotten) {
        return Ok(None);
    }
    let now = to
        .prepare_cached(&format!("SELECT id, changed_ms, run, bytes FROM kept WHERE {OF_HOLDER} AND name = ?3"))?
        .query_row(params![principal(&author.holder), author.holder.workspace, name], |row| {
            let run = RunId::from_bits(row.get::<_, i64>(2)?.cast_unsigned());
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, run, row.get::<_, i64>(3)?))
        })
        .optional()?;
    let by_other = now.filter(|(_, _, run, _)| *run != author.run);
    let over_another = match replaces {
        Replaces::Version(version) => {
            let found = now.map(|(id, ..)| id);
            // What this run wrote itself meanwhile is no other's.
            found != *version && (by_other.is_some() || found.is_none())
        }
        Replaces::AsOf(at) => by_other.is_some_and(|(_, changed, ..)| changed > milliseconds(*at)),
    };
    let Some(text) = text else {
        forget(to, &author.holder, name)?;
        return Ok(Some(Changed::Made { version: None, over_another: over_another && now.is_some() }));
    };
    let had = now.map_or(0, |(.., bytes)| bytes.max(0).cast_unsigned());
    if pass == Pass::Smaller && size(name, text) > had {
        return Ok(None);
    }
    Ok(Some(match no_room(to, &author.holder, (name, text), bounds)? {
        Some(no_room) => Changed::NoRoom(no_room),
        None => Changed::Made { version: Some(write(to, author, (name, text))?), over_another },
    }))
}

/// Why there is no room for a value, in the place of that of its name.
fn no_room(
    to: &Transaction<'_>,
    holder: &Holder,
    (name, text): (&str, &str),
    bounds: &KeepBounds,
) -> rusqlite::Result<Option<NoRoom>> {
    let principal = principal(holder);
    let (others, used): (u32, i64) = to
        .prepare_cached(&format!(
            "SELECT count(*), coalesce(sum(bytes), 0) FROM kept WHERE {OF_HOLDER} AND name <> ?3"
        ))?
        .query_row(params![principal, holder.workspace, name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (bytes, used, max) = (size(name, text), used.max(0).cast_unsigned(), bounds.max_bytes.as_u64());
    if others >= bounds.max_keys {
        return Ok(Some(NoRoom::Keys { max: bounds.max_keys }));
    }
    if bytes > max.saturating_sub(used) {
        return Ok(Some(NoRoom::Bytes { bytes, free: max.saturating_sub(used), max }));
    }
    if others > 0 {
        return Ok(None);
    }
    let workspaces: u32 = to
        .prepare_cached("SELECT count(DISTINCT workspace) FROM kept WHERE principal = ?1 AND workspace <> ?2")?
        .query_row(params![principal, holder.workspace], |row| row.get(0))?;
    let (of_one, of_owner) = MAX_WORKSPACES;
    let max = if holder.principal.is_some() { of_one } else { of_owner };
    Ok((workspaces >= max).then_some(NoRoom::Workspaces { max }))
}

/// Writes a value, and returns its version.
fn write(to: &Transaction<'_>, author: &KeepAuthor, (name, text): (&str, &str)) -> rusqlite::Result<i64> {
    let KeepAuthor { holder, run, labels } = author;
    let now = milliseconds(SystemTime::now());
    to.prepare_cached(
        "INSERT OR REPLACE INTO kept(principal, workspace, name, bytes, changed_ms, touched_ms, run, labels, value)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        principal(holder),
        holder.workspace,
        name,
        size(name, text).cast_signed(),
        now,
        run.bits().cast_signed(),
        labels.join("\n"),
        text,
    ])?;
    Ok(to.last_insert_rowid())
}

fn forget(to: &Transaction<'_>, holder: &Holder, name: &str) -> rusqlite::Result<()> {
    to.prepare_cached(&format!("DELETE FROM kept WHERE {OF_HOLDER} AND name = ?3"))?
        .execute(params![principal(holder), holder.workspace, name])
        .map(|_| ())
}

/// A value, and when it was last used.
fn find(
    connection: &Connection,
    holder: &Holder,
    name: &str,
    bounds: &KeepBounds,
) -> rusqlite::Result<Option<(KeptValue, i64)>> {
    connection
        .prepare_cached(&format!(
            "SELECT id, labels, touched_ms, value FROM kept
             WHERE {OF_HOLDER} AND name = ?3 AND octet_length(value) <= ?4 AND octet_length(labels) <= ?5"
        ))?
        .query_row(
            params![
                principal(holder),
                holder.workspace,
                name,
                // A larger one was kept under other bounds, or is not what belljar has written.
                bounds.max_bytes.as_u64().min(MAX_VALUE).cast_signed(),
                MAX_LABELS.cast_signed()
            ],
            value,
        )
        .optional()
}

/// A value of any bounds may have so many bytes.
const MAX_VALUE: u64 = 64 * 1024 * 1024;

fn value(row: &Row<'_>) -> rusqlite::Result<(KeptValue, i64)> {
    let (version, written) = (row.get(0)?, row.get(1)?);
    Ok((KeptValue { text: row.get(3)?, version, labels: labels(written) }, row.get(2)?))
}

/// Forgets what nobody has used for too long, if there is any: a reader does not write otherwise.
fn forget_unused(connection: &Connection, bounds: &KeepBounds) -> rusqlite::Result<()> {
    let oldest = before(SystemTime::now(), bounds.age);
    let any = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM kept WHERE touched_ms < ?1)")?
        .query_row(params![oldest], |row| row.get(0))?;
    if any {
        connection.prepare_cached("DELETE FROM kept WHERE touched_ms < ?1")?.execute(params![oldest])?;
    }
    Ok(())
}

/// The owner has no name, and every other principal has one that no other column value is.
fn principal(holder: &Holder) -> String {
    holder.principal.as_ref().map(|name| format!("={name}")).unwrap_or_default()
}

fn size(name: &str, text: &str) -> u64 {
    (name.len() as u64).saturating_add(text.len() as u64)
}

fn labels(written: String) -> Vec<String> {
    written.split('\n').filter(|label| !label.is_empty()).map(str::to_owned).collect()
}

fn before(now: SystemTime, past: Duration) -> i64 {
    now.checked_sub(past).map_or(0, milliseconds)
}

fn time(milliseconds: i64) -> SystemTime {
    let since = Duration::from_millis(milliseconds.max(0).cast_unsigned());
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}
