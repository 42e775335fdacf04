//! What a run may call: the seam where tools of any kind are plugged in.

use std::{sync::Arc, time::Duration};

use belljar_model::{Denial, Effect, JsonText, RunStep, ToolPath};
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    holdings::{Held, Holdings},
    parking::{Parked, Parking},
    plan::{Finding, PlannedCalls, Reach},
};

/// The tools of a run.
///
/// All methods are asked from within a run and answer for that run. Their futures are polled on tasks of their own or while
/// the guest stands still, and are dropped when the run ends: dropping is cancelling.
pub trait Tools: Send + Sync + 'static {
    /// The servers, in the order in which their globals are defined. Asked once, at the start.
    fn namespaces(&self) -> Vec<Namespace>;

    /// The tools of one server, by its position in [`Tools::namespaces`]. Asked when the script first looks, so a server
    /// may be started here.
    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>>;

    /// Calls a tool with a JSON object. The answer is an MCP `CallToolResult` as JSON.
    ///
    /// An implementation ends a call that takes longer than `limit`; one that hears of the call's progress may extend it. The
    /// run's own timeout ends them all.
    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>>;

    /// The same, as a sandbox makes a call: with its number among the calls and timers of the run, as [`Outcome::order`] has it, and with the
    /// room that there is for the answer. It is for tools that hand the call on to another process, or whose answers come from elsewhere and
    /// can be held back: they ask `room` before they read one into memory. Of others the sandbox does so when they are there.
    ///
    /// [`Outcome::order`]: belljar_model::Outcome::order
    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let _ = (number, room);
        self.call(tool, arguments, limit)
    }

    /// The script began a call whose arguments are still being read: its place among the calls is
    /// here, and [`Tools::begin`] follows. It does not where they turn out not to be JSON; what is
    /// returned is dropped then, or afterwards.
    fn announce(&self, number: u64, tool: &GrantedTool) -> Box<dyn Send> {
        let _ = (number, tool);
        Box::new(())
    }

    /// The script is about to get what came of a call of this tool, or the reason why nothing did.
    /// It is told before the script goes on, so that whatever the script begins from then on begins
    /// after it. It must not wait.
    fn handing_over(&self, number: u64, tool: &ToolPath, answer: Result<&JsonText, &CallFault>) {
        let _ = (number, tool, answer);
    }

    /// Hears what happens in the run, for those who watch. It must not wait, and must not depend on being told.
    fn observe(&self, step: RunStep) {
        let _ = step;
    }

    /// Whether the run is to be put aside, which has waited for people alone for as long as it may:
    /// it ends then, and goes on from its recording later. So many of its calls wait; its recording
    /// has so many bytes, if there is one. Of calls that wait none may be answered or sent any more
    /// once this has said yes. Where it says no, they go on waiting, or are answered.
    fn put_aside(&self, open: u64, recorded: Option<u64>) -> BoxFuture<'_, bool> {
        let _ = (open, recorded);
        Box::pin(std::future::ready(false))
    }

    /// Whether anybody watches. For nobody no text is copied.
    fn is_watched(&self) -> bool {
        false
    }

    /// What `tools.list` answers: a JSON array of `{path, effect, summary?}`, or why there is no such server.
    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>>;

    /// What `tools.search` answers: a JSON array of `{path, effect, summary?, declaration?}`.
    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText>;

    /// What `tools.describe` answers: a JSON object, or why there is no such tool.
    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>>;

    /// What is known of the calls of a script before it runs, one for one; nothing is called. Servers of certain calls
    /// may be started here. As it is here, it finds tools that there are not.
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

/// Room for the answer of one call, within what the host may hold for its run.
#[derive(Clone)]
pub struct AnswerRoom(Arc<Room>);

struct Room {
    holdings: Holdings,
    parking: Parking,
    state: Mutex<RoomState>,
}

#[derive(Default)]
struct RoomState {
    held: Option<Held>,
    is_abandoned: bool,
}

impl AnswerRoom {
    pub(crate) fn new(holdings: Holdings, parking: Parking) -> Self {
        Self(Arc::new(Room { holdings, parking, state: Mutex::default() }))
    }

    /// The call waits for a person for as long as what is returned is there. While a run waits for
    /// people alone, no clock of it counts.
    pub fn park(&self) -> Parked {
        self.0.parking.park()
    }

    /// Waits until an answer of so many bytes may be read into memory. At once, where nobody waits for it any more.
    ///
    /// # Cancellation
    /// Nothing is counted.
    pub async fn admit(&self, bytes: usize) {
        let is_wanted = || {
            let state = self.lock();
            !state.is_abandoned && state.held.is_none()
        };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let held = self.0.holdings.admit(bytes, is_wanted).await;
        let mut state = self.lock();
        if !state.is_abandoned && state.held.is_none() {
            state.held = held;
        }
    }

    /// What was admitted.
    pub(crate) fn take(&self) -> Option<Held> {
        self.lock().held.take()
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn abandon(&self) {
        let held = {
            let mut state = self.lock();
            state.is_abandoned = true;
            state.held.take()
        };
        drop(held);
        self.0.holdings.abandon();
    }

    fn lock(&self) -> MutexGuard<'_, RoomState> {
        self.0.state.lock()
    }
}

impl std::fmt::Debug for AnswerRoom {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("AnswerRoom")
    }
}

/// A server as the script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The server's name, as in a tool's path.
    pub server: String,
    /// The global variables that hold the namespace.
    pub globals: Vec<String>,
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
    /// A directory of properties and their tools. A tool may have several properties. A name that is empty, or that holds a line
    /// break, cannot be a property and is left out.
    pub fn new(properties: impl IntoIterator<Item = (String, GrantedTool)>) -> Self {
        let mut directory = Self::default();
        for (name, tool) in properties {
            if name.is_empty() || name.contains('\n') {
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

    /// The tool behind a property, by the property's position.
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

/// Why a call brought no result. (A tool that ran and failed gives a result with `isError`.)
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CallFault {
    /// What happened, for the script's author.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Whether the call was never made, since its arguments are not what the tool asks for. The script gets a `TypeError`, and the
    /// call is not among those of the outcome.
    pub is_refusal: bool,
    /// What the rules of belljar's owner say, where they do not allow the call: a JSON object with `verdict`,
    /// `rule` and `why`. The script gets a `PolicyError` with these.
    pub denial: Option<String>,
}

impl CallFault {
    /// A fault without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, is_refusal: false, denial: None }
    }

    /// A call that was not made, since its arguments are not what the tool asks for.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { is_refusal: true, ..Self::new(message) }
    }

    /// A call that was not made, since the owner's rules do not allow it.
    pub fn denied(denial: Denial) -> Self {
        let said = serde_json::json!({ "verdict": denial.verdict, "rule": denial.rule, "why": denial.why });
        Self { denial: Some(said.to_string()), ..Self::new(denial.message) }
    }

    /// The same fault with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// No answer came within `limit`.
    pub fn timed_out(limit: Duration) -> Self {
        Self::new(format!("no answer within {limit:?}, the limit of one call"))
            .with_hint("the call may have taken effect all the same; ask the tool for less at once")
    }
}
