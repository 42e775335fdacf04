//! `serve`: its arguments, and where it listens.

use std::{net::SocketAddr, path::Path, time::Duration};

use clap::Args;

use super::ConfigArguments;

#[derive(Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Uses the daemon's servers, which it shares with commands and other clients.
    #[arg(long)]
    pub(crate) daemon: bool,
    /// Serves HTTP at this address instead of stdin and stdout; without an address, at
    /// 127.0.0.1:8765.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765")]
    pub(crate) http: Option<SocketAddr>,
    /// Serves HTTP at a Unix socket for processes of this user, which need no token.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<std::path::PathBuf>,
    /// With --http: a host name that clients may use for this server, such as that of a proxy in
    /// front of it.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// With --http: an origin whose pages may send requests, such as `https://app.example`.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// With --http: serves belljar's page at /ui, for tokens with the scope admin. Anyone with such
    /// a token sees everything there, and can decide about calls in your place.
    #[arg(long, requires = "http", conflicts_with = "daemon")]
    pub(crate) ui: bool,
    /// How long a run may take before it becomes a task, for clients that support tasks; or
    /// `never`.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = task_after)]
    pub(crate) task_after: TaskAfter,
    /// A name for this entry, which rules in policy.toml can match.
    #[arg(long, value_name = "NAME", conflicts_with = "daemon")]
    pub(crate) profile: Option<String>,
    /// The workspace of all clients, which separates the data that is kept between runs [default:
    /// the client's first root, or else the current folder].
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
}

impl ServeArguments {
    /// Whether it serves HTTP, in place of stdin and stdout.
    pub(crate) fn is_over_http(&self) -> bool {
        self.http.is_some() || self.socket().is_some()
    }

    /// The requested Unix socket. The option exists only on Unix.
    pub(crate) fn socket(&self) -> Option<&Path> {
        #[cfg(unix)]
        let socket = self.socket.as_deref();
        #[cfg(not(unix))]
        let socket = None;
        socket
    }
}

/// When a run becomes a task, or `None` if no run does.
#[derive(Clone, Copy)]
pub(crate) struct TaskAfter(pub(crate) Option<Duration>);

fn task_after(text: &str) -> Result<TaskAfter, humantime::DurationError> {
    match text {
        "never" => Ok(TaskAfter(None)),
        _ => humantime::parse_duration(text).map(|after| TaskAfter(Some(after))),
    }
}
