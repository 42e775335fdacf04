//! Where what the page shows comes from.

use futures::{future::BoxFuture, stream::BoxStream};
use serde::Deserialize;
use serde_json::Value;

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
    /// The most runs.
    pub limit: Option<u32>,
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

/// What there is to see, as JSON, and what can be decided.
pub trait Source: Send + Sync + 'static {
    /// The runs, the latest first.
    fn runs(&self, asked: RunsAsked) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// One run.
    fn run(&self, run: String) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// What waits for a decision.
    fn approvals(&self) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// How many questions wait.
    fn waiting(&self) -> BoxFuture<'_, Result<Value, NotShown>>;

    /// One question as it is now, and a text that identifies exactly what is asked: the same
    /// question with anything else in it has another one.
    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>>;

    /// Decides about a question, as long as it is still the one with this identity.
    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>>;

    /// The metrics, with their media type.
    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)>;

    /// What happens from now on.
    fn updates(&self) -> BoxStream<'static, Value>;
}
