//! The file: its name, its identification, and its tables.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use super::{PATIENCE, artifacts, kept, place, points, questions, resting};
use crate::error::LedgerError;

/// Its name in the state folder.
pub(super) const NAME: &str = "ledger.db";

/// Distinguishes it from the files of other programs: "bjlr".
const APPLICATION: i64 = 0x626a_6c72;

/// The version of the tables below. A file of a later version is not touched.
pub(super) const VERSION: i64 = 8;

/// The size to which the log beside the file is cut when it starts again.
const LOG_BYTES: i64 = 16 * 1024 * 1024;

/// Runs, their calls, and for some runs the recording of what they took in, or the reason why it is
/// missing or incomplete. `entry.rs` explains the names. A run's `state` is 0 while it runs, 1 ok,
/// 2 failed, 3 interrupted, 4 suspended; a call's is 0 sent, 1 ok, 2 the tool failed, 3 no answer
/// came, 4 it was denied, 5 and 6 the owner assumes that it was done or failed; a verdict is 0
/// allow, 1 ask, 2 deny; an effect is 0 read-only, 1 mutating, 2 external, and a run's `effects`
/// has a bit for each effect that the tools of its calls claim. `called` is for finding the runs
/// that called a tool, latest first.
const SCHEMA: &str = "
CREATE TABLE tools(
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    UNIQUE (server, tool)
) STRICT;
CREATE TABLE runs(
    id INTEGER PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    process INTEGER NOT NULL,
    state INTEGER NOT NULL,
    origin TEXT NOT NULL,
    key INTEGER,
    source_bytes INTEGER,
    source BLOB,
    took_us INTEGER,
    error TEXT,
    line INTEGER,
    fuel INTEGER,
    computed_us INTEGER,
    peak_memory INTEGER,
    principal TEXT,
    client TEXT,
    effects INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_start ON runs(started_ms, state, effects);
CREATE INDEX runs_open ON runs(process) WHERE state = 0;
CREATE TABLE called(
    tool INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (tool, started_ms, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE calls(
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    effect INTEGER NOT NULL,
    trusted INTEGER NOT NULL,
    state INTEGER NOT NULL,
    begun_us INTEGER NOT NULL,
    took_us INTEGER,
    arguments_bytes INTEGER NOT NULL,
    arguments BLOB,
    answer_bytes INTEGER,
    answer BLOB,
    verdict INTEGER,
    rule TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE recordings(
    run INTEGER PRIMARY KEY,
    reason TEXT,
    data BLOB
) STRICT;
";

/// From version 1 to 2: askers, and which runs have which tools and effects.
const FROM_1_TO_2: &str = "
ALTER TABLE runs ADD COLUMN principal TEXT;
ALTER TABLE runs ADD COLUMN client TEXT;
ALTER TABLE runs ADD COLUMN effects INTEGER NOT NULL DEFAULT 0;
CREATE TABLE called(
    tool INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (tool, started_ms, run)
) STRICT, WITHOUT ROWID;
INSERT INTO called SELECT DISTINCT c.tool, r.started_ms, r.id FROM calls c JOIN runs r ON r.id = c.run;
UPDATE runs SET effects = (SELECT coalesce(max(effect = 0) + 2 * max(effect = 1) + 4 * max(effect = 2), 0)
    FROM calls WHERE run = runs.id);
DROP INDEX runs_by_start;
CREATE INDEX runs_by_start ON runs(started_ms, state, effects);
";

/// From version 2 to 3: the verdicts of the owner's rules on calls.
const FROM_2_TO_3: &str = "
ALTER TABLE calls ADD COLUMN verdict INTEGER;
ALTER TABLE calls ADD COLUMN rule TEXT;
";

/// From version 5 to 6, and also for a new file: additions for questions and for interrupted runs.
const FROM_5_TO_6: [&str; 3] = [questions::WAYS, questions::GRANTS, resting::ASSUMED];

/// The kind of file that was found.
#[derive(PartialEq, Eq)]
enum Made {
    /// It is empty.
    NotYet,
    /// A ledger of this earlier version.
    Earlier(i64),
    /// A ledger of the current version.
    Yes,
}

/// Opens the ledger of a folder for writing, and creates it if there is none.
pub(super) fn open(folder: &Path) -> Result<Connection, LedgerError> {
    let path = folder.join(NAME);
    let unusable = |error: std::io::Error| LedgerError::Open { path: path.clone(), problem: error.to_string() };
    let directory = belljar_files::own_folder(folder).map_err(unusable)?;
    // SQLite gives the files beside this one the same mode.
    belljar_files::open(&directory, NAME, OpenOptions::new().read(true).write(true).create(true)).map_err(unusable)?;
    place::on_this_machine(folder, &path)?;
    place::has_locks(&directory, &path)?;
    let failed = |error: rusqlite::Error| LedgerError::of(&error, &path, PATIENCE);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    points::pass();
    let found = made(&connection, &path)?;
    if found == Made::NotYet {
        // A new file's settings must be set before it has any contents.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        points::pass();
        write_ahead(&connection).map_err(failed)?;
        points::pass();
    }
    if found != Made::Yes {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let from_5_to_6 = FROM_5_TO_6.concat();
        // Another process may have been faster.
        match made(&transaction, &path)? {
            Made::NotYet => make(
                &transaction,
                &[SCHEMA, questions::TABLE, resting::TABLE, &from_5_to_6, kept::TABLE, artifacts::TABLES].concat(),
            ),
            Made::Earlier(version) => {
                // From version 3 to 4: questions to the owner. From version 4 to 5: suspended runs.
                // From version 6 to 7: kept values. From version 7 to 8: artifacts.
                let steps = [
                    FROM_1_TO_2,
                    FROM_2_TO_3,
                    questions::TABLE,
                    resting::TABLE,
                    &from_5_to_6,
                    kept::TABLE,
                    artifacts::TABLES,
                ];
                let done = usize::try_from(version.saturating_sub(1)).unwrap_or_default();
                make(&transaction, &steps.get(done..).unwrap_or_default().concat())
            }
            Made::Yes => Ok(()),
        }
        .map_err(failed)?;
        points::pass();
        transaction.commit().map_err(failed)?;
        points::pass();
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        write_ahead(&connection).map_err(failed)?;
    }
    Ok(connection)
}

/// Opens the ledger at a path for reading, or returns `None` if there is none.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Connection>, LedgerError> {
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(error) => return Err(LedgerError::Open { path: path.to_owned(), problem: error.to_string() }),
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let directory = Dir::open_ambient_dir(folder, ambient_authority())
        .map_err(|error| LedgerError::Open { path: path.to_owned(), problem: error.to_string() })?;
    place::has_locks(&directory, path)?;
    let failed = |error: rusqlite::Error| LedgerError::of(&error, path, PATIENCE);
    // A reader takes part in locking, for which it must write to a file beside the ledger.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    match made(&connection, path)? {
        Made::NotYet => return Ok(None),
        Made::Yes => {}
        // The first process that opens it for writing migrates it.
        Made::Earlier(_) => drop(open(folder)?),
    }
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(Some(connection))
}

/// Settings so that the contents of a file cannot decide what is done here.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // Otherwise the last process to close the file would wait for the disk, and commands end often.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // After a large transaction, the log beside the file is cut when it starts again.
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "synchronous", "NORMAL")
}

