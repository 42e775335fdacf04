//! The only thread of a process that writes.
//!
//! Entries come through a bounded channel, in order. All entries that are waiting when the thread
//! looks become one transaction, so that forty calls that begin together wait for one commit.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{Change, Refusal};
use belljar_model::{ArtifactRef, ArtifactSettings, RunId, ToolPath};
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::{
    runtime::Runtime,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::timeout,
};

use super::{
    Options, PATIENCE,
    artifacts::{self, Upkeep},
    file, keep,
    live::Presence,
    measured, points, questions, resting,
    write::Author,
};
use crate::{
    artifacts::{ArtifactError, NewArtifact, Stored},
    asked::Measured,
    entry::{Assumption, Entry},
    error::LedgerError,
    holder::Holder,
    key::{Key, KeyPlace},
    query::{NotResting, Purge, RestingRun},
};

/// The most entries that may wait. Each takes some hundred bytes, or contains up to 256 calls of a
/// run.
const QUEUE: usize = 1024;
/// The most bytes of recordings that may wait, in pages: 64 MiB, four of the largest.
const QUEUE_PAGES: u32 = 64 * 1024 * 1024 / PAGE;
const PAGE: u32 = 4096;
/// The most bytes of artifacts that may wait, in pages: 64 MiB, four of the largest.
const ARTIFACT_PAGES: u32 = 64 * 1024 * 1024 / PAGE;
/// How long an artifact waits for that room. This is longer than for an entry, because a run loses
/// an artifact that is not stored.
const ARTIFACT_PATIENCE: Duration = Duration::from_secs(30);
/// How long a search waits for the index of content that was just stored: enough for some 16 MiB.
const INDEX_PATIENCE: Duration = Duration::from_secs(10);
/// The most entries of one transaction.
const BATCH: usize = 256;
/// Pages of the log beside the file that are copied into it when the thread is idle: 4 MiB.
const LOG_PAGES: i32 = if cfg!(test) { 16 } else { 1024 };
/// How long an error is returned for all entries before the ledger is tried again: otherwise a lock
/// that is held would delay each call by [`PATIENCE`].
pub(super) const REST: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 1 });
/// How long the file is left to other processes between two steps of work on artifacts that nobody
/// waits for: as long as such a step takes.
const PAUSE: Duration = Duration::from_millis(5);
/// The same between two steps that somebody waits for.
const SHORT_PAUSE: Duration = Duration::from_millis(2);
/// Steps of storing before such a pause. Each takes a millisecond or two, while a script waits.
const STEPS: u32 = 32;
/// How often old runs are forgotten.
const TIDYING: Duration = Duration::from_secs(3600);
/// How often errors are logged.
const COMPLAINTS: Duration = Duration::from_secs(60);

type Changed = Result<Result<(), Refusal>, LedgerError>;
type TakenUp = Result<Result<RestingRun, NotResting>, LedgerError>;
type Assumed = Result<Result<(), NotResting>, LedgerError>;
type Receipt = oneshot::Sender<Result<(), LedgerError>>;

enum Message {
    Entry(Entry, Option<Receipt>, Option<OwnedSemaphorePermit>),
    /// Ask to be told when every earlier entry is kept, or was reported as lost.
    Flush(oneshot::Sender<()>),
    /// Ask, decide or end a question.
    Question(Change, Option<oneshot::Sender<Changed>>),
    /// Resume a suspended run.
    TakeUp(RunId, oneshot::Sender<TakenUp>),
    /// Suspend it again.
    LayDown(RunId, oneshot::Sender<Result<(), LedgerError>>),
    /// Record the owner's assumption about its calls.
    Assume(RunId, Assumption, oneshot::Sender<Assumed>),
    /// Add measurements of servers.
    Measured(Measured),
    /// Do something for artifacts.
    Artifacts(artifacts::Request),
    /// Forget runs.
    Purge(Purge, oneshot::Sender<Result<u64, LedgerError>>),
    /// Keep every earlier entry, and end.
    Close(oneshot::Sender<()>),
}

