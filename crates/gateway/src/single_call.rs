//! A call of one tool, outside of any script.

use std::{
    pin::pin,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use belljar_ledger::Asker;
use belljar_model::{Effect, ErrorKind, JsonText, Projects, RunError, RunId, ToolPath, TrustedEffect, Usage};
use belljar_upstream::{CallError, Caller};
use futures::stream::{self, StreamExt as _};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    approvals::{Checked, NotSent},
    arguments::Refusal,
    live_runs::cancelled_by_owner,
    locks::RunLocks,
    measure::CountingCalls,
    result_filters::FilterRemark,
    routing::Spread,
    rules::AsRules,
    run_log::{Content, RunLog},
    tool_result::{text, value},
};

/// The result of a single call.
#[derive(Debug, Serialize)]
pub struct SingleCall {
    /// Whether the tool succeeded.
    pub ok: bool,
    /// The call's name in the ledger, as a run of its own. A call that was refused before it was
    /// sent has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The value that a script would get: the structured content, else the text, parsed if it is a
    /// JSON object or array.
    pub value: Value,
    /// Why it failed.
    pub error: Option<RunError>,
    /// The whole `CallToolResult`, if there is one.
    pub raw: Option<Value>,
    /// A remark on the arguments, which were sent nevertheless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The time from the call to the answer, including the start of the child.
    pub ms: f64,
}

/// The call's origin in the ledger.
const ORIGIN: &str = "call";

/// How many projects one tool is called in at the same time.
const TOGETHER: usize = 4;
/// The most bytes of the answers of all projects together, as JSON.
const MOST_TOGETHER: usize = 16 * 1024 * 1024;
/// The error for an answer beyond that.
const TOO_MUCH_TOGETHER: &str = "the answers of the projects before it have 16 MiB already: ask fewer projects at once";

/// A tool that was found.
struct Found {
    path: ToolPath,
    effect: Effect,
    trusted: TrustedEffect,
}

/// What to report about a call besides its answer.
#[derive(Default)]
struct Told {
    run: Option<RunId>,
    warning: Option<String>,
}

impl Toolbox {
    /// Calls one tool. With `projects: "all"`, it calls the tool once for each project of its
    /// server, a few at a time. The value then has the result of each project under its name:
    /// `{value}` or `{error}`.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call at the child.
    pub async fn call(self: &Arc<Self>, path: &ToolPath, arguments: Map<String, Value>, limit: Duration) -> SingleCall {
        self.call_as(path, arguments, limit, Effect::ReadOnly).await
    }

    /// The same for a call that counts at least as `effect`, whatever its tool does, where the
    /// owner's settings depend on the effect.
    ///
    /// # Cancellation
    /// As [`Toolbox::call`].
    pub async fn call_as(
        self: &Arc<Self>,
        path: &ToolPath,
        arguments: Map<String, Value>,
        limit: Duration,
        effect: Effect,
    ) -> SingleCall {
        let begun = Instant::now();
        match self.find(path).await {
            Ok(found) => match self.spread(&found.path, &arguments) {
                Some(spread) => self.call_all(&found, spread, arguments, (limit, effect), begun).await,
                None => self.call_one(&found, arguments, (limit, effect), begun).await,
            },
            Err(error) => ended(Err(error), Told::default(), begun),
        }
    }

    async fn call_one(
        self: &Arc<Self>,
        found: &Found,
        arguments: Map<String, Value>,
        limit: (Duration, Effect),
        begun: Instant,
    ) -> SingleCall {
        let mut told = Told::default();
        let answer = self.call_known(found, arguments, limit, &mut told).await;
        ended(answer, told, begun)
    }

