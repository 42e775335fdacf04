//! The requests of a client, with a type for each request and each answer. `docs/DAEMON.md`
//! describes them.
//!
//! Both sides of the socket read and write these types: a request's fields are defined nowhere
//! else. Their meaning is up to the [`Service`](crate::Service).

use std::{fmt, str::FromStr};

use belljar_model::{
    ByteSize, Effect, LedgerLevel, LimitsPatch, Media, Recorded, RequestTrace, RunId, ServerFigures, ToolPath,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use crate::protocol::Greet;

/// A request, and its answer.
pub trait Method: Serialize + DeserializeOwned {
    /// Its name on the line.
    const NAME: &'static str;
    /// The type of the answer.
    type Answer: Serialize + DeserializeOwned;
}

impl Method for Greet {
    const NAME: &'static str = "hello";
    type Answer = Hello;
}

/// Starts a run of a script, or resumes one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execute {
    /// The script.
    pub code: Option<String>,
    /// Instead of the code: a waiting run to resume.
    pub run: Option<RunId>,
    /// The requested limits.
    #[serde(default)]
    pub limits: LimitsPatch,
    /// How many bytes a recording of the run may have, if there is to be one.
    #[serde(default, serialize_with = "in_bytes")]
    pub max_recording: Option<ByteSize>,
    /// How much the ledger keeps of the run, if that differs from other runs.
    #[serde(default, with = "as_text")]
    pub ledger: Option<LedgerLevel>,
    /// The run's origin.
    #[serde(default)]
    pub origin: Origin,
    /// The name of the client for which the run is made.
    pub client: Option<String>,
    /// Where a person can be asked about calls of the run, besides `belljar approve`.
    pub desk: Option<u64>,
    /// Whether that person is asked in the answer: the run is put aside as soon as it waits.
    #[serde(default)]
    pub asked_with_answer: bool,
    /// The principal, if that is not the owner. Only processes of the owner are served, so it is
    /// trusted.
    pub principal: Option<Principal>,
    /// The workspace, which tells apart what lives between runs; of at most
    /// [`MAX_WORKSPACE_BYTES`]. Without one, it is that of nobody in particular.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The request of a client that the run is for, for a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestTrace>,
}

/// Bytes of the name of a workspace. A path has at most so many.
pub const MAX_WORKSPACE_BYTES: usize = 4096;

impl Method for Execute {
    const NAME: &'static str = "execute";
    type Answer = Told;
}

/// The origin of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// At the command line.
    Run,
    /// By a client of belljar's MCP server.
    Serve,
    /// By a request of a program.
    #[default]
    Daemon,
}

impl Origin {
    /// The name used in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Serve => "serve",
            Self::Daemon => "daemon",
        }
    }
}

/// A principal that a process of the owner serves.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// Who it is.
    pub name: String,
    /// The highest effect of tools that the run may call.
    pub ceiling: Option<Effect>,
}

/// An answer for programs and for a model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// For programs.
    pub answer: Box<RawValue>,
    /// The text for a model.
    pub text: String,
    /// The parts of a script's value that are not text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// The recording, if one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recorded>,
}

/// Calls one tool. The answer is the output of `belljar call --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    #[serde(with = "as_text_always")]
    pub tool: ToolPath,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Replaces the configured limit.
    pub timeout_ms: Option<u64>,
    /// What it counts as at least, whatever its tool does, where the owner says what holds by
    /// effect.
    #[serde(default)]
    pub effect: Option<Effect>,
}

impl Method for Call {
    const NAME: &'static str = "call";
    type Answer = Box<RawValue>;
}

/// Asks what a call of a tool may change, for decisions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskEffect {
    /// The tool.
    #[serde(with = "as_text_always")]
    pub tool: ToolPath,
}

impl Method for AskEffect {
    const NAME: &'static str = "effect";
    type Answer = ToolEffect;
}