/// The channel to the thread.
#[derive(Clone)]
pub(super) struct Writer {
    messages: mpsc::Sender<Message>,
    /// Room for large entries.
    pages: Arc<Semaphore>,
    /// Room for artifacts.
    artifact_pages: Arc<Semaphore>,
    /// How artifacts are kept, once somebody uses them.
    artifact_settings: Arc<Mutex<Option<ArtifactSettings>>>,
}

impl Writer {
    pub(super) fn start(folder: Option<PathBuf>, key: Arc<KeyPlace>, options: Options) -> Self {
        let (messages, received) = mpsc::channel(QUEUE);
        let artifact_settings = Arc::default();
        let artifacts = Upkeep::new(Arc::clone(&artifact_settings));
        let work = Work {
            folder,
            key,
            options,
            open: None,
            fault: None,
            tidied: None,
            artifacts,
            steps: 0,
            complaints: Complaints::default(),
        };
        let started = thread::Builder::new().name("belljar-ledger".to_owned()).spawn(move || work.go_on(received));
        if let Err(error) = started {
            // The channel is then closed, and each entry reports that.
            tracing::warn!("the ledger's thread cannot be started: {error}");
        }
        let [pages, artifact_pages] =
            [QUEUE_PAGES, ARTIFACT_PAGES].map(|pages| Arc::new(Semaphore::new(pages as usize)));
        Self { messages, pages, artifact_pages, artifact_settings }
    }

    pub(super) async fn write(&self, entry: Entry) -> Result<(), LedgerError> {
        let room = self.room(&entry).await?;
        self.send(Message::Entry(entry, None, room)).await
    }

    pub(super) async fn commit(&self, entry: Entry) -> Result<(), LedgerError> {
        let (receipt, kept) = oneshot::channel();
        let room = self.room(&entry).await?;
        self.send(Message::Entry(entry, Some(receipt), room)).await?;
        kept.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) fn offer(&self, entry: Entry) -> bool {
        self.messages.try_send(Message::Entry(entry, None, None)).is_ok()
    }

    /// A permit for the bytes of an entry that waits.
    async fn room(&self, entry: &Entry) -> Result<Option<OwnedSemaphorePermit>, LedgerError> {
        let pages = entry.bytes() / PAGE as usize;
        if pages == 0 {
            return Ok(None);
        }
        let pages = u32::try_from(pages).unwrap_or(u32::MAX).min(QUEUE_PAGES);
        match timeout(PATIENCE, self.pages.clone().acquire_many_owned(pages)).await {
            Ok(room) => room.map(Some).map_err(|_| LedgerError::Closed),
            Err(_) => Err(LedgerError::Overloaded),
        }
    }

    pub(super) async fn flush(&self) {
        let (told, done) = oneshot::channel();
        if self.send(Message::Flush(told)).await.is_ok() {
            let _ = done.await;
        }
    }

