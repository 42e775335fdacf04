//! What one run may call: the toolbox, as the sandbox asks for it.

use std::{sync::Arc, time::Duration};

use belljar_catalog::{Detail, Query, Tool};
use belljar_model::{Effect, JsonText, RunStep, Sharing, ToolPath};
use belljar_sandbox::{AnswerRoom, CallFault, Directory, GrantedTool, Namespace, Tools, Unavailable};
use belljar_upstream::{AnswerGate, CallLimit, Caller};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::json;

use crate::{
    Toolbox,
    approvals::{Approvals, Asking},
    checked::{Checked, NotSent},
    idempotency,
    locks::{ACQUIRE, LockFault, RELEASE, RunLocks},
    remarks::Remarks,
    rules::AsRules,
    run_log::RunLog,
};

/// Tokens of the declarations that `tools.search` returns: as many as the script has room for, since it can filter.
const SEARCH_BUDGET: usize = 50_000;

/// The number of a call that nobody numbers.
const UNNUMBERED: u64 = 0;

/// All tools of the toolbox.
pub(crate) struct Grant {
    toolbox: Arc<Toolbox>,
    /// What progress can extend a call to: the run ends then.
    total: Duration,
    caller: Caller,
    remarks: Arc<Remarks>,
    locks: Arc<RunLocks>,
    log: Arc<RunLog>,
    /// The most that a tool may do.
    ceiling: Effect,
    /// Who calls, for the owner's rules.
    who: AsRules,
    /// Who can be asked about calls; nobody, where there is nothing.
    approvals: Option<Approvals>,
}

impl Grant {
    /// All tools, for a run of this source that may take so long in all.
    pub(crate) fn new(toolbox: Arc<Toolbox>, source: &str, total: Duration, caller: Caller, log: Arc<RunLog>) -> Self {
        let locks = Arc::new(RunLocks::new(toolbox.clone(), source, caller.principal().cloned()));
        Self {
            toolbox,
            total,
            caller,
            remarks: Arc::default(),
            locks,
            log,
            ceiling: Effect::External,
            who: AsRules::default(),
            approvals: None,
        }
    }

    /// The same, without the tools that may do more than this.
    pub(crate) fn with_ceiling(self, ceiling: Effect) -> Self {
        Self { ceiling, ..self }
    }

    /// The same for this caller.
    pub(crate) fn with_caller(self, who: AsRules) -> Self {
        Self { who, ..self }
    }

    /// The same, with somebody who can be asked about calls.
    pub(crate) fn with_approvals(self, approvals: Option<Approvals>) -> Self {
        Self { approvals, ..self }
    }

    /// The servers that the run has for itself.
    pub(crate) fn locks(&self) -> Arc<RunLocks> {
        self.locks.clone()
    }

    /// What there is to say of the calls.
    pub(crate) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    fn call_as(
        &self,
        (caller, room): (Caller, Option<AnswerRoom>),
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let approvals = self.approvals;
        let (toolbox, upstream, path) = (self.toolbox.clone(), self.toolbox.upstream().clone(), tool.path.clone());
        let limit = CallLimit { quiet: limit, total: self.total.max(limit) };
        let (remarks, locks, total) = (self.remarks.clone(), self.locks.clone(), self.total);
        let (log, effect, ceiling, who) = (self.log.clone(), tool.effect, self.ceiling, self.who.clone());
        // Its place is where the script began it, whatever is done first.
        let judge = toolbox.judge_of(&path).filter(|(judge, _)| judge.counts() && !path.is_lock());
        let turn = judge.map(|_| who.counts().turn());
        async move {
            let mut turn = turn;
            if let Some(turn) = &mut turn {
                turn.come().await;
            }
            let server = toolbox.position_of(path.server()).unwrap_or(usize::MAX);
            let waits = |server: &str| remarks.tell(format!("waited for {server}, which another run had for itself"));
            let refused = |fault: LockFault| {
                let answer = CallFault::new(fault.to_string());
                match fault.hint() {
                    Some(hint) => answer.with_hint(hint),
                    None => answer,
                }
            };
            match path.tool() {
                ACQUIRE => return locks.acquire(server, total, &waits).await.map(|()| nothing()).map_err(refused),
                RELEASE => {
                    locks.release(server);
                    return Ok(nothing());
                }
                _ => {}
            }
            let trusted = toolbox.trusted_effect_of(&path);
            if trusted > ceiling {
                let message = format!("{path} is {trusted}, and whoever runs this script may use what is {ceiling}");
                let hint = "the owner of belljar says what a tool does, by 'effects' in its configuration";
                return Err(CallFault::refused(message).with_hint(hint));
            }
            let arguments = match toolbox.key_argument(&path) {
                Some(member) => idempotency::with_key(arguments, member, &idempotency::key(log.run(), number)),
                None => arguments,
            };
            let checked = toolbox.checked(&path, arguments, &who).await;
            drop(turn);
            let checked = match checked {
                Ok(checked) => Ok(checked),
                Err(NotSent::Refused(refusal)) => {
                    return Err(CallFault::refused(refusal.message).with_hint(refusal.hint));
                }
                Err(NotSent::Denied(denial)) => Err(denial),
                Err(NotSent::MustBeAsked(held)) => {
                    let (toolbox, log, who, path, room) = (&toolbox, &*log, &who, &path, room.as_ref());
                    held.settle(&Asking { toolbox, log, who, approvals, room, number, path, effect }).await
                }
            };
            let checked = match checked {
                Ok(checked) => checked,
                Err(denial) => {
                    log.denied(number, &path, (effect, trusted), &denial).await;
                    return Err(CallFault::denied(denial));
                }
            };
            let Checked { arguments, warning, decision } = checked;
            if let Some(decision) = &decision {
                log.judged(number, &path, decision);
            }
            if let Some(warning) = warning {
                remarks.add(warning);
            }
            let _permit = locks.enter(server, total, &waits).await.map_err(refused)?;
            let observer = toolbox.observer(&path, &arguments);
            let effects = (effect, trusted);
            let sent = log
                .sending(number, &path, effects, &arguments, decision.as_ref())
                .await
                .map_err(|fault| CallFault::new(format!("the call was not made: {fault}")).with_hint(fault.hint()))?;
            let answer = upstream.call_text(&path, arguments, limit, &caller).await;
            let answer = match (observer, answer) {
                (Some(observer), Ok(raw)) => Ok(observer.take(raw).await),
                (_, answer) => answer,
            };
            sent.ended(answer.as_ref().ok()).await;
            answer.map_err(|fault| match fault.hint() {
                Some(hint) => CallFault::new(fault.to_string()).with_hint(hint),
                None => CallFault::new(fault.to_string()),
            })
        }
        .boxed()
    }
}