/// Whether the file is a ledger of a known version. An empty file is not one yet.
fn made(connection: &Connection, path: &Path) -> Result<Made, LedgerError> {
    // Several reads must see the same moment: another process may be creating the file.
    let moment = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose();
    let _moment = moment.map_err(|error| LedgerError::of(&error, path, PATIENCE))?;
    let number = |name: &str| {
        let number = connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        number.map_err(|error| LedgerError::of(&error, path, PATIENCE))
    };
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => Ok(Made::Yes),
        (APPLICATION, found @ 1..VERSION) => Ok(Made::Earlier(found)),
        (APPLICATION, found) if found > VERSION => {
            Err(LedgerError::Newer { path: path.to_owned(), found, known: VERSION })
        }
        (0, 0) if number("schema_version")? == 0 => Ok(Made::NotYet),
        _ => Err(LedgerError::Foreign { path: path.to_owned() }),
    }
}

fn make(transaction: &Transaction<'_>, changes: &str) -> rusqlite::Result<()> {
    transaction.execute_batch(changes)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)
}

/// Switches to the write-ahead log. SQLite itself does not wait for another process that does the
/// same.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && begun.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_PROTOCOL);
                let problem = "its file system does not support shared memory".to_owned();
                return Err(rusqlite::Error::SqliteFailure(code, Some(problem)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_that_is_just_being_made_is_nothing_or_a_ledger_to_those_who_look() {
        for _ in 0..200 {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(NAME);
            thread::scope(|scope| {
                let made = scope.spawn(|| open(folder.path()).map(drop));
                while open_to_read(&path).expect("nothing, or a ledger").is_none() {}
                made.join().expect("no panic").expect("it is made");
            });
        }
    }
}
