//! How a start and a call can fail.

use std::{fmt, io, path::PathBuf, process::ExitStatus, sync::Arc, time::Duration};

use belljar_model::{ByteSize, JsonError, Transport, WithheldVariables};

pub(crate) mod remote;

pub use remote::RemoteError;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Its process exited.
    Process(ExitStatus),
    /// It closed its stdin or stdout, and was killed.
    Closed,
    /// It left messages unread for too long, and was killed.
    Unresponsive,
    /// The server inside this process returned or panicked.
    BuiltIn,
    /// The connection to a remote server was lost.
    Remote,
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(status) => status.fmt(formatter),
            Self::Closed => formatter.write_str("it closed its end of the connection"),
            Self::Unresponsive => formatter.write_str("it no longer read its input"),
            Self::BuiltIn => formatter.write_str("the built-in server ended"),
            Self::Remote => formatter.write_str("the connection to it was lost"),
        }
    }
}

/// A step of a start that waits for the child's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartStep {
    /// The MCP handshake.
    Initialize,
    /// The tool list.
    ListTools,
    /// The calls that the owner configured for each start.
    Activate,
}

impl fmt::Display for StartStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Initialize => "initialize",
            Self::ListTools => "tools/list",
            Self::Activate => "the calls of on_start",
        })
    }
}

/// Why a child could not be started. Its text is one line; [`StartError::hint`] says what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No such server is configured.
    #[error("no server named '{name}' is configured")]
    UnknownServer {
        /// The requested name.
        name: String,
        /// The configured name that was probably meant.
        nearest: Option<String>,
    },
    /// [`Upstream::shutdown`](crate::Upstream::shutdown) has begun.
    #[error("belljar is shutting down and starts no more servers")]
    ShuttingDown,
    /// The program does not exist.
    #[error("the command '{command}' was not found")]
    CommandNotFound {
        /// As configured.
        command: String,
    },
    /// The configured working directory does not exist.
    #[error("the working directory '{}' does not exist", path.display())]
    NoDirectory {
        /// As configured.
        path: PathBuf,
    },
    /// The program exists and the system refuses to execute it.
    #[error("the command '{command}' cannot be executed: {source}")]
    CannotExecute {
        /// As configured.
        command: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The walls of its `sandbox` cannot be built, so it is not started.
    #[error("the server's sandbox cannot be set up: {reason}")]
    Sandbox {
        /// What is missing.
        reason: String,
    },
    /// The child ended before it was ready.
    #[error("the server exited during its start ({exit}){}", LastWords(stderr))]
    Exited {
        /// How it ended.
        exit: Exit,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The child did not answer in time, and was killed.
    #[error("the server did not answer {step} within {limit:?} of its start{}", LastWords(stderr))]
    NoAnswer {
        /// The step that it did not answer.
        step: StartStep,
        /// The time that the whole start may take.
        limit: Duration,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The child answered with an error, or with something invalid.
    #[error("the server failed {step}: {message}{}", LastWords(stderr))]
    Protocol {
        /// The step that it answered like this.
        step: StartStep,
        /// What was wrong, shortened.
        message: String,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// A call that the owner configured for each start failed.
    #[error("the call of '{tool}' in 'on_start' failed: {message}")]
    Activation {
        /// The tool.
        tool: String,
        /// What was wrong, in one line.
        message: String,
    },
    /// It failed too often, and is left alone for a while.
    #[error("the server failed {failures} times in a row and is left alone for {}: {last}", Rounded(*retry_in))]
    Open {
        /// How often.
        failures: usize,
        /// The last failure.
        last: String,
        /// When it is tried again.
        retry_in: Duration,
    },
    /// The remote server cannot be used.
    #[error("{fault}")]
    Remote {
        /// Why.
        fault: RemoteError,
    },
    /// The transport is known but not supported yet.
    #[error("the transport '{transport}' is not supported yet")]
    TransportNotSupported {
        /// The transport's name.
        transport: &'static str,
    },
    /// The host registered no built-in server of that name.
    #[error("there is no built-in server named '{name}'")]
    UnknownBuiltIn {
        /// As configured.
        name: String,
    },
    /// Another error, of a program that did not get variables that it might have needed.
    #[error("{fault}")]
    Without {
        /// What went wrong.
        fault: Box<StartError>,
        /// The names of the variables, in words.
        variables: String,
    },
    /// The start was given up half-way because belljar itself stopped or failed.
    #[error("the start was interrupted")]
    Interrupted,
}

impl StartError {
    /// The same error, with the withheld variables that the server's program might have needed.
    pub(crate) fn without(self, transport: &Transport, withheld: &WithheldVariables) -> Self {
        match (&self, transport) {
            (Self::Exited { .. } | Self::NoAnswer { .. } | Self::Protocol { .. }, Transport::Stdio(command)) => {
                match withheld.told_of(command) {
                    Some(variables) => Self::Without { fault: Box::new(self), variables },
                    None => self,
                }
            }
            _ => self,
        }
    }

    /// What happened, in one line.
    pub fn reason(&self) -> String {
        self.to_string()
    }

    /// A hint, if there is one.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownServer { nearest: Some(nearest), .. } => format!("did you mean '{nearest}'?"),
            Self::CommandNotFound { command } => format!(
                "check that '{command}' is installed, and that it is a full path or in a folder of the PATH given to child servers"
            ),
            Self::NoDirectory { .. } => "create the folder, or correct 'cwd' in the configuration".to_owned(),
            Self::CannotExecute { command, .. } => {
                format!("check that '{command}' is a program for this system, and marked as executable")
            }
            Self::Sandbox { .. } => {
                "allow what is missing in the server's 'sandbox' of the configuration; without 'sandbox' it runs with your own rights"
                    .to_owned()
            }
            Self::Exited { .. } => {
                "run the command by hand to see its full output; a missing argument or variable is the usual cause"
                    .to_owned()
            }
            Self::NoAnswer { limit, .. } => {
                format!("if the server is only slow to start, raise its start_timeout (now {limit:?})")
            }
            Self::Protocol { .. } => {
                "check that the command starts an MCP server on stdio, and nothing else".to_owned()
            }
            Self::Activation { tool, .. } => {
                format!("check the arguments of '{tool}' in 'on_start' of the configuration")
            }
            Self::Without { fault, variables } => {
                let missing = format!(
                    "of the environment that belljar was started in, it did not get {variables}: if it needs one of them, name that in 'inherit' of [children] in belljar.toml"
                );
                match fault.hint() {
                    Some(hint) => format!("{hint}; {missing}"),
                    None => missing,
                }
            }
            Self::Open { .. } => "fix the cause; belljar then tries again".to_owned(),
            Self::Remote { fault } => fault.hint(),
            Self::TransportNotSupported { .. } => {
                "bridge it: use the command `npx` with the arguments `-y mcp-remote URL`".to_owned()
            }
            Self::UnknownServer { .. } | Self::UnknownBuiltIn { .. } => {
                "correct the name in the configuration".to_owned()
            }
            Self::ShuttingDown | Self::Interrupted => return None,
        })
    }
}

