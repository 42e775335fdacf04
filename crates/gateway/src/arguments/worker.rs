//! Runs checks that are too large for a thread that others wait for, in a worker process that can
//! be killed.
//!
//! A worker stays warm and keeps the schemas that it was sent. One that fails is dropped, and the
//! next check starts another.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    io,
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use belljar_arguments::{Compiled, Plan};
use belljar_worker::{AskError, Bounds, FrameError, Role, StartError, Worker, WorkerProgram};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::{sync::Semaphore, time::timeout};

/// How many workers run at once. Two tools with large checks do not wait for each other, and the
/// other cores are left to the runs.
const MAX_WORKERS: usize = 2;
/// Checks that have a worker or wait for one. Further ones are skipped: each holds its arguments
/// twice.
const MAX_CHECKS: usize = 32;
/// How long a check may wait for a worker, and how long it may then take, including the compilation
/// of its schema. A longer check is not worth the delay of its call.
const TIME: Duration = Duration::from_secs(2);
/// The address space of a worker, in bytes: its program, its stack, the arguments as a tree, and
/// the schemas that it keeps.
const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
/// The stack of a worker, in bytes, for schemas with long chains of references.
const STACK: usize = 256 * 1024 * 1024;
/// Open files of a worker: stdin, stdout, stderr, and a few for the system's libraries.
const DESCRIPTORS: u64 = 16;
/// The longest request, in bytes.
const MAX_REQUEST: usize = 64 * 1024 * 1024;
/// The longest answer, in bytes: problems are few and short.
const MAX_ANSWER: usize = 256 * 1024;
/// How many schemas one worker compiles in its lifetime. Their memory is freed when it ends.
const MAX_SCHEMAS: usize = 16;

/// Why a check was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unchecked {
    #[error("too many other checks are under way")]
    Busy,
    #[error("the arguments have more than {limit} bytes")]
    TooLong { limit: usize },
    #[error(transparent)]
    NotStarted(#[from] StartError),
    #[error(transparent)]
    Failed(#[from] AskError),
    #[error("{0}")]
    Unfit(String),
    #[error("the worker's answer cannot be understood")]
    NoAnswer,
}

/// The worker processes of one toolbox.
#[derive(Debug)]
pub(crate) struct CheckWorkers {
    program: WorkerProgram,
    turns: Semaphore,
    places: Semaphore,
    idle: Mutex<Vec<Warm>>,
}

/// A worker, and the numbers of the schemas that it has.
#[derive(Debug)]
struct Warm {
    worker: Worker,
    schemas: HashSet<u64>,
}

/// A question. The schema is sent with the first question about it.
#[derive(Serialize, Deserialize)]
struct Question<'a> {
    number: u64,
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// The worker's answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// The arguments are what the schema asks for.
    Fits,
    /// What is wrong with them.
    Problems(String),
    /// The schema cannot be used.
    Unfit(String),
}

impl CheckWorkers {
    pub(crate) fn new(program: WorkerProgram) -> Self {
        Self { program, turns: Semaphore::new(MAX_WORKERS), places: Semaphore::new(MAX_CHECKS), idle: Mutex::default() }
    }

    /// Checks `arguments` against the schema of this number.
    ///
    /// # Cancellation
    /// The worker is killed, if it was asked.
    pub(super) async fn problems(
        &self,
        number: u64,
        schema: &Arc<RawValue>,
        arguments: &Arc<Value>,
    ) -> Result<Option<String>, Unchecked> {
        let _place = self.places.try_acquire().map_err(|_| Unchecked::Busy)?;
        let turn = timeout(TIME, self.turns.acquire()).await;
        let _turn = turn.ok().and_then(Result::ok).ok_or(Unchecked::Busy)?;
        if let Some(warm) = self.idle(number) {
            match self.ask(warm, number, schema, arguments).await {
                // Earlier checks may have caused it, so a new worker gets a full try.
                Err(Unchecked::Failed(AskError::Ended { .. })) => {}
                answered => return answered,
            }
        }
        let worker = Worker::start(&self.program, MAX_ANSWER).await?;
        self.ask(Warm { worker, schemas: HashSet::new() }, number, schema, arguments).await
    }

