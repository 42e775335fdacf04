//! Makes stored artifacts searchable, some passages at a time.
//!
//! Each step is one transaction, and records in the artifact's row how far it got. So another
//! process can continue from there, and two processes never do the same work twice.

use rusqlite::{Connection, OptionalExtension as _, Transaction, config::DbConfig, params};

use super::{
    super::columns::senseless,
    read::content,
    tables::{State, ids, index_names, kind, number_of_form, step},
};
use crate::passages::{Passage, passages};

/// Bytes that are indexed in one transaction, and that share a row of the index of parts. Others
/// have to wait for such a transaction.
const PART: usize = 16 * 1024;

/// How the words of a text are found: letters and digits, without case and accents, by their
/// English stems.
const WORDS: &str = "content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'";
/// How parts of words are found. The index only knows whether sequences of three characters occur
/// anywhere, so every hit is checked again.
const PARTS: &str = "content='', contentless_delete=1, detail=none, tokenize='trigram'";

/// The tables of an index that grow, their keys, and how many rows are removed at a time: up to a
/// MiB from each.
const TABLES: [(&str, &str, usize); 3] = [("data", "id", 256), ("idx", "segid, term", 4096), ("docsize", "id", 8192)];

/// The progress of an artifact's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// There are more passages to index.
    More,
    /// It is finished, or gone.
    Done,
    /// Another process works on it.
    Elsewhere,
}

/// An artifact that is being indexed.
pub(super) struct Indexing {
    number: i64,
    holder: i64,
    content: String,
    passages: Vec<Passage>,
    over: usize,
    done: usize,
}

