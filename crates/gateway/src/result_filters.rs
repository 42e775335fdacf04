//! Filters results as the owner's configuration says, in jq's language, before a script sees them.
//!
//! The filter is the owner's and well meant, but the data is a child's, and hostile: it can make a
//! filter run forever, recurse without end, or fill the memory. So filters run in a worker process,
//! which can be killed. This module asks the worker, and limits its time and its answer. If
//! something goes wrong, only the filter is lost and not the call, which may have had its effect:
//! the script gets the whole result, and a remark in its log says so.
//!
//! The output of a filter becomes the `structuredContent` of the result, which is what a script
//! gets. Everything else stays as it was, for `tools.raw`. If the server sent a `structuredContent`
//! itself, it is moved to `_meta`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use belljar_model::{JsonBounds, JsonText, ServerSpec, ToolPath, says_error};
use belljar_worker::{AskError, StartError, Worker, WorkerProgram};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::{sync::Semaphore, time::timeout};

use crate::tool_result::{scripts_value, with_filtered};

/// How many workers run at once. Two runs do not wait for each other, and the other cores stay
/// free.
const MAX_WORKERS: usize = 2;
/// Filters that have a worker or wait for one. Further ones are skipped, since each holds its
/// value.
const MAX_FILTERED: usize = 64;
/// How long a filter may wait for a worker, and how long it may then take.
pub const FILTER_TIME: Duration = Duration::from_secs(2);
/// The most bytes of the output for a small value. For a larger value, the output may have as many
/// bytes as the value, since a filter is there to leave something out.
const SMALL_BYTES: usize = 64 * 1024;
/// The most bytes of a worker's answer besides the filter's output.
const OVERHEAD_BYTES: usize = 64 * 1024;
/// The largest answer of a worker: enough for the largest result, even if escaping makes it longer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// How many values one worker filters in its lifetime. Memory that they leave behind is freed when
/// it ends.
const USES: usize = 1_000;

/// A value to filter, as the worker gets it.
#[derive(Debug, Serialize, Deserialize)]
pub struct FilterQuestion<'a> {
    /// The filter, in jq's language.
    #[serde(borrow)]
    pub filter: Cow<'a, str>,
    /// The most bytes of all outputs together.
    pub max_bytes: usize,
    /// The value.
    #[serde(borrow)]
    pub value: &'a RawValue,
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterAnswer {
    /// The outputs of the filter.
    Outputs(Vec<Box<RawValue>>),
    /// Why there is no output.
    Refused(String),
}

/// Why a result was not filtered.
#[derive(Debug, thiserror::Error)]
enum Unfiltered {
    #[error("too many other results are being filtered")]
    Busy,
    #[error("no worker process is available")]
    NoWorker,
    #[error(transparent)]
    NotStarted(#[from] StartError),
    #[error("it had not ended after {} s", FILTER_TIME.as_secs())]
    TimedOut,
    #[error("it ended its process, which may have 2 GiB of memory and 64 MiB of stack")]
    Ended,
    #[error("its answer cannot be understood")]
    NoAnswer,
    #[error("{0}")]
    Refused(String),
    #[error("it gave null; `// []` after a filter gives an empty list in its place")]
    Null,
}

impl Unfiltered {
    /// Whether the same filter fails in the same way for the same value each time.
    fn is_certain(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Null)
    }
}

/// What to tell the author of a script about a filter that was not used.
pub(crate) struct FilterRemark {
    pub(crate) text: String,
    /// Whether a repeated run would get the same remark.
    pub(crate) is_certain: bool,
}

/// The filters of a configuration, and the processes in which they run.
pub(crate) struct ResultFilters {
    filters: BTreeMap<ToolPath, Arc<str>>,
    program: Option<WorkerProgram>,
    turns: Semaphore,
    places: Semaphore,
    idle: Mutex<Vec<Warm>>,
}

struct Warm {
    worker: Worker,
    uses: usize,
}

impl ResultFilters {
    /// The filters of these servers.
    pub(crate) fn of(specs: &[ServerSpec]) -> Self {
        let of_server = |spec: &ServerSpec| {
            let name = spec.name.clone();
            let paths = spec.results.clone().into_iter();
            paths.map(move |(tool, filter)| (ToolPath::new(name.as_str(), tool), Arc::from(filter)))
        };
        Self {
            filters: specs.iter().flat_map(of_server).collect(),
            program: None,
            turns: Semaphore::new(MAX_WORKERS),
            places: Semaphore::new(MAX_FILTERED),
            idle: Mutex::default(),
        }
    }

    /// Sets the program that filters, as a worker process that answers [`FilterQuestion`]s.
    pub(crate) fn with_worker(mut self, program: WorkerProgram) -> Self {
        self.program = Some(program);
        self
    }

