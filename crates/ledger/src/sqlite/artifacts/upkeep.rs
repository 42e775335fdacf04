//! What the ledger's thread does for artifacts, between the entries of runs.

use std::{
    collections::{BTreeSet, VecDeque},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use belljar_model::{ArtifactRef, ArtifactSettings};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    super::PATIENCE,
    index::{Indexing, Progress},
    room,
    store::{Storing, gone},
    sweep,
    tables::{IN_STATE, IS_THERE, State, holder, step},
};
use crate::{
    artifacts::{NewArtifact, Stored},
    error::LedgerError,
    holder::Holder,
    query::milliseconds,
};

type StoredReceipt = oneshot::Sender<Result<Stored, LedgerError>>;

/// A request to the thread.
pub(in crate::sqlite) enum Request {
    /// Store an artifact.
    Store(Box<Waiting>),
    /// Remove some of a holder's artifacts, or all.
    Remove(Holder, Option<Vec<ArtifactRef>>, oneshot::Sender<Result<u64, LedgerError>>),
    /// Index these, because somebody waits for it.
    Index(Vec<i64>, oneshot::Sender<()>),
    /// Record that these were used.
    Touch(Vec<i64>),
}

/// An artifact that waits to be stored.
pub(in crate::sqlite) struct Waiting {
    storing: Storing,
    receipt: StoredReceipt,
    /// Room for its bytes.
    _room: OwnedSemaphorePermit,
}

impl Waiting {
    pub(in crate::sqlite) fn new(
        (holder, artifact, settings): (Holder, NewArtifact, ArtifactSettings),
        receipt: StoredReceipt,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self { storing: Storing::new(holder, artifact, settings), receipt, _room: room }
    }
}

/// The work that is left.
#[derive(Default)]
pub(in crate::sqlite) struct Upkeep {
    /// How artifacts are kept, once somebody uses them here.
    settings: Arc<Mutex<Option<ArtifactSettings>>>,
    storing: VecDeque<Waiting>,
    /// Artifacts whose index somebody waits for.
    wanted: Vec<(BTreeSet<i64>, oneshot::Sender<()>)>,
    indexing: Option<Indexing>,
    /// Whether there may be something to index or to remove.
    has_more: bool,
}

impl Upkeep {
    pub(in crate::sqlite) fn new(settings: Arc<Mutex<Option<ArtifactSettings>>>) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Whether somebody waits for the next step.
    pub(in crate::sqlite) fn is_urgent(&self) -> bool {
        !self.storing.is_empty() || !self.wanted.is_empty()
    }

    /// Whether something is being stored.
    pub(in crate::sqlite) fn is_storing(&self) -> bool {
        !self.storing.is_empty()
    }

    /// Whether there is something to do.
    pub(in crate::sqlite) fn has_work(&self) -> bool {
        self.has_more || self.is_urgent()
    }

    /// How artifacts are kept, if they are used here.
    pub(in crate::sqlite) fn settings(&self) -> Option<ArtifactSettings> {
        *self.settings.lock()
    }

    /// Notes that there may be something to do.
    pub(in crate::sqlite) fn look_again(&mut self) {
        self.has_more = true;
    }

    /// Accepts a request. Anything that takes long is left for the steps.
    pub(in crate::sqlite) fn take(&mut self, request: Request, open: Result<(&mut Connection, &Path), LedgerError>) {
        match (request, open) {
            (Request::Store(waiting), Ok(_)) => self.storing.push_back(*waiting),
            (Request::Index(numbers, done), Ok(_)) => self.wanted.push((numbers.into_iter().collect(), done)),
            (Request::Remove(holder, which, done), Ok((connection, path))) => {
                let removed = step(connection, |transaction| remove(transaction, &holder, which.as_deref()));
                self.has_more = true;
                let _ = done.send(removed.map_err(|error| LedgerError::of(&error, path, PATIENCE)));
            }
            (Request::Touch(numbers), Ok((connection, _))) => {
                if let Err(error) = step(connection, |transaction| touch(transaction, &numbers)) {
                    tracing::debug!("the use of artifacts was not noted: {error}");
                }
            }
            // For other requests, dropping the channel tells the waiting side.
            (Request::Store(waiting), Err(error)) => drop(waiting.receipt.send(Err(error))),
            (Request::Remove(_, _, done), Err(error)) => drop(done.send(Err(error))),
            (Request::Index(..) | Request::Touch(_), Err(_)) => {}
        }
    }

