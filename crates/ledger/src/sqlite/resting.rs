//! Suspended runs, which wait for people.
//!
//! The state of a suspended run is sealed. It is kept until the run ends or is suspended again,
//! because a process that resumes the run may be killed. The run can then be resumed again, unless
//! calls that may change something were sent meanwhile.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use belljar_model::RunId;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::{
    columns::{assumption, number_of_assumption, senseless, unsigned},
    live::{Living, Presence},
};
use crate::{
    entry::{Assumption, Digest, RunRest},
    key::Key,
    query::{NotResting, RestingRun, milliseconds},
};

/// The table of version 5. `sent` is how many calls that may change something had been sent when
/// the run was suspended.
pub(super) const TABLE: &str = "
CREATE TABLE resting(
    run INTEGER PRIMARY KEY,
    until_ms INTEGER NOT NULL,
    asked BLOB,
    sent INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;
CREATE INDEX resting_by_asked ON resting(asked);
";

/// From version 5 to 6: which calls may be made again, and, if the run was interrupted, what the
/// owner assumes about the others up to this number.
pub(super) const ASSUMED: &str = "
ALTER TABLE calls ADD COLUMN may_repeat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE resting ADD COLUMN assumed INTEGER;
ALTER TABLE resting ADD COLUMN assumed_sent INTEGER;
";

/// Calls of a run that were sent and may have changed something, except those that may be made
/// again.
const SENT: &str =
    "(SELECT count(*) FROM calls c WHERE c.run = r.id AND c.state <> 4 AND c.trusted > 0 AND c.may_repeat = 0)";

/// Whether a run of the table `runs r` can be resumed, if nobody has resumed it yet.
pub(super) fn can_go_on() -> String {
    format!("EXISTS (SELECT 1 FROM resting x WHERE x.run = r.id AND {SENT} IN (x.sent, x.assumed_sent))")
}

/// Suspends a run whose calls are already written.
pub(super) fn rest(to: &Transaction<'_>, key: &Key, rest: &RunRest) -> rusqlite::Result<()> {
    let run = rest.start.run.bits();
    let unlucky = |_| rusqlite::Error::ToSqlConversionFailure("the system gave no random number".into());
    let state = key.sealed(run, &rest.state).ok_or(()).map_err(unlucky)?;
    to.prepare_cached(&format!(
        "INSERT OR REPLACE INTO resting(run, until_ms, asked, sent, state)
         SELECT r.id, ?2, ?3, {SENT}, ?4 FROM runs r WHERE r.id = ?1"
    ))?
    .execute(params![run.cast_signed(), milliseconds(rest.until), rest.asked, state])
    .map(|_| ())
}

/// Deletes the state of a suspended run.
pub(super) fn end(to: &Connection, run: i64) -> rusqlite::Result<()> {
    to.prepare_cached("DELETE FROM resting WHERE run = ?1")?.execute(params![run]).map(|_| ())
}

/// Returns a suspended run, if it can be resumed.
pub(super) fn resting(
    connection: &Connection,
    path: &Path,
    key: &Key,
    run: RunId,
) -> rusqlite::Result<Result<RestingRun, NotResting>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.started_ms, r.took_us, r.principal, r.source_bytes, r.source, x.until_ms, x.state, r.state, r.process, {}, x.assumed
         FROM runs r LEFT JOIN resting x ON x.run = r.id WHERE r.id = ?1",
        can_go_on()
    ))?;
    let found = statement.query_row(params![run.bits().cast_signed()], |row| {
        let is_taken_up = row.get::<_, i64>(7)? == 0 && Living::beside(path).has(row.get(8)?);
        if is_taken_up {
            return Ok(Err(NotResting::Running));
        }
        let Some(sealed) = row.get::<_, Option<Vec<u8>>>(6)? else {
            let is_over = matches!(row.get::<_, i64>(7)?, 1 | 2);
            return Ok(Err(if is_over { NotResting::Over } else { NotResting::Lost }));
        };
        if !row.get::<_, bool>(9)? {
            return Ok(Err(NotResting::Interrupted));
        }
        let Some(state) = key.opened(run.bits(), &sealed) else { return Ok(Err(NotResting::Sealed)) };
        Ok(Ok(RestingRun {
            at: time(row, 0)?,
            took: Duration::from_micros(unsigned(row, 1)?.unwrap_or_default()),
            principal: row.get(2)?,
            source: (unsigned(row, 3)?, row.get(4)?),
            until: time(row, 5)?,
            assumed: assumption(row, 10)?,
            state,
        }))
    });
    Ok(found.optional()?.unwrap_or(Err(NotResting::Unknown)))
}

