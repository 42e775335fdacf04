//! A filter, from the command that wants it.

use std::process::Stdio;

use belljar_model::{ErrorKind, RunError};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::{OUTPUT_BYTES, Said, TIME, WORKER};
use crate::failure::Failure;

/// The most bytes of the other process's complaints that are looked at.
const STDERR_BYTES: u64 = 4096;
/// The most bytes of a line of it: outputs are texts inside JSON, where a byte takes six at most.
const LINE_BYTES: u64 = 6 * OUTPUT_BYTES as u64 + 1024 * 1024;

/// A filter that is right, and waits for its value. Dropping it ends it.
pub(crate) struct Filter {
    process: Child,
    answers: BufReader<ChildStdout>,
}

/// What a filter gave.
pub(crate) struct Selected {
    pub(crate) outputs: Vec<Value>,
    /// About how many tokens the value would have taken more.
    pub(crate) tokens_spared: usize,
}

impl Selected {
    /// One value for one output, else a list of all.
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
    /// Reads the filter, so that a wrong one is refused before the call that it is for.
    pub(crate) async fn new(expression: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal(format!("belljar's own program cannot be found: {error}")))?;
        let mut process = Command::new(program)
            .args([WORKER, expression])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::internal(format!("the filter's process cannot be started: {error}")))?;
        let stdout = process.stdout.take().ok_or_else(|| Failure::internal("the filter's process has no stdout"))?;
        let mut filter = Self { process, answers: BufReader::new(stdout) };
        match filter.said().await? {
            Said::Ready => Ok(filter),
            Said::Refused { message, hint } => Err(refused(message, hint)),
            Said::Outputs(_) => Err(Failure::internal("the filter answered before it was asked")),
        }
    }

    /// What the filter makes of `value`.
    pub(crate) async fn apply(mut self, value: &Value) -> Result<Selected, Failure> {
        let text = value.to_string();
        let stdin = self.process.stdin.take();
        let hand_over = async {
            if let Some(mut stdin) = stdin {
                // Why it does not read all of it shows in its answer.
                let _ = stdin.write_all(text.as_bytes()).await;
            }
            std::future::pending().await
        };
        let said = tokio::select! {
            said = self.said() => said?,
            said = hand_over => said,
        };
        let outputs = match said {
            Said::Outputs(outputs) => outputs,
            Said::Refused { message, hint } => return Err(refused(message, hint)),
            Said::Ready => return Err(Failure::internal("the filter's process was ready twice")),
        };
        let bytes: usize = outputs.iter().map(String::len).sum();
        let outputs = outputs.iter().enumerate().map(|(index, output)| {
            serde_json::from_str(output).map_err(|_| {
                refused(
                    format!("value {} of the filter is no JSON", index + 1),
                    Some(
                        "NaN, infinite numbers, bytes and keys that are no texts cannot be written as JSON".to_owned(),
                    ),
                )
            })
        });
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok(Selected { outputs, tokens_spared: text.len().saturating_sub(bytes) / 4 })
    }

    /// The next line of the process, which has [`TIME`] for it.
    async fn said(&mut self) -> Result<Said, Failure> {
        let mut line = Vec::new();
        let mut answers = (&mut self.answers).take(LINE_BYTES);
        match timeout(TIME, answers.read_until(b'\n', &mut line)).await {
            Ok(Ok(_)) if line.ends_with(b"\n") => serde_json::from_slice(&line)
                .map_err(|error| Failure::internal(format!("the filter's answer cannot be understood: {error}"))),
            Ok(_) => Err(self.ended().await),
            Err(_) => Err(refused(
                format!("the filter had not ended after {} s", TIME.as_secs()),
                Some("first(…) and limit(10; …) end a filter early".to_owned()),
            )),
        }
    }

    /// Why there is no answer: what filled the stack or the memory has ended the process.
    async fn ended(&mut self) -> Failure {
        let mut complaint = Vec::new();
        if let Some(stderr) = self.process.stderr.take() {
            // What cannot be read is not told.
            let _ = timeout(TIME, stderr.take(STDERR_BYTES).read_to_end(&mut complaint)).await;
        }
        let complaint = String::from_utf8_lossy(&complaint);
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
}

fn refused(message: String, hint: Option<String>) -> Failure {
    let error = RunError::new(ErrorKind::Usage, format!("--select: {message}"));
    match hint {
        Some(hint) => error.with_hint(hint).into(),
        None => error.into(),
    }
}
