//! The interpreter, ready to run scripts.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_image::{CodeOrigin, Image, ImageError};
use belljar_model::{ByteSize, ErrorKind, LimitHit, LimitName, Limits, Outcome, RunError, RunStep};
use belljar_recording::{Begin, Cause, EngineId, Recording, Start, Surroundings, Writer};
use cap_std::fs::Dir;
use futures::{FutureExt as _, future::BoxFuture};
use rand_chacha::{ChaCha12Rng, rand_core::SeedableRng as _};
use tokio::sync::Semaphore;
use wasmtime::{Engine, component::Linker};

use crate::{
    AnswerStyle, Divergence, GoingOn, Namespace, Program, ReplayError, SandboxOptions, ToolSet, Tools,
    admission::{Admission, Load, Slot},
    bindings, compared, divergence, failure,
    host::{self, RunState, Tape},
    names,
    overflow::Overflow,
    pool,
    recorder::{LastHead, Recorder},
    rehearsal::Rehearsal,
    replay::Replay,
    request::{Run, RunRequest, Runner},
    rest::RestAfter,
    run::{self, Ended, Host, Script},
    stand_in::StandIn,
    ticker::Ticker,
};

/// A compiled interpreter and its pool of slots. Shared by all runs of a process.
pub struct Sandbox {
    engine: Engine,
    interpreter: bindings::InterpreterPre<RunState>,
    origin: CodeOrigin,
    ticker: Ticker,
    admission: Arc<Admission>,
    /// The turns for computing.
    turns: Arc<Semaphore>,
    overflow: Option<Arc<Dir>>,
    id: EngineId,
    last_head: LastHead,
}

