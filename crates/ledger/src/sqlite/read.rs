//! Reads the ledger. Nothing in the file is trusted: a row that makes no sense is an error, and
//! nothing worse.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use belljar_approvals::{QuestionId, State};
use belljar_model::{Measures, RunId, ToolPath};
use rusqlite::{Connection, Row, functions::FunctionFlags, named_params, params};

use super::{
    PATIENCE,
    columns::{effect, flag_of, senseless, unsigned, verdict_at},
    file,
    live::Living,
    measured, questions, resting, verdicts,
};
use crate::{
    entry::{CallState, Digest, KeptRecording},
    error::LedgerError,
    key::Key,
    query::{
        Filter, KeptCall, KeptQuestion, KeptRun, KeptVerdicts, NotResting, QuestionFilter, RestingRun, RunState,
        milliseconds,
    },
};

/// The most calls that are read of one run: a hundred times the default limit.
const MAX_CALLS: usize = 100_000;

/// The number of steps of SQLite's virtual machine after which a reader checks whether somebody
/// still waits.
const STEPS: i32 = 10_000;

const COLUMNS: &str = "SELECT r.id, r.started_ms, r.process, r.state, r.origin, r.key, r.source_bytes, r.source, r.took_us, r.error, r.line,
    r.fuel, r.computed_us, r.peak_memory,
    (SELECT count(*) FROM calls c WHERE c.run = r.id),
    (SELECT count(*) FROM calls c WHERE c.run = r.id AND c.state IN (0, 3) AND c.trusted > 0),
    (SELECT length(data) FROM recordings WHERE run = r.id), (SELECT reason FROM recordings WHERE run = r.id),
    r.principal, r.client";

/// The columns that are read from the table `runs r`, and the rest of the statement.
fn runs_from(rest: &str) -> String {
    format!("{COLUMNS}, {} FROM {rest}", resting::can_go_on())
}

/// A ledger opened for reading.
pub(super) struct Reader {
    connection: Connection,
    path: PathBuf,
    living: Living,
}

