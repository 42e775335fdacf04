//! Queries to a ledger, and their answers.

use std::time::{Duration, SystemTime};

use belljar_approvals::{Question, QuestionId, State};
use belljar_model::{Effect, RunId, ToolPath, Verdict};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::entry::{Assumption, CallState, Digest};

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only runs that called this tool, or a tool of this server.
    pub tool: Option<(String, Option<String>)>,
    /// Only runs with a call of a tool that claims this effect.
    pub effect: Option<Effect>,
    /// Only runs whose origin, principal or client has this text in its name, ignoring case.
    pub client: Option<String>,
    /// Only runs that failed or were interrupted.
    pub failed: bool,
    /// Only runs that wait for their owner: those that are suspended, or have a question that can
    /// still be decided.
    pub waiting: bool,
    /// Only runs that began at this time or later.
    pub since: Option<Since>,
    /// The most runs.
    pub limit: u32,
}

/// Which runs to forget.
#[derive(Debug, Clone)]
pub enum Purge {
    /// Those that are too old or too many, according to the ledger's options.
    Kept,
    /// These.
    Runs(Vec<RunId>),
    /// Those that began before this time.
    Before(SystemTime),
    /// All.
    All,
}

/// The earliest start of the listed runs.
pub type Since = SystemTime;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is running.
    Running,
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It waits for its owner's decision about calls, and is suspended.
    Resting,
    /// Its process ended before the run did: its calls without an answer may have taken effect.
    Interrupted,
}

impl RunState {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Resting => "resting",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run in the ledger.
#[derive(Debug, Clone)]
pub struct KeptRun {
    /// Its name.
    pub run: RunId,
    /// When it began.
    pub at: SystemTime,
    /// Its origin.
    pub origin: String,
    /// Its principal, if anyone but the owner can ask: the name of a token.
    pub principal: Option<String>,
    /// The name that the client gave itself.
    pub client: Option<String>,
    /// Its state.
    pub state: RunState,
    /// How long it took, if it has ended.
    pub took: Option<Duration>,
    /// The kind of its error, by its name in JSON.
    pub error: Option<String>,
    /// The position of the error in the source.
    pub line: Option<u32>,
    /// The length of the source.
    pub source_bytes: Option<u64>,
    /// The digest of the source.
    pub source: Option<Digest>,
    /// The key of the digests.
    pub key: Option<u32>,
    /// How many of its calls are kept.
    pub calls: u64,
    /// How many of those may have taken effect without a known answer.
    pub unanswered: u64,
    /// The fuel that it used.
    pub fuel: Option<u64>,
    /// The time inside the script.
    pub computed: Option<Duration>,
    /// The largest size of its memory.
    pub peak_memory: Option<u64>,
    /// What is kept of the recording.
    pub recording: Option<&'static str>,
    /// The length of its recording, if there is one.
    pub recording_bytes: Option<u64>,
}

/// Which questions to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestionFilter {
    /// Only those that nobody has decided yet.
    pub open: bool,
    /// Only those that can still be decided: nobody has decided them, they have not expired, and
    /// their run waits.
    pub waiting: bool,
    /// Only those that are asked at this desk.
    pub desk: Option<u64>,
    /// Only this one.
    pub id: Option<QuestionId>,
    /// Only those about calls of this run.
    pub run: Option<RunId>,
}

/// A run that is suspended.
#[derive(Debug, Clone)]
pub struct RestingRun {
    /// When it began.
    pub at: SystemTime,
    /// How long it took until it was suspended.
    pub took: Duration,
    /// Its principal, if anyone but the owner can ask.
    pub principal: Option<String>,
    /// The length and the digest of its source.
    pub source: (Option<u64>, Option<Digest>),
    /// The time until which it waits.
    pub until: SystemTime,
    /// What the owner assumes about calls that it has sent since then and whose answers are lost.
    pub assumed: Option<Assumption>,
    /// The state from which it is resumed.
    pub state: Vec<u8>,
}

/// Why a run cannot be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotResting {
    /// There is no such run.
    #[error("there is no such run")]
    Unknown,
    /// It has ended, or never waited.
    #[error("the run does not wait for a decision: it is over")]
    Over,
    /// Its process ended before the run did, and the run was not suspended.
    #[error("its process ended before the run did, and nothing was kept from which it could continue")]
    Lost,
    /// None of its calls lacks an answer.
    #[error("the run was not interrupted: resume it without an assumption")]
    Waits,
    /// It is already running.
    #[error("the run is going on already")]
    Running,
    /// Its process ended after calls were sent, whose effects are unknown.
    #[error("the run was interrupted after it had sent calls, and does not go on by itself")]
    Interrupted,
    /// Its stored state is not the one with which it was suspended.
    #[error("the run's saved state cannot be opened: the ledger's key is another one, or the file was changed")]
    Sealed,
}