/// Why a sandbox cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The engine cannot be set up on this machine.
    #[error("the WebAssembly engine cannot be set up with {max_live} slots: {reason}")]
    Engine {
        /// The number of slots that was asked for.
        max_live: u32,
        /// The error that wasmtime reports.
        reason: String,
    },
    /// The image cannot be used.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The image imports something that the host does not offer, or does not export what a guest
    /// must.
    #[error("the image is not an interpreter for this version of belljar: {0}")]
    World(String),
    /// The thread that enforces deadlines cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Sandbox {
    /// Loads `image` into an engine with a pool for `options.max_live` runs.
    ///
    /// # Errors
    /// [`SandboxError`], if the machine or the image is not suitable.
    pub fn new(image: &Image, options: SandboxOptions) -> Result<Self, SandboxError> {
        let engine = pool::engine(options.max_live)
            .map_err(|error| SandboxError::Engine { max_live: options.max_live, reason: format!("{error:#}") })?;
        let loaded = image.load(&engine)?;
        let world = |error: wasmtime::Error| SandboxError::World(format!("{error:#}"));
        let mut linker = Linker::new(&engine);
        host::link(&mut linker).map_err(world)?;
        let instance = linker.instantiate_pre(&loaded.component).map_err(world)?;
        let interpreter = bindings::InterpreterPre::new(instance).map_err(world)?;
        if let CodeOrigin::Compiled { reason: Some(reason) } = &loaded.origin {
            tracing::warn!(
                reason,
                "the embedded machine code does not fit this machine; the interpreter was compiled anew"
            );
        }
        Ok(Self {
            id: EngineId { component: image.digest(), wasmtime: belljar_image::WASMTIME.to_owned() },
            interpreter,
            origin: loaded.origin,
            ticker: Ticker::start(engine.clone())?,
            admission: Admission::new(&options),
            turns: Arc::new(Semaphore::new(options.max_computing.max(1) as usize)),
            overflow: None,
            last_head: LastHead::default(),
            engine,
        })
    }

    /// The same sandbox with a folder for files in which answers wait when there is no room in
    /// memory while a script computes. Without one they are not read from their child until there
    /// is room, and other calls of that child wait behind them.
    #[must_use]
    pub fn with_overflow(mut self, folder: Dir) -> Self {
        self.overflow = Some(Arc::new(folder));
        self
    }

    /// How much of the sandbox's capacity its live runs take.
    pub fn load(&self) -> Load {
        self.admission.load()
    }

    /// Where the interpreter's machine code came from.
    pub fn code_origin(&self) -> &CodeOrigin {
        &self.origin
    }

    /// Runs a script to its outcome. The run begins when the result is awaited. It never panics
    /// because of a script, and never runs longer than its limits allow.
    pub fn run(&self, program: impl Into<Program>) -> Run<'_, Self> {
        Run::new(self, program)
    }

    async fn outcome_of(&self, request: RunRequest<'_>) -> Outcome {
        let RunRequest { program, limits, tools, mut cancelled } = request;
        let limits = &*limits;
        let (used, max) = (program.source.len() as u64, limits.max_source.as_u64());
        if used > max {
            return Outcome::refused(failure::limit(LimitHit { name: LimitName::MaxSource, max, used }));
        }
        let surroundings = match surroundings(&program, &*tools, limits) {
            Ok(surroundings) => surroundings,
            Err(error) => return Outcome::refused(error),
        };
        let reserved = reserved(limits, program.max_recording);
        let _slot = match self.admitted(&program.client, reserved, &*tools, &mut cancelled).await {
            Ok(slot) => slot,
            Err(error) => return Outcome::refused(error),
        };
        let seed = program.seed.unwrap_or_else(|| ChaCha12Rng::from_os_rng().get_seed());
        let namespaces = tools.namespaces();
        let writer = program.max_recording.map(|max| {
            let servers = namespaces.iter().map(|each| (each.server.as_str(), each.globals.as_slice(), each.form()));
            let source = program.source.as_str();
            let begin = Begin { source, begun_ms: since_1970(), seed, servers, surroundings: &surroundings };
            Writer::begin(&self.last_head.of(&self.id, limits), begin, max)
        });
        let run = Script {
            source: &program.source,
            surroundings,
            only_plan: program.only_plan,
            only_signature: program.only_signature,
            namespaces,
            seed,
            order: program.order,
            limits,
            time: limits,
            tools,
            tape: Tape { recorder: Recorder::new(writer), stand_in: None },
            rest_after: self.rest_after(program.rest_after),
        };
        let _running = self.ticker.running();
        run::run(&self.host(), run, cancelled).await.outcome
    }

    /// Resumes a suspended run ([`Program::rest_after`]) from its recording: everything that it did
    /// is repeated without calling its tools, and any difference ends it. Then `tools` make the
    /// calls that waited, and the run goes on with them. It ends as it would have, in value, logs,
    /// calls and fuel. `client`, `max_recording` and `rest_after` are those of a [`Program`]; the
    /// limits of the run must be within `ceiling`.
    ///
    /// # Errors
    /// [`ReplayError`], if the run did not reach the point where it was put aside. No tool was
    /// called then.
    ///
    /// # Cancellation
    /// As [`Sandbox::run`].
    pub async fn resume(
        &self,
        recording: &Recording,
        going_on: GoingOn,
        ceiling: &Limits,
        tools: Arc<dyn Tools>,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Outcome, ReplayError> {
        let limits = divergence::limits(recording, ceiling)?;
        let start = recording.start();
        let mut cancelled = pin!(cancelled);
        let reserved = reserved(&limits, going_on.max_recording);
        let slot = self.admitted(&going_on.client, reserved, &*tools, cancelled.as_mut()).await;
        let _slot = slot.map_err(ReplayError::Run)?;
        let start_again = Start { engine: self.id.clone(), ..start.clone() };
        let replay = Replay::new(recording.clone(), start.engine == self.id).for_going_on();
        let run = Script {
            source: &start.source,
            surroundings: start.surroundings.clone(),
            only_plan: false,
            only_signature: false,
            namespaces: start.servers.iter().map(Namespace::from).collect(),
            seed: start.seed,
            order: None,
            limits: &limits,
            time: &limits,
            tools,
            tape: Tape {
                recorder: Recorder::new(going_on.max_recording.map(|max| Writer::new(&start_again, max))),
                stand_in: Some(StandIn::Replay(replay)),
            },
            rest_after: self.rest_after(going_on.rest_after),
        };
        let _running = self.ticker.running();
        let Ended { outcome, stand_in, .. } = run::run(&self.host(), run, cancelled).await;
        let Some(StandIn::Replay(mut replay)) = stand_in else { return Ok(outcome) };
        let divergence = replay.divergence();
        Err(match (divergence, outcome.result) {
            (Some(divergence), _) => ReplayError::Diverged(divergence),
            (None, Err(error)) if error.kind == ErrorKind::Cancelled => ReplayError::Run(error),
            (None, _) => ReplayError::Diverged(Divergence::new("it ended before it came to where it waited")),
        })
    }

    /// A slot for a run of a client.
    async fn admitted(
        &self,
        client: &str,
        reserved: ByteSize,
        tools: &dyn Tools,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Slot, RunError> {
        let mut admission = pin!(self.admission.admit(client, reserved));
        let slot = match admission.as_mut().now_or_never() {
            Some(admitted) => admitted?,
            None => {
                tools.observe(RunStep::Queued);
                tokio::select! {
                    admitted = admission => admitted?,
                    () = cancelled => return Err(failure::cancelled()),
                }
            }
        };
        tools.observe(RunStep::Admitted);
        Ok(slot)
    }

    fn rest_after(&self, time: Option<Duration>) -> Option<RestAfter> {
        time.map(|time| RestAfter::new(time, self.admission.clone()))
    }

    /// Repeats a recorded run: no tool is called, no timer waits, and no clock is read. It ends in
    /// the recorded outcome, equal in value, logs and calls, and in fuel if this is the
    /// [engine](Sandbox::engine_id) that ran it.
    ///
    /// `ceiling` bounds the replay, since a recording may come from anywhere: its time is bounded
    /// by `timeout` and `compute`, and a recording with limits above the ceiling is refused.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, before anything that comes after it.
    ///
    /// # Cancellation
    /// Dropping the future ends the replay.
    pub async fn replay(&self, recording: &Recording, ceiling: &Limits) -> Result<Outcome, ReplayError> {
        match self.replay_script(recording, ceiling).await {
            Ok(outcome) => Ok(divergence::with_remarks(recording, outcome)),
            Err(ReplayError::Diverged(found)) => Err(ReplayError::Diverged(found.with_remarks(recording))),
            Err(error) => Err(error),
        }
    }

    /// Like [`Sandbox::replay`], but without the remarks that were added after the end of the
    /// script. This is for an engine in another process, whose other side compares the outcome with
    /// the recording ([`apart::replayed`](crate::apart::replayed)).
    ///
    /// # Errors
    /// As [`Sandbox::replay`].
    ///
    /// # Cancellation
    /// Dropping the future ends the replay.
    pub async fn replay_script(&self, recording: &Recording, ceiling: &Limits) -> Result<Outcome, ReplayError> {
        let start = recording.start();
        let end = recording.end().ok_or_else(|| ReplayError::Diverged(Divergence::new("the recording has no end")))?;
        // A run that was ended from outside ends again at the fuel that it had used by then. It
        // cannot have used more than it had.
        let fuel = if end.cause == Cause::Script { start.limits.fuel } else { end.fuel.min(start.limits.fuel) };
        let is_exact = start.engine == self.id;
        let replay = || StandIn::Replay(Replay::new(recording.clone(), is_exact));
        let ended = self.stood_in(recording, &start.source, fuel, ceiling, replay).await?;
        let Ended { outcome, overdue, stand_in } = ended;
        let Some(StandIn::Replay(replay)) = stand_in else {
            let internal = || RunError::new(ErrorKind::Internal, "the replay did not begin");
            return Err(ReplayError::Run(outcome.result.err().unwrap_or_else(internal)));
        };
        let of_limit = |hit, outcome: &Outcome| {
            failure::limit_of(hit, &failure::Doing::of(&outcome.calls, outcome.usage.tool_calls))
        };
        compared::compared(outcome, overdue, replay, (&end, is_exact), of_limit)
    }

    /// Runs another script against the answers of a recorded run: a call is answered if its tool
    /// and its arguments are those of a recorded call, and fails otherwise, with an error that says
    /// so. No tool is called; time is simulated.
    ///
    /// # Errors
    /// [`ReplayError`], if there is no outcome. The script's own errors are in the outcome.
    ///
    /// # Cancellation
    /// Dropping the future ends the run.
    pub async fn rehearse(
        &self,
        source: &str,
        recording: &Recording,
        ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        let (used, max) = (source.len() as u64, ceiling.max_source.as_u64());
        if used > max {
            let hit = LimitHit { name: LimitName::MaxSource, max, used };
            return Ok(Outcome::refused(failure::limit(hit)));
        }
        let rehearsal = || StandIn::Rehearsal(Box::new(Rehearsal::new(recording.clone())));
        let fuel = recording.start().limits.fuel;
        Ok(self.stood_in(recording, source, fuel, ceiling, rehearsal).await?.outcome)
    }

    /// Runs a script as it was recorded, with a substitute for the world.
    async fn stood_in(
        &self,
        recording: &Recording,
        source: &str,
        fuel: u64,
        ceiling: &Limits,
        stand_in: impl FnOnce() -> StandIn,
    ) -> Result<Ended, ReplayError> {
        let start = recording.start();
        if start.script().is_none() {
            let text = "the recording is of a component, whose file is not in it";
            return Err(ReplayError::Run(RunError::new(ErrorKind::Usage, text)));
        }
        let limits = Limits { fuel, ..divergence::limits(recording, ceiling)? };
        let _slot = self.admission.admit("replay", reserved(&limits, None)).await.map_err(ReplayError::Run)?;
        let _running = self.ticker.running();
        let run = Script {
            source,
            surroundings: start.surroundings.clone(),
            only_plan: false,
            only_signature: false,
            namespaces: start.servers.iter().map(Namespace::from).collect(),
            seed: start.seed,
            order: None,
            limits: &limits,
            time: ceiling,
            tools: Arc::new(ToolSet::new()),
            tape: Tape { recorder: Recorder::new(None), stand_in: Some(stand_in()) },
            rest_after: None,
        };
        Ok(run::run(&self.host(), run, std::future::pending()).await)
    }

    /// Identifies the engine. Equal engines use the same fuel for the same run.
    pub fn engine_id(&self) -> &EngineId {
        &self.id
    }

    fn host(&self) -> Host<'_> {
        Host {
            engine: &self.engine,
            interpreter: &self.interpreter,
            turns: &self.turns,
            overflow: Overflow::new(self.overflow.clone()),
        }
    }
}