    pub(super) async fn purge(&self, what: Purge) -> Result<u64, LedgerError> {
        let (told, done) = oneshot::channel();
        self.send(Message::Purge(what, told)).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) async fn take_up(&self, run: RunId) -> TakenUp {
        let (told, done) = oneshot::channel();
        self.send(Message::TakeUp(run, told)).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) async fn lay_down(&self, run: RunId) -> Result<(), LedgerError> {
        let (told, done) = oneshot::channel();
        self.send(Message::LayDown(run, told)).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) async fn assume(&self, run: RunId, assumed: Assumption) -> Assumed {
        let (told, done) = oneshot::channel();
        self.send(Message::Assume(run, assumed, told)).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) async fn change(&self, change: Change) -> Changed {
        let (told, done) = oneshot::channel();
        self.send(Message::Question(change, Some(told))).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    pub(super) fn offer_change(&self, change: Change) -> bool {
        self.messages.try_send(Message::Question(change, None)).is_ok()
    }

    pub(super) fn offer_measured(&self, measured: Measured) -> bool {
        self.messages.try_send(Message::Measured(measured)).is_ok()
    }

    /// Notes that artifacts are used here, and how they are kept.
    pub(super) fn keep_artifacts(&self, settings: ArtifactSettings) {
        *self.artifact_settings.lock() = Some(settings);
    }

    pub(super) async fn store_artifact(
        &self,
        holder: Holder,
        artifact: NewArtifact,
        settings: ArtifactSettings,
    ) -> Result<Stored, ArtifactError> {
        let pages = u32::try_from(artifact.content.bytes().len() / PAGE as usize).unwrap_or(u32::MAX);
        let pages = pages.saturating_add(1).min(ARTIFACT_PAGES);
        let room = timeout(ARTIFACT_PATIENCE, self.artifact_pages.clone().acquire_many_owned(pages)).await;
        let room = room.map_err(|_| LedgerError::Overloaded)?.map_err(|_| LedgerError::Closed)?;
        let (receipt, stored) = oneshot::channel();
        let waiting = artifacts::Waiting::new((holder, artifact, settings), receipt, room);
        self.send(Message::Artifacts(artifacts::Request::Store(Box::new(waiting)))).await?;
        Ok(stored.await.unwrap_or(Err(LedgerError::Closed))?)
    }

    pub(super) async fn remove_artifacts(
        &self,
        holder: Holder,
        which: Option<Vec<ArtifactRef>>,
    ) -> Result<u64, LedgerError> {
        let (told, done) = oneshot::channel();
        self.send(Message::Artifacts(artifacts::Request::Remove(holder, which, told))).await?;
        done.await.unwrap_or(Err(LedgerError::Closed))
    }

    /// Waits until these are indexed or turn out not to be indexable, but not for too long.
    pub(super) async fn index_artifacts(&self, numbers: Vec<i64>) {
        let (told, done) = oneshot::channel();
        if self.send(Message::Artifacts(artifacts::Request::Index(numbers, told))).await.is_ok() {
            let _ = timeout(INDEX_PATIENCE, done).await;
        }
    }

    /// Notes that these were used, if there is room for the message.
    pub(super) fn touch_artifacts(&self, numbers: Vec<i64>) {
        if !numbers.is_empty() {
            let _ = self.messages.try_send(Message::Artifacts(artifacts::Request::Touch(numbers)));
        }
    }

    pub(super) async fn close(&self) {
        let (told, done) = oneshot::channel();
        if self.send(Message::Close(told)).await.is_ok() {
            let _ = done.await;
        }
    }

    async fn send(&self, message: Message) -> Result<(), LedgerError> {
        match self.messages.try_send(message) {
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(LedgerError::Closed),
            Err(mpsc::error::TrySendError::Full(message)) => {
                match timeout(PATIENCE, self.messages.send(message)).await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(_)) => Err(LedgerError::Closed),
                    Err(_) => Err(LedgerError::Overloaded),
                }
            }
        }
    }
}

/// Commands about a suspended run.
enum Rest {
    Up(oneshot::Sender<TakenUp>),
    Down(oneshot::Sender<Result<(), LedgerError>>),
    Assume(Assumption, oneshot::Sender<Assumed>),
}

/// What the thread does next.
enum Next {
    Message(Box<Message>),
    /// Nothing came, so there is time for work on artifacts.
    Idle,
    /// Nothing more will come.
    End,
}

/// The thread's state.
struct Work {
    folder: Option<PathBuf>,
    key: Arc<KeyPlace>,
    options: Options,
    open: Option<Open>,
    fault: Option<(Instant, LedgerError)>,
    /// When old runs were last forgotten.
    tidied: Option<Instant>,
    artifacts: Upkeep,
    /// Steps of storing since the last pause.
    steps: u32,
    complaints: Complaints,
}

/// A file that is open.
struct Open {
    connection: Connection,
    presence: Presence,
    key: Arc<Key>,
    tools: HashMap<ToolPath, i64>,
    /// Pages of the log beside the file, as of the last commit.
    log_pages: Arc<AtomicI32>,
    syncs: bool,
}