impl Reader {
    /// Opens the ledger at a path, or returns `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, LedgerError> {
        let Some(connection) = file::open_to_read(path)? else { return Ok(None) };
        add_has_name(&connection).map_err(|error| LedgerError::of(&error, path, PATIENCE))?;
        Ok(Some(Self { connection, path: path.to_owned(), living: Living::beside(path) }))
    }

    /// Makes reads end with an error as soon as `question` returns true.
    pub(super) fn end_when(&mut self, question: impl FnMut() -> bool + Send + 'static) -> Result<(), LedgerError> {
        self.connection.progress_handler(STEPS, Some(question)).map_err(|error| self.fault(&error))
    }

    /// The runs that match a filter.
    pub(super) fn runs(&mut self, filter: &Filter) -> Result<Vec<KeptRun>, LedgerError> {
        let Self { connection, path, living } = self;
        let mut read = || {
            // Several reads must see the same moment.
            let moment = connection.transaction()?;
            match &filter.tool {
                Some((server, tool)) => runs_that_called(&moment, filter, (server, tool.as_deref()), living),
                None => runs_of_all(&moment, filter, living),
            }
        };
        read().map_err(|error| LedgerError::of(&error, path, PATIENCE))
    }

    /// Reads without end, for tests.
    #[cfg(test)]
    pub(super) fn endless(&mut self) -> Result<i64, LedgerError> {
        let sql =
            "WITH RECURSIVE endless(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM endless) SELECT count(*) FROM endless";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.fault(&error))
    }

    /// At most two runs with names in this range.
    pub(super) fn between(&mut self, first: RunId, last: RunId) -> Result<Vec<RunId>, LedgerError> {
        let read = || {
            let sql = "SELECT id FROM runs WHERE id BETWEEN ?1 AND ?2 LIMIT 2";
            let mut statement = self.connection.prepare(sql)?;
            let bounds = params![first.bits().cast_signed(), last.bits().cast_signed()];
            let found = statement.query_map(bounds, |row| row.get::<_, i64>(0))?;
            found.map(|run| run.map(|run| RunId::from_bits(run.cast_unsigned()))).collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| LedgerError::of(&error, &self.path, PATIENCE))
    }

    /// One run and its calls.
    pub(super) fn run(&mut self, run: RunId) -> Result<Option<(KeptRun, Vec<KeptCall>)>, LedgerError> {
        let Self { connection, path, living } = self;
        let run = run.bits().cast_signed();
        let mut read = || {
            let mut statement = connection.prepare(&runs_from("runs r WHERE r.id = ?1"))?;
            let mut rows = statement.query(params![run])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let kept = kept_run(row, living)?;
            let mut statement = connection.prepare(
                "SELECT c.number, t.server, t.tool, c.effect, c.trusted, c.state, c.begun_us, c.took_us, c.arguments_bytes,
                     c.arguments, c.answer_bytes, c.answer, c.verdict, c.rule,
                     (SELECT q.channel FROM questions q WHERE q.run = c.run AND q.number = c.number AND q.channel IS NOT NULL)
                 FROM calls c JOIN tools t ON t.id = c.tool WHERE c.run = ?1 ORDER BY c.number",
            )?;
            let calls = statement.query_map(params![run], kept_call)?.take(MAX_CALLS).collect::<Result<Vec<_>, _>>()?;
            Ok(Some((kept, calls)))
        };
        read().map_err(|error| LedgerError::of(&error, path, PATIENCE))
    }

    /// The questions that match a filter.
    pub(super) fn questions(&mut self, filter: &QuestionFilter) -> Result<Vec<KeptQuestion>, LedgerError> {
        let Self { connection, path, living } = self;
        questions::questions(connection, filter, living).map_err(|error| LedgerError::of(&error, path, PATIENCE))
    }

    /// The runs with questions that can still be decided.
    pub(super) fn asking_runs(&mut self) -> Result<BTreeSet<RunId>, LedgerError> {
        let Self { connection, path, living } = self;
        questions::asking_runs(connection, living).map_err(|error| LedgerError::of(&error, path, PATIENCE))
    }

    /// How many questions can still be decided.
    pub(super) fn waiting_questions(&mut self) -> Result<u64, LedgerError> {
        let Self { connection, path, living } = self;
        questions::waiting(connection, living).map_err(|error| LedgerError::of(&error, path, PATIENCE))
    }

    /// The states of these questions.
    pub(super) fn question_states(&mut self, ids: &[QuestionId]) -> Result<Vec<(QuestionId, State)>, LedgerError> {
        questions::states(&self.connection, ids).map_err(|error| LedgerError::of(&error, &self.path, PATIENCE))
    }

    /// A run that is suspended.
    pub(super) fn resting(&self, key: &Key, run: RunId) -> Result<Result<RestingRun, NotResting>, LedgerError> {
        resting::resting(&self.connection, &self.path, key, run).map_err(|error| self.fault(&error))
    }

    /// The suspended run with this request.
    pub(super) fn resting_of(&self, asked: Digest) -> Result<Option<RunId>, LedgerError> {
        resting::of(&self.connection, asked).map_err(|error| self.fault(&error))
    }

    /// The total size of all suspended runs.
    pub(super) fn resting_bytes(&self) -> Result<u64, LedgerError> {
        resting::bytes(&self.connection).map_err(|error| self.fault(&error))
    }

    /// What was measured about the servers of a configuration.
    pub(super) fn measures(&self, configuration: &str) -> Result<BTreeMap<String, Measures>, LedgerError> {
        measured::of(&self.connection, configuration, SystemTime::now()).map_err(|error| self.fault(&error))
    }

    /// How often each rule decided.
    pub(super) fn verdicts(&self) -> Result<Vec<KeptVerdicts>, LedgerError> {
        verdicts::of(&self.connection).map_err(|error| self.fault(&error))
    }

    fn fault(&self, error: &rusqlite::Error) -> LedgerError {
        LedgerError::of(error, &self.path, PATIENCE)
    }

    /// The recording of what a run took in.
    pub(super) fn recording(&mut self, run: RunId) -> Result<Option<KeptRecording>, LedgerError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT reason, data FROM recordings WHERE run = ?1")?;
            let mut rows = statement.query(params![run.bits().cast_signed()])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            match (row.get::<_, Option<String>>(0)?, row.get(1)?) {
                (None, Some(bytes)) => Ok(Some(KeptRecording::Whole(bytes))),
                (Some(_), Some(bytes)) => Ok(Some(KeptRecording::Redacted(bytes))),
                (Some(reason), None) => Ok(Some(KeptRecording::NotReplayable { reason })),
                (None, None) => Err(senseless(1, "a recording")),
            }
        };
        read().map_err(|error| LedgerError::of(&error, &self.path, PATIENCE))
    }
}