    async fn call_all(
        self: &Arc<Self>,
        found: &Found,
        spread: Spread,
        mut arguments: Map<String, Value>,
        limit: (Duration, Effect),
        begun: Instant,
    ) -> SingleCall {
        let Spread { argument, projects } = spread;
        arguments.remove(Projects::SPREAD);
        let calls = projects.into_iter().map(async |project| {
            let mut arguments = arguments.clone();
            arguments.insert(argument.clone(), project.clone().into());
            (project, self.call_one(found, arguments, limit, Instant::now()).await)
        });
        let mut calls = pin!(stream::iter(calls).buffered(TOGETHER));
        let (mut value, mut ok, mut bytes) = (Map::new(), false, 0);
        while let Some((project, call)) = calls.next().await {
            ok |= call.ok;
            let became = match call.error {
                Some(error) => json!({ "error": error.message }),
                None => json!({ "value": call.value }),
            };
            bytes += became.to_string().len();
            let is_too_much = bytes > MOST_TOGETHER;
            let became = if is_too_much { json!({ "error": TOO_MUCH_TOGETHER }) } else { became };
            value.insert(project, became);
        }
        let error = (!ok).then(|| RunError::new(ErrorKind::Tool, "the call failed in every project"));
        SingleCall { ok, run: None, value: Value::Object(value), error, raw: None, warning: None, ms: since(begun) }
    }

    /// What a call of this tool may change, as far as the owner says so or trusts its server to say
    /// so, and the tool's exact name.
    ///
    /// # Errors
    /// The error for a missing tool.
    pub async fn trusted_effect(&self, path: &ToolPath) -> Result<(ToolPath, TrustedEffect), RunError> {
        self.find(path).await.map(|found| (found.path, found.trusted))
    }

    /// The tool of this path, by its exact name. Its server is started if the tool is not known.
    async fn find(&self, path: &ToolPath) -> Result<Found, RunError> {
        if self.is_skill(path) {
            let hint = format!("belljar skills run {} --input JSON runs it", path.tool());
            return Err(RunError::new(ErrorKind::Usage, format!("{path} is a script, and not a tool")).with_hint(hint));
        }
        let mut catalog = self.catalog(Some(path.server())).await;
        if catalog.lookup(&path.to_string()).is_none()
            && let Some(server) = catalog.server(path.server()).or_else(|| catalog.namespace(path.server()))
            // The known list may be from an earlier process. The server itself has the current one.
            && self.upstream().start(server.name()).await.is_ok()
        {
            catalog = self.catalog(Some(path.server())).await;
        }
        // An alias works like the name. A missing tool is reported better here than by the child.
        match catalog.lookup(&path.to_string()) {
            Some(tool) => {
                Ok(Found { path: tool.path().clone(), effect: tool.effect(), trusted: tool.trusted_effect() })
            }
            None => Err(self.unknown(path, &catalog).await),
        }
    }