impl Work {
    fn go_on(mut self, mut messages: mpsc::Receiver<Message>) {
        let (mut entries, mut receipts, mut told, mut rooms) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let clock = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let clock = clock.inspect_err(|error| tracing::debug!("artifacts are indexed without pauses: {error}")).ok();
        let mut goes_on = true;
        while goes_on {
            let first = match self.next(&mut messages, clock.as_ref()) {
                Next::Message(first) => *first,
                Next::Idle => {
                    self.artifact_step();
                    self.tidy();
                    continue;
                }
                Next::End => break,
            };
            let (mut next, mut purge, mut question, mut rest) = (Some(first), None, None, None);
            let (mut measured, mut artifact) = (None, None);
            while let Some(message) = next {
                match message {
                    Message::Entry(entry, receipt, room) => {
                        entries.push(entry);
                        rooms.extend(room);
                        receipts.extend(receipt);
                    }
                    Message::Flush(done) => told.push(done),
                    Message::Question(change, done) => question = Some((change, done)),
                    Message::TakeUp(run, done) => rest = Some((run, Rest::Up(done))),
                    Message::LayDown(run, done) => rest = Some((run, Rest::Down(done))),
                    Message::Assume(run, assumed, done) => rest = Some((run, Rest::Assume(assumed, done))),
                    Message::Measured(servers) => measured = Some(servers),
                    Message::Artifacts(request) => artifact = Some(request),
                    Message::Purge(what, done) => purge = Some((what, done)),
                    Message::Close(done) => {
                        told.push(done);
                        goes_on = false;
                    }
                }
                let is_alone =
                    purge.is_some() || question.is_some() || rest.is_some() || measured.is_some() || artifact.is_some();
                next = if goes_on && !is_alone && entries.len() < BATCH { messages.try_recv().ok() } else { None };
            }
            if !entries.is_empty() {
                let waits = !receipts.is_empty();
                let kept = self.keep(&entries, waits && self.options.fsync);
                if let Err(fault) = &kept {
                    self.complaints.say(fault, entries.len());
                }
                entries.clear();
                rooms.clear();
                for receipt in receipts.drain(..) {
                    // Nobody may be waiting any more.
                    let _ = receipt.send(kept.clone());
                }
            }
            if let Some((change, done)) = question {
                let changed = self.change(&change);
                match done {
                    Some(done) => drop(done.send(changed)),
                    None => {
                        if let Err(fault) = changed {
                            self.complaints.say(&fault, 1);
                        }
                    }
                }
            }
            match rest {
                Some((run, Rest::Up(done))) => drop(done.send(self.take_up(run))),
                Some((run, Rest::Down(done))) => drop(done.send(self.lay_down(run))),
                Some((run, Rest::Assume(assumed, done))) => drop(done.send(self.assume(run, assumed))),
                None => {}
            }
            if let Some(measured) = measured
                && let Err(fault) = self.measured(&measured)
            {
                self.complaints.say(&fault, measured.servers.len());
            }
            if let Some(request) = artifact {
                self.artifact(request);
            }
            // Artifacts are stored in between, however many entries come.
            if self.artifacts.is_urgent() {
                self.artifact_step();
            }
            if let Some((what, done)) = purge {
                let _ = done.send(self.purge(&what));
            }
            self.tidy();
            while !goes_on && self.artifacts.is_storing() {
                self.artifact_step();
            }
            if !goes_on {
                self.open = None;
            }
            for done in told.drain(..) {
                let _ = done.send(());
            }
        }
    }

    /// The next message, or the news that there is time for artifacts.
    fn next(&mut self, messages: &mut mpsc::Receiver<Message>, clock: Option<&Runtime>) -> Next {
        if !self.artifacts.has_work() {
            return messages.blocking_recv().map_or(Next::End, |message| Next::Message(Box::new(message)));
        }
        let received = match messages.try_recv() {
            Err(mpsc::error::TryRecvError::Empty) => {
                let Some(clock) = clock else { return Next::Idle };
                self.steps = if self.artifacts.is_storing() { (self.steps + 1) % STEPS } else { 0 };
                if self.steps != 0 {
                    return Next::Idle;
                }
                // Other processes write too, and they have no queue to wait in.
                let pause = if self.artifacts.is_urgent() { SHORT_PAUSE } else { PAUSE };
                let waited = clock.block_on(async { timeout(pause, messages.recv()).await });
                let Ok(received) = waited else { return Next::Idle };
                received
            }
            received => received.ok(),
        };
        received.map_or(Next::End, |message| Next::Message(Box::new(message)))
    }

