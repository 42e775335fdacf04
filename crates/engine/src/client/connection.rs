//! The connection to one engine process: its runs, its messages, and its end.

use std::{io, pin::pin, sync::Arc, time::Duration};

use belljar_foreign::Imports;
use belljar_model::{ErrorKind, Limits, Outcome, Recorded, RunError, Usage};
use belljar_sandbox::{
    Program, Recording, ReplayError, SandboxOptions, ToolSet, Tools,
    apart::{self, Keeper},
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, BufReader},
    net::unix::pipe::{Receiver, Sender},
    sync::Notify,
    time::{sleep, sleep_until},
};

use super::{
    lost::{Lost, Violation},
    recording::Known,
    run::{Run, Terms},
    runs::{Places, Runs},
};
use crate::protocol::{
    Malformed,
    frame::Header,
    from_worker,
    outbox::Outbox,
    replayed::{Replayed, Verdict},
    to_worker::{self, Replay},
};

/// How much longer than the time limits of its runs a process may take. The limits are checked here
/// only as a second guard, so this does not matter while the process itself works.
const GRACE: Duration = Duration::from_secs(10);
/// A time that is practically endless, but can be added to clocks.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The size of one read from the pipe.
const READ_BYTES: usize = 64 * 1024;

/// How long a process that no longer reads has to send its last message: one that has ended has
/// closed both of its pipes.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The connection to one process. Its holder keeps [`Connection::serve`] running.
pub(crate) struct Connection {
    outbox: Arc<Outbox>,
    runs: Mutex<Runs>,
    /// Places for runs that the process has, or is about to get.
    places: Places,
    /// Signals that the server must end the process.
    condemned: Notify,
    /// A run was dropped.
    dropped: Notify,
}

/// What was received before the first run.
pub(crate) enum Greeting {
    Ready,
    /// The process has read a component, and compiles it when it is asked to.
    Imports(Box<Imports>),
    Failed(String),
}

impl Connection {
    pub(crate) fn new(pipe: Sender, options: &SandboxOptions) -> Arc<Self> {
        Arc::new(Self {
            outbox: Arc::new(Outbox::new(pipe)),
            runs: Mutex::new(Runs::new(options)),
            places: Places::new(options),
            condemned: Notify::new(),
            dropped: Notify::new(),
        })
    }

    /// Sends the first frame, and reads the process's first message.
    pub(crate) async fn greet(&self, hello: Vec<u8>, from: &mut Receiver) -> Result<Greeting, Lost> {
        self.outbox.send(hello);
        tokio::select! {
            // As in `serve`.
            biased;
            greeting = Self::greeting(from) => greeting,
            lost = self.flushed() => Err(lost),
        }
    }

    /// Keeps writing queued frames. Completes some time after the process has closed the pipe,
    /// unless it has ended.
    async fn flushed(&self) -> Lost {
        // The other pipe shows why writing fails, or there is no reason.
        let _ = self.outbox.flush().await;
        self.runs.lock().close();
        self.outbox.end();
        sleep(LAST_WORDS).await;
        Lost::Deaf
    }

    /// Completes if the process does not give up a dropped run in time.
    async fn kept_a_dropped_run(&self) -> Lost {
        loop {
            let first = self.runs.lock().first_dropped();
            match first {
                Some(since) if since.elapsed() >= GRACE => return Lost::Overdue(GRACE),
                Some(since) => sleep_until(since + GRACE).await,
                None => self.dropped.notified().await,
            }
        }
    }

    async fn greeting(from: &mut Receiver) -> Result<Greeting, Lost> {
        let header = Header::read(from).await.map_err(ended)?.ok_or_else(closed)?;
        let max = match header.kind {
            from_worker::FAILED => from_worker::MAX_REASON + 8,
            from_worker::IMPORTS => from_worker::MAX_IMPORTS + 8,
            _ => 0,
        };
        if u64::from(header.length) > max {
            return Err(Violation::Length { length: header.length }.into());
        }
        let body = header.body(from).await.map_err(ended)?;
        match header.kind {
            from_worker::READY => Ok(Greeting::Ready),
            from_worker::IMPORTS => {
                let imports = from_worker::parse_imports(&body).map_err(Violation::from)?;
                Ok(Greeting::Imports(Box::new(imports)))
            }
            from_worker::FAILED => Ok(Greeting::Failed(from_worker::parse_failed(&body).map_err(Violation::from)?)),
            kind => Err(Violation::Kind(kind).into()),
        }
    }

    /// Handles the process's messages until it ends or breaks a rule. The caller then ends it, and
    /// calls [`Connection::lose_all`].
    pub(crate) async fn serve(&self, from: impl AsyncRead + Unpin) -> Lost {
        tokio::select! {
            // What the process said counts before what its silence means.
            biased;
            lost = self.take_all(BufReader::with_capacity(READ_BYTES, from)) => lost,
            lost = self.flushed() => lost,
            lost = self.kept_a_dropped_run() => lost,
            () = self.condemned.notified() => self.lost().unwrap_or_else(closed),
        }
    }

