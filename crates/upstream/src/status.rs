//! What can be said of a child at a moment.

use serde::Serialize;

/// Where a child is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Never started.
    Cold,
    /// Being started: the process, the handshake and the tool list.
    Starting,
    /// Running, with its tools known.
    Ready,
    /// Its last start failed. It is tried again on the first demand after a short while.
    Failed,
    /// It ran and has ended, by itself or because belljar stopped it. It is started again on the next demand.
    Stopped,
}

impl ServerState {
    /// The name used in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// One child as a table or a JSON document shows it. What is not known is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// The configured name.
    pub name: String,
    /// Where it is in its life.
    pub state: ServerState,
    /// `stdio`, `http` or `built_in`.
    pub transport: &'static str,
    /// How many tools it listed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Its process, which is also its process group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How often it came back after it had been ready.
    pub restarts: u32,
    /// Why it failed or died last, or what was wrong with its tool list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How to mend that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_leaves_out_what_is_not_known() {
        let cold = ServerStatus {
            name: "fs".into(),
            state: ServerState::Cold,
            transport: "stdio",
            tools: None,
            pid: None,
            restarts: 0,
            last_error: None,
            hint: None,
        };
        assert_eq!(
            serde_json::to_string(&cold).expect("json"),
            r#"{"name":"fs","state":"cold","transport":"stdio","restarts":0}"#
        );
        let failed = ServerStatus {
            state: ServerState::Failed,
            tools: Some(2),
            pid: Some(7),
            last_error: Some("e".into()),
            hint: Some("h".into()),
            ..cold
        };
        assert_eq!(
            serde_json::to_string(&failed).expect("json"),
            r#"{"name":"fs","state":"failed","transport":"stdio","tools":2,"pid":7,"restarts":0,"last_error":"e","hint":"h"}"#
        );
    }
}
