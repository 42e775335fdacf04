//! What is written to a ledger.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_model::{Effect, ErrorKind, RunId, ToolPath, Usage, Verdict};

/// A keyed digest: it says whether two texts are the same, and nothing about them to whoever lacks
/// the key.
pub type Digest = [u8; 16];

/// One thing to keep. Those of one run are kept in the order in which they were handed over.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A run begins.
    Begin(RunStart),
    /// Calls of a run. One that is [`CallState::Sent`] is an intent: it may be sent from the moment
    /// that this is kept.
    Calls {
        /// The run, as it began: its calls are to be found even where its start was not kept.
        start: RunStart,
        /// The calls.
        calls: Vec<Call>,
    },
    /// How a call ended whose intent is kept.
    Answered {
        /// The run.
        run: RunId,
        /// The call's number in the run.
        number: u64,
        /// Its end.
        end: CallEnd,
    },
    /// A run is over. What is left of its calls comes with it.
    End(Box<RunEnd>),
    /// A run waits for people, and is put aside.
    Rest(Box<RunRest>),
}

/// The start of a run.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// The run.
    pub run: RunId,
    /// When it was asked for.
    pub at: SystemTime,
    /// Which way it was asked for: a command, or what belljar serves.
    pub origin: &'static str,
    /// Who asked.
    pub asker: Asker,
    /// The length of the source, where there is one.
    pub source_bytes: Option<u64>,
    /// The digest of the source.
    pub source: Option<Digest>,
}

/// Who asked for a run, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asker {
    principal: Option<Arc<str>>,
    client: Option<Arc<str>>,
}

impl Asker {
    /// Characters of a name. A client calls itself what it likes, and each of its runs has that
    /// name.
    const MAX_NAME: usize = 120;

    /// The principal that the transport vouches for, such as the name of a token, and what the
    /// client calls itself, which nobody vouches for.
    pub fn new(principal: Option<&str>, client: Option<&str>) -> Self {
        let bounded = |name: &str| {
            let end = name.char_indices().nth(Self::MAX_NAME).map_or(name.len(), |(end, _)| end);
            name.get(..end).filter(|name| !name.trim().is_empty()).map(Arc::from)
        };
        Self { principal: principal.and_then(bounded), client: client.and_then(bounded) }
    }

    /// Whom the transport vouches for; nothing where only the owner can ask.
    pub fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// What the client calls itself.
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
    /// What the tool says that it changes.
    pub effect: Effect,
    /// What it changes as far as the owner says so.
    pub trusted: Effect,
    /// From the start of the run to the moment at which it was begun.
    pub begun: Duration,
    /// The length of the arguments.
    pub arguments_bytes: u64,
    /// Their digest.
    pub arguments: Option<Digest>,
    /// What the owner's rules said of it, where there are some.
    pub verdict: Option<Verdict>,
    /// The rule that decided; nothing where it was the default.
    pub rule: Option<Arc<str>>,
    /// Whether it may be made again where its answer is lost: twice is as good as once.
    pub may_repeat: bool,
    /// How it ended; nothing where no answer came.
    pub end: Option<CallEnd>,
}

/// The end of a call.
#[derive(Debug, Clone)]
pub struct CallEnd {
    /// How it ended.
    pub state: CallState,
    /// From the moment at which it was sent.
    pub took: Duration,
    /// The length of the answer.
    pub answer_bytes: Option<u64>,
    /// The answer's digest.
    pub answer: Option<Digest>,
}

/// How far a call got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It may have been sent, and no answer is known: it may have taken effect.
    Sent,
    /// The tool answered.
    Ok,
    /// The tool answered that it failed.
    ToolError,
    /// There was no answer: the server could not be reached, or did not answer in time. It may have
    /// taken effect.
    Fault,
    /// It was not sent: the owner's rules did not allow it.
    Denied,
    /// It was sent, and its run was interrupted; the owner assumes that it was done.
    AssumedDone,
    /// It was sent, and its run was interrupted; the owner assumes that it failed.
    AssumedFailed,
}

impl CallState {
    /// The name used in JSON and shown to people.
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

/// What the owner says of calls that were sent, and of which no answer is known.
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
    /// The run, as it began: it is kept even where its start was not.
    pub start: RunStart,
    /// From its start.
    pub took: Duration,
    /// The kind of its error; nothing where it succeeded.
    pub error: Option<ErrorKind>,
    /// Where in the source the error was.
    pub line: Option<u32>,
    /// What it used.
    pub usage: Usage,
    /// Its calls that are not kept yet.
    pub calls: Vec<Call>,
    /// What it took in, where that is to be kept.
    pub recording: Option<KeptRecording>,
}

/// A run that is put aside.
#[derive(Debug, Clone)]
pub struct RunRest {
    /// The run, as it began.
    pub start: RunStart,
    /// From its start.
    pub took: Duration,
    /// What it used.
    pub usage: Usage,
    /// Its calls that are not kept yet.
    pub calls: Vec<Call>,
    /// Until when it waits.
    pub until: SystemTime,
    /// The digest of what was asked for, and by whom: whoever asks for the same again is given this
    /// run.
    pub asked: Option<Digest>,
    /// What it goes on from. It is sealed with the ledger's key, and gone when the run ends.
    pub state: Vec<u8>,
}

/// What is kept of what a run took in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptRecording {
    /// The recording, from which the run can be replayed.
    Whole(Vec<u8>),
    /// The recording without what is not to be kept. It can be read and compared, and not replayed.
    Redacted(Vec<u8>),
    /// There is none.
    NotReplayable {
        /// Why.
        reason: String,
    },
}

impl KeptRecording {
    /// Its bytes, where there are some.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(bytes) | Self::Redacted(bytes) => Some(bytes),
            Self::NotReplayable { .. } => None,
        }
    }
}

impl Entry {
    /// The bytes that it holds beyond a few hundred.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Rest(rest) => rest.state.len(),
            Self::End(end) => end.recording.as_ref().and_then(KeptRecording::bytes).map_or(0, <[u8]>::len),
            _ => 0,
        }
    }
}
