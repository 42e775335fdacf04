//! The arguments of `belljar install`.

use belljar_http::Scope;
use clap::{Args, ValueEnum};

use crate::{arguments::ConfigArguments, help};

#[derive(Args)]
#[command(after_help = help::INSTALL)]
pub(crate) struct InstallArguments {
    /// The client; codex, copilot and gemini only with --hooks.
    pub(crate) client: InstallClient,
    /// Writes without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Removes the entry.
    #[arg(long)]
    pub(crate) undo: bool,
    /// Writes an entry that connects to a running `belljar serve --http` with a new token, instead
    /// of one that starts belljar; without a URL, at http://127.0.0.1:8765/mcp.
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
    /// With --http: what the token allows, as for `belljar token add`.
    #[arg(long, value_name = "SCOPE", requires = "http")]
    pub(crate) scope: Vec<Scope>,
    /// Writes hooks instead of an entry: commands that the client runs before a tool call and when
    /// a session begins, so that belljar can guide the agent.
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
