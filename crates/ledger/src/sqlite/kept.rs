//! Values that live between runs, for all processes of a user.
//!
//! Each write of a value makes a new row, with a number that no row had before: this number is the
//! version. Reading and then writing happens in one transaction: if two processes replace the same
//! version, one of them succeeds.

use std::time::{Duration, SystemTime};

use belljar_model::RunId;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

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

/// The table: from version 6 to 7 of the file, and also for a new file. A value exists until
/// `until_ms`, which depends on the configuration under which it was last used: another
/// configuration may keep values for a shorter time. The value is the last column, so that the
/// sizes of all can be added up without reading any.
pub(super) const TABLE: &str = "
CREATE TABLE kept(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT NOT NULL,
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    touched_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    labels TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (principal, workspace, name)
) STRICT;
CREATE INDEX kept_by_end ON kept(until_ms);
";

/// How precisely the time of the last read is known: a reader that wrote each time would make
/// others wait.
const TOUCHING: Duration = Duration::from_secs(60 * 60);

/// The most bytes of labels. Belljar never writes more.
const MAX_LABELS: u64 = 64 * 1024;

/// Selects the rows of a holder.
const OF_HOLDER: &str = "principal = ?1 AND workspace = ?2";

impl Beside {
    /// Reads a value. Blocks.
    pub(super) fn kept(
        &self,
        holder: &Holder,
        name: &str,
        bounds: &KeepBounds,
    ) -> Result<Option<KeptValue>, LedgerError> {
        if self.has_no_file() {
            return Ok(None);
        }
        let found = self.with_kept(|connection| {
            forget_unused(connection)?;
            let found = find(connection, holder, name, bounds)?;
            let now = SystemTime::now();
            if let Row::Value(value, touched) = &found
                && *touched < before(now, TOUCHING)
            {
                connection
                    .prepare_cached("UPDATE kept SET touched_ms = ?2, until_ms = max(until_ms, ?3) WHERE id = ?1")?
                    .execute(params![value.version, milliseconds(now), after(now, bounds.age)])?;
            }
            Ok(found)
        })?;
        found.value(name)
    }

    /// Lists the values of a holder. Blocks.
    pub(super) fn kept_entries(&self, holder: &Holder, bounds: &KeepBounds) -> Result<Vec<KeptEntry>, LedgerError> {
        if self.has_no_file() {
            return Ok(Vec::new());
        }
        self.with_kept(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT name, bytes, labels, changed_ms, touched_ms, run FROM kept
                     WHERE {OF_HOLDER} AND until_ms >= ?3 AND octet_length(labels) <= ?4 ORDER BY name LIMIT ?5"
                ))?
                .query_map(
                    params![
                        principal(holder),
                        holder.workspace,
                        milliseconds(SystemTime::now()),
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
        self.with_kept(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            forget_unused(&transaction)?;
            let mut done: Vec<Option<Changed>> = vec![None; changes.len()];
            // Values that are forgotten or become smaller make room for the others.
            for pass in [Pass::Forgotten, Pass::Smaller, Pass::Others] {
                for (change, done) in changes.iter().zip(&mut done).filter(|(_, done)| done.is_none()) {
                    *done = made(&transaction, author, change, bounds, pass)?;
                }
            }
            transaction.commit()?;
            Ok(done.into_iter().flatten().collect())
        })
    }

