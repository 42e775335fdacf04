//! Reads artifacts. A file is data: a row that makes no sense is an error, and nothing worse.

use std::{
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_model::{ArtifactId, ArtifactRef, ArtifactSettings, RunId};
use rusqlite::{Connection, OptionalExtension as _, Row, limits::Limit, params};

use super::{
    super::{
        PATIENCE,
        columns::{senseless, unsigned},
        file,
    },
    tables::{IS_THERE, PIECE, State, holder, ids, kind},
};
use crate::{
    artifacts::{ArtifactEntry, ArtifactError, HolderTotals, MAX_READ},
    error::LedgerError,
    holder::Holder,
    query::milliseconds,
};

/// How old the recorded time of the last use may be before it is written again.
const USE: Duration = Duration::from_secs(3600);

const COLUMNS: &str =
    "SELECT id, name, kind, mime, bytes, run, labels, at_ms, used_ms, unsearched, number FROM artifacts";

/// A part of an artifact's content, and the artifact's number if its use is to be noted.
pub(super) type Part = (Vec<u8>, Option<i64>);

/// The file, opened for reading.
pub(super) struct Reader {
    pub(super) connection: Connection,
    path: PathBuf,
}

/// The artifacts that a search covers.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) holder: i64,
    /// Their numbers; `None` for all of the holder.
    pub(super) numbers: Option<Vec<i64>>,
    /// Those that are not indexed yet.
    pub(super) unindexed: Vec<i64>,
}

impl Reader {
    /// Opens the file at a path, or returns `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, ArtifactError> {
        let Some(connection) = file::open_to_read(path)? else { return Ok(None) };
        let reader = Self { connection, path: path.to_owned() };
        // Nothing larger is ever written.
        let limits = [(Limit::SQLITE_LIMIT_LENGTH, 2 * 1024 * 1024), (Limit::SQLITE_LIMIT_SQL_LENGTH, 16 * 1024)];
        for (limit, value) in limits {
            reader.connection.set_limit(limit, value).map_err(|error| reader.failed(&error))?;
        }
        Ok(Some(reader))
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> ArtifactError {
        LedgerError::of(error, &self.path, PATIENCE).into()
    }