    fn artifact(&mut self, request: artifacts::Request) {
        let mut work = std::mem::take(&mut self.artifacts);
        match self.opened() {
            Ok(open) => {
                let path = open.path();
                let ready = open.sync(false).and_then(|()| points::bound(&open.connection));
                let ready = ready.map_err(|error| LedgerError::of(&error, &path, PATIENCE));
                work.take(request, ready.map(|()| (&mut open.connection, path.as_path())));
            }
            Err(error) => work.take(request, Err(error)),
        }
        self.artifacts = work;
    }

    fn artifact_step(&mut self) {
        let mut work = std::mem::take(&mut self.artifacts);
        let done = match self.opened() {
            Ok(open) => {
                let path = open.path();
                let ready = open.sync(false).map_err(|error| LedgerError::of(&error, &path, PATIENCE));
                ready.and_then(|()| work.step(&mut open.connection, &path))
            }
            Err(error) => {
                work.fail(&error);
                Err(error)
            }
        };
        self.artifacts = work;
        if let Err(error) = done {
            tracing::debug!("a step of the work on artifacts failed: {error}");
            if matches!(error, LedgerError::Corrupt { .. } | LedgerError::Failed { .. } | LedgerError::Open { .. }) {
                self.open = None;
            }
        }
    }

    /// Keeps all of the entries or none.
    fn keep(&mut self, entries: &[Entry], syncs: bool) -> Result<(), LedgerError> {
        if let Some((since, fault)) = &self.fault
            && since.elapsed() < REST
        {
            return Err(fault.clone());
        }
        let kept = self.opened().and_then(|open| {
            let kept = open.keep(entries, syncs);
            kept.inspect_err(|_| open.tools.clear())
        });
        self.fault = kept.as_ref().err().map(|fault| (Instant::now(), fault.clone()));
        // The file may have been moved away and another created: then it is opened again.
        if matches!(kept, Err(LedgerError::Corrupt { .. } | LedgerError::Failed { .. } | LedgerError::Open { .. })) {
            self.open = None;
        }
        kept
    }

