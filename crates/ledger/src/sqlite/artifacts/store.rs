//! Stores an artifact: its pieces in several transactions, the last of which makes it exist.

use std::time::SystemTime;

use belljar_model::{ArtifactId, ArtifactSettings};
use rand::{TryRngCore as _, rngs::OsRng};
use rusqlite::{Connection, Transaction, params};

use super::{
    room, sweep,
    tables::{IS_THERE, OVERHEAD, PIECE, State, columns, holder, ids, number_of_kind, step},
};
use crate::{
    artifacts::{Content, NewArtifact, Stored},
    holder::Holder,
    query::milliseconds,
};

/// Bytes written in one transaction, which others have to wait for.
const AT_ONCE: usize = 8 * PIECE;
/// The most workspaces of one principal. Each has its own tables, which everyone who opens the file
/// must read.
const WORKSPACES: i64 = if cfg!(test) { 4 } else { 64 };
/// The most artifacts of one principal. They are all counted whenever one is stored.
const ARTIFACTS: i64 = if cfg!(test) { 60 } else { 10_000 };

/// An artifact that is being stored.
pub(super) struct Storing {
    holder: Holder,
    artifact: NewArtifact,
    settings: ArtifactSettings,
    /// Its row, once there is one.
    row: Option<Row>,
    /// Bytes that have been written.
    written: usize,
    /// Bytes of other artifacts that must be removed from the file first, once that is known.
    owed: Option<i64>,
}

#[derive(Clone, Copy)]
struct Row {
    number: i64,
    holder: i64,
    id: ArtifactId,
}

impl Storing {
    pub(super) fn new(holder: Holder, artifact: NewArtifact, settings: ArtifactSettings) -> Self {
        Self { holder, artifact, settings, row: None, written: 0, owed: None }
    }

    /// Does the next transaction. If it was the last, returns what was stored.
    pub(super) fn step(&mut self, connection: &mut Connection) -> rusqlite::Result<Option<Stored>> {
        if self.row.is_none() && self.reclaims(connection)? {
            return Ok(None);
        }
        let (row, written, stored) = step(connection, |transaction| {
            let row = match self.row {
                Some(row) => row,
                None => self.begin(transaction)?,
            };
            let content = self.artifact.content.bytes();
            let end = self.written.saturating_add(AT_ONCE).min(content.len());
            let mut insert = transaction.prepare_cached("INSERT INTO artifact_pieces(id, data) VALUES (?1, ?2)")?;
            let first = ids(row.number).start.saturating_add(i64::try_from(self.written / PIECE).unwrap_or(i64::MAX));
            let pieces = content.get(self.written..end).unwrap_or_default().chunks(PIECE);
            for (id, piece) in (first..).zip(pieces) {
                insert.execute(params![id, piece])?;
            }
            let stored = if end == content.len() { Some(self.end(transaction, row)?) } else { None };
            Ok((row, end, stored))
        })?;
        (self.row, self.written) = (Some(row), written);
        Ok(stored)
    }

    /// Gives up: what was written so far is marked for removal.
    pub(super) fn abandon(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let Some(row) = self.row else { return Ok(()) };
        connection
            .execute("UPDATE artifacts SET state = ?2 WHERE number = ?1", params![row.number, State::Gone.number()])
            .map(drop)
    }

    /// If the file is larger than allowed, removes as much from it as this artifact adds, some at a
    /// time. Returns whether anything was removed.
    fn reclaims(&mut self, connection: &mut Connection) -> rusqlite::Result<bool> {
        let owed = match self.owed {
            Some(owed) => owed,
            None if sweep::is_overdue(connection)? || room::is_over(connection, &self.settings)? => {
                i64::try_from(self.artifact.content.bytes().len()).unwrap_or(i64::MAX).saturating_add(OVERHEAD)
            }
            None => 0,
        };
        self.owed = Some(owed);
        if owed <= 0 {
            return Ok(false);
        }
        let freed = room::reclaim(connection, &self.settings)?;
        self.owed = Some(freed.map_or(0, |freed| owed.saturating_sub(freed)));
        Ok(freed.is_some())
    }

    fn begin(&self, transaction: &Transaction<'_>) -> rusqlite::Result<Row> {
        let holder = match holder(transaction, &self.holder)? {
            Some(holder) => holder,
            None => {
                let (is_owner, principal) = columns(&self.holder);
                transaction
                    .prepare_cached("INSERT INTO artifact_holders(is_owner, principal, workspace) VALUES (?1, ?2, ?3)")?
                    .execute(params![is_owner, principal, &*self.holder.workspace])?;
                transaction.last_insert_rowid()
            }
        };
        let unlucky = |_| rusqlite::Error::ToSqlConversionFailure("the system gave no random number".into());
        let id = ArtifactId::from_bits(OsRng.try_next_u64().map_err(unlucky)?);
        let NewArtifact { content, mime, run, labels, .. } = &self.artifact;
        let now = milliseconds(SystemTime::now());
        transaction
            .prepare_cached(
                "INSERT INTO artifacts(id, holder, state, kind, bytes, mime, run, labels, at_ms, used_ms, days)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)",
            )?
            .execute(params![
                id.bits().cast_signed(),
                holder,
                State::Coming.number(),
                number_of_kind(content.kind()),
                i64::try_from(content.bytes().len()).unwrap_or(i64::MAX),
                mime,
                run.map(|run| run.bits().cast_signed()),
                serde_json::Value::from(labels.as_slice()).to_string(),
                now,
                self.settings.days,
            ])?;
        Ok(Row { number: transaction.last_insert_rowid(), holder, id })
    }