    /// The filters of a server, by its tools' names.
    pub(crate) fn of_server(&self, server: &str) -> BTreeMap<String, String> {
        let filters = self.filters.iter().filter(|(path, _)| path.server() == server);
        filters.map(|(path, filter)| (path.tool().to_owned(), filter.to_string())).collect()
    }

    /// The keys under which the shapes of filtered results are kept: a new one for each filter.
    pub(crate) fn kept_as(&self) -> HashMap<ToolPath, ToolPath> {
        let kept_as = |(path, filter): (&ToolPath, &Arc<str>)| {
            let digest: [u8; 32] = Sha256::digest(filter.as_bytes()).into();
            let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            (path.clone(), ToolPath::new(path.server(), format!("{}#filter-{digest}", path.tool())))
        };
        self.filters.iter().map(kept_as).collect()
    }

    /// The result as the script gets it, and what its author should know.
    ///
    /// # Cancellation
    /// The worker is killed, if it was asked.
    pub(crate) async fn take(&self, path: &ToolPath, result: JsonText) -> (JsonText, Option<FilterRemark>) {
        let Some(filter) = self.filters.get(path).filter(|_| !says_error(&result)) else { return (result, None) };
        match self.filtered(filter, &result).await {
            Ok(filtered) => (filtered, None),
            Err(why) => {
                let text = format!(
                    "the filter that belljar's configuration has for results of {path} was not used, and the result is whole: {why}"
                );
                tracing::info!("{text}");
                (result, Some(FilterRemark { text, is_certain: why.is_certain() }))
            }
        }
    }

    async fn filtered(&self, filter: &Arc<str>, result: &JsonText) -> Result<JsonText, Unfiltered> {
        let _place = self.places.try_acquire().map_err(|_| Unfiltered::Busy)?;
        let turn = timeout(FILTER_TIME, self.turns.acquire()).await;
        let _turn = turn.ok().and_then(Result::ok).ok_or(Unfiltered::Busy)?;
        let max_bytes = result.as_str().len().max(SMALL_BYTES);
        let (filter, text) = (filter.clone(), result.clone());
        let question = on_a_thread(move || {
            let value = scripts_value(text.as_str())?;
            serde_json::to_vec(&FilterQuestion { filter: Cow::Borrowed(&filter), max_bytes, value: &value }).ok()
        });
        let question = question.await.ok_or(Unfiltered::NoAnswer)?;
        let answer = self.ask(&question).await?;
        let result = result.clone();
        let joined = on_a_thread(move || Some(joined(&result, &answer, max_bytes)));
        joined.await.unwrap_or(Err(Unfiltered::NoAnswer))
    }

    async fn ask(&self, question: &[u8]) -> Result<Vec<u8>, Unfiltered> {
        let program = self.program.as_ref().ok_or(Unfiltered::NoWorker)?;
        let idle = self.idle.lock().pop();
        let mut warm = match idle {
            Some(warm) => warm,
            None => Warm { worker: Worker::start(program, MAX_ANSWER).await?, uses: 0 },
        };
        let answer = warm.worker.ask(question, FILTER_TIME).await.map_err(|error| match error {
            AskError::TimedOut { .. } => Unfiltered::TimedOut,
            AskError::Ended { .. } => Unfiltered::Ended,
            _ => Unfiltered::NoAnswer,
        })?;
        warm.uses += 1;
        if warm.worker.is_in_step() && warm.uses < USES {
            self.idle.lock().push(warm);
        }
        Ok(answer)
    }
}

/// The result with the filter's output: the single value, or else a list of all.
fn joined(result: &JsonText, answer: &[u8], max_bytes: usize) -> Result<JsonText, Unfiltered> {
    let outputs = match serde_json::from_slice(answer) {
        Ok(FilterAnswer::Outputs(outputs)) => outputs,
        Ok(FilterAnswer::Refused(message)) => return Err(Unfiltered::Refused(message)),
        Err(_) => return Err(Unfiltered::NoAnswer),
    };
    let given = match outputs.as_slice() {
        [only] if only.get() == "null" => return Err(Unfiltered::Null),
        [only] => only.get().to_owned(),
        all => format!("[{}]", all.iter().map(|output| output.get()).collect::<Vec<_>>().join(",")),
    };
    let text = with_filtered(result.as_str(), &given).ok_or(Unfiltered::NoAnswer)?;
    let bytes = result.as_str().len().saturating_add(max_bytes).saturating_add(OVERHEAD_BYTES);
    JsonText::parse(text, &JsonBounds::with_bytes(bytes)).map_err(|error| Unfiltered::Refused(error.to_string()))
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok().flatten()
}
