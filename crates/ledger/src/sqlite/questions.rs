//! Questions to the owner. Each change reads the question's state and writes in one transaction: if
//! two processes decide, one succeeds.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Binding, Change, Decision, Desk, Digest, Group, Past, Question, QuestionId, Refusal, State};
use belljar_model::{AskWays, RunId, ToolPath};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, named_params, params};

use super::{
    columns::{effect, number_of, senseless, unsigned},
    live::{Living, Presence},
};
use crate::query::{KeptQuestion, QuestionFilter, milliseconds};

/// The table of version 4. A `state` is an index into `State::ALL`; the arguments are kept for as
/// long as the question is open.
pub(super) const TABLE: &str = "
CREATE TABLE questions(
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    state INTEGER NOT NULL,
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    effect INTEGER NOT NULL,
    arguments BLOB NOT NULL,
    definition BLOB NOT NULL,
    rule TEXT,
    why TEXT,
    principal TEXT NOT NULL,
    asked_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    shown TEXT,
    so_far TEXT NOT NULL,
    desk INTEGER,
    for_command INTEGER NOT NULL,
    allow_yes INTEGER NOT NULL,
    channel TEXT,
    decided_ms INTEGER
) STRICT;
CREATE INDEX questions_open ON questions(process) WHERE state = 0;
CREATE INDEX questions_of_run ON questions(run);
";

/// From version 5 to 6: the ways in which a decision may be made. Before, every way was allowed.
pub(super) const WAYS: &str = "ALTER TABLE questions ADD COLUMN ways INTEGER NOT NULL DEFAULT 7;";

/// Also from version 5 to 6: approvals of any arguments for the rest of a run.
pub(super) const GRANTS: &str = "
CREATE TABLE grants(
    run INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    rule TEXT,
    definition BLOB NOT NULL,
    principal TEXT NOT NULL,
    ways INTEGER NOT NULL,
    channel TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX grants_of_run ON grants(run);
";

/// Whether a row is about calls of a group, for both `questions` and `grants`.
const OF_GROUP: &str =
    "run = ?1 AND server = ?2 AND tool = ?3 AND rule IS ?4 AND definition = ?5 AND principal = ?6 AND ways = ?7";

/// The most questions that are read at once.
const MAX_READ: usize = 1000;

/// The most open questions of one principal. Expired ones do not count. This is less than the
/// number that is read at once, so that one principal alone cannot hide the questions of others
/// from the owner.
pub(super) const MAX_OPEN: u32 = 500;

const COLUMNS: &str =
    "SELECT id, process, state, run, number, server, tool, effect, arguments, definition, rule, why, principal,
    asked_ms, expires_ms, shown, so_far, desk, for_command, allow_yes, channel, decided_ms,
    EXISTS (SELECT 1 FROM resting x WHERE x.run = questions.run), ways FROM questions";

/// Makes a change, if the question's state allows it.
pub(super) fn change(
    connection: &mut Connection,
    path: &Path,
    presence: &Presence,
    change: &Change,
) -> rusqlite::Result<Result<(), Refusal>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let changed = match change {
        Change::Ask(question) => {
            let granted = granted(&transaction, &Group::of(&question.binding))?;
            if granted.is_none() && has_too_many(&transaction, &question.binding.principal)? {
                return Ok(Err(Refusal::TooManyOpen(MAX_OPEN)));
            }
            ask(&transaction, presence.token(), question, granted.as_deref()).map(Ok)
        }
        Change::Claim(question) => match granted(&transaction, &Group::of(&question.binding))? {
            Some(channel) => ask(&transaction, presence.token(), question, Some(&channel)).map(Ok),
            None => Ok(Err(Refusal::NotApproved)),
        },
        Change::Grant(id, decision) => grant(&transaction, path, presence, *id, decision),
        Change::Decide(id, decision) => decide(&transaction, path, presence, *id, decision),
        Change::Use(id, binding) => {
            let admitted = |kept: &KeptQuestion| {
                let next = kept.state.used()?;
                kept.question.binding.admits(binding, SystemTime::now())?;
                Ok(next)
            };
            update(&transaction, *id, None, admitted)
        }
        Change::Move(run, desk) => move_to(&transaction, presence.token(), *run, *desk).map(Ok),
        Change::End(id, end) => update(&transaction, *id, None, |kept| kept.state.ended(*end)),
    }?;
    if changed.is_ok() {
        transaction.commit()?;
    }
    Ok(changed)
}

