//! Which servers there are, and who knows of belljar: `servers`, `add`, `remove`, `import`, `login` and `install`.

use std::path::PathBuf;

use belljar_config::import::Client;
use belljar_http::Scope;
use clap::{Args, ValueEnum};

use super::common::{ConfigArguments, NoDaemon};
use crate::help;

#[derive(Args)]
#[command(after_help = help::SERVERS)]
pub(crate) struct ServersArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::ADD)]
pub(crate) struct AddArguments {
    /// What scripts and commands will call it.
    pub(crate) name: String,
    /// The address of a remote server.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env"])]
    pub(crate) url: Option<String>,
    /// A header for each request to it, as in 'Authorization: Bearer ${TOKEN}'.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// A variable of the program's environment, as in 'TOKEN=${TOKEN}'.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// The program that is the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// It keeps a state that must not be lost: it is not stopped for being idle.
    #[arg(long)]
    pub(crate) stateful: bool,
    /// It is started with the daemon, and not only when it is needed.
    #[arg(long)]
    pub(crate) warm: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::REMOVE)]
pub(crate) struct RemoveArguments {
    /// The server's name.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// An MCP client.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallClient {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
}

#[derive(Args)]
#[command(after_help = help::INSTALL)]
pub(crate) struct InstallArguments {
    /// The client.
    pub(crate) client: InstallClient,
    /// Writes without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Takes the entry out again.
    #[arg(long)]
    pub(crate) undo: bool,
    /// An entry for a running `belljar serve --http`, with a new token, in place of one that starts belljar; at
    /// http://127.0.0.1:8765/mcp if no URL is given.
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "http://127.0.0.1:8765/mcp",
        conflicts_with_all = ["undo", "config"]
    )]
    pub(crate) http: Option<String>,
    /// With --http: the name of the token, and so of the principal [default: the client's name].
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_name: Option<String>,
    /// With --http: what the token is good for, as for `belljar token add`.
    #[arg(long, value_name = "SCOPE", requires = "http")]
    pub(crate) scope: Vec<Scope>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::LOGIN)]
pub(crate) struct LoginArguments {
    /// The server, by its name in the configuration.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::IMPORT)]
pub(crate) struct ImportArguments {
    /// Only of this file or client: claude-desktop, claude-code, cursor or vscode [default: the
    /// user's own files of all clients].
    #[arg(long, value_name = "FILE|CLIENT", value_parser = ImportFrom::parse)]
    pub(crate) from: Option<ImportFrom>,
    /// Writes them into the configuration, after a copy of what is there.
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where servers are taken from.
#[derive(Clone)]
pub(crate) enum ImportFrom {
    Client(Client),
    File(PathBuf),
}

impl ImportFrom {
    #[expect(clippy::unnecessary_wraps, reason = "clap wants it so")]
    fn parse(text: &str) -> Result<Self, String> {
        let client = Client::ALL.into_iter().find(|client| client.as_str() == text);
        Ok(client.map_or_else(|| Self::File(PathBuf::from(text)), Self::Client))
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it like NAME=value")?;
    Ok((name.to_owned(), value.to_owned()))
}