    /// Replaces a value if it has this version. Blocks.
    pub(super) fn swap_kept(
        &self,
        author: &KeepAuthor,
        (name, text): (&str, &str),
        version: Option<i64>,
        bounds: &KeepBounds,
    ) -> Result<Swapped, LedgerError> {
        let swapped = self.with_kept(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            forget_unused(&transaction)?;
            let now = find(&transaction, &author.holder, name, bounds)?;
            if now.version() != version {
                return Ok(Err(now));
            }
            let swapped = match no_room(&transaction, &author.holder, (name, text), bounds)? {
                Some(no_room) => Swapped::NoRoom(no_room),
                None => Swapped::Made(write(&transaction, author, (name, text), bounds)?),
            };
            transaction.commit()?;
            Ok(Ok(swapped))
        })?;
        swapped.or_else(|now| Ok(Swapped::Other(now.value(name)?)))
    }

    /// Forgets values. Blocks.
    pub(super) fn forget_kept(&self, holder: &Holder, name: Option<&str>) -> Result<u64, LedgerError> {
        if self.has_no_file() {
            return Ok(0);
        }
        self.with_kept(|connection| {
            let forgotten = connection
                .prepare_cached(&format!("DELETE FROM kept WHERE {OF_HOLDER} AND (?3 IS NULL OR name = ?3)"))?
                .execute(params![principal(holder), holder.workspace, name])?;
            if forgotten > 0 && !keep::begin_the_log_anew(connection)? {
                tracing::warn!(
                    "what was forgotten is overwritten in the ledger's file, and may stay in the log beside it (ledger.db-wal), where another process reads, until that is emptied"
                );
            }
            Ok(forgotten as u64)
        })
    }

    /// Returns the totals. Blocks.
    pub(super) fn kept_totals(&self) -> Result<KeepTotals, LedgerError> {
        if self.has_no_file() {
            return Ok(KeepTotals::default());
        }
        self.with_kept(|connection| {
            let sql =
                "SELECT count(*), coalesce(sum(bytes), 0), count(DISTINCT principal || char(0) || workspace) FROM kept";
            connection.query_row(sql, [], |row| {
                let number = |at| Ok::<u64, rusqlite::Error>(row.get::<_, i64>(at)?.max(0).cast_unsigned());
                Ok(KeepTotals { values: number(0)?, bytes: number(1)?, holders: number(2)? })
            })
        })
    }

    /// Does something with the connection, which overwrites whatever it replaces or deletes,
    /// because the earlier versions of a value must disappear with it. Blocks.
    fn with_kept<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, LedgerError> {
        self.with(|connection| {
            connection.pragma_update(None, "secure_delete", true)?;
            work(connection)
        })
    }
}

/// The bytes of all values. They do not count towards the bounds of runs.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let bytes: i64 = connection.query_row("SELECT coalesce(sum(bytes), 0) FROM kept", [], |row| row.get(0))?;
    Ok(bytes.max(0).cast_unsigned())
}

/// Decides which changes are made in a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forgotten,
    Smaller,
    Others,
}

/// The result of a change in a pass; `None` if it belongs to a later pass.
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
            // A change that this run itself made meanwhile does not count as another's.
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
        None => Changed::Made { version: Some(write(to, author, (name, text), bounds)?), over_another },
    }))
}

