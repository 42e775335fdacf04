//! Writes entries, statement by statement.

use std::{collections::HashMap, time::Duration};

use belljar_model::{ErrorKind, RunId, ToolPath};
use rusqlite::{Transaction, params};

use super::{
    columns::{flag_of, number_of, state, verdict},
    questions, resting,
};
use crate::{
    entry::{Call, CallEnd, CallState, Entry, KeptRecording, RunEnd, RunRest, RunStart},
    key::Key,
    query::milliseconds,
};

/// The author of the entries.
pub(super) struct Author<'w> {
    /// This process.
    pub(super) process: i64,
    /// The key of the digests.
    pub(super) key: &'w Key,
    /// The numbers of the known tools. Must be cleared when a transaction is rolled back.
    pub(super) tools: &'w mut HashMap<ToolPath, i64>,
}

impl Author<'_> {
    pub(super) fn write(&mut self, to: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
        match entry {
            Entry::Begin(start) => self.begin(to, start),
            Entry::Calls { start, calls } => {
                // The start may not have been kept, for lack of room.
                self.begin(to, start)?;
                self.calls(to, start, calls)
            }
            Entry::Answered { run, number, end } => answered(to, *run, *number, end),
            Entry::End(end) => self.end(to, end),
            Entry::Rest(rest) => self.rest(to, rest),
        }
    }

    fn begin(&self, to: &Transaction<'_>, start: &RunStart) -> rusqlite::Result<()> {
        let mut statement = to.prepare_cached(
            "INSERT INTO runs(id, started_ms, process, state, origin, principal, client, key, source_bytes, source)
             VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
        )?;
        let RunStart { run, at, origin, asker, source_bytes, source } = start;
        statement
            .execute(params![
                run.bits().cast_signed(),
                milliseconds(*at),
                self.process,
                origin,
                asker.principal(),
                asker.client(),
                self.key.id(),
                source_bytes.map(u64::cast_signed),
                source,
            ])
            .map(|_| ())
    }

    fn calls(&mut self, to: &Transaction<'_>, start: &RunStart, calls: &[Call]) -> rusqlite::Result<()> {
        let run = start.run.bits().cast_signed();
        let mut effects = 0;
        for call in calls {
            let tool = self.tool(to, &call.tool)?;
            effects |= flag_of(call.effect);
            to.prepare_cached("INSERT INTO called(tool, started_ms, run) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
                .execute(params![tool, milliseconds(start.at), run])?;
            let mut statement = to.prepare_cached(
                "INSERT OR REPLACE INTO calls(run, number, tool, effect, trusted, state, begun_us, took_us,
                     arguments_bytes, arguments, answer_bytes, answer, verdict, rule, may_repeat)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?;
            let end = call.end.as_ref();
            statement.execute(params![
                run,
                call.number.cast_signed(),
                tool,
                number_of(call.effect),
                number_of(call.trusted),
                state(end.map_or(CallState::Sent, |end| end.state)),
                microseconds(call.begun),
                end.map(|end| microseconds(end.took)),
                call.arguments_bytes.cast_signed(),
                call.arguments,
                end.and_then(|end| end.answer_bytes).map(u64::cast_signed),
                end.and_then(|end| end.answer),
                call.verdict.map(verdict),
                call.rule.as_deref(),
                call.may_repeat,
            ])?;
        }
        to.prepare_cached("UPDATE runs SET effects = effects | ?2 WHERE id = ?1 AND effects & ?2 <> ?2")?
            .execute(params![run, effects])
            .map(|_| ())
    }

    fn end(&mut self, to: &Transaction<'_>, end: &RunEnd) -> rusqlite::Result<()> {
        // The run is kept even if there was no room for its start.
        self.begin(to, &end.start)?;
        self.calls(to, &end.start, &end.calls)?;
        if let Some(recording) = &end.recording {
            recorded(to, end.start.run, recording)?;
        }
        let run = end.start.run.bits().cast_signed();
        resting::end(to, run)?;
        questions::end(to, run)?;
        let mut statement = to.prepare_cached(
            "UPDATE runs SET state = ?2, took_us = ?3, error = ?4, line = ?5, fuel = ?6, computed_us = ?7, peak_memory = ?8
             WHERE id = ?1",
        )?;
        let usage = &end.usage;
        let computed = usage.guest_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        statement
            .execute(params![
                end.start.run.bits().cast_signed(),
                if end.error.is_none() { 1 } else { 2 },
                microseconds(end.took),
                end.error.map(ErrorKind::as_str),
                end.line,
                usage.fuel.map(u64::cast_signed),
                computed.map(microseconds),
                usage.peak_memory_bytes.map(u64::cast_signed),
            ])
            .map(|_| ())
    }

    fn rest(&mut self, to: &Transaction<'_>, rest: &RunRest) -> rusqlite::Result<()> {
        self.begin(to, &rest.start)?;
        self.calls(to, &rest.start, &rest.calls)?;
        let sql = "UPDATE runs SET state = 4, took_us = ?2, error = ?3, fuel = ?4 WHERE id = ?1";
        let run = rest.start.run.bits().cast_signed();
        let (error, fuel) = (ErrorKind::Approval.as_str(), rest.usage.fuel.map(u64::cast_signed));
        to.prepare_cached(sql)?.execute(params![run, microseconds(rest.took), error, fuel])?;
        resting::rest(to, self.key, rest)
    }

    fn tool(&mut self, to: &Transaction<'_>, path: &ToolPath) -> rusqlite::Result<i64> {
        if let Some(known) = self.tools.get(path) {
            return Ok(*known);
        }
        let names = params![path.server(), path.tool()];
        to.prepare_cached("INSERT INTO tools(server, tool) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?.execute(names)?;
        let mut statement = to.prepare_cached("SELECT id FROM tools WHERE server = ?1 AND tool = ?2")?;
        let number = statement.query_row(names, |row| row.get(0))?;
        self.tools.insert(path.clone(), number);
        Ok(number)
    }
}

fn recorded(to: &Transaction<'_>, run: RunId, recording: &KeptRecording) -> rusqlite::Result<()> {
    let (reason, data) = match recording {
        KeptRecording::Whole(bytes) => (None, Some(bytes)),
        KeptRecording::Redacted(bytes) => (Some("redacted"), Some(bytes)),
        KeptRecording::NotReplayable { reason } => (Some(reason.as_str()), None),
    };
    let mut statement =
        to.prepare_cached("INSERT OR REPLACE INTO recordings(run, reason, data) VALUES (?1, ?2, ?3)")?;
    statement.execute(params![run.bits().cast_signed(), reason, data]).map(|_| ())
}

fn answered(to: &Transaction<'_>, run: RunId, number: u64, end: &CallEnd) -> rusqlite::Result<()> {
    let mut statement = to.prepare_cached(
        "UPDATE calls SET state = ?3, took_us = ?4, answer_bytes = ?5, answer = ?6 WHERE run = ?1 AND number = ?2",
    )?;
    let (run, number) = (run.bits().cast_signed(), number.cast_signed());
    let answer_bytes = end.answer_bytes.map(u64::cast_signed);
    statement
        .execute(params![run, number, state(end.state), microseconds(end.took), answer_bytes, end.answer])
        .map(|_| ())
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
