//! What a run may call: the trait by which tools of any kind are added.

use std::{sync::Arc, time::Duration};

use belljar_model::{Denial, Effect, JsonText, RunStep, ToolPath, nearest};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    Function, Namespace,
    answer_room::AnswerRoom,
    plan::{Finding, PlannedCalls, Reach},
    workspace::NotAnswered,
};

/// The tools of a run.
///
/// Three methods are required: which servers there are, which tools each has, and what a call does.
/// [`ToolSet`](crate::ToolSet) implements them for tools that are closures.
///
/// All methods are called from within a run and answer for that run. Their futures are polled on
/// tasks of their own or while the guest is blocked, and are dropped when the run ends: dropping is
/// cancelling.
pub trait Tools: Send + Sync + 'static {
    /// The servers, in the order in which their globals are defined. Called once, at the start.
    fn namespaces(&self) -> Vec<Namespace>;

    /// The tools of one server, by its position in [`Tools::namespaces`]. Called when the script
    /// first uses the server, so the server may be started here.
    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>>;

    /// The global functions, each a tool of a namespace. Called once, at the start. Their names are
    /// checked then ([`check_globals`](crate::check_globals)).
    fn functions(&self) -> Vec<Function> {
        Vec::new()
    }

    /// Calls a tool with a JSON object. The answer is an MCP `CallToolResult` as JSON. (Namespaces
    /// of another [`CallStyle`](crate::CallStyle) or [`AnswerStyle`](crate::AnswerStyle) differ.)
    ///
    /// An implementation ends a call that takes longer than `limit`; it may extend the limit when
    /// the call reports progress. The run's own timeout ends all calls.
    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>>;

    /// Like [`Tools::call`], but with the call's number among the calls and timers of the run, as
    /// in [`Outcome::order`], and with the room for its answer. A sandbox calls this method.
    /// Implement it for tools that forward calls to another process, or whose answers come from
    /// elsewhere and can be held back: they ask `room` before they read an answer into memory. For
    /// other tools the sandbox does that when the answer is there.
    ///
    /// [`Outcome::order`]: belljar_model::Outcome::order
    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let _ = (number, room);
        self.call(tool, arguments, limit)
    }

    /// Announces a call whose arguments are still being read, so that it takes its place among the
    /// calls already. [`Tools::begin`] follows, unless the arguments turn out not to be JSON. The
    /// returned value is dropped after that.
    fn announce(&self, number: u64, tool: &GrantedTool) -> Box<dyn Send> {
        let _ = (number, tool);
        Box::new(())
    }

    /// The script is about to get the result of a call of this tool, or the reason why there is
    /// none. This is called before the script continues, so that whatever the script begins from
    /// then on begins after it. It must not wait.
    fn handing_over(&self, number: u64, tool: &ToolPath, answer: Result<&JsonText, &CallError>) {
        let _ = (number, tool, answer);
    }

    /// The run goes on without the answer of a call that it began ([`Tools::begin`]), so nobody is
    /// to be asked about it any more. The future of the call is dropped, too, if it is still
    /// polled; this is for tools that forward calls to another process. It must not wait.
    fn given_up(&self, number: u64) {
        let _ = number;
    }

    /// Reports what happens in the run, for listeners. It must not wait, and nothing may depend on
    /// it.
    fn observe(&self, step: RunStep) {
        let _ = step;
    }

    /// Whether to put aside the run, which has waited for people alone for as long as it may: it
    /// then ends, and is resumed from its recording later. `open` is the number of waiting calls,
    /// `recorded` the size of the recording, if there is one. After returning true, none of the
    /// waiting calls may be answered or sent. After returning false, they keep waiting, or are
    /// answered.
    fn put_aside(&self, open: u64, recorded: Option<u64>) -> BoxFuture<'_, bool> {
        let _ = (open, recorded);
        Box::pin(std::future::ready(false))
    }

    /// Whether there are listeners. Without any, no text is copied.
    fn is_watched(&self) -> bool {
        false
    }

    /// The answer of `tools.list`: a JSON array of `{path, effect, summary?}`, or why there is no
    /// such server. The default has no summaries, and leaves out servers that are not available.
    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        Box::pin(async move {
            let tools = match &server {
                None => granted(self).await,
                Some(name) => granted_by(self, name).await?,
            };
            Ok(listed(tools.iter()))
        })
    }

    /// The answer of `tools.search`: a JSON array of `{path, effect, summary?, declaration?}`. The
    /// default finds the tools whose paths have one of the words.
    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        Box::pin(async move {
            let query = query.to_lowercase();
            let tools = granted(self).await;
            let is_meant = |tool: &&GrantedTool| {
                let path = tool.path.to_string().to_lowercase();
                query.split_whitespace().any(|word| path.contains(word))
            };
            listed(tools.iter().filter(is_meant).take(limit))
        })
    }

    /// The answer of `tools.describe`: a JSON object, or why there is no such tool. The default has
    /// the tool's path and effect.
    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        Box::pin(async move {
            let tools = granted(self).await;
            let tool = tools.into_iter().find(|tool| tool.path.to_string() == path);
            tool.map(|tool| JsonText::from_value(&entry(&tool))).ok_or_else(|| format!("there is no tool '{path}'"))
        })
    }

    /// The answer of `tools.route`: a JSON object, or why there is nothing to choose. By default,
    /// no server has projects.
    fn route(&self, server: String, words: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        let _ = words;
        Box::pin(async move { Err(format!("there is nothing to choose: '{server}' has no projects")) })
    }

    /// Answers a question of `artifacts`, as specified in `wit/sandbox.wit`, for a run whose
    /// [`Program`](crate::Program) has that global. The question may be any text. The default keeps
    /// nothing.
    fn artifacts(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        let _ = question;
        let nothing = NotAnswered::new("nothing is kept from one run to the next here", "return the value instead");
        Box::pin(std::future::ready(Err(nothing)))
    }

    /// Answers a question of `keep`, as specified in `wit/sandbox.wit`, for a run whose
    /// [`Program`](crate::Program) has that global. The question may be any text. The default keeps
    /// nothing.
    fn keep(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        let _ = question;
        let nothing = NotAnswered::new("nothing is kept from one run to the next here", "return the value instead");
        Box::pin(std::future::ready(Err(nothing)))
    }

    /// What is known about the calls of a script before it runs: one finding for each call, in the
    /// same order. No tool is called, but the servers of certain calls may be started here. The
    /// default only finds calls of tools that do not exist.
    fn plan(&self, calls: PlannedCalls) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async move {
            let mut findings = Vec::with_capacity(calls.calls.len());
            for call in &calls.calls {
                let directory = match call.reach {
                    Reach::Certain => self.directory(call.server).await.ok(),
                    Reach::Possible | Reach::Guarded => None,
                };
                let is_missing = directory.is_some_and(|known| known.properties().all(|(name, _)| name != call.tool));
                findings.push(if is_missing { Finding::NoSuchTool { certain: true } } else { Finding::Nothing });
            }
            findings
        })
    }
}