/// Whether a principal has too many open questions to ask another one.
fn has_too_many(to: &Transaction<'_>, principal: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM questions WHERE state = 0 AND principal = ?1 AND expires_ms > ?2";
    let open = params![principal, milliseconds(SystemTime::now())];
    to.prepare_cached(sql)?.query_row(open, |row| Ok(row.get::<_, i64>(0)? >= i64::from(MAX_OPEN)))
}

/// Records a question, or that the owner has already agreed, and in which way.
fn ask(to: &Transaction<'_>, process: i64, question: &Question, granted: Option<&str>) -> rusqlite::Result<()> {
    let Question { id, binding, effect, why, arguments, so_far, asked, desk, for_command, allow_yes } = question;
    let Binding { run, number, tool, arguments: digest, definition, rule, ways, principal, expires } = binding;
    let so_far = serde_json::to_string(so_far).unwrap_or_default();
    let state = self::number(if granted.is_some() { State::Approved } else { State::Open });
    to.prepare_cached(
        "INSERT INTO questions(id, process, run, number, server, tool, effect, arguments, definition, rule, why,
             principal, asked_ms, expires_ms, shown, so_far, desk, for_command, allow_yes, ways,
             state, channel, decided_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
    )?
    .execute(params![
        id.bits().cast_signed(),
        process,
        run.bits().cast_signed(),
        number.cast_signed(),
        tool.server(),
        tool.tool(),
        number_of(*effect),
        digest,
        definition,
        rule.as_deref(),
        why.as_deref(),
        principal.as_ref(),
        milliseconds(*asked),
        milliseconds(*expires),
        granted.is_none().then_some(arguments),
        so_far,
        desk.map(u64::cast_signed),
        for_command,
        allow_yes,
        ways.bits(),
        state,
        granted,
        granted.map(|_| milliseconds(*asked)),
    ])
    .map(|_| ())
}

/// Moves the open questions of a run to another desk, if their rules allow decisions there.
fn move_to(to: &Transaction<'_>, process: i64, run: RunId, desk: Desk) -> rusqlite::Result<()> {
    let sql = "UPDATE questions SET desk = CASE WHEN ways & ?4 <> 0 THEN ?3 ELSE NULL END, process = ?2
               WHERE run = ?1 AND state = 0";
    let (run, way) = (run.bits().cast_signed(), AskWays::NONE.with(desk.way));
    to.prepare_cached(sql)?.execute(params![run, process, desk.id.cast_signed(), way.bits()]).map(|_| ())
}

/// The way in which the owner agreed to such calls with any arguments, if they did.
fn granted(to: &Transaction<'_>, group: &Group) -> rusqlite::Result<Option<String>> {
    let Group { run, tool, rule, definition, principal, ways } = group;
    let mut statement = to.prepare_cached(&format!("SELECT channel FROM grants WHERE {OF_GROUP} LIMIT 1"))?;
    let of_group =
        params![run.bits().cast_signed(), tool.server(), tool.tool(), rule.as_deref(), definition, &**principal, ways];
    let found = statement.query_row(of_group, |row| row.get::<_, String>(0)).optional()?;
    Ok(found.map(|channel| format!("{channel}, any arguments")))
}

