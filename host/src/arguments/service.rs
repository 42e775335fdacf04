//! Processes that stay: `serve`, its tokens, and `daemon`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use belljar_http::Scope;
use clap::{Args, Subcommand};

use super::common::ConfigArguments;

#[derive(Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Uses the daemon's servers, which it shares with commands and other clients.
    #[arg(long)]
    pub(crate) daemon: bool,
    /// Serves HTTP at this address, in place of stdin and stdout; 127.0.0.1:8765 if none is named.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765")]
    pub(crate) http: Option<SocketAddr>,
    /// Serves HTTP at a Unix socket, for processes of this user, who need no token there.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// With --http: a name that clients may have for this server, such as that of a proxy in front of it.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// With --http: an origin whose pages may send requests, as `https://app.example`.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// How long a run takes before a client that knows tasks gets one, and asks for the result later; or `never`.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = task_after)]
    pub(crate) task_after: TaskAfter,
    /// A name for this entry, which rules in policy.toml can ask for.
    #[arg(long, value_name = "NAME", conflicts_with = "daemon")]
    pub(crate) profile: Option<String>,
}

/// When a run becomes a task; nothing, where none does.
#[derive(Clone, Copy)]
pub(crate) struct TaskAfter(pub(crate) Option<Duration>);

fn task_after(text: &str) -> Result<TaskAfter, humantime::DurationError> {
    match text {
        "never" => Ok(TaskAfter(None)),
        _ => humantime::parse_duration(text).map(|after| TaskAfter(Some(after))),
    }
}

impl ServeArguments {
    /// Whether it serves HTTP, in place of stdin and stdout.
    pub(crate) fn is_over_http(&self) -> bool {
        #[cfg(unix)]
        let has_socket = self.socket.is_some();
        #[cfg(not(unix))]
        let has_socket = false;
        self.http.is_some() || has_socket
    }
}

#[derive(Args)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and shows it, once.
    Add {
        /// Whose it is: the principal that its requests are of.
        name: String,
        /// What it is good for: search, run, run:read-only, or admin, which is all of these; may be repeated
        /// [default: search and run].
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<Scope>,
        #[command(flatten)]
        owner: TokenOwner,
    },
    /// Shows the names and scopes of all tokens.
    List {
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Gives a token a new secret and shows it, once. The old one is good no more.
    Rotate {
        /// Whose it is.
        name: String,
        #[command(flatten)]
        owner: TokenOwner,
    },
    /// Removes a token.
    Remove {
        /// Whose it is.
        name: String,
        #[command(flatten)]
        owner: TokenOwner,
    },
}

/// How the owner says that they want it.
#[derive(Args)]
pub(crate) struct TokenOwner {
    /// Does it without a person typing a code, where the owner's belljar.toml says `allow_yes = true` for approvals.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl TokenCommand {
    pub(super) fn is_json(&self) -> bool {
        matches!(self, Self::List { json: true })
    }
}

#[derive(Args)]
pub(crate) struct DaemonArguments {
    #[command(subcommand)]
    pub(crate) command: DaemonCommand,
}

#[derive(Subcommand)]
pub(crate) enum DaemonCommand {
    /// Starts it, if it is not running.
    Start(DaemonOptions),
    /// Shows what it is and does; exit code 1 where there is none.
    Status(DaemonOptions),
    /// Ends it, when what it has running has ended.
    Stop(DaemonOptions),
    /// Has it read its configuration again; what runs goes on with the servers that it began with.
    Reload(DaemonOptions),
    /// Ends it and starts a new one.
    Restart(DaemonOptions),
    /// Is the daemon, in this process.
    #[command(hide = true)]
    Run(DaemonOptions),
}

#[derive(Args)]
pub(crate) struct DaemonOptions {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl DaemonCommand {
    pub(crate) fn options(&self) -> &DaemonOptions {
        match self {
            Self::Start(options)
            | Self::Status(options)
            | Self::Stop(options)
            | Self::Reload(options)
            | Self::Restart(options)
            | Self::Run(options) => options,
        }
    }
}
