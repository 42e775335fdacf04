//! How many calls the owner's rules have let through, by principal, for all processes of a user.
//!
//! A count is read and written in one transaction: if two processes want the last place, one of
//! them gets it. Anything older than a day is forgotten.

use std::time::{Duration, SystemTime};

use rusqlite::{TransactionBehavior, params};

use super::beside::Beside;
use crate::{
    asked::{Count, CountId},
    error::LedgerError,
    query::milliseconds,
};

/// The age from which rows no longer matter.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl Beside {
    /// Counts a call, or returns `None` if there is no room for it. Blocks.
    pub(super) fn count(&self, count: &Count) -> Result<Option<CountId>, LedgerError> {
        self.with(|connection| {
            let now = SystemTime::now();
            let before = |past| now.checked_sub(past).map_or(0, milliseconds);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.prepare_cached("DELETE FROM counted WHERE at_ms < ?1")?.execute(params![before(KEPT)])?;
            // A time in the future, such as after a clock was set back, counts too.
            let used: u32 = transaction
                .prepare_cached("SELECT count(*) FROM counted WHERE rule = ?1 AND principal = ?2 AND at_ms > ?3")?
                .query_row(params![count.rule, count.principal, before(count.within)], |row| row.get(0))?;
            if used >= count.at_most {
                return Ok(None);
            }
            transaction
                .prepare_cached("INSERT INTO counted(rule, principal, at_ms) VALUES (?1, ?2, ?3)")?
                .execute(params![count.rule, count.principal, milliseconds(now)])?;
            let id = transaction.last_insert_rowid();
            transaction.commit()?;
            Ok(Some(CountId(id)))
        })
    }

    /// Undoes a count. Blocks.
    pub(super) fn uncount(&self, CountId(id): CountId) -> Result<(), LedgerError> {
        self.with(|connection| {
            connection.prepare_cached("DELETE FROM counted WHERE id = ?1")?.execute(params![id])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::file;

    fn count(rule: &str, principal: &str, at_most: u32, within: Duration) -> Count {
        Count { rule: rule.to_owned(), principal: principal.to_owned(), at_most, within }
    }

    #[test]
    fn a_rule_counts_by_principal_and_in_all_processes_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let counts = || Beside::new(Some(folder.path().to_owned()));
        let (here, there) = (counts(), counts());
        let day = Duration::from_secs(24 * 60 * 60);
        let ada = count("mails", "ada", 2, day);
        let first = here.count(&ada).expect("kept").expect("room");
        assert!(there.count(&ada).expect("kept").is_some());
        assert_eq!(here.count(&ada).expect("kept"), None);
        for other in [count("mails", "bob", 2, day), count("posts", "ada", 2, day), count("mails", "ada", 3, day)] {
            assert!(here.count(&other).expect("kept").is_some(), "{other:?}");
        }
        there.uncount(first).expect("kept");
        assert_eq!(here.count(&ada).expect("kept"), None, "the third was counted too");
        let all = std::thread::scope(|scope| {
            let many: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        (0..5)
                            .filter(|_| counts().count(&count("many", "ada", 7, day)).expect("kept").is_some())
                            .count()
                    })
                })
                .collect();
            many.into_iter().map(|one| one.join().expect("no panic")).sum::<usize>()
        });
        assert_eq!(all, 7);
    }

    #[test]
    fn what_is_older_than_the_period_does_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let counts = Beside::new(Some(folder.path().to_owned()));
        let minute = count("mails", "ada", 1, Duration::from_secs(60));
        assert!(counts.count(&minute).expect("kept").is_some());
        let connection = Connection::open(folder.path().join(file::NAME)).expect("the ledger");
        let age =
            |by: i64| connection.execute("UPDATE counted SET at_ms = at_ms - ?1", params![by]).expect("it is there");
        age(30_000);
        assert_eq!(counts.count(&minute).expect("kept"), None);
        age(31_000);
        assert!(counts.count(&minute).expect("kept").is_some());
        age(24 * 60 * 60 * 1000 + 1);
        assert!(counts.count(&minute).expect("kept").is_some());
        let left: i64 = connection.query_row("SELECT count(*) FROM counted", [], |row| row.get(0)).expect("a number");
        assert_eq!(left, 1, "what is older than a day is gone");
        assert!(matches!(Beside::new(None).count(&minute), Err(LedgerError::NoFolder)));
    }
}