/// The room for an answer, as its child's connection asks for it.
struct Gate(AnswerRoom);

impl AnswerGate for Gate {
    fn admit(&self, bytes: usize) -> BoxFuture<'_, ()> {
        self.0.admit(bytes).boxed()
    }
}

impl Tools for Grant {
    fn observe(&self, step: RunStep) {
        self.log.tell(step);
    }

    fn is_watched(&self) -> bool {
        self.log.is_watched()
    }

    fn namespaces(&self) -> Vec<Namespace> {
        self.toolbox
            .names()
            .map(|names| Namespace {
                server: names.exact().to_owned(),
                globals: names.bound().map(str::to_owned).collect(),
            })
            .collect()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        async move {
            let Some(server) = self.toolbox.server(namespace).await else {
                return Err(Unavailable { reason: format!("there is no namespace {namespace}") });
            };
            let server = server.map_err(|fault| {
                let hint = fault.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                let name = self.toolbox.names().nth(namespace).map(|names| names.exact()).unwrap_or_default();
                Unavailable { reason: format!("server '{name}' is not available: {}{hint}", fault.reason()) }
            })?;
            let properties = server.tools().iter().filter(|tool| !tool.path().is_lock()).flat_map(|tool| {
                let granted = GrantedTool { path: tool.path().clone(), effect: tool.effect() };
                tool.names().bound().map(str::to_owned).map(move |name| (name, granted.clone())).collect::<Vec<_>>()
            });
            let locks = if self.toolbox.sharing(namespace) == Sharing::Free { &[][..] } else { &[ACQUIRE, RELEASE] };
            let locks = locks.iter().map(|name| {
                let path = ToolPath::new(server.name(), *name);
                ((*name).to_owned(), GrantedTool { path, effect: Effect::ReadOnly })
            });
            // An alias that a server has chosen so is passed over: of two entries of one name, the first counts.
            Ok(Arc::new(Directory::new(locks.chain(properties))))
        }
        .boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        // A sandbox begins its calls below, with their numbers.
        self.call_as((self.caller.clone(), None), UNNUMBERED, tool, arguments, limit)
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let caller = self.caller.with_gate(Arc::new(Gate(room.clone())));
        self.call_as((caller, Some(room)), number, tool, arguments, limit)
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let catalog = self.toolbox.catalog(server.as_deref()).await;
            let Some(name) = &server else {
                return Ok(self.toolbox.list(&catalog, None, || summaries(catalog.tools())));
            };
            match catalog.server(name).or_else(|| catalog.namespace(name)) {
                Some(server) => {
                    Ok(self.toolbox.list(&catalog, Some(server.name()), || summaries(server.tools().iter())))
                }
                None => {
                    let near = catalog.nearest_server(name).map(|near| format!(": did you mean {}?", near.name()));
                    Err(format!("there is no server '{name}'{}", near.unwrap_or_default()))
                }
            }
        }
        .boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        async move {
            let query = Query {
                limit: Some(limit),
                budget: Some(SEARCH_BUDGET),
                detail: Some(Detail::Full),
                ..Query::new(query)
            };
            let answer = self.toolbox.search(&query).await;
            let found = answer.results.iter().map(|found| {
                json!({ "path": found.path, "effect": found.effect, "summary": found.summary, "declaration": found.declaration })
            });
            JsonText::from_value(&found.collect())
        }
        .boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let server = path.split_once('.').map(|(server, _)| server);
            let catalog = self.toolbox.catalog(server).await;
            let tool = catalog.lookup(&path).ok_or_else(|| {
                if let Some(denial) = path.parse().ok().and_then(|path| self.toolbox.denied(&path)) {
                    return denial.message;
                }
                let near = catalog.nearest_tool(&path);
                let near = near
                    .map(|near| format!(": did you mean {}? It is {}", near.path(), self.toolbox.signature_of(near)));
                format!("there is no tool '{path}'{}", near.unwrap_or_default())
            })?;
            let definition = tool.definition();
            Ok(JsonText::from_value(&json!({
                "path": tool.path(),
                "effect": tool.effect(),
                "description": definition.description,
                "signature": self.toolbox.signature_of(tool),
                "declaration": tool.declaration_with(self.toolbox.observed(tool.path()).as_deref()),
                "inputSchema": definition.input_schema,
                "outputSchema": definition.output_schema,
            })))
        }
        .boxed()
    }
}

/// The answer of a lock.
fn nothing() -> JsonText {
    JsonText::from_value(&json!({ "content": [] }))
}

fn summaries<'t>(tools: impl Iterator<Item = &'t Tool>) -> JsonText {
    let summary = |tool: &Tool| json!({ "path": tool.path(), "effect": tool.effect(), "summary": tool.summary() });
    JsonText::from_value(&tools.map(summary).collect())
}
