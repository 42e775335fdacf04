//! The talk with one engine process: who runs in it, what it says, and its end.

use std::{
    collections::HashMap,
    io,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use belljar_model::{ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{Program, Tools};
use tokio::{
    io::{AsyncRead, BufReader},
    net::unix::pipe::{Receiver, Sender},
    sync::{Notify, oneshot},
    time::sleep,
};

use super::{
    lost::{Lost, Violation},
    run::Run,
};
use crate::protocol::{frame::Header, from_worker, outbox::Outbox, to_worker};

/// What a process may take beyond the times that its runs have. It is the second to look at the clock, so it never decides while the
/// first one works.
const GRACE: Duration = Duration::from_secs(10);
/// A time that is as good as endless, and that clocks can add.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How much is read from the pipe at once.
const READ_BYTES: usize = 64 * 1024;

/// The talk with one process. Whoever holds it keeps [`Connection::serve`] running.
pub(crate) struct Connection {
    outbox: Arc<Outbox>,
    runs: Mutex<Runs>,
    /// Whoever serves has to end the process.
    condemned: Notify,
}

#[derive(Default)]
struct Runs {
    known: HashMap<u64, Entry>,
    last: u64,
    /// Why nothing is begun any more: the process has ended, or is about to be.
    lost: Option<Lost>,
}

enum Entry {
    Live(Arc<Run>),
    /// Nobody waits for it any more, and the process has not yet said that it is gone.
    Dropped {
        limits: Limits,
        since: Instant,
    },
}

/// What came before the first run.
pub(crate) enum Greeting {
    Ready,
    Failed(String),
}

impl Connection {
    pub(crate) fn new(pipe: Sender) -> Arc<Self> {
        Arc::new(Self { outbox: Arc::new(Outbox::new(pipe)), runs: Mutex::default(), condemned: Notify::new() })
    }

    /// Sends the first frame, and reads the first thing that the process says.
    pub(crate) async fn greet(&self, hello: Vec<u8>, from: &mut Receiver) -> Result<Greeting, Lost> {
        self.outbox.send(hello);
        tokio::select! {
            greeting = Self::greeting(from) => greeting,
            lost = self.flushed() => lost,
        }
    }

    /// Keeps writing what waits for the pipe.
    async fn flushed<T>(&self) -> T {
        // Why nothing can be written shows on the other pipe.
        let _ = self.outbox.flush().await;
        std::future::pending().await
    }

    async fn greeting(from: &mut Receiver) -> Result<Greeting, Lost> {
        let header = Header::read(from).await.map_err(ended)?.ok_or_else(closed)?;
        let max = if header.kind == from_worker::FAILED { from_worker::MAX_REASON + 8 } else { 0 };
        if u64::from(header.length) > max {
            return Err(Violation::Length { length: header.length }.into());
        }
        let body = header.body(from).await.map_err(ended)?;
        match header.kind {
            from_worker::READY => Ok(Greeting::Ready),
            from_worker::FAILED => Ok(Greeting::Failed(from_worker::parse_failed(&body).map_err(Violation::from)?)),
            kind => Err(Violation::Kind(kind).into()),
        }
    }

    /// Takes what the process says until it ends or breaks a rule. The caller then ends it, and calls [`Connection::lose_all`].
    pub(crate) async fn serve(&self, from: impl AsyncRead + Unpin) -> Lost {
        tokio::select! {
            lost = self.take_all(BufReader::with_capacity(READ_BYTES, from)) => lost,
            lost = self.flushed() => lost,
            () = self.condemned.notified() => self.lost().unwrap_or_else(closed),
        }
    }

    /// Ends all runs, since there is no process any more. The first reason holds.
    pub(crate) fn lose_all(&self, lost: &Lost) {
        let (known, lost) = {
            let mut runs = self.lock();
            let lost = runs.lost.get_or_insert_with(|| lost.clone()).clone();
            (std::mem::take(&mut runs.known), lost)
        };
        // Whoever waits for room finds by now that nothing is begun here.
        self.outbox.end();
        for entry in known.into_values() {
            if let Entry::Live(run) = entry {
                run.lose(lost.clone());
            }
        }
    }

    /// Why the process has ended or will be.
    pub(crate) fn lost(&self) -> Option<Lost> {
        self.lock().lost.clone()
    }

    /// Whether runs may still be begun.
    pub(crate) fn is_alive(&self) -> bool {
        self.lock().lost.is_none()
    }

    /// Runs a script to its outcome. `None` where the process was lost before it could begin.
    ///
    /// # Cancellation
    /// Dropping the future ends the run in the process, and aborts its calls here.
    pub(crate) async fn run(
        self: &Arc<Self>,
        program: &Program,
        limits: &Limits,
        tools: Arc<dyn Tools>,
        patience: Duration,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Outcome> {
        let namespaces = tools.namespaces();
        let patience = patience.saturating_add(GRACE).min(LONGEST);
        let mut overdue = pin!(sleep(patience));
        let mut cancelled = pin!(cancelled);
        let room = tokio::select! {
            biased;
            room = self.outbox.room_for(program.source.len()) => room?,
            () = &mut cancelled => {
                return Some(Outcome::refused(RunError::new(ErrorKind::Cancelled, "the run was cancelled")));
            }
            // A process that works reads what it is sent at once.
            () = &mut overdue => {
                let lost = Lost::Overdue(GRACE);
                self.condemn(lost.clone());
                return Some(Outcome::refused(lost.error()));
            }
        };
        let (run, mut ended, guard) = self.register(limits, tools, namespaces.len())?;
        self.outbox.send_in(room, to_worker::run(guard.number, program, limits, &namespaces));

        // The time of the run begins where it can begin.
        overdue.set(sleep(patience));
        let mut is_cancelled = false;
        let told = loop {
            tokio::select! {
                biased;
                told = &mut ended => break told.unwrap_or_else(|_| Err(closed())),
                () = &mut cancelled, if !is_cancelled => {
                    is_cancelled = true;
                    self.outbox.send(to_worker::cancel(guard.number));
                    overdue.set(sleep(GRACE));
                }
                () = &mut overdue => {
                    self.condemn(Lost::Overdue(GRACE));
                    break ended.await.unwrap_or_else(|_| Err(closed()));
                }
            }
        };
        Some(match told {
            Ok(mut outcome) => {
                outcome.calls = run.close(&outcome.order);
                outcome.usage.tool_calls = outcome.calls.len() as u64;
                outcome
            }
            Err(lost) => {
                let mut outcome = Outcome::refused(lost.error());
                outcome.calls = run.close(&[]);
                outcome.usage.tool_calls = outcome.calls.len() as u64;
                outcome.usage.source_bytes = program.source.len() as u64;
                outcome
            }
        })
    }

    #[expect(clippy::type_complexity, reason = "three things that belong together for one caller")]
    fn register(
        self: &Arc<Self>,
        limits: &Limits,
        tools: Arc<dyn Tools>,
        namespaces: usize,
    ) -> Option<(Arc<Run>, oneshot::Receiver<Result<Outcome, Lost>>, Guard)> {
        let mut runs = self.lock();
        if runs.lost.is_some() {
            return None;
        }
        let is_forgotten = |entry: &Entry| matches!(entry, Entry::Dropped { since, .. } if since.elapsed() > GRACE);
        if runs.known.values().any(is_forgotten) {
            drop(runs);
            self.condemn(Lost::Overdue(GRACE));
            return None;
        }
        runs.last += 1;
        let number = runs.last;
        let (run, ended) = Run::new(number, limits.clone(), tools, namespaces, self.outbox.clone());
        runs.known.insert(number, Entry::Live(run.clone()));
        Some((run.clone(), ended, Guard { connection: self.clone(), run, number }))
    }

    /// Has the process ended by whoever serves. Nothing is begun in it meanwhile.
    fn condemn(&self, why: Lost) {
        self.lock().lost.get_or_insert(why);
        self.condemned.notify_one();
    }

    async fn take_all(&self, mut from: impl AsyncRead + Unpin) -> Lost {
        loop {
            match self.take_one(&mut from).await {
                Ok(true) => {}
                Ok(false) => return closed(),
                Err(lost) => return lost,
            }
        }
    }

    /// Takes a frame. False at the end of the pipe.
    async fn take_one(&self, from: &mut (impl AsyncRead + Unpin)) -> Result<bool, Lost> {
        let Some(header) = Header::read(from).await.map_err(ended)? else { return Ok(false) };
        let is_last = matches!(header.kind, from_worker::OUTCOME | from_worker::GONE);
        let (live, bound) = match self.lock().known.get(&header.run) {
            None => return Err(Violation::Run.into()),
            Some(Entry::Live(run)) => (Some(run.clone()), from_worker::bound(header.kind, run.limits())),
            Some(Entry::Dropped { limits, .. }) => (None, from_worker::bound(header.kind, limits)),
        };
        let bound = bound.ok_or(Violation::Kind(header.kind))?;
        if u64::from(header.length) > bound {
            return Err(Violation::Length { length: header.length }.into());
        }
        match live {
            None => header.skip(from).await.map_err(ended)?,
            Some(_) if header.kind == from_worker::GONE => return Err(Violation::Kind(header.kind).into()),
            Some(run) => {
                let body = header.body(from).await.map_err(ended)?;
                if is_last { run.end(&body)? } else { run.take(header.kind, &body)? }
            }
        }
        if is_last {
            self.lock().known.remove(&header.run);
        }
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Connection {
    /// Has every dropped run be dropped long ago.
    pub(super) fn age_dropped_runs(&self) {
        for entry in self.lock().known.values_mut() {
            if let Entry::Dropped { since, .. } = entry {
                *since = since.checked_sub(GRACE * 2).unwrap_or(*since);
            }
        }
    }

    /// Frames that wait for the pipe.
    pub(super) fn waiting_frames(&self) -> usize {
        self.outbox.waiting_frames()
    }
}

/// Ends a run that nobody waits for any more.
struct Guard {
    connection: Arc<Connection>,
    run: Arc<Run>,
    number: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.run.close(&[]);
        let mut runs = self.connection.lock();
        if let Some(entry) = runs.known.get_mut(&self.number) {
            *entry = Entry::Dropped { limits: self.run.limits().clone(), since: Instant::now() };
            drop(runs);
            self.connection.outbox.send(to_worker::drop_run(self.number));
        }
    }
}

fn closed() -> Lost {
    Lost::Ended("it closed its pipe".to_owned())
}

fn ended(error: io::Error) -> Lost {
    Lost::Ended(error.to_string())
}
