//! What is written to a ledger.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_model::{Effect, ErrorKind, RunId, ToolPath, Usage, Verdict};

/// A keyed digest: it shows whether two texts are equal, and reveals nothing about them without the
/// key.
pub type Digest = [u8; 16];

/// One thing to keep. The entries of one run are kept in the order in which they are written.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A run starts.
    Begin(RunStart),
    /// Calls of a run. A call that is [`CallState::Sent`] is an intent: it may be sent as soon as
    /// this entry is kept.
    Calls {
        /// The start of the run, so that its calls can be found even if its start was not kept.
        start: RunStart,
        /// The calls.
        calls: Vec<Call>,
    },
    /// The end of a call whose intent was kept.
    Answered {
        /// The run.
        run: RunId,
        /// The call's number in the run.
        number: u64,
        /// Its end.
        end: CallEnd,
    },
    /// A run has ended. Its remaining calls come with it.
    End(Box<RunEnd>),
    /// A run is suspended, because it waits for people.
    Rest(Box<RunRest>),
}

/// The start of a run.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// The run.
    pub run: RunId,
    /// When it was asked for.
    pub at: SystemTime,
    /// Its origin: a command, or a part of belljar that serves clients.
    pub origin: &'static str,
    /// The asker.
    pub asker: Asker,
    /// The length of the source, if there is one.
    pub source_bytes: Option<u64>,
    /// The digest of the source.
    pub source: Option<Digest>,
}

/// The asker of a run, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asker {
    principal: Option<Arc<str>>,
    client: Option<Arc<str>>,
}

impl Asker {
    /// The most characters of a name. A client chooses its own name, which is kept with each of its
    /// runs.
    const MAX_NAME: usize = 120;

    /// The principal that the transport vouches for, such as the name of a token, and the name that
    /// the client gives itself, which nobody vouches for.
    pub fn new(principal: Option<&str>, client: Option<&str>) -> Self {
        let bounded = |name: &str| {
            let end = name.char_indices().nth(Self::MAX_NAME).map_or(name.len(), |(end, _)| end);
            name.get(..end).filter(|name| !name.trim().is_empty()).map(Arc::from)
        };
        Self { principal: principal.and_then(bounded), client: client.and_then(bounded) }
    }

    /// The principal that the transport vouches for, or `None` if only the owner can ask.
    pub fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// The name that the client gives itself.
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
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
    /// The length of its arguments.
    pub arguments_bytes: u64,
    /// The digest of its arguments.
    pub arguments: Option<Digest>,
    /// The verdict of the owner's rules, if there are any.
    pub verdict: Option<Verdict>,
    /// The rule that decided, or `None` for the default.
    pub rule: Option<Arc<str>>,
    /// Whether it is idempotent, so that it may be made again if its answer is lost.
    pub may_repeat: bool,
    /// How it ended, or `None` if no answer came.
    pub end: Option<CallEnd>,
}

/// The end of a call.
#[derive(Debug, Clone)]
pub struct CallEnd {
    /// How it ended.
    pub state: CallState,
    /// The time since it was sent.
    pub took: Duration,
    /// The length of the answer.
    pub answer_bytes: Option<u64>,
    /// The answer's digest.
    pub answer: Option<Digest>,
}

/// The progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It may have been sent, and no answer is known: it may have taken effect.
    Sent,
    /// The tool answered.
    Ok,
    /// The tool answered with an error.
    ToolError,
    /// There was no answer: the server could not be reached, or did not answer in time. It may have
    /// taken effect.
    Fault,
    /// It was not sent, because the owner's rules denied it.
    Denied,
    /// It was sent, and its run was interrupted; the owner assumes that it was done.
    AssumedDone,
    /// It was sent, and its run was interrupted; the owner assumes that it failed.
    AssumedFailed,
}

impl CallState {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Fault => "fault",
            Self::Denied => "denied",
            Self::AssumedDone => "assumed_done",
            Self::AssumedFailed => "assumed_failed",
        }
    }
}

/// What the owner assumes about calls that were sent and whose answers are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumption {
    /// They failed.
    Failed,
    /// They were done.
    Done,
}

/// The end of a run.
#[derive(Debug, Clone)]
pub struct RunEnd {
    /// The start of the run: it is kept with this entry even if it was not kept before.
    pub start: RunStart,
    /// The time since its start.
    pub took: Duration,
    /// The kind of its error, or `None` if it succeeded.
    pub error: Option<ErrorKind>,
    /// The position of the error in the source.
    pub line: Option<u32>,
    /// Its usage.
    pub usage: Usage,
    /// Its calls that have not been kept yet.
    pub calls: Vec<Call>,
    /// The recording of what it took in, if one is to be kept.
    pub recording: Option<KeptRecording>,
}

/// A run that is suspended.
#[derive(Debug, Clone)]
pub struct RunRest {
    /// The start of the run.
    pub start: RunStart,
    /// The time since its start.
    pub took: Duration,
    /// Its usage.
    pub usage: Usage,
    /// Its calls that have not been kept yet.
    pub calls: Vec<Call>,
    /// The time until which it waits.
    pub until: SystemTime,
    /// The digest of the request and its asker: a repetition of the same request gets this run.
    pub asked: Option<Digest>,
    /// The state from which it is resumed. It is sealed with the ledger's key, and deleted when the
    /// run ends.
    pub state: Vec<u8>,
}

/// What is kept of the input that a run took in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptRecording {
    /// The recording, from which the run can be replayed.
    Whole(Vec<u8>),
    /// The recording without its secrets. It can be read and compared, but not replayed.
    Redacted(Vec<u8>),
    /// No recording is kept.
    NotReplayable {
        /// Why.
        reason: String,
    },
}

impl KeptRecording {
    /// Its bytes, if there are any.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(bytes) | Self::Redacted(bytes) => Some(bytes),
            Self::NotReplayable { .. } => None,
        }
    }
}

impl Entry {
    /// The bytes that the entry takes beyond a few hundred.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Rest(rest) => rest.state.len(),
            Self::End(end) => end.recording.as_ref().and_then(KeptRecording::bytes).map_or(0, <[u8]>::len),
            _ => 0,
        }
    }
}
