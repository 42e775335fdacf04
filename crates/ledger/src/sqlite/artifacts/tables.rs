//! The tables, and the meaning of the numbers in them.

use belljar_model::ArtifactKind;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::{holder::Holder, passages::Form};

/// The tables of artifacts. A row of `artifacts` is the entry of one artifact: its `state` is one
/// of [`State`], `days` is how long it is kept after its last use, and `passages` counts the
/// passages that are indexed. The ids of its pieces and passages are made of its number and their
/// own, as in [`ids`]. Each holder has two indexes of its own, so that a search costs nothing for
/// what others have and reveals nothing about it. They are made when something is first indexed,
/// and are removed with the holder's last artifact: `is_indexed` is 1 while they exist, and 2 while
/// they are being removed. `artifact_pages` has the number of pages of the file that all this
/// takes: twelve while it is empty.
pub(in crate::sqlite) const TABLES: &str = "
CREATE TABLE artifact_holders(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    is_owner INTEGER NOT NULL,
    principal TEXT NOT NULL,
    workspace TEXT NOT NULL,
    is_indexed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (is_owner, principal, workspace)
) STRICT;
CREATE TABLE artifacts(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id INTEGER NOT NULL UNIQUE,
    holder INTEGER NOT NULL,
    state INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    name TEXT,
    mime TEXT,
    run INTEGER,
    labels TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    days INTEGER NOT NULL,
    passages INTEGER NOT NULL DEFAULT 0,
    unsearched INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX artifacts_by_name ON artifacts(holder, name) WHERE name IS NOT NULL;
CREATE INDEX artifacts_by_use ON artifacts(holder, state, used_ms, bytes);
CREATE INDEX artifacts_open ON artifacts(state, number) WHERE state <> 2;
CREATE INDEX artifacts_by_run ON artifacts(run) WHERE run IS NOT NULL;
CREATE TABLE artifact_pieces(
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;
CREATE TABLE artifact_passages(
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    form INTEGER NOT NULL,
    pointer TEXT NOT NULL
) STRICT;
CREATE TABLE artifact_pages(
    id INTEGER PRIMARY KEY,
    pages INTEGER NOT NULL
) STRICT;
INSERT INTO artifact_pages(id, pages) VALUES (1, 12);
";

/// Pages of the tables while they are empty.
const EMPTY: i64 = 12;

/// Bytes of a piece of content.
pub(super) const PIECE: usize = 64 * 1024;
/// Bytes that each artifact counts in addition to its content, so that many small ones are bounded,
/// too.
pub(super) const OVERHEAD: i64 = 1024;
/// The most pieces or passages of one artifact: a power of two.
const EACH: i64 = 1 << 20;

/// The state of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Its pieces are being written: it does not exist yet.
    Coming = 0,
    /// It exists, but not all of it can be searched.
    Stored = 1,
    /// It exists, and all of it can be searched.
    Indexed = 2,
    /// It no longer exists, and its parts are to be removed.
    Gone = 3,
}

impl State {
    pub(super) fn number(self) -> i64 {
        self as i64
    }
}

/// Whether the artifact in a row of `artifacts` exists for its holder.
pub(super) const IS_THERE: &str = "state IN (1, 2)";

/// Artifacts in a state that few have. SQLite uses their index only if its condition is repeated.
pub(super) const IN_STATE: &str = "state = ?1 AND state <> 2";

/// The range of the ids of an artifact's pieces or passages.
pub(super) fn ids(artifact: i64) -> std::ops::Range<i64> {
    artifact.saturating_mul(EACH)..artifact.saturating_add(1).saturating_mul(EACH)
}

/// The artifact that a piece or passage belongs to.
pub(super) fn artifact_of(id: i64) -> i64 {
    id.div_euclid(EACH)
}

/// The number that stands for a kind in the file.
pub(super) fn number_of_kind(kind: ArtifactKind) -> i64 {
    match kind {
        ArtifactKind::Value => 0,
        ArtifactKind::Text => 1,
        ArtifactKind::Blob => 2,
    }
}

pub(super) fn kind(number: i64) -> Option<ArtifactKind> {
    ArtifactKind::ALL.into_iter().find(|kind| number_of_kind(*kind) == number)
}

/// The number that stands for a passage's form in the file.
pub(super) fn number_of_form(form: Form) -> i64 {
    match form {
        Form::Plain => 0,
        Form::Json => 1,
        Form::Inside => 2,
    }
}

pub(super) fn form(number: i64) -> Option<Form> {
    Form::ALL.into_iter().find(|form| number_of_form(*form) == number)
}

/// The values of a holder's columns: whether it is the owner, and the principal's name.
pub(super) fn columns(holder: &Holder) -> (bool, &str) {
    (holder.principal.is_none(), holder.principal.as_deref().unwrap_or_default())
}

/// The number of a holder, if it has anything.
pub(super) fn holder(connection: &Connection, holder: &Holder) -> rusqlite::Result<Option<i64>> {
    let (is_owner, principal) = columns(holder);
    connection
        .prepare_cached("SELECT id FROM artifact_holders WHERE is_owner = ?1 AND principal = ?2 AND workspace = ?3")?
        .query_row(params![is_owner, principal, &*holder.workspace], |row| row.get(0))
        .optional()
}

/// The names of a holder's indexes: of words, and of all sequences of three characters.
pub(super) fn index_names(holder: i64) -> (String, String) {
    (format!("artifact_words_{holder}"), format!("artifact_parts_{holder}"))
}

/// Does one step of the work on artifacts in a transaction, and counts the pages that it took.
pub(super) fn step<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = used_pages(&transaction)?;
    let done = work(&transaction)?;
    // Without a savepoint, an index holds its changes back until the end.
    transaction.execute_batch("SAVEPOINT counted; RELEASE counted")?;
    let more = used_pages(&transaction)?.saturating_sub(before);
    if more != 0 {
        transaction
            .prepare_cached("UPDATE artifact_pages SET pages = max(pages + ?1, 0) WHERE id = 1")?
            .execute(params![more])?;
    }
    transaction.commit()?;
    Ok(done)
}

/// Corrects the count of pages after the file was rewritten. Before, `before` pages were used.
pub(in crate::sqlite) fn rewritten(connection: &Connection, before: i64) -> rusqlite::Result<()> {
    let none_left = !connection.prepare("SELECT 1 FROM artifacts")?.exists([])?;
    let counted = pages(connection)?;
    let pages = if none_left {
        EMPTY
    } else {
        // It is unknown whose pages were saved, so the saving is shared in proportion.
        let share = i128::from(counted) * i128::from(used_pages(connection)?) / i128::from(before.max(1));
        i64::try_from(share).unwrap_or(counted)
    };
    connection.execute("UPDATE artifact_pages SET pages = ?1 WHERE id = 1", params![pages]).map(drop)
}

/// Pages of the file that artifacts take.
pub(in crate::sqlite) fn pages(connection: &Connection) -> rusqlite::Result<i64> {
    let pages =
        connection.query_row("SELECT pages FROM artifact_pages WHERE id = 1", [], |row| row.get(0)).optional()?;
    Ok(pages.unwrap_or_default())
}

/// Pages of the file that are in use, except those in which SQLite records what the other pages
/// belong to. Their number depends on the number of all pages, even when the file shrinks.
pub(in crate::sqlite) fn used_pages(connection: &Connection) -> rusqlite::Result<i64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (all, each) = (number("page_count")?, number("page_size")? / 5 + 1);
    let notes = if all < 2 { 0 } else { (all - 2) / each + 1 };
    Ok(all.saturating_sub(number("freelist_count")?).saturating_sub(notes))
}
