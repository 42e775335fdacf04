//! The request.

use std::{fmt, time::Duration};

use belljar_model::Effect;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The largest request, in bytes: the largest line that a daemon takes.
pub(crate) const TEXT_BYTES: u64 = 16 * 1024 * 1024;
/// The action that runs a script.
pub(crate) const EXECUTE_CODE: &str = "execute_code";
/// The longest that a request may take.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The most repetitions that can be requested.
const MOST_RETRIES: u32 = 10;

/// A well-formed request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) intent: Intent,
    /// A tool's path, or [`EXECUTE_CODE`].
    pub(crate) action: String,
    effect: Option<Declared>,
    pub(crate) artifact: Option<Artifact>,
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
    #[serde(default)]
    pub(crate) constraints: Constraints,
    /// Repeated in the answer and in the log; its folder may choose a server's instance.
    #[serde(default)]
    pub(crate) context: Context,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Intent {
    Query,
    Analyze,
    Generate,
    Modify,
    Execute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Declared {
    ReadOnly,
    Mutating,
    ExternalExec,
}

/// The kind of result that is wanted, or was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Artifact {
    Text,
    Json,
    CodePy,
    CodeTs,
    Patch,
    Binary,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Constraints {
    timeout_ms: u64,
    retry_count: u32,
    pub(crate) isolation: Isolation,
}

impl Default for Constraints {
    fn default() -> Self {
        Self { timeout_ms: 300_000, retry_count: 0, isolation: Isolation::Agent }
    }
}

/// Where the answering child runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Isolation {
    /// In the daemon, warm.
    Agent,
    /// In this process, for this call only.
    Subprocess,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Context {
    pub(crate) caller: Option<String>,
    /// It also chooses the instance of a server that has one for each folder.
    pub(crate) project_root: Option<String>,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, for its author.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let request: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if request.action.is_empty() {
            return Err("'action' is empty".to_owned());
        }
        let Constraints { timeout_ms, retry_count, .. } = request.constraints;
        if timeout_ms == 0 || Duration::from_millis(timeout_ms) > LONGEST {
            return Err(format!("constraints.timeout_ms is {timeout_ms}: it is 1 to {}", LONGEST.as_millis()));
        }
        if retry_count > MOST_RETRIES {
            return Err(format!("constraints.retry_count is {retry_count}: it is at most {MOST_RETRIES}"));
        }
        Ok(request)
    }

    /// The highest effect that the action may have: the declared one, or else that of the intent.
    pub(crate) fn ceiling(&self) -> Effect {
        match (self.effect, self.intent) {
            (Some(Declared::ReadOnly), _) | (None, Intent::Query | Intent::Analyze | Intent::Generate) => {
                Effect::ReadOnly
            }
            (Some(Declared::Mutating), _) | (None, Intent::Modify) => Effect::Mutating,
            (Some(Declared::ExternalExec), _) | (None, Intent::Execute) => Effect::External,
        }
    }

    /// How long all attempts may take together.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.constraints.timeout_ms)
    }

    /// How many times the action may be repeated: never if it may change something.
    pub(crate) fn retries(&self) -> u32 {
        if self.ceiling() == Effect::ReadOnly { self.constraints.retry_count } else { 0 }
    }
}

/// An effect as named in requests.
pub(crate) fn declared(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "READ_ONLY",
        Effect::Mutating => "MUTATING",
        Effect::External => "EXTERNAL_EXEC",
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Agent => "agent",
            Self::Subprocess => "subprocess",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(more: &str) -> Request {
        Request::parse(&format!("{{\"action\": \"a.b\", {more}}}")).expect(more)
    }

    #[test]
    fn the_intent_gives_the_effect_that_is_not_declared() {
        for (intent, effect) in [
            ("QUERY", Effect::ReadOnly),
            ("ANALYZE", Effect::ReadOnly),
            ("GENERATE", Effect::ReadOnly),
            ("MODIFY", Effect::Mutating),
            ("EXECUTE", Effect::External),
        ] {
            assert_eq!(request(&format!("\"intent\": \"{intent}\"")).ceiling(), effect, "{intent}");
        }
        assert_eq!(request("\"intent\": \"EXECUTE\", \"effect\": \"READ_ONLY\"").ceiling(), Effect::ReadOnly);
        assert_eq!(request("\"intent\": \"QUERY\", \"effect\": \"EXTERNAL_EXEC\"").ceiling(), Effect::External);
    }

    #[test]
    fn only_what_changes_nothing_is_tried_again() {
        let retries = |intent: &str| {
            request(&format!("\"intent\": \"{intent}\", \"constraints\": {{\"retry_count\": 3}}")).retries()
        };
        assert_eq!((retries("QUERY"), retries("MODIFY"), retries("EXECUTE")), (3, 0, 0));
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let request = request("\"intent\": \"QUERY\"");
        assert_eq!((request.timeout(), request.retries()), (Duration::from_secs(300), 0));
        assert_eq!(request.constraints.isolation, Isolation::Agent);
    }
}
