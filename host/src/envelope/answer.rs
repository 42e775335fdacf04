//! The answer.

use belljar_model::{AffectedPointers, Effect, ErrorKind};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::affected::Affected;
use super::request::{Artifact, Isolation, Request, declared};
use crate::failure::Failure;

/// The object that is written in every case.
#[derive(Serialize)]
pub(crate) struct Answer {
    ok: bool,
    /// The request as it came; null if it could not be read.
    request: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ActionResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Refusal>,
}

#[derive(Serialize)]
struct ActionResult {
    artifact_type: Artifact,
    data: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    affected_files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    affected_symbols: Option<Vec<String>>,
}

/// How the answer was produced.
#[derive(Serialize)]
pub(crate) struct Meta {
    pub(crate) duration_ms: f64,
    /// The server that answered; `belljar` for a script.
    pub(crate) mcp_name: String,
    #[serde(serialize_with = "as_text")]
    pub(crate) isolation_used: Isolation,
    /// The folder of the request's context, if it determined the server's instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project_root: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ErrorType {
    Timeout,
    McpError,
    Validation,
    Permission,
    Unknown,
}

/// Why there is no result.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    #[serde(rename = "type")]
    pub(crate) kind: ErrorType,
    pub(crate) message: String,
    /// Whether the same or a changed request can succeed, without a change by belljar's owner.
    pub(crate) recoverable: bool,
    pub(crate) suggestion: Option<String>,
}

impl Answer {
    pub(crate) fn succeeded(
        request: Value,
        asked: &Request,
        value: Value,
        effect: Option<Effect>,
        pointers: &AffectedPointers,
        meta: Meta,
    ) -> Self {
        let result = Some(ActionResult::new(asked, value, effect, pointers));
        Self { ok: true, request, result, meta: Some(meta), error: None }
    }

    pub(crate) fn refused(request: Value, refusal: Refusal) -> Self {
        Self { ok: false, request, result: None, meta: None, error: Some(refusal) }
    }

    /// 0 is success; 1 a failure of the action; 2 a wrong request or configuration; 3 a failure of
    /// belljar itself.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.error.as_ref().map(|error| error.kind) {
            None => 0,
            Some(ErrorType::Validation) => 2,
            Some(ErrorType::Unknown) => 3,
            Some(_) => 1,
        }
    }
}

impl ActionResult {
    fn new(asked: &Request, value: Value, effect: Option<Effect>, pointers: &AffectedPointers) -> Self {
        let changes = effect.is_some_and(|effect| effect > Effect::ReadOnly);
        let Affected { files, symbols } = Affected::of(&value, pointers);
        let affected_files = files
            .or_else(|| named(&value, "affected_files"))
            .or_else(|| changes.then(|| paths(&asked.params)).flatten());
        let affected_symbols = symbols.or_else(|| named(&value, "affected_symbols"));
        let (artifact_type, data) = typed(asked.artifact, value);
        Self { artifact_type, data, affected_files, affected_symbols }
    }
}

/// The value in the requested format, if possible.
fn typed(asked: Option<Artifact>, value: Value) -> (Artifact, Value) {
    match (asked, value) {
        (Some(Artifact::Json), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(parsed) => (Artifact::Json, parsed),
            Err(_) => (Artifact::Text, Value::String(text)),
        },
        (Some(artifact), Value::String(text)) => (artifact, Value::String(text)),
        (None, Value::String(text)) => (Artifact::Text, Value::String(text)),
        (_, value) => (Artifact::Json, value),
    }
}

/// A list of texts in the tool's own answer.
fn named(value: &Value, key: &str) -> Option<Vec<String>> {
    let list = value.get(key)?.as_array()?;
    list.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The arguments that are paths, judging by their names, of a call that changes something.
fn paths(params: &Map<String, Value>) -> Option<Vec<String>> {
    const ONE: [&str; 9] =
        ["path", "file", "filename", "file_path", "filepath", "relative_path", "source", "destination", "target_file"];
    const MANY: [&str; 3] = ["paths", "files", "file_paths"];
    let mut found = Vec::new();
    for (name, value) in params {
        let folded: String = name.to_lowercase().replace('-', "_");
        match value {
            Value::String(path) if ONE.contains(&folded.as_str()) => found.push(path.clone()),
            Value::Array(paths) if MANY.contains(&folded.as_str()) => {
                found.extend(paths.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    (!found.is_empty()).then_some(found)
}

impl Refusal {
    pub(crate) fn validation(message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self {
            kind: ErrorType::Validation,
            message: message.into(),
            recoverable: true,
            suggestion: Some(suggestion.into()),
        }
    }

    pub(crate) fn permission(action: &str, effect: Effect, ceiling: Effect) -> Self {
        let (effect, ceiling) = (declared(effect), declared(ceiling));
        let suggestion = format!(
            "declare \"effect\": \"{effect}\" if that is wanted; if the tool does less, the owner of belljar can say so under 'effects' \
             in belljar.toml, or trust its server with trust_hints = true"
        );
        Self {
            kind: ErrorType::Permission,
            message: format!("'{action}' is {effect}, and the request allows {ceiling}"),
            recoverable: true,
            suggestion: Some(suggestion),
        }
    }

    pub(crate) fn timeout(milliseconds: u128) -> Self {
        Self {
            kind: ErrorType::Timeout,
            message: format!("there was no answer within {milliseconds} ms; the action may have taken effect"),
            recoverable: true,
            suggestion: Some("allow more with constraints.timeout_ms, or ask for less".to_owned()),
        }
    }

    pub(crate) fn of_kind(kind: ErrorKind, message: String, suggestion: Option<String>) -> Self {
        let recoverable = kind.is_recoverable();
        let kind = match kind {
            ErrorKind::Timeout => ErrorType::Timeout,
            ErrorKind::Tool => ErrorType::McpError,
            ErrorKind::Denied => ErrorType::Permission,
            ErrorKind::Usage | ErrorKind::Config | ErrorKind::Syntax | ErrorKind::Plan => ErrorType::Validation,
            _ => ErrorType::Unknown,
        };
        Self { kind, message, recoverable, suggestion }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let (message, hint) = failure.told();
        Self::of_kind(failure.kind(), message, hint)
    }
}

/// A request that was never made: the command line was wrong.
pub(crate) fn outcome(failure: Failure) -> Answer {
    Answer::refused(Value::Null, failure.into())
}

fn as_text<S: Serializer>(isolation: &Isolation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(isolation)
}
