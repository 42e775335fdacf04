//! The result of a run: always an [`Outcome`], never a panic and never a bare string.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::{ArtifactId, Effect, JsonText, Media, RunError, RunId, Verdict};

/// The end of a run. Serialised, it is the object that `run --json` prints and `execute_code`
/// returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The run's name in the ledger. A run that was refused before it began has none.
    pub run: Option<RunId>,
    /// The script's value, or why there is none.
    pub result: Result<JsonText, RunError>,
    /// Images, sounds and embedded files that were taken out of the value. Not part of the JSON:
    /// they are shown as blocks where that is possible.
    pub media: Vec<Media>,
    /// What happened to parts that are too large to be shown. In their places there is a preview,
    /// or a note that they were cut.
    pub kept: Vec<KeptPart>,
    /// The script's logs, even if it failed.
    pub logs: Vec<LogEntry>,
    /// The tool calls that have ended, in the order in which the script got their answers, even if
    /// it failed.
    pub calls: Vec<CallRecord>,
    /// What the run used.
    pub usage: Usage,
    /// The numbers of the calls and timers, in the order in which the script got their answers.
    /// They are numbered in the order in which it began them. Not part of the JSON: with it, a run
    /// can be repeated exactly.
    pub order: Vec<u64>,
    /// What the run took in, if it was to be recorded. Not part of the JSON either.
    pub recording: Option<Recorded>,
}

/// The recording of a run, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recorded {
    /// The recording, from which the run can be replayed. In JSON its bytes are base64.
    Whole(#[serde(with = "base64_bytes")] Vec<u8>),
    /// There is none.
    NotReplayable {
        /// Why.
        reason: String,
    },
}

/// Bytes as a JSON text.
mod base64_bytes {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_bytes()).map_err(D::Error::custom)
    }
}

impl Outcome {
    /// The outcome of a run that never began.
    pub fn refused(error: RunError) -> Self {
        Self {
            run: None,
            result: Err(error),
            media: Vec::new(),
            kept: Vec::new(),
            logs: Vec::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            order: Vec::new(),
            recording: None,
        }
    }

    /// Whether the script succeeded.
    pub fn is_ok(&self) -> bool {
        self.result.is_ok()
    }
}

/// A part of an outcome that is kept as an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptPart {
    /// Which part it is.
    #[serde(skip_serializing_if = "KeptOf::is_value")]
    pub of: KeptOf,
    /// The artifact; `None` if it could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ArtifactId>,
    /// Its length, in bytes.
    pub bytes: u64,
    /// Why it could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
}

/// A part of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptOf {
    /// The value. In its place there is a preview.
    Value,
    /// The logs. In their place there is their beginning.
    Logs,
    /// An image, a sound or a file in the value, by its number in the text that replaced it.
    Media(usize),
}

impl KeptOf {
    fn is_value(&self) -> bool {
        *self == Self::Value
    }
}

impl std::fmt::Display for KeptOf {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value => formatter.write_str("value"),
            Self::Logs => formatter.write_str("logs"),
            Self::Media(number) => write!(formatter, "media {number}"),
        }
    }
}

impl Serialize for KeptOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (of_value, others): (Vec<&KeptPart>, Vec<&KeptPart>) =
            self.kept.iter().partition(|part| part.of.is_value());
        let more =
            usize::from(self.run.is_some()) + usize::from(!of_value.is_empty()) + usize::from(!others.is_empty());
        let mut object = serializer.serialize_struct("Outcome", 6 + more)?;
        object.serialize_field("ok", &self.is_ok())?;
        if let Some(run) = &self.run {
            object.serialize_field("run", run)?;
        }
        object.serialize_field("value", &self.result.as_ref().ok())?;
        if let Some(part) = of_value.first() {
            object.serialize_field("artifact", part)?;
        }
        if !others.is_empty() {
            object.serialize_field("artifacts", &others)?;
        }
        object.serialize_field("logs", &self.logs)?;
        object.serialize_field("error", &self.result.as_ref().err())?;
        object.serialize_field("calls", &self.calls)?;
        object.serialize_field("usage", &self.usage)?;
        object.end()
    }
}

/// The level of a log entry, named like the method of `console`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Debug,
    Log,
    Info,
    Warn,
    Error,
}

impl LogLevel {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Log => "log",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// One call of `console`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its level.
    pub level: LogLevel,
    /// Its formatted text.
    pub text: String,
}