    fn change(&mut self, change: &Change) -> Changed {
        let syncs = self.options.fsync;
        let open = self.opened()?;
        let path = open.path();
        open.change(change, syncs).map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn take_up(&mut self, run: RunId) -> TakenUp {
        let open = self.opened()?;
        let path = open.path();
        let Open { connection, presence, key, .. } = open;
        resting::take_up(connection, &path, (presence, key), run)
            .map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn assume(&mut self, run: RunId, assumed: Assumption) -> Assumed {
        let open = self.opened()?;
        let path = open.path();
        let Open { connection, key, .. } = open;
        resting::assume(connection, &path, key, (run, assumed))
            .map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn lay_down(&mut self, run: RunId) -> Result<(), LedgerError> {
        let open = self.opened()?;
        let path = open.path();
        let laid_down = resting::lay_down(&open.connection, &open.presence, run);
        laid_down.map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn measured(&mut self, measured: &Measured) -> Result<(), LedgerError> {
        let open = self.opened()?;
        let path = open.path();
        let added = measured::add(&mut open.connection, measured, SystemTime::now());
        added.map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn opened(&mut self) -> Result<&mut Open, LedgerError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let key = self.key.get()?;
                let folder = self.folder.as_deref().ok_or(LedgerError::NoFolder)?;
                let mut connection = file::open(folder)?;
                let path = folder.join(file::NAME);
                let failed = |error: rusqlite::Error| LedgerError::of(&error, &path, PATIENCE);
                let log_pages = Arc::new(AtomicI32::new(0));
                let counted = log_pages.clone();
                let hook = move |_: &mut _, pages| {
                    counted.store(pages, Relaxed);
                    Ok(())
                };
                connection.wal_hook(Some(hook)).map_err(failed)?;
                let presence = Presence::announce(folder)
                    .map_err(|error| LedgerError::Open { path: path.clone(), problem: error.to_string() })?;
                Open { connection, presence, key, tools: HashMap::new(), log_pages, syncs: false }
            }
        };
        Ok(self.open.insert(open))
    }

    fn purge(&mut self, what: &Purge) -> Result<u64, LedgerError> {
        let folder = self.folder.as_deref().ok_or(LedgerError::NoFolder)?;
        if !folder.join(file::NAME).exists() {
            return Ok(0);
        }
        let (keep, settings) = (self.options.keep, self.artifacts.settings());
        let open = self.opened()?;
        let path = open.path();
        if settings.is_some() {
            artifacts::expire(&open.connection).map_err(|error| LedgerError::of(&error, &path, PATIENCE))?;
        }
        let purged = match what {
            Purge::Kept => keep::tidy(&mut open.connection, &path, &open.presence, &keep),
            _ => Ok(0),
        };
        let purged = purged.and_then(|old| Ok(old + keep::purge(&mut open.connection, what)?));
        purged.map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    /// Forgets runs that are too old or too many, and copies a large log beside the file into it.
    /// Only the next entry waits for that.
    fn tidy(&mut self) {
        let Some(open) = &mut self.open else { return };
        if self.tidied.is_none_or(|tidied| tidied.elapsed() >= TIDYING) {
            self.tidied = Some(Instant::now());
            let path = open.path();
            let tidied = keep::tidy(&mut open.connection, &path, &open.presence, &self.options.keep);
            if let Err(error) = tidied {
                tracing::warn!("old runs could not be removed from the ledger: {error}");
            }
            if self.artifacts.settings().is_some()
                && let Err(error) = artifacts::expire(&open.connection)
            {
                tracing::warn!("old artifacts could not be removed from the ledger: {error}");
            }
            // The remaining unused pages are returned between the entries of runs.
            self.artifacts.look_again();
            if let Err(error) = open.presence.tidy() {
                tracing::debug!("files that ended processes left beside the ledger could not be removed: {error}");
            }
        }
        if open.log_pages.load(Relaxed) > LOG_PAGES {
            points::pass();
            let copied = open.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            points::pass();
            if let Err(error) = copied {
                tracing::debug!("the ledger's log was not copied into its file: {error}");
            }
            open.log_pages.store(0, Relaxed);
        }
    }
}

impl Open {
    fn keep(&mut self, entries: &[Entry], syncs: bool) -> Result<(), LedgerError> {
        let path = self.path();
        self.write(entries, syncs).map_err(|error| LedgerError::of(&error, &path, PATIENCE))
    }

    fn path(&self) -> PathBuf {
        self.connection.path().map(PathBuf::from).unwrap_or_default()
    }

    fn sync(&mut self, syncs: bool) -> rusqlite::Result<()> {
        if syncs != self.syncs {
            self.connection.pragma_update(None, "synchronous", if syncs { "FULL" } else { "NORMAL" })?;
            self.syncs = syncs;
        }
        Ok(())
    }

    fn change(&mut self, change: &Change, syncs: bool) -> rusqlite::Result<Result<(), Refusal>> {
        self.sync(syncs)?;
        points::bound(&self.connection)?;
        let path = self.path();
        questions::change(&mut self.connection, &path, &self.presence, change)
    }

    fn write(&mut self, entries: &[Entry], syncs: bool) -> rusqlite::Result<()> {
        self.sync(syncs)?;
        points::bound(&self.connection)?;
        points::pass();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut author = Author { process: self.presence.token(), key: &self.key, tools: &mut self.tools };
        for entry in entries {
            author.write(&transaction, entry)?;
            points::pass();
        }
        transaction.commit()?;
        points::pass();
        Ok(())
    }
}

/// Logs errors, but not every time.
#[derive(Default)]
struct Complaints {
    last: Option<Instant>,
    lost: usize,
}

impl Complaints {
    fn say(&mut self, fault: &LedgerError, lost: usize) {
        self.lost = self.lost.saturating_add(lost);
        if self.last.is_none_or(|last| last.elapsed() >= COMPLAINTS) {
            tracing::warn!("{fault}; what was to be kept of runs is lost ({} entries): {}", self.lost, fault.hint());
            self.last = Some(Instant::now());
            self.lost = 0;
        }
    }
}
