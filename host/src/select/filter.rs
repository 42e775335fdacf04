//! A filter, from the command's side.

use belljar_model::{ErrorKind, RunError};
use belljar_worker::{AskError, Worker};
use serde_json::Value;

use super::{OUTPUT_BYTES, Said, TIME, WORKER};
use crate::{environment, failure::Failure};

/// The most bytes of an answer: outputs are texts inside JSON, where a byte takes six at most.
const ANSWER_BYTES: usize = 6 * OUTPUT_BYTES + 1024 * 1024;

/// A valid filter that waits for its value. Dropping it ends it.
pub(crate) struct Filter {
    worker: Worker,
}

/// The result of a filter.
pub(crate) struct Selected {
    pub(crate) outputs: Vec<Value>,
    /// Roughly how many tokens more the value would have taken.
    pub(crate) tokens_spared: usize,
}

impl Selected {
    /// The value if there is one output, else a list of all.
    pub(crate) fn into_value(mut self) -> Value {
        match self.outputs.pop() {
            Some(only) if self.outputs.is_empty() => only,
            last => {
                self.outputs.extend(last);
                Value::Array(self.outputs)
            }
        }
    }
}

impl Filter {
    /// Parses the filter, so that an invalid one is refused before the call is made.
    pub(crate) async fn new(expression: &str) -> Result<Self, Failure> {
        let program = environment::own_worker(WORKER)
            .ok_or_else(|| Failure::internal("belljar's own program cannot be found"))?;
        let worker = Worker::start(&program, ANSWER_BYTES).await;
        let mut filter = Self { worker: worker.map_err(|error| Failure::internal(format!("--select: {error}")))? };
        match filter.ask(expression.as_bytes()).await? {
            Said::Ready => Ok(filter),
            Said::Refused { message, hint } => Err(refused(message, hint)),
            Said::Outputs(_) => Err(Failure::internal("the filter answered before it was asked")),
        }
    }

    /// Applies the filter to `value`.
    pub(crate) async fn apply(mut self, value: &Value) -> Result<Selected, Failure> {
        let text = value.to_string();
        let said = self.ask(text.as_bytes()).await?;
        let outputs = match said {
            Said::Outputs(outputs) => outputs,
            Said::Refused { message, hint } => return Err(refused(message, hint)),
            Said::Ready => return Err(Failure::internal("the filter's process was ready twice")),
        };
        let bytes: usize = outputs.iter().map(String::len).sum();
        let outputs = outputs.iter().enumerate().map(|(index, output)| {
            serde_json::from_str(output).map_err(|_| {
                refused(
                    format!("value {} of the filter is not JSON", index + 1),
                    Some("JSON has no NaN, no infinite numbers, no bytes, and only texts as keys".to_owned()),
                )
            })
        });
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok(Selected { outputs, tokens_spared: text.len().saturating_sub(bytes) / 4 })
    }

    /// The process's answer to a request, within [`TIME`].
    async fn ask(&mut self, request: &[u8]) -> Result<Said, Failure> {
        match self.worker.ask(request, TIME).await {
            Ok(answer) => serde_json::from_slice(&answer)
                .map_err(|error| Failure::internal(format!("the filter's answer cannot be understood: {error}"))),
            Err(AskError::TimedOut { limit }) => Err(refused(
                format!("the filter had not ended after {} s", limit.as_secs()),
                Some("first(…) and limit(10; …) end a filter early".to_owned()),
            )),
            Err(AskError::Ended { stderr, .. }) => Err(ended(&stderr)),
            Err(error @ (AskError::Frame(_) | AskError::OutOfStep)) => {
                Err(Failure::internal(format!("--select: {error}")))
            }
        }
    }
}

/// Why there is no answer: exceeding the stack or the memory ends the process.
fn ended(complaint: &str) -> Failure {
    let message = if complaint.contains("overflowed its stack") {
        "the filter recursed too deep"
    } else if complaint.contains("memory allocation") || complaint.contains("capacity overflow") {
        "the filter needs more memory than 2 GiB"
    } else {
        "the filter ended without an answer"
    };
    let hint = "limit(10; …), first(…) and a smaller selection need less";
    refused(message.to_owned(), Some(hint.to_owned()))
}

fn refused(message: String, hint: Option<String>) -> Failure {
    let error = RunError::new(ErrorKind::Usage, format!("--select: {message}"));
    match hint {
        Some(hint) => error.with_hint(hint).into(),
        None => error.into(),
    }
}
