//! The interpreter, ready to run scripts.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use belljar_image::{CodeOrigin, Image, ImageError};
use belljar_model::{ErrorKind, LimitHit, Limits, Outcome, RunError};
use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::{Engine, component::Linker};

use crate::{
    Program, SandboxOptions, Tools, failure,
    host::{self, RunState, glass},
    pool, run,
    ticker::Ticker,
};

/// A compiled interpreter and its pool of slots. Shared by all runs of a process.
pub struct Sandbox {
    engine: Engine,
    interpreter: glass::InterpreterPre<RunState>,
    origin: CodeOrigin,
    ticker: Ticker,
    slots: Semaphore,
    queued: AtomicU32,
    options: SandboxOptions,
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The engine cannot be set up on this machine.
    #[error("the WebAssembly engine cannot be set up with {max_live} slots: {reason}")]
    Engine {
        /// The slots asked for.
        max_live: u32,
        /// What wasmtime says.
        reason: String,
    },
    /// The image cannot be used.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The image imports what the host does not offer, or does not export what a guest must.
    #[error("the image is no interpreter for this version of belljar: {0}")]
    World(String),
    /// The thread that keeps the deadlines cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Sandbox {
    /// Loads `image` into an engine with a pool for `options.max_live` runs.
    ///
    /// # Errors
    /// [`SandboxError`], when the machine or the image does not serve.
    pub fn new(image: &Image, options: SandboxOptions) -> Result<Self, SandboxError> {
        let engine = pool::engine(options.max_live)
            .map_err(|error| SandboxError::Engine { max_live: options.max_live, reason: format!("{error:#}") })?;
        let loaded = image.load(&engine)?;
        let world = |error: wasmtime::Error| SandboxError::World(format!("{error:#}"));
        let mut linker = Linker::new(&engine);
        host::link(&mut linker).map_err(world)?;
        let instance = linker.instantiate_pre(&loaded.component).map_err(world)?;
        let interpreter = glass::InterpreterPre::new(instance).map_err(world)?;
        if let CodeOrigin::Compiled { reason: Some(reason) } = &loaded.origin {
            tracing::warn!(
                reason,
                "the embedded machine code does not fit this machine; the interpreter was compiled anew"
            );
        }
        Ok(Self {
            interpreter,
            origin: loaded.origin,
            ticker: Ticker::start(engine.clone())?,
            slots: Semaphore::new(options.max_live as usize),
            queued: AtomicU32::new(0),
            engine,
            options,
        })
    }

    /// Where the interpreter's machine code came from.
    pub fn code_origin(&self) -> &CodeOrigin {
        &self.origin
    }

    /// Runs a script to its outcome. Never panics on a script's account, and never runs longer than its limits say.
    ///
    /// # Cancellation
    /// Dropping the future ends the run: its instance is gone, and its calls and timers are aborted.
    pub async fn run(&self, program: Program, limits: &Limits, tools: Arc<dyn Tools>) -> Outcome {
        self.run_until(program, limits, tools, std::future::pending()).await
    }

    /// Runs a script until it ends or `cancelled` does. A cancelled run has an outcome too, of the kind `cancelled`: with what it
    /// had logged and called by then.
    ///
    /// # Cancellation
    /// As [`Sandbox::run`].
    pub async fn run_until(
        &self,
        program: Program,
        limits: &Limits,
        tools: Arc<dyn Tools>,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Outcome {
        let (used, max) = (program.source.len() as u64, limits.max_source.as_u64());
        if used > max {
            return Outcome::refused(failure::limit(LimitHit { name: "max_source", max, used, unit: "bytes" }));
        }
        let mut cancelled = pin!(cancelled);
        let admitted = tokio::select! {
            admitted = self.admit() => admitted,
            () = cancelled.as_mut() => Err(failure::cancelled()),
        };
        let _slot = match admitted {
            Ok(slot) => slot,
            Err(error) => return Outcome::refused(error),
        };
        let _running = self.ticker.running();
        run::run(&self.engine, &self.interpreter, &program, limits, tools, cancelled).await
    }

    /// A slot, at once or after waiting for one.
    async fn admit(&self) -> Result<SemaphorePermit<'_>, RunError> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        let _place = Place::take(&self.queued, self.options.max_queued).ok_or_else(|| {
            self.busy("max_queued", u64::from(self.options.max_queued), u64::from(self.options.max_queued) + 1, "runs")
        })?;
        match tokio::time::timeout(self.options.queue_timeout, self.slots.acquire()).await {
            Ok(Ok(slot)) => Ok(slot),
            // The semaphore is never closed while the sandbox lives.
            Ok(Err(_)) => Err(RunError::new(ErrorKind::Internal, "the sandbox is shutting down")),
            Err(_) => {
                let waited = milliseconds(self.options.queue_timeout);
                Err(self.busy("queue_timeout", waited, waited, "ms"))
            }
        }
    }

    fn busy(&self, name: &'static str, max: u64, used: u64, unit: &'static str) -> RunError {
        RunError::new(
            ErrorKind::Busy,
            format!("all {} slots are taken, and so is the queue behind them", self.options.max_live),
        )
        .with_hint("try again later; max_live in the configuration sets how many runs there may be at once")
        .with_limit(LimitHit { name, max, used, unit })
    }
}

/// A place in the queue, given back when it is dropped.
struct Place<'queue>(&'queue AtomicU32);

impl<'queue> Place<'queue> {
    fn take(queued: &'queue AtomicU32, max: u32) -> Option<Self> {
        let place = Self(queued);
        if queued.fetch_add(1, Ordering::AcqRel) < max { Some(place) } else { None }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