/// What a call of a tool may change, or why there is no such tool.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolEffect {
    /// The tool by its exact name, if it exists.
    #[serde(default)]
    pub tool: Option<String>,
    /// According to the owner, or to a server that the owner trusts.
    pub effect: Option<Effect>,
    /// An error in the form of an outcome's error.
    pub error: Option<Box<RawValue>>,
}

/// Searches the tools.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The query.
    #[serde(default)]
    pub query: String,
    /// Only tools of this server.
    pub server: Option<String>,
    /// Only tools with this effect.
    pub effect: Option<Effect>,
    /// How much to say of each tool.
    pub detail: Option<String>,
    /// The most tools.
    pub limit: Option<usize>,
    /// The most tokens of the answer.
    pub budget: Option<usize>,
    /// The request of a client that the search is for, for a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestTrace>,
}

impl Method for Search {
    const NAME: &'static str = "search";
    type Answer = Told;
}

/// Asks for the state of each server. The answer is the output of `belljar servers --json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// Whether servers that are not running are started first.
    #[serde(default)]
    pub start: bool,
    /// Whether what was measured of each is told, in place of its state: what
    /// `belljar servers --stats --json` prints.
    #[serde(default)]
    pub stats: bool,
}

impl Method for Servers {
    const NAME: &'static str = "servers";
    type Answer = Box<RawValue>;
}

/// Asks whether a rule of a coding agent's hook says something now. Where it does, that counts as
/// said.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHook {
    /// By what it is remembered that it was said; nothing where it is said each time.
    pub key: Option<u64>,
    /// The server that the rule leads to, which must be usable.
    pub server: Option<String>,
}

impl Method for AskHook {
    const NAME: &'static str = "hook";
    type Answer = HookAnswer;
}

/// Whether the rule says something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAnswer {
    /// Whether it does.
    pub say: bool,
}

/// Starts servers in the background, beside those that are to be kept warm.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warm {
    /// The servers; those that are not configured are passed over.
    #[serde(default)]
    pub servers: Vec<String>,
}

impl Method for Warm {
    const NAME: &'static str = "warm";
    type Answer = Warmed;
}

/// The answer to `warm`. It comes at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warmed {
    /// How many of the servers that were named are configured.
    pub known: usize,
}

/// Has the daemon read its configuration again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reload {}

impl Method for Reload {
    const NAME: &'static str = "reload";
    type Answer = Reloaded;
}

/// The result of a reload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// How many servers are configured now.
    pub servers: usize,
    /// Changed tables that only a restart applies.
    pub need_restart: Vec<String>,
}

/// Asks for the metrics of all runs since the daemon started.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskMetrics {}

impl Method for AskMetrics {
    const NAME: &'static str = "metrics";
    type Answer = Metrics;
}

/// The metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// In Prometheus' text format.
    pub text: String,
}

/// Asks what the daemon's runs do at this moment. It remembers what they do from the first time on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskLive {
    /// A run whose calls are asked for.
    #[serde(default)]
    pub run: Option<RunId>,
}

impl Method for AskLive {
    const NAME: &'static str = "live";
    type Answer = Live;
}

/// What runs do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Live {
    /// Live runs and the last ones that ended, the latest first, without their calls.
    pub runs: Box<RawValue>,
    /// The run that was asked for, if it is among them, with its calls.
    pub run: Option<Box<RawValue>>,
    /// The children.
    pub children: Box<RawValue>,
    /// How many questions wait for the owner, if that is known.
    pub waiting: Option<u64>,
}

/// Asks for a way to open the page. The daemon serves it from then on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenPage {}

impl Method for OpenPage {
    const NAME: &'static str = "page";
    type Answer = PageAddress;
}

/// Where the page is, and what opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageAddress {
    /// Its address, on the loopback.
    pub url: String,
    /// A ticket that a browser can use once, within two minutes.
    pub ticket: String,
}

/// Waits until a ticket was used, or is not good any more.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitPage {
    /// The ticket.
    pub ticket: String,
}

impl Method for AwaitPage {
    const NAME: &'static str = "page_opened";
    type Answer = PageOpened;
}

