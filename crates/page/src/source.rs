//! The source of everything that the page shows.

use futures::{future::BoxFuture, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Runs, latest first.
    Runs(RunsAsked),
    /// One run.
    Run(String),
    /// Two runs side by side, and where they first differ.
    Compared(String, String),
    /// The questions that wait for a decision.
    Approvals,
    /// How many questions wait.
    Waiting,
    /// The servers: their state, and what was measured about them.
    Servers,
    /// A search, as a model makes it.
    Search(SearchAsked),
    /// The names of a server's tools. A server whose tools are not known is started.
    ToolsOf(String),
    /// One tool. A server whose tools are not known is started.
    Tool(String),
    /// The rules, and how often each of them decided.
    Rules,
    /// The cost of runs over time.
    Cost,
}

/// Which runs the page asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunsAsked {
    /// Only runs of this client, principal or origin.
    pub client: Option<String>,
    /// Only runs that called this tool, or any tool of this server.
    pub tool: Option<String>,
    /// Only runs with a call of this effect.
    pub effect: Option<String>,
    /// Only runs that failed or were interrupted.
    pub failed: bool,
    /// Only runs that wait for a decision.
    pub waiting: bool,
    /// How many of the latest runs to skip.
    pub from: u32,
    /// The most runs.
    pub limit: Option<u32>,
}

/// What the page searches for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchAsked {
    /// The words.
    pub query: String,
    /// Only tools of this server.
    pub server: Option<String>,
}

/// A call that a person has written on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCall {
    /// The tool's path.
    pub tool: String,
    /// The arguments, as the text of a JSON object.
    pub arguments: String,
}

/// Something that the page has belljar do, without any effect on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// Explains what the rules decide about a call. Nothing is called.
    Explain(WrittenCall),
    /// Replays a recorded run. No tool is called.
    Replay(String),
}

/// A person's decision about a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Whether the call may be sent.
    pub approve: bool,
    /// Confirms that the person was shown exactly this call.
    pub confirmation: String,
}

/// The form in which a run is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// Its recording, for `belljar replay`.
    Recording,
    /// Everything that is known about it, as JSON.
    Json,
}

/// Why something is not shown or done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotShown {
    /// It does not exist.
    #[error("{0}")]
    Unknown(String),
    /// The request is wrong.
    #[error("{0}")]
    Wrong(String),
    /// It can no longer be done, or not in this way.
    #[error("{0}")]
    Refused(String),
    /// It cannot be read.
    #[error("{0}")]
    Failed(String),
}

/// What there is to see, as JSON, and what can be done about it.
pub trait Source: Send + Sync + 'static {
    /// Returns what the page asks for.
    fn shown(&self, asked: Asked) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// Does something without any effect on a server, and returns the result.
    fn done(&self, task: Task) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// A run in a form that can be kept elsewhere.
    fn exported(&self, run: String, form: Export) -> BoxFuture<'_, Result<Vec<u8>, NotShown>>;

    /// One question as it is now, and a text that identifies exactly what is asked: if anything
    /// about the question changes, so does the text.
    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>>;

    /// Decides about a question, as long as it is still the one with this identity.
    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>>;

    /// Cancels a run in this process.
    fn cancel(&self, run: String) -> BoxFuture<'_, Result<(), NotShown>>;

    /// Makes a call, if the rules allow it. Dropping the future cancels it.
    fn call(&self, call: WrittenCall) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// The media type of the metrics, and the metrics.
    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)>;

    /// The updates from now on.
    fn updates(&self) -> BoxStream<'static, Value>;
}
