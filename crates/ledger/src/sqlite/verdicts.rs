//! How often rules decided about calls.

use rusqlite::{Connection, Row};

use super::columns::{unsigned, verdict_at};
use crate::query::KeptVerdicts;

/// The most rules in an answer. A file has fewer, but rules of earlier files are included.
const MAX_RULES: usize = 10_000;

/// One row for each rule and verdict. Those that decided most often come first.
pub(super) fn of(connection: &Connection) -> rusqlite::Result<Vec<KeptVerdicts>> {
    let mut statement = connection.prepare(
        "SELECT c.rule, c.verdict, count(*), max(r.started_ms) FROM calls c JOIN runs r ON r.id = c.run
         WHERE c.verdict IS NOT NULL GROUP BY c.rule, c.verdict ORDER BY 3 DESC, 1, 2",
    )?;
    let rows = statement.query_map([], kept)?.take(MAX_RULES);
    rows.filter_map(Result::transpose).collect()
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Option<KeptVerdicts>> {
    let Some(verdict) = verdict_at(row, 1)? else { return Ok(None) };
    let (calls, last_ms) = (unsigned(row, 2)?.unwrap_or_default(), unsigned(row, 3)?.unwrap_or_default());
    Ok(Some(KeptVerdicts { rule: row.get(0)?, verdict, calls, last_ms }))
}