/// What became of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageOpened {
    /// Whether a browser used it.
    pub opened: bool,
}

/// Tells the daemon to end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Stop {}

impl Method for Stop {
    const NAME: &'static str = "stop";
    type Answer = Stopped;
}

/// The answer to `stop`, sent when nothing is running any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Always true.
    pub stopped: bool,
    /// How many requests did not end within the time limit.
    pub cancelled: usize,
}

/// Asks to speak the host protocol on this connection from here on, instead of this one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHost {}

impl Method for AskHost {
    const NAME: &'static str = "host";
    type Answer = HostBegun;
}

/// The answer to `host`: the next line in either direction is one of the host protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostBegun {
    /// Always true.
    pub host: bool,
}

/// Asks for the daemon's state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AskStatus {}

impl Method for AskStatus {
    const NAME: &'static str = "status";
    type Answer = Status;
}

/// What a daemon reports about itself to each client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of belljar.
    pub version: String,
    /// The digest of the configuration and the version: a command with another digest replaces the
    /// daemon.
    pub fingerprint: String,
    /// The daemon's process.
    pub pid: u32,
}

/// The answer to `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's process.
    pub pid: u32,
    /// The version of belljar.
    pub version: String,
    /// The configuration that it has loaded; absent for the built-in demo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The address where it listens.
    pub socket: String,
    /// The path of its log; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// Connected clients, including the one that asks.
    pub clients: usize,
    /// Requests in progress, without this one.
    pub running: usize,
    /// Requests answered since it started.
    pub answered: u64,
    /// Seconds without a client after which it ends; absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<u64>,
    /// Whether something that it keeps, such as a stateful child, prevents it from ending by
    /// itself.
    pub kept_alive: bool,
    /// What was measured of each server.
    #[serde(default)]
    pub servers: Vec<ServerFigures>,
}

/// A size as its number of bytes; as text it would be rounded.
fn in_bytes<S: Serializer>(size: &Option<ByteSize>, serializer: S) -> Result<S::Ok, S::Error> {
    size.map(|size| size.as_u64()).serialize(serializer)
}

/// A value that is written as its name.
mod as_text_always {
    use super::{Deserialize as _, Deserializer, FromStr, Serializer, fmt};

    pub(super) fn serialize<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The same for an optional value.
mod as_text {
    use super::{Deserialize as _, Deserializer, FromStr, Serialize as _, Serializer, fmt};

    pub(super) fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let sent = Execute {
            code: Some("1".to_owned()),
            max_recording: Some(ByteSize::b(16_777_217)),
            ledger: Some(LedgerLevel::Recordings),
            origin: Origin::Serve,
            principal: Some(Principal { name: "ci".to_owned(), ceiling: Some(Effect::ReadOnly) }),
            workspace: Some("/repo".to_owned()),
            ..Execute::default()
        };
        let line = serde_json::to_value(&sent).unwrap();
        assert_eq!((&line["max_recording"], &line["ledger"]), (&16_777_217.into(), &"recordings".into()));
        let read: Execute = serde_json::from_value(line.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), line);
        let call = Call { tool: ToolPath::new("fs", "a.b"), arguments: Map::new(), timeout_ms: None, effect: None };
        let read: Call = serde_json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
        assert_eq!(read.tool, call.tool);
    }

    #[test]
    fn what_a_request_may_leave_out_is_left_out() {
        let asked: Execute = serde_json::from_str(r#"{"code":"1"}"#).unwrap();
        assert!(asked.ledger.is_none() && asked.max_recording.is_none() && asked.origin == Origin::Daemon);
        assert!(serde_json::from_str::<Call>(r#"{"tool":"fs.read"}"#).unwrap().arguments.is_empty());
        for wrong in [r#"{"code":"1","limit":1}"#, r#"{"ledger":"all"}"#] {
            assert!(serde_json::from_str::<Execute>(wrong).is_err(), "{wrong}");
        }
        assert!(serde_json::from_str::<Call>(r#"{"tool":"fs"}"#).is_err());
    }
}
