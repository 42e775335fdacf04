//! The host's side of the glass: what each import does, and the state of one run behind it.
//!
//! Everything here is called by the guest with values of the guest's choice. No function trusts
//! them, blocks, recurses over them or keeps more of them than the limits allow.

mod calls;
mod catalog;
mod completions;
mod console;
mod journal;
mod meter;
mod timers;
mod tools;
mod wasi;

use std::sync::Arc;

use belljar_model::{LimitHit, LimitName, Limits};
use rand_chacha::{ChaCha12Rng, rand_core::SeedableRng as _};
use tokio::task::JoinSet;
use wasmtime::component::{HasData, Linker, ResourceTable};

pub(crate) use calls::{UNANSWERED, arguments_error, bounded, milliseconds, panicked, record, unanswered};
pub(crate) use journal::Journal;
pub(crate) use meter::{Meter, Phase};
pub(crate) use wasi::stderr_text;

use crate::{
    Directory, Tools, holdings::Holdings, inbox::Inbox, limiter::MemoryLimiter, overflow::Overflow, parking::Parking,
    recorder::Recorder, rest::RestAfter, stand_in::StandIn, turn::Turn,
};

/// The glass, as generated from `wit/sandbox.wit`.
#[allow(missing_docs, unreachable_pub, reason = "generated code")]
pub(crate) mod glass {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "interpreter",
        imports: {
            "belljar:sandbox/completions.next": async | trappable,
            "belljar:sandbox/catalog.list": async | trappable,
            "belljar:sandbox/catalog.search": async | trappable,
            "belljar:sandbox/catalog.describe": async | trappable,
            "belljar:sandbox/catalog.plan": async | trappable,
            default: trappable,
        },
        exports: { default: async },
        with: { "belljar:sandbox/tools.tool": super::tools::Handle },
        require_store_data_send: true,
    });
}

/// Calls and timers that the guest may have begun and not been handed over: twice what its own
/// limits on each allow by default.
const MAX_OUTSTANDING: u64 = 20_000;

/// The state of one run.
pub(crate) struct RunState {
    pub(crate) limiter: MemoryLimiter,
    limits: Limits,
    tools: Arc<dyn Tools>,
    /// What the guest has asked for, by the namespace's number.
    directories: Vec<Option<Result<Arc<Directory>, String>>>,
    handles: ResourceTable,
    /// Calls under way; aborted when the run ends.
    tasks: JoinSet<()>,
    calls: u64,
    /// Whether the guest has asked about the calls of its script.
    is_planned: bool,
    /// Calls and timers begun, which is how they are numbered.
    begun: u32,
    /// Those of them that were neither handed over nor cancelled.
    outstanding: u64,
    inbox: Inbox,
    journal: Journal,
    turn: Arc<Turn>,
    meter: Arc<Meter>,
    holdings: Holdings,
    parking: Parking,
    overflow: Overflow,
    /// The generator has a name, so that a seed gives the same numbers with every version of
    /// belljar.
    random: ChaCha12Rng,
    pub(crate) recorder: Recorder,
    /// What answers the guest in place of the world.
    pub(crate) stand_in: Option<StandIn>,
    stderr: wasi::Stderr,
    /// Where the script was when the guest told it last.
    last_place: Option<Place>,
    /// When it may be put aside, if it may, and whether it is.
    rest_after: Option<RestAfter>,
    pub(crate) is_put_aside: bool,
    /// The guest stands still until something comes that it has asked for.
    is_waiting: bool,
}

/// A place in the source, as the guest says it: both from 1, and whether the source has it is still
/// to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What a run writes down, and what it is answered from.
pub(crate) struct Tape {
    pub(crate) recorder: Recorder,
    pub(crate) stand_in: Option<StandIn>,
}

/// What a run shares with whoever sees to its end.
pub(crate) struct Shared {
    pub(crate) inbox: Inbox,
    pub(crate) journal: Journal,
    pub(crate) turn: Arc<Turn>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) holdings: Holdings,
    pub(crate) parking: Parking,
    pub(crate) overflow: Overflow,
    pub(crate) rest_after: Option<RestAfter>,
}

impl RunState {
    pub(crate) fn new(
        limits: Limits,
        tools: Arc<dyn Tools>,
        namespaces: usize,
        seed: [u8; 32],
        shared: &Shared,
        tape: Tape,
    ) -> Self {
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(crate::run::MAX_HANDLES);
        Self {
            limiter: MemoryLimiter::new(limits.memory.as_u64()),
            tools,
            directories: vec![None; namespaces],
            handles,
            tasks: JoinSet::new(),
            calls: 0,
            is_planned: false,
            begun: 0,
            outstanding: 0,
            inbox: shared.inbox.clone(),
            journal: shared.journal.clone(),
            turn: shared.turn.clone(),
            meter: shared.meter.clone(),
            holdings: shared.holdings.clone(),
            parking: shared.parking.clone(),
            overflow: shared.overflow.clone(),
            random: ChaCha12Rng::from_seed(seed),
            recorder: tape.recorder,
            stand_in: tape.stand_in,
            stderr: wasi::Stderr::default(),
            last_place: None,
            rest_after: shared.rest_after.clone(),
            is_put_aside: false,
            is_waiting: false,
            limits,
        }
    }

    /// Where the script was last seen: of one that waits for calls, where it made the first of
    /// them.
    pub(crate) fn place(&self) -> Option<Place> {
        let of_call = if self.is_waiting { self.journal.first_open_place() } else { None };
        of_call.or(self.last_place)
    }

    /// Ends the run for a limit. The script cannot catch it: the error becomes a trap.
    fn exceeded(&self, hit: LimitHit) -> wasmtime::Error {
        self.journal.exceeded(hit);
        wasmtime::Error::msg("a limit of the run was reached")
    }

    /// Room for one more call or timer, and its number.
    fn admit(&mut self) -> wasmtime::Result<u32> {
        let (used, max) = (self.outstanding + 1, MAX_OUTSTANDING);
        if used > max {
            return Err(self.exceeded(LimitHit { name: LimitName::UnderWay, max, used }));
        }
        let number = self.begun;
        self.begun = number.checked_add(1).ok_or_else(|| wasmtime::Error::msg("the numbers of calls are used up"))?;
        self.outstanding = used;
        Ok(number)
    }
}

impl HasData for RunState {
    type Data<'a> = &'a mut RunState;
}

/// Links the imports of the world, and no other.
pub(crate) fn link(linker: &mut Linker<RunState>) -> wasmtime::Result<()> {
    use glass::belljar::sandbox::{catalog, completions, console, timers};

    wasi::link(linker)?;
    tools::link(linker)?;
    catalog::add_to_linker::<_, RunState>(linker, |state| state)?;
    console::add_to_linker::<_, RunState>(linker, |state| state)?;
    timers::add_to_linker::<_, RunState>(linker, |state| state)?;
    completions::add_to_linker::<_, RunState>(linker, |state| state)
}
