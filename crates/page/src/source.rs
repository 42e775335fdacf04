//! Where what the page shows comes from.

use futures::{future::BoxFuture, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Runs, the latest first.
    Runs(RunsAsked),
    /// One run.
    Run(String),
    /// Two runs side by side, and where they first differ.
    Compared(String, String),
    /// What waits for a decision.
    Approvals,
    /// How many questions wait.
    Waiting,
    /// The servers: their state, and what was measured of them.
    Servers,
    /// A search, as a model makes it.
    Search(SearchAsked),
    /// The names of a server's tools. A server whose tools are not known is started.
    ToolsOf(String),
    /// One tool. A server whose tools are not known is started.
    Tool(String),
    /// The rules, and how often each of them decided.
    Rules,
    /// What runs cost, over time.
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
    /// How many of the latest runs are passed over.
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
    /// Says what the rules say of a call. Nothing is called.
    Explain(WrittenCall),
    /// Runs a recorded run again. No tool is called.
    Replay(String),
}

/// A person's decision about a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Whether it is to be sent.
    pub approve: bool,
    /// What confirms that the person was shown this very call.
    pub confirmation: String,
}

/// In which form a run is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// Its recording, for `belljar replay`.
    Recording,
    /// What is known of it, as JSON.
    Json,
}

/// Why something is not shown or done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotShown {
    /// There is no such thing.
    #[error("{0}")]
    Unknown(String),
    /// The request is wrong.
    #[error("{0}")]
    Wrong(String),
    /// It cannot be done any more, or not in this way.
    #[error("{0}")]
    Refused(String),
    /// It cannot be read.
    #[error("{0}")]
    Failed(String),
}

/// What there is to see, as JSON, and what can be done about it.
pub trait Source: Send + Sync + 'static {
    /// What the page asks for.
    fn shown(&self, asked: Asked) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// Does something without any effect on a server, and returns what came of it.
    fn done(&self, task: Task) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// A run in a form that can be kept elsewhere.
    fn exported(&self, run: String, form: Export) -> BoxFuture<'_, Result<Vec<u8>, NotShown>>;

    /// One question as it is now, and a text that identifies exactly what is asked: the same
    /// question with anything else in it has another one.
    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>>;

    /// Decides about a question, as long as it is still the one with this identity.
    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>>;

    /// Cancels a run that goes on in this process.
    fn cancel(&self, run: String) -> BoxFuture<'_, Result<(), NotShown>>;

    /// Makes a call, if the rules allow it. Dropping the future cancels it.
    fn call(&self, call: WrittenCall) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// The metrics, with their media type.
    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)>;

    /// What happens from now on.
    fn updates(&self) -> BoxStream<'static, Value>;
}