/// Why a call has no result. A tool that fails is a result, and not among these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No such server is configured.
    #[error("no server named '{name}' is configured")]
    UnknownServer {
        /// What was asked for.
        name: String,
        /// The configured name that was probably meant.
        nearest: Option<String>,
    },
    /// The server could not be started.
    #[error("server '{server}' is not available: {fault}")]
    Unavailable {
        /// Its name.
        server: String,
        /// Why.
        fault: Arc<StartError>,
    },
    /// The child died during the call, which may already have taken effect. It is not repeated.
    #[error("server '{server}' died during the call ({})", Ending(exit, stderr))]
    Died {
        /// Its name.
        server: String,
        /// How it ended, if that became known in time.
        exit: Option<Exit>,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The child did not answer in time. The call was cancelled, but may still take effect.
    #[error("tool '{tool}' of server '{server}' did not answer within {limit:?}")]
    Timeout {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// The limit that was exceeded.
        limit: Duration,
    },
    /// The result is larger than allowed.
    #[error("the result is larger than {limit}")]
    TooLarge {
        /// The limit.
        limit: ByteSize,
    },
    /// The result is not a JSON object, nests too deep or holds too many values.
    #[error("the server answered with a result that cannot be used: {0}")]
    Malformed(MalformedResult),
    /// The child refused the call with a JSON-RPC error.
    #[error("{message} (JSON-RPC error {code})")]
    Protocol {
        /// The JSON-RPC code.
        code: i32,
        /// The child's message, shortened and made one line.
        message: String,
    },
    /// Too many calls wait for the server already.
    #[error("{waiting} calls wait for server '{server}' already")]
    QueueFull {
        /// Its name.
        server: String,
        /// How many may wait.
        waiting: usize,
    },
    /// The call waited too long for others of the same server to end. It was not sent.
    #[error("the call waited for {limit:?} until server '{server}' had time for it, and was not sent")]
    QueueTimeout {
        /// Its name.
        server: String,
        /// How long it waited.
        limit: Duration,
    },
    /// A stateful server was lost since the last call. The call was not sent.
    #[error("server '{server}' was lost ({how}), and its state with it; the call was not sent")]
    StateLost {
        /// Its name.
        server: String,
        /// How it was lost.
        how: String,
    },
    /// A path argument leads to a place that is not allowed. The call was not sent.
    #[error("the argument '{argument}' is a path that is refused: {problem}{}", Guidance(guidance))]
    Path {
        /// The argument.
        argument: String,
        /// Why.
        problem: String,
        /// The owner's message about that.
        guidance: Option<String>,
    },
    /// The call does not say which instance of the server it is for, or names an impossible one. It
    /// was not sent.
    #[error(
        "server '{server}' has an instance for each '{argument}', and the call does not say a usable one: {problem}"
    )]
    Key {
        /// The server's name.
        server: String,
        /// The argument that identifies it.
        argument: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// All instances that the server may have are in use and hold state.
    #[error("server '{server}' already has {limit} instances, and none of them can be stopped because they hold state")]
    NoInstance {
        /// Its name.
        server: String,
        /// How many it may have.
        limit: usize,
    },
    /// There is no room for an instance for another principal.
    #[error(
        "server '{server}' cannot be started for '{principal}': {limit} instances for principals exist, and none can be stopped now"
    )]
    NoPlace {
        /// Its name.
        server: String,
        /// The principal.
        principal: String,
        /// How many there may be.
        limit: usize,
    },
    /// The tool wants to ask its caller something, which belljar does not pass on.
    #[error("tool '{tool}' asks for more input than its arguments, and no client here can be asked")]
    InputRequired {
        /// The tool's name.
        tool: String,
    },
    /// belljar stopped the server during the call.
    #[error("the call was cancelled: server '{server}' is being stopped")]
    Cancelled {
        /// Its name.
        server: String,
    },
}

