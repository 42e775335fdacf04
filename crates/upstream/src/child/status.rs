//! A child's status at a moment.

use belljar_model::Redactor;
use rmcp::model::ServerPeerInfo;
use serde::{Deserialize, Serialize};

/// The phase of a child's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// It is not running: it was not needed yet, or no longer.
    Cold,
    /// Being started: the process, the handshake and the tool list.
    Starting,
    /// Running, and idle.
    Ready,
    /// Running, with calls in flight.
    Busy,
    /// Its last life failed: it could not be started, or it died. It is started again on demand,
    /// after a short pause.
    Failing,
    /// It failed too often, and is left alone for longer.
    Open,
    /// Being ended by belljar, once its calls have ended.
    Stopping,
}

impl ServerState {
    /// The name used in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Failing => "failing",
            Self::Open => "open",
            Self::Stopping => "stopping",
        }
    }
}

/// A child's row in a table or object in JSON. Unknown fields are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// The configured name.
    pub name: String,
    /// Which of the server's instances it is, where there is one for each key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The principal that owns the instance, if it is not the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Where it is in its life.
    pub state: ServerState,
    /// `stdio`, `http` or `built_in`.
    pub transport: &'static str,
    /// The revision of MCP that is spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    /// The version that the server reports, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many tools it listed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Its process id, which is also its process group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How long it has been ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_ms: Option<u64>,
    /// How many calls it was sent, in all its lives.
    pub calls: u64,
    /// How often it came back after it had been ready.
    pub restarts: u32,
    /// Why it last failed or died, or what was wrong with its tool list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How to fix that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Characters of a server's version that are kept.
const VERSION_CHARACTERS: usize = 60;

/// How a child greeted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spoken {
    pub(super) era: Option<String>,
    pub(super) version: Option<String>,
}

impl Spoken {
    pub(super) fn of(info: &ServerPeerInfo, redactor: &Redactor) -> Self {
        let version = info.server_info.as_ref().map(|server| server.version.as_str()).unwrap_or_default();
        let version = redactor.redact_to(version, VERSION_CHARACTERS * 4);
        let version: String = version.chars().take(VERSION_CHARACTERS).collect();
        let is_known = !version.is_empty() && version != "unknown";
        Self { era: Some(info.protocol_version.to_string()), version: is_known.then_some(version) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_leaves_out_what_is_not_known() {
        let cold = ServerStatus {
            name: "fs".into(),
            key: None,
            principal: None,
            state: ServerState::Cold,
            transport: "stdio",
            era: None,
            version: None,
            tools: None,
            pid: None,
            uptime_ms: None,
            calls: 0,
            restarts: 0,
            last_error: None,
            hint: None,
        };
        assert_eq!(
            serde_json::to_string(&cold).expect("json"),
            r#"{"name":"fs","state":"cold","transport":"stdio","calls":0,"restarts":0}"#
        );
        let failed = ServerStatus {
            state: ServerState::Failing,
            key: Some("k".into()),
            principal: Some("p".into()),
            era: Some("2025-11-25".into()),
            version: Some("1.2".into()),
            tools: Some(2),
            pid: Some(7),
            uptime_ms: Some(5),
            last_error: Some("e".into()),
            hint: Some("h".into()),
            ..cold
        };
        assert_eq!(
            serde_json::to_string(&failed).expect("json"),
            r#"{"name":"fs","key":"k","principal":"p","state":"failing","transport":"stdio","era":"2025-11-25","version":"1.2","tools":2,"pid":7,"uptime_ms":5,"calls":0,"restarts":0,"last_error":"e","hint":"h"}"#
        );
    }
}