/// Resumes a run in this process. If two processes try, one succeeds.
pub(super) fn take_up(
    connection: &mut Connection,
    path: &Path,
    (presence, key): (&Presence, &Key),
    run: RunId,
) -> rusqlite::Result<Result<RestingRun, NotResting>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = resting(&transaction, path, key, run)?;
    if found.is_ok() {
        let mut statement = transaction.prepare_cached("UPDATE runs SET state = 0, process = ?2 WHERE id = ?1")?;
        statement.execute(params![run.bits().cast_signed(), presence.token()])?;
        drop(statement);
        transaction.commit()?;
    }
    Ok(found)
}

/// Records what the owner assumes about the calls that an interrupted run has sent. It covers only
/// these: if the run sends others and is interrupted again, nothing is assumed about those.
pub(super) fn assume(
    connection: &mut Connection,
    path: &Path,
    key: &Key,
    (run, assumed): (RunId, Assumption),
) -> rusqlite::Result<Result<(), NotResting>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match resting(&transaction, path, key, run)? {
        Err(NotResting::Interrupted) => {}
        // An earlier assumption can be changed as long as nobody has resumed the run.
        Ok(resting) if resting.assumed.is_some() => {}
        Ok(_) => return Ok(Err(NotResting::Waits)),
        Err(reason) => return Ok(Err(reason)),
    }
    let sql = format!(
        "UPDATE resting SET assumed = ?2, assumed_sent = (SELECT {SENT} FROM runs r WHERE r.id = ?1) WHERE run = ?1"
    );
    transaction.prepare_cached(&sql)?.execute(params![run.bits().cast_signed(), number_of_assumption(assumed)])?;
    transaction.commit()?;
    Ok(Ok(()))
}

/// Suspends a run again that this process resumed.
pub(super) fn lay_down(connection: &Connection, presence: &Presence, run: RunId) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET state = 4 WHERE id = ?1 AND state = 0 AND process = ?2
               AND EXISTS (SELECT 1 FROM resting x WHERE x.run = id)";
    connection.prepare_cached(sql)?.execute(params![run.bits().cast_signed(), presence.token()]).map(|_| ())
}

/// The suspended run with this request that has not expired.
pub(super) fn of(connection: &Connection, asked: Digest) -> rusqlite::Result<Option<RunId>> {
    let sql = "SELECT run FROM resting WHERE asked = ?1 AND until_ms > ?2 ORDER BY until_ms LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![asked, milliseconds(SystemTime::now())], |row| row.get::<_, i64>(0));
    Ok(found.optional()?.map(|run| RunId::from_bits(run.cast_unsigned())))
}

/// Whether a row of `runs` is kept even if the file is too large: the run is suspended or waits for
/// the owner, and can still be decided.
pub(super) const IS_HELD: &str = "(EXISTS (SELECT 1 FROM resting x WHERE x.run = runs.id AND x.until_ms > :now)
    OR EXISTS (SELECT 1 FROM questions q WHERE q.run = runs.id AND q.state IN (0, 1) AND q.expires_ms > :now))";

/// The total size of suspended runs that have not expired, and of what open questions show to the
/// owner. Expired ones are forgotten when the file is too large.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce((SELECT sum(length(state)) FROM resting WHERE until_ms > ?1), 0)
        + coalesce((SELECT sum(octet_length(shown)) FROM questions WHERE state = 0 AND expires_ms > ?1), 0)";
    let now = params![milliseconds(SystemTime::now())];
    connection.query_row(sql, now, |row| Ok(unsigned(row, 0)?.unwrap_or_default()))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<SystemTime> {
    let milliseconds = unsigned(row, column)?.unwrap_or_default();
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds));
    time.ok_or_else(|| senseless(column, "a time"))
}