/// Agrees to calls like the one in this question, with any arguments, for the rest of its run.
fn grant(
    to: &Transaction<'_>,
    path: &Path,
    presence: &Presence,
    id: QuestionId,
    decision: &Decision,
) -> rusqlite::Result<Result<(), Refusal>> {
    let mut statement = to.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
    let found = statement.query_row(params![id.bits().cast_signed()], kept).optional()?;
    let Some(kept) = found else { return Ok(Err(Refusal::Unknown)) };
    if let Err(refusal) = decide(to, path, presence, id, decision)? {
        return Ok(Err(refusal));
    }
    let Group { run, tool, rule, definition, principal, ways } = Group::of(&kept.question.binding);
    let run = run.bits().cast_signed();
    let sql = "INSERT INTO grants(run, server, tool, rule, definition, principal, ways, channel, at_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let (channel, at) = (decision.channel.as_str(), milliseconds(decision.at));
    let row = params![run, tool.server(), tool.tool(), rule.as_deref(), definition, &*principal, ways, channel, at];
    to.prepare_cached(sql)?.execute(row)?;
    // The open questions of the same group.
    let mut statement = to.prepare_cached(&format!("SELECT id FROM questions WHERE {OF_GROUP} AND state = 0"))?;
    let of_group = params![run, tool.server(), tool.tool(), rule.as_deref(), definition, &*principal, ways];
    let others = statement.query_map(of_group, |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
    for other in others {
        // A question that has just expired stays as it is.
        let _ = decide(to, path, presence, QuestionId::from_bits(other.cast_unsigned()), decision)?;
    }
    Ok(Ok(()))
}

/// Forgets the approvals of a run.
pub(super) fn end(to: &Connection, run: i64) -> rusqlite::Result<()> {
    to.prepare_cached("DELETE FROM grants WHERE run = ?1")?.execute(params![run]).map(|_| ())
}

fn decide(
    to: &Transaction<'_>,
    path: &Path,
    presence: &Presence,
    id: QuestionId,
    decision: &Decision,
) -> rusqlite::Result<Result<(), Refusal>> {
    let mut living = Living::beside(path);
    update(to, id, Some(decision), |kept| {
        let next = kept.state.decided(decision.approve)?;
        kept.question.takes(decision)?;
        if kept.is_waited_for || kept.process == presence.token() || living.has(kept.process) {
            Ok(next)
        } else {
            Err(Refusal::Over)
        }
    })
}

/// Sets the next state of a question, and deletes the content that it showed.
fn update(
    to: &Transaction<'_>,
    id: QuestionId,
    decision: Option<&Decision>,
    next: impl FnOnce(&KeptQuestion) -> Result<State, Refusal>,
) -> rusqlite::Result<Result<(), Refusal>> {
    let id = id.bits().cast_signed();
    let mut statement = to.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
    let mut rows = statement.query(params![id])?;
    let Some(row) = rows.next()? else { return Ok(Err(Refusal::Unknown)) };
    let state = match next(&kept(row)?) {
        Ok(state) => state,
        Err(refusal) => return Ok(Err(refusal)),
    };
    drop(rows);
    to.prepare_cached(
        "UPDATE questions SET state = ?2, shown = NULL, channel = coalesce(?3, channel), decided_ms = coalesce(?4, decided_ms)
         WHERE id = ?1",
    )?
    .execute(params![
        id,
        number(state),
        decision.map(|decision| decision.channel.as_str()),
        decision.map(|decision| milliseconds(decision.at)),
    ])?;
    Ok(Ok(()))
}

/// The questions that match a filter, oldest first. Only those that match count towards the
/// maximum.
pub(super) fn questions(
    connection: &Connection,
    filter: &QuestionFilter,
    living: &mut Living,
) -> rusqlite::Result<Vec<KeptQuestion>> {
    let mut statement = connection.prepare_cached(&format!(
        "{COLUMNS} WHERE (:open = 0 OR state = 0) AND (:desk IS NULL OR desk = :desk) AND (:id IS NULL OR id = :id)
         AND (:run IS NULL OR run = :run) AND (:waiting = 0 OR (state = 0 AND expires_ms > :now))
         ORDER BY asked_ms, id"
    ))?;
    let found = statement.query_map(
        named_params! {
            ":open": filter.open,
            ":desk": filter.desk.map(u64::cast_signed),
            ":id": filter.id.map(|id| id.bits().cast_signed()),
            ":run": filter.run.map(|run| run.bits().cast_signed()),
            ":waiting": filter.waiting,
            ":now": milliseconds(SystemTime::now()),
        },
        |row| {
            let kept = kept(row)?;
            Ok(KeptQuestion { is_waited_for: kept.is_waited_for || living.has(kept.process), ..kept })
        },
    )?;
    let is_wanted = |kept: &rusqlite::Result<KeptQuestion>| {
        kept.as_ref().map_or(true, |kept| kept.is_waited_for || !filter.waiting)
    };
    found.filter(is_wanted).take(MAX_READ).collect()
}

/// The runs with questions that can still be decided.
pub(super) fn asking_runs(connection: &Connection, living: &mut Living) -> rusqlite::Result<BTreeSet<RunId>> {
    let mut statement = connection.prepare_cached(
        "SELECT run, process, EXISTS (SELECT 1 FROM resting x WHERE x.run = questions.run)
         FROM questions WHERE state = 0 AND expires_ms > ?1",
    )?;
    let mut rows = statement.query(params![milliseconds(SystemTime::now())])?;
    let mut runs = BTreeSet::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, bool>(2)? || living.has(row.get(1)?) {
            runs.insert(RunId::from_bits(row.get::<_, i64>(0)?.cast_unsigned()));
        }
    }
    Ok(runs)
}