/// Selects runs that may wait for their owner. Both tables have few rows.
const MAY_WAIT: &str =
    "r.id IN (SELECT run FROM resting UNION ALL SELECT run FROM questions WHERE state = 0 AND expires_ms > :now)";

/// Defines `has_name(text, name…)`: whether a text in lower case is part of one of the names, some
/// of which may be null. SQLite's own `lower` only knows ASCII letters.
fn add_has_name(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("has_name", -1, flags, |given| {
        let text = given.get_raw(0).as_str()?;
        for at in 1..given.len() {
            if given.get_raw(at).as_str_or_null()?.is_some_and(|name| name.to_lowercase().contains(text)) {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// The part of a filter that the index of runs alone can decide.
fn fits(filter: &Filter) -> String {
    let waits = if filter.waiting { MAY_WAIT } else { ":now IS NOT NULL" };
    format!(
        "r.started_ms >= :since AND (:failed = 0 OR r.state <> 1) AND (:effects = 0 OR r.effects & :effects <> 0) AND {waits}"
    )
}

/// The part of a filter for which a run's own row must be read.
const NAMED_SO: &str = "(:client IS NULL OR has_name(:client, r.origin, r.principal, r.client))";

fn runs_of_all(connection: &Connection, filter: &Filter, living: &mut Living) -> rusqlite::Result<Vec<KeptRun>> {
    let sql = runs_from(&format!("runs r WHERE {} AND {NAMED_SO} ORDER BY r.started_ms DESC, r.id DESC", fits(filter)));
    let mut found = FoundRuns::new(connection, filter, living)?;
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(named_params! {
        ":since": filter.since.map_or(0, milliseconds),
        ":failed": filter.failed,
        ":effects": filter.effect.map_or(0, flag_of),
        ":now": milliseconds(SystemTime::now()),
        ":client": filter.client.as_deref().map(str::to_lowercase),
    })?;
    while !found.is_full()
        && let Some(row) = rows.next()?
    {
        found.add(kept_run(row, living)?);
    }
    Ok(found.runs)
}

/// The same for runs that called a tool, or any tool of a server. They are found in one pass,
/// however many tools the server has, and are then read one by one until there are enough.
fn runs_that_called(
    connection: &Connection,
    filter: &Filter,
    (server, tool): (&str, Option<&str>),
    living: &mut Living,
) -> rusqlite::Result<Vec<KeptRun>> {
    // The index returns the runs of one tool in the right order.
    let named = match tool {
        Some(_) => "x.tool = (SELECT id FROM tools WHERE server = :server AND tool = :name)",
        None => "x.tool IN (SELECT id FROM tools WHERE server = :server AND :name IS NULL)",
    };
    // Of the many runs of a tool, only matching ones are examined.
    let among = match filter.failed || filter.effect.is_some() || filter.waiting {
        true => format!("x.run IN (SELECT r.id FROM runs r WHERE {})", fits(filter)),
        false => "x.started_ms >= :since AND (:failed + :effects + :now) IS NOT NULL".to_owned(),
    };
    let sql = format!(
        "SELECT DISTINCT x.started_ms, x.run FROM called x WHERE {named} AND {among} ORDER BY x.started_ms DESC, x.run DESC"
    );
    let mut found = FoundRuns::new(connection, filter, living)?;
    let mut called = connection.prepare(&sql)?;
    let mut runs = called.query(named_params! {
        ":server": server,
        ":name": tool,
        ":since": filter.since.map_or(0, milliseconds),
        ":failed": filter.failed,
        ":effects": filter.effect.map_or(0, flag_of),
        ":now": milliseconds(SystemTime::now()),
    })?;
    let client = filter.client.as_deref().map(str::to_lowercase);
    let mut statement = connection.prepare(&runs_from(&format!("runs r WHERE r.id = :run AND {NAMED_SO}")))?;
    while !found.is_full()
        && let Some(row) = runs.next()?
    {
        let run: i64 = row.get(1)?;
        let mut rows = statement.query(named_params! { ":run": run, ":client": client })?;
        if let Some(row) = rows.next()? {
            found.add(kept_run(row, living)?);
        }
    }
    Ok(found.runs)
}

/// Runs that match, as far as the file alone can tell.
struct FoundRuns<'f> {
    filter: &'f Filter,
    /// The runs with a question that can still be decided.
    asking: BTreeSet<RunId>,
    runs: Vec<KeptRun>,
}

impl<'f> FoundRuns<'f> {
    fn new(connection: &Connection, filter: &'f Filter, living: &mut Living) -> rusqlite::Result<Self> {
        let asking = if filter.waiting { questions::asking_runs(connection, living)? } else { BTreeSet::new() };
        Ok(Self { filter, asking, runs: Vec::new() })
    }

    fn is_full(&self) -> bool {
        self.runs.len() >= usize::try_from(self.filter.limit).unwrap_or(usize::MAX)
    }

    /// Adds a run, unless the state of its process rules it out.
    fn add(&mut self, run: KeptRun) {
        let is_other = (self.filter.failed && matches!(run.state, RunState::Running | RunState::Resting))
            || (self.filter.waiting && run.state != RunState::Resting && !self.asking.contains(&run.run));
        if !is_other {
            self.runs.push(run);
        }
    }
}

fn kept_run(row: &Row<'_>, living: &mut Living) -> rusqlite::Result<KeptRun> {
    let state = match row.get::<_, i64>(3)? {
        0 if living.has(row.get(2)?) => RunState::Running,
        // A resumed run whose process died before it sent anything keeps waiting.
        0 | 3 | 4 if row.get::<_, bool>(20)? => RunState::Resting,
        0 | 3 | 4 => RunState::Interrupted,
        1 => RunState::Ok,
        2 => RunState::Failed,
        _ => return Err(senseless(3, "a state")),
    };
    Ok(KeptRun {
        run: RunId::from_bits(row.get::<_, i64>(0)?.cast_unsigned()),
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(unsigned(row, 1)?.unwrap_or_default()),
        origin: row.get(4)?,
        principal: row.get(18)?,
        client: row.get(19)?,
        state,
        took: unsigned(row, 8)?.map(Duration::from_micros),
        error: row.get(9)?,
        line: row.get(10)?,
        source_bytes: unsigned(row, 6)?,
        source: row.get(7)?,
        key: row.get(5)?,
        calls: unsigned(row, 14)?.unwrap_or_default(),
        unanswered: unsigned(row, 15)?.unwrap_or_default(),
        fuel: unsigned(row, 11)?,
        computed: unsigned(row, 12)?.map(Duration::from_micros),
        peak_memory: unsigned(row, 13)?,
        recording: match (unsigned(row, 16)?, row.get::<_, Option<String>>(17)?) {
            (None, None) => None,
            (Some(_), None) => Some("replayable"),
            (Some(_), Some(_)) => Some("verifiable"),
            (None, Some(_)) => Some("not_replayable"),
        },
        recording_bytes: unsigned(row, 16)?,
    })
}

fn kept_call(row: &Row<'_>) -> rusqlite::Result<KeptCall> {
    let state = match row.get::<_, i64>(5)? {
        0 => CallState::Sent,
        1 => CallState::Ok,
        2 => CallState::ToolError,
        3 => CallState::Fault,
        4 => CallState::Denied,
        5 => CallState::AssumedDone,
        6 => CallState::AssumedFailed,
        _ => return Err(senseless(5, "a state")),
    };
    Ok(KeptCall {
        number: unsigned(row, 0)?.unwrap_or_default(),
        tool: ToolPath::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?),
        effect: effect(row, 3)?,
        trusted: effect(row, 4)?,
        state,
        begun: Duration::from_micros(unsigned(row, 6)?.unwrap_or_default()),
        took: unsigned(row, 7)?.map(Duration::from_micros),
        arguments_bytes: unsigned(row, 8)?.unwrap_or_default(),
        arguments: row.get(9)?,
        answer_bytes: unsigned(row, 10)?,
        answer: row.get(11)?,
        verdict: verdict_at(row, 12)?,
        rule: row.get(13)?,
        decided_by: row.get(14)?,
    })
}