/// Why there is no room for a value that replaces the one of its name.
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
fn write(
    to: &Transaction<'_>,
    author: &KeepAuthor,
    (name, text): (&str, &str),
    bounds: &KeepBounds,
) -> rusqlite::Result<i64> {
    let KeepAuthor { holder, run, labels } = author;
    let now = SystemTime::now();
    to.prepare_cached(
        "INSERT OR REPLACE INTO
         kept(principal, workspace, name, bytes, changed_ms, touched_ms, until_ms, run, labels, value)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        principal(holder),
        holder.workspace,
        name,
        size(name, text).cast_signed(),
        milliseconds(now),
        after(now, bounds.age),
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

/// What is stored under a name.
enum Row {
    Nothing,
    /// A value, and when it was last used.
    Value(KeptValue, i64),
    /// A value that was kept under other bounds, or that belljar has not written. It is not read.
    TooLarge {
        version: i64,
        max: u64,
    },
}

impl Row {
    fn version(&self) -> Option<i64> {
        match self {
            Self::Nothing => None,
            Self::Value(KeptValue { version, .. }, _) | Self::TooLarge { version, .. } => Some(*version),
        }
    }

    fn value(self, name: &str) -> Result<Option<KeptValue>, LedgerError> {
        match self {
            Self::Nothing => Ok(None),
            Self::Value(value, _) => Ok(Some(value)),
            Self::TooLarge { max, .. } => Err(LedgerError::KeptTooLarge { name: name.to_owned(), max }),
        }
    }
}

/// Finds what is stored under a name. A value over the bounds is not read.
fn find(connection: &Connection, holder: &Holder, name: &str, bounds: &KeepBounds) -> rusqlite::Result<Row> {
    let max = bounds.max_bytes.as_u64().min(MAX_VALUE);
    let found = connection
        .prepare_cached(&format!(
            "SELECT id, octet_length(value), octet_length(labels) FROM kept WHERE {OF_HOLDER} AND name = ?3"
        ))?
        .query_row(params![principal(holder), holder.workspace, name], |row| {
            let bytes = |at| Ok::<u64, rusqlite::Error>(row.get::<_, i64>(at)?.max(0).cast_unsigned());
            Ok((row.get(0)?, bytes(1)?, bytes(2)?))
        })
        .optional()?;
    let Some((version, bytes, of_labels)) = found else { return Ok(Row::Nothing) };
    for (bytes, max) in [(bytes, max), (of_labels, MAX_LABELS)] {
        if bytes > max {
            return Ok(Row::TooLarge { version, max });
        }
    }
    // Another process may have replaced it meanwhile.
    let read = connection
        .prepare_cached("SELECT id, labels, touched_ms, value FROM kept WHERE id = ?1")?
        .query_row(params![version], value)
        .optional()?;
    Ok(read.map_or(Row::Nothing, |(value, touched)| Row::Value(value, touched)))
}

/// The most bytes of a value under any bounds.
const MAX_VALUE: u64 = 64 * 1024 * 1024;

fn value(row: &rusqlite::Row<'_>) -> rusqlite::Result<(KeptValue, i64)> {
    let (version, written) = (row.get(0)?, row.get(1)?);
    Ok((KeptValue { text: row.get(3)?, version, labels: labels(written) }, row.get(2)?))
}

/// Forgets values that nobody has used for too long, if there are any. Otherwise nothing is
/// written, so a reader usually does not write.
fn forget_unused(connection: &Connection) -> rusqlite::Result<()> {
    let now = milliseconds(SystemTime::now());
    let any = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM kept WHERE until_ms < ?1)")?
        .query_row(params![now], |row| row.get(0))?;
    if any {
        connection.prepare_cached("DELETE FROM kept WHERE until_ms < ?1")?.execute(params![now])?;
    }
    Ok(())
}

/// The value of the column `principal`: empty for the owner, `=` and the name for all others.
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

fn after(now: SystemTime, age: Duration) -> i64 {
    now.checked_add(age).map_or(i64::MAX, milliseconds)
}

fn time(milliseconds: i64) -> SystemTime {
    let since = Duration::from_millis(milliseconds.max(0).cast_unsigned());
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use belljar_model::ByteSize;

    use super::*;
    use crate::sqlite::file;

    const BOUNDS: KeepBounds = KeepBounds { max_bytes: ByteSize::b(1000), max_keys: 3, age: Duration::from_secs(3600) };

    fn holder(principal: Option<&str>, workspace: &str) -> Holder {
        Holder { principal: principal.map(Into::into), workspace: workspace.into() }
    }

    fn author(run: u64) -> KeepAuthor {
        KeepAuthor { holder: holder(None, "/shop"), run: RunId::from_bits(run), labels: vec!["private".to_owned()] }
    }

    fn change(name: &str, text: Option<&str>, replaces: Replaces) -> KeepChange {
        KeepChange { name: name.to_owned(), text: text.map(str::to_owned), replaces }
    }

    fn set(beside: &Beside, run: u64, name: &str, text: &str) -> Changed {
        let change = change(name, Some(text), Replaces::AsOf(SystemTime::now()));
        beside.change_kept(&author(run), &[change], &BOUNDS).expect("kept").remove(0)
    }

    fn text(beside: &Beside, holder: &Holder, name: &str) -> Option<String> {
        beside.kept(holder, name, &BOUNDS).expect("read").map(|value| value.text)
    }

    fn version(beside: &Beside, name: &str) -> Option<i64> {
        beside.kept(&author(0).holder, name, &BOUNDS).expect("read").map(|value| value.version)
    }

    #[test]
    fn a_value_is_its_holders_alone_with_the_labels_that_it_was_written_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let (here, there) = (Beside::new(Some(folder.path().into())), Beside::new(Some(folder.path().into())));
        assert_eq!(here.kept(&author(1).holder, "a", &BOUNDS).expect("read"), None);
        assert!(!folder.path().join(file::NAME).exists(), "looking makes no file");
        assert!(matches!(set(&here, 1, "a", "[1]"), Changed::Made { version: Some(_), over_another: false }));
        let found = there.kept(&author(1).holder, "a", &BOUNDS).expect("read").expect("a value");
        assert_eq!((found.text.as_str(), found.labels), ("[1]", vec!["private".to_owned()]));
        for other in [holder(None, "/shop/"), holder(None, ""), holder(Some(""), "/shop"), holder(Some("ada"), "/shop")]
        {
            assert_eq!(text(&there, &other, "a"), None, "{other:?}");
            assert!(there.kept_entries(&other, &BOUNDS).expect("read").is_empty(), "{other:?}");
            assert_eq!(there.forget_kept(&other, None).expect("done"), 0, "{other:?}");
        }
        let entries = there.kept_entries(&author(1).holder, &BOUNDS).expect("read");
        assert_eq!((entries.len(), entries[0].bytes, entries[0].run), (1, 4, RunId::from_bits(1)));
        let totals = KeepTotals { values: 1, bytes: 4, holders: 1 };
        assert_eq!(there.kept_totals().expect("read"), totals);
        assert!(matches!(Beside::new(None).kept(&author(1).holder, "a", &BOUNDS), Err(LedgerError::NoFolder)));
    }

    #[test]
    fn a_change_over_that_of_another_run_is_made_and_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        let over = |run: u64, text: Option<&str>, replaces: Replaces| match beside
            .change_kept(&author(run), &[change("a", text, replaces)], &BOUNDS)
            .expect("kept")
            .remove(0)
        {
            Changed::Made { over_another, .. } => over_another,
            Changed::NoRoom(no_room) => panic!("{no_room}"),
        };
        let began = SystemTime::now().checked_sub(Duration::from_secs(5)).expect("a time");
        assert!(!over(1, Some("1"), Replaces::Version(None)));
        let read = version(&beside, "a");
        assert!(!over(1, Some("2"), Replaces::Version(read)));
        assert!(!over(1, Some("3"), Replaces::Version(read)), "what it wrote itself is not another's");
        assert!(over(2, Some("4"), Replaces::Version(read)));
        assert!(over(3, Some("5"), Replaces::Version(None)), "there was no value when it looked");
        assert!(over(4, Some("6"), Replaces::AsOf(began)));
        assert!(!over(4, Some("7"), Replaces::AsOf(began)));
        assert!(!over(5, Some("8"), Replaces::AsOf(SystemTime::now() + Duration::from_secs(5))));
        let read = version(&beside, "a");
        assert!(over(6, None, Replaces::AsOf(began)), "a change is lost by forgetting too");
        assert!(!over(7, None, Replaces::Version(read)), "nothing is lost by forgetting what is gone");
        assert!(over(7, Some("9"), Replaces::Version(read)), "that it was forgotten is lost");
    }

    #[test]
    fn of_two_who_replace_one_version_one_does_and_no_version_comes_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = || Beside::new(Some(folder.path().into()));
        let (here, there) = (beside(), beside());
        let swap = |beside: &Beside, run, text, version| {
            beside.swap_kept(&author(run), ("a", text), version, &BOUNDS).expect("done")
        };
        let Swapped::Made(first) = swap(&here, 1, "1", None) else { panic!("it was free") };
        let Swapped::Other(Some(found)) = swap(&there, 2, "2", None) else { panic!("it was taken") };
        assert_eq!((found.version, found.text.as_str()), (first, "1"));
        let Swapped::Made(second) = swap(&there, 2, "2", Some(first)) else { panic!("it is this version") };
        assert!(matches!(swap(&here, 1, "3", Some(first)), Swapped::Other(Some(_))));
        here.forget_kept(&author(1).holder, Some("a")).expect("done");
        assert!(matches!(swap(&here, 1, "3", Some(second)), Swapped::Other(None)));
        let Swapped::Made(third) = swap(&here, 1, "3", None) else { panic!("it is free again") };
        assert!(first < second && second < third);
        let large = "x".repeat(2000);
        let no_room = NoRoom::Bytes { bytes: 2001, free: 1000, max: 1000 };
        assert_eq!(swap(&here, 1, &large, Some(third)), Swapped::NoRoom(no_room));
        let counted = std::thread::scope(|scope| {
            let many: Vec<_> = (0..8_u64)
                .map(|run| {
                    scope.spawn(move || {
                        let beside = beside();
                        for _ in 0..20 {
                            let mut now = beside.kept(&author(run).holder, "n", &BOUNDS).expect("read");
                            loop {
                                let next = now.as_ref().map_or(0, |now| now.text.parse().expect("a number")) + 1_u32;
                                let version = now.as_ref().map(|now| now.version);
                                match beside.swap_kept(&author(run), ("n", &next.to_string()), version, &BOUNDS) {
                                    Ok(Swapped::Made(_)) => break,
                                    Ok(Swapped::Other(other)) => now = other,
                                    other => panic!("{other:?}"),
                                }
                            }
                        }
                    })
                })
                .collect();
            many.into_iter().for_each(|one| one.join().expect("no panic"));
            text(&here, &author(0).holder, "n")
        });
        assert_eq!(counted.as_deref(), Some("160"));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_kept_and_the_rest_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        let large = "x".repeat(900);
        let all = [("a", Some(large.as_str())), ("b", Some("22")), ("c", None), ("d", Some(large.as_str()))];
        set(&beside, 1, "c", &large);
        let as_of = Replaces::AsOf(SystemTime::now());
        let changes = all.map(|(name, text)| change(name, text, as_of));
        let done = beside.change_kept(&author(1), &changes, &BOUNDS).expect("kept");
        assert!(matches!(done[..3], [Changed::Made { .. }, Changed::Made { .. }, Changed::Made { version: None, .. }]));
        assert_eq!(done[3], Changed::NoRoom(NoRoom::Bytes { bytes: 901, free: 96, max: 1000 }));
        // A value that becomes smaller makes room for one that grows, whatever their order.
        let changes = [change("b", Some(&large), as_of), change("a", Some("1"), as_of)];
        let done = beside.change_kept(&author(1), &changes, &BOUNDS).expect("kept");
        assert!(done.iter().all(|done| matches!(done, Changed::Made { .. })), "{done:?}");
        set(&beside, 1, "e", "1");
        assert_eq!(set(&beside, 1, "f", "1"), Changed::NoRoom(NoRoom::Keys { max: 3 }));
        assert!(matches!(set(&beside, 1, "e", "2"), Changed::Made { .. }));
    }

    #[test]
    fn a_principal_has_values_in_a_bounded_number_of_workspaces() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        let set = |workspace: u32| {
            let author = KeepAuthor { holder: holder(Some("ada"), &workspace.to_string()), ..author(1) };
            let change = change("a", Some("1"), Replaces::AsOf(SystemTime::now()));
            beside.change_kept(&author, &[change], &BOUNDS).expect("kept").remove(0)
        };
        let (most, _) = MAX_WORKSPACES;
        assert!((0..most).all(|workspace| matches!(set(workspace), Changed::Made { .. })));
        assert_eq!(set(most), Changed::NoRoom(NoRoom::Workspaces { max: most }));
        assert!(matches!(set(0), Changed::Made { .. }));
    }

    #[test]
    fn what_nobody_uses_is_forgotten_and_reading_is_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        let hours = |hours: u64| KeepBounds { age: Duration::from_secs(hours * 3600), ..BOUNDS };
        for (name, text) in [("read", "1"), ("left", "2")] {
            let change = change(name, Some(text), Replaces::Version(None));
            beside.change_kept(&author(1), &[change], &hours(3)).expect("kept");
        }
        let age = |milliseconds: i64| {
            let age = |connection: &mut Connection| {
                let sql = "UPDATE kept SET touched_ms = touched_ms - ?1, until_ms = until_ms - ?1";
                connection.execute(sql, params![milliseconds])
            };
            assert_eq!(beside.with(age).expect("done"), 2)
        };
        let find = |name: &str, bounds: KeepBounds| {
            beside.kept(&author(1).holder, name, &bounds).expect("read").map(|value| value.text)
        };
        age(2 * 3600 * 1000);
        // A configuration that keeps values for a shorter time does not shorten the life of others'
        // values, nor of its own.
        assert_eq!(beside.kept(&holder(Some("ada"), ""), "x", &hours(0)).expect("read"), None);
        assert_eq!(beside.kept(&author(1).holder, "x", &hours(0)).expect("read"), None);
        assert_eq!(beside.kept_totals().expect("read").values, 2);
        assert_eq!(find("read", hours(3)).as_deref(), Some("1"));
        age(2 * 3600 * 1000);
        assert_eq!(find("left", hours(3)), None);
        assert_eq!(find("read", hours(3)).as_deref(), Some("1"));
        assert_eq!(beside.kept_entries(&author(1).holder, &hours(3)).expect("read").len(), 1);
        assert_eq!(beside.kept_totals().expect("read").values, 1, "nothing of it stays");
    }

    #[test]
    fn a_full_disk_keeps_what_there_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        set(&beside, 1, "a", "1");
        let bounds = KeepBounds { max_bytes: ByteSize::mib(8), ..BOUNDS };
        let full = |connection: &mut Connection| {
            let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
        };
        beside.with(full).expect("set");
        let large = "1".repeat(1 << 20);
        let changes =
            [change("a", Some("2"), Replaces::Version(None)), change("b", Some(&large), Replaces::Version(None))];
        let error = beside.change_kept(&author(2), &changes, &bounds).expect_err("it is full");
        assert!(matches!(error, LedgerError::Full { .. }), "{error}");
        assert_eq!(text(&beside, &author(1).holder, "a").as_deref(), Some("1"), "all or nothing");
        beside.with(full).expect("set");
        let error = beside.swap_kept(&author(2), ("b", &large), None, &bounds).expect_err("it is full");
        assert!(matches!(error, LedgerError::Full { .. }), "{error}");
    }

    #[test]
    fn what_is_forgotten_on_request_is_not_in_the_file_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        let secret = "a-very-secret-word".repeat(20);
        let bounds = KeepBounds { max_bytes: ByteSize::mib(1), ..BOUNDS };
        // The same holds for earlier versions, the first of which has its own pages.
        for text in [secret.repeat(100).as_str(), &secret] {
            let change = change("a", Some(text), Replaces::AsOf(SystemTime::now()));
            beside.change_kept(&author(1), &[change], &bounds).expect("kept");
        }
        set(&beside, 1, "b", "1");
        assert_eq!(beside.forget_kept(&author(1).holder, Some("a")).expect("done"), 1);
        assert_eq!(beside.forget_kept(&author(1).holder, Some("a")).expect("done"), 0);
        for file in std::fs::read_dir(folder.path()).expect("a list") {
            let bytes = std::fs::read(file.expect("an entry").path()).expect("a file");
            assert!(!String::from_utf8_lossy(&bytes).contains("a-very-secret"), "it is still there");
        }
        assert_eq!(text(&beside, &author(1).holder, "b").as_deref(), Some("1"));
    }

    #[test]
    fn a_value_that_is_too_large_for_its_bounds_is_not_read_and_not_taken_for_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().into()));
        set(&beside, 1, "a", &"1".repeat(900));
        let less = KeepBounds { max_bytes: ByteSize::b(100), ..BOUNDS };
        let too_large = |found: Result<_, LedgerError>| matches!(found, Err(LedgerError::KeptTooLarge { .. }));
        assert!(too_large(beside.kept(&author(1).holder, "a", &less).map(drop)));
        assert!(too_large(beside.swap_kept(&author(1), ("a", "1"), None, &less).map(drop)));
        assert_eq!(text(&beside, &author(1).holder, "a").map(|text| text.len()), Some(900), "it stays");
        let labels = |connection: &mut Connection| {
            connection.execute("UPDATE kept SET labels = ?1", params!["l".repeat(100_000)])
        };
        beside.with(labels).expect("changed");
        assert!(too_large(beside.kept(&author(1).holder, "a", &BOUNDS).map(drop)));
        assert!(beside.kept_entries(&author(1).holder, &BOUNDS).expect("read").is_empty());
    }
}
