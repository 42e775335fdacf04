//! Why a component is not run.

use belljar_model::{ErrorKind, RunError};
use serde::Deserialize;

/// The most bytes of one text in an error.
const MAX_TEXT: usize = 8 * 1024;

/// Why a component is not run. None of its code was run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is too large.
    #[error("the component has {used} bytes; the limit is {limit}")]
    TooLarge {
        /// Its size.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// Its text form has a mistake.
    #[error("the text of the component has a mistake: {0}")]
    Text(String),
    /// It is a core module, and not a component.
    #[error("this is a WebAssembly module, not a component")]
    Module,
    /// It is not valid, or uses a proposal that is disabled.
    #[error("the component is not valid here: {0}")]
    Invalid(String),
    /// It imports too much.
    #[error("the component imports {used} functions of servers; the limit is {limit}")]
    TooMany {
        /// How many.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// It imports something that is not offered.
    #[error("the component imports what belljar does not offer: {}{}", .names.join(", "), and_more(*.more))]
    Imports {
        /// Each import, with the reason.
        names: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// It has no `run`.
    #[error("the component exports no function `run`")]
    NoRun,
    /// The form of its `run` is not supported.
    #[error(
        "the component's `run` has another form than `func() -> result<string, string>`, with or without one string to take"
    )]
    OtherRun,
    /// It imports tools that do not exist.
    #[error("the component imports what is not there: {}{}", .names.join(", "), and_more(*.more))]
    Missing {
        /// Each server and tool, with the reason.
        names: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// It cannot be compiled.
    #[error("the component cannot be compiled: {0}")]
    Compile(String),
    /// Its types do not match its imports.
    #[error("the component cannot be linked: {0}")]
    Link(String),
}

impl Refusal {
    /// The error of a run that was refused for this reason.
    pub fn error(&self) -> RunError {
        let (kind, hint) = match self {
            Self::TooLarge { .. } | Self::TooMany { .. } => (ErrorKind::Usage, "build it with less in it"),
            Self::Text(_) => (ErrorKind::Usage, "wasm-tools parse shows the same mistake"),
            Self::Module => (
                ErrorKind::Usage,
                "wasm-tools component new makes a component of it; docs/COMPONENTS.md has an example",
            ),
            Self::Invalid(_) | Self::Compile(_) => (ErrorKind::Usage, "build it for wasm32-wasip2, without proposals"),
            Self::Imports { .. } => (
                ErrorKind::Usage,
                "import tools by what belljar wit prints; docs/COMPONENTS.md says what there is beside",
            ),
            Self::NoRun | Self::OtherRun => (ErrorKind::Usage, "belljar wit --world prints a world that has it"),
            Self::Missing { .. } => (
                ErrorKind::Config,
                "belljar servers says what there is; belljar wit prints it for a build of the component",
            ),
            Self::Link(_) => (ErrorKind::Usage, "build it anew with what belljar wit prints now"),
        };
        RunError::new(kind, bounded(self.to_string())).with_hint(hint)
    }
}

impl Refusal {
    /// The text with which a process reports it to belljar.
    pub fn report(&self) -> String {
        let RunError { kind, message, hint, .. } = self.error();
        serde_json::json!({ "kind": kind, "message": message, "hint": hint }).to_string()
    }

    /// The error in such a report; `None` if the text is not a report.
    pub fn reported(report: &str) -> Option<RunError> {
        #[derive(Deserialize)]
        struct Report {
            kind: ErrorKind,
            message: String,
            hint: Option<String>,
        }
        let Report { kind, message, hint } = serde_json::from_str(report).ok()?;
        let error = RunError::new(kind, message);
        Some(match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        })
    }
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

/// A text, cut at its end if it is too long.
pub(crate) fn bounded(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let mut end = MAX_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}