impl Runner for Sandbox {
    fn begin<'a>(&'a self, request: RunRequest<'a>) -> BoxFuture<'a, Outcome> {
        self.outcome_of(request).boxed()
    }
}

/// What a run may take of the process: its own memory, what is held for it outside, and its
/// recording.
fn reserved(limits: &Limits, recording: Option<ByteSize>) -> ByteSize {
    let held = limits.memory.as_u64().saturating_add(limits.max_held.as_u64());
    ByteSize::b(held.saturating_add(recording.map_or(0, |max| max.as_u64())))
}

/// Milliseconds since 1970.
pub fn since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The script's surroundings, if its host may define them.
fn surroundings(program: &Program, tools: &dyn Tools, limits: &Limits) -> Result<Surroundings, RunError> {
    let max = limits.max_source.as_u64();
    let used = program.prelude.as_ref().map_or(0, String::len) as u64;
    if used > max {
        return Err(failure::prelude_too_long(used, max));
    }
    let (functions, namespaces) = (tools.functions(), tools.namespaces());
    let (plain, others): (Vec<&Namespace>, Vec<&Namespace>) =
        namespaces.iter().partition(|namespace| namespace.answers == AnswerStyle::Plain);
    if !(functions.is_empty() && plain.is_empty()) {
        let globals = plain.iter().flat_map(|namespace| &namespace.globals);
        let names = functions.iter().map(|function| &function.name).chain(globals);
        let taken = others.iter().flat_map(|namespace| &namespace.globals);
        names::check_beside(names.map(String::as_str), taken.map(String::as_str), program.builtins)
            .map_err(|error| failure::of_names(&error))?;
    }
    Ok(program.surroundings(&functions))
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;
    use crate::{
        holdings::Holdings,
        host::{Shared, Tape},
        inbox::Inbox,
        journal::Journal,
        meter::Meter,
        parking::Parking,
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
        let shared = Shared {
            inbox,
            journal,
            turn,
            meter,
            holdings,
            parking: Parking::default(),
            overflow: Overflow::new(None),
            rest_after: None,
        };
        let tape = Tape { recorder: Recorder::new(None), stand_in: None };
        let state = RunState::new(limits.clone(), Arc::new(ToolSet::new()), &[], [0; 32], &shared, tape);
        let mut store = run::open_store(&sandbox.engine, state, &limits, &shared, false).expect("a store");
        let instance = sandbox.interpreter.instantiate_async(&mut store).await.expect("an instance");
        let program = |source: &str| bindings::Program {
            source: source.to_owned(),
            prelude: None,
            namespaces: Vec::new(),
            functions: Vec::new(),
            builtins: true,
            globals: bindings::Globals::empty(),
            extended_value: false,
            max_output: 100,
            max_arguments: 100,
            only_plan: false,
            only_signature: false,
        };
        let looped = program("for (;;) {}");
        let first = instance.call_run(&mut store, &looped).await.expect_err("the fuel is used up");
        assert_eq!(first.downcast_ref(), Some(&wasmtime::Trap::OutOfFuel));
        // Even with all the fuel, nothing of it runs any more.
        store.set_fuel(u64::MAX).expect("fuel is on");
        let again = program("1");
        let second = instance.call_run(&mut store, &again).await;
        assert!(second.is_err(), "it was entered again");
        assert_eq!(store.get_fuel().ok(), Some(u64::MAX));
    }
}