/// A question in the ledger.
#[derive(Debug, Clone)]
pub struct KeptQuestion {
    /// The question. Its arguments are kept as long as it is open.
    pub question: Question,
    /// Its state.
    pub state: State,
    /// The process of the waiting run.
    pub(crate) process: i64,
    /// Whether the run's process is alive: otherwise a decision has no effect.
    pub is_waited_for: bool,
    /// The way by which the decision came.
    pub channel: Option<String>,
}

/// A run and its calls.
pub type WholeRun = (KeptRun, Vec<KeptCall>);

/// A call in the ledger.
#[derive(Debug, Clone)]
pub struct KeptCall {
    /// Its number among the calls and timers of its run.
    pub number: u64,
    /// Its tool.
    pub tool: ToolPath,
    /// What it changes according to the tool's annotations.
    pub effect: Effect,
    /// What it changes according to the owner.
    pub trusted: Effect,
    /// The time from the start of the run to the start of the call.
    pub begun: Duration,
    /// Its progress.
    pub state: CallState,
    /// How long it took.
    pub took: Option<Duration>,
    /// The length of the arguments.
    pub arguments_bytes: u64,
    /// Their digest.
    pub arguments: Option<Digest>,
    /// The length of the answer.
    pub answer_bytes: Option<u64>,
    /// The answer's digest.
    pub answer: Option<Digest>,
    /// The verdict of the owner's rules, if there were any.
    pub verdict: Option<Verdict>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The way by which the owner's decision came, if they were asked and decided.
    pub decided_by: Option<String>,
}

/// How often a rule decided in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptVerdicts {
    /// The name of the rule; `None` if the default for the effect decided.
    pub rule: Option<String>,
    /// What it decided.
    pub verdict: Verdict,
    /// How many calls it decided about.
    pub calls: u64,
    /// When the latest of the runs with such calls began, in milliseconds since 1970.
    pub last_ms: u64,
}

impl KeptCall {
    /// Whether it may have changed something although no answer confirms it.
    pub fn may_have_happened(&self) -> bool {
        matches!(self.state, CallState::Sent | CallState::Fault) && self.trusted != Effect::ReadOnly
    }
}

impl Serialize for KeptRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("KeptRun", 19)?;
        object.serialize_field("run", &self.run)?;
        object.serialize_field("at_ms", &milliseconds(self.at))?;
        object.serialize_field("origin", &self.origin)?;
        object.serialize_field("principal", &self.principal)?;
        object.serialize_field("client", &self.client)?;
        object.serialize_field("state", &self.state)?;
        object.serialize_field("ms", &self.took.map(|took| took.as_secs_f64() * 1e3))?;
        object.serialize_field("error", &self.error)?;
        object.serialize_field("line", &self.line)?;
        object.serialize_field("source_bytes", &self.source_bytes)?;
        object.serialize_field("source_digest", &self.source.as_ref().map(hex))?;
        object.serialize_field("key", &self.key.map(|key| format!("{key:08x}")))?;
        object.serialize_field("calls", &self.calls)?;
        object.serialize_field("unanswered", &self.unanswered)?;
        object.serialize_field("fuel", &self.fuel)?;
        object.serialize_field("guest_ms", &self.computed.map(|computed| computed.as_secs_f64() * 1e3))?;
        object.serialize_field("peak_memory_bytes", &self.peak_memory)?;
        object.serialize_field("recording", &self.recording)?;
        object.serialize_field("recording_bytes", &self.recording_bytes)?;
        object.end()
    }
}

impl Serialize for KeptCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("KeptCall", 15)?;
        object.serialize_field("number", &self.number)?;
        object.serialize_field("server", self.tool.server())?;
        object.serialize_field("tool", self.tool.tool())?;
        object.serialize_field("effect", &self.effect)?;
        object.serialize_field("trusted_effect", &self.trusted)?;
        object.serialize_field("state", &self.state)?;
        object.serialize_field("begun_ms", &(self.begun.as_secs_f64() * 1e3))?;
        object.serialize_field("ms", &self.took.map(|took| took.as_secs_f64() * 1e3))?;
        object.serialize_field("arguments_bytes", &self.arguments_bytes)?;
        object.serialize_field("arguments_digest", &self.arguments.as_ref().map(hex))?;
        object.serialize_field("answer_bytes", &self.answer_bytes)?;
        object.serialize_field("answer_digest", &self.answer.as_ref().map(hex))?;
        object.serialize_field("verdict", &self.verdict)?;
        object.serialize_field("rule", &self.rule)?;
        object.serialize_field("decided_by", &self.decided_by)?;
        object.end()
    }
}

/// Milliseconds since 1970.
pub(crate) fn milliseconds(at: SystemTime) -> i64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