    /// A holder's artifacts, latest first.
    pub(super) fn list(
        &self,
        whose: &Holder,
        before: Option<ArtifactId>,
        limit: u32,
    ) -> Result<Vec<ArtifactEntry>, ArtifactError> {
        let read = || {
            let Some(holder) = holder(&self.connection, whose)? else { return Ok(Vec::new()) };
            let before = match before {
                None => None,
                // If the artifact has been removed meanwhile, the list is empty.
                Some(id) => Some(number(&self.connection, holder, &ArtifactRef::Id(id))?.unwrap_or_default()),
            };
            let list = format!(
                "{COLUMNS} WHERE holder = ?1 AND {IS_THERE} AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3"
            );
            let mut list = self.connection.prepare_cached(&list)?;
            list.query_map(params![holder, before, limit], entry)?.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// One artifact.
    pub(super) fn entry(&self, whose: &Holder, which: &ArtifactRef) -> Result<Option<ArtifactEntry>, ArtifactError> {
        let read = || {
            let Some(holder) = holder(&self.connection, whose)? else { return Ok(None) };
            let Some(number) = number(&self.connection, holder, which)? else { return Ok(None) };
            let one = format!("{COLUMNS} WHERE number = ?1 AND {IS_THERE}");
            self.connection.prepare_cached(&one)?.query_row(params![number], entry).optional()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// The labels of all artifacts of a holder together.
    pub(super) fn labels(&self, whose: &Holder) -> Result<BTreeSet<String>, ArtifactError> {
        let read = || {
            let Some(holder) = holder(&self.connection, whose)? else { return Ok(BTreeSet::new()) };
            let lists = format!("SELECT DISTINCT labels FROM artifacts WHERE holder = ?1 AND {IS_THERE}");
            let mut lists = self.connection.prepare_cached(&lists)?;
            let mut all = BTreeSet::new();
            for list in lists.query_map(params![holder], |row| labels(row, 0))? {
                all.extend(list?);
            }
            Ok(all)
        };
        read().map_err(|error| self.failed(&error))
    }

    /// A part of an artifact's content.
    pub(super) fn read(
        &self,
        whose: &Holder,
        id: ArtifactId,
        range: Range<u64>,
    ) -> Result<Option<Part>, ArtifactError> {
        let read = || {
            // All pieces must come from one moment.
            let moment = self.connection.unchecked_transaction()?;
            let Some(holder) = holder(&moment, whose)? else { return Ok(None) };
            let Some(number) = number(&moment, holder, &ArtifactRef::Id(id))? else { return Ok(None) };
            let (bytes, used): (u64, i64) = moment
                .prepare_cached("SELECT bytes, used_ms FROM artifacts WHERE number = ?1")?
                .query_row(params![number], |row| Ok((unsigned(row, 0)?.unwrap_or_default(), row.get(1)?)))?;
            let start = range.start.min(bytes);
            let end = range.end.min(bytes).min(start.saturating_add(MAX_READ)).max(start);
            let content = content(&moment, number, start..end)?;
            Ok(Some((content, is_stale(used).then_some(number))))
        };
        read().map_err(|error| self.failed(&error))
    }

    /// The scope of a search in these artifacts; `None` if the holder has none.
    pub(super) fn scope(&self, whose: &Holder, within: &[ArtifactRef]) -> Result<Option<Scope>, ArtifactError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let holder = holder(&self.connection, whose).map_err(failed)?;
        let mut numbers = Vec::new();
        for which in within {
            let found = match holder {
                Some(holder) => number(&self.connection, holder, which).map_err(failed)?,
                None => None,
            };
            numbers.push(found.ok_or_else(|| ArtifactError::NotThere(which.clone()))?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let Some(holder) = holder else { return Ok(None) };
        let read = || {
            let mut unindexed = self
                .connection
                .prepare_cached("SELECT number FROM artifacts WHERE holder = ?1 AND state = ?2 ORDER BY number DESC")?;
            unindexed
                .query_map(params![holder, State::Stored.number()], |row| row.get(0))?
                .collect::<Result<Vec<i64>, _>>()
        };
        let mut unindexed = read().map_err(failed)?;
        if !numbers.is_empty() {
            unindexed.retain(|number| numbers.contains(number));
        }
        Ok(Some(Scope { holder, numbers: (!numbers.is_empty()).then_some(numbers), unindexed }))
    }

    /// All holders, and what they have.
    pub(super) fn totals(&self) -> Result<Vec<HolderTotals>, ArtifactError> {
        let read = || {
            let mut totals = self.connection.prepare_cached(&format!(
                "SELECT h.is_owner, h.principal, h.workspace, count(*), sum(a.bytes), max(a.used_ms)
                 FROM artifact_holders h JOIN artifacts a ON a.holder = h.id WHERE {IS_THERE}
                 GROUP BY h.id ORDER BY h.is_owner DESC, h.principal, h.workspace"
            ))?;
            let row = |row: &Row<'_>| {
                let is_owner: bool = row.get(0)?;
                let principal: Arc<str> = row.get(1)?;
                Ok(HolderTotals {
                    holder: Holder { principal: (!is_owner).then_some(principal), workspace: row.get(2)? },
                    artifacts: unsigned(row, 3)?.unwrap_or_default(),
                    bytes: unsigned(row, 4)?.unwrap_or_default(),
                    used: time(row, 5)?,
                })
            };
            totals.query_map([], row)?.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.failed(&error))
    }
}

/// The number of a holder's artifact, if it exists.
pub(super) fn number(connection: &Connection, holder: i64, which: &ArtifactRef) -> rusqlite::Result<Option<i64>> {
    let (column, value): (_, rusqlite::types::Value) = match which {
        ArtifactRef::Id(id) => ("id", id.bits().cast_signed().into()),
        ArtifactRef::Name(name) => ("name", name.as_str().to_owned().into()),
    };
    connection
        .prepare_cached(&format!("SELECT number FROM artifacts WHERE {column} = ?1 AND holder = ?2 AND {IS_THERE}"))?
        .query_row(params![value, holder], |row| row.get(0))
        .optional()
}

/// A part of an artifact's content. Fails if the pieces are not as they were written.
pub(super) fn content(connection: &Connection, number: i64, range: Range<u64>) -> rusqlite::Result<Vec<u8>> {
    if range.end > ArtifactSettings::LARGEST.as_u64() {
        return Err(senseless(0, "a length of an artifact"));
    }
    let piece = PIECE as u64;
    let all = ids(number);
    let mut content = Vec::new();
    let mut at = range.start;
    let mut read = connection.prepare_cached("SELECT data FROM artifact_pieces WHERE id = ?1 AND id < ?2")?;
    while at < range.end {
        let place = i64::try_from(at / piece).unwrap_or(i64::MAX);
        let from = usize::try_from(at % piece).unwrap_or_default();
        let most = usize::try_from(range.end - at).unwrap_or(usize::MAX);
        let part = read.query_row(params![all.start.saturating_add(place), all.end], |row| {
            let data = row.get_ref(0)?.as_blob()?;
            let end = from.saturating_add(most).min(PIECE);
            data.get(from..end).map(<[u8]>::to_vec).ok_or_else(|| senseless(0, "a piece of this length"))
        });
        let part = match part {
            Err(rusqlite::Error::QueryReturnedNoRows) => return Err(senseless(0, "an artifact with all its pieces")),
            part => part?,
        };
        at = at.saturating_add(part.len() as u64);
        content.extend_from_slice(&part);
        if part.is_empty() {
            return Err(senseless(0, "a piece with content"));
        }
    }
    Ok(content)
}

/// Whether the time of the last use must be written again.
pub(super) fn is_stale(used_ms: i64) -> bool {
    SystemTime::now().checked_sub(USE).is_some_and(|before| used_ms < milliseconds(before))
}

fn entry(row: &Row<'_>) -> rusqlite::Result<ArtifactEntry> {
    let name: Option<String> = row.get(1)?;
    Ok(ArtifactEntry {
        id: ArtifactId::from_bits(row.get::<_, i64>(0)?.cast_unsigned()),
        name: name.map(|name| name.parse().map_err(|_| senseless(1, "a name"))).transpose()?,
        kind: kind(row.get(2)?).ok_or_else(|| senseless(2, "a kind of artifact"))?,
        mime: row.get(3)?,
        bytes: unsigned(row, 4)?.unwrap_or_default(),
        run: row.get::<_, Option<i64>>(5)?.map(|run| RunId::from_bits(run.cast_unsigned())),
        labels: labels(row, 6)?,
        at: time(row, 7)?,
        used: time(row, 8)?,
        unsearched_bytes: unsigned(row, 9)?.unwrap_or_default(),
    })
}

fn labels(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let list: String = row.get(column)?;
    serde_json::from_str(&list).map_err(|_| senseless(column, "a list of labels"))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<SystemTime> {
    let ms = unsigned(row, column)?.unwrap_or_default();
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)).ok_or_else(|| senseless(column, "a time"))
}