    async fn call_known(
        self: &Arc<Self>,
        found: &Found,
        arguments: Map<String, Value>,
        (limit, at_least): (Duration, Effect),
        told: &mut Told,
    ) -> Result<Value, RunError> {
        let path = &found.path;
        let arguments = JsonText::from_value(&Value::Object(arguments));
        let locks = RunLocks::new(self.clone(), "", None);
        let measures = self.judge_of(path).is_some_and(|(judge, _)| judge.measures());
        let who = AsRules::default().with_measuring(measures.then(|| CountingCalls {
            toolbox: self.clone(),
            caller: Caller::default(),
            limit: limit.into(),
            locks: Arc::new(RunLocks::new(self.clone(), "", None)),
            log: None,
            number: 0,
            made: AtomicU64::default(),
        }));
        let checked = match self.checked(path, arguments, &who).await {
            Ok(checked) => checked,
            Err(not_allowed) => {
                let denial = match not_allowed {
                    NotSent::MustBeAsked(held) => held.denied(path),
                    NotSent::Denied(denial) => denial,
                    NotSent::Refused(refusal) => return Err(refused(refusal)),
                    NotSent::NotAPath(fault) => return Err(failed(&fault)),
                };
                let error = RunError::new(ErrorKind::Denied, denial.message.clone());
                let log = RunLog::begin(self.told(), ORIGIN, &Asker::default(), None, None, (None, None)).await?;
                told.run = Some(log.run());
                log.denied(0, path, (found.effect, found.trusted.effect()), &denial).await;
                log.end(self, Some(&error), &Usage::default(), None).await;
                return Err(error);
            }
        };
        let Checked { arguments, warning: given, decision } = checked;
        told.warning = given;
        let counts_for = self.counts_for(path, &arguments, who.principal());
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
        let log = RunLog::begin(self.told(), ORIGIN, &Asker::default(), None, None, (None, None)).await?;
        told.run = Some(log.run());
        let effects = (found.effect, found.trusted.effect(), self.may_repeat(path));
        let sent = log.sending(0, path, effects, (&arguments, Content::Of(self)), decision.as_ref()).await.map_err(
            |fault| RunError::new(ErrorKind::Config, format!("the call was not made: {fault}")).with_hint(fault.hint()),
        )?;
        let caller = log.traced_caller(Caller::default().counting_as(at_least));
        let caller = match log.span_of(0) {
            Some(span) => caller.with_trace(span),
            None => caller,
        };
        let answer = tokio::select! {
            answer = self.upstream().call_text(path, arguments, limit, &caller) => answer,
            () = log.owners_word().cancelled() => {
                // Its answer is unknown, as for every call whose run is cancelled.
                drop(sent);
                let error = cancelled_by_owner();
                log.end(self, Some(&error), &Usage { tool_calls: 1, ..Usage::default() }, None).await;
                return Err(error);
            }
        };
        let answer = match answer {
            Ok(raw) => {
                let (taken, remark, observer) = self.taken(path, observer, raw).await;
                observer.iter().for_each(|observer| observer.record(&taken));
                if let Some(FilterRemark { text, .. }) = remark {
                    let warning = told.warning.take().map(|warning| format!("{warning}; {text}"));
                    told.warning = Some(warning.unwrap_or(text));
                }
                Ok(taken)
            }
            failed => failed,
        };
        let has_failed = sent.ended(answer.as_ref().ok()).await;
        if let Some(counts_for) = counts_for.filter(|_| !has_failed) {
            counts_for.succeeded(Some(log.run()), None).await;
        }
        let error = has_failed.then(|| RunError::new(ErrorKind::Tool, "the call failed"));
        log.end(self, error.as_ref(), &Usage { tool_calls: 1, ..Usage::default() }, None).await;
        self.keep_measures_now_and_then();
        // Before anybody gets the answer.
        let remembered = self.remember(path, who.principal(), log.run()).await;
        remembered.map_err(|withheld| RunError::new(ErrorKind::Tool, withheld.of_call()))?;
        let answer = answer.and_then(|text| text.to_value().map_err(|error| CallError::Malformed(error.into())));
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
        if let Some(denial) = self.denied(path) {
            return RunError::new(ErrorKind::Denied, denial.message);
        }
        let error = RunError::new(ErrorKind::Usage, format!("there is no tool '{path}'"));
        match catalog.nearest_tool(&path.to_string()) {
            Some(near) => error.with_hint(format!("did you mean {}? It is {}", near.path(), self.signature_of(near))),
            None => error.with_hint(format!("`belljar search --server {}` lists what there is", server.name())),
        }
    }
}

/// The result of a call that began at this time.
fn ended(answer: Result<Value, RunError>, told: Told, begun: Instant) -> SingleCall {
    let (Told { run, warning }, ms) = (told, since(begun));
    match answer {
        Ok(raw) if raw.get("isError") == Some(&Value::Bool(true)) => {
            let message = text(&raw).unwrap_or_else(|| "the tool reported an error without a text".to_owned());
            let error = Some(RunError::new(ErrorKind::Tool, message));
            SingleCall { ok: false, run, value: Value::Null, error, raw: Some(raw), warning, ms }
        }
        Ok(raw) => SingleCall { ok: true, run, value: value(&raw), error: None, raw: Some(raw), warning, ms },
        Err(error) => SingleCall { ok: false, run, value: Value::Null, error: Some(error), raw: None, warning, ms },
    }
}

fn since(begun: Instant) -> f64 {
    (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

fn refused(refusal: Refusal) -> RunError {
    RunError::new(ErrorKind::Usage, refusal.message).with_hint(refusal.hint)
}

fn failed(fault: &CallError) -> RunError {
    let error = RunError::new(ErrorKind::Tool, fault.to_string());
    match fault.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