/// One tool call that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The server's name.
    pub server: String,
    /// The tool's exact name.
    pub tool: String,
    /// What the tool may change.
    pub effect: Effect,
    /// Whether it succeeded.
    pub ok: bool,
    /// From the script's call to the child's answer, in milliseconds.
    pub ms: f64,
    /// Why it failed, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The verdict of the owner's rules, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The rule that decided; absent for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What a run used of its limits. Unmeasured values are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// From the start of execution to the end, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<f64>,
    /// The time spent inside the guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_ms: Option<f64>,
    /// The time spent waiting for tools, for timers and for children to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<f64>,
    /// wasmtime's fuel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// The largest size of the guest's linear memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// The most bytes that the host held for the run at once: arguments of calls under way,
    /// answers, logs, records of calls. How many of them were answers depends on when these came.
    /// If scripts run in a process of their own, it is the sum of both processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_held_bytes: Option<u64>,
    /// The length of the source text.
    pub source_bytes: u64,
    /// Tool calls begun.
    pub tool_calls: u64,
    /// The most tool calls that were under way at the same time.
    pub concurrent_calls: u64,
    /// The largest arguments of a call, as JSON.
    pub largest_arguments_bytes: u64,
    /// The largest result of a call, as JSON.
    pub largest_result_bytes: u64,
    /// Log texts kept, in bytes.
    pub log_bytes: u64,
    /// Log texts kept, in lines.
    pub log_lines: u64,
    /// The value as JSON, in bytes.
    pub output_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, LimitHit, LimitName};

    #[test]
    fn an_outcome_serialises_as_the_contract_says() {
        let ok = Outcome {
            run: Some(RunId::from_bits(1)),
            result: Ok(JsonText::from_value(&serde_json::json!({"a": 1}))),
            media: Vec::new(),
            kept: Vec::new(),
            logs: vec![LogEntry { level: LogLevel::Log, text: "x".into() }],
            calls: vec![CallRecord {
                server: "fs".into(),
                tool: "read_file".into(),
                effect: Effect::ReadOnly,
                ok: true,
                ms: 1.5,
                error: None,
                verdict: None,
                rule: None,
            }],
            usage: Usage { tool_calls: 1, output_bytes: 7, fuel: Some(9), ..Usage::default() },
            order: vec![1],
            recording: None,
        };
        assert_eq!(
            serde_json::to_string(&ok).expect("json"),
            r#"{"ok":true,"run":"r_0000000000001","value":{"a":1},"logs":[{"level":"log","text":"x"}],"error":null,"calls":[{"server":"fs","tool":"read_file","effect":"read_only","ok":true,"ms":1.5}],"usage":{"fuel":9,"source_bytes":0,"tool_calls":1,"concurrent_calls":0,"largest_arguments_bytes":0,"largest_result_bytes":0,"log_bytes":0,"log_lines":0,"output_bytes":7}}"#
        );
        let part = |of, id: Option<u64>, not_kept: Option<&str>| KeptPart {
            of,
            id: id.map(ArtifactId::from_bits),
            bytes: 7,
            not_kept: not_kept.map(str::to_owned),
        };
        let parts = vec![part(KeptOf::Media(1), Some(1), None), part(KeptOf::Value, None, Some("full"))];
        let kept = serde_json::to_value(Outcome { kept: parts, ..ok }).expect("json");
        assert_eq!(kept["artifact"], serde_json::json!({ "bytes": 7, "not_kept": "full" }));
        assert_eq!(kept["artifacts"], serde_json::json!([{ "of": "media 1", "id": "a_0000000000001", "bytes": 7 }]));
        let limit = LimitHit { name: LimitName::Fuel, max: 5, used: 5 };
        let failed = Outcome::refused(RunError::new(ErrorKind::Fuel, "out of fuel").with_limit(limit));
        assert_eq!(
            serde_json::to_string(&failed).expect("json"),
            r#"{"ok":false,"value":null,"logs":[],"error":{"kind":"fuel","message":"out of fuel","recoverable":true,"limit":{"name":"fuel","max":5,"used":5,"unit":"fuel"}},"calls":[],"usage":{"source_bytes":0,"tool_calls":0,"concurrent_calls":0,"largest_arguments_bytes":0,"largest_result_bytes":0,"log_bytes":0,"log_lines":0,"output_bytes":0}}"#
        );
    }
}
