//! One call of one tool, outside of any script.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ErrorKind, JsonText, RunError, ToolPath, TrustedEffect};
use belljar_upstream::{CallFault, Caller};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Toolbox,
    arguments::Refusal,
    checked::Checked,
    locks::RunLocks,
    tool_result::{text, value},
};

/// What a single call brought.
#[derive(Debug, Serialize)]
pub struct SingleCall {
    /// Whether the tool succeeded.
    pub ok: bool,
    /// What a script would get: the structured content, else the text, parsed where it is a JSON object or array.
    pub value: Value,
    /// Why it failed.
    pub error: Option<RunError>,
    /// The whole `CallToolResult`, if there is one.
    pub raw: Option<Value>,
    /// What the caller should know of its arguments, though they were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// From the call to the answer, a start of the child included.
    pub ms: f64,
}

impl Toolbox {
    /// Calls one tool.
    ///
    /// # Cancellation
    /// Dropping the future tells the child to give up.
    pub async fn call(self: &Arc<Self>, path: &ToolPath, arguments: Map<String, Value>, limit: Duration) -> SingleCall {
        let begun = Instant::now();
        let mut warning = None;
        let answer = match self.find(path).await {
            Ok((path, _)) => self.call_known(&path, arguments, limit, &mut warning).await,
            Err(error) => Err(error),
        };
        let ms = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        match answer {
            Ok(raw) if raw.get("isError") == Some(&Value::Bool(true)) => {
                let message = text(&raw).unwrap_or_else(|| "the tool reported an error without a text".to_owned());
                let error = Some(RunError::new(ErrorKind::Tool, message));
                SingleCall { ok: false, value: Value::Null, error, raw: Some(raw), warning, ms }
            }
            Ok(raw) => SingleCall { ok: true, value: value(&raw), error: None, raw: Some(raw), warning, ms },
            Err(error) => SingleCall { ok: false, value: Value::Null, error: Some(error), raw: None, warning, ms },
        }
    }

    /// What a call of this tool may change, as far as the owner says so or trusts its server to say so.
    ///
    /// # Errors
    /// What a call would answer, where there is no such tool.
    pub async fn trusted_effect(&self, path: &ToolPath) -> Result<TrustedEffect, RunError> {
        self.find(path).await.map(|(_, effect)| effect)
    }

    /// The tool of this path, by its exact name, and its effect; its server is started where it is not known.
    async fn find(&self, path: &ToolPath) -> Result<(ToolPath, TrustedEffect), RunError> {
        let mut catalog = self.catalog(Some(path.server())).await;
        if catalog.lookup(&path.to_string()).is_none()
            && let Some(server) = catalog.server(path.server()).or_else(|| catalog.namespace(path.server()))
            // What is known may be of an earlier process: the server itself knows better.
            && self.upstream().start(server.name()).await.is_ok()
        {
            catalog = self.catalog(Some(path.server())).await;
        }
        // An alias is as good as the name; whether there is such a tool at all is better said here than by the child.
        match catalog.lookup(&path.to_string()) {
            Some(tool) => Ok((tool.path().clone(), tool.trusted_effect())),
            None => Err(self.unknown(path, &catalog).await),
        }
    }

    async fn call_known(
        self: &Arc<Self>,
        path: &ToolPath,
        arguments: Map<String, Value>,
        limit: Duration,
        warning: &mut Option<String>,
    ) -> Result<Value, RunError> {
        let arguments = JsonText::from_value(&Value::Object(arguments));
        let Checked { arguments, warning: given } = self.checked(path, arguments).await.map_err(refused)?;
        *warning = given;
        let locks = RunLocks::new(self.clone(), "");
        let server = self.position_of(path.server()).unwrap_or(usize::MAX);
        let entered = locks.enter(server, limit, &|server| tracing::info!(server, "waits for the end of another run"));
        let _permit = entered.await.map_err(|fault| {
            let error = RunError::new(ErrorKind::Busy, fault.to_string());
            match fault.hint() {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        })?;
        let observer = self.observer(path, &arguments);
        let answer = self.upstream().call_text(path, arguments, limit, &Caller::default()).await;
        let answer = answer.and_then(|text| text.to_value().map_err(|error| CallFault::Malformed(error.into())));
        if let (Some(observer), Ok(raw)) = (observer, &answer) {
            observer.see(raw);
        }
        answer.map_err(|fault| failed(&fault))
    }

    async fn unknown(&self, path: &ToolPath, catalog: &belljar_catalog::Catalog) -> RunError {
        let Some(server) = catalog.server(path.server()).or_else(|| catalog.namespace(path.server())) else {
            let error = RunError::new(ErrorKind::Usage, format!("there is no server '{}'", path.server()));
            return match catalog.nearest_server(path.server()) {
                Some(near) => error.with_hint(format!("did you mean {}?", near.name())),
                None => error.with_hint("`belljar servers` lists what is configured"),
            };
        };
        if let Err(fault) = self.upstream().start(server.name()).await {
            let error = RunError::new(
                ErrorKind::Tool,
                format!("server '{}' is not available: {}", server.name(), fault.reason()),
            );
            return match fault.hint() {
                Some(hint) => error.with_hint(hint),
                None => error,
            };
        }
        let error = RunError::new(ErrorKind::Usage, format!("there is no tool '{path}'"));
        match catalog.nearest_tool(&path.to_string()) {
            Some(near) => error.with_hint(format!("did you mean {}? It is {}", near.path(), self.signature_of(near))),
            None => error.with_hint(format!("`belljar search --server {}` lists what there is", server.name())),
        }
    }
}

fn refused(refusal: Refusal) -> RunError {
    RunError::new(ErrorKind::Usage, refusal.message).with_hint(refusal.hint)
}

fn failed(fault: &CallFault) -> RunError {
    let error = RunError::new(ErrorKind::Tool, fault.to_string());
    match fault.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
