//! The interpreter, ready to run scripts.

use std::{pin::pin, sync::Arc};

use belljar_image::{CodeOrigin, Image, ImageError};
use belljar_model::{ByteSize, LimitHit, Limits, Outcome};
use cap_std::fs::Dir;
use tokio::sync::Semaphore;
use wasmtime::{Engine, component::Linker};

use crate::{
    Program, SandboxOptions, Tools,
    admission::Admission,
    failure,
    host::{self, RunState, glass},
    overflow::Overflow,
    pool,
    run::{self, Host},
    ticker::Ticker,
};

/// A compiled interpreter and its pool of slots. Shared by all runs of a process.
pub struct Sandbox {
    engine: Engine,
    interpreter: glass::InterpreterPre<RunState>,
    origin: CodeOrigin,
    ticker: Ticker,
    admission: Arc<Admission>,
    /// The right to compute for a tick.
    turns: Arc<Semaphore>,
    overflow: Option<Arc<Dir>>,
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
            admission: Admission::new(&options),
            turns: Arc::new(Semaphore::new(options.max_computing.max(1) as usize)),
            overflow: None,
            engine,
        })
    }

    /// The same sandbox with a folder for files in which answers wait, for which there is no room in memory while a script computes. Without
    /// one they are not read from their child until there is room, and other calls of that child wait behind them.
    #[must_use]
    pub fn with_overflow(mut self, folder: Dir) -> Self {
        self.overflow = Some(Arc::new(folder));
        self
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
            admitted = self.admission.admit(&program.client, reserved(limits)) => admitted,
            () = cancelled.as_mut() => Err(failure::cancelled()),
        };
        let _slot = match admitted {
            Ok(slot) => slot,
            Err(error) => return Outcome::refused(error),
        };
        let _running = self.ticker.running();
        let host = Host {
            engine: &self.engine,
            interpreter: &self.interpreter,
            turns: &self.turns,
            overflow: Overflow::new(self.overflow.clone()),
        };
        run::run(&host, &program, limits, tools, cancelled).await
    }
}

/// What a run may take of the process: its own memory, and what is held for it outside.
fn reserved(limits: &Limits) -> ByteSize {
    ByteSize::b(limits.memory.as_u64().saturating_add(limits.max_held.as_u64()))
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;
    use crate::{
        ToolSet,
        holdings::Holdings,
        host::{Journal, Meter, Shared},
        inbox::Inbox,
        turn::Turn,
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn an_instance_that_has_trapped_is_never_entered_again() {
        let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).expect("a sandbox");
        let _running = sandbox.ticker.running();
        let limits = Limits { fuel: 100_000, ..Limits::default() };
        let meter = Arc::new(Meter::new(&limits));
        let holdings = Holdings::new(limits.max_held.as_u64(), false);
        let inbox = Inbox::new(None, holdings.clone());
        let journal = Journal::new(holdings.clone());
        let turn = Arc::new(Turn::new(sandbox.turns.clone(), meter.clone()));
        let shared = Shared { inbox, journal, turn, meter, holdings, overflow: Overflow::new(None) };
        let state = RunState::new(limits.clone(), Arc::new(ToolSet::new()), 0, None, &shared);
        let mut store = run::open_store(&sandbox.engine, state, &limits, &shared).expect("a store");
        let instance = sandbox.interpreter.instantiate_async(&mut store).await.expect("an instance");
        let program = |source: &str| glass::Program {
            source: source.to_owned(),
            namespaces: Vec::new(),
            max_output: 100,
            max_arguments: 100,
        };
        let looped = program("for (;;) {}");
        let first = instance.call_run(&mut store, &looped).await.expect_err("the fuel is used up");
        assert_eq!(first.downcast_ref(), Some(&wasmtime::Trap::OutOfFuel));
        // With all the fuel there is, nothing of it runs any more.
        store.set_fuel(u64::MAX).expect("fuel is on");
        let again = program("1");
        let second = instance.call_run(&mut store, &again).await;
        assert!(second.is_err(), "it was entered again");
        assert_eq!(store.get_fuel().ok(), Some(u64::MAX));
    }
}