    /// Takes an idle worker, preferably one that has the schema.
    fn idle(&self, number: u64) -> Option<Warm> {
        let mut idle = self.idle.lock();
        let having = idle.iter().position(|warm| warm.schemas.contains(&number));
        match having {
            Some(position) => Some(idle.swap_remove(position)),
            None => idle.pop(),
        }
    }

    async fn ask(
        &self,
        mut warm: Warm,
        number: u64,
        schema: &Arc<RawValue>,
        arguments: &Arc<Value>,
    ) -> Result<Option<String>, Unchecked> {
        let schema = warm.schemas.insert(number).then(|| schema.clone());
        let question = written(number, schema, arguments.clone()).await?;
        let answer = warm.worker.ask(&question, TIME).await?;
        if warm.worker.is_in_step() && warm.schemas.len() < MAX_SCHEMAS {
            self.idle.lock().push(warm);
        }
        match serde_json::from_slice(&answer) {
            Ok(Said::Fits) => Ok(None),
            Ok(Said::Problems(problems)) => Ok(Some(problems)),
            Ok(Said::Unfit(reason)) => Err(Unchecked::Unfit(reason)),
            Err(_) => Err(Unchecked::NoAnswer),
        }
    }
}

/// Writes a question on a blocking thread, since arguments may be large.
async fn written(number: u64, schema: Option<Arc<RawValue>>, arguments: Arc<Value>) -> Result<Vec<u8>, Unchecked> {
    let write = move || {
        let arguments = serde_json::value::to_raw_value(&*arguments).ok()?;
        serde_json::to_vec(&Question { number, schema: schema.as_deref(), arguments: &arguments }).ok()
    };
    let written = tokio::task::spawn_blocking(write).await.ok().flatten();
    // A JSON value can always be written, so only memory can be missing.
    written.filter(|text| text.len() <= MAX_REQUEST).ok_or(Unchecked::TooLong { limit: MAX_REQUEST })
}

/// Answers questions until there are no more, as a process of its own: the program that is named in
/// [`Toolbox::with_check_worker`](crate::Toolbox::with_check_worker) calls this first, with what
/// follows the arguments named there, and ends when it returns.
pub fn check_arguments(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let bounds = Bounds { memory: Some(MEMORY), descriptors: Some(DESCRIPTORS), processor_time: Some(TIME) };
    let Ok(role) = Role::begin(arguments, bounds, MAX_REQUEST) else { return ExitCode::from(2) };
    // The main thread's stack is the system's choice, so this uses its own thread.
    let served = thread::Builder::new().stack_size(STACK).spawn(move || serve(role));
    match served.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::from(3),
    }
}

fn serve(mut role: Role) -> Result<(), FrameError> {
    let mut schemas = HashMap::new();
    while let Some(question) = role.receive()? {
        let said = said(&mut schemas, &question).unwrap_or_else(|error| Said::Unfit(error.to_string()));
        role.send(&serde_json::to_vec(&said).map_err(io::Error::from)?)?;
    }
    Ok(())
}

fn said(schemas: &mut HashMap<u64, Compiled>, question: &[u8]) -> Result<Said, serde_json::Error> {
    let question: Question<'_> = serde_json::from_slice(question)?;
    if let Some(schema) = question.schema {
        let schema: Value = serde_json::from_str(schema.get())?;
        match Plan::of(&schema).and_then(|_| Compiled::new(schema)) {
            Ok(compiled) => schemas.insert(question.number, compiled),
            Err(unfit) => return Ok(Said::Unfit(unfit.to_string())),
        };
    }
    let Some(schema) = schemas.get(&question.number) else { return Ok(Said::Unfit("there is no such schema".into())) };
    let arguments: Value = serde_json::from_str(question.arguments.get())?;
    Ok(schema.problems(&arguments).map_or(Said::Fits, Said::Problems))
}
