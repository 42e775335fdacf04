//! How a run can fail, as a closed set of kinds.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

use crate::LimitName;

/// What kind of failure ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source is not valid JavaScript or TypeScript, or uses something that the sandbox does
    /// not have, such as static imports.
    Syntax,
    /// The script threw and nothing caught it.
    Exception,
    /// A tool failed and the script did not catch its error.
    Tool,
    /// The wall-clock `timeout`, the `compute` time or the `wait` time was used up.
    Timeout,
    /// The fuel was used up.
    Fuel,
    /// The memory limit was reached.
    Memory,
    /// The stack limit was reached.
    Stack,
    /// The script awaits something that can never happen.
    Deadlock,
    /// The owner's rules denied a single call. (In a script that is a tool error, which can be
    /// caught.)
    Denied,
    /// A call that the script certainly makes is certain to fail. The script was not run, and
    /// nothing was called.
    Plan,
    /// The limit on tool calls was reached.
    Calls,
    /// The value is too large, or is nested too deeply.
    Output,
    /// The caller cancelled the run.
    Cancelled,
    /// The run waits for the owner's decision about calls, and can be resumed later.
    Approval,
    /// A replay differs from its recording.
    Diverged,
    /// Too many runs are live; try again later.
    Busy,
    /// The command or the request was wrong.
    Usage,
    /// The configuration is wrong.
    Config,
    /// belljar itself failed.
    Internal,
}

impl ErrorKind {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Exception => "exception",
            Self::Tool => "tool",
            Self::Timeout => "timeout",
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Deadlock => "deadlock",
            Self::Denied => "denied",
            Self::Plan => "plan",
            Self::Calls => "calls",
            Self::Output => "output",
            Self::Cancelled => "cancelled",
            Self::Approval => "approval",
            Self::Diverged => "diverged",
            Self::Busy => "busy",
            Self::Usage => "usage",
            Self::Config => "config",
            Self::Internal => "internal",
        }
    }

    /// Whether the run was ended from outside, so that the error's position is where the script was
    /// last seen, not the cause.
    pub fn is_from_outside(self) -> bool {
        matches!(self, Self::Timeout | Self::Fuel | Self::Memory | Self::Calls | Self::Internal)
    }

    /// Whether a changed script or a second try can succeed, without a change by belljar's owner.
    pub fn is_recoverable(self) -> bool {
        !matches!(self, Self::Config | Self::Internal | Self::Cancelled)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The limit that ended a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    /// The limit's name. Its [`unit`](LimitName::unit) is that of both numbers.
    pub name: LimitName,
    /// Its value.
    pub max: u64,
    /// What had been used, or would have been, when the run was ended.
    pub used: u64,
}

impl LimitHit {
    /// Whether it is a time limit, which another run of the same script would reach at another
    /// point.
    pub fn is_of_time(&self) -> bool {
        self.name.unit() == "ms"
    }
}

impl Serialize for LimitHit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, max, used } = self;
        let mut hit = serializer.serialize_struct("LimitHit", 4)?;
        hit.serialize_field("name", name)?;
        hit.serialize_field("max", max)?;
        hit.serialize_field("used", used)?;
        hit.serialize_field("unit", name.unit())?;
        hit.end()
    }
}

/// What failed, if it is not the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailedIn {
    /// The code that the host runs before the script. None of the script was run.
    Prelude,
}

/// Why a run failed, in words for the model that has to fix its script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunError {
    /// The kind of failure.
    pub kind: ErrorKind,
    /// What happened, in one line.
    pub message: String,
    /// What failed or was ended, if it is not the script.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<FailedIn>,
    /// What the script threw, if it threw something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thrown: Option<Box<Thrown>>,
    /// The line in the author's source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in the author's source, from 1, in UTF-16 code units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The lines around the position, with a marker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The call stack, in positions of the author's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// What to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The missing tool, if the hint is about one, for code that knows more tools and completes the
    /// hint. Authors do not see it.
    #[serde(skip)]
    pub missing: Option<Box<MissingTool>>,
    /// Whether a changed script or a second try can succeed.
    pub recoverable: bool,
    /// For a run that found no free slot: when to try again, if runs take as long as they have so
    /// far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The limit that was hit, if one was.
    pub limit: Option<LimitHit>,
    /// For a run that waits for decisions: the calls that the owner has to decide about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitingCall>,
}

/// An error that a script threw, for hosts that throw it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thrown {
    /// The error's name, such as `TypeError`.
    pub name: String,
    /// Its message, without the name.
    pub message: String,
}

impl Thrown {
    /// A `ToolError` with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::named("ToolError", message)
    }

    /// An error of another name.
    pub fn named(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into() }
    }
}

impl From<String> for Thrown {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Thrown {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// A tool that a script called and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// The server, as the script calls it.
    pub server: String,
    /// The name that the server does not have.
    pub tool: String,
    /// The name of the server's tool that was probably meant.
    pub near: Option<String>,
}

/// A call that waits for the owner's decision, as reported to whoever requested the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// The tool.
    pub tool: String,
    /// The rule that asks; absent for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The deadline of the decision, in the format of RFC 3339.
    pub until: String,
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for RunError {}

impl RunError {
    /// An error with only a kind and a message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            failed_in: None,
            thrown: None,
            line: None,
            column: None,
            frame: None,
            stack: None,
            hint: None,
            missing: None,
            recoverable: kind.is_recoverable(),
            retry_after_ms: None,
            limit: None,
            waits: Vec::new(),
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds when to try again.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after_ms = Some(u64::try_from(retry_after.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Adds the limit that was hit.
    #[must_use]
    pub fn with_limit(mut self, limit: LimitHit) -> Self {
        self.limit = Some(limit);
        self
    }
}