/// What is wrong with a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedResult {
    /// It is beyond the bounds of JSON that belljar handles.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It has a number that no tree can hold.
    #[error("not JSON: {0}")]
    Tree(#[from] serde_json::Error),
    /// It is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
}

impl CallError {
    /// A hint, if there is one.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownServer { nearest, .. } => format!("did you mean '{}'?", nearest.as_ref()?),
            Self::Unavailable { fault, .. } => return fault.hint(),
            Self::Died { .. } => {
                "the next call starts the server again; check first whether this one had its effect".to_owned()
            }
            Self::Timeout { .. } => "ask for less in one call, or raise the time limit of calls".to_owned(),
            Self::TooLarge { .. } => "ask for less: a filter, a smaller page, fewer fields".to_owned(),
            Self::QueueFull { .. } => "make fewer calls at the same time".to_owned(),
            Self::QueueTimeout { .. } => "make fewer calls at the same time, or shorter ones".to_owned(),
            Self::StateLost { .. } => {
                "it is started again; restore its state first (log in, open, activate), and then repeat the call"
                    .to_owned()
            }
            Self::Key { argument, .. } => {
                format!(
                    "pass '{argument}' with every call; a path must be listed in the server's 'paths.arguments' by belljar's owner"
                )
            }
            Self::NoInstance { .. } => "use one of the instances that there are, or raise 'instances'".to_owned(),
            Self::NoPlace { .. } => {
                "try again later; belljar's owner can let all principals share an instance with share = \"owner\""
                    .to_owned()
            }
            Self::InputRequired { .. } => "use another tool, or give it all it needs in its arguments".to_owned(),
            Self::Malformed(_) | Self::Protocol { .. } | Self::Path { .. } | Self::Cancelled { .. } => return None,
        })
    }
}

/// The owner's message, as the end of a sentence.
struct Guidance<'a>(&'a Option<String>);

impl fmt::Display for Guidance<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(guidance) => write!(formatter, ". {guidance}"),
            None => Ok(()),
        }
    }
}

/// A duration in words.
struct Rounded(Duration);

impl fmt::Display for Rounded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            0 => formatter.write_str("less than a second"),
            1 => formatter.write_str("a second"),
            seconds => write!(formatter, "{seconds} seconds"),
        }
    }
}

/// How a child ended, and its last words.
struct Ending<'a>(&'a Option<Exit>, &'a [String]);

impl fmt::Display for Ending<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            // These are our own words.
            (Some(Exit::Remote), [fault]) => formatter.write_str(fault),
            (Some(exit), words) => write!(formatter, "{exit}{}", LastWords(words)),
            (None, _) => formatter.write_str("the connection ended"),
        }
    }
}

/// The last few lines of stderr as the end of a sentence. Lines have no line breaks and are
/// bounded.
struct LastWords<'a>(&'a [String]);

impl fmt::Display for LastWords<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_LINES: usize = 3;
        const SHOWN_CHARS: usize = 200;
        let Some(shown) = self.0.get(self.0.len().saturating_sub(SHOWN_LINES)..).filter(|shown| !shown.is_empty())
        else {
            return Ok(());
        };
        formatter.write_str("; its stderr ended with:")?;
        for (index, line) in shown.iter().enumerate() {
            let separator = if index == 0 { "" } else { " |" };
            write!(formatter, "{separator} {}", crate::text::one_line(line, SHOWN_CHARS))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_happened_and_what_to_try() {
        let stderr = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let fault = StartError::Exited { exit: Exit::Closed, stderr };
        assert_eq!(
            fault.reason(),
            "the server exited during its start (it closed its end of the connection); its stderr ended with: b | c | d"
        );
        let limit = Duration::from_secs(20);
        let fault = StartError::NoAnswer { step: StartStep::Initialize, limit, stderr: Vec::new() };
        assert_eq!(fault.reason(), "the server did not answer initialize within 20s of its start");
        assert!(fault.hint().expect("a hint").contains("start_timeout"));
    }
}
