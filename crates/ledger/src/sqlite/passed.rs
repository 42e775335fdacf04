//! Successful calls that a rule requires before it lets another call through, by principal and
//! rule, for all processes of a user. Anything older than a week is forgotten.

use std::time::{Duration, SystemTime};

use rusqlite::{TransactionBehavior, params};

use super::beside::{Beside, LONGEST_ASKED};
use crate::{asked::Passed, error::LedgerError, query::milliseconds};

impl Passed {
    fn run(&self) -> Option<i64> {
        self.run.map(|run| run.bits().cast_signed())
    }
}

impl Beside {
    /// Records that a call succeeded. Blocks.
    pub(super) fn pass(&self, passed: &Passed) -> Result<(), LedgerError> {
        self.with(|connection| {
            let now = SystemTime::now();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let before = now.checked_sub(LONGEST_ASKED).map_or(0, milliseconds);
            transaction.prepare_cached("DELETE FROM passed WHERE at_ms < ?1")?.execute(params![before])?;
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO passed(rules, rule, principal, same, run, at_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    passed.rules,
                    passed.rule,
                    passed.principal,
                    passed.same,
                    passed.run().unwrap_or_default(),
                    milliseconds(now)
                ])?;
            transaction.commit()
        })
    }

    /// Whether a call of another run succeeded within this time. Blocks.
    pub(super) fn has_passed(&self, passed: &Passed, within: Duration) -> Result<bool, LedgerError> {
        self.with(|connection| {
            let now = SystemTime::now();
            let before = now.checked_sub(within).map_or(0, milliseconds);
            // A time in the future, such as after a clock was set back, does not count.
            connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM passed WHERE rules = ?1 AND rule = ?2 AND principal = ?3 AND same = ?4
                     AND at_ms > ?5 AND at_ms <= ?6 AND (?7 IS NULL OR run <> ?7))",
                )?
                .query_row(
                    params![
                        passed.rules,
                        passed.rule,
                        passed.principal,
                        passed.same,
                        before,
                        milliseconds(now),
                        passed.run()
                    ],
                    |row| row.get(0),
                )
        })
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::RunId;
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::file;

    fn passed(principal: &str, same: u8, run: Option<u64>) -> Passed {
        let (rules, rule) = ("a".to_owned(), "looked".to_owned());
        Passed { rules, rule, principal: principal.to_owned(), same: [same; 16], run: run.map(RunId::from_bits) }
    }

    #[test]
    fn a_call_of_another_run_counts_with_the_same_values_for_its_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = || Beside::new(Some(folder.path().to_owned()));
        let (here, there) = (beside(), beside());
        let minute = Duration::from_secs(60);
        here.pass(&passed("ada", 1, Some(u64::MAX))).expect("kept");
        let has = |asked: Passed| there.has_passed(&asked, minute).expect("kept");
        assert!(has(passed("ada", 1, Some(2))) && has(passed("ada", 1, None)));
        assert!(!has(passed("ada", 1, Some(u64::MAX))), "its own");
        assert!(!has(passed("bob", 1, Some(2))) && !has(passed("ada", 2, Some(2))));
        for other in [
            Passed { rules: "b".to_owned(), ..passed("ada", 1, None) },
            Passed { rule: "other".to_owned(), ..passed("ada", 1, None) },
        ] {
            assert!(!has(other.clone()), "{other:?}");
        }
        let connection = Connection::open(folder.path().join(file::NAME)).expect("the ledger");
        let age =
            |by: i64| connection.execute("UPDATE passed SET at_ms = at_ms - ?1", params![by]).expect("it is there");
        age(61_000);
        assert!(!has(passed("ada", 1, None)), "too long ago");
        age(-120_000);
        assert!(!has(passed("ada", 1, None)), "in the future");
        age(7 * 24 * 60 * 60 * 1000 + 120_000);
        here.pass(&passed("ada", 3, None)).expect("kept");
        let left: i64 = connection.query_row("SELECT count(*) FROM passed", [], |row| row.get(0)).expect("a number");
        assert_eq!(left, 1);
    }
}
