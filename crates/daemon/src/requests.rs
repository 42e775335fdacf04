//! The requests of a client, with a type for each request and each answer. `docs/DAEMON.md`
//! describes them.
//!
//! Both sides of the socket use these types: a request's fields are defined nowhere else. Their
//! meaning is up to the [`Service`](crate::Service).

use std::{fmt, str::FromStr};

use belljar_model::{
    ByteSize, Effect, LedgerLevel, LimitsPatch, Media, Recorded, RequestTrace, RunId, ServerFigures, ToolPath,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use crate::protocol::Greet;

/// A request, and its answer.
pub trait Method: Serialize + DeserializeOwned {
    /// The name of the method.
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
    /// A waiting run to resume, instead of the code.
    pub run: Option<RunId>,
    /// The requested limits.
    #[serde(default)]
    pub limits: LimitsPatch,
    /// The most bytes of a recording of the run, if one is wanted.
    #[serde(default, serialize_with = "in_bytes")]
    pub max_recording: Option<ByteSize>,
    /// How much the ledger keeps of this run, if that is different from other runs.
    #[serde(default, with = "as_text")]
    pub ledger: Option<LedgerLevel>,
    /// The run's origin.
    #[serde(default)]
    pub origin: Origin,
    /// The name of the client for which the run is made.
    pub client: Option<String>,
    /// Where a person can be asked about calls of the run, in addition to `belljar approve`.
    pub desk: Option<u64>,
    /// Whether that person is asked in the answer: the run is then suspended as soon as it waits.
    #[serde(default)]
    pub asked_with_answer: bool,
    /// The principal, if it is not the owner. Only processes of the owner are served, so this is
    /// trusted.
    pub principal: Option<Principal>,
    /// The workspace, which separates what lives between runs; at most [`MAX_WORKSPACE_BYTES`]
    /// long. Without one, the run uses the unnamed workspace.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The client's request that the run is for, for traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestTrace>,
}

/// The most bytes of the name of a workspace, which is also the most that a path can have.
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

/// A principal that is served by a process of the owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// Its name.
    pub name: String,
    /// The highest effect of the tools that the run may call.
    pub ceiling: Option<Effect>,
}

/// An answer, both for programs and for a model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// The answer for programs.
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
    /// The least effect that the call counts as, whatever its tool does, for the owner's settings
    /// by effect.
    #[serde(default)]
    pub effect: Option<Effect>,
}

impl Method for Call {
    const NAME: &'static str = "call";
    type Answer = Box<RawValue>;
}

/// Asks what a call of a tool may change, as a basis for decisions.
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
    /// The exact path of the tool, if it exists.
    #[serde(default)]
    pub tool: Option<String>,
    /// The effect, according to the owner or to a server that the owner trusts.
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
    /// How much detail to return about each tool.
    pub detail: Option<String>,
    /// The most tools.
    pub limit: Option<usize>,
    /// The most tokens of the answer.
    pub budget: Option<usize>,
    /// The client's request that the search is for, for traces.
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
    /// Whether the answer has the measurements of each server instead of its state: the output of
    /// `belljar servers --stats --json`.
    #[serde(default)]
    pub stats: bool,
}

impl Method for Servers {
    const NAME: &'static str = "servers";
    type Answer = Box<RawValue>;
}

/// Asks whether a rule of a coding agent's hook should say something now. If the answer is yes, the
/// daemon remembers it as said.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHook {
    /// The key by which the daemon remembers that it was said; `None` if it is said every time.
    pub key: Option<u64>,
    /// The server that the rule points to, which must be usable.
    pub server: Option<String>,
}

impl Method for AskHook {
    const NAME: &'static str = "hook";
    type Answer = HookAnswer;
}

/// Whether the rule should say something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAnswer {
    /// Whether it should.
    pub say: bool,
}

/// Starts servers in the background, in addition to those that are configured as warm.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warm {
    /// The servers; those that are not configured are ignored.
    #[serde(default)]
    pub servers: Vec<String>,
}

impl Method for Warm {
    const NAME: &'static str = "warm";
    type Answer = Warmed;
}

/// The answer to `warm`. It is sent immediately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warmed {
    /// How many of the named servers are configured.
    pub known: usize,
}

/// Makes the daemon read its configuration again.
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
    /// Changed tables that take effect only after a restart.
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

/// Asks what the daemon's runs are doing. The daemon starts to keep track of that with the first
/// such request.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskLive {
    /// A run whose calls should be included.
    #[serde(default)]
    pub run: Option<RunId>,
}

impl Method for AskLive {
    const NAME: &'static str = "live";
    type Answer = Live;
}

/// What the runs are doing.
#[derive(Debug, Serialize, Deserialize)]
pub struct Live {
    /// Live runs and the last ones that ended, latest first, without their calls.
    pub runs: Box<RawValue>,
    /// The run that was asked for, if it is among them, with its calls.
    pub run: Option<Box<RawValue>>,
    /// The child servers.
    pub children: Box<RawValue>,
    /// How many questions wait for the owner, if that is known.
    pub waiting: Option<u64>,
}

/// Asks for a way to open the page. The daemon serves the page from then on.
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

/// Waits until a ticket was used or has expired.
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

/// What happened to a ticket.
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

/// Asks to switch this connection to the host protocol.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHost {}

impl Method for AskHost {
    const NAME: &'static str = "host";
    type Answer = HostBegun;
}

/// The answer to `host`: the next line in each direction belongs to the host protocol.
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
    /// The address at which it listens.
    pub socket: String,
    /// The path of its log; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// Connected clients, including the one that sends this request.
    pub clients: usize,
    /// Requests in progress, not counting this one.
    pub running: usize,
    /// Requests answered since it started.
    pub answered: u64,
    /// Seconds without a client after which it ends; absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<u64>,
    /// Whether something that it keeps, such as a stateful child, prevents it from ending by
    /// itself.
    pub kept_alive: bool,
    /// What was measured about each server.
    #[serde(default)]
    pub servers: Vec<ServerFigures>,
}

/// Writes a size as its number of bytes; the text form would be rounded.
fn in_bytes<S: Serializer>(size: &Option<ByteSize>, serializer: S) -> Result<S::Ok, S::Error> {
    size.map(|size| size.as_u64()).serialize(serializer)
}

/// Writes a value as its name.
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