    /// Does one step. If it fails, those who wait get the error, and the rest is left for later.
    pub(in crate::sqlite) fn step(&mut self, connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
        let failed = |error: rusqlite::Error| LedgerError::of(&error, path, PATIENCE);
        if let Some(mut next) = self.storing.pop_front() {
            if next.receipt.is_closed() {
                self.has_more = true;
                return next.storing.abandon(connection).map_err(failed);
            }
            match next.storing.step(connection) {
                Ok(None) => self.storing.push_front(next),
                Ok(Some(stored)) => {
                    self.has_more = true;
                    let _ = next.receipt.send(Ok(stored));
                }
                Err(error) => {
                    self.has_more = true;
                    let error = failed(error);
                    if let Err(error) = next.storing.abandon(connection) {
                        // The next process that tidies up will find it.
                        tracing::debug!("what was written of an artifact stays for an hour: {error}");
                    }
                    let _ = next.receipt.send(Err(error.clone()));
                    return Err(error);
                }
            }
            return Ok(());
        }
        let done = self.background(connection);
        done.map_err(|error| {
            (self.indexing, self.has_more) = (None, false);
            self.wanted.clear();
            failed(error)
        })
    }

    /// Reports the error to those who wait.
    pub(in crate::sqlite) fn fail(&mut self, error: &LedgerError) {
        for waiting in self.storing.drain(..) {
            let _ = waiting.receipt.send(Err(error.clone()));
        }
        self.wanted.clear();
        (self.indexing, self.has_more) = (None, false);
    }

    fn background(&mut self, connection: &mut Connection) -> rusqlite::Result<()> {
        let Some(settings) = self.settings() else {
            self.has_more = sweep::shrink(connection)?;
            return Ok(());
        };
        self.wanted.retain(|(numbers, done)| !numbers.is_empty() && !done.is_closed());
        // An index may be larger than the content that it indexes.
        if room::is_over(connection, &settings)? && room::reclaim(connection, &settings)?.is_some() {
            self.has_more = true;
            return Ok(());
        }
        // The latest artifact is the one most likely to be searched for.
        let wanted = self.wanted.first().and_then(|(numbers, _)| numbers.last().copied());
        if let Some(wanted) = wanted
            && self.indexing.as_ref().is_none_or(|indexing| indexing.number() != wanted)
        {
            self.indexing = self.begin(connection, wanted)?;
            if self.indexing.is_none() {
                self.finished(wanted);
            }
            return Ok(());
        }
        // Artifacts that are gone are removed before others are indexed that nobody waits for.
        if wanted.is_none() && sweep::sweep(connection)?.is_some() {
            self.has_more = true;
            return Ok(());
        }
        if let Some(indexing) = &mut self.indexing {
            let number = indexing.number();
            match indexing.step(connection)? {
                Progress::More => {}
                Progress::Done => {
                    self.indexing = None;
                    self.finished(number);
                }
                Progress::Elsewhere => {
                    self.indexing = None;
                    // If somebody waits for it, it is checked again; otherwise the other process
                    // finishes it.
                    self.has_more = wanted.is_some();
                }
            }
            return Ok(());
        }
        let next: Option<i64> = connection
            .prepare_cached(&format!("SELECT number FROM artifacts WHERE {IN_STATE} ORDER BY number LIMIT 1"))?
            .query_row(params![State::Stored.number()], |row| row.get(0))
            .optional()?;
        match next {
            Some(next) => self.indexing = self.begin(connection, next)?,
            None => self.has_more = sweep::shrink(connection)?,
        }
        Ok(())
    }

    fn begin(&self, connection: &Connection, number: i64) -> rusqlite::Result<Option<Indexing>> {
        match Indexing::begin(connection, number) {
            // Its pieces are not as they were written, so it will not be found.
            Err(error) if error.sqlite_error_code().is_none() => {
                tracing::warn!("an artifact's content is damaged, and is not indexed: {error}");
                connection.execute(
                    "UPDATE artifacts SET state = ?2, unsearched = bytes WHERE number = ?1",
                    params![number, State::Indexed.number()],
                )?;
                Ok(None)
            }
            begun => begun,
        }
    }

    fn finished(&mut self, number: i64) {
        for (numbers, _) in &mut self.wanted {
            numbers.remove(&number);
        }
        let (done, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.wanted).into_iter().partition(|(numbers, _)| numbers.is_empty());
        self.wanted = waiting;
        for (_, done) in done {
            let _ = done.send(());
        }
    }
}

fn remove(transaction: &Transaction<'_>, whose: &Holder, which: Option<&[ArtifactRef]>) -> rusqlite::Result<u64> {
    let Some(holder) = holder(transaction, whose)? else { return Ok(0) };
    let Some(which) = which else {
        let all = format!("UPDATE artifacts SET state = ?2, name = NULL WHERE holder = ?1 AND {IS_THERE}");
        return Ok(transaction.prepare_cached(&all)?.execute(params![holder, State::Gone.number()])? as u64);
    };
    let mut removed = 0;
    for which in which {
        if let Some(number) = super::read::number(transaction, holder, which)? {
            gone(transaction, number)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn touch(transaction: &Transaction<'_>, numbers: &[i64]) -> rusqlite::Result<()> {
    let mut touch = transaction.prepare_cached("UPDATE artifacts SET used_ms = ?2 WHERE number = ?1")?;
    let now = milliseconds(SystemTime::now());
    for number in numbers {
        touch.execute(params![number, now])?;
    }
    Ok(())
}