/// All tools of the servers that are available, each once.
async fn granted<T: Tools + ?Sized>(tools: &T) -> Vec<GrantedTool> {
    let mut granted = Vec::new();
    for namespace in 0..tools.namespaces().len() {
        if let Ok(directory) = tools.directory(namespace).await {
            granted.extend(directory.distinct());
        }
    }
    granted
}

/// The tools of one server, or why there are none.
async fn granted_by<T: Tools + ?Sized>(tools: &T, server: &str) -> Result<Vec<GrantedTool>, String> {
    let namespaces = tools.namespaces();
    let is_meant =
        |namespace: &Namespace| namespace.server == server || namespace.globals.iter().any(|global| global == server);
    let Some(at) = namespaces.iter().position(is_meant) else {
        let near = nearest(server, namespaces.iter().map(|namespace| namespace.server.as_str()));
        let near = near.map(|near| format!(": did you mean {near}?")).unwrap_or_default();
        return Err(format!("there is no server '{server}'{near}"));
    };
    tools.directory(at).await.map(|directory| directory.distinct()).map_err(|unavailable| unavailable.reason)
}

fn listed<'t>(tools: impl Iterator<Item = &'t GrantedTool>) -> JsonText {
    JsonText::from_value(&tools.map(entry).collect())
}

