//! The labels that a principal carries, and the runs that they come from, for all processes of a
//! user.
//!
//! Each mark names its run, so that a run can tell its own labels, which come in the order of its
//! script, from those of other runs. Anything older than a week is forgotten.

use std::time::SystemTime;

use rusqlite::{TransactionBehavior, params};

use super::beside::{Beside, LONGEST_ASKED};
use crate::{
    asked::{Carried, Mark},
    error::LedgerError,
    query::milliseconds,
};

impl Beside {
    /// Keeps a mark. Blocks.
    pub(super) fn mark(&self, mark: &Mark) -> Result<(), LedgerError> {
        self.with(|connection| {
            let now = SystemTime::now();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let before = now.checked_sub(LONGEST_ASKED).map_or(0, milliseconds);
            transaction.prepare_cached("DELETE FROM labelled WHERE at_ms < ?1")?.execute(params![before])?;
            for label in &mark.labels {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO labelled(principal, label, run, at_ms) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![mark.principal, label, mark.run.bits().cast_signed(), milliseconds(now)])?;
            }
            transaction.commit()
        })
    }

    /// The labels from other runs of a principal. Blocks.
    pub(super) fn carried(&self, asked: &Carried) -> Result<Vec<String>, LedgerError> {
        self.with(|connection| {
            let before = SystemTime::now().checked_sub(asked.within).map_or(0, milliseconds);
            // A time in the future, such as after a clock was set back, counts too.
            connection
                .prepare_cached(
                    "SELECT DISTINCT label FROM labelled
                     WHERE principal = ?1 AND at_ms > ?2 AND (?3 IS NULL OR run <> ?3) ORDER BY label",
                )?
                .query_map(params![asked.principal, before, asked.except.map(|run| run.bits().cast_signed())], |row| {
                    row.get(0)
                })?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_model::RunId;
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::file;

    fn mark(principal: &str, labels: &[&str], run: u64) -> Mark {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Mark { principal: principal.to_owned(), labels, run: RunId::from_bits(run) }
    }

    fn carried(beside: &Beside, principal: &str, except: Option<u64>, within: u64) -> Vec<String> {
        let (principal, except) = (principal.to_owned(), except.map(RunId::from_bits));
        beside.carried(&Carried { principal, except, within: Duration::from_secs(within) }).expect("kept")
    }

    #[test]
    fn a_principal_carries_what_their_other_runs_brought_in_all_processes() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = || Beside::new(Some(folder.path().to_owned()));
        let (here, there) = (beside(), beside());
        assert!(carried(&here, "ada", None, 3600).is_empty());
        here.mark(&mark("ada", &["private", "secret"], u64::MAX)).expect("kept");
        here.mark(&mark("ada", &["private"], 2)).expect("kept");
        assert_eq!(carried(&there, "ada", None, 3600), ["private", "secret"]);
        assert_eq!(carried(&there, "ada", Some(u64::MAX), 3600), ["private"]);
        assert_eq!(carried(&there, "ada", Some(2), 3600), ["private", "secret"]);
        assert!(carried(&there, "bob", None, 3600).is_empty());
        assert!(matches!(Beside::new(None).mark(&mark("ada", &["private"], 1)), Err(LedgerError::NoFolder)));
    }

    #[test]
    fn a_mark_that_is_older_than_the_memory_does_not_count_and_a_new_answer_renews_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = Beside::new(Some(folder.path().to_owned()));
        beside.mark(&mark("ada", &["private"], 1)).expect("kept");
        let connection = Connection::open(folder.path().join(file::NAME)).expect("the ledger");
        let age =
            |by: i64| connection.execute("UPDATE labelled SET at_ms = at_ms - ?1", params![by]).expect("it is there");
        age(50_000);
        assert_eq!(carried(&beside, "ada", None, 60), ["private"]);
        age(11_000);
        assert!(carried(&beside, "ada", None, 60).is_empty());
        beside.mark(&mark("ada", &["private"], 1)).expect("kept");
        assert_eq!(carried(&beside, "ada", None, 60), ["private"]);
        age(7 * 24 * 60 * 60 * 1000 + 1);
        beside.mark(&mark("bob", &["private"], 2)).expect("kept");
        let left: i64 = connection.query_row("SELECT count(*) FROM labelled", [], |row| row.get(0)).expect("a number");
        assert_eq!(left, 1, "what is older than a week is gone");
    }
}
