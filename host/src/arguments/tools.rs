//! Tools without a script: `search`, `call` and `request`.

use std::path::PathBuf;

use belljar_catalog::Detail;
use belljar_model::{Effect, ToolPath};
use clap::Args;

use super::common::{ConfigArguments, NoDaemon};
use crate::help;

#[derive(Args)]
#[command(after_help = help::SEARCH)]
pub(crate) struct SearchArguments {
    /// What to look for; nothing lists the servers and their tools.
    pub(crate) query: Vec<String>,
    /// How much to say of each tool: names, brief or full.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) detail: Option<Detail>,
    /// Only tools of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only tools with this effect: read_only, mutating or external.
    #[arg(long, value_name = "EFFECT")]
    pub(crate) effect: Option<Effect>,
    /// The most tools to show.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The most tokens that the answer may take [default: 2000].
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::CALL)]
pub(crate) struct CallArguments {
    /// The tool, as in fs.read_file.
    #[arg(value_name = "SERVER.TOOL")]
    pub(crate) path: ToolPath,
    /// The arguments, a JSON object; @FILE reads it from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    /// What to show of the value: a filter in jq's language, as in '.issues[] | {id, title}'.
    #[arg(long, value_name = "FILTER")]
    pub(crate) select: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object, with the raw result in it, or without it where there is a --select.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::REQUEST)]
pub(crate) struct RequestArguments {
    /// The request; - or nothing reads it from stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}
