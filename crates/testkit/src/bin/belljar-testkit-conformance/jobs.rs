//! Calls that take long, or ask their client something while they work: the ones that the suite
//! names for the Tasks extension.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_http::{Admission, Asks, Call, Ending, Owner, TaskLimits, Tasks};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, InputRequest, InputResponses},
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Anything longer is a task. The suite's shortest job takes a second.
const AFTER: Duration = Duration::from_millis(200);
/// The default duration of a job.
const A_WHILE: Duration = Duration::from_secs(1);

/// All jobs.
pub(crate) struct Jobs(Tasks);

impl Jobs {
    pub(crate) fn new() -> Self {
        Self(Tasks::new(TaskLimits { after: Some(AFTER), ..TaskLimits::default() }))
    }

    /// Where they are kept.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0
    }

    /// Does a job, or returns `None` if there is no job with this name.
    pub(crate) async fn call(
        &self,
        name: &str,
        (arguments, answered): (&Map<String, Value>, Option<&InputResponses>),
        inputs: &BTreeMap<String, InputRequest>,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let (asks, cancel) = (Asks::default(), CancellationToken::new());
        let work = Work::of(name, arguments, answered, inputs)?;
        let knows_tasks = context.client_capabilities().is_some_and(|abilities| abilities.supports_tasks());
        if !knows_tasks {
            return Some(match work {
                Work::Compute(_) => match work.done(asks).await {
                    Ending::Done(result) | Ending::Cancelled(result, _) => Ok(result.into()),
                    Ending::Failed(error) => Err(error),
                },
                _ => {
                    let needed = ClientCapabilities::builder().enable_tasks().build();
                    Err(ErrorData::missing_required_client_capability(needed))
                }
            });
        }
        let call = Call {
            owner: owner(context),
            longest: Duration::from_secs(120),
            cancel: cancel.clone(),
            status: Arc::new(|| None),
            asks: asks.clone(),
        };
        let work = async move {
            tokio::select! {
                ending = work.done(asks) => ending,
                () = cancel.cancelled() => {
                    Ending::Cancelled(CallToolResult::error(Vec::new()), "it was stopped".to_owned())
                }
            }
        };
        Some(self.0.answer(call, work, context.ct.cancelled()).await)
    }
}

/// The owner of the tasks.
pub(crate) fn owner(context: &RequestContext<RoleServer>) -> Owner {
    let principal = Admission::of(context).map(Admission::principal);
    let name = principal.map_or_else(|| Arc::from(""), |principal| principal.name().into());
    Owner { name, may_change: true }
}

/// What a job does.
enum Work {
    Compute(Duration),
    Fail,
    Break,
    /// Asks all of these at once.
    Ask(Vec<InputRequest>),
    Greet(String),
}

impl Work {
    fn of(
        name: &str,
        arguments: &Map<String, Value>,
        answered: Option<&InputResponses>,
        inputs: &BTreeMap<String, InputRequest>,
    ) -> Option<Self> {
        let asked = |keys: &[&str]| Self::Ask(keys.iter().filter_map(|key| inputs.get(*key)).cloned().collect());
        Some(match name {
            "slow_compute" => {
                let seconds = arguments.get("seconds").and_then(Value::as_u64).unwrap_or_default();
                Self::Compute(Duration::from_secs(seconds))
            }
            "failing_job" => Self::Fail,
            "protocol_error_job" => Self::Break,
            "confirm_delete" => asked(&["confirm"]),
            "multi_input" => asked(&["user_name", "confirm"]),
            "test_tool_with_task" => {
                let name = answered?.get("user_name")?.pointer("/content/name")?.as_str()?;
                Self::Greet(name.to_owned())
            }
            _ => return None,
        })
    }

    async fn done(self, asks: Asks) -> Ending {
        let text = match self {
            Self::Compute(time) => {
                sleep(time).await;
                format!("it took {} s", time.as_secs())
            }
            Self::Fail => {
                sleep(A_WHILE).await;
                return Ending::Done(CallToolResult::error(vec![ContentBlock::text("it fails each time")]));
            }
            Self::Break => {
                sleep(A_WHILE).await;
                return Ending::Failed(ErrorData::internal_error("it breaks each time", None));
            }
            Self::Ask(requests) => {
                let answers = futures::future::join_all(requests.into_iter().map(|request| asks.ask(request))).await;
                format!("{} answers came", answers.into_iter().flatten().count())
            }
            Self::Greet(name) => {
                sleep(A_WHILE).await;
                format!("Hello, {name}!")
            }
        };
        Ending::Done(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}
