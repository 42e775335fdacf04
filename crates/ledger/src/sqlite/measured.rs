//! What was measured about servers: a row for each server and day, for all processes of a user.
//!
//! The table is created when something is first kept in it, and is not part of the file's versions.
//! The measurements of all processes are added up; those older than a week are forgotten.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use belljar_model::{MEASURED_DAYS, Measures};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::asked::Measured;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS measured(
    configuration TEXT NOT NULL,
    server TEXT NOT NULL,
    day INTEGER NOT NULL,
    measures TEXT NOT NULL,
    PRIMARY KEY (configuration, server, day)
) STRICT, WITHOUT ROWID;
";

/// Adds measurements to those that are kept for this day.
pub(super) fn add(connection: &mut Connection, measured: &Measured, now: SystemTime) -> rusqlite::Result<()> {
    let today = day_of(now);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLE)?;
    transaction.prepare_cached("DELETE FROM measured WHERE day <= ?1")?.execute(params![today - days()])?;
    for (server, measures) in &measured.servers {
        let mut sum: Measures = transaction
            .prepare_cached("SELECT measures FROM measured WHERE configuration = ?1 AND server = ?2 AND day = ?3")?
            .query_row(params![measured.configuration, server, today], |row| row.get::<_, String>(0))
            .optional()?
            .map(|text| read(&text))
            .unwrap_or_default();
        sum.add(measures);
        let text =
            serde_json::to_string(&sum).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO measured(configuration, server, day, measures) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![measured.configuration, server, today, text])?;
    }
    transaction.commit()
}

/// What is kept about the servers of a configuration, over all days that count.
pub(super) fn of(
    connection: &Connection,
    configuration: &str,
    now: SystemTime,
) -> rusqlite::Result<BTreeMap<String, Measures>> {
    let mut sums = BTreeMap::<String, Measures>::new();
    let is_made = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'measured'";
    if connection.query_row(is_made, [], |_| Ok(())).optional()?.is_none() {
        return Ok(sums);
    }
    let mut statement =
        connection.prepare("SELECT server, measures FROM measured WHERE configuration = ?1 AND day > ?2")?;
    let mut rows = statement.query(params![configuration, day_of(now) - days()])?;
    while let Some(row) = rows.next()? {
        sums.entry(row.get(0)?).or_default().add(&read(&row.get::<_, String>(1)?));
    }
    Ok(sums)
}

/// Reads measurements. Those that cannot be read were written by another version, and count as
/// none.
fn read(text: &str) -> Measures {
    serde_json::from_str(text).unwrap_or_default()
}

fn day_of(now: SystemTime) -> i64 {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs() / DAY.as_secs()).unwrap_or(i64::MAX)
}

fn days() -> i64 {
    i64::from(MEASURED_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::file;

    fn measured(configuration: &str, milliseconds: u64) -> Measured {
        let mut measures = Measures { errors: 1, ..Measures::default() };
        measures.warm_calls.record(Duration::from_millis(milliseconds));
        Measured { configuration: configuration.to_owned(), servers: BTreeMap::from([("fs".to_owned(), measures)]) }
    }

    #[test]
    fn what_processes_measure_adds_up_for_a_week_and_for_each_configuration() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut here, mut there) =
            (file::open(folder.path()).expect("made"), file::open(folder.path()).expect("open"));
        let day = |number: u64| SystemTime::UNIX_EPOCH + Duration::from_secs((20_000 + number) * 24 * 60 * 60 + 5);
        assert!(of(&here, "a", day(0)).expect("nothing").is_empty());
        add(&mut here, &measured("a", 5), day(0)).expect("kept");
        add(&mut there, &measured("a", 9), day(0)).expect("kept");
        add(&mut there, &measured("b", 100), day(0)).expect("kept");
        add(&mut here, &measured("a", 7), day(1)).expect("kept");
        let found = |connection: &Connection, name: &str, at: u64| {
            of(connection, name, day(at))
                .expect("read")
                .remove("fs")
                .map(|found| (found.errors, found.warm_calls.samples()))
        };
        assert_eq!((found(&there, "a", 6), found(&there, "b", 1)), (Some((3, 3)), Some((1, 1))));
        assert_eq!((found(&there, "a", 7), found(&there, "a", 8)), (Some((1, 1)), None));
        // Old measurements of all configurations are removed when something is added.
        add(&mut here, &measured("c", 7), day(7)).expect("kept");
        let rows: i64 = here.query_row("SELECT count(*) FROM measured", [], |row| row.get(0)).expect("a count");
        assert_eq!(rows, 2);
        here.execute("UPDATE measured SET measures = 'nonsense'", []).expect("changed");
        assert_eq!(found(&here, "a", 7), Some((0, 0)));
    }
}