fn entry(tool: &GrantedTool) -> Value {
    json!({ "path": tool.path, "effect": tool.effect })
}

/// The properties of a namespace, each a tool.
#[derive(Debug, Default)]
pub struct Directory {
    names: String,
    tools: Vec<GrantedTool>,
}

/// A tool that a run may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedTool {
    /// Which tool it is.
    pub path: ToolPath,
    /// What it may change.
    pub effect: Effect,
}

impl Directory {
    /// A directory of properties and their tools. A tool may have several properties. A name that
    /// is empty, or that contains a line break, cannot be a property and is left out.
    pub fn new(properties: impl IntoIterator<Item = (String, GrantedTool)>) -> Self {
        let mut directory = Self::default();
        for (name, tool) in properties {
            if !ToolPath::is_property(&name) {
                continue;
            }
            if !directory.tools.is_empty() {
                directory.names.push('\n');
            }
            directory.names.push_str(&name);
            directory.tools.push(tool);
        }
        directory
    }

    /// The names of all properties, separated by U+000A.
    pub fn names(&self) -> &str {
        &self.names
    }

    /// The properties and their tools, in their order.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &GrantedTool)> {
        self.names.split('\n').zip(&self.tools)
    }

    /// The tools, each once, without the locks of the server.
    fn distinct(&self) -> Vec<GrantedTool> {
        let mut tools: Vec<GrantedTool> = Vec::new();
        // The names of one tool are usually adjacent.
        for tool in self.tools.iter().filter(|tool| !tool.path.is_lock()) {
            if tools.last() != Some(tool) {
                tools.push(tool.clone());
            }
        }
        tools
    }

    /// The tool behind a property, by the property's index.
    pub fn tool(&self, entry: usize) -> Option<&GrantedTool> {
        self.tools.get(entry)
    }
}

/// Why a server has no tools to offer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// What happened and how to fix it, for the script's author.
    pub reason: String,
}

/// Why a call has no result. (A tool that ran and failed returns a result with `isError`.)
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What happened, for the script's author.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Whether the call was never made, because its arguments do not fit the tool's schema. The
    /// script gets a `TypeError`, and the call is not in the outcome.
    pub is_refusal: bool,
    /// The verdict of the owner's rules, if they deny it: a JSON object with `verdict`, `rule` and
    /// `why`. The script gets a `PolicyError` with these.
    pub denial: Option<String>,
    /// The name of the error that the script gets, in a namespace of plain answers. It is
    /// `ToolError` if there is none.
    pub name: Option<String>,
}

impl CallError {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, is_refusal: false, denial: None, name: None }
    }

    /// A call that was not made, because its arguments do not fit the tool's schema.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { is_refusal: true, ..Self::new(message) }
    }

    /// A call that was not made, because the owner's rules deny it.
    pub fn denied(denial: Denial) -> Self {
        let said = serde_json::json!({ "verdict": denial.verdict, "rule": denial.rule, "why": denial.why });
        Self { denial: Some(said.to_string()), ..Self::new(denial.message) }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same error with a name other than `ToolError`.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// No answer came within `limit`.
    pub fn timed_out(limit: Duration) -> Self {
        Self::new(format!("no answer within {limit:?}, the limit of one call"))
            .with_hint("the call may have taken effect all the same; ask the tool for less at once")
    }
}