impl Indexing {
    /// Starts or continues with an artifact. `None` if it no longer needs an index.
    pub(super) fn begin(connection: &Connection, number: i64) -> rusqlite::Result<Option<Self>> {
        let row = connection
            .prepare_cached("SELECT holder, kind, bytes, passages FROM artifacts WHERE number = ?1 AND state = ?2")?
            .query_row(params![number, State::Stored.number()], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
            })
            .optional()?;
        let Some((holder, kind_number, bytes, done)) = row else { return Ok(None) };
        let content = content(connection, number, 0..bytes.max(0).cast_unsigned())?;
        let content = String::from_utf8(content).unwrap_or_else(|error| {
            // Another program wrote it: anything that is not text cannot be found.
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        let (passages, over) = kind(kind_number).map(|kind| passages(kind, &content)).unwrap_or_default();
        let done = usize::try_from(done).map_err(|_| senseless(3, "a count of passages"))?;
        Ok(Some(Self { number, holder, content, passages, over, done }))
    }

    pub(super) fn number(&self) -> i64 {
        self.number
    }

    /// Indexes the next passages.
    pub(super) fn step(&mut self, connection: &mut Connection) -> rusqlite::Result<Progress> {
        let (progress, done) = step(connection, |transaction| self.next(transaction))?;
        self.done = done;
        Ok(progress)
    }

    /// Indexes the next passages. Returns the progress after that, and how many passages are
    /// indexed.
    fn next(&self, transaction: &Transaction<'_>) -> rusqlite::Result<(Progress, usize)> {
        let begun: Option<i64> = transaction
            .prepare_cached("SELECT passages FROM artifacts WHERE number = ?1 AND state = ?2")?
            .query_row(params![self.number, State::Stored.number()], |row| row.get(0))
            .optional()?;
        match begun {
            // It is indexed, or gone.
            None => return Ok((Progress::Done, self.done)),
            Some(begun) if usize::try_from(begun) != Ok(self.done) => return Ok((Progress::Elsewhere, self.done)),
            Some(_) => {}
        }
        let mut end = self.done;
        if let Some(first) = self.passages.get(self.done) {
            if !make(transaction, self.holder)? {
                return Ok((Progress::More, self.done));
            }
            let (words, parts) = index_names(self.holder);
            let id = |place: usize| ids(self.number).start.saturating_add(i64::try_from(place).unwrap_or(i64::MAX));
            let part = id(self.done);
            let mut passage = transaction.prepare_cached(
                "INSERT INTO artifact_passages(id, part, start, length, form, pointer) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            let mut word = transaction.prepare_cached(&format!("INSERT INTO {words}(rowid, text) VALUES (?1, ?2)"))?;
            let mut whole = String::new();
            let start = first.at.start;
            for next in self.passages.get(self.done..).unwrap_or_default() {
                if end > self.done && next.at.end.saturating_sub(start) > PART {
                    break;
                }
                let raw = self.content.get(next.at.clone()).unwrap_or_default();
                let text = next.form.searched(raw);
                passage.execute(params![
                    id(end),
                    part,
                    i64::try_from(next.at.start).unwrap_or(i64::MAX),
                    i64::try_from(next.at.len()).unwrap_or(i64::MAX),
                    number_of_form(next.form),
                    next.pointer,
                ])?;
                word.execute(params![id(end), text])?;
                whole.push_str(&text);
                whole.push('\n');
                end += 1;
            }
            transaction
                .prepare_cached(&format!("INSERT INTO {parts}(rowid, text) VALUES (?1, ?2)"))?
                .execute(params![part, whole])?;
        }
        let state = if end >= self.passages.len() { State::Indexed } else { State::Stored };
        transaction
            .prepare_cached("UPDATE artifacts SET passages = ?2, state = ?3, unsearched = ?4 WHERE number = ?1")?
            .execute(params![
                self.number,
                i64::try_from(end).unwrap_or(i64::MAX),
                state.number(),
                i64::try_from(self.over).unwrap_or(i64::MAX),
            ])?;
        Ok((if state == State::Indexed { Progress::Done } else { Progress::More }, end))
    }
}

/// Creates a holder's indexes if they do not exist. Returns whether they do: earlier ones are
/// removed first, some of them in this transaction.
fn make(transaction: &Transaction<'_>, holder: i64) -> rusqlite::Result<bool> {
    let state: Option<i64> = transaction
        .prepare_cached("SELECT is_indexed FROM artifact_holders WHERE id = ?1")?
        .query_row(params![holder], |row| row.get(0))
        .optional()?;
    match state {
        Some(1) => return Ok(true),
        Some(2) if !unmake(transaction, holder)? => return Ok(false),
        _ => {}
    }
    let (words, parts) = index_names(holder);
    transaction.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {words} USING fts5(text, {WORDS});
         CREATE VIRTUAL TABLE {parts} USING fts5(text, {PARTS});
         UPDATE artifact_holders SET is_indexed = 1 WHERE id = {holder};"
    ))?;
    Ok(true)
}

/// Removes some of a holder's indexes, which nobody can use from then on. Returns whether they are
/// gone: large ones take several transactions.
pub(super) fn unmake(transaction: &Transaction<'_>, holder: i64) -> rusqlite::Result<bool> {
    transaction.prepare_cached("UPDATE artifact_holders SET is_indexed = 2 WHERE id = ?1")?.execute(params![holder])?;
    let (words, parts) = index_names(holder);
    for index in [&words, &parts] {
        // Normally the tables of an index are written only through the index. This is an exception,
        // because the index has no command that empties it in parts.
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
        let has_more = shorten(transaction, index);
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        if has_more? {
            return Ok(false);
        }
    }
    transaction.execute_batch(&format!(
        "DROP TABLE IF EXISTS {words};
         DROP TABLE IF EXISTS {parts};
         UPDATE artifact_holders SET is_indexed = 0 WHERE id = {holder};"
    ))?;
    Ok(true)
}

/// Removes rows of an index's tables. Returns whether there may be more.
fn shorten(transaction: &Transaction<'_>, index: &str) -> rusqlite::Result<bool> {
    for (table, key, at_once) in TABLES {
        let table = format!("{index}_{table}");
        // The table may be missing in a damaged file.
        if !transaction.table_exists(None::<&str>, table.as_str())? {
            continue;
        }
        let some = format!("DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} LIMIT {at_once})");
        if transaction.execute(&some, [])? == at_once {
            return Ok(true);
        }
    }
    Ok(false)
}