    /// Makes the artifact exist. The one that it replaces, and those for which there is no room
    /// left, cease to exist.
    fn end(&self, transaction: &Transaction<'_>, row: Row) -> rusqlite::Result<Stored> {
        let NewArtifact { content, name, .. } = &self.artifact;
        let mut replaced = false;
        if let Some(name) = name {
            replaced = transaction
                .prepare_cached(&format!(
                    "UPDATE artifacts SET state = ?3, name = NULL WHERE holder = ?1 AND name = ?2 AND {IS_THERE}"
                ))?
                .execute(params![row.holder, name.as_str(), State::Gone.number()])?
                > 0;
        }
        let state = if matches!(content, Content::Blob(_)) { State::Indexed } else { State::Stored };
        transaction
            .prepare_cached("UPDATE artifacts SET state = ?2, name = ?3 WHERE number = ?1")?
            .execute(params![row.number, state.number(), name.as_ref().map(|name| name.as_str())])?;
        let (evicted, evicted_bytes) = self.make_room(transaction, row)?;
        Ok(Stored { id: row.id, bytes: content.bytes().len() as u64, replaced, evicted, evicted_bytes })
    }

    /// Removes the principal's least recently used artifacts until the rest is within the bounds.
    /// Returns how many were removed, and their bytes.
    fn make_room(&self, transaction: &Transaction<'_>, row: Row) -> rusqlite::Result<(u64, u64)> {
        let (is_owner, principal) = columns(&self.holder);
        let theirs = format!(
            "holder IN (SELECT id FROM artifact_holders WHERE is_owner = ?1 AND principal = ?2) AND {IS_THERE}"
        );
        let totals = format!("SELECT count(*), sum(bytes), count(DISTINCT holder) FROM artifacts WHERE {theirs}");
        let (mut count, bytes, workspaces): (i64, i64, i64) = transaction
            .prepare_cached(&totals)?
            .query_row(params![is_owner, principal], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut used = bytes.saturating_add(count.saturating_mul(OVERHEAD));
        let limit = i64::try_from(self.settings.max_bytes.as_u64()).unwrap_or(i64::MAX);
        let (mut evicted, mut evicted_bytes) = (0, 0_u64);
        if count <= ARTIFACTS && used <= limit && workspaces <= WORKSPACES {
            return Ok((evicted, evicted_bytes));
        }
        // Artifacts in excess workspaces are removed in any case. Returns whether more must be
        // removed.
        let mut remove = |found: Vec<(i64, i64)>, always: bool| -> rusqlite::Result<bool> {
            for (number, bytes) in found {
                if !always && count <= ARTIFACTS && used <= limit {
                    break;
                }
                gone(transaction, number)?;
                used = used.saturating_sub(bytes.saturating_add(OVERHEAD));
                count -= 1;
                evicted += 1;
                evicted_bytes = evicted_bytes.saturating_add(bytes.max(0).cast_unsigned());
            }
            Ok(count > ARTIFACTS || used > limit)
        };
        if workspaces > WORKSPACES {
            let oldest = format!(
                "SELECT number, bytes FROM artifacts WHERE {IS_THERE} AND holder IN (
                     SELECT holder FROM artifacts WHERE {theirs} AND holder <> ?3
                     GROUP BY holder ORDER BY max(used_ms), holder LIMIT ?4)"
            );
            let mut oldest = transaction.prepare_cached(&oldest)?;
            let found = oldest.query_map(params![is_owner, principal, row.holder, workspaces - WORKSPACES], pair)?;
            remove(found.collect::<Result<_, _>>()?, true)?;
        }
        let oldest = format!(
            "SELECT number, bytes FROM artifacts WHERE {theirs} AND number <> ?3 ORDER BY used_ms, number LIMIT 64"
        );
        let mut oldest = transaction.prepare_cached(&oldest)?;
        let mut goes_on = remove(Vec::new(), false)?;
        while goes_on {
            let found = oldest.query_map(params![is_owner, principal, row.number], pair)?;
            let found = found.collect::<Result<Vec<_>, _>>()?;
            goes_on = !found.is_empty() && remove(found, false)?;
        }
        Ok((evicted, evicted_bytes))
    }
}

fn pair(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, i64)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Marks an artifact as gone.
pub(super) fn gone(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE artifacts SET state = ?2, name = NULL WHERE number = ?1")?
        .execute(params![number, State::Gone.number()])
        .map(drop)
}
