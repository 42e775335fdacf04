//! The arguments of `belljar install`.

use belljar_http::Scope;
use clap::{Args, ValueEnum};

use crate::{arguments::ConfigArguments, help};

#[derive(Args)]
#[command(after_help = help::INSTALL)]
pub(crate) struct InstallArguments {
    /// The client; codex, copilot and gemini with --hooks alone.
    pub(crate) client: InstallClient,
    /// Writes without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Takes the entry out again.
    #[arg(long)]
    pub(crate) undo: bool,
    /// An entry for a running `belljar serve --http`, with a new token, in place of one that starts
    /// belljar; at http://127.0.0.1:8765/mcp if no URL is given.
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
    /// Hooks, in place of an entry: what the client runs before a tool call and when a session
    /// begins, so that belljar can lead the agent.
    #[arg(long, conflicts_with = "http")]
    pub(crate) hooks: bool,
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
    Codex,
    Copilot,
    Gemini,
}