/// How many questions can still be decided. Their texts, which may be large, are not read.
pub(super) fn waiting(connection: &Connection, living: &mut Living) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT process, EXISTS (SELECT 1 FROM resting x WHERE x.run = questions.run), count(*)
         FROM questions WHERE state = 0 AND expires_ms > ?1 GROUP BY 1, 2",
    )?;
    let mut rows = statement.query(params![milliseconds(SystemTime::now())])?;
    let mut waiting = 0_u64;
    while let Some(row) = rows.next()? {
        if row.get::<_, bool>(1)? || living.has(row.get(0)?) {
            waiting = waiting.saturating_add(unsigned(row, 2)?.unwrap_or_default());
        }
    }
    Ok(waiting)
}

/// The states of these questions. A question that does not exist is left out.
pub(super) fn states(connection: &Connection, ids: &[QuestionId]) -> rusqlite::Result<Vec<(QuestionId, State)>> {
    let mut statement = connection.prepare_cached("SELECT state FROM questions WHERE id = ?1")?;
    let mut states = Vec::new();
    for id in ids {
        let mut rows = statement.query(params![id.bits().cast_signed()])?;
        if let Some(row) = rows.next()? {
            states.push((*id, state(row, 0)?));
        }
    }
    Ok(states)
}

/// Marks the open questions of a dead process as no longer waited for.
pub(super) fn withdraw(connection: &Connection, path: &Path, presence: &Presence) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT DISTINCT process FROM questions WHERE state = 0")?;
    let open = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut living = Living::beside(path);
    for process in open.into_iter().filter(|process| *process != presence.token()) {
        if !living.has(process) {
            let sql = "UPDATE questions SET state = ?2, shown = NULL WHERE state = 0 AND process = ?1
                       AND NOT EXISTS (SELECT 1 FROM resting x WHERE x.run = questions.run)";
            connection.prepare_cached(sql)?.execute(params![process, number(State::Withdrawn)])?;
        }
    }
    Ok(())
}

/// Forgets old questions that nobody waits for any more.
pub(super) fn forget(connection: &Connection, before_ms: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM questions WHERE asked_ms < ?1 AND state <> 0
               AND NOT EXISTS (SELECT 1 FROM resting x WHERE x.run = questions.run)";
    connection.prepare_cached(sql)?.execute(params![before_ms])?;
    let sql = "DELETE FROM grants WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM resting x WHERE x.run = grants.run)";
    connection.prepare_cached(sql)?.execute(params![before_ms]).map(|_| ())
}

fn kept(row: &Row<'_>) -> rusqlite::Result<KeptQuestion> {
    let time = |column| {
        let milliseconds = unsigned(row, column)?.unwrap_or_default();
        let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds));
        time.ok_or_else(|| senseless(column, "a time"))
    };
    let text = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(column)?.map(Arc::from));
    let bits = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned));
    let digest = |column| row.get::<_, Digest>(column);
    let so_far: Vec<Past> =
        serde_json::from_str(&row.get::<_, String>(16)?).map_err(|_| senseless(16, "a list of calls"))?;
    let question = Question {
        id: QuestionId::from_bits(bits(0)?.unwrap_or_default()),
        binding: Binding {
            run: RunId::from_bits(bits(3)?.unwrap_or_default()),
            number: bits(4)?.unwrap_or_default(),
            tool: ToolPath::new(row.get::<_, String>(5)?, row.get::<_, String>(6)?),
            arguments: digest(8)?,
            definition: digest(9)?,
            rule: text(10)?,
            ways: AskWays::from_bits(row.get(23)?).ok_or_else(|| senseless(23, "a set of ways to ask"))?,
            principal: text(12)?.unwrap_or_default(),
            expires: time(14)?,
        },
        effect: effect(row, 7)?,
        why: text(11)?,
        arguments: row.get::<_, Option<String>>(15)?.unwrap_or_default(),
        so_far,
        asked: time(13)?,
        desk: bits(17)?,
        for_command: row.get(18)?,
        allow_yes: row.get(19)?,
    };
    Ok(KeptQuestion {
        question,
        state: state(row, 2)?,
        process: row.get(1)?,
        // A question of a suspended run is waited for by the process that resumes the run.
        is_waited_for: row.get(22)?,
        channel: row.get(20)?,
    })
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<State> {
    let number: usize = usize::try_from(row.get::<_, i64>(column)?).map_err(|_| senseless(column, "a state"))?;
    State::ALL.get(number).copied().ok_or_else(|| senseless(column, "a state"))
}

fn number(state: State) -> i64 {
    State::ALL.iter().zip(0..).find_map(|(known, number)| (*known == state).then_some(number)).unwrap_or_default()
}