    /// Ends all runs, since the process is gone. The first reason counts.
    pub(crate) fn lose_all(&self, lost: &Lost) {
        let (live, lost) = self.runs.lock().lose_all(lost);
        // Waiters for room now find that nothing can be started here.
        self.outbox.end();
        for run in live {
            run.lose(lost.clone());
        }
    }

    /// Why the process has ended or will be ended.
    pub(crate) fn lost(&self) -> Option<Lost> {
        self.runs.lock().lost()
    }

    /// Whether runs may still be started.
    pub(crate) fn is_alive(&self) -> bool {
        self.runs.lock().is_open()
    }

    /// Runs a script to its outcome, or returns `None` if the process was lost before the run could
    /// start.
    ///
    /// # Cancellation
    /// Dropping the future ends the run in the process, and aborts its calls here.
    pub(crate) async fn run(
        self: &Arc<Self>,
        program: &Program,
        limits: &Limits,
        tools: Arc<dyn Tools>,
        keeper: Keeper,
        patience: Duration,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Outcome> {
        let (namespaces, functions) = (tools.namespaces(), tools.functions());
        let (limits_of_run, max_recording) = (limits.clone(), program.max_recording);
        let is_watched = tools.is_watched();
        let terms = Terms {
            limits: limits_of_run,
            tools,
            namespaces: namespaces.iter().map(|each| each.answers).collect(),
            keeper,
            max_recording,
            is_replay: false,
            is_watched,
        };
        let frame = |number| to_worker::run(number, program, limits, (&namespaces, &functions), is_watched);
        let texts = program.source.len() + program.prelude.as_ref().map_or(0, String::len);
        let carried = self.carry(terms, texts, frame, patience, cancelled).await?;
        let Carried { run, told, guard: _guard } = match carried {
            Ok(carried) => carried,
            Err(refused) => return Some(Outcome::refused(refused)),
        };
        Some(match told {
            Ok(mut outcome) => {
                let calls = run.close(&outcome.order);
                outcome.calls = calls.iter().map(|(_, call)| call.clone()).collect();
                outcome.usage.tool_calls = outcome.calls.len() as u64;
                // The sum of both processes: a byte of an answer is in both only while it is sent.
                let there = outcome.usage.peak_held_bytes.unwrap_or_default();
                outcome.usage.peak_held_bytes = Some(there.saturating_add(run.peak_held()));
                if let Some(max) = program.max_recording {
                    let (recorded, directories) = run.recorded();
                    let known = Known {
                        program,
                        limits,
                        namespaces: &namespaces,
                        functions: &functions,
                        directories: &directories,
                        calls: &calls,
                        outcome: &outcome,
                    };
                    outcome.recording = match recorded {
                        Some(Recorded::Whole(bytes)) => Some(known.recording(bytes, max)),
                        not_replayable => not_replayable,
                    };
                }
                outcome
            }
            Err(lost) => {
                let mut outcome = Outcome::refused(lost.error());
                outcome.calls = run.close(&[]).into_iter().map(|(_, call)| call).collect();
                outcome.usage.tool_calls = outcome.calls.len() as u64;
                outcome.usage.source_bytes = program.source.len() as u64;
                outcome.usage.peak_held_bytes = Some(run.peak_held());
                outcome
            }
        })
    }

    /// Repeats a recorded run in the process, or runs another script over its answers. `limits` are
    /// those of the recording, which are within the ceiling. Returns `None` if the process was lost
    /// before the replay could start.
    ///
    /// # Cancellation
    /// Dropping the future ends the replay in the process.
    pub(crate) async fn replay(
        self: &Arc<Self>,
        replay: &Replay<'_>,
        recording: &Recording,
        limits: &Limits,
        patience: Duration,
    ) -> Option<Result<Outcome, ReplayError>> {
        let terms = Terms {
            limits: limits.clone(),
            tools: Arc::new(ToolSet::new()),
            namespaces: Vec::new(),
            keeper: Keeper::new(limits.max_held, None),
            max_recording: None,
            is_replay: true,
            is_watched: false,
        };
        let bytes = replay.recording.len() + replay.source.map_or(0, str::len);
        let frame = |number| to_worker::replay(number, replay);
        let carried = self.carry(terms, bytes, frame, patience, std::future::pending()).await?;
        Some(match carried.map(|Carried { run, told, guard }| (run.replayed(), told, guard)) {
            Ok((Some(replayed), Ok(outcome), _guard)) => taken(replayed, outcome, replay, recording),
            Ok((None, Ok(_), _guard)) => Err(ReplayError::Run(closed().error())),
            Ok((_, Err(lost), _guard)) => Err(ReplayError::Run(lost.error())),
            Err(refused) => Err(ReplayError::Run(refused)),
        })
    }

    /// Gives the process a run, in a frame with a text of this many bytes, and waits for its end.
    /// Returns an error if the run was not started, and `None` if the process was lost before.
    async fn carry(
        self: &Arc<Self>,
        terms: Terms,
        bytes: usize,
        frame: impl FnOnce(u64) -> Vec<u8>,
        patience: Duration,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Result<Carried, RunError>> {
        let place = match self.places.take() {
            Ok(place) => place,
            Err(busy) => return Some(Err(busy)),
        };
        let patience = patience.saturating_add(GRACE).min(LONGEST);
        let mut overdue = pin!(sleep(patience));
        let mut cancelled = pin!(cancelled);
        let room = tokio::select! {
            biased;
            room = self.outbox.room_for(bytes) => room?,
            () = &mut cancelled => {
                return Some(Err(RunError::new(ErrorKind::Cancelled, "the run was cancelled")));
            }
            // A working process reads what it is sent at once.
            () = &mut overdue => {
                let lost = Lost::Overdue(GRACE);
                self.condemn(lost.clone());
                return Some(Err(lost.error()));
            }
        };
        let outbox = self.outbox.clone();
        let (run, mut ended) = self.runs.lock().begin(place, |number| Run::new(number, terms, outbox))?;
        let guard = Guard { connection: self.clone(), run: run.clone() };
        self.outbox.send_in(room, frame(run.number()), None);

        // The run's time starts when it can start.
        overdue.set(sleep(patience));
        let mut is_cancelled = false;
        let told = loop {
            tokio::select! {
                biased;
                told = &mut ended => break told.unwrap_or_else(|_| Err(closed())),
                () = &mut cancelled, if !is_cancelled => {
                    is_cancelled = true;
                    self.outbox.send(to_worker::cancel(run.number()));
                    overdue.set(sleep(GRACE));
                }
                () = &mut overdue => {
                    // The time in which the run waited only for people does not count.
                    if let Some(left) = run.left_of(patience).filter(|_| !is_cancelled) {
                        overdue.set(sleep(left));
                        continue;
                    }
                    self.condemn(Lost::Overdue(GRACE));
                    break ended.await.unwrap_or_else(|_| Err(closed()));
                }
            }
        };
        Some(Ok(Carried { run, told, guard }))
    }

    /// Makes the server end the process. No run is started in it from now on.
    fn condemn(&self, why: Lost) {
        self.runs.lock().condemn(why);
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

    /// Handles a frame. Returns false at the end of the pipe.
    async fn take_one(&self, from: &mut (impl AsyncRead + Unpin)) -> Result<bool, Lost> {
        let Some(header) = Header::read(from).await.map_err(ended)? else { return Ok(false) };
        let is_last = matches!(header.kind, from_worker::OUTCOME | from_worker::GONE);
        let (live, bound) = self.runs.lock().find(header.run, header.kind)?;
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
            self.runs.lock().remove(header.run);
        }
        Ok(true)
    }
}

#[cfg(test)]
impl Connection {
    /// Frames queued for the pipe.
    pub(super) fn waiting_frames(&self) -> usize {
        self.outbox.waiting_frames()
    }
}

/// A run that has ended, or was lost.
struct Carried {
    run: Arc<Run>,
    told: Result<Outcome, Lost>,
    guard: Guard,
}

/// The result of a replay, as far as the process is trusted.
fn taken(
    Replayed { verdict, calls }: Replayed,
    outcome: Outcome,
    replay: &Replay<'_>,
    recording: &Recording,
) -> Result<Outcome, ReplayError> {
    let usage = Usage { tool_calls: calls.len() as u64, ..outcome.usage };
    let outcome = Outcome { calls, usage, ..outcome };
    let broken = || ReplayError::Run(Lost::Violated(Violation::Malformed(Malformed::Tag)).error());
    match (verdict, outcome.result) {
        (Verdict::Ended, result) => {
            let outcome = Outcome { result, ..outcome };
            if replay.source.is_some() { Ok(outcome) } else { apart::replayed(recording, outcome) }
        }
        (Verdict::Refused, Err(error)) => Err(ReplayError::Run(error)),
        (Verdict::Overdue, Err(RunError { limit: Some(hit), .. })) => Err(ReplayError::Time(hit)),
        (Verdict::Diverged { text, has_outcome }, result) => {
            let outcome = has_outcome.then_some(Outcome { result, ..outcome });
            Err(apart::diverged(recording, text, outcome))
        }
        _ => Err(broken()),
    }
}

/// Ends a run that nobody waits for any more.
struct Guard {
    connection: Arc<Connection>,
    run: Arc<Run>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.run.close(&[]);
        if self.connection.runs.lock().give_up(self.run.number()) {
            self.connection.outbox.send(to_worker::drop_run(self.run.number()));
            self.connection.dropped.notify_one();
        }
    }
}

fn closed() -> Lost {
    Lost::Ended("it closed its pipe".to_owned())
}

fn ended(error: io::Error) -> Lost {
    Lost::Ended(error.to_string())
}
