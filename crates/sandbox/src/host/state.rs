//! The state of one run behind the imports.

use std::{collections::HashSet, sync::Arc};

use belljar_model::{LimitHit, LimitName, Limits};
use rand_chacha::{ChaCha12Rng, rand_core::SeedableRng as _};
use tokio::task::JoinSet;
use wasmtime::component::{HasData, ResourceTable};

use super::stderr::Stderr;
use crate::{
    AnswerStyle, Directory, GrantedTool, Namespace, Tools,
    holdings::Holdings,
    inbox::Inbox,
    journal::Journal,
    limiter::MemoryLimiter,
    meter::Meter,
    overflow::Overflow,
    parking::Parking,
    place::{NamedPlace, Place},
    recorder::Recorder,
    rest::RestAfter,
    stand_in::StandIn,
    turn::Turn,
};

/// Handles that the guest may hold at once. A tool has one handle, whatever the number of its
/// calls.
pub(crate) const MAX_HANDLES: usize = 100_000;
/// Calls and timers that the guest may have begun and not received: twice what its own limits on
/// each allow by default.
const MAX_OUTSTANDING: u64 = 20_000;

/// The state of one run.
pub(crate) struct RunState {
    pub(crate) limiter: MemoryLimiter,
    pub(super) limits: Limits,
    pub(super) tools: Arc<dyn Tools>,
    /// The directories that the guest has received, by the namespace's number.
    pub(super) directories: Vec<Option<Result<Arc<Directory>, String>>>,
    /// The servers whose tools answer with plain values.
    plain_servers: HashSet<String>,
    pub(super) handles: ResourceTable,
    /// Calls under way; aborted when the run ends.
    pub(super) tasks: JoinSet<()>,
    pub(super) calls: u64,
    /// Whether the guest has asked about the calls of its script.
    pub(super) is_planned: bool,
    /// How many questions about what lives between runs the guest has asked.
    pub(super) kept_questions: u64,
    /// How many calls and timers were begun: the number of the next one.
    pub(super) begun: u32,
    /// How many of them were neither handed over nor cancelled.
    pub(super) outstanding: u64,
    pub(super) inbox: Inbox,
    pub(super) journal: Journal,
    pub(super) turn: Arc<Turn>,
    pub(super) meter: Arc<Meter>,
    pub(super) holdings: Holdings,
    pub(super) parking: Parking,
    pub(super) overflow: Overflow,
    /// A fixed algorithm, so that a seed gives the same numbers in every version of belljar.
    pub(super) random: ChaCha12Rng,
    pub(crate) recorder: Recorder,
    /// Answers the guest in place of the real world.
    pub(crate) stand_in: Option<StandIn>,
    pub(crate) stderr: Stderr,
    /// Where the script was when the guest last reported it.
    pub(super) last_place: Option<Place>,
    /// Whether the program's prelude runs.
    pub(crate) is_in_prelude: bool,
    /// Where a named script that it had called was last seen.
    pub(super) named_place: Option<NamedPlace>,
    /// When it may be put aside, if it may, and whether it is.
    pub(super) rest_after: Option<RestAfter>,
    pub(crate) is_put_aside: bool,
    /// The guest is blocked until something arrives that it has asked for.
    pub(super) is_waiting: bool,
}

/// What a run records, and its source of answers.
pub(crate) struct Tape {
    pub(crate) recorder: Recorder,
    pub(crate) stand_in: Option<StandIn>,
}

/// What a run shares with the code that ends it.
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
        namespaces: &[Namespace],
        seed: [u8; 32],
        shared: &Shared,
        tape: Tape,
    ) -> Self {
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MAX_HANDLES);
        Self {
            limiter: MemoryLimiter::new(limits.memory.as_u64()),
            tools,
            directories: vec![None; namespaces.len()],
            plain_servers: namespaces
                .iter()
                .filter(|each| each.answers == AnswerStyle::Plain)
                .map(|each| each.server.clone())
                .collect(),
            handles,
            tasks: JoinSet::new(),
            calls: 0,
            is_planned: false,
            kept_questions: 0,
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
            stderr: Stderr::default(),
            last_place: None,
            is_in_prelude: false,
            named_place: None,
            rest_after: shared.rest_after.clone(),
            is_put_aside: false,
            is_waiting: false,
            limits,
        }
    }

    /// Where the script was last seen; for one that waits for calls, where it made the first of
    /// them.
    pub(crate) fn place(&self) -> Option<Place> {
        let of_call = if self.is_waiting { self.journal.first_open_place() } else { None };
        of_call.or(self.last_place)
    }

    /// Where the named script that was running was last seen.
    pub(crate) fn named_place(&self) -> Option<&NamedPlace> {
        self.named_place.as_ref().filter(|_| !self.is_waiting)
    }

    /// The style of a tool's answers.
    pub(super) fn answers_of(&self, tool: &GrantedTool) -> AnswerStyle {
        if self.plain_servers.contains(tool.path.server()) { AnswerStyle::Plain } else { AnswerStyle::ToolResult }
    }

    /// Ends the run because of a limit. The script cannot catch it: the error becomes a trap.
    pub(super) fn exceeded(&self, hit: LimitHit) -> wasmtime::Error {
        self.journal.exceeded(hit);
        wasmtime::Error::msg("a limit of the run was reached")
    }

    /// Reserves room for another call or timer, and returns its number.
    pub(super) fn admit(&mut self) -> wasmtime::Result<u32> {
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
